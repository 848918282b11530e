//! XTS: two key schedules; one call is one data unit.

use super::Request;
use super::api::{Context, NO_DEVICE, done, lengths, number, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations, symbol};
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_void};
use std::ptr;

/// `wc_AesXtsSetKey`: context, both keys, their length together, direction, heap hint, device.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, c_int, *mut c_void, c_int) -> c_int;
/// `wc_AesXtsEncrypt`, `wc_AesXtsDecrypt`: context, output, input, length, tweak, its length.
type CryptFn = unsafe extern "C" fn(*mut c_void, Out, In, u32, In, u32) -> c_int;
/// `wc_AesXtsFree`: context.
type FreeFn = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Bytes of a tweak.
const TWEAK: usize = 16;

struct State {
    xts: Context,
    crypt: CryptFn,
    set_key: SetKeyFn,
    key_len: u32,
    way: c_int,
    free: Option<FreeFn>,
    /// What `start` set: every unit of a stream has it.
    tweak: [u8; TWEAK],
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let xts = Context::zeroed();
    let len = request.key_len();
    let call = if request.encrypts() { c"wc_AesXtsEncrypt" } else { c"wc_AesXtsDecrypt" };
    // SAFETY: the types are those of aes.h for the symbols named; the key covers its length.
    let (code, crypt, set_key, free) = unsafe {
        let set_key = object.exported::<SetKeyFn>("wc_AesXtsSetKey")?;
        let (context, way) = (xts.pointer(), number(request.direction));
        (
            set_key(context, request.key.as_ptr(), len, way, ptr::null_mut(), NO_DEVICE),
            object.exported(symbol(call))?,
            set_key,
            object.function("wc_AesXtsFree"),
        )
    };
    done("wc_AesXtsSetKey", code)?;
    let state = State {
        xts,
        crypt,
        set_key,
        key_len: len,
        way: number(request.direction),
        free,
        tweak: [0; TWEAK],
    };
    let flags = if state.works_in_place() { raw::IN_PLACE } else { 0 };
    Ok(Table::new(state, flags, call).streams().rekeys(c"wc_AesXtsSetKey").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!(self.unit(m.nonce, m.input, m.output, len))
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; TWEAK]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!(self.unit(self.tweak.as_ptr(), input, output, len))
    }

    fn rekey(&mut self, key) {
        let (xts, no_hint) = (self.xts.pointer(), ptr::null_mut());
        calls!((self.set_key)(xts, key, self.key_len, self.way, no_hint, NO_DEVICE))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: a context that got its keys, freed once. Its result is of no use any more.
            let _ = unsafe { free(self.xts.pointer()) };
        }
    }
}

impl State {
    /// Whether the output may be the input, which no document says, and which is so in 5.9 but not
    /// in 5.5.4: there the stealing of ciphertext overwrites the last bytes before it reads them.
    /// Tried with every length of the last block.
    fn works_in_place(&self) -> bool {
        let input: [u8; 47] = std::array::from_fn(|i| i as u8);
        (TWEAK..input.len()).all(|len| {
            let (mut apart, mut over) = ([0; 47], input);
            let place = over.as_mut_ptr();
            // `len` is at most 47.
            let short = len as u32;
            // SAFETY: the buffers cover `len` bytes, the tweak 16.
            let codes = unsafe {
                [
                    self.unit(self.tweak.as_ptr(), input.as_ptr(), apart.as_mut_ptr(), short),
                    self.unit(self.tweak.as_ptr(), place.cast_const(), place, short),
                ]
            };
            codes == [0, 0] && apart[..len] == over[..len]
        })
    }

    /// One data unit.
    ///
    /// # Safety
    /// The buffers cover `len` bytes, the tweak 16.
    #[inline]
    unsafe fn unit(&self, tweak: *const u8, i: *const u8, o: *mut u8, len: u32) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { (self.crypt)(self.xts.pointer(), o, i, len, tweak, TWEAK as u32) }
    }
}
