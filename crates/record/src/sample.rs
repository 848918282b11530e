//! The committed sample, for the tests of this crate: every state, and something in every field.

use crate::{FORMAT_VERSION, Record, Samples, from_json};
use base::model::RawSample;

pub(crate) fn record() -> Record {
    let committed = from_json(include_str!("../tests/sample.json"), "sample.json").unwrap();
    Record { format_version: FORMAT_VERSION.to_owned(), ..committed }
}

pub(crate) fn samples(count: u32) -> Samples {
    let mut samples = Samples::default();
    for i in 0..count {
        let wobble = f64::from(i).sin() / 100.0;
        let sample = RawSample {
            process: i % 3,
            thread: 0,
            ops: 120,
            ticks: 104_000 + u64::from(i % 97),
            clock_before: 1.234_567_89 + wobble,
            clock_after: 1.234_567_89 - wobble,
            probe_before: 4.987_654_32 + wobble,
            probe_after: 4.987_654_32 - wobble,
            switches: 0,
            migrated: false,
            ..RawSample::default()
        };
        samples.push(&sample, i % 10 != 0);
    }
    samples
}
