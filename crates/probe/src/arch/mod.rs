//! The seam between architectures: time stamps, a dependent chain of known latency, a block of
//! independent instructions, and the loops inside the clock. Where an architecture has no entry of
//! its own, samples are timed by the system's clock and core cycles stay unknown.

#[cfg(target_arch = "x86_64")]
mod loops_x86_64;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use loops_x86_64::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

// Tested on every architecture, used where there is nothing better.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod loops_portable;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use loops_portable::*;
#[cfg(not(target_arch = "x86_64"))]
mod portable;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::*;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{NONCE_AT, RING, RING_BYTES, SLOT_BYTES};
    use contract::raw::Message;
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ffi::c_void;

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
            let codes = run(note, (&raw mut seen).cast(), from, 20);
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
