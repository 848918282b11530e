//! The seam between architectures: time stamps, a dependent chain of known latency, a block of independent
//! instructions, and the loops inside the clock. Here is also what the loops are handed, laid out
//! as their assembly reads it: the ring of descriptors that a batch of messages walks round, the keys beside
//! it, and the walk through memory.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod near;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
use contract::raw::{self, MessageFn, RekeyFn, UpdateFn};
pub(crate) use near::*;
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

/// Descriptors in the ring. A nonce is raised right after its use, so it has rested for fifteen
/// operations when a library reads it again: were it written just before, the library's 16-byte
/// load behind our 8-byte store would wait for the store to reach the cache (a failed store
/// forward, a dozen cycles that no application pays). Sixteen descriptors are 2 KiB of cache.
pub(crate) const RING: usize = 16;

#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) message: raw::Message,
    /// The first eight bytes are the counter, little-endian, that makes nonces fresh; 64 bytes
    /// hold any nonce.
    pub(crate) nonce: [u8; 64],
}

/// Bytes of a ring: a power of two, and what it is aligned to, so that the next descriptor is found
/// by masking.
pub(crate) const RING_BYTES: usize = RING * SLOT_BYTES;
pub(crate) const SLOT_BYTES: usize = size_of::<Slot>();
pub(crate) const NONCE_AT: usize = std::mem::offset_of!(Slot, nonce);

#[repr(C, align(2048))]
pub(crate) struct Ring(pub(crate) [Slot; RING]);

const _: () = assert!(RING_BYTES == 2048 && align_of::<Ring>() == RING_BYTES);
// The loops take a descriptor for its message, and its counter for a number.
const _: () = assert!(std::mem::offset_of!(Slot, message) == 0 && NONCE_AT.is_multiple_of(8));

impl Slot {
    pub(crate) fn new(input: &[u8], output: &mut [u8]) -> Self {
        let message = raw::Message {
            nonce: std::ptr::null(),
            aad: std::ptr::null(),
            aad_len: 0,
            input: input.as_ptr(),
            len: input.len(),
            output: output.as_mut_ptr(),
            tag: std::ptr::null_mut(),
        };
        Self { message, nonce: [0; 64] }
    }

    fn counter(&mut self) -> &mut [u8; 8] {
        self.nonce.first_chunk_mut().expect("a nonce slot has 64 bytes")
    }

    #[inline(always)]
    pub(crate) fn raise_nonce(&mut self, by: u64) {
        let counter = self.counter();
        *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
    }
}

// What the loops do that need more than a function and a ring: walk through memory, set keys.

/// A walk through places of memory, in an order that no prefetcher foresees: place number `n + 1`
/// is `n * factor + summand` modulo the number of places, a power of two. Such a sequence visits
/// each place once before it comes back (T. E. Hull and A. R. Dobell, SIAM Review 4 (1962) 230-254:
/// the summand odd, the factor one more than a multiple of four), and modulo any smaller power of
/// two it goes round just so, which is how places and descriptors stay together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) place: u64,
    pub(crate) factor: u64,
    pub(crate) summand: u64,
    /// Number of places, less one.
    pub(crate) mask: u64,
    pub(crate) input: *mut u8,
    pub(crate) input_stride: usize,
    pub(crate) output: *mut u8,
    pub(crate) output_stride: usize,
    pub(crate) tag: *mut u8,
    pub(crate) tag_stride: usize,
}

/// The generator of W. H. Press et al., *Numerical Recipes*, 3rd ed., §7.1.
const FACTOR: u64 = 1_664_525;
const SUMMAND: u64 = 1_013_904_223;

impl Walk {
    pub(crate) const NONE: Self = Self {
        place: 0,
        factor: FACTOR,
        summand: SUMMAND,
        mask: 0,
        input: std::ptr::null_mut(),
        input_stride: 0,
        output: std::ptr::null_mut(),
        output_stride: 0,
        tag: std::ptr::null_mut(),
        tag_stride: 0,
    };

    /// Whether there is memory to walk through.
    pub(crate) fn is_walked(&self) -> bool {
        !self.input.is_null()
    }

    pub(crate) fn before(&self, place: u64) -> u64 {
        place.wrapping_sub(self.summand).wrapping_mul(inverse(self.factor)) & self.mask
    }

    pub(crate) fn after(&self, place: u64) -> u64 {
        place.wrapping_mul(self.factor).wrapping_add(self.summand) & self.mask
    }
}

/// What times an odd number is one, modulo 2^64: each of Newton's steps doubles the right bits, and three
/// are right to begin with.
const fn inverse(odd: u64) -> u64 {
    let (mut inverse, mut step) = (odd, 0);
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// What a loop does.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) call: MessageFn,
    pub(crate) state: *mut c_void,
    pub(crate) at: *mut c_void,
    pub(crate) expected: i32,
    /// Whether nonces, and keys where they are set, are raised after their use.
    pub(crate) fresh: bool,
    pub(crate) rekey: Option<RekeyFn>,
    pub(crate) to_key: usize,
    pub(crate) walk: Walk,
}

/// Bytes of a key's place: as far apart as descriptors are.
pub(crate) const KEY_BYTES: usize = size_of::<Key>();

/// Room for any key. The first eight bytes are a counter, little-endian, that makes keys fresh.
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) [u8; 128]);

/// The keys of a ring of descriptors: the key of each lies as far from it as all others from theirs.
#[repr(C, align(2048))]
pub(crate) struct Keys(pub(crate) [Key; RING]);

const _: () = assert!(size_of::<Keys>() == RING_BYTES && KEY_BYTES == SLOT_BYTES);

impl Keys {
    pub(crate) fn raise(key: &mut [u8], by: u64) {
        if let Some(counter) = key.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NONCE_AT, RING, RING_BYTES, SLOT_BYTES, Walk, *};
    use contract::raw::Message;
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::collections::BTreeSet;

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

    fn with_ring(run: impl FnOnce(*mut u8)) {
        let layout = Layout::from_size_align(2 * RING_BYTES, RING_BYTES).unwrap();
        // SAFETY: a zeroed ring and its keys, of the right size and alignment.
        unsafe {
            let ring = alloc_zeroed(layout);
            run(ring);
            dealloc(ring, layout);
        }
    }

    fn controlled(fresh: bool, walks: bool, rekeys: bool) {
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
            let go = control_loop(&control);
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
                controlled(fresh, walks, rekeys);
            }
        }
    }

    #[test]
    fn update_loops_run_as_often_as_asked() {
        for run in [update_loop(0), update_loop(usize::MAX)] {
            let (mut calls, mut buffer) = (0_u32, [0_u8; 5]);
            let state = (&raw mut calls).cast();
            // SAFETY: the state is what `count` takes, the buffer has the length given.
            let codes = unsafe { run(count, state, buffer.as_mut_ptr(), 5, 7) };
            assert_eq!((calls, codes), (7, 4));
        }
    }

    #[test]
    fn a_walk_visits_every_place_once_and_keeps_its_residues_in_step() {
        for places in [1_u64, 2, 8, 16, 64, 4096] {
            let walk = Walk { mask: places - 1, ..Walk::NONE };
            let mut at = 5 & walk.mask;
            let order: Vec<u64> = (0..places)
                .map(|_| {
                    at = walk.after(at);
                    at
                })
                .collect();
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len() as u64, places);
            let ring = places.min(16) as usize;
            assert!((0..order.len()).all(|i| order[i] % 16 == order[i % ring] % 16), "{places}");
        }
    }

    #[test]
    fn a_walk_can_be_gone_backwards() {
        for mask in [0, 1, 15, 4095, u64::MAX] {
            let walk = Walk { mask, ..Walk::NONE };
            for place in [0, 1, 7, 4094, u64::MAX - 5].map(|place| place & mask) {
                assert_eq!(walk.before(walk.after(place)), place);
            }
        }
    }

    #[test]
    fn a_walk_does_not_step_evenly() {
        let walk = Walk { mask: 4095, ..Walk::NONE };
        let places: Vec<u64> =
            std::iter::successors(Some(0), |p| Some(walk.after(*p))).take(100).collect();
        let steps: BTreeSet<u64> =
            places.windows(2).map(|w| w[1].wrapping_sub(w[0]) & 4095).collect();
        assert!(steps.len() > 90, "{} steps", steps.len());
    }
}
