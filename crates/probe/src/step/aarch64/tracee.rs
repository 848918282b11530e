//! Step by step: the process that is stepped, loops of exclusive accesses that run in one piece, and
//! instructions with fixed outcomes.
//!
//! The process that is stepped, as its debugger sees it.

use crate::step::aarch64::{BEGIN, PAUSE, STOP, Shared};
use crate::step::{End, Step, Trace, Visit};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::io::Error;

/// General registers (`linux/elf.h`: NT_PRSTATUS).
const GENERAL: c_int = 1;

pub(crate) type Registers = libc::user_regs_struct;

/// The process, attached until it is let go.
pub(crate) struct Tracee {
    process: libc::pid_t,
    /// Words of its code that were read.
    words: HashMap<u64, Option<u32>>,
    /// A signal that it has not been given yet.
    pending: c_int,
}

/// Why a process stopped.
enum Stop {
    /// A step, or a breakpoint.
    Trap,
    /// Another signal, which it is given when it goes on.
    Other,
}

impl Tracee {
    pub(crate) fn attach(process: libc::pid_t) -> Result<Self, Error> {
        request(libc::PTRACE_SEIZE, process, 0, std::ptr::null_mut())?;
        Ok(Self { process, words: HashMap::new(), pending: 0 })
    }

    /// Steps the next call, leaves what was asked for, and lets the process go on.
    pub(crate) fn step(&mut self, shared: &Shared) -> Result<(), Error> {
        let begin = self.run_to(BEGIN)?;
        // The call itself is not counted.
        self.set_place(begin + 4)?;
        let first = self.step_once(begin + 4)?;
        let (stop, asked) = (begin + 8, shared.asked());
        match asked.tape {
            None => {
                let mut counts = Counts::default();
                let end = self.count(first, stop, asked.most_steps, &mut counts)?;
                self.leave(end)?;
                shared.answer(&counts.trace(end));
            }
            Some((to, own_number)) => {
                let mut log = Log { to, own_number, ..Log::default() };
                let end = self.record(first, stop, asked.most_steps, &mut log)?;
                self.flush(&mut log)?;
                self.leave(end)?;
                shared.answer_recorded(log.steps, end);
            }
        }
        self.set_place(stop + 4)?;
        self.act(libc::PTRACE_DETACH)
    }

    /// Steps until the call returns, and counts.
    fn count(
        &mut self,
        mut registers: Registers,
        stop: u64,
        most: u64,
        counts: &mut Counts,
    ) -> Result<End, Error> {
        loop {
            let at = registers.pc;
            if at == stop {
                return Ok(End::Returned);
            } else if counts.steps >= most {
                return Ok(End::StepLimit);
            } else if counts.visits.len() >= Shared::room() {
                return Ok(End::TableFull);
            }
            registers = match block(at, |address| self.word(address)) {
                Some(block) => {
                    let words = self.run_block(&block)?;
                    (0..words).for_each(|i| counts.add(at + 4 * i));
                    self.registers()?
                }
                None => {
                    counts.add(at);
                    self.step_once(at)?
                }
            };
        }
    }

    /// Steps until the call returns, and writes down the registers before each step.
    fn record(
        &mut self,
        mut registers: Registers,
        stop: u64,
        most: u64,
        log: &mut Log,
    ) -> Result<End, Error> {
        let mut fixed = Fixed::new(log.own_number);
        loop {
            let at = registers.pc;
            if at == stop {
                return Ok(End::Returned);
            } else if log.steps >= most {
                return Ok(End::StepLimit);
            }
            log.add(&registers);
            if log.kept.len() >= Log::MOST {
                self.flush(log)?;
            }
            if let Some(block) = block(at, |address| self.word(address)) {
                self.run_block(&block)?;
                registers = self.registers()?;
                continue;
            }
            let word = self.word(at).unwrap_or_default();
            let executed = fixed.execute(word, &mut registers);
            if executed == Executed::No {
                registers = self.step_once(at)?;
                continue;
            }
            if let Executed::Wrote(to, bytes) = executed {
                self.write_bytes(to, &bytes)?;
            }
            self.general(libc::PTRACE_SETREGSET, &mut registers)?;
        }
    }

    /// Lets it run to the end of a call that was not seen to it.
    fn leave(&mut self, end: End) -> Result<(), Error> {
        if end == End::Returned {
            return Ok(());
        }
        self.act(libc::PTRACE_CONT)?;
        self.run_to(STOP).map(|_| ())
    }

    /// Waits until it, which is running, comes to a breakpoint of ours; where that is.
    fn run_to(&mut self, breakpoint: u32) -> Result<u64, Error> {
        loop {
            if let Stop::Trap = self.stopped()? {
                let at = self.registers()?.pc;
                if self.word(at) == Some(breakpoint) {
                    return Ok(at);
                }
                self.pending = libc::SIGTRAP;
            }
            self.act(libc::PTRACE_CONT)?;
        }
    }

    /// One step from a place; the registers behind it. A breakpoint of the library's own is its to handle.
    fn step_once(&mut self, before: u64) -> Result<Registers, Error> {
        self.act(libc::PTRACE_SINGLESTEP)?;
        let stop = self.stopped()?;
        let registers = self.registers()?;
        let is_breakpoint = |word: u32| word & 0xffe0_001f == 0xd420_0000;
        if matches!(stop, Stop::Trap)
            && registers.pc == before
            && self.word(before).is_some_and(is_breakpoint)
        {
            self.pending = libc::SIGTRAP;
        }
        Ok(registers)
    }

    /// Runs a block in one piece; how many of its words that were, each once, however often the loop went round.
    fn run_block(&mut self, block: &Block) -> Result<u64, Error> {
        let kept: Vec<(u64, Option<u32>)> =
            block.exits.iter().map(|(exit, _)| (*exit, self.word(*exit))).collect();
        for (exit, _) in &block.exits {
            self.write(*exit, PAUSE)?;
        }
        let at = loop {
            self.act(libc::PTRACE_CONT)?;
            if let Stop::Trap = self.stopped()? {
                let at = self.registers()?.pc;
                if block.exits.iter().any(|(exit, _)| *exit == at) {
                    break at;
                }
                self.pending = libc::SIGTRAP;
            }
        };
        for (exit, word) in kept {
            self.write(exit, word.ok_or(std::io::ErrorKind::InvalidData)?)?;
        }
        let words = block.exits.iter().find(|(exit, _)| *exit == at);
        Ok(words.map_or(block.words, |(_, n)| *n))
    }

    /// Writes what was recorded, behind what it has already.
    fn flush(&self, log: &mut Log) -> Result<(), Error> {
        let bytes: Vec<u8> = log.kept.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.write_bytes(log.to, &bytes)?;
        log.to += bytes.len() as u64;
        log.kept.clear();
        Ok(())
    }

    /// Writes into its memory, where it may write itself.
    fn write_bytes(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        let from = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let iov_base = std::ptr::without_provenance_mut::<c_void>(to as usize);
        let place = libc::iovec { iov_base, iov_len: bytes.len() };
        // SAFETY: reads so many bytes here; what they overwrite is another process's.
        let written = unsafe {
            libc::process_vm_writev(self.process, &raw const from, 1, &raw const place, 1, 0)
        };
        if written == bytes.len() as isize { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// A word of its code; `None` where none can be read.
    fn word(&mut self, address: u64) -> Option<u32> {
        let process = self.process;
        *self.words.entry(address).or_insert_with(|| {
            let mut word = [0_u8; 4];
            let to = libc::iovec { iov_base: word.as_mut_ptr().cast(), iov_len: word.len() };
            let from = libc::iovec {
                iov_base: std::ptr::without_provenance_mut::<c_void>(address as usize),
                iov_len: word.len(),
            };
            // SAFETY: reads four bytes of another process into a place of as many.
            let read =
                unsafe { libc::process_vm_readv(process, &raw const to, 1, &raw const from, 1, 0) };
            (read == 4).then(|| u32::from_le_bytes(word))
        })
    }

    /// Changes a word of its code, also where it may not write itself.
    fn write(&self, address: u64, word: u32) -> Result<(), Error> {
        let mut long = [0_u8; 8];
        let place = std::ptr::without_provenance_mut::<c_void>(address as usize);
        let both: *mut c_void = long.as_mut_ptr().cast();
        // The system call itself, unlike the C library's function, writes what it has read through its last
        // argument: eight bytes.
        let what = libc::c_long::from(libc::PTRACE_PEEKTEXT);
        // SAFETY: reads eight bytes of another process into a place of as many.
        let read = unsafe { libc::syscall(libc::SYS_ptrace, what, self.process, place, both) };
        if read != 0 {
            return Err(Error::last_os_error());
        }
        long[..4].copy_from_slice(&word.to_le_bytes());
        let value = std::ptr::without_provenance_mut(u64::from_le_bytes(long) as usize);
        request(libc::PTRACE_POKETEXT, self.process, address as usize, value)
    }

    fn registers(&self) -> Result<Registers, Error> {
        // SAFETY: zeroes are valid registers.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        self.general(libc::PTRACE_GETREGSET, &mut registers)?;
        Ok(registers)
    }

    fn set_place(&self, place: u64) -> Result<(), Error> {
        let mut registers = self.registers()?;
        registers.pc = place;
        self.general(libc::PTRACE_SETREGSET, &mut registers)
    }

    fn general(&self, what: libc::c_uint, registers: &mut Registers) -> Result<(), Error> {
        let iov_base = (&raw mut *registers).cast();
        let mut place = libc::iovec { iov_base, iov_len: size_of::<Registers>() };
        request(what, self.process, GENERAL as usize, (&raw mut place).cast())
    }

    /// Goes on in some way, with the signal that it was sent.
    fn act(&mut self, how: libc::c_uint) -> Result<(), Error> {
        let signal = std::ptr::without_provenance_mut(std::mem::take(&mut self.pending) as usize);
        request(how, self.process, 0, signal)
    }

    /// Waits until it stops, and keeps the signal for it.
    fn stopped(&mut self) -> Result<Stop, Error> {
        let mut status = 0;
        loop {
            // SAFETY: waits for a process that is traced.
            if unsafe { libc::waitpid(self.process, &raw mut status, libc::__WALL) } == self.process
            {
                break;
            }
            let error = Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        if !libc::WIFSTOPPED(status) {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        if signal == libc::SIGTRAP && event == 0 {
            return Ok(Stop::Trap);
        }
        // Events are no signals.
        self.pending = if event == 0 { signal } else { 0 };
        Ok(Stop::Other)
    }
}

impl Drop for Tracee {
    /// Whatever went wrong, it goes on; what is not traced any more is left alone.
    fn drop(&mut self) {
        let _ = self.act(libc::PTRACE_DETACH);
    }
}

fn request(
    what: libc::c_uint,
    process: libc::pid_t,
    place: usize,
    data: *mut c_void,
) -> Result<(), Error> {
    let place = std::ptr::without_provenance_mut::<c_void>(place);
    // SAFETY: each request's data is what it takes: a number, or a pointer to a whole `iovec`.
    match unsafe { libc::ptrace(what, process, place, data) } {
        -1 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Registers of steps, and where they go.
#[derive(Default)]
struct Log {
    kept: Vec<u64>,
    to: u64,
    own_number: u64,
    steps: u64,
}

impl Log {
    /// Words that are written at once.
    const MOST: usize = 128 * Step::WORDS;

    fn add(&mut self, registers: &Registers) {
        self.kept.extend(registers.regs);
        self.kept.extend([registers.sp, registers.pc]);
        self.steps += 1;
    }
}

/// Addresses and how often each was executed.
#[derive(Default)]
struct Counts {
    visits: HashMap<u64, (u64, u64)>,
    steps: u64,
    last: u64,
}

impl Counts {
    fn add(&mut self, address: u64) {
        let (count, repeats) = self.visits.entry(address).or_default();
        if self.last == address {
            *repeats += 1
        } else {
            *count += 1
        }
        self.last = address;
        self.steps += 1;
    }

    fn trace(&self, end: End) -> Trace {
        let of = |(address, (count, repeats)): (&u64, &(u64, u64))| Visit {
            address: *address,
            count: *count,
            repeats: *repeats,
        };
        let mut visits: Vec<Visit> = self.visits.iter().map(of).collect();
        visits.sort_unstable_by_key(|v| v.address);
        Trace { visits, steps: self.steps, end }
    }
}

// Loops of exclusive loads and stores (LDXR, STXR), which never end while they are stepped: each step takes the
// exclusive access away (Arm ARM, B2.17). They run in one piece, up to a breakpoint behind them.
/// Words behind an exclusive load in which its store must be: compilers and hand-written code need fewer than ten.
const MOST_WORDS: u64 = 16;

/// Where such a loop can be left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) words: u64,
    /// Places that it leaves for, each with the words that were executed until then.
    pub(crate) exits: Vec<(u64, u64)>,
}

/// The block that begins with the exclusive load at `begin`; `None` where the word is none, or its store is not found.
pub(crate) fn block(begin: u64, mut word: impl FnMut(u64) -> Option<u32>) -> Option<Block> {
    if !is_load(word(begin)?) {
        return None;
    }
    let store = (1..MOST_WORDS).find(|i| word(begin + 4 * i).is_some_and(is_store))?;
    // The jump back to the load, if the store did not succeed.
    let again = word(begin + 4 * (store + 1)).and_then(jump);
    let words = store + 1 + u64::from(again.is_some());
    let end = begin + 4 * words;
    let mut exits = vec![(end, words)];
    for i in 1..words {
        let at = begin + 4 * i;
        let to = word(at).and_then(jump).map(|distance| at.wrapping_add_signed(distance));
        if let Some(to) = to.filter(|to| !(begin..=end).contains(to)) {
            exits.push((to, i + 1));
        }
    }
    Some(Block { words, exits })
}

/// LDXR, LDAXR, LDXP, LDAXP of any size (Arm ARM, C4.1: load/store exclusive; CASP, with the same bits, is of sizes 0
/// and 1 only).
fn is_load(word: u32) -> bool {
    word & 0x3fc0_0000 == 0x0840_0000 && !is_compare_and_swap(word)
}

/// STXR, STLXR, STXP, STLXP.
fn is_store(word: u32) -> bool {
    word & 0x3fc0_0000 == 0x0800_0000 && !is_compare_and_swap(word)
}

fn is_compare_and_swap(word: u32) -> bool {
    word & 0x8020_0000 == 0x0020_0000
}

/// How far a conditional jump goes, in bytes: B.cond, CBZ, CBNZ, TBZ, TBNZ.
fn jump(word: u32) -> Option<i64> {
    let signed =
        |bits: u32, len: u32| i64::from((bits << (32 - len)).cast_signed() >> (32 - len)) * 4;
    if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        Some(signed(word >> 5 & 0x7_ffff, 19))
    } else if word & 0x7e00_0000 == 0x3600_0000 {
        Some(signed(word >> 5 & 0x3fff, 14))
    } else {
        None
    }
}

// Instructions whose outcome differs from process to process by itself, executed by the process that steps with fixed
// outcomes: so that two traces differ only where the secret makes them.

/// Ticks between two readings of the counter: code that waits for time to pass goes on.
const TICKS: u64 = 1000;

/// The number that random numbers are made from, and the increment of Weyl's sequence (splitmix64).
const SEED: u64 = 0x5eed;
const WEYL: u64 = 0x9e37_79b9_7f4a_7c15;

/// The flags N, Z, C, V: random numbers leave none, which means success (Arm ARM, RNDR).
const FLAGS: u64 = 0xf << 28;

/// Outcomes so far.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    process: u64,
    readings: u64,
    random: u64,
}

/// What becomes of an instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Executed {
    /// The process itself executes it.
    No,
    /// Its registers are as they are behind it.
    Yes,
    /// The same; and these bytes are to be written there.
    Wrote(u64, Vec<u8>),
}

impl Fixed {
    pub(crate) fn new(process: u64) -> Self {
        Self { process, readings: 0, random: SEED }
    }

    /// Executes a word, if it is one of these.
    pub(crate) fn execute(&mut self, word: u32, registers: &mut Registers) -> Executed {
        const CALL: u32 = 0xd400_0001;
        let value = match word & !31 {
            // MRS of CNTVCT_EL0, RNDR, RNDRRS.
            0xd53b_e040 => {
                self.readings += 1;
                self.readings * TICKS
            }
            0xd53b_2400 | 0xd53b_2420 => {
                registers.pstate &= !FLAGS;
                self.next_random()
            }
            _ if word == CALL => return self.system_call(registers),
            _ => return Executed::No,
        };
        // Register 31 is none here.
        if let Some(register) = registers.regs.get_mut((word & 31) as usize) {
            *register = value;
        }
        registers.pc += 4;
        Executed::Yes
    }

    /// getrandom(2) and getpid(2).
    fn system_call(&mut self, registers: &mut Registers) -> Executed {
        /// More than any library asks for at once.
        const MOST: u64 = 1 << 16;
        let [to, len, ..] = registers.regs;
        let number = registers.regs[8] as i64;
        let done = if number == libc::SYS_getrandom && len <= MOST {
            registers.regs[0] = len;
            Executed::Wrote(to, (0..len).map(|_| self.next_random() as u8).collect())
        } else if number == libc::SYS_getpid {
            registers.regs[0] = self.process;
            Executed::Yes
        } else {
            return Executed::No;
        };
        registers.pc += 4;
        done
    }

    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(WEYL);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u32]) -> Option<Block> {
        block(0x1000, |at| words.get(usize::try_from(at.checked_sub(0x1000)? / 4).ok()?).copied())
    }

    #[test]
    fn a_loop_that_adds_is_one_block() {
        // ldxr w1, [x0]; add w2, w1, #1; stxr w3, w2, [x0]; cbnz w3, .-12; ret
        let found = of(&[0x885f_7c01, 0x1100_0422, 0x8803_7c02, 0x35ff_ffa3, 0xd65f_03c0]);
        assert_eq!(found, Some(Block { words: 4, exits: vec![(0x1010, 4)] }));
    }

    #[test]
    fn a_comparison_may_leave_before_the_store() {
        // ldaxr x1, [x0]; cmp x1, x2; b.ne .+16; stlxr w3, x4, [x0]; cbnz w3, .-16; clrex (of the exit)
        let found =
            of(&[0xc85f_fc01, 0xeb02_003f, 0x5400_0081, 0xc803_fc04, 0x35ff_ff83, 0, 0xd503_3f5f]);
        assert_eq!(found, Some(Block { words: 5, exits: vec![(0x1014, 5), (0x1018, 3)] }));
    }

    #[test]
    fn what_is_no_exclusive_load_or_has_no_store_is_none() {
        // ldar w1, [x0]; ldr w1, [x0]; casp w0, w1, w2, w3, [x4]; ldxr without a store
        for word in [0x88df_fc01, 0xb940_0001, 0x0820_7c82, 0x0860_7c82, 0x885f_7c01] {
            assert_eq!(of(&[word, 0xd503_201f]), None, "{word:#x}");
        }
    }

    fn registers(values: &[(usize, u64)]) -> Registers {
        // SAFETY: zeroes are valid registers.
        let mut all: Registers = unsafe { std::mem::zeroed() };
        values.iter().for_each(|(at, value)| all.regs[*at] = *value);
        all
    }

    #[test]
    fn counters_and_random_numbers_are_the_same_in_every_process() {
        let of = || {
            let (mut fixed, mut all) = (Fixed::new(7), registers(&[]));
            // mrs x1, cntvct_el0; mrs x2, rndr; mrs xzr, rndrrs
            let done = [0xd53b_e041, 0xd53b_2402, 0xd53b_243f].map(|w| fixed.execute(w, &mut all));
            assert_eq!(done, [Executed::Yes, Executed::Yes, Executed::Yes]);
            (all.regs[1], all.regs[2], all.pc)
        };
        assert_eq!(of(), of());
        assert_eq!((of().0, of().2), (TICKS, 12));
        assert!(of().1 != 0);
    }

    #[test]
    fn the_kernels_random_numbers_and_the_process_are_fixed_and_other_calls_are_its_own() {
        let mut fixed = Fixed::new(7);
        let call = |fixed: &mut Fixed, number: i64| {
            let mut all = registers(&[(0, 0x1000), (1, 3), (8, number as u64)]);
            (fixed.execute(0xd400_0001, &mut all), all.regs[0], all.pc)
        };
        let (wrote, len, next) = call(&mut fixed, libc::SYS_getrandom);
        let Executed::Wrote(0x1000, bytes) = wrote else { panic!("{wrote:?}") };
        assert_eq!((bytes.len(), len, next), (3, 3, 4));
        assert_eq!(call(&mut fixed, libc::SYS_getpid), (Executed::Yes, 7, 4));
        assert_eq!(call(&mut fixed, libc::SYS_getuid), (Executed::No, 0x1000, 0));
        assert_eq!(fixed.execute(0xd503_201f, &mut registers(&[])), Executed::No);
    }
}
