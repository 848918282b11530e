//! Digests, HMAC, and GMAC, which is GCM's `update` without a message.

use super::Request;
use super::api::{AeadMeta, DigestFn, HashMeta, InitFn, MacMeta, SetFn, UpdateFn, meta};
use crate::aligned::Aligned;
use crate::family::operations;
use base::model::{Mode, Primitive};
use contract::{Table, raw};
use std::ffi::CStr;

/// What a stream begins with. A digest is ready again after each message, with its key.
#[derive(Clone, Copy)]
enum Begin {
    /// Digests: `init`.
    Init(InitFn),
    /// HMAC: nothing sets it back but a finished message.
    Finish,
    /// GMAC: the nonce.
    Nonce(SetFn),
}

struct State {
    context: Aligned,
    begin: Begin,
    update: UpdateFn,
    digest: DigestFn,
    tag_len: usize,
    /// A stream was begun and not finished.
    open: bool,
}

/// Opens a digest or authentication code.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    let (state, words) = match request.algorithm.mode {
        Mode::Gmac => gmac(request)?,
        Mode::Hmac => hmac(request)?,
        _ => hash(request)?,
    };
    // GCM takes associated data in whole blocks but for the last part, and a part does not know
    // whether it is the last: there are no parts of a GMAC.
    let parts = !matches!(state.begin, Begin::Nonce(_));
    Some(Table::new(state, raw::IN_PLACE, words).parts_if(parts).raw())
}

fn hash_name(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        Primitive::Sha256 => "sha256",
        Primitive::Sha384 => "sha384",
        Primitive::Sha512 => "sha512",
        Primitive::Sha3_256 => "sha3_256",
        Primitive::Sha3_384 => "sha3_384",
        Primitive::Sha3_512 => "sha3_512",
        _ => return None,
    })
}

fn hash(request: &Request<'_>) -> Option<(State, &'static CStr)> {
    let name = hash_name(request.algorithm.cipher)?;
    let hash: &HashMeta = meta(&request.library.object, &format!("nettle_{name}"))?;
    let tag_len = request.algorithm.tag_len;
    if hash.digest_size as usize != tag_len {
        return None;
    }
    let mut context = Aligned::zeroed(hash.context_size as usize);
    // SAFETY: the context has the size that the library says; the digest function is of the
    // version that was asked for.
    let digest = unsafe {
        (hash.init)(context.as_mut_ptr());
        DigestFn::new(hash.digest, request.library.major)
    };
    let state = State {
        context,
        begin: Begin::Init(hash.init),
        update: hash.update,
        digest,
        tag_len,
        open: false,
    };
    Some((state, c"nettle_hash.update, nettle_hash.digest"))
}

fn hmac(request: &Request<'_>) -> Option<(State, &'static CStr)> {
    let name = hash_name(request.algorithm.cipher)?;
    let mac: &MacMeta = meta(&request.library.object, &format!("nettle_hmac_{name}"))?;
    let tag_len = request.algorithm.tag_len;
    if [mac.digest_size as usize, mac.key_size as usize] != [tag_len, request.key.len()] {
        return None;
    }
    let mut context = Aligned::zeroed(mac.context_size as usize);
    // SAFETY: as in `hash`; the key has the size that the library says.
    let digest = unsafe {
        (mac.set_key)(context.as_mut_ptr(), request.key.as_ptr());
        DigestFn::new(mac.digest, request.library.major)
    };
    let state =
        State { context, begin: Begin::Finish, update: mac.update, digest, tag_len, open: false };
    Some((state, c"nettle_mac.update, nettle_mac.digest"))
}

fn gmac(request: &Request<'_>) -> Option<(State, &'static CStr)> {
    let aead: &AeadMeta =
        meta(&request.library.object, &format!("nettle_gcm_{}", request.cipher_name()?))?;
    let algorithm = request.algorithm;
    let lens = [aead.key_size, aead.nonce_size, aead.digest_size].map(|n| n as usize);
    if lens != [algorithm.key_len, algorithm.nonce_len, algorithm.tag_len] {
        return None;
    }
    let mut context = Aligned::zeroed(aead.context_size as usize);
    // SAFETY: as in `hmac`.
    let digest = unsafe {
        (aead.set_encrypt_key)(context.as_mut_ptr(), request.key.as_ptr());
        DigestFn::new(aead.digest, request.library.major)
    };
    let state = State {
        context,
        begin: Begin::Nonce(aead.set_nonce),
        update: aead.update,
        digest,
        tag_len: algorithm.tag_len,
        open: false,
    };
    Some((state, c"nettle_aead.set_nonce, nettle_aead.update, nettle_aead.digest"))
}

operations! { impl for State;
    fn message(&mut self, m) {
        if self.open {
            self.set_back();
        }
        let context = self.context.as_mut_ptr();
        if let Begin::Nonce(set) = self.begin {
            set(context, m.nonce);
        }
        (self.update)(context, m.len, m.input);
        self.digest.call(context, self.tag_len, m.tag);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        if self.open {
            self.set_back();
        }
        self.open = true;
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        (self.update)(self.context.as_mut_ptr(), len, input);
        raw::OK
    }

    fn finish(&mut self, tag) {
        self.digest.call(self.context.as_mut_ptr(), self.tag_len, tag);
        self.open = false;
        raw::OK
    }
}

impl State {
    /// Leaves a stream that was not finished.
    fn set_back(&mut self) {
        let (context, mut tag) = (self.context.as_mut_ptr(), [0; 64]);
        // SAFETY: the context is the functions' own; no tag is longer than sixty-four bytes.
        unsafe {
            match self.begin {
                Begin::Init(init) => init(context),
                Begin::Finish => self.digest.call(context, self.tag_len, tag.as_mut_ptr()),
                // Each message begins with its nonce, and there are no parts.
                Begin::Nonce(_) => {}
            }
        }
        self.open = false;
    }
}
