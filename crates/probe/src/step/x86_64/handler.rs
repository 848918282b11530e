//! The SIGTRAP handler. It shares nothing with the code that it interrupts: it reads the
//! interrupted registers, writes to its log, and calls no function of any library.

use super::fixed::Fixed;
use super::rows::{Next, Rows, is_taken};
use super::table::Table;
use crate::step::{End, Step, Unavailable, Visit};
use libc::{c_int, c_void, sigaction, siginfo_t, stack_t, ucontext_t};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The trap flag among the flags.
const TRAP_FLAG: i64 = 0x100;

/// `SYSCALL`; `CPUID`, and `UD2` or a breakpoint with `NOP` where a tier stands in for it. No trap
/// comes between one of these and the instruction behind it: the kernel returns from a system call,
/// and a handler from its signal, with the trap flag restored, which takes effect only after one
/// more instruction.
const NO_TRAP_AFTER: [[u8; 2]; 4] = [[0x0f, 0x05], [0x0f, 0xa2], [0x0f, 0x0b], [0xcc, 0x90]];

/// Where steps go.
#[derive(Debug)]
pub(super) enum Sink {
    /// Each address is counted.
    Counts {
        table: Table,
        /// `None` where every instruction is stepped.
        rows: Option<Rows>,
    },
    /// The registers of each step are written.
    Tape {
        /// Where the next step goes: there is room for as many as are allowed.
        next: *mut Step,
        fixed: Fixed,
    },
}

/// What the handler writes to.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) sink: Sink,
    pub(super) steps: u64,
    /// How it ended; `None` while it goes on.
    pub(super) finished: Option<End>,
    /// Where stepping ends.
    pub(super) stop: u64,
    most_steps: u64,
    last: u64,
}

impl Log {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, steps: 0, finished: None, stop: 0, most_steps: 0, last: 0 }
    }

    pub(super) fn begin(&mut self, most_steps: u64) {
        match &mut self.sink {
            Sink::Counts { table, rows } => {
                table.clear();
                rows.iter_mut().for_each(Rows::clear);
            }
            Sink::Tape { fixed, .. } => fixed.begin(),
        }
        (self.steps, self.stop, self.last) = (0, 0, 0);
        (self.most_steps, self.finished) = (most_steps, None);
    }

    /// Notes that the instruction that the registers are before is next, and what follows those that are
    /// executed here. Returns whether to step the next one: not at the end, nor where a row is next.
    fn note(&mut self, registers: &mut [libc::greg_t; 23]) -> bool {
        loop {
            if self.begin_row(registers) || !self.note_one(registers) {
                return false;
            }
            let executed = match &mut self.sink {
                Sink::Tape { fixed, .. } => fixed.execute(registers),
                Sink::Counts { rows, .. } => rows.as_mut().is_some_and(|r| jump(r, registers)),
            };
            if !executed {
                return true;
            }
        }
    }

    /// Lets the row that begins at the instruction pointer be executed, if there is one and so many steps are left.
    fn begin_row(&mut self, registers: &mut [libc::greg_t; 23]) -> bool {
        let address = registers[libc::REG_RIP as usize] as u64;
        let left = self.most_steps.saturating_sub(self.steps);
        if self.finished.is_some() || address == self.stop {
            return false;
        }
        let Sink::Counts { rows: Some(rows), .. } = &mut self.sink else { return false };
        let Some(row) = rows.begin(address, left) else { return false };
        self.note_untrapped(address);
        self.steps = self.steps.wrapping_add(row.len as u64);
        self.last = row.last;
        registers[libc::REG_RIP as usize] = row.copy as i64;
        true
    }

    /// Goes on behind a row, if it is its breakpoint that this trap is.
    fn end_row(&mut self, registers: &mut [libc::greg_t; 23]) -> bool {
        let Sink::Counts { rows: Some(rows), .. } = &self.sink else { return false };
        let at = &mut registers[libc::REG_RIP as usize];
        let behind = rows.behind(*at as u64);
        *at = behind.map_or(*at, |behind| behind as i64);
        behind.is_some()
    }

    /// Ends counting: what is counted of rows is added to the rest.
    pub(super) fn visits(&mut self) -> Vec<Visit> {
        let Sink::Counts { table, rows } = &mut self.sink else { return Vec::new() };
        if !rows.iter_mut().all(|rows| rows.count_into(table)) {
            self.finished = Some(End::TableFull);
        }
        table.visits()
    }

    fn note_one(&mut self, registers: &[libc::greg_t; 23]) -> bool {
        let address = registers[libc::REG_RIP as usize] as u64;
        if self.finished.is_some() {
            // A library that had saved its flags while stepping has just restored them.
            return false;
        }
        self.note_untrapped(address);
        if address == self.stop {
            self.finished = Some(End::Returned);
            return false;
        }
        if self.steps >= self.most_steps {
            self.finished = Some(End::StepLimit);
            return false;
        }
        self.steps = self.steps.wrapping_add(1);
        match &mut self.sink {
            Sink::Counts { table, .. } => {
                if !table.count(address, address == self.last) {
                    self.finished = Some(End::TableFull);
                    return false;
                }
            }
            Sink::Tape { next, .. } => {
                // SAFETY: there is room for as many steps as are allowed; a step is the first of the registers.
                unsafe {
                    **next = *registers.as_ptr().cast::<Step>();
                    *next = next.add(1);
                }
            }
        }
        self.last = address;
        true
    }

    /// Counts the instruction that was executed without a trap before it, if there was one.
    fn note_untrapped(&mut self, address: u64) {
        let Sink::Counts { table, .. } = &mut self.sink else { return };
        let next = self.last.wrapping_add(2);
        if self.last == 0 || address == next {
            return;
        }
        // SAFETY: an instruction was executed there, so there are bytes of code, one at least; both
        // bytes are on one page unless it is the page's last, which is left alone.
        let is_untrapped = self.last & 0xfff != 0xfff
            && NO_TRAP_AFTER.contains(&unsafe { *(self.last as *const [u8; 2]) });
        if is_untrapped && !table.count(next, false) {
            self.finished = Some(End::TableFull);
        }
    }
}

/// The log of the call that is being stepped; null between calls.
pub(super) static LOG: AtomicPtr<Log> = AtomicPtr::new(std::ptr::null_mut());

/// Who handled the signal before.
static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

extern "C" fn on_trap(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid pointer.
    let is_step = unsafe { (*info).si_code } == libc::TRAP_TRACE;
    // SAFETY: the kernel passes a valid pointer; only this handler uses it for so long as the reference lives.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    // SAFETY: the log outlives the call that is being stepped, in whose thread this runs; the
    // stepped function knows nothing of it.
    let mut log = unsafe { LOG.load(Ordering::Relaxed).as_mut() };
    if !is_step && !log.as_mut().is_some_and(|log| log.end_row(registers)) {
        // SAFETY: this handler's own arguments.
        unsafe { pass_on(signal, info, context) };
        return;
    }
    if log.is_some_and(|log| log.note(registers)) {
        registers[libc::REG_EFL as usize] |= TRAP_FLAG;
    } else {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
}

/// Executes the jump at the instruction pointer, if there is one.
fn jump(rows: &mut Rows, registers: &mut [libc::greg_t; 23]) -> bool {
    let at = registers[libc::REG_RIP as usize] as u64;
    let Next::Jump { condition, target, behind } = rows.next(at) else { return false };
    let taken = is_taken(condition, registers[libc::REG_EFL as usize] as u64);
    registers[libc::REG_RIP as usize] = if taken { target } else { behind } as i64;
    true
}

/// A breakpoint of somebody else's: their handler has it, or the process ends as it would without
/// us.
///
/// # Safety
/// The arguments must be a signal handler's own.
unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let before = BEFORE.load(Ordering::Relaxed);
    if before == libc::SIG_DFL || before == libc::SIG_IGN {
        // SAFETY: both functions may be called in a handler; the signal is delivered on return.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    } else {
        // SAFETY: the address of the handler that was in place before, which takes these three
        // arguments; one that takes only the first ignores the others.
        unsafe {
            let handler = std::mem::transmute::<
                usize,
                extern "C" fn(c_int, *mut siginfo_t, *mut c_void),
            >(before);
            handler(signal, info, context);
        }
    }
}

/// The handler in place; what was there before comes back when it is dropped.
pub(super) struct Handling {
    action: sigaction,
    stack: stack_t,
}

impl Handling {
    /// Puts the handler in place, on a stack of its own: the code under test may be short of its.
    pub(super) fn begin(stack: &mut [u8]) -> Result<Self, Unavailable> {
        let ours = stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
        // SAFETY: zeroes are valid values of these C structures; every pointer is to a whole one,
        // and the stack outlives the handler, which is dropped before it.
        unsafe {
            let mut handling: Self = std::mem::zeroed();
            let mut action: sigaction = std::mem::zeroed();
            action.sa_sigaction = on_trap as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            if libc::sigaltstack(&raw const ours, &raw mut handling.stack) != 0 {
                return Err(last_error("an alternate signal stack"));
            }
            if libc::sigaction(libc::SIGTRAP, &raw const action, &raw mut handling.action) != 0 {
                return Err(last_error("a handler for SIGTRAP"));
            }
            BEFORE.store(handling.action.sa_sigaction, Ordering::SeqCst);
            // A blocked trap would end the process.
            let mut traps: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut traps);
            libc::sigaddset(&raw mut traps, libc::SIGTRAP);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const traps, std::ptr::null_mut());
            Ok(handling)
        }
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        // SAFETY: both are what the system gave.
        unsafe {
            libc::sigaction(libc::SIGTRAP, &raw const self.action, std::ptr::null_mut());
            libc::sigaltstack(&raw const self.stack, std::ptr::null_mut());
        }
    }
}

fn last_error(what: &str) -> Unavailable {
    Unavailable(format!("{what} cannot be had: {}", std::io::Error::last_os_error()))
}
