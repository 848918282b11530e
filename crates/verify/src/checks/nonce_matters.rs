//! Every byte of the nonce changes what comes out.

use super::key_matters::every_byte;
use crate::buffers::{Call, Placement};
use crate::context::Context;
use crate::finding::Verdict;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let len = context.algorithm.nonce_len;
    every_byte(context, ("nonce", len), &|context, session, _key, example, at| {
        let mut nonce = example.nonce.clone();
        nonce[at] ^= 1 << (at % 8);
        let call = Call { nonce: &nonce, ..example.call(session.direction()) };
        context.done(session, call, Placement::ALIGNED, format_args!(""))
    })
}
