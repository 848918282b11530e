//! How old the shown releases are: a table of this year's and of old code says so.

use crate::labels::versioned;
use std::collections::{BTreeMap, BTreeSet};

/// Library, version or series, and when its feature release came out (year, month). Where later releases of a
/// series only mend faults, as in OpenSSL's, the date is that of the series: their speed is of that time.
/// Sources: the project's own announcement or change log (`NEWS`, `ChangeLog`, `CHANGES.md`, releases on GitHub).
#[rustfmt::skip]
const RELEASED: &[(&str, &str, (u16, u8))] = &[
    ("openssl", "1.1.1", (2018, 9)), ("openssl", "3.0", (2021, 9)), ("openssl", "3.1", (2023, 3)),
    ("openssl", "3.2", (2023, 11)), ("openssl", "3.3", (2024, 4)), ("openssl", "3.4", (2024, 10)),
    ("openssl", "3.5", (2025, 4)), ("openssl", "3.6", (2025, 10)), ("openssl", "4.0", (2026, 4)),
    ("libressl", "3.1", (2020, 4)),
    ("libgcrypt", "1.10", (2022, 2)), ("libgcrypt", "1.11", (2024, 6)),
    ("wolfssl", "5.5.4", (2022, 12)), ("wolfssl", "5.9.4", (2026, 9)),
    ("libsodium", "1.0.18", (2019, 5)), ("libsodium", "1.0.19", (2023, 9)), ("libsodium", "1.0.20", (2024, 5)),
    ("botan", "2.19", (2022, 1)), ("botan", "3.10", (2025, 11)), ("botan", "3.11", (2026, 3)),
    ("botan", "3.12", (2026, 5)), ("botan", "3.13", (2026, 8)),
    ("nettle", "3.8", (2022, 6)), ("nettle", "3.10", (2024, 6)),
    ("libtomcrypt", "1.18", (2017, 10)),
    ("mbedtls", "2.28", (2021, 12)), ("mbedtls", "3.6", (2024, 3)),
    ("cryptopp", "8.7", (2022, 8)), ("cryptopp", "8.9", (2023, 10)),
    ("xxhash", "0.8.1", (2021, 11)), ("xxhash", "0.8.2", (2023, 7)), ("xxhash", "0.8.3", (2024, 12)),
];

/// Libraries that are named; of more there is a number.
const NAMED: usize = 6;

/// Which of the libraries (name, version) are more than a year older than the newest of them. `None` when the known
/// ones span a year or less; of unknown ones nothing is said.
pub(crate) fn note<'a>(libraries: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut by_date: BTreeMap<(u16, u8), BTreeSet<String>> = BTreeMap::new();
    for (name, version) in libraries {
        if let Some(date) = released(name, version) {
            by_date.entry(date).or_default().insert(versioned(name, version));
        }
    }
    let (newest, _) = by_date.last_key_value()?;
    let newest = *newest;
    let months = |(year, month): (u16, u8)| u32::from(year) * 12 + u32::from(month);
    let old = by_date.iter().filter(|(date, _)| months(newest) - months(**date) > 12);
    let old: Vec<String> =
        old.flat_map(|(date, of)| of.iter().map(|l| format!("{l} {}", written(*date)))).collect();
    if old.is_empty() {
        return None;
    }
    let more = old.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "releases of different years stand here: the newest are of {}, but {}{more} (when the feature release came \
         out, where known)",
        written(newest),
        old[..old.len().min(NAMED)].join(", ")
    ))
}

fn written((year, month): (u16, u8)) -> String {
    format!("{year}-{month:02}")
}

/// Builds of one release have names of their own: `wolfssl-noasm`, `botan-c`.
fn released(name: &str, version: &str) -> Option<(u16, u8)> {
    let is = |whole: &str, part: &str, joint| {
        whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(joint))
    };
    RELEASED.iter().find(|(n, v, _)| is(name, n, '-') && is(version, v, '.')).map(|(_, _, d)| *d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_more_than_a_year_apart_are_said_the_oldest_first() {
        let said = note(
            [("libgcrypt", "1.10.1"), ("libressl", "3.1.0"), ("wolfssl-noasm", "5.9.4")]
                .into_iter(),
        );
        let said = said.unwrap();
        assert!(said.contains("the newest are of 2026-09"), "{said}");
        assert!(said.contains("but libressl@3.1.0 2020-04, libgcrypt@1.10.1 2022-02 ("), "{said}");
    }

    #[test]
    fn a_year_or_less_and_unknown_versions_say_nothing() {
        assert_eq!(note([("openssl", "4.0.3"), ("openssl", "3.6.1")].into_iter()), None);
        assert_eq!(note([("openssl", "4.0.3"), ("openssl", "3.55")].into_iter()), None);
        assert_eq!(note([("openssl", "4.0.3"), ("mine", "0.1")].into_iter()), None);
        assert_eq!(note(std::iter::empty()), None);
        assert!(note([("openssl", "4.0.3"), ("openssl", "3.5.5")].into_iter()).is_none());
        assert!(note([("openssl", "4.0.3"), ("openssl", "3.4.0")].into_iter()).is_some());
    }

    #[test]
    fn of_many_old_releases_some_are_named_and_the_others_counted() {
        let old = ["1.1.1", "3.0.1", "3.0.2", "3.1.0", "3.2.0", "3.3.0", "3.4.0"];
        let all = old.into_iter().chain(["4.0.3"]).map(|v| ("openssl", v));
        let said = note(all).unwrap();
        assert!(
            said.contains("openssl@3.3.0 2024-04 and 1 more") && !said.contains("3.4.0"),
            "{said}"
        );
    }

    #[test]
    fn every_date_is_one() {
        for (name, version, (year, month)) in RELEASED {
            assert!((2017..2100).contains(year) && (1..=12).contains(month), "{name} {version}");
        }
    }
}
