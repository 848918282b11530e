//! What the library encrypts, it decrypts to the message again.

use crate::buffers::Call;
use crate::buffers::Placement;
use crate::context::Context;
use crate::difference::difference;
use crate::finding::{Verdict, refuse};
use crate::sizes;
use base::model::{AAD_LEN, Direction};

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let algorithm = context.algorithm;
    let mut inputs = context.inputs("round-trip");
    let key = inputs.key();
    let mut encrypt = context.open(Direction::Encrypt, &key)?;
    let mut decrypt = context.open(Direction::Decrypt, &key)?;
    let aad_len = if algorithm.takes_aad() { AAD_LEN } else { 0 };
    let mut count = 0;
    for len in sizes::sweep(algorithm).chain(sizes::few(algorithm)) {
        let (nonce, aad) = (inputs.bytes(algorithm.nonce_len), inputs.bytes(aad_len));
        let plaintext = inputs.bytes(len);
        let call = Call { nonce: &nonce, aad: &aad, input: &plaintext, tag: None };
        context.done(&mut encrypt, call, Placement::ALIGNED, format_args!(""))?;
        let (ciphertext, tag) = (context.buffers.output().to_vec(), context.buffers.tag().to_vec());
        let call = Call { input: &ciphertext, tag: Some(&tag), ..call };
        let note = format_args!(" of what it encrypted");
        context.done(&mut decrypt, call, Placement::ALIGNED, note)?;
        let output = context.buffers.output();
        if let Some(what) = difference(output, &plaintext, "the output", "the message") {
            return refuse(format!("encrypt and decrypt of {len} bytes: {what}"));
        }
        count += 1;
    }
    Ok(count)
}
