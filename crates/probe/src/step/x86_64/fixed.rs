//! Instructions whose outcome differs from process to process by itself, executed by the handler with fixed
//! outcomes: so that two traces differ only where the secret makes them.

use super::vdso::Vdso;
use crate::step::tape::PLACES;

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
pub(super) struct Fixed {
    process: i64,
    vdso: Vdso,
    readings: u64,
    random: u64,
}

/// The general registers and RIP of a signal frame.
pub(super) type Registers = [libc::greg_t; 23];

pub(super) const RAX: usize = libc::REG_RAX as usize;
const RDX: usize = libc::REG_RDX as usize;
const RCX: usize = libc::REG_RCX as usize;
pub(super) const RDI: usize = libc::REG_RDI as usize;
pub(super) const RSI: usize = libc::REG_RSI as usize;
pub(super) const RIP: usize = libc::REG_RIP as usize;
const FLAGS: usize = libc::REG_EFL as usize;

impl Fixed {
    pub(super) fn of_this_process() -> Self {
        let (process, vdso) = (i64::from(std::process::id()), Vdso::of_this_process());
        Self { process, vdso, readings: 0, random: SEED }
    }

    /// From the beginning again: each call meets the same outcomes.
    pub(super) fn begin(&mut self) {
        (self.readings, self.random) = (0, SEED);
    }

    /// Executes the instruction that is next, if it is one of these. Returns whether it was.
    pub(super) fn execute(&mut self, registers: &mut Registers) -> bool {
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
        let (value, register) = (self.next_random(), &mut registers[PLACES[number]]);
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
