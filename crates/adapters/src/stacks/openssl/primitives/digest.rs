//! Digests, and HMAC.

use super::api::Method;
use super::sign::DigestContext;
use super::{Library, owned};
use crate::stacks::bench::Trouble;
use crate::stacks::openssl::api::Ptr;
use crate::stacks::primitive::{Made, POOL, Results, Span, Workbench};
use crate::stacks::reference::{self as reference, Digest, digest_answer, hmac_answer};
use crate::stacks::transfer::noise;
use record::tls::Scheme;
use std::ffi::{c_int, c_uint};
use std::ptr::{null, null_mut};

/// Bytes of a digest, at most.
const DIGEST: usize = 64;

pub(super) fn open(library: &'static Library, scheme: Scheme, size: usize) -> Made {
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
        Some(key) => Ready::Keyed(KeyedContext::new(library, fetched, key)?),
        None => Ready::Plain(DigestContext::new(library)?),
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
    /// `HMAC_CTX`.
    KeyedContext, freed by |library| (library.f.HMAC_CTX_free)
}

impl KeyedContext {
    fn new(library: &'static Library, method: Method, key: &[u8]) -> Result<Self, Trouble> {
        // SAFETY: takes nothing.
        let context = Self::of(library, unsafe { (library.f.HMAC_CTX_new)() }, "HMAC_CTX_new")?;
        let (at, length) = (key.as_ptr().cast(), key.len() as c_int);
        // SAFETY: the context is live; the key is as long as is said and is copied.
        let done =
            unsafe { (library.f.HMAC_Init_ex)(context.raw, at, length, method, null_mut()) } == 1;
        library.done(done, "HMAC_Init_ex")?;
        Ok(context)
    }
}

enum Ready {
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
    ready: Ready,
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
                Ready::Plain(context) => {
                    (f.EVP_DigestInit_ex)(context.raw, self.fetched, null_mut()) == 1
                        && (f.EVP_DigestUpdate)(context.raw, from.cast(), size) == 1
                        && (f.EVP_DigestFinal_ex)(context.raw, to, &raw mut length) == 1
                }
                Ready::Keyed(context) => {
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
