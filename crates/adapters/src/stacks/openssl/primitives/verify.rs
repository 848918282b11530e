//! Verifying what a server has signed.

use super::keys::Key;
use super::sign::{DigestContext, Ready, Signature};
use super::{Library, no_such};
use crate::stacks::bench::Trouble;
use crate::stacks::keys::{keys, public_key};
use crate::stacks::openssl::api::Ptr;
use crate::stacks::primitive::{Made, POOL, Span, Workbench};
use crate::stacks::reference::verifies;
use record::tls::Scheme;
use std::ffi::c_int;

pub(super) fn open(library: &'static Library, scheme: Scheme) -> Made {
    let certificate = scheme.certificate().ok_or_else(|| no_such(scheme))?;
    let signature = Signature::new(library, scheme);
    let private = library.read_private(keys(certificate).key)?;
    let key = library.public_part(&private)?;
    let messages = signature.messages();
    let signed = messages.iter().map(|message| {
        let (mut place, mut length) = (vec![0; 512], 0);
        signature.whole(private.raw, message, &mut place, &mut length)?;
        place.truncate(length);
        Ok(place)
    });
    let signatures = signed.collect::<Result<Vec<_>, Trouble>>()?;
    let digests = signature.digests(&messages);
    let f = &library.f;
    let starts = (
        (f.EVP_PKEY_verify_init, "EVP_PKEY_verify_init"),
        (f.EVP_DigestVerifyInit, "EVP_DigestVerifyInit"),
    );
    let ready = Ready::new(&signature, &key, starts, |context| {
        let done = verified(library, context.raw, &messages[0], &signatures[0]) == 1;
        library.done(done, "EVP_DigestVerify")
    })?;
    let public = public_key(certificate);
    let verify = Verify { signature, key, ready, messages, digests, signatures, public, turned: 0 };
    Ok(Box::new(verify))
}

#[inline]
fn verified(library: &Library, context: Ptr, message: &[u8], signature: &[u8]) -> c_int {
    let f = &library.f;
    let (from, bytes) = (message.as_ptr(), message.len());
    let (signature, length) = (signature.as_ptr(), signature.len());
    // SAFETY: the context is ready; message and signature are as long as is said.
    unsafe {
        match f.EVP_DigestVerify {
            Some(verify) => verify(context, signature, length, from, bytes),
            // LibreSSL 3.1 has it in two steps.
            None => match (f.EVP_DigestUpdate)(context, from.cast(), bytes) {
                1 => (f.EVP_DigestVerifyFinal)(context, signature, length),
                other => other,
            },
        }
    }
}

struct Verify {
    signature: Signature,
    key: Key,
    ready: Ready,
    messages: Vec<Vec<u8>>,
    digests: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
    public: Vec<u8>,
    /// Whose bit was changed last.
    turned: usize,
}

impl Verify {
    /// What the library says of a message and a signature.
    #[inline]
    fn says(
        &self,
        span: Span,
        message: &[u8],
        digest: &[u8],
        signed: &[u8],
    ) -> Result<c_int, Trouble> {
        let (library, f) = (self.signature.library, &self.signature.library.f);
        match (span, &self.ready) {
            (Span::Whole, _) => {
                let context = DigestContext::new(library)?;
                let start = f.EVP_DigestVerifyInit;
                context.start(&self.signature, self.key.raw, start, "EVP_DigestVerifyInit")?;
                Ok(verified(library, context.raw, message, signed))
            }
            (Span::Call, Ready::Digest(context)) => {
                let (at, length) = (signed.as_ptr(), signed.len());
                // SAFETY: the context is ready; both are as long as is said.
                Ok(unsafe {
                    (f.EVP_PKEY_verify)(context.raw, at, length, digest.as_ptr(), digest.len())
                })
            }
            (Span::Call, Ready::Message(context, wants_start)) => {
                if *wants_start {
                    context.start_again(f.EVP_DigestVerifyInit, "EVP_DigestVerifyInit")?;
                }
                Ok(verified(library, context.raw, message, signed))
            }
        }
    }

    /// With a bit of the signature changed, and with one of the message, nothing may verify.
    fn refuses_changes(&self, member: usize) -> Result<(), String> {
        let changed = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            bytes
        };
        let [message, digest, signed] =
            [&self.messages, &self.digests, &self.signatures].map(|all| &all[member][..]);
        for span in [Span::Whole, Span::Call] {
            let of_signature = self.says(span, message, digest, &changed(signed));
            let of_message = self.says(span, &changed(message), &changed(digest), signed);
            if of_signature == Ok(1) || of_message == Ok(1) {
                return Err("a changed bit was not noticed".to_owned());
            }
        }
        self.signature.library.forget_errors();
        Ok(())
    }
}

impl Workbench for Verify {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        for turn in 0..times as usize {
            let at = turn % POOL;
            let says =
                self.says(span, &self.messages[at], &self.digests[at], &self.signatures[at])?;
            self.signature.library.done(says == 1, "verifying")?;
        }
        Ok(())
    }

    fn examine(&mut self) -> Result<(), String> {
        let scheme = self.signature.scheme;
        let mut all = self.messages.iter().zip(&self.signatures);
        if all.any(|(message, signed)| !verifies(scheme, &self.public, message, signed)) {
            return Err("the signature does not verify".to_owned());
        }
        (0..POOL).try_for_each(|member| self.refuses_changes(member))
    }

    fn prove(&mut self) -> Result<(), String> {
        self.turned = (self.turned + 1) % POOL;
        self.refuses_changes(self.turned)
    }

    fn checks(&self) -> Vec<String> {
        vec![
            "the signatures verify with ring too".to_owned(),
            "after each batch a changed bit of a signature and one of a message are refused"
                .to_owned(),
        ]
    }
}
