//! How things are called in narrow places, and numbers with the digits that their interval supports.

use anstyle::Style;
use base::model::Algorithm;
use base::text::{Options, clean, paint};
use record::{Estimate, LibraryId, Measurement};
use std::collections::{BTreeMap, BTreeSet};

/// Names of the libraries of one table: `openssl@3.0.22`, with as much of the build's identity
/// behind it as is needed to tell two builds of one version apart.
pub(crate) struct Libraries<'a>(BTreeMap<&'a LibraryId, String>);

impl<'a> Libraries<'a> {
    pub(crate) fn of(selection: &[&'a Measurement]) -> Self {
        Self::of_ids(selection.iter().map(|m| &m.library).collect())
    }

    pub(crate) fn of_ids(ids: BTreeSet<&'a LibraryId>) -> Self {
        let mut same: BTreeMap<String, Vec<&LibraryId>> = BTreeMap::new();
        for id in ids {
            same.entry(versioned(&id.name, &id.version)).or_default().push(id);
        }
        let mut labels = BTreeMap::new();
        for (name, ids) in same {
            let builds: BTreeSet<String> = ids.iter().map(|id| short_id(&id.id)).collect();
            for (i, id) in ids.iter().enumerate() {
                let label = if ids.len() == 1 {
                    name.clone()
                } else if builds.len() == ids.len() {
                    format!("{name}#{}", short_id(&id.id))
                } else {
                    format!("{name}#{}", i + 1)
                };
                labels.insert(*id, label);
            }
        }
        Self(labels)
    }

    pub(crate) fn label(&self, id: &LibraryId) -> &str {
        self.0.get(id).map_or("", String::as_str)
    }
}

/// `openssl@3.0.22`.
pub(crate) fn versioned(name: &str, version: &str) -> String {
    let (name, version) = (clean(name), clean(version));
    if version.is_empty() { name } else { format!("{name}@{version}") }
}

/// The beginning of a build's identity.
pub(crate) fn short_id(id: &str) -> String {
    clean(id.split_once(':').map_or(id, |(_, hex)| hex)).chars().take(6).collect()
}

/// A size as the command line takes it: `16`, `8K`, `1M`.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 && b.is_multiple_of(1 << 20) => format!("{}M", b >> 20),
        b if b >= 1 << 10 && b.is_multiple_of(1 << 10) => format!("{}K", b >> 10),
        b => b.to_string(),
    }
}

/// A size with its unit: `16 B`, `8 KiB`, `1 MiB`.
pub(crate) fn size_with_unit(bytes: usize) -> String {
    let short = size(bytes);
    match short.strip_suffix('K') {
        Some(kib) => format!("{kib} KiB"),
        None => short.strip_suffix('M').map_or(format!("{short} B"), |mib| format!("{mib} MiB")),
    }
}

/// What must stand beside the algorithm wherever it is shown; the record's own words for an
/// algorithm that this program does not know.
pub(crate) fn warning(m: &Measurement) -> Option<String> {
    match Algorithm::find(&m.algorithm) {
        Ok(algorithm) => algorithm.warning_label().map(str::to_owned),
        Err(_) => m.warning.as_deref().map(clean).filter(|w| !w.is_empty()),
    }
}

/// A line of a paragraph: its name, then its text in a column of its own.
pub(crate) fn part(name: &str, text: &str, style: Style, options: Options) -> String {
    const INDENT: usize = 13;
    let lead = paint(&format!("  {name:<11}"), style, options.color);
    options.behind(&lead, INDENT, &clean(text), style)
}

/// Significant digits where no interval is known.
const USUAL: i32 = 3;
/// Most significant digits behind a decimal point: past the fourth a reader compares noise.
const MOST: i32 = 4;

/// Speed in MB/s (10^6 bytes a second).
pub(crate) fn speed(m: &Measurement) -> Option<String> {
    Some(supported(m.mb_per_s?, m.ns_per_op.as_ref()))
}

pub(crate) fn cycles_per_byte(m: &Measurement) -> Option<String> {
    Some(supported(m.cycles_per_byte?, m.cycles_per_op.as_ref()))
}

/// A value rounded to its uncertain digit; the interval is that of `estimate`, in proportion.
pub(crate) fn supported(value: f64, estimate: Option<&Estimate>) -> String {
    let relative = estimate.map_or(f64::INFINITY, |e| (e.high - e.low) / 2.0 / e.median);
    rounded(value, value * relative)
}

fn rounded(value: f64, half_width: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    if value <= 0.0 {
        return "0".to_owned();
    }
    let leading = decade(value);
    // However uncertain, the first digit is shown.
    let (coarsest, finest) = (leading, (leading + 1 - MOST).min(0));
    let uncertain = if half_width.is_finite() && half_width > 0.0 {
        decade(half_width)
    } else if half_width == 0.0 {
        finest
    } else {
        leading + 1 - USUAL
    };
    let last = uncertain.clamp(finest, coarsest.max(finest));
    let decimals = usize::try_from(-last).unwrap_or(0);
    // Left of the point the format cannot round; at or right of it the unit is 1 and it does.
    let unit = 10f64.powi(last.max(0));
    let whole_units = if last > 0 { (value / unit).round() } else { value };
    format!("{:.decimals$}", whole_units * unit)
}

/// The power of ten of the first digit.
fn decade(value: f64) -> i32 {
    // A double's exponent fits easily.
    #[expect(clippy::cast_possible_truncation)]
    let decade = value.log10().floor() as i32;
    decade
}

/// A fraction as percent without its sign: `12`, `0.3`, `<0.1`.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if !percent.is_finite() {
        "?".to_owned()
    } else if percent >= 9.95 {
        format!("{percent:.0}")
    } else if percent >= 0.05 {
        format!("{percent:.1}")
    } else {
        "<0.1".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;

    fn labels(ids: &[(&str, &str)]) -> Vec<String> {
        let measurements: Vec<Measurement> = ids
            .iter()
            .map(|(path, id)| {
                let mut m = sample::record().measurements.remove(0);
                m.library.path = (*path).to_owned();
                m.library.id = (*id).to_owned();
                m
            })
            .collect();
        let selection: Vec<&Measurement> = measurements.iter().collect();
        let labels = Libraries::of(&selection);
        measurements.iter().map(|m| labels.label(&m.library).to_owned()).collect()
    }

    #[test]
    fn two_builds_of_one_version_are_told_apart() {
        assert_eq!(labels(&[("/a", "build-id:aabbccdd")]), ["openssl@3.0.22"]);
        assert_eq!(
            labels(&[("/a", "build-id:aabbccdd"), ("/b", "sha256:11223344")]),
            ["openssl@3.0.22#aabbcc", "openssl@3.0.22#112233"]
        );
        assert_eq!(
            labels(&[("/a", "build-id:aabbccdd"), ("/b", "build-id:aabbccdd")]),
            ["openssl@3.0.22#1", "openssl@3.0.22#2"]
        );
    }

    #[test]
    fn sizes_are_written_as_they_are_asked_for() {
        for (bytes, label) in [(16, "16"), (1000, "1000"), (8192, "8K"), (1 << 20, "1M")] {
            assert_eq!(size(bytes), label);
            assert_eq!(base::model::parse_sizes(label).unwrap(), [bytes]);
        }
        let units = [16, 8192, 1 << 20].map(size_with_unit);
        assert_eq!(units, ["16 B", "8 KiB", "1 MiB"]);
    }

    #[test]
    fn a_number_ends_at_its_uncertain_digit() {
        for (value, half_width, shown) in [
            (15_234.0, 45.0, "15230"),
            (15_234.0, 4.5, "15234"),
            (0.183_12, 0.000_4, "0.1831"),
            (0.183_12, 0.004, "0.183"),
            (531.27, 0.2, "531.3"),
            (15_234.0, 4000.0, "15000"),
            (15_234.0, 400.0, "15200"),
            (0.183_12, 0.02, "0.18"),
            // The first digit stays.
            (8.213, 3.0, "8"),
            (8.213, 30.0, "8"),
            // Without an interval three digits, with one of no width not every digit.
            (95.26, f64::INFINITY, "95.3"),
            (15_234.0, f64::NAN, "15200"),
            (0.123_456_789, 0.0, "0.1235"),
            (123_456.789, 0.0, "123457"),
            // What is no speed does not look like one.
            (f64::INFINITY, 1.0, "?"),
            (0.0, 1.0, "0"),
        ] {
            assert_eq!(rounded(value, half_width), shown, "{value} ± {half_width}");
        }
    }

    #[test]
    fn precision_is_given_to_a_tenth_of_a_percent() {
        assert_eq!(percent(0.003), "0.3");
        assert_eq!(percent(0.123), "12");
        assert_eq!(percent(0.0001), "<0.1");
        assert_eq!(percent(f64::NAN), "?");
    }

    proptest! {
        #[test]
        fn rounding_never_moves_a_number_by_more_than_its_interval_or_half_a_percent(
            value in 1e-3f64..1e6, relative in 0.0f64..0.5
        ) {
            let shown: f64 = rounded(value, value * relative).parse().unwrap();
            prop_assert!((shown / value - 1.0).abs() <= relative.max(0.005) + 1e-12);
        }
    }
}
