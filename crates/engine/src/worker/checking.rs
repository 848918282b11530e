//! The worker's checks: every one of an algorithm, one published vector, one operation by hand.

use super::serve::{Replies, no_number, say};
use super::side_effects;
use crate::protocol::{Finding, Once, Reply, not_opened};
use base::model::Algorithm;
use contract::{Library, Message, Outcome};
use verify::vector_file::{Judged, Vector};

pub(super) fn verify_one(
    library: &'static dyn Library,
    name: &str,
    scope: &verify::Scope<'_>,
    replies: &mut Replies,
) -> std::io::Result<()> {
    let algorithm = match Algorithm::find(name) {
        Ok(algorithm) => algorithm,
        Err(e) => return say(replies, &no_number(Finding::failed(e.to_string()))),
    };
    let mut broken_pipe = None;
    let before = side_effects::Before::now();
    // Registers first: what is left in them can bring any other check down.
    let mut announce = |check: &str| {
        if let Err(e) = say(replies, &Reply::Checking { check: check.to_owned() }) {
            broken_pipe = Some(e);
        }
    };
    announce(side_effects::CHECK);
    let unchanged = || {
        let changed = before.changed();
        changed.map_err(|what| Finding::refused(format!("{}: {what}", side_effects::CHECK)))
    };
    let verified = side_effects::calls(library, algorithm).and_then(|mut calls| {
        unchanged()?;
        let passed =
            verify::verify(library, algorithm, scope, &mut announce).map_err(finding_of)?;
        announce(side_effects::CHECK);
        calls.remarks.extend(side_effects::periods(library, algorithm)?);
        unchanged()?;
        Ok((calls, passed))
    });
    if let Some(e) = broken_pipe {
        return Err(e);
    }
    let reply = verified.map_or_else(no_number, |(calls, passed)| all_passed(calls, passed));
    say(replies, &super::power::held_reply(reply))
}

fn all_passed(calls: side_effects::Calls, passed: verify::Passed) -> Reply {
    let check = |name: &str, count| record::Check { name: name.to_owned(), count };
    let own = (calls.count > 0).then(|| check(side_effects::CHECK, calls.count));
    let others = passed.checks.into_iter().map(|c| check(c.name, c.count));
    Reply::Verified {
        checks: own.into_iter().chain(others).collect(),
        digest: hex::encode(passed.digest),
        remarks: calls.remarks,
        tried: passed.tried,
    }
}

fn finding_of(finding: verify::Finding) -> Finding {
    match finding {
        verify::Finding::Unsupported(why) => Finding::unsupported(why),
        verify::Finding::Refused { check, why } => Finding::refused(format!("{check}: {why}")),
        verify::Finding::Failed(why) => Finding::failed(why),
    }
}

pub(super) fn judge(library: &dyn Library, algorithm: &str, vector: &Vector) -> Reply {
    let judged = Algorithm::find(algorithm)
        .map_err(|e| e.to_string())
        .and_then(|algorithm| verify::vector_file::judge(library, algorithm, vector));
    match super::power::held_judgement(judged) {
        Ok(judged) => Reply::Judged { rejected: judged == Judged::Rejected, wrong: None },
        Err(wrong) => Reply::Judged { rejected: false, wrong: Some(wrong) },
    }
}

pub(super) fn run_once(library: &dyn Library, once: &Once) -> Result<Reply, Finding> {
    let algorithm = Algorithm::find(&once.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
    let bytes = |what: &str, text: &str| {
        hex::decode(text).map_err(|e| Finding::failed(format!("{what}: {e}")))
    };
    let (key, nonce) = (bytes("key", &once.key)?, bytes("nonce", &once.nonce)?);
    let (aad, input) = (bytes("associated data", &once.aad)?, bytes("input", &once.input)?);
    let mut tag = bytes("tag", &once.tag)?;
    if (key.len(), nonce.len()) != (algorithm.key_len, algorithm.nonce_len) {
        return Err(Finding::failed("key or nonce has another length than the algorithm's"));
    }
    if !algorithm.sizes.allows(input.len()) {
        return Err(Finding::unsupported(algorithm.size_reason()));
    }
    tag.resize(algorithm.tag_len, 0);
    let mut session = library.open(algorithm, once.direction, &key).map_err(not_opened)?;
    if !session.has_message() {
        return Err(Finding::unsupported("the library does not offer whole messages"));
    }
    let mut output = vec![0; if algorithm.writes_output() { input.len() } else { 0 }];
    let (nonce, aad, input) = (&*nonce, &*aad, &*input);
    match session.message(Message { nonce, aad, input, output: &mut output, tag: &mut tag }) {
        Outcome::Done => Ok(Reply::Result { output: hex::encode(output), tag: hex::encode(tag) }),
        Outcome::Rejected => Err(Finding::refused("the tag is wrong: nothing was decrypted")),
        Outcome::Error(code) => Err(Finding::failed(format!("the library returned error {code}"))),
    }
}
