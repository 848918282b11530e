//! What is said of libraries beside their numbers: no fault, and to be known all the same.

use crate::labels;
use base::text::clean;
use record::Measurement;
use std::collections::{BTreeMap, BTreeSet};

/// Algorithms that are named for one remark; of more there is a number.
const NAMED: usize = 3;

/// A line for each library and kind of remark. A remark begins with its kind, up to a colon; what is behind
/// that may differ from algorithm to algorithm.
pub(crate) fn lines(selection: &[&Measurement]) -> Vec<String> {
    let mut kinds: BTreeMap<(String, String), BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for m in selection {
        for remark in m.remarks.iter().cloned().chain(of_kinds(m)) {
            let remark = clean(&remark);
            let (kind, detail) = remark.split_once(": ").unwrap_or((&remark, ""));
            let of_kind = kinds
                .entry((labels::versioned(&m.library.name, &m.library.version), kind.to_owned()))
                .or_default();
            of_kind.entry(&m.algorithm).or_default().insert(detail.to_owned());
        }
    }
    kinds
        .into_iter()
        .map(|((library, kind), algorithms)| line(&library, &kind, &algorithms))
        .collect()
}

/// Which of its processes are of which kind.
fn of_kinds(m: &Measurement) -> Option<String> {
    let kinds = m.kinds_in_words()?;
    let (direction, size) = (m.direction, labels::size(m.size));
    Some(format!("has processes of two kinds: {direction} {size} {kinds}"))
}

fn line(library: &str, kind: &str, algorithms: &BTreeMap<&str, BTreeSet<String>>) -> String {
    let one = |(algorithm, details): (&&str, &BTreeSet<String>)| {
        let details: Vec<&str> =
            details.iter().map(String::as_str).filter(|d| !d.is_empty()).collect();
        match details[..] {
            [] => clean(algorithm),
            _ => format!("{}: {}", clean(algorithm), details.join(", ")),
        }
    };
    let mut named: Vec<String> = algorithms.iter().take(NAMED).map(one).collect();
    if algorithms.len() > NAMED {
        named.push(format!("and {} more algorithms", algorithms.len() - NAMED));
    }
    format!("{library} {kind} ({})", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_remark_names_library_and_algorithms_once() {
        let mut record = sample::record();
        assert!(lines(&record.measurements.iter().collect::<Vec<_>>()).is_empty());
        let library = record.measurements[0].library.clone();
        let mut own: Vec<&mut Measurement> =
            record.measurements.iter_mut().filter(|m| m.library == library).collect();
        own.iter_mut()
            .for_each(|m| m.remarks = vec!["loses memory: 64 bytes a message".to_owned()]);
        let algorithm = own.iter().map(|m| m.algorithm.clone()).min().expect("it has cases");
        own[0].remarks.push("prints \u{1b}[2J".to_owned());
        let lines = lines(&record.measurements.iter().collect::<Vec<_>>());
        assert_eq!(lines.len(), 2, "{lines:?}");
        let loses = format!("loses memory ({algorithm}: 64 bytes a message");
        assert!(lines.iter().any(|line| line.contains(&loses)), "{lines:?}");
        assert!(lines.iter().all(|line| !line.chars().any(char::is_control)), "{lines:?}");
    }
}
