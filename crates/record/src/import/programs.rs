//! What the benchmarks of other programs printed, as rows: BoringSSL's and AWS-LC's `bssl speed`, `cryptsetup benchmark`,
//! libgcrypt's `bench-slope`, `botan speed`, wolfSSL's `benchmark`, `borg benchmark cpu`, `gocryptfs -speed`, Go's `testing`.

use crate::import::names::{algorithm, number, operation, quoted, scheme, step};
use crate::import::{Format, Found, Row, Said};
use base::model::{Algorithm, Direction, Kind, Model};
use serde::Deserialize;

const MIB: f64 = (1 << 20) as f64;

/// A figure out of less time than this says little: clocks, interrupts and first calls are all of it.
const LEAST_SECONDS: f64 = 0.01;

/// Why a test that took so little time says little.
fn brief(seconds: f64) -> Option<String> {
    (seconds < LEAST_SECONDS).then(|| format!("only {:.3} ms of measuring", seconds * 1e3))
}

fn float(word: &str) -> Option<f64> {
    number(word.trim_end_matches([',', ';'])).ok()
}

fn first_word(text: &str) -> String {
    quoted(text.trim_start().split([' ', ',', ';']).next().unwrap_or_default())
}

/// The number before a word that begins with `unit`.
fn before(words: &[&str], unit: &str) -> Option<f64> {
    let at = words.iter().position(|word| word.starts_with(unit))?;
    float(words.get(at.checked_sub(1)?)?)
}

/// Bytes in one of a unit of data: `MiB`, `MB`, `KiB`, …
pub(crate) fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "B" | "bytes" => 1.0,
        "kB" | "KB" => 1e3,
        "KiB" => 1024.0,
        "MB" | "mB" => 1e6,
        "MiB" => MIB,
        "GB" => 1e9,
        "GiB" => 1024.0 * MIB,
        _ => return None,
    })
}

/// What a program calls a direction.
pub(crate) fn direction(word: &str) -> Option<Direction> {
    match word.to_lowercase().as_str() {
        "encrypt" | "enc" | "seal" => Some(Direction::Encrypt),
        "decrypt" | "dec" | "open" => Some(Direction::Decrypt),
        _ => None,
    }
}

/// Rows of one program, and what of the text is none.
struct Rows<'a> {
    said: &'a Said,
    library: &'static str,
    version: String,
    /// What an operation of a plain cipher or digest is; of an AEAD it is a message in every program.
    model: Model,
    found: Found,
}

impl<'a> Rows<'a> {
    fn new(format: Format, said: &'a Said, library: &'static str, model: Model) -> Self {
        let found = Found::new(format, Vec::new());
        Self { said, library, version: String::new(), model, found }
    }

    fn add(
        &mut self,
        theirs: &str,
        direction: Option<Direction>,
        size: usize,
        bytes_per_second: f64,
    ) -> &mut Row {
        let mut row = self.said.row(self.library, &self.version, algorithm(theirs));
        row.direction = direction.unwrap_or(row.direction);
        let known = Algorithm::find(&row.algorithm);
        row.model =
            if known.is_ok_and(|a| a.kind == Kind::Aead) { Model::Message } else { self.model };
        (row.size, row.mb_per_s) = (Some(size), bytes_per_second / 1e6);
        self.push(row)
    }

    fn add_operation(&mut self, name: String, seconds: f64) -> &mut Row {
        let row = self.said.row(self.library, &self.version, name);
        self.push(row.of_operation(seconds * 1e9))
    }

    fn push(&mut self, row: Row) -> &mut Row {
        self.found.rows.push(row);
        self.found.rows.last_mut().expect("one was pushed")
    }
}

// `bssl speed`: `Did N NAME operations in Tus (R ops/sec): S MB/s`.

pub(crate) fn is_bssl(line: &str) -> bool {
    line.starts_with("Did ") && line.contains(" operations in ") && line.contains("us (")
}

/// AWS-LC's says which interface it calls before each name.
fn bssl_library<'a>(mut names: impl Iterator<Item = &'a str>) -> &'static str {
    let is_of_aws = names.any(|name| name.starts_with("AEAD-") || name.starts_with("EVP-"));
    if is_of_aws { "aws-lc" } else { "boringssl" }
}

pub(crate) fn bssl(text: &str, said: &Said) -> Found {
    let names = text.lines().filter(|line| is_bssl(line)).filter_map(|line| line.split(' ').nth(2));
    let library = bssl_library(names);
    let mut rows = Rows::new(Format::BsslSpeed, said, library, Model::Message);
    for line in text.lines().filter(|line| is_bssl(line)) {
        let test = line.strip_prefix("Did ").and_then(|rest| {
            let (done, time) = rest.split_once(" operations in ")?;
            let (count, name) = done.split_once(' ')?;
            Some((name, float(count)?, float(time.split_once("us (")?.0)? / 1e6))
        });
        match test {
            Some((name, count, seconds)) => of_bssl(&mut rows, name, count, seconds, None),
            None => rows.found.leave(1, "lines that are torn"),
        }
    }
    rows.found
}

/// `AES-128-GCM (16 bytes) seal`, AWS-LC's `AEAD-AES-128-GCM seal (16 bytes)`, `RSA 2048 signing`, `SHA-256 (16 bytes)`.
fn of_bssl(rows: &mut Rows<'_>, name: &str, count: f64, seconds: f64, size: Option<usize>) {
    if count <= 0.0 || seconds <= 0.0 {
        return rows.found.leave(1, "tests without an operation or a time");
    }
    let sized = name.split_once(" (").filter(|(_, rest)| rest.contains(" byte"));
    let told = sized.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    let bare = sized.map_or(name.to_owned(), |(before, rest)| {
        before.to_owned() + rest.split_once(')').map_or("", |(_, behind)| behind)
    });
    let name = &*bare;
    let (first, last) = name.rsplit_once(' ').unwrap_or((name, ""));
    let row = match size.or(told) {
        Some(size) => {
            let way = direction(last);
            let theirs = if way.is_some() { first } else { name };
            rows.add(theirs, way, size, count * size as f64 / seconds)
        }
        None => {
            let words: Vec<&str> = name.split(' ').collect();
            let done = (1..words.len()).find_map(|at| {
                let said = words[at..].join(" ");
                Some((words[..at].join(" "), operation(&said.replace("key-gen", "key gen"))?))
            });
            let name = match done {
                Some((theirs, done)) => scheme(&theirs, done),
                None if words[0].starts_with("ECDH") => scheme(name, "agree"),
                None => quoted(&name.to_lowercase()),
            };
            rows.add_operation(name, seconds / count)
        }
    };
    row.doubt = brief(seconds);
}

// JSON of `bssl speed -json` and of `botan speed --format=json`.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    description: Option<String>,
    num_calls: Option<f64>,
    microseconds: Option<f64>,
    bytes_per_call: Option<usize>,
    algo: Option<String>,
    op: Option<String>,
    version: Option<String>,
    events: Option<f64>,
    bps: Option<f64>,
    #[serde(rename = "buf_size")]
    buf_size: Option<usize>,
    nanos: Option<f64>,
}

pub(crate) fn json(text: &str, said: &Said) -> Result<Found, String> {
    let tests: Vec<Test> = serde_json::from_str(text).map_err(|e| {
        format!("it begins as JSON and is none of `bssl speed` or `botan speed`: {e}")
    })?;
    let is_bssl = tests.iter().any(|test| test.description.is_some());
    let library = bssl_library(tests.iter().filter_map(|test| test.description.as_deref()));
    let mut rows = match is_bssl {
        true => Rows::new(Format::BsslSpeed, said, library, Model::Message),
        false => Rows::new(Format::BotanSpeed, said, "botan", Model::Message),
    };
    for test in tests {
        if let Some(version) = test.version {
            rows.version = quoted(&version);
        } else if let (Some(name), Some(count), Some(us)) =
            (&test.description, test.num_calls, test.microseconds)
        {
            of_bssl(&mut rows, name, count, us / 1e6, test.bytes_per_call);
        } else if let (Some(name), Some(op)) = (&test.algo, &test.op) {
            let seconds = test.nanos.unwrap_or_default() / 1e9;
            match (test.buf_size.filter(|size| *size > 0), test.bps, test.events) {
                (Some(size), Some(bps), _) => of_botan(&mut rows, name, op, size, bps, seconds),
                (_, _, Some(events)) if events > 0.0 && seconds > 0.0 => {
                    rows.add_operation(step(name, op), seconds / events).doubt = brief(seconds);
                }
                _ => rows.found.leave(1, "tests without a figure"),
            }
        } else {
            rows.found.leave(1, "tests without a figure");
        }
    }
    Ok(rows.found)
}

// `botan speed`.

pub(crate) fn is_botan(line: &str) -> bool {
    line.contains(" buffer size ") && line.contains(" bytes: ")
        || line.contains("/sec; ") && line.contains(" ms/op")
}

pub(crate) fn botan(text: &str, said: &Said) -> Found {
    let mut rows = Rows::new(Format::BotanSpeed, said, "botan", Model::Message);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Botan ") {
            rows.version = first_word(rest);
        }
        if !is_botan(line) {
            continue;
        }
        if of_botan_line(&mut rows, line).is_none() {
            rows.found.leave(1, "lines without a figure (N/A)");
        }
    }
    rows.found
}

fn of_botan_line(rows: &mut Rows<'_>, line: &str) -> Option<()> {
    if let Some((name, rest)) = line.split_once(" buffer size ") {
        let (size, figures) = rest.split_once(" bytes: ")?;
        let words: Vec<&str> = figures.split_whitespace().collect();
        let per_second =
            before(&words, "MiB/sec").map(|n| n * MIB).or_else(|| before(&words, "bytes/sec"))?;
        let seconds = float(figures.rsplit_once(" in ")?.1.split(' ').next()?)? / 1e3;
        let (name, op) = name
            .rsplit_once(' ')
            .filter(|(_, op)| direction(op).is_some() || ["hash", "mac"].contains(op))
            .unwrap_or((name, ""));
        of_botan(rows, name, op, size.parse().ok()?, per_second, seconds);
        return Some(());
    }
    // `RSA-3072 PKCS1v15(SHA-256) sign 500/sec; 2.00 ms/op 6000000 cycles/op (1000 ops in 2000.00 ms)`
    let (left, right) = line.split_once("/sec; ")?;
    let mut words: Vec<&str> = left.split_whitespace().collect();
    // Newer versions write `500 sign/sec`, older ones `sign 500/sec`.
    let (rate, doing) = match words.pop()? {
        last if float(last).is_some() => (float(last)?, words.pop()?),
        doing => (float(words.pop()?)?, doing),
    };
    let seconds = float(right.rsplit_once(" in ")?.1.split(' ').next()?)? / 1e3;
    if rate <= 0.0 {
        return None;
    }
    let name = step(&words.first()?.replace('-', " "), doing);
    // Rates are whole numbers: of few a second, the time of one says more.
    let each = float(right.split(' ').next()?).map(|ms| ms / 1e3).filter(|_| rate < 100.0);
    rows.add_operation(name, each.filter(|s| *s > 0.0).unwrap_or(1.0 / rate)).doubt =
        brief(seconds);
    Some(())
}

fn of_botan(
    rows: &mut Rows<'_>,
    name: &str,
    op: &str,
    size: usize,
    bytes_per_second: f64,
    seconds: f64,
) {
    // A block cipher by itself goes block by block.
    let is_block = Algorithm::meant_by(name).is_none()
        && Algorithm::meant_by(&format!("{name}-ecb")).is_some();
    let name = if is_block { format!("{name}-ecb") } else { name.to_owned() };
    rows.add(&name, direction(op), size, bytes_per_second).doubt = brief(seconds);
}

// `cryptsetup benchmark`: dm-crypt's ciphers through AF_ALG, 64 KiB at once.

const CRYPTSETUP_BYTES: usize = 65536;

pub(crate) fn is_cryptsetup(line: &str) -> bool {
    line.contains(" iterations per second for ")
        || line.contains("Algorithm |") && line.contains("Encryption |")
        || cryptsetup_row(line).is_some()
}

/// `aes-xts 512b 65.0 MiB/s N/A`: name, bits of the key, encryption, decryption.
fn cryptsetup_row(line: &str) -> Option<(&str, usize, [Option<f64>; 2])> {
    let line = line.trim().trim_start_matches('#');
    let mut words = line.split_whitespace().filter(|w| *w != "|" && *w != "MiB/s").take(5);
    let (name, bits) = (words.next()?, words.next()?.strip_suffix('b')?.parse().ok()?);
    let mut figure = || match words.next()? {
        "N/A" => Some(None),
        number => float(number).map(Some),
    };
    let both = [figure()?, figure()?];
    (line.contains("MiB/s") || line.contains("N/A")).then_some((name, bits, both))
}

/// With the bits of the cipher's own key, unless the cipher has one length, which no name says.
fn cryptsetup_name(cipher: &str, mode: &str, own: usize, bits: usize) -> String {
    let with_bits = format!("{cipher}-{own}-{mode}");
    let plain = format!("{cipher}-{mode}").replace("des3_ede", "des-ede3");
    let is_known = |name: &str| Algorithm::meant_by(name).is_some_and(|a| 8 * a.key_len == bits);
    if !is_known(&with_bits) && is_known(&plain) { plain } else { with_bits }
}

pub(crate) fn cryptsetup(text: &str, said: &Said) -> Found {
    let mut rows = Rows::new(Format::Cryptsetup, said, "linux-kernel", Model::Message);
    for line in text.lines() {
        if let Some((name, bits, both)) = cryptsetup_row(line) {
            let (cipher, mode) = name.split_once('-').unwrap_or((name, ""));
            // XTS has two keys of half the length.
            let own = if mode.starts_with("xts") { bits / 2 } else { bits };
            let mode = mode.split('-').next().unwrap_or_default();
            let name = cryptsetup_name(cipher, mode, own, bits);
            for (way, figure) in [Direction::Encrypt, Direction::Decrypt].into_iter().zip(both) {
                match figure.filter(|speed| *speed > 0.0) {
                    Some(speed) => {
                        rows.add(&name, Some(way), CRYPTSETUP_BYTES, speed * MIB);
                    }
                    None => {
                        rows.found.leave(1, "figures that are N/A: the kernel has no such cipher")
                    }
                }
            }
        } else if let Some((left, _)) = line.split_once(" iterations per second for ") {
            let mut words = left.split_whitespace();
            let rate = words.next_back().and_then(float).filter(|rate| *rate > 0.0);
            if let (Some(name), Some(rate)) = (words.next(), rate) {
                rows.add_operation(format!("{} iteration", name.to_lowercase()), 1.0 / rate);
            }
        } else if line.starts_with("argon2") || line.starts_with("scrypt") {
            rows.found.leave(1, "derivations that cryptsetup fits to the time asked for: no speed");
        }
    }
    rows.found
}

// libgcrypt's `bench-slope`: what a further byte costs, by a line through messages of up to 4 KiB.

const SLOPE_BYTES: usize = 4096;

pub(crate) fn is_slope(line: &str) -> bool {
    line.contains('|') && (line.contains("nanosecs/byte") || line.contains("nanosecs/iter"))
}

pub(crate) fn slope(text: &str, said: &Said) -> Found {
    let mut rows = Rows::new(Format::BenchSlope, said, "libgcrypt", Model::Stream);
    // What the last heading names, and whether its rows are of bytes.
    let (mut of, mut has_bytes) = (String::new(), true);
    for line in text.lines() {
        let Some((name, figures)) = line.split_once('|') else { continue };
        let name = name.trim();
        if is_slope(line) {
            (of, has_bytes) = (name.to_owned(), figures.contains("nanosecs/byte"));
            continue;
        }
        let words: Vec<&str> = figures.split_whitespace().collect();
        let ns =
            if has_bytes { before(&words, "ns/B") } else { words.first().and_then(|w| float(w)) };
        let Some(ns) = ns.filter(|ns| *ns > 0.0) else {
            rows.found.leave(1, "lines without a figure");
            continue;
        };
        if !has_bytes {
            let (kind, done) = if of.is_empty() { (name, "iteration") } else { (&*of, name) };
            let done = operation(done).unwrap_or(done);
            rows.add_operation(scheme(kind, done), ns / 1e9);
            continue;
        }
        let (mode, way) = name.rsplit_once(' ').filter(|_| !of.is_empty()).unwrap_or((name, ""));
        if way == "auth" {
            rows.found.leave(1, "associated data alone (auth)");
            continue;
        }
        let theirs = match (&*of, mode) {
            ("", name) => name.replace('_', "-"),
            (cipher, "STREAM") => cipher.to_owned(),
            (cipher, mode) => slope_name(cipher, mode),
        };
        let cycles = before(&words, "c/B");
        let row = rows.add(&theirs, direction(way), SLOPE_BYTES, 1e9 / ns);
        row.cycles_per_byte = cycles;
        row.remarks
            .push("is a line's slope: a further byte, without what each message costs".to_owned());
    }
    rows.found
}

/// `AES` and `GCM` as `aes-128-gcm`; a number behind the cipher's name is that of its key's bits.
fn slope_name(cipher: &str, mode: &str) -> String {
    let digits = cipher.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    match (cipher, mode) {
        ("AES", _) => format!("aes-128-{mode}"),
        ("CHACHA20", "POLY1305") => "chacha20-poly1305".to_owned(),
        ("3DES", _) => format!("des-ede3-{mode}"),
        _ => format!("{}-{}-{mode}", &cipher[..digits], &cipher[digits..]).replace("--", "-"),
    }
}

// wolfSSL's `benchmark`, as text and as CSV.

pub(crate) fn is_wolfcrypt(line: &str) -> bool {
    let took =
        line.contains(" took ") && (line.contains(" seconds,") || line.contains(" sec, avg "));
    took || line.starts_with("wolfCrypt Benchmark")
        || line.starts_with("Algorithm,") && (line.contains("/s,") || line.contains("ops/sec"))
}

pub(crate) fn wolfcrypt(text: &str, said: &Said) -> Found {
    let mut rows = Rows::new(Format::Wolfcrypt, said, "wolfssl", Model::Stream);
    let mut block = 1 << 20;
    let mut heading: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some((_, version)) = line.split_once("wolfSSL version ") {
            rows.version = first_word(version);
        } else if let Some((_, rest)) = line.split_once("(block bytes ") {
            block = rest.split(',').next().and_then(|n| n.parse().ok()).unwrap_or(block);
        } else if let Some((left, right)) = line.split_once(" took ") {
            if of_wolfcrypt(&mut rows, left, right, block).is_none() {
                rows.found.leave(1, NO_CIPHER);
            }
        } else if line.starts_with("Algorithm,") {
            heading = line.split(',').map(str::trim).take(16).collect();
        } else if !heading.is_empty()
            && line.contains(',')
            && of_csv(&mut rows, &heading, line, block).is_none()
        {
            rows.found.leave(1, NO_CIPHER);
        }
    }
    rows.found
}

const NO_CIPHER: &str = "lines of random numbers, of other associated data or without a figure";

/// A megabyte of `benchmark` is one of 2^20 bytes, unless it says MiB beside it, as it does from 5.6 on.
fn wolf_unit(word: &str, version: &str) -> Option<f64> {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let is_new = (parts.next(), parts.next()) >= (Some(5), Some(6));
    match word {
        "MB" if !is_new => Some(MIB),
        "KB" if !is_new => Some(1024.0),
        word => unit(word),
    }
}

/// The name without its direction; none of what is no cipher or has no associated data.
fn wolf_name(name: &str) -> Option<(&str, Option<Direction>)> {
    if name == "RNG" || name.ends_with("_AAD") {
        return None;
    }
    let (bare, way) = match name.rsplit_once('-') {
        Some((bare, way)) if direction(way).is_some() => (bare, direction(way)),
        _ => (name, None),
    };
    // Of SIV it counts the bits of both keys.
    let bare = match bare {
        "AES-256-SIV" => "aes-128-siv",
        "AES-384-SIV" => "aes-192-siv",
        "AES-512-SIV" => "aes-256-siv",
        bare => bare,
    };
    Some((bare, way))
}

fn of_wolfcrypt(rows: &mut Rows<'_>, left: &str, right: &str, block: usize) -> Option<()> {
    let mut words: Vec<&str> = left.split_whitespace().collect();
    let figures: Vec<&str> = right.split_whitespace().collect();
    let seconds = float(figures.first()?)?;
    if words.last() == Some(&"ops") {
        let rate = before(&figures, "ops/sec").filter(|rate| *rate > 0.0)?;
        words.truncate(words.len().checked_sub(2)?);
        let at = words.iter().rposition(|word| word.bytes().all(|b| b.is_ascii_digit()))?;
        let name = step(&words[..=at].join(" "), &words[at + 1..].join(" "));
        rows.add_operation(name, 1.0 / rate).doubt = brief(seconds);
        return Some(());
    }
    let (name, way) = wolf_name(words.first()?)?;
    let at = figures.iter().rposition(|word| word.ends_with("/s"))?;
    let per_second = float(figures.get(at.checked_sub(1)?)?).filter(|n| *n > 0.0)?;
    let unit = wolf_unit(figures[at].strip_suffix("/s")?, &rows.version)?;
    // Its `Cycles per byte` are ticks of the time-stamp counter, no cycles of the core.
    rows.add(name, way, block, per_second * unit).doubt = brief(seconds);
    Some(())
}

/// `AES-128-CBC-enc,49.505,2.05,` or `RSA,2048,public,0.505,1980.198,` below its heading.
fn of_csv(rows: &mut Rows<'_>, heading: &[&str], line: &str, block: usize) -> Option<()> {
    let fields: Vec<&str> = line.split(',').map(str::trim).take(16).collect();
    let field =
        |is: &dyn Fn(&str) -> bool| fields.get(heading.iter().position(|h| is(h))?).copied();
    let name = field(&|h| h == "Algorithm")?;
    if let Some(rate) = field(&|h| h == "ops/sec") {
        let rate = float(rate).filter(|rate| *rate > 0.0)?;
        let done = field(&|h| h == "operation").unwrap_or_default();
        let kind = format!("{name} {}", field(&|h| h == "key size").unwrap_or_default());
        rows.add_operation(step(&kind, done), 1.0 / rate);
        return Some(());
    }
    let unit_of = heading.iter().find_map(|h| h.strip_suffix("/s"))?;
    let per_second = float(field(&|h| h.ends_with("/s"))?).filter(|n| *n > 0.0)?;
    // The heading says MB for 2^20 bytes in every version.
    let unit = if unit_of == "MB" { MIB } else { unit(unit_of)? };
    let (name, way) = wolf_name(name)?;
    let row = rows.add(name, way, block, per_second * unit);
    if unit_of == "MB" {
        row.remarks.push("counts in MB of 2^20 bytes, unless it ran with -base10".to_owned());
    }
    Some(())
}

// `borg benchmark cpu`: ten megabytes at once, a hundred times.

const BORG_BYTES: usize = 10_000_000;
const BORG_SECTIONS: [&str; 3] =
    ["Non-cryptographic checksums", "Cryptographic hashes", "Encryption"];

pub(crate) fn is_borg(line: &str) -> bool {
    line.contains(" =====")
        && ["Chunkers", "KDFs", "Compression", "msgpack"]
            .iter()
            .chain(&BORG_SECTIONS)
            .any(|s| line.starts_with(s))
}

pub(crate) fn borg(text: &str, said: &Said) -> Found {
    let mut rows = Rows::new(Format::Borg, said, "borg", Model::Message);
    let (mut takes, mut is_kdf) = (false, false);
    for line in text.lines() {
        if line.contains(" =====") {
            takes = BORG_SECTIONS.iter().any(|section| line.starts_with(section));
            is_kdf = line.starts_with("KDFs");
            continue;
        }
        let mut words = line.split_whitespace().rev();
        let seconds =
            words.next().and_then(|w| w.strip_suffix('s')).and_then(float).filter(|s| *s > 0.0);
        let (Some(seconds), Some(amount)) = (seconds, words.next()) else { continue };
        let name = words.rev().collect::<Vec<_>>().join(" ");
        if is_kdf && let Some(times) = float(amount).filter(|times| *times > 0.0) {
            rows.add_operation(format!("{} derivation", name.to_lowercase()), seconds / times);
        } else if let Some(bytes) = amount.strip_suffix("GB").and_then(float).filter(|_| takes) {
            rows.add(&name, None, BORG_BYTES, bytes * 1e9 / seconds).doubt = brief(seconds);
        } else {
            rows.found.leave(1, "chunkers, compression and msgpack");
        }
    }
    rows.found
}

// `gocryptfs -speed`: blocks of 4 KiB.

const GOCRYPTFS_BYTES: usize = 4096;

pub(crate) fn is_gocryptfs(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    line.starts_with("gocryptfs v")
        || (name.ends_with("-Go") || name.ends_with("-OpenSSL")) && line.contains(" MB/s")
}

pub(crate) fn gocryptfs(text: &str, said: &Said) -> Found {
    let mut rows = Rows::new(Format::Gocryptfs, said, "gocryptfs", Model::Message);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("gocryptfs v") {
            rows.version = first_word(rest);
        } else if let Some(cpu) = line.strip_prefix("cpu: ") {
            rows.found.machine = Some(quoted(cpu.split(';').next().unwrap_or(cpu).trim()));
        } else if let Some((name, by)) =
            line.split_whitespace().next().and_then(|w| w.rsplit_once('-'))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            rows.library = match by {
                "Go" => "gocryptfs-go",
                "OpenSSL" => "gocryptfs-openssl",
                _ => continue,
            };
            match before(&words, "MB/s").filter(|speed| *speed > 0.0) {
                Some(speed) => drop(rows.add(name, None, GOCRYPTFS_BYTES, speed * 1e6)),
                None => rows.found.leave(1, "figures that are N/A"),
            }
        }
    }
    rows.found
}

// Go's `testing`: `BenchmarkAESGCM/Seal-128-8192-8  501234  2384 ns/op  3436.08 MB/s`.

pub(crate) fn is_go(line: &str) -> bool {
    line.starts_with("Benchmark") && line.contains(" ns/op") || line.starts_with("goos: ")
}

pub(crate) fn go(text: &str, said: &Said) -> Result<Found, String> {
    let mut rows = Rows::new(Format::GoTest, said, "go", Model::Message);
    let mut package = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("pkg: ") {
            package = quoted(name.trim());
            if package == "ciphermark" {
                return Err(OWN_EXPORT.to_owned());
            }
        } else if let Some(cpu) = line.strip_prefix("cpu: ") {
            rows.found.machine = Some(quoted(cpu.trim()));
        } else if line.starts_with("Benchmark")
            && line.contains(" ns/op")
            && of_go(&mut rows, line, &package).is_none()
        {
            rows.found.leave(1, "lines that are torn");
        }
    }
    Ok(rows.found)
}

const OWN_EXPORT: &str = "`ciphermark export --format benchstat` wrote it: every command reads the record that it is of, \
     with all that these lines lack";

fn of_go(rows: &mut Rows<'_>, line: &str, package: &str) -> Option<()> {
    let words: Vec<&str> = line.split_whitespace().take(24).collect();
    let full = words.first()?.strip_prefix("Benchmark")?;
    // Behind the last dash stands how many threads Go may use: a benchmark uses one, unless it says that it is parallel.
    let name = full
        .rsplit_once('-')
        .filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()))
        .map_or(full, |(name, _)| name);
    let (count, ns) = (float(words.get(1)?)?, before(&words, "ns/op").filter(|ns| *ns > 0.0)?);
    let doubt = match full.to_lowercase().contains("parallel") {
        true => Some("it runs in parallel: the figure of several cores".to_owned()),
        false => brief(count * ns / 1e9),
    };
    let Some(speed) = before(&words, "MB/s").filter(|speed| *speed > 0.0) else {
        let name =
            format!("{} {}", package.rsplit('/').next().unwrap_or_default(), name.to_lowercase());
        rows.add_operation(quoted(name.trim()), ns / 1e9).doubt = doubt;
        return Some(());
    };
    // A speed is printed with two digits behind the point, so that its size is one of the name's, or near.
    let size = named_size(name, ns * speed / 1e3);
    let (theirs, way) = go_name(name, package);
    let row = rows.add(&theirs, way, size, size as f64 / ns * 1e9);
    (row.doubt, row.label) = (doubt, quoted(name));
    Some(())
}

/// The number in a name that a size is next to, else the size.
fn named_size(name: &str, found: f64) -> usize {
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<f64>().ok());
    let sizes = numbers.flat_map(|n| [n, n * 1024.0, n * 1048576.0]);
    let near = sizes.filter(|size| *size > 0.0).find(|size| (size / found - 1.0).abs() < 0.01);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rounded = near.unwrap_or(found).round().max(1.0) as usize;
    rounded
}

/// What a benchmark of Go's library measures: its name says it, else its package.
fn go_name(name: &str, package: &str) -> (String, Option<Direction>) {
    let lower = name.to_lowercase();
    let has = |part: &str| lower.contains(part);
    let ways = ["seal", "open", "encrypt", "decrypt"];
    let way = ways.into_iter().find(|part| has(part)).and_then(direction);
    // Go's own benchmarks use keys of 128 bits where the name says none.
    let bits = ["192", "256"]
        .into_iter()
        .find(|bits| lower.split(['-', '/', '_']).any(|w| w == *bits))
        .unwrap_or("128");
    let modes = ["gcm", "ctr", "cbc", "cfb8", "cfb", "ofb", "xts"];
    let theirs = if has("chacha20poly1305") || package.ends_with("chacha20poly1305") {
        let is_x = has("xchacha") || lower.split(['-', '/']).any(|word| word == "x");
        if is_x { "xchacha20-poly1305".to_owned() } else { "chacha20-poly1305".to_owned() }
    } else if let Some(mode) = modes.into_iter().find(|mode| has(&format!("aes{mode}"))) {
        format!("aes-{bits}-{mode}")
    } else if has("hash") || package.starts_with("crypto/") && !has("sha") {
        let of_kind = |bits: &&str| {
            ["sha", "sha-", "sum", "/"].iter().any(|begin| has(&format!("{begin}{bits}")))
        };
        let kind = ["224", "384", "512"].into_iter().find(of_kind);
        kind.map(|bits| format!("sha{bits}"))
            .or_else(|| known(package.rsplit('/').next()?))
            .unwrap_or_else(|| name.to_owned())
    } else {
        // `Sha3_512_MTU` is more than its first word, and what nobody knows is not its first word alone.
        let mut ends = name.match_indices(['/', '_']).map(|(at, _)| at).chain([name.len()]);
        let words = ends.next().map(|first| [ends.next().unwrap_or(first), first]);
        words
            .into_iter()
            .flatten()
            .find_map(|end| known(&name[..end]))
            .unwrap_or_else(|| name.to_owned())
    };
    (theirs, way)
}

fn known(name: &str) -> Option<String> {
    Algorithm::meant_by(name).map(|a| a.name.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::import::{Format, Found, Row, Said, read};
    use base::model::{Direction, Model};

    fn found(text: &str, format: Format) -> Found {
        let found = read(text, None, &Said::default()).unwrap();
        assert_eq!(found.format, format, "{text}");
        found
    }

    /// Each row: library, algorithm, direction, size, and MB/s or nanoseconds of an operation, in whole numbers.
    fn rows(text: &str, format: Format) -> Vec<(String, usize, f64)> {
        let row = |row: &Row| {
            let name = match row.direction {
                Direction::Call | Direction::Digest => row.algorithm.clone(),
                way => format!("{} {way}", row.algorithm),
            };
            (name, row.size.unwrap_or(0), row.operation_ns.unwrap_or(row.mb_per_s).round())
        };
        found(text, format).rows.iter().map(row).collect()
    }

    fn are(text: &str, format: Format, expected: &[(&str, usize, f64)]) {
        let expected: Vec<_> = expected.iter().map(|(n, s, f)| ((*n).to_owned(), *s, *f)).collect();
        assert_eq!(rows(text, format), expected, "{text}");
    }

    const BSSL: &str = "Did 10000000 AEAD-AES-128-GCM seal init operations in 2000000us (5000000.0 ops/sec)\n\
        Did 1000000 AEAD-AES-128-GCM seal (8192 bytes) operations in 2000000us (500000.0 ops/sec): 4096.0 MB/s\n\
        Did 1000000 AEAD-ChaCha20-Poly1305 open (1350 bytes) operations in 1000000us (1000000.0 ops/sec): 1350.0 MB/s\n\
        Did 3000000 SHA-256 (16 bytes) operations in 1000000us (3000000.0 ops/sec): 48.0 MB/s\n\
        Did 2000 RSA 2048 signing operations in 1000000us (2000.0 ops/sec)\n\
        Did 40000 ECDSA P-256 signing operations in 1000000us (40000.0 ops/sec)\n\
        Did 20000 ML-KEM-768 encap operations in 1000us (20000000.0 ops/sec)\n";

    #[test]
    fn bssl_speed_is_read_as_text_and_as_json() {
        let expected = [
            ("aead-aes-128-gcm seal init", 0, 200.0),
            ("aes-128-gcm encrypt", 8192, 4096.0),
            ("chacha20-poly1305 decrypt", 1350, 1350.0),
            ("sha256", 16, 48.0),
            ("rsa-2048 sign", 0, 500_000.0),
            ("ecdsa-p256 sign", 0, 25_000.0),
            ("mlkem768 encapsulate", 0, 50.0),
        ];
        are(BSSL, Format::BsslSpeed, &expected);
        let doubts: Vec<_> =
            found(BSSL, Format::BsslSpeed).rows.into_iter().map(|r| r.doubt).collect();
        assert_eq!(doubts[6].as_deref(), Some("only 1.000 ms of measuring"));
        assert!(doubts[..6].iter().all(Option::is_none));
        let json = "[\n{\"description\": \"AEAD-AES-128-GCM seal (8192 bytes)\", \"numCalls\": 1000000, \"microseconds\": 2000000, \
            \"bytesPerCall\": 8192},\n{\"description\": \"RSA 2048 signing\", \"numCalls\": 2000, \"microseconds\": 1000000}\n]\n";
        are(json, Format::BsslSpeed, &[expected[1], expected[4]]);
    }

    #[test]
    fn boringssl_writes_the_way_behind_the_size_and_aws_lc_before_it() {
        let line = |name: &str, size: u32| {
            format!(
                "Did 1000000 {name} operations in 1000000us (1000000.0 ops/sec): {size}.0 MB/s\n"
            )
        };
        let text = line("AES-128-GCM (16 bytes) seal", 16)
            + &line("AES-128-GCM (16 bytes) open", 16)
            + &line("SHA-256 (256 bytes)", 256);
        let expected = [
            ("aes-128-gcm encrypt", 16, 16.0),
            ("aes-128-gcm decrypt", 16, 16.0),
            ("sha256", 256, 256.0),
        ];
        are(&text, Format::BsslSpeed, &expected);
        let json = "[{\"description\": \"AES-128-GCM (16 bytes) open\", \"numCalls\": 1000000, \"microseconds\": 1000000, \
            \"bytesPerCall\": 16}]";
        are(json, Format::BsslSpeed, &expected[1..2]);
        let library = |text: &str| found(text, Format::BsslSpeed).rows[0].library.clone();
        assert_eq!(
            [library(&text), library(json), library(BSSL)],
            ["boringssl", "boringssl", "aws-lc"]
        );
        assert_eq!(library(&json.replace("\"AES", "\"EVP-AES")), "aws-lc");
    }

    const CRYPTSETUP: &str = "# Tests are approximate using memory only (no storage IO).\n\
        PBKDF2-sha256        50000 iterations per second for 256-bit key\n\
        argon2id      4 iterations, 200000 memory, 4 parallel threads (CPUs) for 256-bit key (requested 2000 ms time)\n\
        #     Algorithm |       Key |      Encryption |      Decryption\n\
        \x20       aes-cbc        128b       100.0 MiB/s       200.0 MiB/s\n\
        \x20   serpent-cbc        128b               N/A               N/A\n\
        \x20       aes-xts        512b        50.0 MiB/s        60.0 MiB/s\n";

    #[test]
    fn cryptsetup_has_xts_keys_of_two_and_derivations_that_say_their_speed() {
        let of = found(CRYPTSETUP, Format::Cryptsetup);
        are(
            CRYPTSETUP,
            Format::Cryptsetup,
            &[
                ("pbkdf2-sha256 iteration", 0, 20_000.0),
                ("aes-128-cbc encrypt", 65536, 105.0),
                ("aes-128-cbc decrypt", 65536, 210.0),
                ("aes-256-xts encrypt", 65536, 52.0),
                ("aes-256-xts decrypt", 65536, 63.0),
            ],
        );
        assert_eq!(
            (&*of.rows[0].library, of.left_out.values().sum::<usize>()),
            ("linux-kernel", 3)
        );
        let adiantum = "#     Algorithm |       Key |      Encryption |      Decryption\n\
            xchacha12,aes-adiantum        256b       100.0 MiB/s       N/A\n";
        are(adiantum, Format::Cryptsetup, &[("adiantum encrypt", 65536, 105.0)]);
    }

    #[test]
    fn ciphers_with_one_length_of_key_are_those_of_the_table() {
        let name = |line: &str| {
            let line = format!("{line}  100.0 MiB/s  200.0 MiB/s\n");
            found(&line, Format::Cryptsetup).rows[0].algorithm.clone()
        };
        for (theirs, ours) in [
            ("xchacha12,aes-adiantum 256b", "adiantum"),
            ("xchacha20,aes-adiantum 256b", "adiantum-xchacha20"),
            ("aes-hctr2 256b", "aes-256-hctr2"),
            ("sm4-xts 256b", "sm4-xts"),
            ("cast5-cbc 128b", "cast5-cbc"),
            ("blowfish-cbc 128b", "bf-cbc"),
            ("des3_ede-cbc 192b", "des-ede3-cbc"),
            ("serpent-xts 512b", "serpent-256-xts"),
        ] {
            assert_eq!(name(theirs), ours, "{theirs}");
        }
        // The table has Blowfish with 128 bits alone.
        assert_eq!(name("blowfish-cbc 256b"), "blowfish-256-cbc");
    }

    const SLOPE: &str = "Cipher:\n AES            |  nanosecs/byte   mebibytes/sec   cycles/byte  auto Mhz\n\
        \x20       CBC enc |     0.500 ns/B      1907 MiB/s      2.00 c/B      4000\n\
        \x20       GCM dec |     0.250 ns/B      3815 MiB/s      1.00 c/B      4000\n\
        \x20      GCM auth |     0.100 ns/B      9537 MiB/s      0.40 c/B      4000\n\
        \x20               =\n CHACHA20       |  nanosecs/byte   mebibytes/sec   cycles/byte  auto Mhz\n\
        \x20    STREAM enc |     0.500 ns/B      1907 MiB/s      2.00 c/B      4000\n\
        Hash:\n                |  nanosecs/byte   mebibytes/sec   cycles/byte  auto Mhz\n\
        \x20SHA256         |     1.000 ns/B       954 MiB/s      4.00 c/B      4000\n\
        ECC:\n Ed25519        |  nanosecs/iter         cycles/iter  auto Mhz\n\
        \x20          sign |         20000               80000      4000\n";

    #[test]
    fn bench_slope_gives_a_further_byte_and_says_so_at_each_row() {
        are(
            SLOPE,
            Format::BenchSlope,
            &[
                ("aes-128-cbc encrypt", 4096, 2000.0),
                ("aes-128-gcm decrypt", 4096, 4000.0),
                ("chacha20 encrypt", 4096, 2000.0),
                ("sha256", 4096, 1000.0),
                ("ed25519 sign", 0, 20_000.0),
            ],
        );
        let rows = found(SLOPE, Format::BenchSlope).rows;
        assert_eq!((rows[0].model, rows[1].model), (Model::Stream, Model::Message));
        assert!(
            rows[0].remarks[0].contains("further byte") && rows[0].cycles_per_byte == Some(2.0)
        );
    }

    #[test]
    fn botan_speed_is_read_as_text_and_as_json() {
        let text = "Botan 3.6.0 (release, dated 20241021)\n\
            SHA-256 hash buffer size 1024 bytes: 1000.000 MiB/sec 2.40 cycles/byte (500.00 MiB in 500.00 ms)\n\
            AES-128/GCM encrypt buffer size 16384 bytes: 2000.000 MiB/sec 1.20 cycles/byte (1000.00 MiB in 500.00 ms)\n\
            AES-256 encrypt buffer size 1024 bytes: 4000.000 MiB/sec (2.00 MiB in 0.50 ms)\n\
            RSA-2048 PKCS1v15(SHA-256) sign 1000/sec; 1.00 ms/op 3000000 cycles/op (500 ops in 500.00 ms)\n";
        let expected = [
            ("sha256", 1024, 1049.0),
            ("aes-128-gcm encrypt", 16384, 2097.0),
            ("aes-256-ecb encrypt", 1024, 4194.0),
            ("rsa-2048 sign", 0, 1_000_000.0),
        ];
        are(text, Format::BotanSpeed, &expected);
        let of = found(text, Format::BotanSpeed).rows;
        assert_eq!(&*of[0].version, "3.6.0");
        assert!(of[2].doubt.is_some() && of[1].doubt.is_none());
        let json = "[{\"arch\": \"x86_64\", \"version\": \"3.6.0\"},\n{\"algo\": \"AES-128/GCM\", \"op\": \"encrypt\", \
            \"events\": 64000, \"bps\": 2097152000, \"buf_size\": 16384, \"nanos\": 500000000},\n\
            {\"algo\": \"RSA-2048\", \"op\": \"sign\", \"events\": 500, \"nanos\": 500000000}]\n";
        are(json, Format::BotanSpeed, &[expected[1], expected[3]]);
    }

    #[test]
    fn wolfcrypt_counts_in_its_versions_megabytes_and_leaves_random_numbers_out() {
        let text = " wolfSSL version 5.9.0\nwolfCrypt Benchmark (block bytes 1048576, min 1.0 sec each)\n\
            RNG                110 MiB took 1.000 seconds,  110.000 MiB/s\n\
            AES-128-CBC-enc     50 MiB took 1.000 seconds,   50.000 MiB/s Cycles per byte =  60.00\n\
            AES-256-GCM-dec     20 MiB took 1.000 seconds,   20.000 MiB/s\n\
            AES-256-GCM-dec-no_AAD  30 MiB took 1.000 seconds,   30.000 MiB/s\n\
            CHA-POLY           100 MiB took 1.000 seconds,  100.000 MiB/s\n\
            RSA     2048   public      2000 ops took 1.000 sec, avg 0.500 ms, 2000.000 ops/sec\n\
            ECDSA [      SECP256R1]   256    sign      1000 ops took 1.000 sec, avg 1.000 ms, 1000.000 ops/sec\nBenchmark complete\n";
        let expected = [
            ("aes-128-cbc encrypt", 1 << 20, 52.0),
            ("aes-256-gcm decrypt", 1 << 20, 21.0),
            ("chacha20-poly1305 encrypt", 1 << 20, 105.0),
            ("rsa-2048 verify", 0, 500_000.0),
            ("ecdsa-p256 sign", 0, 1_000_000.0),
        ];
        are(text, Format::Wolfcrypt, &expected);
        assert_eq!(found(text, Format::Wolfcrypt).left_out.values().sum::<usize>(), 2);
        let siv = text.replace("AES-128-CBC", "AES-256-SIV");
        assert_eq!(
            rows(&siv, Format::Wolfcrypt)[0].0,
            "aes-128-siv encrypt",
            "two keys of 128 bits"
        );
        let of_ten = text.replace("MiB", "MB");
        assert_eq!(rows(&of_ten, Format::Wolfcrypt)[0].2, 50.0, "since 5.6 MB are of 10^6 bytes");
        assert_eq!(rows(&of_ten.replace("5.9.0", "5.3.0"), Format::Wolfcrypt)[0].2, 52.0);
        let csv = "wolfCrypt Benchmark (block bytes 1048576, min 1.0 sec each)\n\nSymmetric Ciphers:\n\n\
            Algorithm,MB/s,Cycles per byte,\nAES-128-CBC-enc,50.0,60.0,\n\nAsymmetric Ciphers:\n\n\
            Algorithm,key size,operation,avg ms,ops/sec,\nRSA,2048,public,0.500,2000.0,\n";
        are(csv, Format::Wolfcrypt, &[expected[0], expected[3]]);
        for told in [text, csv] {
            let rows = found(told, Format::Wolfcrypt).rows;
            assert!(rows.iter().all(|row| row.cycles_per_byte.is_none()), "ticks: {told}");
        }
    }

    #[test]
    fn borg_and_gocryptfs_encrypt_blocks_of_their_own_size() {
        let borg = "Chunkers =======================================================\n\
            buzhash,19,23,21,4095    1GB        0.900s\n\
            Cryptographic hashes / MACs ====================================\n\
            hmac-sha256              1GB        0.500s\nblake2b-256              1GB        2.000s\n\
            Encryption =====================================================\n\
            aes-256-ctr-hmac-sha256  1GB        1.000s\naes-256-ocb              1GB        0.250s\n\
            KDFs (slow is GOOD, use argon2!) ===============================\npbkdf2                   5          0.500s\n";
        let names = [
            ("hmac-sha256", 10_000_000, 2000.0),
            ("blake2b256", 10_000_000, 500.0),
            ("aes-256-ctr+hmac-sha256 encrypt", 10_000_000, 1000.0),
            ("aes-256-ocb encrypt", 10_000_000, 4000.0),
            ("pbkdf2 derivation", 0, 1e8),
        ];
        are(borg, Format::Borg, &names);
        let gocryptfs = "gocryptfs v2.4.0; go-fuse v2.4.2; 2023-06-10 go1.20.5 linux/amd64\n\
            cpu: Some CPU; with AES-GCM acceleration\nAES-GCM-256-OpenSSL       600.00 MB/s\n\
            AES-GCM-256-Go           1200.00 MB/s  (selected in auto mode)\nAES-SIV-512-Go            200.00 MB/s\n\
            XChaCha20-Poly1305-Go     900.00 MB/s\n";
        let expected = [
            ("aes-256-gcm encrypt", 4096, 600.0),
            ("aes-256-gcm encrypt", 4096, 1200.0),
            ("aes-256-siv encrypt", 4096, 200.0),
            ("xchacha20-poly1305 encrypt", 4096, 900.0),
        ];
        are(gocryptfs, Format::Gocryptfs, &expected);
        let of = found(gocryptfs, Format::Gocryptfs);
        assert_eq!(
            (of.machine.as_deref(), &*of.rows[1].library),
            (Some("Some CPU"), "gocryptfs-go")
        );
    }

    #[test]
    fn gos_benchmarks_get_their_size_from_time_and_speed() {
        let text = "goos: linux\ngoarch: amd64\npkg: crypto/cipher\ncpu: Some CPU @ 3.00GHz\n\
            BenchmarkAESGCM/Seal-256-8192-8   \t  500000\t      2000 ns/op\t4096.00 MB/s\t 0 B/op\n\
            BenchmarkAESCTR1K-8   \t  1000000\t      500.0 ns/op\t2038.00 MB/s\n\
            pkg: crypto/sha256\nBenchmarkHash8K-8   \t  10000\t      8192 ns/op\t1000.00 MB/s\n\
            BenchmarkHash8Parallel-8   \t  1000000\t      10.00 ns/op\t800.00 MB/s\n\
            pkg: crypto/ed25519\nBenchmarkSigning-8 \t 50000\t 20000 ns/op\n";
        are(
            text,
            Format::GoTest,
            &[
                ("aes-256-gcm encrypt", 8192, 4096.0),
                ("aes-128-ctr encrypt", 1024, 2048.0),
                ("sha256", 8192, 1000.0),
                ("sha256", 8, 800.0),
                ("ed25519 signing", 0, 20_000.0),
            ],
        );
        assert!(
            found(text, Format::GoTest).rows[3].doubt.as_deref().unwrap().contains("several cores")
        );
    }

    #[test]
    fn gos_benchmarks_of_different_algorithms_are_never_one_row() {
        let line = |name: &str| format!("Benchmark{name}-8 1000 100000 ns/op 80.00 MB/s\n");
        let names = |package: &str, benchmarks: &[&str]| -> Vec<String> {
            let lines: String = benchmarks.iter().map(|name| line(name)).collect();
            let text = format!("goos: linux\npkg: {package}\n{lines}");
            rows(&text, Format::GoTest).into_iter().map(|(name, ..)| name).collect()
        };
        let sha3 = ["Sha3_512_MTU", "Sha3_256_MTU", "Shake128_MTU"];
        assert_eq!(names("golang.org/x/crypto/sha3", &sha3), ["sha3-512", "sha3-256", "shake128"]);
        let sha2 = ["Hash8K/Sum384", "Hash8K/Sum512"];
        assert_eq!(names("crypto/sha512", &sha2), ["sha384", "sha512"]);
        assert_eq!(names("crypto/hmac", &["HMACSHA256_1K"]), ["hmac-sha256"]);
        assert_eq!(names("crypto/aes", &["Encrypt/AES-128", "Encrypt/AES-256"]).len(), 2);
        assert_eq!(names("mine", &["Compress_fast", "Compress_best"]).len(), 2);
    }

    #[test]
    fn what_export_wrote_for_benchstat_is_not_read_as_gos_own() {
        let text = "cpu: Some CPU\npkg: ciphermark\n\
            BenchmarkStream/lib=openssl@3.0.19/alg=aes-128-ctr/size=8192 1 2000.0 ns/op 4096.00 MB/s\n";
        let why = read(text, None, &Said::default()).unwrap_err();
        assert!(why.contains("every command reads the record"), "{why}");
    }

    #[test]
    fn a_table_may_say_the_way_and_decrypt_means_no_program_that_says_its_own() {
        let names = |said: &Said| {
            let rows = read("AES-256-GCM dec 16K 2 GB/s\naes-128-cbc 16K 3 GB/s\n", None, said)
                .unwrap()
                .rows;
            rows.into_iter().map(|row| (row.algorithm, row.direction)).collect::<Vec<_>>()
        };
        let of = |name: &str, way| (name.to_owned(), way);
        let gcm = of("aes-256-gcm", Direction::Decrypt);
        let plain = names(&Said::default());
        assert_eq!(plain, [gcm.clone(), of("aes-128-cbc", Direction::Encrypt)]);
        let decrypt = Said { decrypt: true, ..Said::default() };
        assert_eq!(names(&decrypt), [gcm, of("aes-128-cbc", Direction::Decrypt)]);
        let why = read(BSSL, None, &decrypt).unwrap_err();
        assert!(why.starts_with("--decrypt is for openssl-speed and tables"), "{why}");
    }

    #[test]
    fn a_plain_table_may_lack_names_and_have_several_columns() {
        let said = Said { algorithm: Some("aes-128-gcm".to_owned()), ..Said::default() };
        let text = "bytes before after factor\n 2048 1000.00k 2000.00k 2.00x\n 4096 1500.00k 3000.00k 2.00x\n";
        let rows = read(text, None, &said).unwrap().rows;
        let of: Vec<_> = rows.iter().map(|r| (&*r.library, r.size.unwrap(), r.mb_per_s)).collect();
        let expected = [
            ("imported:before", 2048, 1.0),
            ("imported:after", 2048, 2.0),
            ("imported:before", 4096, 1.5),
            ("imported:after", 4096, 3.0),
        ];
        assert_eq!(of, expected);
        let why = read(text, None, &Said::default()).unwrap_err();
        assert_eq!(why, "line 2: no name of an algorithm before the size: add --algorithm NAME");
        are(
            "AES-256-GCM 16K 2.5 GB/s\nsha256,1024,500MiB/s\n",
            Format::Table,
            &[("aes-256-gcm encrypt", 16384, 2500.0), ("sha256", 1024, 524.0)],
        );
    }

    #[test]
    fn two_programs_in_one_text_are_parted_and_one_may_be_taken() {
        let both = BSSL.to_owned() + CRYPTSETUP;
        let why = read(&both, None, &Said::default()).unwrap_err();
        assert!(
            why.starts_with("it has lines of bssl-speed and, in line 9, of cryptsetup: part them"),
            "{why}"
        );
        let taken = read(&both, Some(Format::Cryptsetup), &Said::default()).unwrap();
        assert_eq!(taken.rows.len(), 5);
    }

    #[test]
    fn several_figures_of_one_case_are_their_middle_one() {
        let line = |ns: &str, speed: &str| {
            format!("BenchmarkAESGCM/Seal-128-8192-8 500000 {ns} ns/op {speed} MB/s\n")
        };
        let text = line("2000", "4096.00") + &line("4000", "2048.00") + &line("2048", "4000.00");
        let rows = read(&text, None, &Said::default()).unwrap().rows;
        assert_eq!((rows.len(), rows[0].mb_per_s.round()), (1, 4000.0));
        assert!(
            rows[0].remarks[0].ends_with("3, the slowest takes 2.00 times the fastest"),
            "{rows:?}"
        );
    }

    #[test]
    fn hostile_texts_get_one_line() {
        let why = |text: &str| read(text, None, &Said::default()).unwrap_err();
        assert!(why(&"x".repeat(1 << 17)).starts_with("line 1 has more than 64 KiB"));
        assert!(why("\0\0\u{1b}[2J\n\0").starts_with("no line of it is a figure"));
        assert!(why("[{\"numCalls\": [[[[").starts_with("it begins as JSON and is none of"));
        let many: String = (0..140_000).map(|i| format!("a{i} 16 1.0 MB/s\n")).collect();
        assert!(why(&many).starts_with("it has 140000 lines and "), "{}", why(&many));
        assert!(why("aes 16 99999999999999999999 GB/s\n").ends_with("bytes a second is no speed"));
        let named = read("a\u{1b}[31mb 16 5 MB/s\n", None, &Said::default()).unwrap().rows;
        assert!(!named[0].algorithm.contains('\u{1b}'));
    }
}
