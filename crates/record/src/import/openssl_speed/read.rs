//! What `openssl speed` printed, as figures.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The largest size that `openssl speed -bytes` takes: an `int`.
const MOST_BYTES: usize = i32::MAX as usize;

/// Figures that can be: a byte in an hour, and a thousand times what memory gives.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-4..=1e15;

/// One figure of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the algorithm, in lower case with dashes.
    pub name: String,
    /// Bytes in one operation.
    pub size: usize,
    /// Bytes a second, as the program says it: by user time unless it was called with `-elapsed`. Of all processes
    /// together.
    pub bytes_per_second: f64,
    /// Processes that worked at once: more than one with `-multi`.
    pub processes: u32,
    /// Why the figure is not to be believed, where the output shows that.
    pub doubt: Option<String>,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The version of OpenSSL, where a line says it.
    pub version: Option<String>,
    /// The figures, in the order of the output.
    pub figures: Vec<Figure>,
    /// Algorithms and sizes whose speed the program gives as infinite, because it counted no CPU time.
    pub infinite: Vec<(String, usize)>,
}

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSpeed {
    /// No line in it has a figure of a cipher or digest.
    #[error(
        "no line of it is a figure of a cipher or digest: expected the table of `openssl speed`, or its lines +H and +F or +DT and +R"
    )]
    Nothing,
    /// Every figure in it is infinite.
    #[error(
        "all its figures are infinite: no CPU time was counted; call `openssl speed` with -elapsed"
    )]
    NoTime,
    /// A line that has the form of a figure has none.
    #[error("line {line}: {why}")]
    Broken {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// Reads what `openssl speed` printed, with `-mr` or without, on standard output or on both outputs.
/// Results (lines `+F`, rows of the table) count before the single tests that they come from (lines
/// `+DT` and `+R`, `Doing …`); the last one of a name and size counts. Lines of other kinds
/// (signatures, key exchanges) are passed over.
///
/// # Errors
/// [`NotSpeed`], one line.
pub fn read(text: &str) -> Result<Output, NotSpeed> {
    let mut reader = Reader::default();
    for (i, line) in text.lines().enumerate() {
        reader.line(line.trim_end()).map_err(|why| NotSpeed::Broken { line: i + 1, why })?;
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    version: Option<String>,
    /// The columns of the table that is being read.
    sizes: Vec<usize>,
    /// What the last line `+DT` announced: name, seconds and size.
    doing: Option<(String, f64, usize)>,
    /// Child processes of `-multi` that the output names.
    forked: u32,
    /// Whether a test began before the one before it had ended: so it is with several processes.
    interleaved: bool,
    tests: Vec<Figure>,
    results: Vec<Figure>,
    infinite: Vec<(String, usize)>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some((kind, rest)) = line.strip_prefix('+').and_then(|l| l.split_once(':')) {
            return self.machine_readable(kind, rest);
        }
        if let Some(rest) = line.strip_prefix("Doing ") {
            return self.words(rest);
        }
        if let Some(got) = line.strip_prefix("Got: ") {
            return self.of_child(got);
        }
        if line.starts_with("Forked child ") {
            self.forked += 1;
            return Ok(());
        }
        if let Some(version) = version(line) {
            self.version = Some(version);
            return Ok(());
        }
        match line.strip_prefix("type ") {
            Some(columns) if columns.trim_end().ends_with("bytes") => {
                self.sizes = sizes(columns.split("bytes").filter(|w| !w.trim().is_empty()))?;
            }
            _ => self.row(line),
        }
        Ok(())
    }

    fn machine_readable(&mut self, kind: &str, rest: &str) -> Result<(), String> {
        let fields: Vec<&str> = rest.split(':').collect();
        match (kind, fields.as_slice()) {
            ("H", sizes_of) => self.sizes = sizes(sizes_of.iter().copied())?,
            ("F", [_, name, speeds @ ..]) => {
                if speeds.len() != self.sizes.len() {
                    let (found, columns) = (speeds.len(), self.sizes.len());
                    return Err(format!(
                        "'{}' has {found} numbers, and line +H before it {columns} sizes",
                        quoted(name)
                    ));
                }
                let speeds: Result<Vec<f64>, String> = speeds.iter().map(|s| number(s)).collect();
                self.add(name, &speeds?);
            }
            ("DT", [name, seconds, size]) => {
                let doing = (plain(name), number(seconds)?, size_of(size)?);
                self.interleaved |= self.doing.as_ref() == Some(&doing);
                self.doing = Some(doing);
            }
            ("R", [count, name, seconds]) => {
                let doing = self.doing.take().filter(|(doing, ..)| *doing == plain(name));
                if let Some((name, of, size)) = doing {
                    self.test((name, size), number(count)?, (number(seconds)?, of));
                }
            }
            // Keys and signatures: +DTP, +F2, +R1, …
            _ => {}
        }
        Ok(())
    }

    /// What the parent of `-multi` repeats of a child, `+H:16:64 from 0`: its table has no line with the sizes.
    fn of_child(&mut self, got: &str) -> Result<(), String> {
        let sizes_of = got.strip_prefix("+H:").and_then(|rest| rest.split_once(" from "));
        if let Some((columns, _)) = sizes_of {
            self.sizes = sizes(columns.split(':'))?;
        }
        Ok(())
    }

    /// `NAME [ops] for 3s on 16 size blocks: 123 NAME's in 2.99s`, from OpenSSL 3.2 on `NAME ops in`.
    fn words(&mut self, rest: &str) -> Result<(), String> {
        let Some((announced, result)) = rest.split_once(" size blocks: ") else { return Ok(()) };
        let Some((name, size)) = announced.rsplit_once(" on ") else { return Ok(()) };
        let Some((name, of)) = name.rsplit_once(" for ") else { return Ok(()) };
        let name = name.strip_suffix(" ops").unwrap_or(name);
        let Some((_, seconds)) = result.rsplit_once(" in ") else { return Ok(()) };
        let count = result.split(' ').next().unwrap_or_default();
        let time = |word: &str| number(word.strip_suffix('s').unwrap_or(word));
        self.test((plain(name), size_of(size)?), number(count)?, (time(seconds)?, time(of)?));
        Ok(())
    }

    /// One test: so many operations in so much of the time that it was to take.
    fn test(&mut self, (name, size): (String, usize), count: f64, (seconds, of): (f64, f64)) {
        if seconds <= 0.0 && count > 0.0 {
            self.infinite.push((name, size));
            return;
        }
        let found = figure(name, size, count * size as f64 / seconds);
        self.tests.extend(found.map(|f| Figure { doubt: short(seconds, of), ..f }));
    }

    /// A name and as many numbers that end in `k` as there are sizes; anything else is no row.
    fn row(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let columns = self.sizes.len();
        if columns == 0 || words.len() <= columns {
            return;
        }
        let (name, numbers) = words.split_at(words.len() - columns);
        let speeds: Option<Vec<f64>> = numbers.iter().map(|n| thousands(n)).collect();
        if let Some(speeds) = speeds {
            self.add(&name.join(" "), &speeds);
        }
    }

    fn add(&mut self, name: &str, speeds: &[f64]) {
        for (size, speed) in self.sizes.iter().zip(speeds) {
            if speed.is_infinite() {
                self.infinite.push((plain(name), *size));
            }
            let found = figure(plain(name), *size, *speed);
            self.results.extend(found.map(|f| Figure { processes: self.forked.max(1), ..f }));
        }
    }

    fn finish(mut self) -> Result<Output, NotSpeed> {
        if self.forked > 1 || self.interleaved {
            self.tests.iter_mut().for_each(|test| test.doubt = Some(OF_ONE_CHILD.to_owned()));
        }
        self.doubt_results();
        let mut figures: Vec<Figure> = Vec::new();
        let mut places: HashMap<(String, usize), usize> = HashMap::new();
        for figure in self.tests.into_iter().chain(self.results) {
            match places.entry((figure.name.clone(), figure.size)) {
                Entry::Occupied(place) => figures[*place.get()] = figure,
                Entry::Vacant(place) => {
                    place.insert(figures.len());
                    figures.push(figure);
                }
            }
        }
        if figures.is_empty() {
            return Err(if self.infinite.is_empty() {
                NotSpeed::Nothing
            } else {
                NotSpeed::NoTime
            });
        }
        let mut infinite = self.infinite;
        infinite.sort();
        infinite.dedup();
        Ok(Output { version: self.version, figures, infinite })
    }

    /// Results are computed from the tests' times, so that they are to be believed as these are. That of all children is not
    /// one child's.
    fn doubt_results(&mut self) {
        let key = |figure: &Figure| (figure.name.clone(), figure.size);
        let tests: HashMap<_, _> =
            self.tests.iter().map(|test| (key(test), test.doubt.clone())).collect();
        for result in self.results.iter_mut().filter(|result| result.processes == 1) {
            let beside = self.infinite.iter().any(|(name, _)| *name == result.name);
            let untested = || beside.then(|| BESIDE_INFINITE.to_owned());
            result.doubt = tests.get(&key(result)).cloned().unwrap_or_else(untested);
        }
    }
}

/// Why a figure of a test by one of several processes is none of a core by itself.
const OF_ONE_CHILD: &str =
    "openssl speed -multi: one of several processes, and the figure of all is not in the output";

/// Why a figure is doubted whose time the output does not give, beside one without any.
const BESIDE_INFINITE: &str =
    "at other sizes no CPU time was counted: what an engine or the kernel did is not in the figure";

/// The clock that `openssl speed` reads CPU time by counts in steps of 0.01 s.
const FEW_STEPS: f64 = 0.1;

/// Why a test that counted so little of its time says little.
fn short(seconds: f64, of: f64) -> Option<String> {
    (seconds < of / 2.0 || seconds < FEW_STEPS).then(|| {
        format!(
            "only {seconds} s of CPU time in a test of {of} s: what an engine, the kernel or another program did \
             meanwhile is not in the figure"
        )
    })
}

/// A figure, unless it is none: `openssl speed` prints 0 for what it could not measure, and a
/// negative number where its counter overflowed.
fn figure(name: String, size: usize, bytes_per_second: f64) -> Option<Figure> {
    let good = SPEEDS.contains(&bytes_per_second) && !name.is_empty();
    good.then_some(Figure { name, size, bytes_per_second, processes: 1, doubt: None })
}

/// `version: 3.0.22`, `OpenSSL 1.1.1f  31 Mar 2020`, `LibreSSL 3.8.2`.
fn version(line: &str) -> Option<String> {
    let rest = ["version:", "OpenSSL ", "LibreSSL "].iter().find_map(|p| line.strip_prefix(p))?;
    let version = rest.split_whitespace().next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| quoted(version))
}

fn sizes<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<usize>, String> {
    words.map(|word| size_of(word.trim())).collect()
}

fn size_of(word: &str) -> Result<usize, String> {
    let size: usize =
        word.trim().parse().map_err(|_| format!("'{}' is no number of bytes", quoted(word)))?;
    match size {
        0 => Err("a size of 0 bytes".to_owned()),
        1..=MOST_BYTES => Ok(size),
        _ => Err(format!("a size of {size} bytes; the largest is {MOST_BYTES}")),
    }
}

fn number(word: &str) -> Result<f64, String> {
    let number: Option<f64> = word.trim().parse().ok().filter(|n: &f64| n.is_finite());
    number.ok_or_else(|| format!("'{}' is no number", quoted(word)))
}

/// `1371968.28k`, in bytes a second, or `infk`; 0 and negative numbers come without the `k`. Other numbers without one
/// are counts of signatures.
fn thousands(word: &str) -> Option<f64> {
    let (digits, has_unit) = word.strip_suffix('k').map_or((word, false), |d| (d, true));
    let number: f64 = digits.parse().ok()?;
    (!number.is_nan() && (has_unit || number <= 0.0)).then_some(number * 1e3)
}

/// A name as ciphermark writes them: old versions say `aes-128 cbc`, and `id-aes128-GCM`.
fn plain(name: &str) -> String {
    let lower = quoted(name.trim()).to_lowercase();
    let joined = lower.split([' ', '_']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join("-");
    match joined.strip_prefix("id-aes") {
        Some(rest) => format!("aes-{rest}"),
        None => joined,
    }
}

/// The beginning of a text that may hold anything, without what would break a line.
fn quoted(text: &str) -> String {
    text.chars().take(60).filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(String, usize, f64)> {
        let figures = read(text).unwrap().figures;
        figures.into_iter().map(|f| (f.name, f.size, f.bytes_per_second)).collect()
    }

    /// A doubt, and the processes, of each figure.
    fn doubts(text: &str) -> Vec<(usize, Option<String>, u32)> {
        let figures = read(text).unwrap().figures;
        figures.into_iter().map(|f| (f.size, f.doubt, f.processes)).collect()
    }

    fn is(text: &str, expected: &[(&str, usize, f64)]) {
        let expected: Vec<_> = expected.iter().map(|(n, s, f)| ((*n).to_owned(), *s, *f)).collect();
        assert_eq!(found(text), expected);
    }

    #[test]
    fn the_table_of_openssl_3_0_is_read_with_its_version() {
        let text = "Doing AES-128-GCM for 1s on 1024 size blocks: 1199847 AES-128-GCM's in 0.66s\n\
            version: 3.0.22\nbuilt on: Wed Oct 21 09:54:24 2026 UTC\noptions: bn(64,64)\n\
            The 'numbers' are in 1000s of bytes per second processed.\n\
            type           1024 bytes\nAES-128-GCM    1861580.80k\n";
        is(text, &[("aes-128-gcm", 1024, 1_861_580_800.0)]);
        assert_eq!(read(text).unwrap().version.as_deref(), Some("3.0.22"));
    }

    #[test]
    fn the_table_of_openssl_1_1_1_is_read_although_names_have_spaces() {
        let text = "OpenSSL 1.1.1f  31 Mar 2020\n\
            type             16 bytes     64 bytes\nmd5             149051.89k   334674.46k\n\
            aes-128 cbc     100000.00k   200000.00k\nrsa 2048 bits 0.000320s 0.000019s   3121.9  52842.2\n";
        is(
            text,
            &[
                ("md5", 16, 149_051_890.0),
                ("md5", 64, 334_674_460.0),
                ("aes-128-cbc", 16, 100_000_000.0),
                ("aes-128-cbc", 64, 200_000_000.0),
            ],
        );
        assert_eq!(read(text).unwrap().version.as_deref(), Some("1.1.1f"));
    }

    #[test]
    fn machine_readable_results_count_before_the_tests_that_they_come_from() {
        let text = "+DT:AES-128-CTR:1:16\n+R:36496698:AES-128-CTR:0.650000\n\
            +DT:AES-128-CTR:1:64\n+R:31472217:AES-128-CTR:0.670000\n\
            +H:16:64\n+F:25:AES-128-CTR:898380258.46:3006301325.37\n+F2:0:2048:0.000320:0.000019\n";
        is(text, &[("aes-128-ctr", 16, 898_380_258.46), ("aes-128-ctr", 64, 3_006_301_325.37)]);
    }

    #[test]
    fn without_results_the_tests_are_read() {
        let mr = "+DT:aes-128-cbc:3:256\n+R:3000:aes-128-cbc:3.000000\n";
        is(mr, &[("aes-128-cbc", 256, 256_000.0)]);
        let words = "Doing AES-128-GCM ops for 3s on 256 size blocks: 3000 AES-128-GCM ops in 3.00s\n\
            Doing id-aes128-GCM for 3s on 256 size blocks: 3000 id-aes128-GCM's in 3.00s\n";
        is(words, &[("aes-128-gcm", 256, 256_000.0), ("aes-128-gcm", 256, 256_000.0)][..1]);
    }

    #[test]
    fn what_was_not_measured_or_overflowed_is_no_figure() {
        let text = "type     16 bytes     64 bytes\naes-128-cbc   -1040172814.93   1589805.17k\n\
            aes-256-xts          0.00     12.50k\n";
        is(text, &[("aes-128-cbc", 64, 1_589_805_170.0), ("aes-256-xts", 64, 12_500.0)]);
    }

    const OFFLOADED: &str = "Doing aes-256-cbc for 3s on 16 size blocks: 61200 aes-256-cbc's in 2.90s\n\
        Doing aes-256-cbc for 3s on 1024 size blocks: 4840 aes-256-cbc's in 0.02s\n\
        Doing aes-256-cbc for 3s on 8192 size blocks: 670 aes-256-cbc's in 0.00s\n\
        type             16 bytes   1024 bytes   8192 bytes\n\
        aes-256-cbc        337.66k   247808.00k         infk\n";

    #[test]
    fn a_figure_out_of_hardly_any_cpu_time_is_doubted_and_an_infinite_one_is_named() {
        is(OFFLOADED, &[("aes-256-cbc", 16, 337_660.0), ("aes-256-cbc", 1024, 247_808_000.0)]);
        let found = doubts(OFFLOADED);
        assert_eq!(found[0], (16, None, 1));
        let why = found[1].1.as_deref().unwrap();
        assert!(why.starts_with("only 0.02 s of CPU time in a test of 3 s"), "{why}");
        let infinite = vec![("aes-256-cbc".to_owned(), 8192)];
        assert_eq!(read(OFFLOADED).unwrap().infinite, infinite);
        // Either half alone says so, too; the table has no times.
        let at = OFFLOADED.find("type").unwrap();
        assert!(doubts(&OFFLOADED[at..]).iter().all(|(_, doubt, _)| doubt.is_some()));
        assert_eq!(doubts(&OFFLOADED[..at]), found);
        assert_eq!(read(&OFFLOADED[..at]).unwrap().infinite, infinite);
        assert_eq!(read(&OFFLOADED[at..]).unwrap().infinite, infinite);
        assert_eq!(read("type   16 bytes\nmd5    infk\n"), Err(NotSpeed::NoTime));
        let mr = "+DT:aes-128-cbc:3:256\n+R:3000:aes-128-cbc:0.010000\n";
        assert!(doubts(mr)[0].1.is_some());
    }

    /// What the parent of `-multi 2` prints, and the children on standard error.
    const MULTI: [&str; 2] = [
        "Forked child 0\nForked child 1\nGot: +H:1024:8192 from 0\nGot: +F:25:AES-128-GCM:1000.00:2000.00 from 0\n\
         Got: +H:1024:8192 from 1\nGot: +F:25:AES-128-GCM:1100.00:2100.00 from 1\nversion: 3.0.19\n\
         options: bn(64,64)\nAES-128-GCM          2.10k        4.10k\n",
        "+DT:AES-128-GCM:1:1024\n+DT:AES-128-GCM:1:1024\n+R:2:AES-128-GCM:1.000000\n+R:1:AES-128-GCM:1.000000\n",
    ];

    #[test]
    fn the_sum_of_several_processes_is_read_without_a_line_of_sizes_as_theirs_together() {
        for text in [MULTI[0].to_owned(), MULTI[1].to_owned() + MULTI[0]] {
            is(&text, &[("aes-128-gcm", 1024, 2100.0), ("aes-128-gcm", 8192, 4100.0)]);
            assert_eq!(doubts(&text), [(1024, None, 2), (8192, None, 2)]);
        }
        let [(1024, Some(why), 1)] = &doubts(MULTI[1])[..] else { panic!("{MULTI:?}") };
        assert!(why.contains("one of several processes"), "{why}");
    }

    #[test]
    fn hostile_input_gets_one_line_that_says_where() {
        let why = |text: &str| read(text).unwrap_err().to_string();
        assert!(why("").contains("no line of it is a figure"));
        assert!(why("\0\u{1b}[2J\n+++\n").contains("no line of it is a figure"));
        assert_eq!(why("+H:16:x\u{1b}[2J\n"), "line 1: 'x[2J' is no number of bytes");
        assert_eq!(
            why("+H:16:64\n+F:1:a:5\n"),
            "line 2: 'a' has 1 numbers, and line +H before it 2 sizes"
        );
        assert_eq!(why("+H:16\n+F:1:a:1e999\n"), "line 2: '1e999' is no number");
        assert_eq!(why("+DT:a:3:0\n"), "line 1: a size of 0 bytes");
        let long = format!("+H:{}\n", "9".repeat(100_000));
        assert!(why(&long).len() < 120, "{}", why(&long));
    }

    #[test]
    fn sizes_and_speeds_that_cannot_be_are_none() {
        let why = read("+H:99999999999\n").unwrap_err().to_string();
        assert_eq!(why, "line 1: a size of 99999999999 bytes; the largest is 2147483647");
        assert_eq!(read("+H:16\n+F:1:a:1e300\n+F:1:b:1e-300\n"), Err(NotSpeed::Nothing));
    }

    #[test]
    fn a_hundred_thousand_figures_take_no_time_to_speak_of() {
        let figures: String = (0..100_000).map(|i| format!("+F:1:a{i}:5.0\n")).collect();
        assert_eq!(found(&format!("+H:16\n{figures}")).len(), 100_000);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail_otherwise(text in "(\\+(H|F|DT|R)|Doing |type )?[ -~\\n]{0,80}") {
            match read(&text) {
                Ok(output) => prop_assert!(output.figures.iter().all(|f| f.bytes_per_second > 0.0)),
                Err(why) => prop_assert!(!why.to_string().contains('\n')),
            }
        }
    }
}
