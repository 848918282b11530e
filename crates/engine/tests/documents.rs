//! What the documents show is what the code says.
#![allow(clippy::unwrap_used)] // helpers of tests are outside `#[test]` functions
use ciphermark_engine::decode;
use ciphermark_engine::protocol::{Reply, Request, VisitResult};
use std::collections::BTreeSet;

const PROTOCOL: &str = include_str!("../PROTOCOL.md");
const CHECKS: &str = include_str!("../../verify/src/checks/README.md");

/// A line of the protocol.
enum Message {
    Asked(Request),
    Answered(Reply),
}

impl Message {
    fn parse(line: &str) -> Result<Self, String> {
        match (decode::request(line.as_bytes()), decode::reply(line.as_bytes())) {
            (Ok(request), _) => Ok(Self::Asked(request)),
            (_, Ok(reply)) => Ok(Self::Answered(reply)),
            (Err(not_asked), Err(e)) => Err(format!("no request: {not_asked}; no reply: {e}")),
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Asked(request) => serde_json::to_string(request).unwrap(),
            Self::Answered(reply) => serde_json::to_string(reply).unwrap(),
        }
    }

    /// What it is. A new message has to be named here, in [`KINDS`] and on the page.
    fn kind(&self) -> &'static str {
        match self {
            Self::Asked(Request::Hello(_)) => "hello asked",
            Self::Asked(Request::Offers) => "offers asked",
            Self::Asked(Request::OffersWithout(_)) => "offers-without asked",
            Self::Asked(Request::Verify { .. }) => "verify asked",
            Self::Asked(Request::Sample { .. }) => "sample asked",
            Self::Asked(Request::Once(_)) => "once asked",
            Self::Asked(Request::Vector { .. }) => "vector asked",
            Self::Asked(Request::Meter(_)) => "meter asked",
            Self::Asked(Request::Step(_)) => "step asked",
            Self::Asked(Request::Leaks(_)) => "leaks asked",
            Self::Asked(Request::Pages(_)) => "pages asked",
            Self::Asked(Request::Stack(_)) => "stack asked",
            Self::Asked(Request::Tls { .. }) => "tls asked",
            Self::Answered(Reply::Leaks(_)) => "leaks answered",
            Self::Answered(Reply::Pages(_)) => "pages answered",
            Self::Answered(Reply::Ready(_)) => "ready answered",
            Self::Answered(Reply::Unusable { .. }) => "unusable answered",
            Self::Answered(Reply::Offers { .. }) => "offers answered",
            Self::Answered(Reply::Checking { .. }) => "checking answered",
            Self::Answered(Reply::Verified { .. }) => "verified answered",
            Self::Answered(Reply::Samples { .. }) => "samples answered",
            Self::Answered(Reply::Result { .. }) => "result answered",
            Self::Answered(Reply::Judged { .. }) => "judged answered",
            Self::Answered(Reply::Metered { .. }) => "metered answered",
            Self::Answered(Reply::Stepped(_)) => "stepped answered",
            Self::Answered(Reply::Finding(_)) => "finding answered",
        }
    }
}

const KINDS: [&str; 26] = [
    "checking answered",
    "finding answered",
    "hello asked",
    "judged answered",
    "leaks answered",
    "leaks asked",
    "meter asked",
    "metered answered",
    "offers answered",
    "offers asked",
    "offers-without asked",
    "once asked",
    "pages answered",
    "pages asked",
    "ready answered",
    "result answered",
    "sample asked",
    "samples answered",
    "stack asked",
    "step asked",
    "stepped answered",
    "tls asked",
    "unusable answered",
    "vector asked",
    "verified answered",
    "verify asked",
];

fn fenced<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let mut within = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        match (line.strip_prefix("```"), within) {
            (Some(opened), None) => within = Some(opened),
            (Some(_), Some(_)) => within = None,
            (None, Some(opened)) if opened == language => lines.push(line),
            (None, _) => {}
        }
    }
    assert!(within.is_none() && !lines.is_empty(), "blocks of {language} that end");
    lines
}

fn parsed(line: &str) -> Message {
    Message::parse(line).unwrap_or_else(|e| panic!("'{line}' is {e}"))
}

fn examples() -> Vec<Message> {
    fenced(PROTOCOL, "json").into_iter().map(parsed).collect()
}

/// And reads as it was written: no check of what a worker says takes anything away.
#[test]
fn every_line_that_the_protocol_shows_is_one_that_the_program_writes() {
    let written: Vec<String> = examples().iter().map(Message::line).collect();
    assert_eq!(fenced(PROTOCOL, "json"), written);
}

#[test]
fn every_message_of_the_protocol_is_shown() {
    let shown: BTreeSet<&str> = examples().iter().map(Message::kind).collect();
    assert_eq!(shown.into_iter().collect::<Vec<_>>(), KINDS);
    let results = examples().into_iter().find_map(|message| match message {
        Message::Answered(Reply::Samples { results }) => Some(results),
        _ => None,
    });
    let is_sample = |r: &VisitResult| matches!(r, VisitResult::Sample(_));
    let samples: Vec<bool> = results.unwrap().iter().flatten().map(is_sample).collect();
    assert!(samples.contains(&true) && samples.contains(&false), "{samples:?}");
}

#[test]
fn what_is_to_be_typed_by_hand_is_a_conversation() {
    let quoted = fenced(PROTOCOL, "sh").into_iter().filter_map(|line| line.split('\'').nth(1));
    let typed: Vec<&str> = quoted.filter(|text| text.starts_with(['{', '"'])).collect();
    assert!(typed.len() > 1, "{typed:?}");
    for (i, line) in typed.into_iter().enumerate() {
        let message = parsed(line);
        assert_eq!(message.line(), line);
        assert!(matches!(&message, Message::Asked(_)), "'{line}' is what a worker says");
        assert_eq!(message.kind() == "hello asked", i == 0, "{line}");
    }
}

#[test]
fn the_readme_lists_every_check_in_the_order_in_which_they_run() {
    let named = |row: &'static str| row.strip_prefix("| `")?.split('`').next();
    let listed: Vec<&str> = CHECKS.lines().filter_map(named).collect();
    // Of the process, around all others.
    let mut checks = vec!["surroundings"];
    checks.extend(verify::CHECK_NAMES);
    // Of processes, and of all libraries together, after the others.
    checks.extend(["forks", "cross-library"]);
    assert_eq!(listed, checks);
}
