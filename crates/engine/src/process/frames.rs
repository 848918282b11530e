//! Tests of the link: lines through a pipe, cut anywhere on their way.

use crate::decode::any_reply;
use crate::process::*;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs::File;
use std::process::{Child, Command, Stdio};

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
