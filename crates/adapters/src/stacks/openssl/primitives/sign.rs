//! Signing what a server signs in TLS 1.3, verifying it, and the digests and HMAC of a handshake.

use crate::stacks::connection::noise;
use crate::stacks::keys::{known_key, signing_key};
use crate::stacks::openssl::context::Ptr;
use crate::stacks::openssl::primitives::{
    Context, Key, Library, Method, done, no_such, number, owned,
};
use crate::stacks::reference::{
    Digest, SignatureAnswer, digest_answer, hmac_answer, signature_answer, verifier, verifies,
};
use crate::stacks::{Made, POOL, Results, Span, Trouble, Workbench, offered, reference};
use record::tls::Scheme;
use std::ffi::{c_int, c_uint};
use std::ptr::{null, null_mut};

/// Bytes of a signature, at most, but for ML-DSA: RSA of 4096 bits.
pub(crate) const SIGNATURE: usize = 512;

/// Signatures of ML-DSA in a sample, at least. A signer tries until what it has may be shown, four or five times on
/// average (FIPS 204, table 1), so that the time of a single one is a matter of chance; with fewer of them in a slow
/// library's sample than in a fast one's, medians would not compare. More would be disturbed too often.
const ATTEMPTED: u32 = 16;

/// A scheme's parts.
#[derive(Clone, Copy)]
pub(crate) struct Signature {
    pub(crate) library: &'static Library,
    pub(crate) scheme: Scheme,
    /// Ed25519, Ed448 and ML-DSA have none of their own to be told.
    pub(crate) digest: Option<(Digest, Method)>,
    padding: Option<i32>,
}

impl Signature {
    pub(crate) fn new(library: &'static Library, scheme: Scheme) -> Self {
        // SAFETY: they take nothing and return methods that live for ever.
        let [sha256, sha384, sha512] = unsafe {
            [(library.f.EVP_sha256)(), (library.f.EVP_sha384)(), (library.f.EVP_sha512)()]
        };
        let digest = match scheme {
            Scheme::Ed25519
            | Scheme::Ed448
            | Scheme::Mldsa44
            | Scheme::Mldsa65
            | Scheme::Mldsa87 => None,
            Scheme::EcdsaP384 => Some((Digest::Sha384, sha384)),
            Scheme::EcdsaP521 => Some((Digest::Sha512, sha512)),
            _ => Some((Digest::Sha256, sha256)),
        };
        let is_rsa = scheme.certificate().is_some_and(record::tls::Certificate::is_rsa);
        let padding = if scheme.is_pss() { number::PSS } else { number::PKCS1 };
        Self { library, scheme, digest, padding: is_rsa.then_some(padding) }
    }

    pub(crate) fn method(&self) -> Method {
        self.digest.map_or(null(), |(_, method)| method)
    }

    /// Whether the time that a signature takes is a matter of chance.
    fn is_by_lot(&self) -> bool {
        matches!(self.scheme, Scheme::Mldsa44 | Scheme::Mldsa65 | Scheme::Mldsa87)
    }

    /// Bytes of a signature, at most (FIPS 204, table 2).
    pub(crate) fn width(&self) -> usize {
        match self.scheme {
            Scheme::Mldsa44 => 2420,
            Scheme::Mldsa65 => 3309,
            Scheme::Mldsa87 => 4627,
            _ => SIGNATURE,
        }
    }

    /// Padding of RSA; PSS with a salt as long as the digest (RFC 8446 4.2.3).
    #[inline]
    pub(crate) fn pad(&self, context: Ptr) -> Result<(), Trouble> {
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
                    let control = offered!(f, EVP_PKEY_CTX_ctrl)?;
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

    pub(crate) fn tell_digest(&self, context: &Context) -> Result<(), Trouble> {
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
    pub(crate) fn messages(&self) -> Vec<Vec<u8>> {
        let kind = match self.digest {
            // No cipher suite has another one.
            Some((Digest::Sha384 | Digest::Sha512, _)) => Digest::Sha384,
            _ => Digest::Sha256,
        };
        (0..POOL as u8)
            .map(|member| certificate_verify(&reference::digest(kind, &[member])))
            .collect()
    }

    pub(crate) fn digests(&self, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let of = |message: &Vec<u8>| match self.digest {
            Some((kind, _)) => reference::digest(kind, message),
            None => message.clone(),
        };
        messages.iter().map(of).collect()
    }

    /// A signature of the library's with everything made for it.
    #[inline]
    pub(crate) fn whole(
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
    DigestContext, freed by |library| (library.f.EVP_MD_CTX_free)
}

/// `EVP_DigestSignInit` and its twin.
pub(crate) type Start = unsafe extern "C" fn(Ptr, *mut Ptr, Method, Ptr, Ptr) -> i32;

impl DigestContext {
    #[inline]
    pub(crate) fn new(library: &'static Library) -> Result<Self, Trouble> {
        // SAFETY: takes nothing.
        Self::of(library, unsafe { (library.f.EVP_MD_CTX_new)() }, "EVP_MD_CTX_new")
    }

    #[inline]
    pub(crate) fn start(
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
    pub(crate) fn start_again(&self, start: Start, call: &str) -> Result<(), Trouble> {
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
pub(crate) enum Ready {
    Digest(Context),
    /// For a message: Ed25519, Ed448 and ML-DSA have no other way. Newer versions want to be started again.
    Message(DigestContext, bool),
}

/// `EVP_PKEY_sign_init` or its twin, and `EVP_DigestSignInit` or its twin, each with its name.
pub(crate) type Starts = ((unsafe extern "C" fn(Ptr) -> i32, &'static str), (Start, &'static str));

impl Ready {
    /// Starts for a key; `call` makes the call with a message.
    pub(crate) fn new(
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

    pub(crate) fn to_sign(signature: &Signature, key: &Key) -> Result<Self, Trouble> {
        let f = &signature.library.f;
        let starts = (
            (f.EVP_PKEY_sign_init, "EVP_PKEY_sign_init"),
            (f.EVP_DigestSignInit, "EVP_DigestSignInit"),
        );
        let mut place = vec![0; signature.width()];
        Self::new(signature, key, starts, |context| context.sign(b"once", &mut place, &mut 0))
    }

    /// Signs a digest, or a message.
    #[inline]
    pub(crate) fn sign(
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
                unsafe {
                    done!(library, EVP_PKEY_sign(context.raw, to, length, from, digest.len()))
                }
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

pub(crate) fn open_sign(library: &'static Library, scheme: Scheme) -> Made {
    let (_, public) = signing_key(scheme).ok_or_else(|| no_such(scheme))?;
    let signature = Signature::new(library, scheme);
    let key = library.signing_key(scheme)?;
    let ready = Ready::to_sign(&signature, &key)?;
    let messages = signature.messages();
    let digests = signature.digests(&messages);
    let results = Results::new(signature.width());
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

    /// The private key of a signature that must come out.
    fn known(&self) -> Option<(&'static str, SignatureAnswer)> {
        let scheme = self.signature.scheme;
        known_key(scheme).zip(signature_answer(scheme).filter(|answer| answer.is_only))
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

    fn least(&self) -> u32 {
        if self.signature.is_by_lot() { ATTEMPTED } else { 1 }
    }

    fn examine(&mut self) -> Result<(), String> {
        let (mut place, mut length) = (vec![0; self.signature.width()], 0);
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
        let Some((pem, SignatureAnswer { message, signature, .. })) = self.known() else {
            return Ok(());
        };
        let key = self.signature.library.read_private(pem).map_err(trouble)?;
        self.signature.whole(key.raw, &message, &mut place, &mut length).map_err(trouble)?;
        if place[..length] != signature[..] {
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
        let by = verifier(self.signature.scheme);
        let mut checks = vec![
            format!(
                "every signature verifies with {by}, each of another message than the one before"
            ),
            "a changed bit is refused".to_owned(),
        ];
        checks.extend(self.known().map(|(_, of)| format!("known answer of {}", of.source)));
        checks
    }
}

pub(crate) fn open_verify(library: &'static Library, scheme: Scheme) -> Made {
    let (_, public) = signing_key(scheme).ok_or_else(|| no_such(scheme))?;
    let signature = Signature::new(library, scheme);
    let private = library.signing_key(scheme)?;
    let key = library.verifying_key(scheme, &private)?;
    let messages = signature.messages();
    let signed = messages.iter().map(|message| {
        let (mut place, mut length) = (vec![0; signature.width()], 0);
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

    /// A published signature must verify, where it is of the key that is held. Of others the signer is looked at.
    fn known_signature(&self) -> Result<(), String> {
        let Some(SignatureAnswer { message, signature, .. }) = self.known() else { return Ok(()) };
        let says = self.says(Span::Whole, &message, &message, &signature);
        if says.map_err(|t| t.to_string())? == 1 {
            Ok(())
        } else {
            Err("a published signature does not verify".to_owned())
        }
    }

    fn known(&self) -> Option<SignatureAnswer> {
        signature_answer(self.signature.scheme).filter(|answer| answer.public == self.public)
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
        self.known_signature()?;
        (0..POOL).try_for_each(|member| self.refuses_changes(member))
    }

    fn prove(&mut self) -> Result<(), String> {
        self.turned = (self.turned + 1) % POOL;
        self.refuses_changes(self.turned)
    }

    fn checks(&self) -> Vec<String> {
        let by = verifier(self.signature.scheme);
        let mut checks = vec![
            format!("the signatures verify with {by} too"),
            "after each batch a changed bit of a signature and one of a message are refused"
                .to_owned(),
        ];
        checks.extend(self.known().map(|of| format!("known answer of {}", of.source)));
        checks
    }
}

const DIGEST: usize = 64;

pub(crate) fn open_digest(library: &'static Library, scheme: Scheme, size: usize) -> Made {
    // SAFETY: they take nothing and return methods that live for ever.
    let (sha256, sha384) = unsafe { ((library.f.EVP_sha256)(), (library.f.EVP_sha384)()) };
    let (kind, method, name) = match scheme {
        Scheme::Sha256 | Scheme::HmacSha256 => (Digest::Sha256, sha256, c"SHA2-256"),
        _ => (Digest::Sha384, sha384, c"SHA2-384"),
    };
    let fetched = match library.f.EVP_MD_fetch {
        // SAFETY: the name is a C string; no library context, no properties. Kept as long as the process.
        Some(fetch) => unsafe { fetch(null_mut(), name.as_ptr(), null()) },
        None => method,
    };
    library.forget_errors();
    let fetched = if fetched.is_null() { method } else { fetched };
    let is_keyed = matches!(scheme, Scheme::HmacSha256 | Scheme::HmacSha384);
    let key = is_keyed.then(|| reference::digest(kind, b"key"));
    let bytes = noise(size + POOL);
    // Each input begins a byte later.
    let right = |start: usize| {
        let input = &bytes[start..][..size];
        match &key {
            Some(key) => reference::hmac(kind, key, input),
            None => reference::digest(kind, input),
        }
    };
    let right = (0..POOL).map(right).collect();
    let ready = match &key {
        Some(key) => DigestReady::Keyed(KeyedContext::new(library, fetched, key)?),
        None => DigestReady::Plain(DigestContext::new(library)?),
    };
    let results = Results::new(DIGEST);
    Ok(Box::new(Digesting {
        library,
        kind,
        method,
        fetched,
        key,
        bytes,
        size,
        right,
        ready,
        results,
    }))
}

owned! {
    KeyedContext, freed by |library| (library.f.HMAC_CTX_free)
}

impl KeyedContext {
    fn new(library: &'static Library, method: Method, key: &[u8]) -> Result<Self, Trouble> {
        // SAFETY: takes nothing.
        let context = Self::of(library, unsafe { (library.f.HMAC_CTX_new)() }, "HMAC_CTX_new")?;
        let (at, length) = (key.as_ptr().cast(), key.len() as c_int);
        // SAFETY: the context is live; the key is as long as is said and is copied.
        unsafe { done!(library, HMAC_Init_ex(context.raw, at, length, method, null_mut())) }?;
        Ok(context)
    }
}

enum DigestReady {
    Plain(DigestContext),
    Keyed(KeyedContext),
}

struct Digesting {
    library: &'static Library,
    kind: Digest,
    method: Method,
    /// The same, looked up once.
    fetched: Method,
    key: Option<Vec<u8>>,
    bytes: Vec<u8>,
    size: usize,
    /// What must come out of each input.
    right: Vec<Vec<u8>>,
    ready: DigestReady,
    results: Results,
}

impl Digesting {
    #[inline]
    fn whole(&self, input: &[u8], key: Option<&[u8]>, place: &mut [u8]) -> Result<usize, Trouble> {
        let f = &self.library.f;
        let (from, to, size) = (input.as_ptr(), place.as_mut_ptr(), input.len());
        let mut length: c_uint = 0;
        // SAFETY: input and key are as long as is said; a digest fits into the place.
        let done = unsafe {
            match key {
                Some(key) => {
                    let (at, bytes) = (key.as_ptr().cast(), key.len() as c_int);
                    !(f.HMAC)(self.method, at, bytes, from, size, to, &raw mut length).is_null()
                }
                None => {
                    let engine = null_mut();
                    (f.EVP_Digest)(from.cast(), size, to, &raw mut length, self.method, engine) == 1
                }
            }
        };
        self.library.done(done, if key.is_some() { "HMAC" } else { "EVP_Digest" })?;
        Ok(length as usize)
    }

    #[inline]
    fn call(&self, input: &[u8], place: &mut [u8]) -> Result<usize, Trouble> {
        let f = &self.library.f;
        let (from, to, size) = (input.as_ptr(), place.as_mut_ptr(), input.len());
        let mut length: c_uint = 0;
        // SAFETY: the contexts are live; the input is as long as is said; a digest fits into the place.
        let done = unsafe {
            match &self.ready {
                DigestReady::Plain(context) => {
                    (f.EVP_DigestInit_ex)(context.raw, self.fetched, null_mut()) == 1
                        && (f.EVP_DigestUpdate)(context.raw, from.cast(), size) == 1
                        && (f.EVP_DigestFinal_ex)(context.raw, to, &raw mut length) == 1
                }
                DigestReady::Keyed(context) => {
                    (f.HMAC_Init_ex)(context.raw, null(), 0, null(), null_mut()) == 1
                        && (f.HMAC_Update)(context.raw, from, size) == 1
                        && (f.HMAC_Final)(context.raw, to, &raw mut length) == 1
                }
            }
        };
        let name = if self.key.is_some() { "HMAC_Final" } else { "EVP_DigestFinal_ex" };
        self.library.done(done, name)?;
        Ok(length as usize)
    }
}

impl Workbench for Digesting {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        // Nothing is allocated inside the clock but by the library.
        let mut slots = std::mem::take(&mut self.results.0[span as usize]);
        let done = (0..times as usize).try_for_each(|turn| {
            let input = &self.bytes[turn % POOL..][..self.size];
            let (place, length) = slots.of(turn);
            *length = match span {
                Span::Whole => self.whole(input, self.key.as_deref(), place)?,
                Span::Call => self.call(input, place)?,
            };
            Ok(())
        });
        self.results.0[span as usize] = slots;
        done
    }

    fn examine(&mut self) -> Result<(), String> {
        let mut place = [0; DIGEST];
        let (key, input, answer) = match self.key {
            Some(_) => {
                let (key, input, answer) = hmac_answer(self.kind);
                (Some(key), input, answer)
            }
            None => {
                let (input, answer) = digest_answer(self.kind);
                (None, input, answer)
            }
        };
        let length = self.whole(input, key, &mut place).map_err(|t| t.to_string())?;
        if place[..length] != answer[..] {
            return Err("the standard's own answer does not come out".to_owned());
        }
        Ok(())
    }

    fn prove(&mut self) -> Result<(), String> {
        let right = |member: usize, digest: &[u8]| digest == &self.right[member][..];
        self.results.are(right, "the digest is wrong")?;
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        let source = if self.key.is_some() { "RFC 4231 4.3" } else { "FIPS 180-4's examples" };
        vec![
            "every digest is that of RustCrypto, each of other bytes than the one before"
                .to_owned(),
            format!("known answer of {source}"),
        ]
    }
}
