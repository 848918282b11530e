//! What happens at each step: the SIGTRAP handler. It shares nothing with the code that it interrupts: it reads
//! the interrupted registers, writes to its log, and calls no function of any library. What the handler
//! executes itself has fixed outcomes, so that two traces differ only where the secret makes them:
//! instructions, and the kernel's functions that tell the time. Instructions in a row are executed at once
//! where that is possible ([`crate::step::x86_64::rows`]).

use crate::step::x86_64::rows::{Next, Rows, is_taken};
use crate::step::{End, REGISTER_PLACES, Step, Unavailable, Visit, thread_pointer};
use libc::{c_int, c_void, sigaction, siginfo_t, stack_t, ucontext_t};
use std::ffi::CStr;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence};

const TRAP_FLAG: i64 = 0x100;

/// `SYSCALL`; `CPUID`, and `UD2` or a breakpoint with `NOP` where a tier stands in for it. No trap
/// comes between one of these and the instruction behind it: the kernel returns from a system call,
/// and a handler from its signal, with the trap flag restored, which takes effect only after one
/// more instruction.
const NO_TRAP_AFTER: [[u8; 2]; 4] = [[0x0f, 0x05], [0x0f, 0xa2], [0x0f, 0x0b], [0xcc, 0x90]];

/// Where steps go.
#[derive(Debug)]
pub(crate) enum Sink {
    Counts(Table),
    /// The registers of each step are written.
    Tape {
        /// Where the next step goes: there is room for as many as are allowed.
        next: *mut Step,
        fixed: Fixed,
    },
}

#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) sink: Sink,
    /// `None` where every instruction is stepped.
    pub(crate) rows: Option<Rows>,
    pub(crate) steps: u64,
    /// How it ended; `None` while it goes on.
    pub(crate) finished: Option<End>,
    /// Where stepping ends.
    pub(crate) stop: u64,
    most_steps: u64,
    last: u64,
    pub(crate) stack: Range<u64>,
    /// Whose call is stepped, by [`thread_pointer`].
    thread: u64,
}

impl Log {
    pub(crate) fn new(sink: Sink, rows: Option<Rows>) -> Self {
        Self {
            sink,
            rows,
            steps: 0,
            finished: None,
            stop: 0,
            most_steps: 0,
            last: 0,
            stack: 0..0,
            thread: 0,
        }
    }

    pub(crate) fn begin(&mut self, most_steps: u64) {
        match &mut self.sink {
            Sink::Counts(table) => table.clear(),
            Sink::Tape { fixed, .. } => fixed.begin(),
        }
        self.rows.iter_mut().for_each(Rows::clear);
        (self.steps, self.stop, self.last) = (0, 0, 0);
        (self.most_steps, self.finished) = (most_steps, None);
        self.thread = thread_pointer();
    }

    /// Notes that the instruction that the registers are before is next, and what follows those that are
    /// executed here. Returns whether to step the next one: not at the end, nor where a row is next.
    fn note(&mut self, registers: &mut Registers, mask: &mut u64) -> bool {
        loop {
            if self.begin_row(registers) || !self.note_one(registers) {
                return false;
            }
            match system_call(registers) {
                Some(libc::SYS_mmap | libc::SYS_mprotect)
                    if registers[RDX] & i64::from(libc::PROT_EXEC) != 0 =>
                {
                    self.rows.iter_mut().for_each(Rows::forget);
                }
                Some(libc::SYS_rt_sigprocmask) if block(registers, mask) => continue,
                _ => {}
            }
            let is_fixed = match &mut self.sink {
                Sink::Tape { fixed, .. } => fixed.execute(registers),
                Sink::Counts(_) => false,
            };
            if !is_fixed && !self.rows.as_mut().is_some_and(|rows| execute(rows, registers)) {
                return true;
            }
        }
    }

    /// A trap within this handler, within a row, or in another thread, which has the flags of the one that made it.
    fn is_of_another(&self, registers: &Registers) -> bool {
        self.stack.contains(&(registers[RSP] as u64))
            || self.rows.as_ref().is_some_and(|rows| rows.is_within(registers[RIP] as u64))
            || self.thread != thread_pointer()
    }

    /// Lets the row that begins at the instruction pointer be executed, if there is one and so many steps are left.
    fn begin_row(&mut self, registers: &mut Registers) -> bool {
        let address = registers[libc::REG_RIP as usize] as u64;
        let left = self.most_steps.saturating_sub(self.steps);
        if self.finished.is_some() || address == self.stop {
            return false;
        }
        if matches!(&self.sink, Sink::Tape { fixed, .. } if fixed.vdso.begins(address)) {
            return false;
        }
        let Some(row) = self.rows.as_mut().and_then(|rows| rows.begin(address, left)) else {
            return false;
        };
        self.note_untrapped(address);
        self.steps = self.steps.wrapping_add(row.len as u64);
        self.last = row.last;
        registers[libc::REG_RIP as usize] = row.copy as i64;
        true
    }

    /// Goes on behind a row, if it is its breakpoint that this trap is.
    fn end_row(&mut self, registers: &mut Registers) -> bool {
        let at = &mut registers[libc::REG_RIP as usize];
        let Some(rows) = &self.rows else { return false };
        let Some(row) = rows.ended(*at as u64) else { return false };
        *at = row.behind as i64;
        if let Sink::Tape { next, .. } = &mut self.sink {
            for step in rows.steps(&row) {
                // SAFETY: there is room for as many steps as are allowed, and a row with more is not begun.
                unsafe {
                    **next = step;
                    *next = next.add(1);
                }
            }
        }
        true
    }

    /// Ends counting: what is counted of rows is added to the rest.
    pub(crate) fn visits(&mut self) -> Vec<Visit> {
        let Sink::Counts(table) = &mut self.sink else { return Vec::new() };
        if !self.rows.iter_mut().all(|rows| rows.count_into(table)) {
            self.finished = Some(End::TableFull);
        }
        table.visits()
    }

    fn note_one(&mut self, registers: &Registers) -> bool {
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
            Sink::Counts(table) => {
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
        let Sink::Counts(table) = &mut self.sink else { return };
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
pub(crate) static LOG: AtomicPtr<Log> = AtomicPtr::new(std::ptr::null_mut());

/// Who handled the signal before.
static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

extern "C" fn on_trap(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // A breakpoint comes with `SI_KERNEL`, and a trap with `TRAP_BRKPT` where a hypervisor has lost why it came.
    // SAFETY: the kernel passes a valid pointer.
    let is_step = [libc::TRAP_TRACE, libc::TRAP_BRKPT].contains(&unsafe { (*info).si_code });
    // SAFETY: the kernel passes a valid pointer; only this handler uses it for so long as the reference lives.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    // SAFETY: as before; the kernel's set of signals has one word.
    let mask = unsafe { &mut *(&raw mut (*context.cast::<ucontext_t>()).uc_sigmask).cast::<u64>() };
    let at = LOG.load(Ordering::Relaxed);
    // SAFETY: the log outlives the call that is being stepped, of which the stepped function knows nothing. Whichever thread
    // this is, it only reads what stays the same during the call, or is this thread's.
    if is_step && unsafe { at.as_ref() }.is_some_and(|log| log.is_of_another(registers)) {
        registers[FLAGS] &= !TRAP_FLAG;
        return;
    }
    let (mut is_ours, mut goes_on) = (is_step, false);
    // SAFETY: as above; the thread is the one whose call is stepped, and the only one that gets here with a log.
    if let Some(log) = unsafe { at.as_mut() } {
        // Under some hypervisors a trap comes twice, the second time within this handler: there it finds no log.
        LOG.store(std::ptr::null_mut(), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let ended = log.end_row(registers);
        is_ours = is_step || ended;
        goes_on = is_ours && log.note(registers, mask);
        compiler_fence(Ordering::SeqCst);
        LOG.store(at, Ordering::Relaxed);
    }
    if !is_ours {
        // SAFETY: this handler's own arguments.
        unsafe { pass_on(signal, info, context) };
    } else if goes_on {
        registers[FLAGS] |= TRAP_FLAG;
    } else {
        registers[FLAGS] &= !TRAP_FLAG;
    }
}

fn system_call(registers: &Registers) -> Option<i64> {
    let at = registers[RIP] as *const u8;
    // SAFETY: an instruction begins there, and no instruction is this byte alone.
    (unsafe { at.read() == 0x0f && at.add(1).read() == 0x05 }).then_some(registers[RAX])
}

/// Blocks signals as rt_sigprocmask(2) does, but not traps: a blocked one would end the process.
fn block(registers: &mut Registers, mask: &mut u64) -> bool {
    const TRAP: u64 = 1 << (libc::SIGTRAP - 1);
    let set = registers[RSI] as *const u64;
    if set.is_null() || registers[libc::REG_R10 as usize] != 8 {
        return false;
    }
    // SAFETY: the caller wants it read and written.
    let set = unsafe { set.read_unaligned() };
    let new = match registers[RDI] as c_int {
        libc::SIG_BLOCK => *mask | set,
        libc::SIG_SETMASK => set,
        _ => return false,
    };
    if new & TRAP == 0 {
        return false;
    }
    let old = registers[RDX] as *mut u64;
    if !old.is_null() {
        // SAFETY: as above.
        unsafe { old.write_unaligned(*mask) };
    }
    *mask = new & !TRAP;
    registers[RIP] += 2;
    (registers[RAX], registers[RCX]) = (0, registers[RIP]);
    registers[libc::REG_R11 as usize] = registers[FLAGS] | TRAP_FLAG;
    true
}

/// Executes the jump, call or return at the instruction pointer, if there is one.
fn execute(rows: &mut Rows, registers: &mut Registers) -> bool {
    let next = match rows.next(registers[RIP] as u64) {
        Next::Jump { condition, target, behind } => {
            if is_taken(condition, registers[FLAGS] as u64) { target } else { behind }
        }
        Next::Call { target, behind } => {
            registers[RSP] -= 8;
            // SAFETY: where the instruction itself would write.
            unsafe { (registers[RSP] as *mut u64).write_unaligned(behind) };
            target
        }
        // SAFETY: where the instruction itself would read.
        Next::Through { place } => unsafe { (place as *const u64).read_unaligned() },
        Next::Return => {
            // SAFETY: where the instruction itself would read.
            let to = unsafe { (registers[RSP] as *const u64).read_unaligned() };
            registers[RSP] += 8;
            to
        }
        Next::Stepped | Next::Row(_) => return false,
    };
    registers[RIP] = next as i64;
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
        // SAFETY: both functions may be called in a handler; the signal is delivered at once.
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
pub(crate) struct Handling {
    action: sigaction,
    stack: stack_t,
}

impl Handling {
    /// Puts the handler in place, on a stack of its own: the code under test may be short of its.
    pub(crate) fn begin(stack: &mut [u8]) -> Result<Self, Unavailable> {
        let ours = stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
        // SAFETY: zeroes are valid values of these C structures; every pointer is to a whole one,
        // and the stack outlives the handler, which is dropped before it.
        unsafe {
            let mut handling: Self = std::mem::zeroed();
            let mut action: sigaction = std::mem::zeroed();
            action.sa_sigaction = on_trap as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
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

/// The flags that RDRAND and RDSEED write; only the carry is set, which means success (Intel SDM volume 2B).
const RANDOM_FLAGS: i64 = 0x8d5;
const CARRY: i64 = 1;

/// Ticks between two readings of the time stamp counter: code that waits for time to pass goes on.
const TICKS: u64 = 1000;

/// The number that random numbers are made from, and the increment of Weyl's sequence (splitmix64).
const SEED: u64 = 0x5eed;
const WEYL: u64 = 0x9e37_79b9_7f4a_7c15;

/// Outcomes so far.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    process: i64,
    vdso: Vdso,
    readings: u64,
    random: u64,
}

/// The general registers and RIP of a signal frame.
pub(crate) type Registers = [libc::greg_t; 23];

pub(crate) const RAX: usize = libc::REG_RAX as usize;
const RDX: usize = libc::REG_RDX as usize;
const RCX: usize = libc::REG_RCX as usize;
pub(crate) const RDI: usize = libc::REG_RDI as usize;
pub(crate) const RSI: usize = libc::REG_RSI as usize;
pub(crate) const RIP: usize = libc::REG_RIP as usize;
const FLAGS: usize = libc::REG_EFL as usize;

impl Fixed {
    pub(crate) fn of_this_process() -> Self {
        let (process, vdso) = (i64::from(std::process::id()), Vdso::of_this_process());
        Self { process, vdso, readings: 0, random: SEED }
    }

    /// From the beginning again: each call meets the same outcomes.
    pub(crate) fn begin(&mut self) {
        (self.readings, self.random) = (0, SEED);
    }

    /// Executes the instruction that is next, if it is one of these. Returns whether it was.
    pub(crate) fn execute(&mut self, registers: &mut Registers) -> bool {
        if self.vdso.execute(registers, &mut self.readings) {
            return true;
        }
        let at = registers[RIP] as *const u8;
        // SAFETY: an instruction begins there, and each byte that is asked for is one of its own: a prefix, or the first
        // of two or three bytes, has another behind it. What lies behind the instruction may be on no page.
        let byte = |i: usize| unsafe { at.add(i).read() };
        let narrow = usize::from(byte(0) == 0x66);
        let rex = if byte(narrow) & 0xf0 == 0x40 { byte(narrow) } else { 0 };
        let begin = narrow + usize::from(rex != 0);
        if byte(begin) != 0x0f {
            return false;
        }
        let len = match byte(begin + 1) {
            0x05 => return self.system_call(registers),
            0x31 => self.time(registers, 2),
            0x01 if byte(begin + 2) == 0xf9 => {
                registers[RCX] = 0;
                self.time(registers, 3)
            }
            0xc7 if byte(begin + 2) >= 0xf0 => {
                let number = usize::from(byte(begin + 2) & 7) + 8 * usize::from(rex & 1);
                let bits = if rex & 8 != 0 { 64 } else { 32 - 16 * narrow };
                self.random_register(registers, number, bits)
            }
            _ => return false,
        };
        registers[RIP] += (begin + len) as i64;
        true
    }

    fn time(&mut self, registers: &mut Registers, len: usize) -> usize {
        self.readings += 1;
        let ticks = self.readings * TICKS;
        registers[RAX] = i64::from(ticks as u32);
        registers[RDX] = (ticks >> 32) as i64;
        len
    }

    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(WEYL);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn random_register(&mut self, registers: &mut Registers, number: usize, bits: usize) -> usize {
        let (value, register) = (self.next_random(), &mut registers[REGISTER_PLACES[number]]);
        *register = match bits {
            64 => value as i64,
            32 => i64::from(value as u32),
            _ => *register & !0xffff | i64::from(value as u16),
        };
        registers[FLAGS] = registers[FLAGS] & !RANDOM_FLAGS | CARRY;
        3
    }

    /// getrandom(2) and getpid(2).
    fn system_call(&mut self, registers: &mut Registers) -> bool {
        match registers[RAX] {
            libc::SYS_getrandom => {
                let len = registers[RSI] as usize;
                let to = registers[RDI] as *mut u8;
                for i in 0..len {
                    let byte = self.next_random() as u8;
                    // SAFETY: the caller wants so many bytes written there; what it has no right to, it would
                    // be told by the kernel and is ended for here.
                    unsafe { to.add(i).write(byte) };
                }
                registers[RAX] = registers[RSI];
            }
            libc::SYS_getpid => registers[RAX] = self.process,
            _ => return false,
        }
        registers[RIP] += 2;
        true
    }
}

// The kernel's functions that tell the time without a system call (vDSO(7)), executed by the handler: a library that
// seeds itself anew every few minutes would do so in one process and not in another.

const RSP: usize = libc::REG_RSP as usize;
const BILLION: u64 = 1_000_000_000;
/// What passes from one reading to the next, so that code that waits for time to pass goes on.
const NANOS: u64 = 1000;

/// Clocks up to `CLOCK_TAI`, which is the last: the others are a process's or a thread's.
const CLOCKS: usize = libc::CLOCK_TAI as usize + 1;

/// Where the functions begin, and what the clocks showed when this was made.
#[derive(Clone, Debug)]
pub(crate) struct Vdso {
    time: u64,
    gettimeofday: u64,
    clock_gettime: u64,
    clocks: [u64; CLOCKS],
}

impl Vdso {
    pub(crate) fn of_this_process() -> Self {
        // SAFETY: a name that ends with a zero; nothing is loaded, so nothing runs.
        let vdso = unsafe {
            libc::dlopen(c"linux-vdso.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
        };
        let of = |name: &CStr| {
            if vdso.is_null() {
                return 0;
            }
            // SAFETY: the handle is live.
            unsafe { libc::dlsym(vdso, name.as_ptr()) as u64 }
        };
        Self {
            time: of(c"__vdso_time"),
            gettimeofday: of(c"__vdso_gettimeofday"),
            clock_gettime: of(c"__vdso_clock_gettime"),
            clocks: std::array::from_fn(|clock| nanos(clock as libc::clockid_t)),
        }
    }

    /// Whether one of these functions begins at an address.
    fn begins(&self, at: u64) -> bool {
        at != 0 && [self.time, self.gettimeofday, self.clock_gettime].contains(&at)
    }

    /// Executes the function that begins here, if it is one of these, with so many readings before it. Returns
    /// whether it was.
    pub(crate) fn execute(&self, registers: &mut Registers, readings: &mut u64) -> bool {
        let at = registers[RIP] as u64;
        if !self.begins(at) {
            return false;
        }
        let clock = if at == self.clock_gettime { registers[RDI] } else { 0 };
        let Some(base) = usize::try_from(clock).ok().and_then(|clock| self.clocks.get(clock))
        else {
            return false;
        };
        if at == self.gettimeofday && registers[RSI] != 0 {
            return false; // Nobody asks for time zones.
        }
        *readings += 1;
        let now = base + *readings * NANOS;
        let (seconds, rest) = ((now / BILLION) as i64, (now % BILLION) as i64);
        let place = if at == self.clock_gettime { registers[RSI] } else { registers[RDI] };
        let to = place as *mut i64;
        registers[RAX] = 0;
        // SAFETY: what the caller gave for the time is as large as the function's type says (time_t, timeval,
        // timespec), or null; its return address lies on the stack.
        unsafe {
            if !to.is_null() {
                to.write_unaligned(seconds);
            }
            if at == self.time {
                registers[RAX] = seconds;
            } else if !to.is_null() {
                let part = if at == self.gettimeofday { rest / 1000 } else { rest };
                to.add(1).write_unaligned(part);
            }
            registers[RIP] = (registers[RSP] as *const i64).read();
        }
        registers[RSP] += 8;
        true
    }
}

fn nanos(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is as large as it has to be; an unknown clock leaves it.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec as u64 * BILLION + now.tv_nsec as u64
}

// Counts per address in memory that is set aside beforehand: what a signal handler may write to.

/// Places for addresses: a power of two. The longest known operation (Botan's first GCM message,
/// with its allocations) runs through some ten thousand.
const COUNTED_PLACES: usize = 1 << 16;
/// Filled so far, probing stays short; beyond, stepping is given up.
const MOST_COUNTED: usize = COUNTED_PLACES / 4 * 3;

/// Where to look for an address first, of 2^16 places. Fibonacci hashing (Knuth, TAOCP volume 3, section 6.4): 2^64 divided
/// by the golden ratio.
pub(crate) fn place(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

/// An open-addressing hash table with linear probing. Address 0 marks a free place: no code is
/// there.
#[derive(Debug)]
pub(crate) struct Table {
    places: Box<[Visit]>,
    filled: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { places: vec![Visit::default(); COUNTED_PLACES].into_boxed_slice(), filled: 0 }
    }

    /// Counts an address; `repeated` when the address before was the same. Returns whether there
    /// was room. Allocates nothing and never panics: it runs in a signal handler.
    pub(crate) fn count(&mut self, address: u64, repeated: bool) -> bool {
        self.add(address, u64::from(!repeated), u64::from(repeated))
    }

    /// As [`Table::count`], several at once.
    pub(crate) fn add(&mut self, address: u64, count: u64, repeats: u64) -> bool {
        let mut at = place(address);
        loop {
            let Some(place) = self.places.get_mut(at % COUNTED_PLACES) else { return false };
            if place.address == address || place.address == 0 {
                if place.address == 0 {
                    if self.filled >= MOST_COUNTED {
                        return false;
                    }
                    self.filled += 1;
                    place.address = address;
                }
                place.count = place.count.wrapping_add(count);
                place.repeats = place.repeats.wrapping_add(repeats);
                return true;
            }
            at = at.wrapping_add(1);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.places.fill(Visit::default());
        self.filled = 0;
    }

    /// What was counted, by address.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        let mut visits: Vec<Visit> =
            self.places.iter().filter(|v| v.address != 0).copied().collect();
        visits.sort_unstable_by_key(|v| v.address);
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_count() {
        let mut table = Table::new();
        // Addresses of one hash bucket and of many.
        let addresses = [1, 2, 1 << 16, 1 << 32, u64::MAX, 0x5555_0000_1000];
        for (i, address) in addresses.iter().enumerate() {
            for _ in 0..=i {
                assert!(table.count(*address, false));
            }
            assert!(table.count(*address, true));
        }
        let visits = table.visits();
        assert_eq!(visits.len(), addresses.len());
        for (i, address) in addresses.iter().enumerate() {
            let visit = visits.iter().find(|v| v.address == *address).unwrap();
            assert_eq!((visit.count, visit.repeats), (i as u64 + 1, 1));
        }
        table.clear();
        assert_eq!(table.visits(), []);
    }

    #[test]
    fn a_full_table_takes_no_further_address_and_still_counts_those_it_has() {
        let mut table = Table::new();
        let taken = (1..).take_while(|address| table.count(*address, false)).count();
        assert_eq!(taken, MOST_COUNTED);
        assert!(table.count(1, false));
        assert_eq!(table.visits()[0], Visit { address: 1, count: 2, repeats: 0 });
    }
}
