//! Lines of the protocol into messages. A library shares the worker's process and can write there what it
//! likes, so a reply is held to what an honest worker can say before anything is done with it.

use crate::protocol::{
    Costs, Finding, Judged, Offer, Other, PageAnswer, Ready, Reply, Request, Steps, VisitResult,
};
use base::model::{MOST_OF_LIBRARY, Settling};
use record::tls::{Facts, Found, HandshakeSample, Negotiated};
use record::{Leak, State, impossible_latencies, impossible_sample};
use std::path::PathBuf;

/// The longest line that is taken of anything but the output of one operation: ten times what the
/// offers of the richest library take.
const MOST_BYTES: usize = 8 << 20;

const MOST_CHARS: usize = 2000;

/// The most remarks on one algorithm: the worker has some few kinds of them.
const MOST_REMARKS: usize = 100;

/// The most windows of settling: an hour has fewer.
const MOST_WINDOWS: usize = 30;

/// The most files that a library's code is in: a runtime has tens.
const MOST_OBJECTS: usize = 1000;

/// The largest count: what a double holds exactly, and so few that no sum of them overflows.
const MOST: u64 = 1 << 53;

/// Reads a worker's reply.
pub fn reply(line: &[u8]) -> Result<Reply, String> {
    let mut reply: Reply = record::value_from_json(line)
        .map_err(|e| format!("{} in '{}'", tidied(&e), excerpt(line)))?;
    if line.len() > MOST_BYTES && !matches!(reply, Reply::Result { .. }) {
        return Err(format!("{} bytes in one line", line.len()));
    }
    check(&mut reply)?;
    Ok(reply)
}

/// Reads a scheduler's request.
pub fn request(line: &[u8]) -> Result<Request, String> {
    record::value_from_json(line).map_err(|e| tidied(&e))
}

/// Whether samples are of the process that sends them: what an interval is worth hangs on how many
/// processes there were.
pub(crate) fn is_of_process(reply: &Reply, process: u32) -> bool {
    let Reply::Samples { results } = reply else { return true };
    results.iter().flatten().flat_map(VisitResult::processes).all(|p| p == process)
}

fn check(reply: &mut Reply) -> Result<(), String> {
    match reply {
        Reply::Ready(ready) => check_ready(ready),
        Reply::Unusable { why } => {
            tidy(why);
            Ok(())
        }
        Reply::Offers { offers, instructions, cpuid_answered, denied, objects } => {
            few_enough(objects)?;
            offers.iter_mut().for_each(tidy_offer);
            instructions.iter_mut().flatten().chain(denied).for_each(tidy);
            at_most(cpuid_answered.unwrap_or(0))
        }
        Reply::Checking { check } => {
            tidy(check);
            Ok(())
        }
        Reply::Verified { checks, digest, remarks, tried } => {
            tidy(digest);
            tried.repeated.iter().try_for_each(|r| at_most(r.calls.max(r.forgeries)))?;
            if remarks.len() > MOST_REMARKS {
                return Err(format!("{} remarks", remarks.len()));
            }
            remarks.iter_mut().for_each(tidy);
            checks.iter_mut().try_for_each(|check| {
                tidy(&mut check.name);
                at_most(check.count)
            })
        }
        Reply::Judged { wrong, .. } => {
            wrong.iter_mut().for_each(tidy);
            Ok(())
        }
        Reply::Samples { results } => results.iter_mut().flatten().try_for_each(check_visit),
        Reply::Result { .. } => Ok(()),
        Reply::Metered { costs } => costs.iter().try_for_each(check_costs),
        Reply::Stepped(steps) => check_steps(steps),
        Reply::Leaks(judged) => check_judged(judged),
        Reply::Pages(answer) => check_pages(answer),
        Reply::Finding(finding) => check_finding(finding),
    }
}

fn check_judged(judged: &mut Judged) -> Result<(), String> {
    judged.reason.iter_mut().chain(&mut judged.trace).for_each(tidy);
    for operation in &mut judged.operations {
        tidy(&mut operation.operation);
        at_most(operation.steps)?;
    }
    for leak in &mut judged.findings {
        let Leak { function, object, instruction, operations, .. } = leak;
        function.iter_mut().chain([object, instruction]).chain(operations).for_each(tidy);
        [leak.bytes, leak.lines].into_iter().flatten().try_for_each(at_most)?;
    }
    Ok(())
}

fn check_ends(samples: &[HandshakeSample], facts: Option<&mut Found>) -> Result<(), String> {
    let wrong = |s: &HandshakeSample| {
        impossible_sample(&s.server).or_else(|| impossible_sample(&s.client_sample()))
    };
    if let Some(why) = samples.iter().find_map(wrong) {
        return Err(why);
    }
    let setup = |s: &HandshakeSample| {
        s.other.own_setup_ticks <= s.server.ticks && s.other.setup_ticks <= s.other.ticks
    };
    if !samples.iter().all(setup) {
        return Err("a part that is longer than the whole".to_owned());
    }
    match facts {
        None => {}
        Some(Found::Handshake(facts)) => check_facts(facts)?,
        Some(Found::Records(facts)) => tidy_negotiated(&mut facts.negotiated),
        Some(Found::Primitive(facts)) => facts.checks.iter_mut().for_each(tidy),
    }
    Ok(())
}

fn tidy_negotiated(negotiated: &mut Negotiated) {
    let Negotiated { suite, group, signature, .. } = negotiated;
    tidy(suite);
    [group, signature].into_iter().flatten().for_each(tidy);
}

fn check_facts(facts: &mut Facts) -> Result<(), String> {
    tidy_negotiated(&mut facts.negotiated);
    let Facts { first_server_ticks, first_client_ticks, client_bytes, server_bytes, .. } = *facts;
    [first_server_ticks, first_client_ticks, client_bytes, server_bytes]
        .into_iter()
        .chain(
            [facts.server_memory, facts.client_memory].into_iter().flatten().map(i64::unsigned_abs),
        )
        .try_for_each(at_most)
}

fn check_ready(ready: &mut Ready) -> Result<(), String> {
    let Ready { name, version, build, clock, tier, .. } = ready;
    let reasons = [&mut ready.clock_reason, &mut ready.cycles_reason, &mut ready.one_thread_only];
    [name, version, clock].into_iter().chain(build).for_each(tidy);
    reasons.into_iter().flatten().for_each(tidy);
    if let Some(applied) = tier {
        [&mut applied.mechanism, &mut applied.proof, &mut applied.reason]
            .into_iter()
            .flatten()
            .for_each(tidy);
        at_most(applied.cpuid_instructions.unwrap_or(0))?;
        at_most(applied.cpuid_answered.unwrap_or(0))?;
    }
    ready.confinement.iter_mut().for_each(tidy_confinement);
    few_enough(&ready.objects)?;
    if ready.brings.len() > MOST_OF_LIBRARY {
        return Err(format!("{} algorithms of its own", ready.brings.len()));
    }
    at_most(ready.step_ticks)?;
    at_most(ready.overhead_ticks)
}

fn few_enough(objects: &[PathBuf]) -> Result<(), String> {
    if objects.len() > MOST_OBJECTS { Err(format!("{} objects", objects.len())) } else { Ok(()) }
}

fn tidy_confinement(confinement: &mut record::Confinement) {
    let record::Confinement { in_force, missing, switched_off, denied } = confinement;
    let restrictions = in_force.iter_mut().chain(missing);
    restrictions.for_each(|r| [&mut r.name, &mut r.detail].into_iter().for_each(tidy));
    switched_off.iter_mut().chain(denied).for_each(tidy);
}

fn tidy_offer(offer: &mut Offer) {
    let Offer { algorithm, reason, functions, rekey_functions, answers, .. } = offer;
    tidy(algorithm);
    [reason, functions, rekey_functions, answers].into_iter().flatten().for_each(tidy);
}

fn check_visit(result: &mut VisitResult) -> Result<(), String> {
    let (samples, latency) = match result {
        VisitResult::Sample(sample) => (std::slice::from_ref(sample), None),
        VisitResult::Taken { samples, latency, other } => {
            other.as_ref().map_or(Ok(()), |other| check_other(other, samples.len()))?;
            (samples.as_slice(), latency.as_ref())
        }
        VisitResult::Ends { samples, facts } => return check_ends(samples, facts.as_deref_mut()),
        VisitResult::Settled(settling) => return check_settling(settling),
        VisitResult::Finding(finding) => return check_finding(finding),
    };
    let wrong = samples.iter().find_map(impossible_sample);
    wrong.or_else(|| latency.and_then(impossible_latencies)).map_or(Ok(()), Err)
}

fn check_settling(settling: &Settling) -> Result<(), String> {
    if settling.ns_per_op.len() > MOST_WINDOWS {
        return Err(format!("{} windows of settling", settling.ns_per_op.len()));
    }
    settling.ns_per_op.iter().chain([&settling.first_ns]).try_for_each(|ns| real(*ns))
}

fn check_other(other: &Other, samples: usize) -> Result<(), String> {
    if other.ticks.len() != samples {
        return Err(format!("{} parts beside {samples} samples", other.ticks.len()));
    }
    other.ticks.iter().try_for_each(|ticks| at_most(*ticks))?;
    impossible_latencies(&other.latency).map_or(Ok(()), Err)
}

/// What no number came of has a state that says so.
fn check_finding(finding: &mut Finding) -> Result<(), String> {
    tidy(&mut finding.why);
    match finding.state {
        State::Unsupported | State::Refused | State::Failed => Ok(()),
        State::Measured | State::Imported => {
            Err(format!("a finding with the state '{}'", finding.state.name()))
        }
    }
}

fn check_pages(answer: &mut PageAnswer) -> Result<(), String> {
    match answer {
        PageAnswer::Loaded => Ok(()),
        PageAnswer::Verified { digest, sum_by } => {
            [digest].into_iter().chain(sum_by).for_each(tidy);
            Ok(())
        }
        PageAnswer::Probed { counts } => counts.iter().try_for_each(|count| {
            let effects = count.effects.iter().map(|(_, n)| *n);
            let possible = count.noticed <= count.tried && effects.sum::<u64>() <= count.tried;
            at_most(count.tried)?;
            if possible { Ok(()) } else { Err("more was noticed than tried".to_owned()) }
        }),
    }
}

fn check_costs(costs: &Costs) -> Result<(), String> {
    let Costs { allocations, allocated_bytes, copied_bytes, lost, lost_bytes, collecting, .. } =
        *costs;
    let all = [allocations, allocated_bytes, copied_bytes, lost, lost_bytes, collecting];
    all.into_iter().try_for_each(real)
}

fn check_steps(steps: &mut Steps) -> Result<(), String> {
    let Steps { instructions, memory_reads, memory_writes, pmu, .. } = *steps;
    [instructions, memory_reads, memory_writes].into_iter().try_for_each(at_most)?;
    // A difference of two readings.
    real(pmu.unwrap_or(0.0).abs())?;
    steps.pmu_reason.iter_mut().for_each(tidy);
    for class in &mut steps.classes {
        tidy(&mut class.class);
        at_most(class.count)?;
    }
    for set in steps.sets.iter_mut().chain(&mut steps.sets_elsewhere) {
        tidy(&mut set.set);
        tidy(&mut set.example);
        at_most(set.count)?;
    }
    for function in &mut steps.functions {
        tidy(&mut function.object);
        function.function.iter_mut().for_each(tidy);
        at_most(function.count)?;
    }
    Ok(())
}

fn at_most(count: u64) -> Result<(), String> {
    if count <= MOST { Ok(()) } else { Err(format!("a count of {count}")) }
}

fn real(number: f64) -> Result<(), String> {
    let possible = (0.0..=MOST as f64).contains(&number);
    if possible { Ok(()) } else { Err(format!("an impossible number {number:e}")) }
}

fn tidy(text: &mut String) {
    if text.len() > MOST_CHARS || text.contains(char::is_control) {
        *text = tidied(text);
    }
}

fn tidied(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown: String = chars.by_ref().take(MOST_CHARS).collect();
    if chars.next().is_some() { shown + "…" } else { shown }
}

pub(crate) fn excerpt(line: &[u8]) -> String {
    let beginning = &line[..line.len().min(400)];
    let text = String::from_utf8_lossy(beginning);
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::RawSample;
    use record::{Check, Latencies};

    fn line(reply: &Reply) -> Vec<u8> {
        serde_json::to_vec(reply).unwrap()
    }

    fn why(reply_: &Reply) -> String {
        reply(&line(reply_)).unwrap_err()
    }

    fn sample() -> RawSample {
        base::model::fixtures::sample(0, 100, 1.5)
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
        assert_eq!(
            why(&samples(RawSample { ops: 0, ..sample() })),
            "a sample without an operation"
        );
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
}
