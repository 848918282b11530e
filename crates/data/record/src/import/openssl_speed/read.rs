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
    /// Bytes a second, as the program says it: by user time unless it was called with `-elapsed`.
    pub bytes_per_second: f64,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The version of OpenSSL, where a line says it.
    pub version: Option<String>,
    /// The figures, in the order of the output.
    pub figures: Vec<Figure>,
}

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSpeed {
    /// No line in it has a figure of a cipher or digest.
    #[error(
        "no line of it is a figure of a cipher or digest: expected the table of `openssl speed`, or its lines +H and +F or +DT and +R"
    )]
    Nothing,
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
    /// What the last line `+DT` announced.
    doing: Option<(String, usize)>,
    tests: Vec<Figure>,
    results: Vec<Figure>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some((kind, rest)) = line.strip_prefix('+').and_then(|l| l.split_once(':')) {
            return self.machine_readable(kind, rest);
        }
        if let Some(rest) = line.strip_prefix("Doing ") {
            self.tests.extend(test(rest)?);
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
            ("DT", [name, _, size]) => self.doing = Some((plain(name), size_of(size)?)),
            ("R", [count, name, seconds]) => {
                if let Some((doing, size)) = self.doing.take().filter(|(d, _)| *d == plain(name)) {
                    let (count, seconds) = (number(count)?, number(seconds)?);
                    self.tests.extend(figure(doing, size, count * size as f64 / seconds));
                }
            }
            // Keys and signatures: +DTP, +F2, +R1, …
            _ => {}
        }
        Ok(())
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
            self.results.extend(figure(plain(name), *size, *speed));
        }
    }

    fn finish(self) -> Result<Output, NotSpeed> {
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
            return Err(NotSpeed::Nothing);
        }
        Ok(Output { version: self.version, figures })
    }
}

/// A figure, unless it is none: `openssl speed` prints 0 for what it could not measure, and a
/// negative number where its counter overflowed.
fn figure(name: String, size: usize, bytes_per_second: f64) -> Option<Figure> {
    let good = SPEEDS.contains(&bytes_per_second) && !name.is_empty();
    good.then_some(Figure { name, size, bytes_per_second })
}

/// `NAME [ops] for 3s on 16 size blocks: 123 NAME's in 2.99s`, from OpenSSL 3.2 on `NAME ops in`.
fn test(rest: &str) -> Result<Option<Figure>, String> {
    let Some((announced, result)) = rest.split_once(" size blocks: ") else { return Ok(None) };
    let Some((name, size)) = announced.rsplit_once(" on ") else { return Ok(None) };
    let Some((name, _)) = name.rsplit_once(" for ") else { return Ok(None) };
    let name = name.strip_suffix(" ops").unwrap_or(name);
    let Some((_, seconds)) = result.rsplit_once(" in ") else { return Ok(None) };
    let count = result.split(' ').next().unwrap_or_default();
    let seconds = seconds.strip_suffix('s').unwrap_or(seconds);
    let (size, count, seconds) = (size_of(size)?, number(count)?, number(seconds)?);
    Ok(figure(plain(name), size, count * size as f64 / seconds))
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

/// `1371968.28k`, in bytes a second; 0 and negative numbers come without the `k`. Other numbers
/// without one are counts of signatures.
fn thousands(word: &str) -> Option<f64> {
    let (digits, has_unit) = word.strip_suffix('k').map_or((word, false), |d| (d, true));
    let number: f64 = digits.parse().ok()?;
    (number.is_finite() && (has_unit || number <= 0.0)).then_some(number * 1e3)
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
