//! What is written is what is read, whatever a record holds: texts of any characters, numbers at the edges
//! of their ranges, rows in every state, any number of samples. And what was cut off is never read as whole.
#![allow(clippy::unwrap_used)] // helpers of tests are outside `#[test]` functions
use base::model::RawSample;
use ciphermark_record::{
    Check, Estimate, Imported, Library, Measurement, Record, Samples, State, from_bytes, from_json,
    load, save, to_json,
};
use proptest::prelude::*;
use std::io::Write as _;

const SAMPLE: &str = include_str!("sample.json");

/// Counts and times as large as the format has them.
const MOST: u64 = 1 << 53;
const MOST_TIME: f64 = 1e18;
const MOST_BYTES: usize = i32::MAX as usize;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,20}", any::<String>().prop_map(|s| s.chars().take(20).collect())]
}

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..1e6,
        0.0..MOST_TIME,
        Just(0.0),
        Just(5e-324),
        Just(f64::MIN_POSITIVE),
        Just(MOST_TIME)
    ]
}

prop_compose! {
    fn estimate()(mut ends in [time(), time(), time()]) -> Estimate {
        ends.sort_by(f64::total_cmp);
        let [low, median, high] = ends;
        Estimate { median, low, high }
    }
}

prop_compose! {
    fn sample()(
        process in 0..9_u32, thread in 0..3_u32, ops in 1..u32::MAX, ticks in 0..=MOST,
        rates in [0.0..1e6, 0.0..1e6, 0.0..9.0, 0.0..9.0], counts: [u32; 7], flags: [bool; 3],
    ) -> RawSample {
        let [clock_before, clock_after, probe_before, probe_after] = rates;
        let [switches, voluntary, page_faults, major_faults, cpu, settled_us, waited_us] = counts;
        let [migrated, stolen, unsettled] = flags;
        RawSample {
            process, thread, ops, ticks, clock_before, clock_after, probe_before, probe_after, switches,
            migrated, voluntary, page_faults, major_faults, stolen, cpu, settled_us, unsettled,
            waited_us, away_ticks: ticks / 7,
        }
    }
}

/// As the scheduler puts them there.
fn samples() -> impl Strategy<Value = Samples> {
    let all = prop::collection::vec((sample(), any::<bool>()), 0..30);
    all.prop_map(|all| {
        let mut samples = Samples::default();
        all.iter().for_each(|(sample, clean)| samples.push(sample, *clean));
        samples
    })
}

prop_compose! {
    /// A row in any state, with what rows in that state have.
    fn measurement()(
        state in prop::sample::select(
            vec![State::Measured, State::Unsupported, State::Refused, State::Failed, State::Imported],
        ),
        names in [text(), text(), text(), text()], reason in prop::option::of(text()),
        remarks in prop::collection::vec(text(), 0..3), times in [estimate(), estimate()],
        rates in [prop::option::of(time()), prop::option::of(time()), prop::option::of(time())],
        size in 1..=MOST_BYTES, counts in [0..=MOST, 0..=MOST], checks in prop::collection::vec((text(), 0..=MOST), 0..3),
        flags: [bool; 2], raw in samples(),
    ) -> Measurement {
        let mut row = from_json(SAMPLE, "sample").unwrap().measurements.remove(0);
        let [name, version, algorithm, source] = names;
        let [ns_per_op, cycles_per_op] = times.map(|t| state.has_number().then_some(t));
        let imported = (state == State::Imported).then(|| Imported { source, machine: reason.clone() });
        (row.library.name, row.library.version, row.algorithm) = (name, version, algorithm);
        (row.state, row.reason, row.remarks, row.imported) = (state, reason, remarks, imported);
        (row.ns_per_op, row.cycles_per_op) = (ns_per_op, cycles_per_op);
        [row.ns_per_byte, row.mb_per_s, row.cycles_per_byte] = rates;
        [row.samples, row.samples_disturbed] = counts;
        [row.in_place, row.contended] = flags;
        (row.size, row.raw) = (size, raw);
        let is_claimed = state != State::Imported;
        let checks = checks.into_iter().filter(|_| is_claimed);
        row.checks = checks.map(|(name, count)| Check { name, count }).collect();
        row
    }
}

prop_compose! {
    fn library()(names in [text(), text(), text()], error in prop::option::of(text()), build in prop::collection::vec(text(), 0..3)) -> Library {
        let library = from_json(SAMPLE, "sample").unwrap().libraries.remove(0);
        let [name, version, path] = names;
        Library { name, version, path, build, error, ..library }
    }
}

prop_compose! {
    fn record()(
        command in prop::collection::vec(text(), 0..5), measuring_seconds in time(), os in prop::option::of(text()),
        libraries in prop::collection::vec(library(), 0..3), measurements in prop::collection::vec(measurement(), 0..5),
    ) -> Record {
        let mut record = from_json(SAMPLE, "sample").unwrap();
        record.tool.command = command;
        record.host.os = os;
        Record { measuring_seconds, libraries, measurements, ..record }
    }
}

fn packed(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(record in record()) {
        let text = to_json(&record);
        prop_assert_eq!(&from_json(&text, "r.json").unwrap(), &record);
        prop_assert_eq!(&from_bytes(packed(&text), "r.json.gz").unwrap(), &record);
        let marked = format!("\u{feff}{text}").replace('\n', "\r\n");
        prop_assert_eq!(&from_bytes(marked.into_bytes(), "r.json").unwrap(), &record);
    }

    #[test]
    fn a_part_of_a_record_is_refused_in_one_line(record in record(), at in any::<prop::sample::Index>()) {
        let whole = to_json(&record);
        let whole = whole.trim_end().as_bytes();
        let packed = packed(&to_json(&record));
        for whole in [whole, &packed] {
            let part = whole[..at.index(whole.len())].to_vec();
            let why = from_bytes(part, "r.json").unwrap_err().to_string();
            prop_assert!(!why.contains(char::is_control), "{:?}", why);
        }
    }
}

proptest! {
    // Each is written through to the disk, four times.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_file_comes_back_over_an_older_one(older in record(), newer in record()) {
        let directory = tempfile::tempdir().unwrap();
        for (name, is_packed) in [("r.json", false), ("r.json.gz", true)] {
            let path = directory.path().join(name);
            for record in [&older, &newer] {
                save(record, &path).unwrap();
                prop_assert_eq!(&load(&path).unwrap(), record);
            }
            prop_assert_eq!(std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]), is_packed);
        }
    }
}
