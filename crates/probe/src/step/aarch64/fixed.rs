//! Instructions whose outcome differs from process to process by itself, executed by the process that steps with fixed
//! outcomes: so that two traces differ only where the secret makes them.

use super::tracee::Registers;

/// Ticks between two readings of the counter: code that waits for time to pass goes on.
const TICKS: u64 = 1000;

/// The number that random numbers are made from, and the increment of Weyl's sequence (splitmix64).
const SEED: u64 = 0x5eed;
const WEYL: u64 = 0x9e37_79b9_7f4a_7c15;

/// The flags N, Z, C, V: random numbers leave none, which means success (Arm ARM, RNDR).
const FLAGS: u64 = 0xf << 28;

/// Outcomes so far.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    process: u64,
    readings: u64,
    random: u64,
}

/// What becomes of an instruction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Executed {
    /// The process itself executes it.
    No,
    /// Its registers are as they are behind it.
    Yes,
    /// The same; and these bytes are to be written there.
    Wrote(u64, Vec<u8>),
}

impl Fixed {
    pub(super) fn new(process: u64) -> Self {
        Self { process, readings: 0, random: SEED }
    }

    /// Executes a word, if it is one of these.
    pub(super) fn execute(&mut self, word: u32, registers: &mut Registers) -> Executed {
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
