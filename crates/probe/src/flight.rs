//! Messages that are in work side by side: handed over a round at a time, and drained at its end.
//!
//! A round is as many messages as there are descriptors with an output of their own, so that nothing
//! that a message in flight reads or writes is used for another. Its end is inside the clock, as a
//! caller's is who hands over a burst of packets.

use crate::ring::{RING, Slot};
use contract::Session;
use contract::raw::DrainFn;
use std::ffi::c_void;

/// How a session's messages are completed.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    drain: DrainFn,
    state: *mut c_void,
    /// Whether nonces count up, once their messages are done.
    pub(crate) counts: bool,
}

/// Rounds of messages, while a batch runs.
pub(crate) struct Rounds<'a> {
    flight: Flight,
    ring: *mut Slot,
    /// The descriptor of the oldest message in flight.
    oldest: usize,
    in_flight: u32,
    together: u32,
    step: &'a mut dyn FnMut(u32) -> i32,
}

impl Flight {
    /// `None` where a session's messages are done when its function returns.
    pub(crate) fn of(session: &Session, counts: bool) -> Option<Self> {
        let table = session.raw();
        table.drain.map(|drain| Self { drain, state: table.state, counts })
    }

    /// Rounds of `together` messages, which `step` hands over from the ring's descriptor `oldest` on.
    ///
    /// # Safety
    /// While the rounds are used, the ring is whole, no reference to it is, and the session lives;
    /// `together` is not more than the ring's descriptors.
    pub(crate) unsafe fn rounds<'a>(
        &self,
        (ring, oldest): (*mut Slot, usize),
        together: u32,
        step: &'a mut dyn FnMut(u32) -> i32,
    ) -> Rounds<'a> {
        Rounds { flight: *self, ring, oldest, in_flight: 0, together, step }
    }

    /// Completes what is in flight, outside of rounds.
    ///
    /// # Safety
    /// The session lives.
    pub(crate) unsafe fn drain(&self) -> i32 {
        // SAFETY: `Session::new`'s contract.
        unsafe { (self.drain)(self.state) }
    }

    /// What [`Flight::drain`] calls, and with what.
    pub(crate) fn call(&self) -> (DrainFn, *mut c_void) {
        (self.drain, self.state)
    }
}

impl Rounds<'_> {
    /// Hands messages over, and drains at the end of each round. Returns the or of the return codes.
    pub(crate) fn hand_over(&mut self, ops: u32) -> i32 {
        let (mut left, mut codes) = (ops, 0);
        while left > 0 {
            let now = left.min(self.together - self.in_flight);
            codes |= (self.step)(now);
            self.in_flight += now;
            left -= now;
            if self.in_flight == self.together {
                codes |= self.drain();
            }
        }
        codes
    }

    /// Completes what is in flight; then its nonces may be raised.
    pub(crate) fn drain(&mut self) -> i32 {
        if self.in_flight == 0 {
            return 0;
        }
        // SAFETY: the promise of `Flight::rounds`.
        let code = unsafe { self.flight.drain() };
        if self.flight.counts {
            for i in 0..self.in_flight as usize {
                // SAFETY: within the ring, which nothing else uses now.
                unsafe { (*self.ring.add((self.oldest + i) % RING)).raise_nonce(RING as u64) };
            }
        }
        self.oldest = (self.oldest + self.in_flight as usize) % RING;
        self.in_flight = 0;
        code
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arena, Batch as _, Clock, MessageBatch, MessageSet, WalkSize, messages_for};
    use contract::{Session, raw};
    use std::ffi::c_void;

    /// A library that does nothing before it is drained.
    #[derive(Default)]
    struct Late {
        waiting: Vec<raw::Message>,
        most: usize,
        drains: usize,
        /// What draining returns.
        code: i32,
    }

    unsafe extern "C" fn wait(state: *mut c_void, m: *const raw::Message) -> i32 {
        // SAFETY: the tests' state, and a message.
        let (late, m) = unsafe { (&mut *state.cast::<Late>(), *m) };
        late.waiting.push(m);
        late.most = late.most.max(late.waiting.len());
        raw::OK
    }

    /// Writes the lowest byte of each nonce over output and tag; nothing of that may overlap.
    unsafe extern "C" fn drain(state: *mut c_void) -> i32 {
        // SAFETY: the tests' state.
        let late = unsafe { &mut *state.cast::<Late>() };
        late.drains += 1;
        for m in late.waiting.drain(..) {
            // SAFETY: a message of an algorithm with 16-byte tags, which stays valid until now.
            unsafe {
                m.output.write_bytes(*m.nonce, m.len);
                m.tag.write_bytes(*m.nonce, 16);
            }
        }
        late.code
    }

    fn session(late: &mut Late) -> Session {
        let (state, in_flight) = ((&raw mut *late).cast(), raw::MOST_IN_FLIGHT);
        let (message, drain) = (Some(wait as raw::MessageFn), Some(drain as raw::DrainFn));
        let table = raw::Session { state, message, drain, in_flight, ..raw::Session::empty() };
        let gcm = base::model::Algorithm::find("aes-256-gcm").unwrap();
        // SAFETY: the functions keep the interface's rules; the state outlives the session.
        unsafe { Session::new(table, gcm, base::model::Direction::Encrypt) }
    }

    /// Runs `run` on a batch of messages of `size` bytes.
    fn with_batch(late: &mut Late, size: usize, run: impl FnOnce(&mut MessageBatch<'_>)) {
        on_a_walk(late, size, None, run);
    }

    fn on_a_walk(
        late: &mut Late,
        size: usize,
        walk: Option<WalkSize>,
        run: impl FnOnce(&mut MessageBatch<'_>),
    ) {
        let (mut session, mut arena) = (session(late), Arena::new());
        let (inputs, nonces) = (vec![0; size * messages_for(size)], [vec![0; 12]]);
        let (tags, keys, aad) = ([].as_slice(), [].as_slice(), [].as_slice());
        let (inputs, nonces, in_place, expected) = (&inputs[..], &nonces[..], false, raw::OK);
        let set = MessageSet { size, inputs, nonces, tags, keys, aad, expected, in_place, walk };
        run(&mut MessageBatch::place(&mut session, &mut arena, &set, 12345));
    }

    /// Every operation that is kept wrote all of its output, under its own nonce.
    fn all_done(batch: &MessageBatch<'_>, size: usize, ran: u32) {
        for back in 0..batch.kept(ran) {
            let done = batch.done(back);
            assert_eq!(usize::from(done.nonce[0]), ran as usize - 1 - back);
            assert_eq!(done.output.len(), size);
            assert!(done.output.iter().chain(done.tag).all(|b| *b == done.nonce[0]), "{back}");
        }
    }

    #[test]
    fn what_is_in_flight_is_done_when_a_batch_ends_each_under_its_own_nonce() {
        for size in [1, 16, 700, 4096, 16_384, 100_000] {
            let mut late = Late::default();
            with_batch(&mut late, size, |batch| {
                assert_eq!((batch.together(), batch.kept(37)), (16, 16));
                batch.poison(0xee);
                assert_eq!(batch.run(37), raw::OK);
                all_done(batch, size, 37);
            });
            // Two rounds, and what was left.
            assert_eq!((late.most, late.drains), (16, 3), "{size}");
        }
    }

    #[test]
    fn no_more_is_in_flight_than_there_are_places_for_its_output() {
        for (bytes, places) in [(24 << 10, 16), (1 << 10, 4)] {
            let mut late = Late::default();
            on_a_walk(&mut late, 64, Some(WalkSize::Within(bytes)), |batch| {
                batch.prepare(37);
                assert_eq!(batch.run(37), raw::OK);
                all_done(batch, 64, 37);
            });
            assert_eq!(late.most, places, "{bytes}");
        }
    }

    #[test]
    fn a_single_operation_is_timed_with_its_end() {
        let mut late = Late::default();
        with_batch(&mut late, 64, |batch| {
            let mut ticks = Vec::new();
            assert_eq!(batch.run_alone(&Clock::calibrate(), 20, &mut ticks), raw::OK);
            assert_eq!(ticks.len(), 20);
            all_done(batch, 64, 20);
        });
        assert_eq!((late.most, late.drains), (1, 20));
    }

    #[test]
    fn an_error_of_draining_is_one_of_the_batch() {
        for ops in [1, 16, 100] {
            let mut late = Late { code: raw::FAILED, ..Late::default() };
            with_batch(&mut late, 16, |batch| assert_eq!(batch.run(ops), raw::FAILED));
        }
    }

    #[test]
    fn samples_hold_whole_rounds_however_long_an_operation_takes() {
        let mut late = Late::default();
        with_batch(&mut late, 1 << 20, |batch| {
            let pace = crate::Pace::default();
            let ops = batch.calibrate(&Clock::calibrate(), 1.0, pace);
            assert!(ops >= 16 && ops.is_multiple_of(16), "{ops}");
        });
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_whole_round_is_stepped_with_its_end() {
        let mut late = Late::default();
        let mut stepped = None;
        with_batch(&mut late, 64, |batch| {
            batch.run(5);
            let Ok(mut stepper) = crate::step::Stepper::new() else { return };
            stepped = batch.step(&mut stepper, 10_000_000).ok();
            all_done(batch, 64, if stepped.is_some() { 21 } else { 5 });
        });
        let Some((code, trace)) = stepped else { return };
        assert_eq!((code, late.most, late.drains), (raw::OK, 16, 2));
        assert!(
            trace.end == crate::step::End::Returned && trace.steps > 16 * 64 / 8,
            "{}",
            trace.steps
        );
    }
}
