//! The loops inside the clock where there are none in assembly.

use crate::arch::{
    Control, ControlLoop, MessageLoop, NONCE_AT, RING, RING_BYTES, SLOT_BYTES, UpdateLoop,
};
use contract::raw::{Message, MessageFn, UpdateFn};
use std::ffi::c_void;

pub(crate) fn message_loop(_function: usize, fresh: bool) -> MessageLoop {
    if fresh { messages::<true> } else { messages::<false> }
}

pub(crate) fn control_loop(_control: &Control) -> ControlLoop {
    controlled
}

pub(crate) fn update_loop(_function: usize) -> UpdateLoop {
    updates
}

unsafe extern "C" fn messages<const FRESH: bool>(
    call: MessageFn,
    state: *mut c_void,
    slot: *mut c_void,
    ops: u32,
    expected: i32,
) -> i32 {
    let mut slot = slot.cast::<u8>();
    let mut codes = 0;
    for _ in 0..ops {
        // SAFETY: a descriptor begins with its message and has its nonce's counter at `NONCE_AT`,
        // aligned to eight bytes; the caller promises a whole ring and a fitting function.
        unsafe {
            codes |= call(state, slot.cast::<Message>()) ^ expected;
            if FRESH {
                raise(slot.add(NONCE_AT));
            }
        }
        slot = next(slot);
    }
    codes
}

/// The descriptor after this one.
fn next(slot: *mut u8) -> *mut u8 {
    let within = RING_BYTES - 1;
    slot.map_addr(|a| (a & !within) | ((a + SLOT_BYTES) & within))
}

/// # Safety
/// `counter` points to eight bytes, aligned to as many.
unsafe fn raise(counter: *mut u8) {
    let counter = counter.cast::<u64>();
    // SAFETY: the caller's promise.
    unsafe { *counter = (u64::from_le(*counter)).wrapping_add(RING as u64).to_le() };
}

unsafe extern "C" fn controlled(control: *mut Control, ops: u32) -> i32 {
    // SAFETY: the caller's promise.
    let control = unsafe { &mut *control };
    let (mut slot, mut codes) = (control.at.cast::<u8>(), 0);
    for _ in 0..ops {
        let key = slot.wrapping_add(control.to_key);
        // SAFETY: as for messages; the walk's places are memory for them, and where keys are set
        // each descriptor has its own at `to_key`.
        unsafe {
            if control.walk.is_walked() {
                let walk = &mut control.walk;
                walk.place = walk.after(walk.place);
                let place = walk.place as usize;
                let message = &mut *slot.cast::<Message>();
                message.input = walk.input.wrapping_add(place * walk.input_stride);
                message.output = walk.output.wrapping_add(place * walk.output_stride);
                message.tag = walk.tag.wrapping_add(place * walk.tag_stride);
            }
            if let Some(rekey) = control.rekey {
                codes |= rekey(control.state, key);
            }
            codes |= (control.call)(control.state, slot.cast::<Message>()) ^ control.expected;
            if control.fresh {
                raise(slot.add(NONCE_AT));
                if control.rekey.is_some() {
                    raise(key);
                }
            }
        }
        slot = next(slot);
    }
    control.at = slot.cast();
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
