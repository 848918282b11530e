//! The seam between architectures: time stamps, a dependent chain of known latency, a block of
//! independent instructions, and the loops inside the clock. Where an architecture has no entry of
//! its own, samples are timed by the system's clock and core cycles stay unknown.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod loops_portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod near;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::ring::Control;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
use contract::raw::{MessageFn, UpdateFn};
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use loops_portable::*;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use near::*;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use portable::*;
use std::ffi::c_void;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

/// `(function, state, first descriptor, operations, expected code)` to the or of the return codes,
/// each exclusive-or the expected one.
pub(crate) type MessageLoop =
    unsafe extern "C" fn(MessageFn, *mut c_void, *mut c_void, u32, i32) -> i32;
/// `(what is done, operations)` to the or of the return codes, as [`MessageLoop`].
pub(crate) type ControlLoop = unsafe extern "C" fn(*mut Control, u32) -> i32;
/// `(function, state, buffer, bytes, operations)` to the or of the return codes.
pub(crate) type UpdateLoop =
    unsafe extern "C" fn(UpdateFn, *mut c_void, *mut u8, usize, u32) -> i32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::loops_portable;
    use crate::ring::{NONCE_AT, RING, RING_BYTES, SLOT_BYTES, Walk};
    use contract::raw::Message;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    /// Notes the descriptors that it is called with; returns the bit of the call's number.
    unsafe extern "C" fn note(state: *mut c_void, message: *const Message) -> i32 {
        // SAFETY: the tests pass a list of addresses as state.
        let seen = unsafe { &mut *state.cast::<Vec<usize>>() };
        seen.push(message.addr());
        1 << (seen.len() - 1).min(30)
    }

    unsafe extern "C" fn count(state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> i32 {
        assert!(i.addr() == o.addr() && len == 5);
        // SAFETY: the tests pass a counter as state.
        unsafe { *state.cast::<u32>() += 1 };
        4
    }

    fn walk(run: MessageLoop, fresh: bool) {
        let layout = Layout::from_size_align(RING_BYTES, RING_BYTES).unwrap();
        let mut seen: Vec<usize> = Vec::new();
        // SAFETY: a zeroed ring of the right size and alignment; `note` reads nothing of it.
        let (ring, codes, counters) = unsafe {
            let ring = alloc_zeroed(layout);
            let from = ring.add(14 * SLOT_BYTES).cast();
            let codes = run(note, (&raw mut seen).cast(), from, 20, 0);
            let counter = |i: usize| *ring.add(i * SLOT_BYTES + NONCE_AT).cast::<u64>();
            let counters: Vec<u64> = (0..RING).map(counter).collect();
            dealloc(ring, layout);
            (ring.addr(), codes, counters)
        };
        let expected: Vec<usize> = (0..20).map(|i| ring + (14 + i) % RING * SLOT_BYTES).collect();
        assert_eq!(seen, expected);
        assert_eq!(codes, (1 << 20) - 1);
        // Twenty operations from descriptor 14 on: 14, 15, 0 and 1 are used twice.
        let raised = |i: usize| if [14, 15, 0, 1].contains(&i) { 2 } else { 1 };
        let expected: Vec<u64> =
            (0..RING).map(|i| if fresh { raised(i) * RING as u64 } else { 0 }).collect();
        assert_eq!(counters, expected);
    }

    #[test]
    fn loops_walk_the_ring_raise_nonces_and_collect_codes() {
        let far = usize::MAX;
        for fresh in [true, false] {
            walk(message_loop(note as *const () as usize, fresh), fresh);
            walk(message_loop(far, fresh), fresh);
            walk(loops_portable::message_loop(far, fresh), fresh);
        }
    }

    /// What a control loop did, call by call: `k` and the key's address, or `m` and the message.
    #[derive(Default)]
    struct Seen {
        calls: Vec<(char, usize, Message)>,
    }

    const NOTHING: Message = Message {
        nonce: std::ptr::null(),
        aad: std::ptr::null(),
        aad_len: 0,
        input: std::ptr::null(),
        len: 0,
        output: std::ptr::null_mut(),
        tag: std::ptr::null_mut(),
    };

    unsafe extern "C" fn note_key(state: *mut c_void, key: *const u8) -> i32 {
        // SAFETY: the test passes a `Seen` as state.
        unsafe { &mut *state.cast::<Seen>() }.calls.push(('k', key.addr(), NOTHING));
        2
    }

    unsafe extern "C" fn note_message(state: *mut c_void, message: *const Message) -> i32 {
        // SAFETY: the test passes a `Seen` as state and a ring of messages.
        let (seen, m) = unsafe { (&mut *state.cast::<Seen>(), *message) };
        seen.calls.push(('m', message.addr(), m));
        1
    }

    /// A ring with its keys.
    fn with_ring(run: impl FnOnce(*mut u8)) {
        let layout = Layout::from_size_align(2 * RING_BYTES, RING_BYTES).unwrap();
        // SAFETY: a zeroed ring and its keys, of the right size and alignment.
        unsafe {
            let ring = alloc_zeroed(layout);
            run(ring);
            dealloc(ring, layout);
        }
    }

    fn controlled(run: fn(&Control) -> ControlLoop, fresh: bool, walks: bool, rekeys: bool) {
        with_ring(|ring| {
            let mut seen = Seen::default();
            let base = |n: usize| std::ptr::without_provenance_mut::<u8>(n << 20);
            let walk = Walk {
                place: 3,
                mask: 63,
                input: base(1),
                input_stride: 64,
                output: base(2),
                output_stride: 128,
                tag: base(3),
                tag_stride: 192,
                ..Walk::NONE
            };
            let mut control = Control {
                call: note_message,
                state: (&raw mut seen).cast(),
                at: ring.cast(),
                expected: 1,
                fresh,
                rekey: rekeys.then_some(note_key as contract::raw::RekeyFn),
                to_key: RING_BYTES,
                walk: if walks { walk } else { Walk::NONE },
            };
            let go = run(&control);
            // SAFETY: the ring and the keys are whole; the functions read no buffer.
            let codes = unsafe { go(&raw mut control, 20) | go(&raw mut control, 1) };
            // Messages return what is expected of them, keys do not.
            assert_eq!(codes, if rekeys { 2 } else { 0 });
            let kinds: String = seen.calls.iter().map(|(kind, ..)| *kind).collect();
            assert_eq!(kinds, if rekeys { "km" } else { "m" }.repeat(21));
            let slot = |i: usize| ring.addr() + i % RING * SLOT_BYTES;
            let mut place = walk.place as usize;
            for (i, (_, at, m)) in seen.calls.iter().filter(|(k, ..)| *k == 'm').enumerate() {
                place = walk.after(place as u64) as usize;
                assert_eq!(*at, slot(i));
                if walks {
                    assert_eq!(m.input.addr(), (1 << 20) + 64 * place);
                    assert_eq!(m.output.addr(), (2 << 20) + 128 * place);
                    assert_eq!(m.tag.addr(), (3 << 20) + 192 * place);
                } else {
                    assert!(m.input.is_null() && m.output.is_null() && m.tag.is_null());
                }
            }
            for (i, (_, at, _)) in seen.calls.iter().filter(|(k, ..)| *k == 'k').enumerate() {
                assert_eq!(*at, slot(i) + RING_BYTES);
            }
            // Twenty-one operations: the first five descriptors are used twice.
            let times = |i: usize| if i < 5 { 2 } else { 1 };
            for i in 0..RING {
                let raised = if fresh { (times(i) * RING) as u64 } else { 0 };
                // SAFETY: within the ring and its keys.
                let read =
                    |at: usize| unsafe { ring.add(i * SLOT_BYTES + at).cast::<u64>().read() };
                assert_eq!(read(NONCE_AT), raised);
                assert_eq!(read(RING_BYTES), if rekeys { raised } else { 0 });
            }
        });
    }

    #[test]
    fn control_loops_walk_set_keys_and_hold_codes_to_what_is_expected() {
        for fresh in [true, false] {
            for (walks, rekeys) in [(true, false), (false, true), (true, true)] {
                controlled(control_loop, fresh, walks, rekeys);
                controlled(loops_portable::control_loop, fresh, walks, rekeys);
            }
        }
    }

    #[test]
    fn update_loops_run_as_often_as_asked() {
        for run in [update_loop(0), update_loop(usize::MAX), loops_portable::update_loop(0)] {
            let (mut calls, mut buffer) = (0_u32, [0_u8; 5]);
            let state = (&raw mut calls).cast();
            // SAFETY: the state is what `count` takes, the buffer has the length given.
            let codes = unsafe { run(count, state, buffer.as_mut_ptr(), 5, 7) };
            assert_eq!((calls, codes), (7, 4));
        }
    }
}
