//! Numbers with the digits that their interval supports, and no more.

use record::{Estimate, Measurement};

/// Significant digits where no interval is known.
const USUAL: i32 = 3;
/// Most significant digits behind a decimal point: past the fourth a reader compares noise.
const MOST: i32 = 4;

/// Speed in MB/s (10^6 bytes a second).
pub(crate) fn speed(m: &Measurement) -> Option<String> {
    Some(supported(m.mb_per_s?, m.ns_per_op.as_ref()))
}

/// Core cycles per byte.
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
    use proptest::prelude::*;

    #[test]
    fn a_number_ends_at_its_uncertain_digit() {
        assert_eq!(rounded(15_234.0, 45.0), "15230");
        assert_eq!(rounded(15_234.0, 4.5), "15234");
        assert_eq!(rounded(0.183_12, 0.000_4), "0.1831");
        assert_eq!(rounded(0.183_12, 0.004), "0.183");
        assert_eq!(rounded(531.27, 0.2), "531.3");
    }

    #[test]
    fn digits_that_the_interval_makes_uncertain_are_not_printed() {
        assert_eq!(rounded(15_234.0, 4000.0), "15000");
        assert_eq!(rounded(15_234.0, 400.0), "15200");
        assert_eq!(rounded(8.213, 3.0), "8");
        assert_eq!(rounded(8.213, 30.0), "8", "the first digit stays");
        assert_eq!(rounded(0.183_12, 0.02), "0.18");
    }

    #[test]
    fn without_an_interval_there_are_three_digits() {
        assert_eq!(rounded(95.26, f64::INFINITY), "95.3");
        assert_eq!(rounded(15_234.0, f64::NAN), "15200");
    }

    #[test]
    fn an_interval_without_width_does_not_ask_for_every_digit() {
        assert_eq!(rounded(0.123_456_789, 0.0), "0.1235");
        assert_eq!(rounded(123_456.789, 0.0), "123457");
    }

    #[test]
    fn what_is_no_speed_does_not_look_like_one() {
        assert_eq!(rounded(f64::INFINITY, 1.0), "?");
        assert_eq!(rounded(0.0, 1.0), "0");
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
