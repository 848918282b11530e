//! The process that is stepped, as its debugger sees it.

use super::exclusive::{self, Block};
use super::fixed::{Executed, Fixed};
use super::shared::Shared;
use super::{BEGIN, PAUSE, STOP};
use crate::step::{End, Step, Trace, Visit};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::io::Error;

/// General registers (`linux/elf.h`: NT_PRSTATUS).
const GENERAL: c_int = 1;

pub(super) type Registers = libc::user_regs_struct;

/// The process, attached until it is let go.
pub(super) struct Tracee {
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
    pub(super) fn attach(process: libc::pid_t) -> Result<Self, Error> {
        request(libc::PTRACE_SEIZE, process, 0, std::ptr::null_mut())?;
        Ok(Self { process, words: HashMap::new(), pending: 0 })
    }

    /// Steps the next call, leaves what was asked for, and lets the process go on.
    pub(super) fn step(&mut self, shared: &Shared) -> Result<(), Error> {
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
            registers = match exclusive::block(at, |address| self.word(address)) {
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
            if let Some(block) = exclusive::block(at, |address| self.word(address)) {
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

    /// Where it goes on.
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
        self.kept.extend([registers.sp, registers.pc, registers.pstate]);
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
