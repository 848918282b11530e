//! The processes that are stepped: forked, recorded, waited for.

use super::super::sampling::{SAID, printed, said_since, wait};
use super::operations::{Call, Step};
use crate::last_words;
use crate::protocol::Finding;
use host::confine::Forked;
use probe::leaks::Operation;
use probe::step::{Recorder, Tape};
use std::panic::AssertUnwindSafe;

/// Which operations of a process are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    All,
    Rejections,
    /// The first that has a message.
    FirstMessage,
}

impl Kept {
    fn keeps(self, operation: Operation, recorded: usize) -> bool {
        match self {
            Self::All => true,
            Self::Rejections => operation == Operation::Reject,
            Self::FirstMessage => recorded == 0 && operation != Operation::KeySetUp,
        }
    }
}

/// What processes are recorded with.
pub(super) struct Children {
    recorder: Recorder,
    most_steps: usize,
    /// The most of them that a key's set-up may take.
    most_of_set_up: usize,
}

impl Children {
    pub(super) fn new(most_steps: usize) -> Result<Self, Finding> {
        let recorder = Recorder::new().map_err(|why| Finding::unsupported(why.0))?;
        Ok(Self { recorder, most_steps, most_of_set_up: most_steps })
    }

    /// Leaves so many steps to what follows a key's set-up.
    pub(super) fn keep_for_use(&mut self, steps: usize) {
        self.most_of_set_up = self.most_steps.saturating_sub(steps);
    }

    /// Records so many steps from now on; how many it was.
    pub(super) fn limit(&mut self, most_steps: usize) -> usize {
        std::mem::replace(&mut self.most_steps, most_steps)
    }

    /// Forks, has the child do its work with each call recorded that is kept, and waits. The tape has the word that
    /// the work ends with.
    pub(super) fn record(
        &mut self,
        kept: Kept,
        mut work: impl FnMut(&mut Call<'_>) -> Result<u64, String>,
    ) -> Result<Tape, Finding> {
        let failed = |why: String| Finding::failed(why);
        let mut tape =
            Tape::new(self.most_steps).map_err(|e| failed(format!("no memory for traces: {e}")))?;
        let said_before = printed();
        match host::confine::fork().map_err(|e| failed(format!("no process can be forked: {e}")))? {
            Forked::Child => {
                let done = std::panic::catch_unwind(AssertUnwindSafe(|| {
                    host::confine::end_with_parent().map_err(|e| e.to_string())?;
                    self.work(&mut tape, kept, &mut work).map(|word| tape.leave_word(word))
                }));
                if let Ok(Err(why)) = &done {
                    eprintln!("{why}");
                }
                host::confine::leave(if matches!(done, Ok(Ok(()))) { SAID } else { 101 })
            }
            Forked::Parent(number) => {
                let status = wait(number);
                let code = status.and_then(rustix::process::WaitStatus::exit_status);
                if code == Some(SAID) {
                    return Ok(tape);
                }
                let signal = status.and_then(rustix::process::WaitStatus::terminating_signal);
                Err(failed(last_words::ending(signal, code, said_since(said_before))))
            }
        }
    }

    fn work(
        &mut self,
        tape: &mut Tape,
        kept: Kept,
        work: &mut impl FnMut(&mut Call<'_>) -> Result<u64, String>,
    ) -> Result<u64, String> {
        let (mut recorded, mut unavailable) = (0, None);
        let (recorder, most_steps, of_set_up) =
            (&mut self.recorder, self.most_steps, self.most_of_set_up);
        let done = work(&mut |operation, step: &mut Step<'_>| {
            if !kept.keeps(operation, recorded) {
                return step();
            }
            recorded += 1;
            let is_set_up = operation == Operation::KeySetUp;
            match recorder.record(tape, if is_set_up { of_set_up } else { most_steps }, step) {
                Ok((code, _)) => code,
                Err(why) => {
                    unavailable = Some(why.0);
                    0
                }
            }
        });
        unavailable.map_or(done, Err)
    }
}
