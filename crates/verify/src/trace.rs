//! What a call left, kept to be compared with what another one leaves.

use crate::buffers::Placement;
use crate::context::Context;
use crate::difference::difference;
use crate::example::Example;
use crate::finding::Stop;
use contract::Session;

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
