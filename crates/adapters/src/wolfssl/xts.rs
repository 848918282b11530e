//! XTS: two key schedules; one call is one data unit.

use super::api::{Context, NO_DEVICE, calls, close, done, given, lengths, number};
use contract::{OpenError, raw};
use loader::SharedObject;
use model::Direction;
use std::ffi::{c_int, c_void};
use std::ptr;

/// `wc_AesXtsSetKey`: context, both keys, their length together, direction, heap hint, device.
type SetKeyFn =
    unsafe extern "C" fn(*mut c_void, *const u8, u32, c_int, *mut c_void, c_int) -> c_int;
/// `wc_AesXtsEncrypt`, `wc_AesXtsDecrypt`: context, output, input, length, tweak, its length.
type CryptFn = unsafe extern "C" fn(*mut c_void, *mut u8, *const u8, u32, *const u8, u32) -> c_int;
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

pub(super) fn open(
    object: &SharedObject,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let xts = Context::zeroed();
    let len = u32::try_from(key.len()).expect("keys are a few bytes");
    let encrypts = direction == Direction::Encrypt;
    let (symbol, call) = if encrypts {
        ("wc_AesXtsEncrypt", c"wc_AesXtsEncrypt")
    } else {
        ("wc_AesXtsDecrypt", c"wc_AesXtsDecrypt")
    };
    // SAFETY: the types are those of aes.h for the symbols named; the key covers its length.
    let (code, crypt, set_key, free) = unsafe {
        let set_key = object.offered::<SetKeyFn>("wc_AesXtsSetKey")?;
        let (context, way) = (xts.pointer(), number(direction));
        (
            set_key(context, key.as_ptr(), len, way, ptr::null_mut(), NO_DEVICE),
            object.offered(symbol)?,
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
        way: number(direction),
        free,
        tweak: [0; TWEAK],
    };
    let flags = if state.works_in_place() { raw::IN_PLACE } else { 0 };
    Ok(raw::Session {
        state: given(state),
        flags,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        finish: None,
        call: call.as_ptr(),
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: c"wc_AesXtsSetKey".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has both keys.
    unsafe {
        let state = &*state.cast::<State>();
        let (xts, no_hint) = (state.xts.pointer(), ptr::null_mut());
        calls!((state.set_key)(xts, key, state.key_len, state.way, no_hint, NO_DEVICE))
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

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        lengths!(len = m.len);
        calls!(state.unit(m.nonce, m.input, m.output, len))
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        state.tweak = nonce.cast::<[u8; TWEAK]>().read_unaligned();
    }
    raw::OK
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        lengths!(len = len);
        calls!(state.unit(state.tweak.as_ptr(), input, output, len))
    }
}
