//! Signing what a server signs in TLS 1.3.

use super::api::{Method, number};
use super::keys::{Context, Key};
use super::{Library, no_such, owned};
use crate::stacks::bench::Trouble;
use crate::stacks::keys::{keys, known_key, public_key};
use crate::stacks::openssl::api::Ptr;
use crate::stacks::primitive::{Made, POOL, Results, Span, Workbench};
use crate::stacks::reference::{self as reference, Digest, ed25519_answer, verifies};
use record::tls::Scheme;
use std::ptr::{null, null_mut};

/// Bytes of a signature, at most: RSA of 4096 bits.
pub(super) const SIGNATURE: usize = 512;

/// A scheme's parts.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    pub(super) library: &'static Library,
    pub(super) scheme: Scheme,
    /// Ed25519 has none of its own to be told.
    pub(super) digest: Option<(Digest, Method)>,
    padding: Option<i32>,
}

impl Signature {
    pub(super) fn new(library: &'static Library, scheme: Scheme) -> Self {
        // SAFETY: they take nothing and return methods that live for ever.
        let (sha256, sha384) = unsafe { ((library.f.EVP_sha256)(), (library.f.EVP_sha384)()) };
        let digest = match scheme {
            Scheme::Ed25519 => None,
            Scheme::EcdsaP384 => Some((Digest::Sha384, sha384)),
            _ => Some((Digest::Sha256, sha256)),
        };
        let is_rsa = scheme.certificate().is_some_and(record::tls::Certificate::is_rsa);
        let padding = if scheme.is_pss() { number::PSS } else { number::PKCS1 };
        Self { library, scheme, digest, padding: is_rsa.then_some(padding) }
    }

    pub(super) fn method(&self) -> Method {
        self.digest.map_or(null(), |(_, method)| method)
    }

    /// Padding of RSA; PSS with a salt as long as the digest (RFC 8446 4.2.3).
    #[inline]
    pub(super) fn pad(&self, context: Ptr) -> Result<(), Trouble> {
        let Some(padding) = self.padding else { return Ok(()) };
        let f = &self.library.f;
        // SAFETY: the context is live and initialised for RSA; all take numbers.
        let (padded, salted) = unsafe {
            match (f.EVP_PKEY_CTX_set_rsa_padding, f.EVP_PKEY_CTX_set_rsa_pss_saltlen) {
                (Some(pad), Some(salt)) => (
                    pad(context, padding),
                    if padding == number::PSS { salt(context, number::SALT_AS_DIGEST) } else { 1 },
                ),
                _ => {
                    let control =
                        f.EVP_PKEY_CTX_ctrl.ok_or_else(|| Trouble::missing("EVP_PKEY_CTX_ctrl"))?;
                    let set = |operations, command, value| {
                        control(context, number::RSA, operations, command, value, null_mut())
                    };
                    let padded = set(-1, number::CTRL_PADDING, padding);
                    let salt = number::SALT_AS_DIGEST;
                    let salted = match padding {
                        number::PSS => set(number::OP_SIGNATURE, number::CTRL_SALT, salt),
                        _ => 1,
                    };
                    (padded, salted)
                }
            }
        };
        self.library.done(padded > 0, "EVP_PKEY_CTX_set_rsa_padding")?;
        self.library.done(salted > 0, "EVP_PKEY_CTX_set_rsa_pss_saltlen")
    }

    /// Tells a context which digest it gets.
    pub(super) fn tell_digest(&self, context: &Context) -> Result<(), Trouble> {
        let f = &self.library.f;
        let method = self.method();
        // SAFETY: the context is live and initialised; the method is the library's.
        let done = unsafe {
            match (f.EVP_PKEY_CTX_set_signature_md, f.EVP_PKEY_CTX_ctrl) {
                (Some(set), _) => set(context.raw, method),
                (None, Some(control)) => {
                    let (of, what) = (number::OP_ALL_SIGNATURES, number::CTRL_DIGEST);
                    control(context.raw, -1, of, what, 0, method.cast_mut())
                }
                (None, None) => 0,
            }
        };
        self.library.done(done > 0, "EVP_PKEY_CTX_set_signature_md")
    }

    /// What is signed: each member of the pool another.
    pub(super) fn messages(&self) -> Vec<Vec<u8>> {
        let kind = self.digest.map_or(Digest::Sha256, |(kind, _)| kind);
        (0..POOL as u8)
            .map(|member| certificate_verify(&reference::digest(kind, &[member])))
            .collect()
    }

    /// Their digests.
    pub(super) fn digests(&self, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let of = |message: &Vec<u8>| match self.digest {
            Some((kind, _)) => reference::digest(kind, message),
            None => message.clone(),
        };
        messages.iter().map(of).collect()
    }

    /// A signature of the library's with everything made for it.
    #[inline]
    pub(super) fn whole(
        &self,
        key: Ptr,
        message: &[u8],
        place: &mut [u8],
        length: &mut usize,
    ) -> Result<(), Trouble> {
        let context = DigestContext::new(self.library)?;
        context.start(self, key, self.library.f.EVP_DigestSignInit, "EVP_DigestSignInit")?;
        context.sign(message, place, length)
    }
}

/// What a server signs (RFC 8446 4.4.3).
fn certificate_verify(transcript: &[u8]) -> Vec<u8> {
    [&[0x20; 64][..], b"TLS 1.3, server CertificateVerify\0", transcript].concat()
}

owned! {
    /// `EVP_MD_CTX`.
    DigestContext, freed by |library| (library.f.EVP_MD_CTX_free)
}

/// `EVP_DigestSignInit` and its twin.
pub(super) type Start = unsafe extern "C" fn(Ptr, *mut Ptr, Method, Ptr, Ptr) -> i32;

impl DigestContext {
    #[inline]
    pub(super) fn new(library: &'static Library) -> Result<Self, Trouble> {
        // SAFETY: takes nothing.
        Self::of(library, unsafe { (library.f.EVP_MD_CTX_new)() }, "EVP_MD_CTX_new")
    }

    #[inline]
    pub(super) fn start(
        &self,
        signature: &Signature,
        key: Ptr,
        start: Start,
        call: &str,
    ) -> Result<(), Trouble> {
        let mut inner = null_mut();
        // SAFETY: context and key are live; the method is the library's or null.
        let done =
            unsafe { start(self.raw, &raw mut inner, signature.method(), null_mut(), key) } == 1;
        self.library.done(done, call)?;
        signature.pad(inner)
    }

    /// With the key and the method that it has.
    #[inline]
    pub(super) fn start_again(&self, start: Start, call: &str) -> Result<(), Trouble> {
        // SAFETY: the context is live and keeps key and method.
        let done = unsafe { start(self.raw, null_mut(), null(), null_mut(), null_mut()) };
        self.library.done(done == 1, call)
    }

    #[inline]
    fn sign(&self, message: &[u8], place: &mut [u8], length: &mut usize) -> Result<(), Trouble> {
        let (library, f) = (self.library, &self.library.f);
        *length = place.len();
        let (from, bytes) = (message.as_ptr(), message.len());
        // SAFETY: the context is ready; message and place are as long as is said.
        let done = unsafe {
            match f.EVP_DigestSign {
                Some(sign) => sign(self.raw, place.as_mut_ptr(), length, from, bytes),
                // LibreSSL 3.1 has it in two steps.
                None => {
                    let told = (f.EVP_DigestUpdate)(self.raw, from.cast(), bytes);
                    told & (f.EVP_DigestSignFinal)(self.raw, place.as_mut_ptr(), length)
                }
            }
        };
        library.done(done == 1, "EVP_DigestSign")
    }
}

/// What is ready for the call alone.
pub(super) enum Ready {
    /// For a digest.
    Digest(Context),
    /// For a message: Ed25519 has no other way. Newer versions want to be started again.
    Message(DigestContext, bool),
}

/// `EVP_PKEY_sign_init` or its twin, and `EVP_DigestSignInit` or its twin, each with its name.
pub(super) type Starts = ((unsafe extern "C" fn(Ptr) -> i32, &'static str), (Start, &'static str));

impl Ready {
    /// Starts for a key; `call` makes the call with a message.
    pub(super) fn new(
        signature: &Signature,
        key: &Key,
        ((init, of_init), (start, of_start)): Starts,
        mut call: impl FnMut(&DigestContext) -> Result<(), Trouble>,
    ) -> Result<Self, Trouble> {
        let library = signature.library;
        if signature.digest.is_some() {
            let context = Context::new(library, key.raw)?;
            // SAFETY: the context is live.
            library.done(unsafe { init(context.raw) } == 1, of_init)?;
            signature.pad(context.raw)?;
            signature.tell_digest(&context)?;
            return Ok(Self::Digest(context));
        }
        let context = DigestContext::new(library)?;
        context.start(signature, key.raw, start, of_start)?;
        call(&context)?;
        let wants_start = call(&context).is_err();
        library.forget_errors();
        Ok(Self::Message(context, wants_start))
    }

    /// For signing with a key.
    pub(super) fn to_sign(signature: &Signature, key: &Key) -> Result<Self, Trouble> {
        let f = &signature.library.f;
        let starts = (
            (f.EVP_PKEY_sign_init, "EVP_PKEY_sign_init"),
            (f.EVP_DigestSignInit, "EVP_DigestSignInit"),
        );
        Self::new(signature, key, starts, |context| {
            context.sign(b"once", &mut [0; SIGNATURE], &mut 0)
        })
    }

    /// Signs a digest, or with Ed25519 a message.
    #[inline]
    pub(super) fn sign(
        &self,
        library: &'static Library,
        digest: &[u8],
        place: &mut [u8],
        length: &mut usize,
    ) -> Result<(), Trouble> {
        let f = &library.f;
        match self {
            Self::Digest(context) => {
                *length = place.len();
                let (to, from) = (place.as_mut_ptr(), digest.as_ptr());
                // SAFETY: the context is ready; digest and place are as long as is said.
                let done =
                    unsafe { (f.EVP_PKEY_sign)(context.raw, to, length, from, digest.len()) };
                library.done(done == 1, "EVP_PKEY_sign")
            }
            Self::Message(context, wants_start) => {
                if *wants_start {
                    context.start_again(f.EVP_DigestSignInit, "EVP_DigestSignInit")?;
                }
                context.sign(digest, place, length)
            }
        }
    }
}

pub(super) fn open(library: &'static Library, scheme: Scheme) -> Made {
    let certificate = scheme.certificate().ok_or_else(|| no_such(scheme))?;
    let signature = Signature::new(library, scheme);
    let key = library.read_private(keys(certificate).key)?;
    let ready = Ready::to_sign(&signature, &key)?;
    let messages = signature.messages();
    let digests = signature.digests(&messages);
    let public = public_key(certificate);
    let results = Results::new(SIGNATURE);
    Ok(Box::new(Sign { signature, key, ready, messages, digests, public, results }))
}

struct Sign {
    signature: Signature,
    key: Key,
    ready: Ready,
    messages: Vec<Vec<u8>>,
    digests: Vec<Vec<u8>>,
    public: Vec<u8>,
    results: Results,
}

impl Sign {
    #[inline]
    fn call(&mut self, turn: usize) -> Result<(), Trouble> {
        let (place, length) = self.results.of(Span::Call, turn);
        self.ready.sign(self.signature.library, &self.digests[turn % POOL], place, length)
    }

    fn verifies(&self, member: usize, signature: &[u8]) -> bool {
        verifies(self.signature.scheme, &self.public, &self.messages[member], signature)
    }
}

impl Workbench for Sign {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        for turn in 0..times as usize {
            match span {
                Span::Whole => {
                    let (place, length) = self.results.of(span, turn);
                    let message = &self.messages[turn % POOL];
                    self.signature.whole(self.key.raw, message, place, length)?;
                }
                Span::Call => self.call(turn)?,
            }
        }
        Ok(())
    }

    fn examine(&mut self) -> Result<(), String> {
        let (mut place, mut length) = (vec![0; SIGNATURE], 0);
        let trouble = |t: Trouble| t.to_string();
        let message = &self.messages[0];
        self.signature.whole(self.key.raw, message, &mut place, &mut length).map_err(trouble)?;
        if !self.verifies(0, &place[..length]) {
            return Err("the signature does not verify".to_owned());
        }
        place[length / 2] ^= 1;
        if self.verifies(0, &place[..length]) {
            return Err("a signature with a changed bit verifies".to_owned());
        }
        let Some(pem) = known_key(self.signature.scheme) else { return Ok(()) };
        let (_, _, message, answer) = ed25519_answer();
        let key = self.signature.library.read_private(pem).map_err(trouble)?;
        self.signature.whole(key.raw, &message, &mut place, &mut length).map_err(trouble)?;
        if place[..length] != answer[..] {
            return Err("the standard's own answer does not come out".to_owned());
        }
        Ok(())
    }

    fn prove(&mut self) -> Result<(), String> {
        let right = |member: usize, signature: &[u8]| self.verifies(member, signature);
        self.results.are(right, "the signature does not verify")?;
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        let mut checks = vec![
            "every signature verifies with ring, each of another message than the one before"
                .to_owned(),
            "a changed bit is refused".to_owned(),
        ];
        if self.signature.scheme == Scheme::Ed25519 {
            checks.push("known answer of RFC 8032 7.1".to_owned());
        }
        checks
    }
}
