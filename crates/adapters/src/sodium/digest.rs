//! Digests: `crypto_hash_*` and `crypto_generichash`, which is BLAKE2b.

use super::api::{
    FinalFn, Functions, GenericFinalFn, GenericHashFn, GenericInitFn, HashFn, InitFn, UpdateFn,
    outcome,
};
use super::{Request, absent};
use crate::aligned::Aligned;
use crate::family::{operations, symbol};
use base::model::Primitive;
use contract::{OpenError, Table, raw};
use std::ffi::CStr;
use std::ptr;

/// Opens a digest.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (functions, algorithm) = (request.library, request.algorithm);
    match algorithm.cipher {
        Primitive::Sha256 => hash(functions, c"crypto_hash_sha256"),
        Primitive::Sha512 => hash(functions, c"crypto_hash_sha512"),
        Primitive::Sha3_256 => hash(functions, c"crypto_hash_sha3256"),
        Primitive::Sha3_512 => hash(functions, c"crypto_hash_sha3512"),
        Primitive::Blake2b => generic(functions, algorithm.tag_len),
        _ => Err(absent(algorithm)),
    }
}

struct Hash {
    whole: HashFn,
    init: InitFn,
    update: UpdateFn,
    finish: FinalFn,
    parts: Aligned,
}

fn hash(functions: &Functions, name: &'static CStr) -> Result<raw::Session, OpenError> {
    let prefix = symbol(name);
    // SAFETY: the types are those of crypto_hash_*.h.
    let state = unsafe {
        Hash {
            whole: functions.get(prefix)?,
            init: functions.get(&format!("{prefix}_init"))?,
            update: functions.get(&format!("{prefix}_update"))?,
            finish: functions.get(&format!("{prefix}_final"))?,
            parts: Aligned::zeroed(functions.length(&format!("{prefix}_statebytes"))?),
        }
    };
    Ok(Table::new(state, 0, name).parts().raw())
}

operations! { impl for Hash;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, m.input, m.len as u64))
    }

    fn start(&mut self, _nonce) {
        outcome((self.init)(self.parts.as_mut_ptr()))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.parts.as_mut_ptr(), tag))
    }
}

struct Generic {
    whole: GenericHashFn,
    init: GenericInitFn,
    update: UpdateFn,
    finish: GenericFinalFn,
    parts: Aligned,
    len: usize,
}

fn generic(functions: &Functions, len: usize) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of crypto_generichash.h.
    let state = unsafe {
        Generic {
            whole: functions.get("crypto_generichash")?,
            init: functions.get("crypto_generichash_init")?,
            update: functions.get("crypto_generichash_update")?,
            finish: functions.get("crypto_generichash_final")?,
            parts: Aligned::zeroed(functions.length("crypto_generichash_statebytes")?),
            len,
        }
    };
    // All of the message goes through the state's buffer, block by block.
    Ok(Table::new(state, raw::COPIES, c"crypto_generichash").parts().raw())
}

operations! { impl for Generic;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, self.len, m.input, m.len as u64, ptr::null(), 0))
    }

    fn start(&mut self, _nonce) {
        outcome((self.init)(self.parts.as_mut_ptr(), ptr::null(), 0, self.len))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.parts.as_mut_ptr(), tag, self.len))
    }
}
