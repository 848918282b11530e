//! One operation of a batch, single-stepped.

use super::{MessageBatch, RING};
use crate::batch::Batch;
use crate::flight::Flight;
use crate::step::{Stepper, Trace, Unavailable};

/// A stepped operation: its return code, and what it executed.
pub type Stepped = (i32, Trace);

impl MessageBatch<'_> {
    /// Single-steps the next operation: the same call as in the loop, with the same descriptor.
    /// Returns the operation's return code with what it executed. Of messages in flight a round
    /// ([`Batch::together`]) with its end is stepped, since none of them is done alone.
    ///
    /// # Errors
    /// When it cannot be stepped here.
    pub fn step(&mut self, stepper: &mut Stepper, most_steps: u64) -> Result<Stepped, Unavailable> {
        match self.flight {
            None => self.step_message(stepper, most_steps),
            Some(flight) => self.step_round(flight, stepper, most_steps),
        }
    }

    fn step_message(&mut self, stepper: &mut Stepper, most: u64) -> Result<Stepped, Unavailable> {
        let table = self.session.raw();
        let call = table.message.expect("the model `message` is offered");
        let slot = &mut self.descriptors.ring.0[self.at];
        let arguments = [table.state as usize, &raw const slot.message as usize, 0, 0];
        let stepped = self.stacks.once(|| {
            // SAFETY: `Session::new`'s contract holds for the function and its two arguments; the
            // descriptor points at the placed set, whose lengths were checked.
            unsafe { stepper.call(call as *const (), arguments, most) }
        });
        if self.control.fresh {
            slot.raise_nonce(RING as u64);
        }
        self.at = (self.at + 1) % RING;
        stepped
    }

    fn step_round(
        &mut self,
        flight: Flight,
        stepper: &mut Stepper,
        most: u64,
    ) -> Result<Stepped, Unavailable> {
        let (oldest, together) = (self.at, self.together() as usize);
        let mut round = self.step_message(stepper, most);
        for _ in 1..together {
            round = round.and_then(|so_far| {
                let left = most.saturating_sub(so_far.1.steps).max(1);
                Ok(joined(so_far, self.step_message(stepper, left)?))
            });
        }
        let (drain, state) = flight.call();
        let drained = round.and_then(|so_far| {
            let left = most.saturating_sub(so_far.1.steps).max(1);
            let arguments = [state as usize, 0, 0, 0];
            // SAFETY: `Session::new`'s contract holds for the function and its argument.
            let end =
                self.stacks.once(|| unsafe { stepper.call(drain as *const (), arguments, left) });
            Ok(joined(so_far, end?))
        });
        if drained.is_err() {
            // SAFETY: the session lives; what is in flight uses this batch's memory.
            unsafe { flight.drain() };
        }
        for i in (0..together).filter(|_| flight.counts) {
            self.descriptors.ring.0[(oldest + i) % RING].raise_nonce(RING as u64);
        }
        drained
    }
}

/// Two calls as one.
fn joined((code, trace): Stepped, (other_code, other): Stepped) -> Stepped {
    (code | other_code, trace.and(other))
}
