//! How long workers are waited for.

use std::sync::OnceLock;
use std::time::Duration;

/// A variable with the share of every deadline that is waited: tests of libraries that hang do not wait
/// half a minute for each.
const VARIABLE: &str = "CIPHERMARK_PATIENCE";

/// The deadline that is meant by this one.
pub(crate) fn patient(deadline: Duration) -> Duration {
    deadline.mul_f64(of_this_process())
}

/// What waiting for so long takes off a deadline: as much as off the one that is meant by it.
pub(crate) fn spent(waited: Duration) -> Duration {
    waited.div_f64(of_this_process())
}

fn of_this_process() -> f64 {
    static SHARE: OnceLock<f64> = OnceLock::new();
    *SHARE.get_or_init(|| share(std::env::var(VARIABLE).ok().as_deref()))
}

/// Nobody waits longer than the deadlines say, nor not at all.
fn share(value: Option<&str>) -> f64 {
    value.and_then(|v| v.parse().ok()).filter(|v| (0.01..=1.0).contains(v)).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn what_is_no_share_changes_nothing() {
        assert_eq!(share(Some("0.1")), 0.1);
        for value in [None, Some(""), Some("2"), Some("0"), Some("-1"), Some("NaN"), Some("soon")] {
            assert_eq!(share(value), 1.0, "{value:?}");
        }
    }
}
