//! The checksums of zlib through its public functions `crc32` and `adler32`: whole messages and streams.
//! `zlib/README.md` says which functions, and why.

use crate::family::{self, Attached, Family, Request, operations};
use base::model::Primitive;
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, Table, raw};
use std::ffi::{c_uint, c_ulong};
use std::ptr;

/// Attaches a zlib, or a library that stands in for it under its names.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let version = version(&object)?;
    family::library(name, "zlib", &version, build(&object), Zlib { object })
}

fn version(object: &SharedObject) -> Result<String, LoadError> {
    // SAFETY: the type is that of zlib.h.
    let version = unsafe { object.told("zlibVersion")? };
    version.ok_or_else(|| object.unusable("zlibVersion gives no version"))
}

/// Sizes of types and options of the build, as the library's one number (`zlib.h` says which bit is what).
fn build(object: &SharedObject) -> Vec<String> {
    // SAFETY: the type is that of zlib.h.
    let flags = unsafe { object.asked::<c_ulong>("zlibCompileFlags") }.ok();
    flags.map(|flags| format!("zlibCompileFlags: {flags:#x}")).into_iter().collect()
}

struct Zlib {
    object: SharedObject,
}

// SAFETY: the session's functions follow the library's header.
unsafe impl Family for Zlib {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let (symbol, call) = match request.algorithm.cipher {
            Primitive::Crc32 => ("crc32", c"crc32"),
            Primitive::Adler32 => ("adler32", c"adler32"),
            _ => return Err(request.absent("zlib")),
        };
        // SAFETY: zlib.h gives both this type.
        let sum = unsafe { request.library.object.exported::<SumFn>(symbol)? };
        // SAFETY: without a buffer the functions give the value that a sum begins with.
        let first = unsafe { sum(0, ptr::null(), 0) };
        // A digest writes nothing but its tag, so the message may lie anywhere.
        Ok(Table::new(State { sum, first, so_far: first }, raw::IN_PLACE, call).parts().raw())
    }
}

/// `crc32` and `adler32`: the sum so far, bytes, length; the new sum.
type SumFn = unsafe extern "C" fn(c_ulong, *const u8, c_uint) -> c_ulong;

struct State {
    sum: SumFn,
    /// Of no bytes.
    first: c_ulong,
    /// Of the stream that is under way.
    so_far: c_ulong,
}

impl State {
    /// The sum after these bytes as well. `None` where the library's type of lengths does not hold theirs.
    ///
    /// # Safety
    /// `input` covers `len` bytes.
    #[inline]
    unsafe fn add(&self, so_far: c_ulong, input: *const u8, len: usize) -> Option<c_ulong> {
        let len = c_uint::try_from(len).ok()?;
        // SAFETY: the caller's promise.
        Some(unsafe { (self.sum)(so_far, input, len) })
    }
}

/// Writes a sum big-endian, as RFC 1950 has Adler-32; `c_ulong` may be wider than the 32 bits of a sum.
///
/// # Safety
/// `tag` covers 4 bytes.
#[inline]
unsafe fn write(sum: c_ulong, tag: *mut u8) -> i32 {
    // SAFETY: the caller's promise; no alignment is asked for.
    unsafe { tag.cast::<[u8; 4]>().write_unaligned((sum as u32).to_be_bytes()) };
    raw::OK
}

operations! { impl for State;
    fn message(&mut self, m) {
        match self.add(self.first, m.input, m.len) {
            Some(sum) => write(sum, m.tag),
            None => raw::FAILED,
        }
    }

    fn start(&mut self, _nonce) {
        self.so_far = self.first;
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        // A null pointer would set the sum back to that of no bytes.
        if len == 0 {
            return raw::OK;
        }
        let Some(sum) = self.add(self.so_far, input, len) else { return raw::FAILED };
        self.so_far = sum;
        raw::OK
    }

    fn finish(&mut self, tag) {
        write(self.so_far, tag)
    }
}
