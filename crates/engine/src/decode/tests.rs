use super::*;
use base::model::RawSample;
use proptest::prelude::*;
use record::{Check, Latencies};

fn line(reply: &Reply) -> Vec<u8> {
    serde_json::to_vec(reply).unwrap()
}

fn why(reply_: &Reply) -> String {
    reply(&line(reply_)).unwrap_err()
}

fn sample() -> RawSample {
    RawSample { ops: 3, ticks: 100, clock_before: 1.5, clock_after: 1.5, ..RawSample::default() }
}

fn samples(sample: RawSample) -> Reply {
    Reply::Samples { results: vec![vec![VisitResult::Sample(sample)]] }
}

fn verified(checks: Vec<Check>, calls: u64) -> Reply {
    let repeated = verify::Repeated {
        direction: base::model::Direction::Copy,
        calls,
        forgeries: 0,
        cut_short: false,
    };
    let tried = verify::Tried { repeated: vec![repeated], ..Default::default() };
    Reply::Verified { checks, digest: String::new(), remarks: Vec::new(), tried }
}

#[test]
fn a_number_that_no_worker_sends_is_out_of_protocol() {
    assert_eq!(reply(&line(&samples(sample()))).unwrap(), samples(sample()));
    assert_eq!(why(&samples(RawSample { ops: 0, ..sample() })), "a sample without an operation");
    let endless = RawSample { ticks: u64::MAX, ..sample() };
    assert!(why(&samples(endless)).contains("too large"));
    let racing = RawSample { clock_before: 1e300, ..sample() };
    assert!(why(&samples(racing)).contains("impossible clock"));
    let latency = Some(Latencies { ticks: vec![(1, u64::MAX)], disturbed: 0 });
    let taken = VisitResult::Taken { samples: vec![sample()], latency, other: None };
    assert!(why(&Reply::Samples { results: vec![vec![taken]] }).contains("too large"));
    let checks = vec![Check { name: "x".into(), count: u64::MAX }];
    assert_eq!(why(&verified(checks, 1)), format!("a count of {}", u64::MAX));
    assert_eq!(why(&verified(Vec::new(), u64::MAX)), format!("a count of {}", u64::MAX));
    let counted = Steps { pmu: Some(-1e300), ..Steps::default() };
    assert_eq!(why(&Reply::Stepped(counted)), "an impossible number 1e300");
    let costs = vec![Costs { size: 1, allocations: 1e300, ..Costs::default() }];
    assert_eq!(why(&Reply::Metered { costs }), "an impossible number 1e300");
}

#[test]
fn no_finding_calls_itself_a_measurement() {
    for state in [State::Measured, State::Imported] {
        let finding = Finding::of(state, "trust me");
        let expected = format!("a finding with the state '{}'", state.name());
        assert_eq!(why(&Reply::Finding(finding.clone())), expected);
        let results = vec![VisitResult::Finding(finding)];
        assert_eq!(why(&Reply::Samples { results: vec![results] }), expected);
    }
}

#[test]
fn texts_of_a_library_become_one_line_with_an_end() {
    let hostile = format!("a\n\u{1b}[2Jb{}", "x".repeat(1 << 20));
    let finding = Finding::failed(hostile.clone());
    let Ok(Reply::Finding(read)) = reply(&line(&Reply::Finding(finding))) else { panic!() };
    assert!(read.why.starts_with("a  [2Jbxxx") && read.why.ends_with('…'), "{}", read.why);
    assert_eq!(read.why.chars().count(), MOST_CHARS + 1);
    let ready = Ready { name: hostile.clone(), build: vec![hostile], ..Ready::default() };
    let Ok(Reply::Ready(read)) = reply(&line(&Reply::Ready(Box::new(ready)))) else { panic!() };
    assert!(!read.name.contains(char::is_control) && !read.build[0].contains(char::is_control));
}

#[test]
fn a_line_that_is_no_message_is_quoted_with_an_end() {
    for bad in ["", "\u{1b}[2J", "{\"ready\":7}", "{\"finding\":", "nonsense", "[[[[", "null"] {
        let why = reply(bad.as_bytes()).unwrap_err();
        assert!(!why.contains(char::is_control), "{why:?}");
    }
    let long = reply(&vec![b'['; 1 << 20]).unwrap_err();
    assert!(long.len() < 300, "{long}");
    let padded = format!("{{\"unusable\":{{\"why\":\"{}\"}}}}", "x".repeat(MOST_BYTES));
    assert!(reply(padded.as_bytes()).unwrap_err().ends_with("bytes in one line"));
}

#[test]
fn samples_of_another_process_are_told_apart() {
    assert!(is_of_process(&samples(RawSample { process: 4, ..sample() }), 4));
    assert!(!is_of_process(&samples(RawSample { process: 5, ..sample() }), 4));
    let samples = vec![RawSample { process: 4, ..sample() }, sample()];
    let taken = VisitResult::Taken { samples, latency: None, other: None };
    assert!(!is_of_process(&Reply::Samples { results: vec![vec![taken]] }, 4));
}

/// Numbers whose text has all their digits.
pub(crate) fn finite() -> impl Strategy<Value = f64> {
    (0.0..1e6_f64).prop_map(|n| n)
}

prop_compose! {
    pub(crate) fn any_sample()(
        process in 0..100_u32, thread in 0..8_u32, ops in 1..u32::MAX, ticks in 0..MOST,
        rates in [finite(), finite(), finite(), finite()], switches: u32, migrated: bool,
        stolen: bool, cpu: u32, faults: u32,
    ) -> RawSample {
        let [clock_before, clock_after, probe_before, probe_after] = rates;
        RawSample {
            process, thread, ops, ticks, clock_before, clock_after, probe_before, probe_after,
            switches, migrated, stolen, cpu, page_faults: faults, voluntary: switches / 2,
            major_faults: faults / 3, settled_us: faults / 5, unsettled: migrated, waited_us: faults / 7,
        }
    }
}

proptest! {
    #[test]
    fn replies_of_every_kind_come_out_as_they_went_in(sent in any_reply()) {
        prop_assert_eq!(reply(&line(&sent)), Ok(sent));
    }

    #[test]
    fn samples_come_out_as_they_went_in(all in prop::collection::vec(any_sample(), 0..20)) {
        let results = vec![VisitResult::Taken { samples: all, latency: None, other: None }];
        let sent = Reply::Samples { results: vec![results] };
        prop_assert_eq!(reply(&line(&sent)), Ok(sent));
    }

    #[test]
    fn texts_of_honest_workers_come_out_as_they_went_in(
        name in "[^\\p{Cc}]{0,40}", version in "[ -~]{0,20}", build in prop::collection::vec("[ -~]{0,80}", 0..5),
        step_ticks in 0..MOST, overhead_ticks in 0..MOST,
    ) {
        let clock = "tsc".to_owned();
        let ready = Ready { name, version, build, clock, step_ticks, overhead_ticks, ..Ready::default() };
        let sent = Reply::Ready(Box::new(ready));
        prop_assert_eq!(reply(&line(&sent)), Ok(sent));
    }

    #[test]
    fn requests_come_out_as_they_went_in(
        algorithm in "\\PC{0,30}", size: usize, sizes in prop::collection::vec(any::<usize>(), 0..9), most_steps: u64,
    ) {
        use crate::protocol::Metering;
use crate::protocol::Stepping;
        use base::model::Direction;
use base::model::Model;
        let direction = Direction::Decrypt;
        for sent in [
            Request::Verify { algorithm: algorithm.clone(), seed: most_steps, sizes: sizes.clone() },
            Request::Meter(Metering { algorithm: algorithm.clone(), direction, sizes }),
            Request::Step(Stepping { algorithm, direction, model: Model::Rekey, size, most_steps }),
        ] {
            prop_assert_eq!(request(&serde_json::to_vec(&sent).unwrap()), Ok(sent));
        }
    }
}
