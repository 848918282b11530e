//! MACs that the library has no functions of their own for, by its general ones: HMAC over any digest, which
//! Nettle 4 dropped, and CMAC over any block cipher of 128 bits.

use crate::family::{Aligned, In, Out, operations, steps};
use crate::nettle::{CipherFn, HashMeta, Request, hash_name, meta, plenty, schedule};
use base::model::Mode;
use contract::{Table, functions, raw};
use std::ffi::c_void;

struct State<M> {
    mac: M,
    /// A stream was begun and not finished.
    open: bool,
}

pub(super) fn open_mac(request: &Request<'_>) -> Option<raw::Session> {
    if request.algorithm.mode == Mode::Cmac {
        let words = c"nettle_cmac128_update, nettle_cmac128_digest";
        let state = State { mac: Cmac::new(request)?, open: false };
        return Some(Table::new(state, raw::IN_PLACE, words).parts().raw());
    }
    let words = c"nettle_hmac_update, nettle_hmac_digest";
    let state = State { mac: Hmac::new(request)?, open: false };
    Some(Table::new(state, raw::IN_PLACE, words).parts().raw())
}

trait Mac {
    /// # Safety
    /// The bytes cover their length.
    unsafe fn update(&mut self, len: usize, bytes: *const u8);

    /// The end of a message, which makes the state ready for the next one.
    ///
    /// # Safety
    /// `tag` covers the algorithm's tag.
    unsafe fn digest(&mut self, tag: *mut u8);
}

impl<M: Mac> State<M> {
    /// Leaves a stream that was not finished: nothing sets the state back but the end of a message.
    fn set_back(&mut self) {
        if self.open {
            let mut tag = [0; 64];
            // SAFETY: no tag is longer.
            unsafe { self.mac.digest(tag.as_mut_ptr()) };
            self.open = false;
        }
    }
}

operations! { impl[M: Mac] for State<M>;
    fn message(&mut self, m) {
        self.set_back();
        self.mac.update(m.len, m.input);
        self.mac.digest(m.tag);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        self.set_back();
        self.open = true;
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        self.mac.update(len, input);
        raw::OK
    }

    fn finish(&mut self, tag) {
        self.mac.digest(tag);
        self.open = false;
        raw::OK
    }
}

functions! {
    /// hmac.h.
    struct HmacFunctions {
        /// Contexts of the outer and the inner digest and of the message, description, length, key.
        nettle_hmac_set_key: fn(*mut c_void, *mut c_void, *mut c_void, *const HashMeta, usize, In);
        /// Context of the message, description, length, bytes.
        nettle_hmac_update: fn(*mut c_void, *const HashMeta, usize, In);
        /// As `nettle_hmac_set_key`, with the tag in the key's place.
        nettle_hmac_digest: fn(*const c_void, *const c_void, *mut c_void, *const HashMeta, usize, Out);
    }
}

/// HMAC over a digest that is described.
struct Hmac {
    outer: Aligned,
    inner: Aligned,
    message: Aligned,
    hash: &'static HashMeta,
    f: HmacFunctions,
    tag_len: usize,
}

impl Hmac {
    fn new(request: &Request<'_>) -> Option<Self> {
        // `nettle_hmac_digest` would have another type.
        if request.library.major >= 4 {
            return None;
        }
        let name = hash_name(request.algorithm.cipher)?;
        let hash: &HashMeta = meta(&request.library.object, &format!("nettle_{name}"))?;
        let tag_len = request.algorithm.tag_len;
        if hash.digest_size as usize != tag_len {
            return None;
        }
        let f = HmacFunctions::of(&request.library.object).ok()?;
        let [mut outer, mut inner, mut message] =
            [(); 3].map(|()| Aligned::zeroed(hash.context_size as usize));
        // SAFETY: the contexts have the size that the library says; the key covers its length.
        unsafe {
            (f.nettle_hmac_set_key)(
                outer.as_mut_ptr(),
                inner.as_mut_ptr(),
                message.as_mut_ptr(),
                hash,
                request.key.len(),
                request.key.as_ptr(),
            );
        }
        Some(Self { outer, inner, message, hash, f, tag_len })
    }
}

steps! { impl Mac for Hmac;
    fn update(&mut self, len: usize, bytes: In) {
        (self.f.nettle_hmac_update)(self.message.as_mut_ptr(), self.hash, len, bytes);
    }

    fn digest(&mut self, tag: Out) {
        let (outer, inner) = (self.outer.as_ptr(), self.inner.as_ptr());
        let message = self.message.as_mut_ptr();
        (self.f.nettle_hmac_digest)(outer, inner, message, self.hash, self.tag_len, tag);
    }
}

functions! {
    /// cmac.h.
    struct CmacFunctions {
        /// Subkeys, cipher, its function.
        nettle_cmac128_set_key: fn(*mut c_void, *const c_void, CipherFn);
        /// Message.
        nettle_cmac128_init: fn(*mut c_void);
        /// Message, cipher, its function, length, bytes.
        nettle_cmac128_update: fn(*mut c_void, *const c_void, CipherFn, usize, In);
    }
}

/// `cmac128_digest`: message, subkeys, cipher, its function, and before Nettle 4 the tag's length; tag.
#[derive(Clone, Copy)]
enum CmacDigest {
    Part(unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, CipherFn, u32, Out)),
    Whole(unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, CipherFn, Out)),
}

/// CMAC over a block cipher that is described. Since Nettle 3.5.
struct Cmac {
    message: Aligned,
    subkeys: Aligned,
    cipher: Aligned,
    encrypt: CipherFn,
    f: CmacFunctions,
    digest: CmacDigest,
}

impl Cmac {
    fn new(request: &Request<'_>) -> Option<Self> {
        let cipher = request.cipher().filter(|cipher| cipher.block_size == TAG_LEN)?;
        let f = CmacFunctions::of(&request.library.object).ok()?;
        // SAFETY: cmac.h, for the version.
        let digest = unsafe {
            if request.library.major < 4 {
                CmacDigest::Part(request.function("nettle_cmac128_digest")?)
            } else {
                CmacDigest::Whole(request.function("nettle_cmac128_digest")?)
            }
        };
        let context = schedule(cipher, cipher.set_encrypt_key, request.key);
        // `struct cmac128_key` has 32 bytes, `struct cmac128_ctx` 40.
        let (mut subkeys, mut message) = (plenty(), plenty());
        // SAFETY: the contexts have room.
        unsafe {
            (f.nettle_cmac128_set_key)(subkeys.as_mut_ptr(), context.as_ptr(), cipher.encrypt);
            (f.nettle_cmac128_init)(message.as_mut_ptr());
        }
        Some(Self { message, subkeys, cipher: context, encrypt: cipher.encrypt, f, digest })
    }
}

/// Bytes of every tag of CMAC here.
const TAG_LEN: u32 = 16;

steps! { impl Mac for Cmac;
    fn update(&mut self, len: usize, bytes: In) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_ptr());
        (self.f.nettle_cmac128_update)(message, cipher, self.encrypt, len, bytes);
    }

    fn digest(&mut self, tag: Out) {
        let message = self.message.as_mut_ptr();
        let (subkeys, cipher) = (self.subkeys.as_ptr(), self.cipher.as_ptr());
        match self.digest {
            CmacDigest::Part(digest) => {
                digest(message, subkeys, cipher, self.encrypt, TAG_LEN, tag);
            }
            CmacDigest::Whole(digest) => digest(message, subkeys, cipher, self.encrypt, tag),
        }
    }
}
