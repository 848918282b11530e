//! The loops inside the clock where there are none in assembly.

use crate::ring::{NONCE_AT, RING, RING_BYTES, SLOT_BYTES};
use contract::raw::{Message, MessageFn, UpdateFn};
use std::ffi::c_void;

/// `(function, state, first descriptor, operations)` to the or of the return codes.
pub(crate) type MessageLoop = unsafe extern "C" fn(MessageFn, *mut c_void, *mut c_void, u32) -> i32;
/// `(function, state, buffer, bytes, operations)` to the or of the return codes.
pub(crate) type UpdateLoop =
    unsafe extern "C" fn(UpdateFn, *mut c_void, *mut u8, usize, u32) -> i32;

/// The loop for messages; `fresh` raises the nonces.
pub(crate) fn message_loop(_function: usize, fresh: bool) -> MessageLoop {
    if fresh { messages::<true> } else { messages::<false> }
}

/// The loop for updates.
pub(crate) fn update_loop(_function: usize) -> UpdateLoop {
    updates
}

unsafe extern "C" fn messages<const FRESH: bool>(
    call: MessageFn,
    state: *mut c_void,
    slot: *mut c_void,
    ops: u32,
) -> i32 {
    let mut slot = slot.cast::<u8>();
    let mut codes = 0;
    for _ in 0..ops {
        // SAFETY: a descriptor begins with its message and has its nonce's counter at `NONCE_AT`,
        // aligned to eight bytes; the caller promises a whole ring and a fitting function.
        unsafe {
            codes |= call(state, slot.cast::<Message>());
            if FRESH {
                let counter = slot.add(NONCE_AT).cast::<u64>();
                *counter = (u64::from_le(*counter)).wrapping_add(RING as u64).to_le();
            }
        }
        let within = RING_BYTES - 1;
        slot = slot.map_addr(|a| (a & !within) | ((a + SLOT_BYTES) & within));
    }
    codes
}

unsafe extern "C" fn updates(
    call: UpdateFn,
    state: *mut c_void,
    buffer: *mut u8,
    len: usize,
    ops: u32,
) -> i32 {
    let mut codes = 0;
    for _ in 0..ops {
        // SAFETY: the caller's promise.
        codes |= unsafe { call(state, buffer.cast_const(), buffer, len) };
    }
    codes
}
