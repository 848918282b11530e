//! Lines of the protocol, at both ends.

use crate::check;
use base::model::{QuietRates, RawSample};
use engine::decode;
use engine::protocol::{Reply, VisitResult};
use record::Samples;

pub(crate) fn run(bytes: &[u8]) {
    for line in bytes.split(|b| *b == b'\n').take(64) {
        match decode::reply(line) {
            Err(why) => check::line(&why),
            Ok(reply) => decoded(&reply),
        }
        match decode::request(line) {
            Err(why) => check::line(&why),
            Ok(request) => {
                let again = decode::request(&serde_json::to_vec(&request).expect("plain data"));
                assert_eq!(again.as_ref(), Ok(&request));
            }
        }
    }
}

fn decoded(reply: &Reply) {
    let again = decode::reply(&serde_json::to_vec(reply).expect("plain data"));
    assert_eq!(again.as_ref(), Ok(reply), "a reply that was let through is let through again");
    if let Reply::Samples { results } = reply {
        summarised(&results.concat());
    }
}

/// What is let through can be computed with, and kept in a record.
fn summarised(results: &[VisitResult]) {
    let samples: Vec<RawSample> = results.iter().flat_map(of_visit).collect();
    let mut kept = Samples::default();
    samples.iter().for_each(|sample| kept.push(sample, true));
    let text = serde_json::to_string(&kept).expect("plain data");
    assert_eq!(serde_json::from_str::<Samples>(&text).expect("it was written"), kept);
    if let Some(summary) = base::analysis::summarise(&samples, &QuietRates::default()) {
        for estimate in std::iter::once(summary.ticks_per_op).chain(summary.cycles_per_op) {
            let base::analysis::Estimate { median, low, high } = estimate;
            assert!([median, low, high].iter().all(|n| n.is_finite()), "{estimate:?}");
            assert!(low <= median && median <= high && median >= 0.0, "{estimate:?}");
        }
    }
}

fn of_visit(result: &VisitResult) -> Vec<RawSample> {
    match result {
        VisitResult::Sample(sample) => vec![*sample],
        VisitResult::Taken { samples, .. } => samples.clone(),
        VisitResult::Ends { samples, .. } => {
            samples.iter().flat_map(|s| [s.server_sample(), s.client_sample()]).collect()
        }
        VisitResult::Settled(_) | VisitResult::Finding(_) => Vec::new(),
    }
}
