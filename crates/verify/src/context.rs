//! What every check works with: the library, the algorithm, the buffers; verdicts: what a verification tries,
//! what it ends with, and the words for where two byte strings differ; and what a call left, kept to be
//! compared with what another one leaves.

use crate::inputs::{Buffers, Call, Example, Inputs, MAX_LEN, Placement, may_be_refused};
use crate::reference::Reference;
use base::model::{AAD_LEN, Algorithm, Direction, Kind};
use contract::{Library, OpenError, Outcome, OwnVector, Session};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::{self, Arguments};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    /// How many single comparisons it made: never 0.
    pub count: u64,
}

/// Everything that could be checked was, and nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The checks, in the order in which they ran. Checks of what the library does not offer
    /// (`in-place`, `stream`) are missing.
    pub checks: Vec<Check>,
    /// SHA-256 over every output and tag of the check `reference`: the same for every library
    /// that computes this algorithm.
    pub digest: [u8; 32],
    pub tried: Tried,
}

/// Why an algorithm of a library is not to be timed. Texts are one line without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// The library does not have the algorithm, or not in both directions.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// A check found something.
    #[error("refused by the check {check}: {why}")]
    Refused {
        check: &'static str,
        /// Direction, size, and what differed.
        why: String,
    },
    /// The library has the algorithm but could not open it.
    #[error("failed: {0}")]
    Failed(String),
}

#[derive(Debug)]
pub(crate) enum Stop {
    /// It found something.
    Refused(String),
    Failed(String),
}

impl Stop {
    /// The finding, under the name of the check that was running.
    pub(crate) fn during(self, check: &'static str) -> Finding {
        match self {
            Self::Refused(why) => Finding::Refused { check, why },
            Self::Failed(why) => Finding::Failed(why),
        }
    }
}

/// The number of comparisons that were made, all of which held.
pub(crate) type Verdict = Result<u64, Stop>;

/// Ends a check with what it found.
pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Refused(why.into()))
}

/// The library's words on an opening that did not succeed.
pub(crate) fn words(error: OpenError) -> String {
    match error {
        OpenError::Unsupported(why) | OpenError::Failed(why) => why,
    }
}

// What a verification tries beside what every one tries, and what it came to.

/// What is tried beside the fixed inputs, which are the same in every verification.
pub struct Scope<'a> {
    /// Sizes, messages and the order of calls are drawn from it.
    pub seed: u64,
    /// Message sizes to check, in bytes. Those that an algorithm does not define are left out.
    pub sizes: &'a [usize],
    /// CPU time that the calling thread has spent. It bounds what slow libraries are asked for; the crate has
    /// no clock of its own.
    pub spent: &'a dyn Fn() -> Duration,
}

impl Scope<'_> {
    /// No sizes but a few drawn ones, and hundreds of repeated calls: for tests of other things.
    pub const BRIEF: Scope<'static> = Scope { seed: 0, sizes: &[], spent: &impatient };
}

/// A clock that moves by 20 ms whenever it is looked at, so that what is bounded by time ends alike everywhere.
fn impatient() -> Duration {
    thread_local!(static LOOKS: Cell<u64> = const { Cell::new(0) });
    Duration::from_millis(20 * LOOKS.replace(LOOKS.get() + 1))
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("seed", &self.seed)
            .field("sizes", &self.sizes)
            .finish_non_exhaustive()
    }
}

/// What was tried beside the fixed inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Sizes that were asked for and checked, in bytes.
    pub asked: Vec<usize>,
    /// Sizes that were drawn and checked, in bytes.
    pub drawn: Vec<usize>,
    /// Sizes, asked for or drawn, that the library's interface does not take, in bytes.
    pub not_taken: Vec<usize>,
    /// Repeated calls, by direction.
    pub repeated: Vec<Repeated>,
}

/// Calls of one session, each compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    pub direction: Direction,
    pub calls: u64,
    /// How many of these were forgeries, all rejected.
    pub forgeries: u64,
    /// Whether time ended them before all that are wanted were made.
    pub cut_short: bool,
}
/// The first difference between what a library left and what should be there; `None` when there
/// is none. `part` names what is compared (`the output`, `the tag`), `source` who says so.
pub(crate) fn difference(got: &[u8], want: &[u8], part: &str, source: &str) -> Option<String> {
    if got == want {
        return None;
    }
    let at = got.iter().zip(want).position(|(g, w)| g != w);
    Some(match at {
        Some(at) => {
            format!("byte {at} of {part} is {:02x}, {source} has {:02x}", got[at], want[at])
        }
        None => format!("{part} has {} bytes, {source} has {}", got.len(), want.len()),
    })
}

/// What a check starts with.
pub(crate) struct Setup<'a> {
    pub(crate) inputs: Inputs,
    pub(crate) key: Vec<u8>,
    pub(crate) reference: Reference<'a>,
}

/// One library and one algorithm under verification.
pub(crate) struct Context<'a> {
    library: &'a dyn Library,
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) buffers: Buffers,
    pub(crate) tried: Tried,
    scope: &'a Scope<'a>,
    progress: &'a mut dyn FnMut(&'static str),
    digest: Sha256,
    /// How everything began that was drawn at random.
    drawn: HashSet<Beginning>,
}

/// As much of a draw as no other draw begins with by chance.
pub(crate) type Beginning = [u8; 12];

impl<'a> Context<'a> {
    /// Finds out whether the library offers the algorithm in every direction.
    pub(crate) fn new(
        library: &'a dyn Library,
        algorithm: &'static Algorithm,
        scope: &'a Scope<'a>,
        progress: &'a mut dyn FnMut(&'static str),
    ) -> Result<Self, Finding> {
        let key = Inputs::new(algorithm, "offer").key();
        for &direction in Direction::of(algorithm.kind) {
            let session = library.open(algorithm, direction, &key).map_err(|e| match e {
                OpenError::Unsupported(why) => Finding::Unsupported(format!("{direction}: {why}")),
                OpenError::Failed(why) => Finding::Failed(format!("open for {direction}: {why}")),
            })?;
            if !session.has_message() {
                // A stream alone makes and checks no tag, so it could not be proven right.
                let why = format!("{direction}: the adapter offers no whole messages");
                return Err(Finding::Unsupported(why));
            }
        }
        let (buffers, digest, tried) = (Buffers::new(MAX_LEN), Sha256::new(), Tried::default());
        let drawn = HashSet::new();
        Ok(Self { library, algorithm, buffers, tried, scope, progress, digest, drawn })
    }

    /// What was tried, and the digest over everything that [`Context::record`] was given.
    pub(crate) fn into_results(self) -> (Tried, [u8; 32]) {
        (self.tried, self.digest.finalize().into())
    }

    /// Says that a check begins, or that a long one is still at work.
    pub(crate) fn announce(&mut self, check: &'static str) {
        (self.progress)(check);
    }

    /// The sizes that were asked for and that the algorithm defines.
    pub(crate) fn asked(&self) -> Vec<usize> {
        let sizes = self.scope.sizes.iter().copied();
        sizes.filter(|len| self.algorithm.sizes.allows(*len)).collect()
    }

    /// CPU time that was spent so far.
    pub(crate) fn spent(&self) -> Duration {
        (self.scope.spent)()
    }

    /// The library, for threads of a check's own.
    pub(crate) fn library(&self) -> &'a dyn Library {
        self.library
    }

    pub(crate) fn directions(&self) -> &'static [Direction] {
        Direction::of(self.algorithm.kind)
    }

    /// The check's own stream of inputs.
    pub(crate) fn inputs(&self, check: &str) -> Inputs {
        Inputs::new(self.algorithm, check)
    }

    /// As [`Context::inputs`], drawn for this verification.
    pub(crate) fn drawn(&self, check: &str) -> Inputs {
        Inputs::drawn(self.algorithm, check, self.scope.seed)
    }

    /// The check's own stream of inputs, and a key from it.
    pub(crate) fn setup(&self, check: &str) -> Setup<'a> {
        self.setup_of(self.inputs(check))
    }

    /// With the inputs' first key.
    pub(crate) fn setup_of(&self, mut inputs: Inputs) -> Setup<'a> {
        let key = inputs.key();
        let reference = self.reference(&key);
        Setup { inputs, key, reference }
    }

    /// What the answers under a key are compared with.
    pub(crate) fn reference(&self, key: &[u8]) -> Reference<'a> {
        Reference::of(self.library, self.algorithm, key)
    }

    /// The vectors of a library that brings the algorithm.
    pub(crate) fn own_vectors(&self) -> &'a [OwnVector] {
        let mut own = self.library.brings().iter();
        own.find(|b| b.algorithm.name == self.algorithm.name).map_or(&[], |b| &b.vectors)
    }

    /// Opens a session in every direction, has `each` look at an example of every size, and adds up what it
    /// compared.
    pub(crate) fn every_example(
        &mut self,
        check: &str,
        sizes: impl Iterator<Item = usize>,
        mut each: impl FnMut(&mut Self, &mut Session, &Example) -> Verdict,
    ) -> Verdict {
        let Setup { mut inputs, key, reference } = self.setup(check);
        let sizes: Vec<usize> = sizes.collect();
        let mut count = 0;
        for &direction in self.directions() {
            let mut session = self.open(direction, &key)?;
            for len in &sizes {
                let example = inputs.example(&reference, *len, AAD_LEN);
                count += each(self, &mut session, &example)?;
            }
        }
        Ok(count)
    }

    pub(crate) fn open(&self, direction: Direction, key: &[u8]) -> Result<Session, Stop> {
        self.library.open(self.algorithm, direction, key).map_err(|e| {
            // Another key was opened before this one, so the algorithm is there.
            Stop::Failed(format!("open for {direction} under another key: {}", words(e)))
        })
    }

    /// A session of the same algorithm with a vector's lengths; `None` where the library does not take these.
    pub(crate) fn open_with_lengths(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Option<Session>, Stop> {
        match self.library.open(algorithm, direction, key) {
            Ok(session) => Ok(Some(session)),
            Err(OpenError::Unsupported(_)) => Ok(None),
            Err(OpenError::Failed(why)) => {
                Err(Stop::Failed(format!("open with a published vector's lengths: {why}")))
            }
        }
    }

    /// Makes a call that must succeed; leaves its results in the buffers.
    pub(crate) fn done(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
        note: Arguments<'_>,
    ) -> Result<(), Stop> {
        let outcome = self.buffers.call(session, call, placement);
        succeeded(outcome, session.direction(), call.input.len(), note)
    }

    /// Makes a call that must not fail, and says whether its message was accepted. Checks of one
    /// narrow thing leave it to `known-answers`, `tamper` and `reference` to judge rejections, so
    /// that a fault goes by its own name and not by the wrong tag that it also causes.
    pub(crate) fn accepted(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
    ) -> Result<bool, Stop> {
        let outcome = self.buffers.call(session, call, placement);
        let decrypt = session.direction() == Direction::Decrypt;
        if outcome == Outcome::Rejected && decrypt && self.algorithm.rejects() {
            return Ok(false);
        }
        succeeded(outcome, session.direction(), call.input.len(), format_args!(""))?;
        Ok(true)
    }

    /// Makes a decryption that must reject its message: `what` is a message by what is wrong with it.
    pub(crate) fn rejected(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
        what: Arguments<'_>,
    ) -> Verdict {
        match self.buffers.call(session, call, placement) {
            Outcome::Rejected => Ok(1),
            Outcome::Done => refuse(format!("decryption accepted {what}")),
            Outcome::Error(code) => refuse(format!(
                "decryption of {what} returned error code {code} and must reject it"
            )),
        }
    }

    /// Decrypts under a wrong tag. What comes of it is looked at by the check `tamper`.
    pub(crate) fn forge(&mut self, session: &mut Session, example: &Example) {
        let mut tag = example.tag.clone();
        tag[0] ^= 1;
        let call = Call { tag: Some(&tag), ..example.call(Direction::Decrypt) };
        let _ = self.buffers.call(session, call, Placement::ALIGNED);
    }

    /// Makes a call that must leave the example's answer, and nothing else where nothing is due.
    pub(crate) fn answer(
        &mut self,
        session: &mut Session,
        example: &Example,
        placement: Placement,
        note: Arguments<'_>,
    ) -> Verdict {
        self.done(session, example.call(session.direction()), placement, note)?;
        self.compare(session.direction(), example, note)
    }

    /// As [`Context::answer`]; or, where interfaces end by their nature, an error that says
    /// so: a wrong answer is what must not be.
    pub(crate) fn answer_if_taken(
        &mut self,
        session: &mut Session,
        example: &Example,
        placement: Placement,
        note: Arguments<'_>,
    ) -> Verdict {
        if may_be_refused(self.algorithm, example.plaintext.len(), example.aad.len()) {
            let call = example.call(session.direction());
            if let Outcome::Error(_) = self.buffers.call(session, call, placement) {
                return Ok(0);
            }
        }
        self.answer(session, example, placement, note)
    }

    /// Refuses a draw that begins as an earlier one did: by any call of this verification.
    pub(crate) fn is_new(&mut self, draw: &[u8], what: Arguments<'_>) -> Verdict {
        let Some(beginning) = draw.first_chunk() else { return Ok(1) };
        if self.drawn.insert(*beginning) {
            return Ok(1);
        }
        refuse(format!("{what} gave what another call had given"))
    }

    /// Compares what is in the buffers with the example's answer. What is drawn has none: it must be new.
    pub(crate) fn compare(
        &mut self,
        direction: Direction,
        example: &Example,
        note: Arguments<'_>,
    ) -> Verdict {
        if self.algorithm.kind == Kind::Random {
            let draw = self.buffers.output().to_vec();
            let len = draw.len();
            if len >= size_of::<Beginning>() && draw.iter().all(|b| *b == self.buffers.fill) {
                return refuse(format!("{direction} of {len} bytes{note} wrote nothing"));
            }
            return self.is_new(&draw, format_args!("{direction} of {len} bytes{note}"));
        }
        let (output, tag) = (self.buffers.output(), self.buffers.tag());
        let wrong = match example.output(direction) {
            Some(want) => difference(output, want, "the output", example.source),
            None => output
                .iter()
                .position(|b| *b != self.buffers.fill)
                .map(|at| format!("byte {at} of the output was written and must be left alone")),
        };
        let part = if direction == Direction::Digest { "the digest" } else { "the tag" };
        let wrong = wrong.or_else(|| difference(tag, &example.tag, part, example.source));
        match wrong {
            Some(what) => {
                let len = example.plaintext.len();
                refuse(format!(
                    "{direction} of {}{note}: {what}",
                    self.algorithm.size_in_words(len)
                ))
            }
            None => Ok(1 + u64::from(!tag.is_empty())),
        }
    }

    /// The last call, of a message of `len` bytes, wrote nothing around any part.
    pub(crate) fn stayed_within(
        &self,
        direction: Direction,
        len: usize,
        note: Arguments<'_>,
    ) -> Result<(), Stop> {
        match self.buffers.stray(direction) {
            Some(place) => refuse(format!("{direction} of {len} bytes{note} wrote {place}")),
            None => Ok(()),
        }
    }

    /// Adds what is in the buffers to the digest.
    pub(crate) fn record(&mut self) {
        self.digest.update(self.buffers.output());
        self.digest.update(self.buffers.tag());
    }
}

/// Whether a call of valid input succeeded.
pub(crate) fn succeeded(
    outcome: Outcome,
    direction: Direction,
    len: usize,
    note: Arguments<'_>,
) -> Result<(), Stop> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Rejected => {
            refuse(format!("{direction} of {len} bytes{note} rejected a valid message"))
        }
        Outcome::Error(code) => {
            refuse(format!("{direction} of {len} bytes{note} returned error code {code}"))
        }
    }
}

/// What a call left.
#[derive(Debug)]
pub(crate) struct Trace {
    accepted: bool,
    /// Empty after a rejection: nothing is due then.
    output: Vec<u8>,
    tag: Vec<u8>,
}

impl Trace {
    /// Makes the call.
    pub(crate) fn of(
        context: &mut Context<'_>,
        session: &mut Session,
        example: &Example,
    ) -> Result<Self, Stop> {
        let call = example.call(session.direction());
        let accepted = context.accepted(session, call, Placement::ALIGNED)?;
        let output = if accepted { context.buffers.output().to_vec() } else { Vec::new() };
        Ok(Self { accepted, output, tag: context.buffers.tag().to_vec() })
    }

    /// Where this differs from an earlier trace, whose call is named `earlier`.
    pub(crate) fn difference(&self, other: &Self, earlier: &str) -> Option<String> {
        if self.accepted != other.accepted {
            let word = |accepted| if accepted { "accepted" } else { "rejected" };
            let (now, before) = (word(self.accepted), word(other.accepted));
            return Some(format!("the message is {now}, {earlier} {before} it"));
        }
        difference(&self.output, &other.output, "the output", earlier)
            .or_else(|| difference(&self.tag, &other.tag, "the tag", earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_bytes() {
        assert_eq!(difference(b"same", b"same", "the tag", "the reference"), None);
        assert_eq!(
            difference(&[1, 2, 3], &[1, 0xa0, 0xff], "the output", "the reference").as_deref(),
            Some("byte 1 of the output is 02, the reference has a0")
        );
        assert_eq!(
            difference(&[1], &[1, 2], "the output", "the vector").as_deref(),
            Some("the output has 1 bytes, the vector has 2")
        );
    }
}
