//! What is typed after a flag: percentages, durations and other quantities; what `--library` takes (a glob
//! over the libraries found, or NAME=PATH); and passwords, which are kept out of messages and records.

use crate::model::{BadGlob, NameGlob};
use std::time::Duration;

/// From here on a number without its sign may be meant as a percentage: `--precision 1` is no 100 %.
const LEAST_AMBIGUOUS: f64 = 0.1;

/// `1%`, `0.5 %` or `0.01`: a fraction of any size, from a tenth on with its sign.
pub fn fraction(text: &str) -> Option<f64> {
    match text.trim().strip_suffix('%') {
        Some(number) => number.trim().parse::<f64>().ok().map(|n| n * 0.01),
        None => text.trim().parse::<f64>().ok().filter(|n| *n < LEAST_AMBIGUOUS),
    }
}

/// A number and one of these units, each with what it stands for.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<f64>().ok().map(|n| n * scale)
}

/// `1%`, `0.5 %` or `0.01`: a fraction above 0 and at most 1.
pub fn parse_fraction(text: &str) -> Result<f64, String> {
    let found = fraction(text).filter(|f| *f > 0.0 && *f <= 1.0);
    found.ok_or_else(|| "write a percentage above 0, as 1% or 0.5%".to_owned())
}

/// How many rows: a number, or `all`.
pub fn parse_rows(text: &str) -> Result<usize, String> {
    match text.trim() {
        "all" => Ok(usize::MAX),
        number => number.parse().map_err(|_| "write a number of rows, or all".to_owned()),
    }
}

/// `60s`, `2m`, `500ms`: at least a millisecond, at most a day.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 6] =
        [("ms", 0.001), ("s", 1.0), ("", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];
    let seconds = quantity(text, &UNITS).filter(|s| (0.001..=86_400.0).contains(s));
    let seconds = seconds.ok_or("write a time as 60s, 2m or 500ms, up to 24h")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// `30d`, `12h`, `2y` (of 365.25 days): days, at most a hundred years.
pub fn parse_days(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 4] = [("h", 1.0 / 24.0), ("d", 1.0), ("w", 7.0), ("y", 365.25)];
    let days = quantity(text, &UNITS).filter(|days| *days > 0.0 && *days <= 36_525.0);
    days.ok_or_else(|| "write a time as 12h, 90d, 26w or 2y, up to 100y".to_owned())
}

/// `20us`, `1ms`: microseconds, at most a minute.
pub fn parse_micros(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 5] =
        [("ns", 1e-3), ("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("s", 1e6)];
    let micros = quantity(text, &UNITS).filter(|us| *us > 0.0 && *us <= 6e7);
    micros.ok_or_else(|| "write a time as 500ns, 20us or 1ms".to_owned())
}

/// `0%` to `100%`: a fraction.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or("").trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("write a percentage from 0% to 100%".to_owned()),
    }
}

/// `8192`, `16K`, `64M`, `1G`: a number of bytes.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim().trim_end_matches("iB") {
        "" | "B" => Some(0),
        "K" | "k" => Some(10),
        "M" => Some(20),
        "G" => Some(30),
        _ => None,
    };
    let bytes = number.parse::<usize>().ok().zip(shift).and_then(|(n, s)| n.checked_mul(1 << s));
    bytes.ok_or_else(|| "write a number of bytes, as 8192, 16K, 64M or 1G".to_owned())
}

/// Bytes in hexadecimal, upper or lower case.
pub fn parse_hex(text: &str) -> Result<Hex, String> {
    hex::decode(text.trim()).map(Hex).map_err(|e| format!("not hexadecimal: {e}"))
}

/// Bytes that were given in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

/// What was typed after `--library`.
#[derive(Clone, Debug)]
pub enum LibraryText<'a> {
    /// Those of the libraries found that it matches.
    Glob(NameGlob),
    /// A file, and what to call it.
    File {
        /// Name.
        name: &'a str,
        /// Path, as it was typed.
        path: &'a str,
    },
}

/// Why a text names no library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLibrary {
    /// It is no glob.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// What stands before the `=` is no name.
    #[error(
        "'{0}': a library's name is made of letters, digits, '-', '_' and '.', and of ':' before one of OpenSSL's providers"
    )]
    Name(String),
}

impl<'a> LibraryText<'a> {
    /// Reads what was typed.
    pub fn parse(text: &'a str) -> Result<Self, BadLibrary> {
        let Some((name, path)) = text.split_once('=') else {
            return Ok(Self::Glob(NameGlob::parse(text)?));
        };
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if name.is_empty() || !name.chars().all(good) {
            return Err(BadLibrary::Name(text.to_owned()));
        }
        Ok(Self::File { name, path })
    }
}
/// What stands in the place of a password.
const MASK: &str = "***";

/// A text without the passwords of the connection string that it may be: `postgresql://user:password@host/name`, also with
/// `?password=`, or `host=… password=…`. What is none comes back as it is.
pub fn masked(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return without_values(text, ' ') };
    // The last one: a password may hold an @ that nobody has encoded.
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) if user.contains(':') => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{user}:{MASK}@{host}")
        }
        _ => rest.to_owned(),
    };
    let shown = format!("{scheme}://{}", without_values(&rest, '&'));
    let Some((before, query)) = shown.split_once('?') else { return shown };
    // Names may be written as `pass%77ord`.
    let parameter = |text: &str| match text.split_once('=') {
        Some((name, _)) if decoded(name).ends_with("password") => format!("{name}={MASK}"),
        _ => text.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(parameter).collect();
    format!("{before}?{}", query.join("&"))
}

/// A name of a parameter in lower case, with what is written as `%77` (RFC 3986 section 2.1).
fn decoded(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, after @ ..] = rest {
        let digits =
            after.get(..2).filter(|_| *first == b'%').and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => (bytes, rest) = ([bytes, vec![byte]].concat(), &after[2..]),
            None => (bytes, rest) = ([bytes, vec![*first]].concat(), after),
        }
    }
    String::from_utf8_lossy(&bytes).to_ascii_lowercase()
}

/// Whether a text is a connection string of PostgreSQL: an address, or names of its parameters (libpq, "Connection
/// Strings").
pub fn is_connection(text: &str) -> bool {
    const NAMES: [&str; 12] = [
        "host",
        "hostaddr",
        "port",
        "dbname",
        "user",
        "password",
        "passfile",
        "service",
        "sslmode",
        "sslpassword",
        "options",
        "application_name",
    ];
    let is_named =
        |part: &str| part.split_once('=').is_some_and(|(name, _)| NAMES.contains(&name.trim()));
    let is_address = text.starts_with("postgres://") || text.starts_with("postgresql://");
    let close = text.replace(" =", "=").replace("= ", "=");
    is_address || close.split_whitespace().any(is_named)
}

/// Whether a text is a connection string with a password in it.
pub fn has_password(text: &str) -> bool {
    masked(text) != text
}

/// Masks the value of each name that ends in `password`, up to the separator, or to the quote that ends it.
fn without_values(text: &str, separator: char) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    // Only ASCII letters change their case, so places stay.
    while let Some(at) = rest.to_ascii_lowercase().find("password") {
        let (before, from) = rest.split_at(at + "password".len());
        shown.push_str(before);
        let value = from.trim_start();
        rest = from;
        let Some(value) = value.strip_prefix('=').map(str::trim_start) else { continue };
        shown.push('=');
        shown.push_str(MASK);
        rest = &value[length(value, separator)..];
    }
    shown + rest
}

fn length(value: &str, separator: char) -> usize {
    let quoted = value.starts_with('\'');
    let mut escaped = false;
    for (at, c) in value.char_indices().skip(usize::from(quoted)) {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            '\'' if quoted => return at + 1,
            c if !quoted && (c == separator || separator == ' ' && c.is_whitespace()) => return at,
            _ => {}
        }
    }
    value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_fractions_are_the_same() {
        assert_eq!(parse_fraction("1%"), Ok(0.01));
        assert_eq!(parse_fraction("0.01"), Ok(0.01));
        assert!(parse_fraction("0").is_err() && parse_fraction("200%").is_err());
        assert!(parse_fraction("nan").is_err() && parse_fraction("x").is_err());
    }

    #[test]
    fn a_number_that_may_be_meant_as_a_percentage_needs_its_sign() {
        for bare in ["1", "0.5", "2", "0.1"] {
            assert_eq!((fraction(bare), parse_fraction(bare).is_err()), (None, true), "{bare}");
            assert!(fraction(&format!("{bare}%")).is_some(), "{bare}");
        }
        assert_eq!((fraction("0"), fraction("0.05")), (Some(0.0), Some(0.05)));
    }

    #[test]
    fn rows_are_a_number_or_all() {
        assert_eq!((parse_rows("5"), parse_rows("all")), (Ok(5), Ok(usize::MAX)));
        assert!(parse_rows("some").is_err() && parse_rows("-1").is_err());
    }

    #[test]
    fn lives_of_keys_and_latencies_have_units_and_shares_a_per_cent_sign() {
        assert_eq!((parse_days("36h"), parse_days("2y")), (Ok(1.5), Ok(730.5)));
        assert_eq!((parse_micros("500ns"), parse_micros("2 ms")), (Ok(0.5), Ok(2000.0)));
        assert_eq!((parse_share("0%"), parse_share("80 %")), (Ok(0.0), Ok(0.8)));
        for bad in ["", "2", "0d", "-1d", "101y", "inf", "1.2.3d"] {
            assert!(parse_days(bad).is_err() && parse_micros(bad).is_err(), "{bad}");
        }
        assert!(parse_share("0.5").is_err() && parse_share("101%").is_err());
    }

    #[test]
    fn bytes_have_binary_units() {
        assert_eq!(parse_bytes("8192"), Ok(8192));
        assert_eq!((parse_bytes("16K"), parse_bytes("64MiB")), (Ok(16 << 10), Ok(64 << 20)));
        for bad in ["", "K", "1T", "-1", "99999999999999999999G", "18446744073709551615G"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        for bad in ["", "s", "-1s", "1 year", "0s", "25h", "1.2.3s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_and_a_path_are_parted_at_the_first_sign() {
        let Ok(LibraryText::File { name, path }) = LibraryText::parse("a.b-c_9=/x=y/lib.so") else {
            panic!("it is a file")
        };
        assert_eq!((name, path), ("a.b-c_9", "/x=y/lib.so"));
        assert!(matches!(LibraryText::parse("openssl@3*"), Ok(LibraryText::Glob(_))));
    }

    #[test]
    fn what_is_neither_is_quoted() {
        for bad in ["=/lib.so", "a b=/lib.so", "../a=/lib.so", "\u{1b}[2J=x", "[1"] {
            let why = LibraryText::parse(bad).unwrap_err().to_string();
            assert!(why.contains(bad), "{why}");
        }
    }

    #[test]
    fn connections_are_told_from_paths_and_from_libraries() {
        for text in [
            "dbname=x",
            "host=/run dbname=x",
            "password = x dbname = y",
            "sslpassword=x",
            "postgres://u@h/d",
            "postgresql:///d",
        ] {
            assert!(is_connection(text), "{text}");
        }
        for text in ["app.db", "/var/lib/postgresql/15/main", "old=/lib/x.so", "-q", "http://h", ""]
        {
            assert!(!is_connection(text), "{text}");
        }
    }

    #[test]
    fn no_password_is_shown_however_it_is_written() {
        for (typed, shown) in [
            ("postgresql://u:pw-secret@h:5432/db", "postgresql://u:***@h:5432/db"),
            ("postgres://u:pw@secret@h/db", "postgres://u:***@h/db"),
            ("postgres://u:p/w?secret@h/db", "postgres://u:***@h/db"),
            ("postgresql://h/db?password=secret&user=u", "postgresql://h/db?password=***&user=u"),
            ("postgresql://u@h/db?sslpassword=secret", "postgresql://u@h/db?sslpassword=***"),
            (
                "postgresql://h/db?pass%77ord=secret&user=u",
                "postgresql://h/db?pass%77ord=***&user=u",
            ),
            ("postgresql://u:secret@h/db?PASSWORD=secret", "postgresql://u:***@h/db?PASSWORD=***"),
            ("host=h password=secret dbname=d", "host=h password=*** dbname=d"),
            ("host=h password = 'a secret \\' more' user=u", "host=h password=*** user=u"),
            ("password='secret without an end", "password=***"),
            ("password=secret\\ secret user=u", "password=*** user=u"),
        ] {
            assert_eq!(masked(typed), shown);
            assert!(has_password(typed) && !has_password(shown), "{typed}");
        }
    }

    #[test]
    fn what_has_no_password_stays_as_it_is() {
        for text in [
            "",
            "store.db",
            "postgresql:///db",
            "postgresql://u@h:5432/db",
            "host=/run/postgresql dbname=x",
            "passwords.json",
            "é password",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
