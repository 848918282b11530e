//! What the kernel says of the CPU changed in this process's memory, and reads of ID registers answered by a
//! signal handler.

mod apply;
mod registers;

pub use apply::{apply, hide, machine};
pub use registers::answered;
pub(crate) use registers::{features, questions};

/// Reads of ID registers as the copy of a library has them: `BRK` with this number, the register and where its value
/// is to go, in the place of `MRS` (both are words of 32 bits).
pub(crate) mod marker {
    /// MRS of a register with op0 = 3, op1 = 0, CRn = 0: what Linux lets programs read
    /// (Documentation/arch/arm64/cpu-feature-registers.rst).
    const MRS: u32 = 0xd538_0000;
    const BRK: u32 = 0xd420_0000;
    /// Tells ours from every other BRK: compilers use small numbers, debuggers and the kernel 0xf000 and more for
    /// EL0's.
    const NUMBER: u32 = 0x4000;

    /// The register that a word reads, by CRm and op2, and where to.
    pub(crate) fn read(word: u32) -> Option<(u8, u32)> {
        (word & 0xffff_f000 == MRS).then_some(((word >> 5 & 0x7f) as u8, word & 31))
    }

    /// What stands in the place of such a read.
    pub(crate) fn of(register: u8, to: u32) -> u32 {
        BRK | (NUMBER | u32::from(register) << 5 | to) << 5
    }

    /// The read that a word stands for.
    pub(crate) fn replaced(word: u32) -> Option<(u8, u32)> {
        let number = word >> 5 & 0xffff;
        let ours = word & 0xffe0_001f == BRK && number & 0xf000 == NUMBER;
        ours.then_some(((number >> 5 & 0x7f) as u8, number & 31))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_read_and_what_stands_for_it_name_the_same_registers() {
            // mrs x7, id_aa64isar0_el1; mrs xzr, id_aa64zfr0_el1
            for (word, register, to) in [(0xd538_0607, 0x30, 7), (0xd538_049f, 0x24, 31)] {
                assert_eq!(read(word), Some((register, to)));
                assert_eq!(replaced(of(register, to)), Some((register, to)));
            }
        }

        #[test]
        fn other_words_are_none() {
            // mrs x0, cntvct_el0; mrs x0, nzcv; brk #1; brk #0x7f; udf #0x4007
            for word in [0xd53b_e040, 0xd53b_4200, 0xd420_0020, 0xd420_0fe0, 0x0000_4007] {
                assert_eq!((read(word), replaced(word)), (None, None), "{word:#x}");
            }
        }
    }
}
