//! Percentages and durations as people type them.

use std::time::Duration;

/// `1%`, `0.5 %` or `0.01`: a fraction above 0 and at most 1.
///
/// # Errors
/// What to write instead.
pub fn parse_fraction(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    match number.parse::<f64>().map(|n| n * scale) {
        Ok(f) if f > 0.0 && f <= 1.0 => Ok(f),
        _ => Err("write a percentage above 0, as 1% or 0.5%".to_owned()),
    }
}

/// How many rows: a number, or `all`.
///
/// # Errors
/// What to write instead.
pub fn parse_rows(text: &str) -> Result<usize, String> {
    match text.trim() {
        "all" => Ok(usize::MAX),
        number => number.parse().map_err(|_| "write a number of rows, or all".to_owned()),
    }
}

/// `60s`, `2m`, `500ms`: at least a millisecond, at most a day.
///
/// # Errors
/// What to write instead.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit.trim() {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    match number.parse::<f64>().map(|n| n * scale) {
        Ok(s) if (0.001..=86_400.0).contains(&s) => Ok(Duration::from_secs_f64(s)),
        _ => Err("write a time as 60s, 2m or 500ms, up to 24h".to_owned()),
    }
}

/// Bytes in hexadecimal, upper or lower case.
///
/// # Errors
/// What is not hexadecimal.
pub fn parse_hex(text: &str) -> Result<Hex, String> {
    hex::decode(text.trim()).map(Hex).map_err(|e| format!("not hexadecimal: {e}"))
}

/// Bytes that were given in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

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
    fn rows_are_a_number_or_all() {
        assert_eq!((parse_rows("5"), parse_rows("all")), (Ok(5), Ok(usize::MAX)));
        assert!(parse_rows("some").is_err() && parse_rows("-1").is_err());
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
}
