//! The text of `openssl speed`: written from a record, and read into figures. Pure: text in, text
//! out.
//!
//! The form is that of `apps/speed.c` of OpenSSL 1.1.1, 3.0 and 3.2 to 4.0 and of LibreSSL 3
//! (openssl-speed(1)); `docs/FORMAT.md` describes the lines.

use crate::import::names::{algorithm_of_openssl as plain, number, operation, quoted, scheme};
use crate::import::{Format, Found, MULTI, Row, Said};
use crate::{Library, Measurement, Record, State};
use base::model::Model;
use base::text::one_line;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

// What `openssl speed` printed, as figures.

/// The largest size that `openssl speed -bytes` takes: an `int`.
const MOST_BYTES: usize = i32::MAX as usize;

/// Figures that can be: a byte in an hour, and a thousand times what memory gives.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-4..=1e15;

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

/// One figure of a section of keys, signatures, key exchanges or KEMs.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFigure {
    /// `mlkem768 encapsulate`: in the words of `tls primitives`.
    pub name: String,
    /// Operations a second of all processes together.
    pub per_second: f64,
    pub processes: u32,
    /// Why the figure is not to be believed, where the output shows that.
    pub doubt: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The library whose program it is and its version, where a line says them.
    pub library: Option<String>,
    pub version: Option<String>,
    pub figures: Vec<Figure>,
    /// Figures of operations that have no bytes.
    pub keys: Vec<KeyFigure>,
    /// The engine that did the work, where a line says it.
    pub engine: Option<String>,
    /// Whether the times are wall time, not the process's CPU time.
    pub is_elapsed: bool,
    /// Lines of keys and signatures in the form of `-mr`, which say rates in some versions and times in others.
    pub unread: usize,
    /// Algorithms and sizes whose speed the program gives as infinite, because it counted no CPU time.
    pub infinite: Vec<(String, usize)>,
}

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSpeed {
    #[error(
        "no line of it is a figure: expected a table of `openssl speed`, or its lines +H and +F or +DT and +R"
    )]
    Nothing,
    #[error(
        "all its figures are infinite: no CPU time was counted; call `openssl speed` with -elapsed"
    )]
    NoTime,
    /// A line that has the form of a figure has none.
    #[error("line {line}: {why}")]
    Broken {
        /// The line, from 1.
        line: usize,
        why: String,
    },
}

/// Reads what `openssl speed` printed, with `-mr` or without, on standard output or on both outputs.
/// Results (lines `+F`, rows of the table) count before the single tests that they come from (lines
/// `+DT` and `+R`, `Doing …`); the last one of a name and size counts.
pub fn read(text: &str) -> Result<Output, NotSpeed> {
    let lines: Vec<&str> = text.lines().collect();
    read_lines(&lines, 0..lines.len())
}

fn read_lines(lines: &[&str], call: Range<usize>) -> Result<Output, NotSpeed> {
    let mut reader = Reader::default();
    for i in call {
        reader.line(lines[i].trim_end()).map_err(|why| NotSpeed::Broken { line: i + 1, why })?;
    }
    reader.finish()
}

/// The rows of every call whose output the text has, each with its own version.
pub(crate) fn rows(text: &str, said: &Said) -> Result<Found, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Found::new(Format::OpensslSpeed, Vec::new());
    let mut why = NotSpeed::Nothing;
    for call in calls(&lines) {
        match read_lines(&lines, call) {
            Ok(output) => of_call(&mut found, output, said),
            Err(NotSpeed::Nothing) => {}
            Err(NotSpeed::NoTime) => {
                found.leave(1, "calls whose figures are all infinite: add -elapsed");
                why = NotSpeed::NoTime;
            }
            Err(broken) => return Err(broken.to_string()),
        }
    }
    if found.rows.is_empty() { Err(why.to_string()) } else { Ok(found) }
}

/// Parts the outputs of several calls that stand one behind another: behind its results a call has no test, and none says
/// its version or one row of sizes twice.
fn calls(lines: &[&str]) -> Vec<Range<usize>> {
    const TESTS: [&str; 5] =
        ["Doing ", "+DT:", "+DTP:", "engine \"", "You have chosen to measure elapsed"];
    let (mut starts, mut heads) = (vec![0], HashSet::new());
    let (mut has_tests, mut has_forks, mut has_results) = (false, false, false);
    // Standard error behind standard output: the tests of the call before.
    let mut is_tail = false;
    for (at, line) in lines.iter().enumerate() {
        let is_test = TESTS.iter().any(|begin| line.starts_with(begin));
        let is_fork = line.starts_with("Forked child 0");
        let is_row = line.starts_with("+F") || operations(line).is_some();
        let head = match stated(line) {
            Some(_) => "version",
            None if line.starts_with("+H:") || line.starts_with("type ") => line.trim_end(),
            None => "",
        };
        let begins = is_test || is_fork || heads.contains(&head);
        if begins && has_results || is_fork && has_forks {
            is_tail = is_test && !has_tests;
            starts.push(at);
            heads.clear();
            (has_tests, has_forks, has_results) = (false, false, false);
        }
        if !head.is_empty() {
            heads.insert(head);
        }
        has_tests |= is_test;
        has_forks |= is_fork;
        // The table of `-multi` has no row of sizes.
        has_results |= is_row || !head.is_empty() && (head != "version" || has_forks);
        is_tail &= !has_results;
    }
    if is_tail {
        starts.pop();
    }
    starts.push(lines.len());
    starts.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

fn of_call(found: &mut Found, output: Output, said: &Said) {
    let mut common = Vec::new();
    common.extend(output.engine.as_ref().map(|engine| format!("run by the engine: '{engine}'")));
    common.extend(output.is_elapsed.then(|| "times are wall time: -elapsed".to_owned()));
    let remarks = |processes: u32| {
        let several = (processes > 1).then(|| MULTI.replace("{}", &processes.to_string()));
        common.iter().cloned().chain(several).collect::<Vec<_>>()
    };
    let library = output.library.as_deref().unwrap_or("openssl");
    let version = said.version.as_deref().or(output.version.as_deref()).unwrap_or_default();
    let new = |name: String| {
        let model = model(library, version, &name);
        Row { model, ..said.row(library, version, name) }
    };
    let of_bytes = |figure: Figure| {
        let row = new(figure.name);
        Row {
            direction: said.direction(row.direction),
            remarks: [
                remarks(figure.processes),
                without_time(&output.infinite, &row.algorithm).into_iter().collect(),
                (row.model == Model::Rekey)
                    .then(|| EACH_A_MESSAGE.to_owned())
                    .into_iter()
                    .collect(),
            ]
            .concat(),
            size: Some(figure.size),
            threads: figure.processes,
            mb_per_s: figure.bytes_per_second / 1e6,
            doubt: figure.doubt,
            ..row
        }
    };
    let of_key = |key: KeyFigure| Row {
        remarks: remarks(key.processes),
        threads: key.processes,
        doubt: key.doubt,
        ..new(key.name).of_operation(1e9 * f64::from(key.processes) / key.per_second)
    };
    found.rows.extend(output.figures.into_iter().map(of_bytes));
    found.rows.extend(output.keys.into_iter().map(of_key));
    found.leave(output.unread, "keys and signatures by -mr: import the output without -mr");
}

/// The first releases in which each operation of GCM, CCM, OCB and SIV sets the key and begins a message
/// (<https://github.com/openssl/openssl/issues/28063>).
const WITH_MESSAGES: [[u32; 3]; 5] = [[3, 0, 16], [3, 1, 8], [3, 2, 4], [3, 3, 3], [3, 4, 1]];

const EACH_A_MESSAGE: &str = "openssl speed sets key and nonce for each operation since 3.0.16 and 3.4.1: its earlier figures are of another model";

/// What one operation is.
fn model(library: &str, version: &str, algorithm: &str) -> Model {
    let is_of_messages = ["gcm", "ccm", "ocb", "siv"].iter().any(|end| algorithm.ends_with(end));
    let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0_u32));
    let own = [(); 3].map(|()| parts.next().unwrap_or(0));
    let is_new = WITH_MESSAGES.iter().any(|first| own[..2] == first[..2] && own >= *first)
        || own[..2] > [3, 4][..];
    match library == "openssl" && is_of_messages && is_new {
        true => Model::Rekey,
        false => Model::Stream,
    }
}

/// At which sizes the program printed an infinite speed.
fn without_time(infinite: &[(String, usize)], algorithm: &str) -> Option<String> {
    let own = infinite.iter().filter(|(name, _)| name == algorithm);
    let sizes: Vec<String> = own.map(|(_, size)| size.to_string()).collect();
    (!sizes.is_empty()).then(|| {
        format!("figures left out: openssl speed counted no CPU time at {} bytes", sizes.join(", "))
    })
}

/// Whether only this program prints such a line.
pub(crate) fn is_own(line: &str) -> bool {
    let begins = ["+DT:", "+R:", "+F:", "+H:", "+F2:", "+R1:", "Got: +", "Forked child "];
    begins.iter().any(|b| line.starts_with(b))
        || line.starts_with("Doing ") && (line.contains("s on ") || line.contains(" bits "))
        || line.starts_with("type ") && line.trim_end().ends_with("bytes")
        || operations(line).is_some()
}

#[derive(Default)]
struct Reader {
    /// With a figure for each result and each row.
    output: Output,
    /// What is done in the columns of a table of keys or signatures that is being read.
    operations: Vec<&'static str>,
    /// Operations a second, and why they are doubted, of tests of keys that took too little of their time.
    short_keys: Vec<(f64, String)>,
    /// The columns of the table that is being read.
    sizes: Vec<usize>,
    /// What the last line `+DT` announced: name, seconds and size.
    doing: Option<(String, f64, usize)>,
    /// Child processes of `-multi` that the output names.
    forked: u32,
    /// Whether a test began before the one before it had ended: so it is with several processes.
    interleaved: bool,
    tests: Vec<Figure>,
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
        if let Some((library, version)) = stated(line) {
            (self.output.library, self.output.version) = (Some(library), Some(version));
            return Ok(());
        }
        if let Some(engine) = line.strip_prefix("engine ").and_then(|l| l.strip_suffix(" set.")) {
            self.output.engine = Some(quoted(engine.trim_matches('"')));
            return Ok(());
        }
        if line.starts_with("You have chosen to measure elapsed time") {
            self.output.is_elapsed = true;
            return Ok(());
        }
        if let Some(operations) = operations(line) {
            (self.operations, self.sizes) = (operations, Vec::new());
            return Ok(());
        }
        match line.strip_prefix("type ") {
            Some(columns) if columns.trim_end().ends_with("bytes") => {
                self.sizes = sizes(columns.split("bytes").filter(|w| !w.trim().is_empty()))?;
                self.operations.clear();
            }
            _ if !self.operations.is_empty() => self.keys(line),
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
                    self.test(name, size, number(count)?, number(seconds)?, of);
                }
            }
            // Keys and signatures: +DTP, +F2, +R1, …
            (kind, _) => self.output.unread += usize::from(kind.starts_with('F')),
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
        let Some((announced, result)) = rest.split_once(" size blocks: ") else {
            self.of_keys(rest);
            return Ok(());
        };
        let Some((name, size)) = announced.rsplit_once(" on ") else { return Ok(()) };
        let Some((name, of)) = name.rsplit_once(" for ") else { return Ok(()) };
        let name = name.strip_suffix(" ops").unwrap_or(name);
        let Some((_, seconds)) = result.rsplit_once(" in ") else { return Ok(()) };
        let count = result.split(' ').next().unwrap_or_default();
        let time = |word: &str| number(word.strip_suffix('s').unwrap_or(word));
        self.test(plain(name), size_of(size)?, number(count)?, time(seconds)?, time(of)?);
        Ok(())
    }

    /// `256 bits sign ecdsa's for 10s: 530 256 bits ECDSA signs in 9.92s`: its row has no time.
    fn of_keys(&mut self, rest: &str) {
        let time = |word: &str| word.strip_suffix('s').and_then(|word| word.parse::<f64>().ok());
        let test = rest.split_once("s: ").and_then(|(announced, result)| {
            let of = announced.rsplit_once(" for ")?.1.parse::<f64>().ok()?;
            let count = result.split(' ').next()?.parse::<f64>().ok()?;
            Some((count, time(result.rsplit_once(" in ")?.1)?, of))
        });
        let doubt =
            test.and_then(|(count, seconds, of)| Some((count / seconds, short(seconds, of)?)));
        self.short_keys.extend(doubt);
    }

    /// A name, a time and then a rate for each operation.
    fn keys(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let columns = self.operations.len();
        if words.len() <= 2 * columns {
            return;
        }
        let (name, figures) = words.split_at(words.len() - 2 * columns);
        let (times, rates) = figures.split_at(columns);
        if !times.iter().all(|time| time.strip_suffix('s').is_some_and(|t| number(t).is_ok())) {
            return;
        }
        for (operation, rate) in self.operations.iter().zip(rates) {
            let per_second = rate.parse().ok().filter(|rate| RATES.contains(rate));
            self.output.keys.extend(per_second.map(|per_second| KeyFigure {
                name: scheme(&name.join(" "), operation),
                per_second,
                processes: self.forked.max(1),
                doubt: None,
            }));
        }
    }

    /// One test: so many operations in so much of the time that it was to take.
    fn test(&mut self, name: String, size: usize, count: f64, seconds: f64, of: f64) {
        if seconds <= 0.0 && count > 0.0 {
            self.output.infinite.push((name, size));
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
                self.output.infinite.push((plain(name), *size));
            }
            let found = figure(plain(name), *size, *speed);
            self.output
                .figures
                .extend(found.map(|f| Figure { processes: self.forked.max(1), ..f }));
        }
    }

    fn finish(mut self) -> Result<Output, NotSpeed> {
        if self.forked > 1 || self.interleaved {
            self.tests.iter_mut().for_each(|test| test.doubt = Some(OF_ONE_CHILD.to_owned()));
        }
        self.doubt_results();
        let Self { mut output, tests, short_keys, .. } = self;
        let mut places: HashMap<(String, usize), usize> = HashMap::new();
        let results = std::mem::take(&mut output.figures);
        for figure in tests.into_iter().chain(results) {
            match places.entry((figure.name.clone(), figure.size)) {
                Entry::Occupied(place) => output.figures[*place.get()] = figure,
                Entry::Vacant(place) => {
                    place.insert(output.figures.len());
                    output.figures.push(figure);
                }
            }
        }
        for mut key in std::mem::take(&mut output.keys) {
            let is_its =
                |(rate, _): &&(f64, String)| (rate / key.per_second - 1.0).abs() < SAME_RATE;
            key.doubt = short_keys.iter().find(is_its).map(|(_, why)| why.clone());
            match output.keys.iter_mut().find(|known| known.name == key.name) {
                Some(known) => *known = key,
                None => output.keys.push(key),
            }
        }
        output.infinite.sort();
        output.infinite.dedup();
        match output.figures.is_empty() && output.keys.is_empty() {
            true if output.infinite.is_empty() => Err(NotSpeed::Nothing),
            true => Err(NotSpeed::NoTime),
            false => Ok(output),
        }
    }

    /// Results are computed from the tests' times, so that they are to be believed as these are. That of all children is not
    /// one child's.
    fn doubt_results(&mut self) {
        let key = |figure: &Figure| (figure.name.clone(), figure.size);
        let tests: HashMap<_, _> =
            self.tests.iter().map(|test| (key(test), test.doubt.clone())).collect();
        for result in self.output.figures.iter_mut().filter(|result| result.processes == 1) {
            let beside = self.output.infinite.iter().any(|(name, _)| *name == result.name);
            let untested = || beside.then(|| BESIDE_INFINITE.to_owned());
            result.doubt = tests.get(&key(result)).cloned().unwrap_or_else(untested);
        }
    }
}

/// Operations a second that can be.
const RATES: std::ops::RangeInclusive<f64> = 1e-6..=1e12;
/// A rate is printed with a tenth of an operation.
const SAME_RATE: f64 = 1e-3;

/// What is done in the columns of a table of keys: `sign verify sign/s verify/s`, as many rates as times.
fn operations(line: &str) -> Option<Vec<&'static str>> {
    let words: Vec<&str> = line.split_whitespace().take(MOST_COLUMNS + 1).collect();
    let rates = words.split_at(words.len() / 2).1;
    let all: Option<Vec<_>> =
        rates.iter().map(|word| operation(word.strip_suffix("/s")?)).collect();
    let is_heading = words.len() <= MOST_COLUMNS && words.len().is_multiple_of(2);
    all.filter(|all| is_heading && !all.is_empty() && !words[0].ends_with("/s"))
}

/// More than the widest table has.
const MOST_COLUMNS: usize = 12;

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

/// The library and its version: `version: 3.0.22`, `OpenSSL 1.1.1f  31 Mar 2020`, `LibreSSL 3.8.2`, and
/// `version: libgcrypt 1.10.1`, as [`text`] writes it.
fn stated(line: &str) -> Option<(String, String)> {
    let programs = [("version:", "openssl"), ("OpenSSL ", "openssl"), ("LibreSSL ", "libressl")];
    let (rest, library) =
        programs.iter().find_map(|(begin, library)| Some((line.strip_prefix(begin)?, *library)))?;
    let is_version = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = rest.split_whitespace().take(2).collect();
    match words[..] {
        [version, ..] if is_version(version) => Some((library.to_owned(), quoted(version))),
        [name, version] if line.starts_with("version:") && is_version(version) => {
            Some((quoted(name), quoted(version)))
        }
        _ => None,
    }
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

/// `1371968.28k`, in bytes a second, or `infk`; 0 and negative numbers come without the `k`. Other numbers without one
/// are counts of signatures.
fn thousands(word: &str) -> Option<f64> {
    let (digits, has_unit) = word.strip_suffix('k').map_or((word, false), |d| (d, true));
    let number: f64 = digits.parse().ok()?;
    (!number.is_nan() && (has_unit || number <= 0.0)).then_some(number * 1e3)
}

// A record in the words of `openssl speed`, so that programs that parse those read it.

/// Seconds that each test of `openssl speed` runs for unless it is told otherwise.
const SECONDS: f64 = 3.0;

/// The number that `openssl speed -evp` gives its algorithm in lines `+F` (`D_EVP` in OpenSSL 3.0).
const EVP: u32 = 25;

/// What `openssl speed -evp … 2>&1` prints: a run for each library, direction, model, tier, working
/// set and number of threads, each with its own head. Only what was measured and checked is there, and no bound, for
/// which such output has no sign.
///
/// `openssl speed` counts how many operations end within three seconds; here it is how many would,
/// at the measured time per operation.
pub fn text(record: &Record, selection: &[&Measurement]) -> String {
    let mut out = String::new();
    for run in runs(selection) {
        for (algorithm, cells) in run.rows() {
            for m in cells {
                let Counted { operations, seconds } = counted(m);
                let size = m.size;
                let _ = writeln!(
                    out,
                    "Doing {algorithm} for {SECONDS:.0}s on {size} size blocks: {operations} {algorithm}'s in {seconds:.2}s"
                );
            }
        }
        out += &head(record, &run);
        out += "The 'numbers' are in 1000s of bytes per second processed.\n";
        for Table { sizes, rows } in run.tables() {
            out += &heading(&sizes);
            rows.iter().for_each(|(algorithm, cells)| out += &row(algorithm, cells));
        }
    }
    out
}

/// What `openssl speed -mr -evp … 2>&1` prints. Where there are several runs, a line that begins with
/// `#` stands before each; programs that look for lines with a plus pass over it.
pub fn machine_readable(record: &Record, selection: &[&Measurement]) -> String {
    let runs = runs(selection);
    let several = runs.len() > 1;
    let mut out = String::new();
    for run in &runs {
        if several {
            let version = version(&run.first().library.name, &run.first().library.version);
            let _ = writeln!(out, "# {version}: {}", run.words(record));
        }
        for (algorithm, cells) in run.rows() {
            for m in cells {
                let Counted { operations, seconds } = counted(m);
                let _ = writeln!(out, "+DT:{algorithm}:{SECONDS:.0}:{}", m.size);
                let _ = writeln!(out, "+R:{operations}:{algorithm}:{seconds:.6}");
            }
        }
        for Table { sizes, rows } in run.tables() {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let _ = writeln!(out, "+H:{}", sizes.join(":"));
            for (algorithm, cells) in rows {
                let speeds: Vec<String> =
                    cells.iter().map(|m| format!("{:.2}", bytes_per_second(m))).collect();
                let _ = writeln!(out, "+F:{EVP}:{algorithm}:{}", speeds.join(":"));
            }
        }
    }
    out
}

/// The name of an algorithm, and its measurements by size.
type NamedCells<'a> = (String, Vec<&'a Measurement>);

/// Rows that share their sizes, and these.
struct Table<'a> {
    sizes: Vec<usize>,
    rows: Vec<NamedCells<'a>>,
}

/// What one call of `openssl speed` would measure.
struct Run<'a>(Vec<&'a Measurement>);

fn runs<'a>(selection: &[&'a Measurement]) -> Vec<Run<'a>> {
    let mut runs: BTreeMap<_, Vec<&Measurement>> = BTreeMap::new();
    let is_figure = |m: &&Measurement| m.state == State::Measured && !m.contended;
    for m in selection.iter().copied().filter(is_figure) {
        let Measurement { library, direction, model, tier, threads, footprint, in_place, .. } = m;
        // Digests have no direction, and neither has the name of an algorithm.
        let key = (library, direction, model, tier, threads, footprint, in_place);
        if m.mb_per_s.is_some() {
            runs.entry(key).or_default().push(m);
        }
    }
    runs.into_values().map(Run).collect()
}

impl<'a> Run<'a> {
    fn first(&self) -> &'a Measurement {
        self.0[0]
    }

    /// Each algorithm with its measurements by size, in the order of the record.
    fn rows(&self) -> Vec<NamedCells<'a>> {
        let mut rows: Vec<NamedCells<'_>> = Vec::new();
        for m in &self.0 {
            let name = name(&m.algorithm);
            match rows.iter_mut().find(|(n, _)| *n == name) {
                Some((_, cells)) => cells.push(m),
                None => rows.push((name, vec![m])),
            }
        }
        rows.iter_mut().for_each(|(_, cells)| cells.sort_by_key(|m| m.size));
        rows
    }

    /// The rows that share their sizes: a table has a number in each of its columns.
    fn tables(&self) -> Vec<Table<'a>> {
        let mut tables: Vec<Table<'_>> = Vec::new();
        for row in self.rows() {
            let sizes: Vec<usize> = row.1.iter().map(|m| m.size).collect();
            match tables.iter_mut().find(|t| t.sizes == sizes) {
                Some(table) => table.rows.push(row),
                None => tables.push(Table { sizes, rows: vec![row] }),
            }
        }
        tables
    }

    /// What else there is to know, in words.
    fn words(&self, record: &Record) -> String {
        let Measurement { direction, model, tier, threads, footprint, .. } = self.first();
        let program = format!("{} {}", record.tool.name, record.tool.version);
        one_line(&format!(
            "{program}, {direction}, model {model}, tier {tier}, footprint {footprint}, threads {threads}"
        ))
    }
}

/// Lines in which `openssl speed` names the version, the build and the CPU.
fn head(record: &Record, run: &Run<'_>) -> String {
    let library = &run.first().library;
    let built = record.libraries.iter().find(|l| l.path == library.path && l.id == library.id);
    let build = built.map(|l: &Library| l.build.join("; ")).unwrap_or_default();
    let lines = [
        format!("version: {}", version(&library.name, &library.version)),
        format!("options: {}", run.words(record)),
        format!("compiler: {build}"),
        format!("CPUINFO: {}", record.host.cpu.name),
    ];
    lines.iter().map(|line| one_line(line) + "\n").collect()
}

/// OpenSSL's as it says it; others with their name.
fn version(name: &str, version: &str) -> String {
    let name = if name == "openssl" { String::new() } else { format!("{name} ") };
    one_line(&(name + version))
}

fn heading(sizes: &[usize]) -> String {
    let columns: String = sizes.iter().map(|size| format!("{size:>7} bytes")).collect();
    format!("type        {columns}\n")
}

/// `%-12s`, then `%11.2fk` a number.
fn row(algorithm: &str, cells: &[&Measurement]) -> String {
    let numbers: String =
        cells.iter().map(|m| format!(" {:>11.2}k", bytes_per_second(m) / 1e3)).collect();
    format!("{algorithm:<12}{numbers}\n")
}

fn bytes_per_second(m: &Measurement) -> f64 {
    m.mb_per_s.unwrap_or_default() * 1e6
}

/// Operations of one test, and the seconds that they take.
struct Counted {
    operations: u64,
    seconds: f64,
}

/// As many whole operations as end in the time, and at least one.
fn counted(m: &Measurement) -> Counted {
    let each = m.ns_per_op.map_or(f64::NAN, |e| e.median) / 1e9;
    // A float's conversion saturates, and no operation takes no time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let operations = ((SECONDS / each).floor() as u64).max(1);
    Counted { operations, seconds: operations as f64 * each }
}

/// A name that cannot be taken for two fields, or for two lines.
fn name(algorithm: &str) -> String {
    let bad = |c: char| c == ':' || c.is_whitespace() || c.is_control();
    let name: String = algorithm.chars().map(|c| if bad(c) { '_' } else { c }).collect();
    one_line(&name)
}

#[cfg(test)]
mod tests {
    use super::{read, *};
    use crate::sample;
    use base::model::Direction;
    use regex::Regex;

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

    fn rows_of(text: &str) -> Vec<Row> {
        rows(text, &Said::default()).unwrap().rows
    }

    /// Library and version, algorithm, model, MB/s.
    fn told(text: &str) -> Vec<(String, String, Model, f64)> {
        let rows = rows_of(text).into_iter();
        let name = |row: &Row| [&*row.library, "@", &row.version].concat();
        rows.map(|row| (name(&row), row.algorithm, row.model, row.mb_per_s)).collect()
    }

    #[test]
    fn a_figure_is_of_the_library_whose_program_prints_it() {
        let of = |line: &str| {
            let text = format!("{line}\ntype     16 bytes\nmd5     10.00k\n");
            told(&text).swap_remove(0).0
        };
        assert_eq!(of("LibreSSL 3.8.2"), "libressl@3.8.2");
        assert_eq!(of("OpenSSL 1.1.1w  11 Sep 2023"), "openssl@1.1.1w");
        assert_eq!(of("version: 3.0.19"), "openssl@3.0.19");
        assert_eq!(of("version: libgcrypt 1.10.1"), "libgcrypt@1.10.1");
        assert_eq!(of("built on: Monday"), "openssl@");
    }

    #[test]
    fn outputs_one_behind_another_keep_their_own_versions_and_all_their_figures() {
        let call = |version: &str, name: &str, speed: &str| {
            format!(
                "Doing {name} for 3s on 16 size blocks: 3000 {name}'s in 3.00s\n{version}\n\
                 type     16 bytes\n{name}     {speed}k\n"
            )
        };
        let [old, new] = [("OpenSSL 1.1.1w  11 Sep 2023", "16.00"), ("version: 3.0.15", "8.00")]
            .map(|(version, speed)| (version, call(version, "aes-128-cbc", speed)));
        let mine = |version: &str, speed| {
            (version.to_owned(), "aes-128-cbc".to_owned(), Model::Stream, speed)
        };
        let both = [mine("openssl@1.1.1w", 0.016), mine("openssl@3.0.15", 0.008)];
        assert_eq!(told(&(old.1.clone() + &new.1)), both);
        // Standard output alone.
        let results = |text: &str| text.split_once("3.00s\n").unwrap().1.to_owned();
        assert_eq!(told(&(results(&old.1) + &results(&new.1))), both);
        // Standard error behind it, and the version before it.
        let (head, rest) = new.1.split_at(new.1.find("version").unwrap());
        assert_eq!(told(&format!("{rest}{head}")), both[1..]);
        assert_eq!(told(&format!("OpenSSL 3.0.15 3 Sep 2024\n{}", new.1)), both[1..]);
        // Of three calls of one version none hides another.
        let three = ["1.00", "3.00", "2.00"].map(|speed| call(new.0, "aes-128-cbc", speed));
        let rows = crate::import::read(&three.concat(), None, &Said::default()).unwrap().rows;
        assert_eq!((rows.len(), rows[0].mb_per_s), (1, 0.002));
        assert!(rows[0].remarks[0].contains("several figures in the text: 3"), "{rows:?}");
        // Processes are those of one call.
        let twice = rows_of(&(MULTI[0].to_owned() + MULTI[0]));
        assert!(twice.len() == 4 && twice.iter().all(|row| row.threads == 2), "{twice:?}");
    }

    #[test]
    fn releases_that_begin_a_message_each_time_are_not_taken_for_streams() {
        let model = |line: &str, name: &str| {
            told(&format!("{line}\ntype     16 bytes\n{name}     10.00k\n")).swap_remove(0).2
        };
        for version in ["3.0.16", "3.1.8", "3.4.1", "3.5.0", "4.0.3"] {
            let line = format!("version: {version}");
            assert_eq!(model(&line, "AES-128-GCM"), Model::Rekey, "{version}");
            assert_eq!(model(&line, "ChaCha20-Poly1305"), Model::Stream, "{version}");
            assert_eq!(model(&line, "AES-128-CTR"), Model::Stream, "{version}");
        }
        for line in ["version: 3.0.15", "version: 3.4.0", "version: 3.3.0-dev", "LibreSSL 3.8.2"] {
            assert_eq!(model(line, "AES-128-GCM"), Model::Stream, "{line}");
        }
        assert_eq!(model("OpenSSL 1.1.1w  11 Sep 2023", "id-aes128-GCM"), Model::Stream);
        let said = Said { version: Some("3.5.5".to_owned()), ..Said::default() };
        let mr = rows("+H:16\n+F:25:AES-128-GCM:1000.00\n", &said).unwrap().rows;
        assert_eq!(mr[0].model, Model::Rekey);
    }

    #[test]
    fn its_names_are_ours_and_digests_and_macs_do_not_encrypt() {
        for (theirs, ours) in [
            ("hmac(sha256)", "hmac-sha256"),
            ("cmac(AES-256-CBC)", "aes-256-cmac"),
            ("blowfish", "bf-cbc"),
            ("cast-cbc", "cast5-cbc"),
            ("des-ede3", "des-ede3-cbc"),
            ("RIPEMD160", "rmd160"),
            ("id-aes128-wrap-pad", "aes-128-kwp"),
            ("aes-256-cbc-hmac-sha256", "aes-256-cbc-hmac-sha256"),
        ] {
            let row = rows_of(&format!("type     16 bytes\n{theirs}     10.00k\n")).remove(0);
            assert_eq!((&*row.algorithm, row.direction), (ours, Row::usual_direction(ours)));
        }
        assert_eq!(Row::usual_direction("hmac-sha256"), Direction::Digest);
    }

    fn keys(text: &str) -> Vec<(String, f64, Option<String>)> {
        read(text).unwrap().keys.into_iter().map(|k| (k.name, k.per_second, k.doubt)).collect()
    }

    #[test]
    fn sections_of_keys_signatures_and_kems_are_operations_in_the_words_of_tls_primitives() {
        let signatures = "Doing 256 bits sign ecdsa's for 10s: 500000 256 bits ECDSA signs in 10.00s\n\
            Doing 256 bits verify ecdsa's for 10s: 3000 256 bits ECDSA verify in 0.06s\n\
            \x20                             sign    verify    sign/s verify/s\n\
            rsa  2048 bits 0.000500s 0.000020s   2000.0  50000.5\n\
            \x20256 bits ecdsa (nistp256)   0.0000s   0.0000s  50000.0  50000.0\n\
            \x20                             op      op/s\n 256 bits ecdh (nistp256)   0.0001s  20000.0\n\
            \x20253 bits ecdh (X25519)   0.0000s  40000.0\n";
        let found = keys(signatures);
        let names: Vec<&str> = found.iter().map(|(name, ..)| &**name).collect();
        let expected = [
            "rsa-2048 sign",
            "rsa-2048 verify",
            "ecdsa-p256 sign",
            "ecdsa-p256 verify",
            "p256 agree",
            "x25519 agree",
        ];
        assert_eq!((names, found[0].1), (expected.to_vec(), 2000.0));
        assert!(
            found[3].2.as_deref().unwrap().starts_with("only 0.06 s of CPU time in a test of 10 s")
        );
        let kems = "version: 3.5.0\n                       keygen    encaps    decaps keygens/s  encaps/s  decaps/s\n\
            \x20            X25519 0.000025s 0.000050s 0.000025s   40000.0   20000.0   40000.0\n\
            \x20        ML-KEM-768 0.000030s 0.000020s 0.000030s   30000.0   50000.0   inf\n";
        let names: Vec<String> = keys(kems).into_iter().map(|(name, ..)| name).collect();
        let expected = [
            "x25519 generate",
            "x25519-encapsulate",
            "x25519-decapsulate",
            "mlkem768 generate",
            "mlkem768 encapsulate",
        ];
        assert_eq!(names, expected.map(|n| n.replace("x25519-", "x25519 ")));
    }

    #[test]
    fn rows_say_the_engine_wall_time_and_several_processes() {
        let text = "engine \"devcrypto\" set.\nYou have chosen to measure elapsed time instead of user CPU time.\n".to_owned();
        let of = |text: String| rows(&text, &Said::default()).unwrap().rows.swap_remove(0).remarks;
        let remarks = of(text + "type     16 bytes\nmd5     10.00k\n");
        assert_eq!(remarks, ["run by the engine: 'devcrypto'", "times are wall time: -elapsed"]);
        assert_eq!(
            of(MULTI[0].to_owned()),
            ["figures of 2 processes together: not one core's speed", EACH_A_MESSAGE]
        );
        let mr = "+H:16\n+F:2:md5:1000.0\n+F2:0:2048:2000.0:50000.0\n";
        assert_eq!(rows(mr, &Said::default()).unwrap().left_out.values().sum::<usize>(), 1);
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

    fn selection(record: &Record) -> Vec<&Measurement> {
        record.measurements.iter().collect()
    }

    /// The way of Erlang/OTP's `crypto_bench_SUITE`: a line `+DT`, directly after it a line `+R` of
    /// the same name, from which the time of one operation is computed.
    #[test]
    fn a_program_that_pairs_the_lines_dt_and_r_finds_the_time_of_each_operation() {
        let record = sample::two_libraries();
        let text = machine_readable(&record, &selection(&record));
        let lines: Vec<&str> = text.lines().collect();
        let mut found = Vec::new();
        for pair in lines.windows(2) {
            let (Some(dt), Some(r)) = (pair[0].strip_prefix("+DT:"), pair[1].strip_prefix("+R:"))
            else {
                continue;
            };
            let (dt, r): (Vec<&str>, Vec<&str>) = (dt.split(':').collect(), r.split(':').collect());
            assert_eq!((dt.len(), r.len(), dt[0]), (3, 3, r[1]));
            assert!(r[2].contains('.'), "a float must have a point: {}", r[2]);
            let (count, seconds): (f64, f64) = (r[0].parse().unwrap(), r[2].parse().unwrap());
            found.push((dt[0], dt[2].parse::<usize>().unwrap(), seconds / count * 1e9));
        }
        let measured: Vec<_> =
            record.measurements.iter().filter(|m| m.state == State::Measured).collect();
        assert_eq!(found.len(), measured.len());
        for m in measured {
            let of_it = |f: &&(&str, usize, f64)| f.0 == m.algorithm && f.1 == m.size;
            let expected = m.ns_per_op.unwrap().median;
            let nearest = found.iter().filter(of_it).map(|f| (f.2 / expected - 1.0).abs());
            assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-5, "{} {}", m.algorithm, m.size);
        }
    }

    /// The way of scripts that split lines `+F` at colons and leave the first three fields.
    #[test]
    fn a_program_that_splits_lines_f_finds_bytes_per_second_below_the_sizes_of_line_h() {
        let record = sample::two_libraries();
        let text = machine_readable(&record, &selection(&record));
        let mut sizes: Vec<usize> = Vec::new();
        let mut numbers = 0;
        for line in text.lines() {
            let fields: Vec<&str> = line.split(':').collect();
            match fields[0] {
                "+H" => sizes = fields[1..].iter().map(|f| f.parse().unwrap()).collect(),
                "+F" => {
                    assert_eq!(fields.len() - 3, sizes.len(), "{line}");
                    for (size, speed) in sizes.iter().zip(&fields[3..]) {
                        let speed: f64 = speed.parse().unwrap();
                        let is = |m: &&Measurement| {
                            m.algorithm == fields[2]
                                && m.size == *size
                                && (bytes_per_second(m) / speed - 1.0).abs() < 1e-6
                        };
                        assert!(record.measurements.iter().any(|m| is(&m)), "{line}");
                        numbers += 1;
                    }
                }
                _ => {}
            }
        }
        assert!(numbers > 0);
    }

    /// The way of VirtualClient's `OpenSslMetricsParser`: the sizes from the line `type`, then names
    /// with as many numbers that end in `k`.
    #[test]
    fn a_program_that_reads_the_table_finds_each_algorithm_with_a_number_for_each_size() {
        let record = sample::two_libraries();
        let only: Vec<&Measurement> = record
            .measurements
            .iter()
            .filter(|m| m.library.version == "3.0.22" && m.direction == Direction::Encrypt)
            .collect();
        let text = text(&record, &only);
        let sizes = Regex::new(r"(?i)type\s*((?:[0-9]+\s*bytes\s*)+)").unwrap();
        let size = Regex::new(r"([0-9]+)\s*bytes").unwrap();
        let head = &sizes.captures(&text).unwrap()[1];
        let sizes: Vec<&str> =
            size.captures_iter(head).map(|c| c.get(1).unwrap().as_str()).collect();
        assert_eq!(sizes, ["16", "8192"]);
        let rows = Regex::new(r"(?im)^([a-z0-9\-()]+)((?:\s*[0-9.]+k)+)").unwrap();
        let found: Vec<(String, usize)> = rows
            .captures_iter(&text)
            .map(|c| (c[1].to_owned(), c[2].matches('k').count()))
            .collect();
        assert_eq!(found, [("aes-128-gcm".to_owned(), 2), ("aes-128-ctr".to_owned(), 2)]);
        let doing = Regex::new(
            r"Doing (\S+) for (\d+)s on (\d+) size blocks: ([0-9]+) (\S+)'s in ([0-9.]+)s",
        )
        .unwrap();
        assert_eq!(doing.captures_iter(&text).count(), 4);
    }

    #[test]
    fn what_was_not_measured_or_is_imported_is_not_there() {
        let mut record = sample::two_libraries();
        record.measurements.iter_mut().for_each(|m| m.state = State::Refused);
        assert_eq!(machine_readable(&record, &selection(&record)), "");
        record.measurements.iter_mut().for_each(|m| m.state = State::Imported);
        assert_eq!(text(&record, &selection(&record)), "");
    }

    #[test]
    fn a_bound_is_not_there_for_there_is_no_sign_for_it() {
        let mut record = sample::two_libraries();
        record.measurements.iter_mut().for_each(|m| m.contended = true);
        assert_eq!(text(&record, &selection(&record)), "");
        assert_eq!(machine_readable(&record, &selection(&record)), "");
    }

    #[test]
    fn one_run_has_no_remarks_and_several_are_told_apart() {
        let record = sample::two_libraries();
        let all = machine_readable(&record, &selection(&record));
        let remarks: Vec<&str> = all.lines().filter(|l| l.starts_with('#')).collect();
        assert_eq!(remarks.len(), 3, "{all}");
        assert!(remarks[0].starts_with("# libgcrypt 1.10.1: ciphermark 0.1.0, encrypt, "), "{all}");
        let one = machine_readable(&record, &selection(&record)[..2]);
        assert!(one.lines().all(|l| l.starts_with('+')), "{one}");
    }

    #[test]
    fn hostile_names_make_no_lines_or_fields_of_their_own() {
        let mut record = sample::two_libraries();
        for m in &mut record.measurements {
            m.algorithm = "a:b\n+F:1:c:9\u{202e}".to_owned();
            m.library.name = "x\n+F:1:d:9\u{1b}".to_owned();
        }
        record.host.cpu.name = "y\n+F:1:e:9".to_owned();
        record.tool.name = "\u{202e}drowssap".to_owned();
        for text in
            [machine_readable(&record, &selection(&record)), text(&record, &selection(&record))]
        {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
            let forged = |l: &&str| l.starts_with("+F:1:");
            assert_eq!(text.lines().filter(forged).count(), 0, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let record = sample::two_libraries();
        let one: Vec<&Measurement> = record.measurements.iter().take(4).collect();
        for written in [text(&record, &one), machine_readable(&record, &one)] {
            let output = read(&written).unwrap();
            assert_eq!(output.figures.len(), 4, "{written}");
            for (figure, m) in output.figures.iter().zip(&one) {
                assert_eq!((&figure.name, figure.size), (&m.algorithm, m.size));
                assert!((figure.bytes_per_second / bytes_per_second(m) - 1.0).abs() < 1e-6);
            }
        }
    }
}
