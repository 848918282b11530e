//! Replies of every kind, as an honest worker may send them, for tests; and those of the link: lines of such
//! replies through a pipe, cut anywhere on their way.

use crate::decode::tests::{any_sample, finite};
use crate::decode::{MOST, MOST_REMARKS};
use crate::process::Link;
use crate::protocol::{
    ClassSteps, Costs, Finding, FunctionSteps, Judged, Offer, Reply, SetSteps, Steps, VisitResult,
};
use crate::time::Deadline;
use base::model::{Direction, Model, Settling};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use record::{Check, Leak, LeakKind, State, SteppedOperation};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// One line with an end, in any script.
fn text() -> impl Strategy<Value = String> {
    "[^\\p{Cc}]{0,30}"
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1e6, 0.0..=MOST as f64, Just(0.0), Just(f64::MIN_POSITIVE)]
}

pub(crate) fn any_reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        text().prop_map(|why| Reply::Unusable { why }),
        text().prop_map(|check| Reply::Checking { check }),
        (any::<bool>(), option::of(text()))
            .prop_map(|(rejected, wrong)| Reply::Judged { rejected, wrong }),
        ("[0-9a-f]{0,600}", "[0-9a-f]{0,32}")
            .prop_map(|(output, tag)| Reply::Result { output, tag }),
        offers(),
        verified(),
        vec(costs(), 0..5).prop_map(|costs| Reply::Metered { costs }),
        steps().prop_map(Reply::Stepped),
        judged().prop_map(|judged| Reply::Leaks(Box::new(judged))),
        finding().prop_map(Reply::Finding),
        vec(vec(visit(), 0..4), 0..3).prop_map(|results| Reply::Samples { results }),
    ]
}

fn settling() -> impl Strategy<Value = Settling> {
    (0..100_u32, finite(), vec(finite(), 0..9), any::<u32>()).prop_map(
        |(process, first_ns, ns_per_op, us)| Settling { process, first_ns, ns_per_op, us },
    )
}

fn visit() -> impl Strategy<Value = VisitResult> {
    prop_oneof![
        any_sample().prop_map(VisitResult::Sample),
        settling().prop_map(VisitResult::Settled),
        vec(any_sample(), 0..4).prop_map(|samples| VisitResult::Taken {
            samples,
            latency: None,
            other: None
        }),
        finding().prop_map(VisitResult::Finding),
    ]
}

prop_compose! {
    fn leak()(
        function in option::of(text()), object in text(), instruction in text(), operation in text(),
        address in any::<u64>(), bytes in option::of(0..=MOST), lines in option::of(0..=MOST),
        compared in any::<bool>(),
    ) -> Leak {
        Leak {
            kind: LeakKind::Lookup,
            function,
            object,
            address,
            instruction,
            places: 1,
            bytes,
            lines,
            operations: vec![operation],
            sizes: vec![16],
            compared,
            tainted: !compared,
        }
    }
}

prop_compose! {
    fn judged()(
        reason in option::of(text()), operation in text(), steps in 0..=MOST, findings in vec(leak(), 0..3),
        trace in vec(text(), 0..3), secrets in option::of(2..=256_u32), is_opening in any::<bool>(),
    ) -> Judged {
        let operations = vec![SteppedOperation { operation, size: None, steps }];
        let objects = vec!["/x.so".into()];
        Judged { reason, secrets, is_opening, operations, findings, objects, trace }
    }
}

prop_compose! {
    fn finding()(
        state in prop::sample::select(vec![State::Unsupported, State::Refused, State::Failed]), why in text(),
    ) -> Finding {
        Finding::of(state, why)
    }
}

prop_compose! {
    fn offer()(
        names in [text(), text()], gaps in [option::of(text()), option::of(text())], flags: [bool; 4],
        encrypts: bool, in_flight in option::of(2..=16_u32),
    ) -> Offer {
        let [algorithm, functions] = names;
        let [reason, rekey_functions] = gaps;
        let [failed, copies, allocates, in_place] = flags;
        let direction = if encrypts { Direction::Encrypt } else { Direction::Decrypt };
        Offer {
            algorithm, direction, models: vec![Model::Message, Model::Rekey], reason, failed,
            functions: Some(functions), copies, allocates, rekeying: None, rekey_functions, in_place,
            in_flight,
        }
    }
}

prop_compose! {
    fn offers()(
        offers in vec(offer(), 0..5), instructions in option::of(vec(text(), 0..4)),
        cpuid_answered in option::of(0..=MOST), denied in vec(text(), 0..4),
        objects in vec(text().prop_map(PathBuf::from), 0..4),
    ) -> Reply {
        Reply::Offers { offers, instructions, cpuid_answered, denied, objects }
    }
}

prop_compose! {
    fn verified()(
        checks in vec((text(), 0..=MOST), 0..6), digest in "[0-9a-f]{64}", remarks in vec(text(), 0..MOST_REMARKS),
        asked in vec(any::<usize>(), 0..6), calls in 0..=MOST, cut_short: bool,
    ) -> Reply {
        let checks = checks.into_iter().map(|(name, count)| Check { name, count }).collect();
        let repeated = verify::Repeated { direction: Direction::Decrypt, calls, forgeries: calls, cut_short };
        let tried = verify::Tried { asked, repeated: vec![repeated], ..Default::default() };
        Reply::Verified { checks, digest, remarks, tried }
    }
}

prop_compose! {
    fn costs()(size: usize, counts in [number(), number(), number(), number(), number()]) -> Costs {
        let [allocations, allocated_bytes, copied_bytes, lost, lost_bytes] = counts;
        Costs { size, allocations, allocated_bytes, copied_bytes, lost, lost_bytes, collecting: 0.0 }
    }
}

prop_compose! {
    fn steps()(
        size: usize, complete: bool, counts in [0..=MOST, 0..=MOST, 0..=MOST], pmu in option::of(number()),
        pmu_reason in option::of(text()), classes in vec((text(), option::of(any::<u16>()), 0..=MOST), 0..4),
        sets in vec((text(), 0..=MOST, text()), 0..4), functions in vec((option::of(text()), text(), 0..=MOST), 0..4),
    ) -> Steps {
        let [instructions, memory_reads, memory_writes] = counts;
        let class = |(class, width, count)| ClassSteps { class, width, count };
        let set = |(set, count, example)| SetSteps { set, count, example };
        let function = |(function, object, count)| FunctionSteps { function, object, count };
        let sets: Vec<SetSteps> = sets.into_iter().map(set).collect();
        Steps {
            size, complete, instructions, memory_reads, memory_writes, pmu, pmu_reason,
            classes: classes.into_iter().map(class).collect(),
            functions: functions.into_iter().map(function).collect(),
            sets_elsewhere: sets.clone(), sets, objects: vec!["/usr/lib/libcrypto.so.3".into()],
        }
    }
}

const TOKEN: &str = "00112233445566778899aabbccddeeff";

/// What a worker's process writes: the worker's own replies, and lines that its library puts between.
#[derive(Clone, Debug)]
enum Frame {
    Own(Box<Reply>),
    Foreign(String),
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        3 => any_reply().prop_map(|reply| Frame::Own(Box::new(reply))),
        1 => "[^\n]{0,80}".prop_map(Frame::Foreign),
        1 => any_reply().prop_map(|reply| Frame::Foreign(serde_json::to_string(&reply).unwrap())),
    ]
}

impl Frame {
    fn line(&self) -> String {
        match self {
            Self::Own(reply) => format!("{TOKEN} {}\n", serde_json::to_string(reply).unwrap()),
            Self::Foreign(text) => format!("{text}\n"),
        }
    }
}

/// A link to a process that gives back what it is given, and the end that it is given it by.
fn echo() -> (Child, File, Link) {
    let mut cat = Command::new("cat");
    let mut cat = cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (to, from) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
    let raw = File::from(to.as_fd().try_clone_to_owned().unwrap());
    let link = Link::new(cat.id(), to, from, TOKEN).unwrap();
    (cat, raw, link)
}

fn next(link: &mut Link) -> Result<Reply, String> {
    match link.receive(&mut Deadline::with(std::process::id(), Duration::from_secs(60)), None) {
        Ok(received) => received,
        Err(_) => panic!("the pipe is open and has a line"),
    }
}

proptest! {
    // Each starts a process.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn replies_come_out_whole_and_in_order_however_they_are_cut(
        frames in prop::collection::vec(frame(), 1..6), cuts in prop::collection::vec(any::<Index>(), 0..9),
    ) {
        let (mut cat, mut raw, mut link) = echo();
        let bytes: Vec<u8> = frames.iter().flat_map(|f| f.line().into_bytes()).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|at| at.index(bytes.len())).collect();
        cuts.sort_unstable();
        let (mut begin, mut received) = (0, Vec::new());
        for end in cuts.into_iter().chain([bytes.len()]) {
            raw.write_all(&bytes[begin..end]).unwrap();
            begin = end;
            // What is whole by now is read now, so that the next piece comes to an unfinished line.
            let whole = bytes[..end].iter().filter(|b| **b == b'\n').count();
            received.extend((received.len()..whole).map(|_| next(&mut link)));
        }
        for (frame, received) in frames.iter().zip(received) {
            match frame {
                Frame::Own(reply) => prop_assert_eq!(received.as_ref(), Ok(&**reply)),
                Frame::Foreign(_) => prop_assert!(received.unwrap_err().starts_with("a line that is not the worker's")),
            }
        }
        drop((raw, link));
        cat.wait().unwrap();
    }
}
