//! The two bytes that stand where a CPUID instruction was: HLT instead of CPUID's first byte, so that one handler
//! answers both (docs/METHOD.md, How it is applied). The second byte tells a rewritten CPUID from any other HLT.

/// CPUID.
pub const CPUID: [u8; 2] = [0x0f, 0xa2];

/// What is written in its place.
pub const MARKER: [u8; 2] = [0xf4, CPUID[1]];

/// Longest instruction there is (Intel SDM vol. 2A, section 2.3.11).
const LONGEST: usize = 15;

/// The length of the CPUID instruction, or of what was written in its place, that `byte` gives one
/// after the other; `None` when it is another instruction. No byte is asked for past the ones that
/// decide. Prefixes are passed over: CPUID ignores all but LOCK, with which it is invalid.
pub fn length(expected: [u8; 2], byte: impl Fn(usize) -> u8) -> Option<usize> {
    let prefixes = (0..LONGEST).take_while(|i| is_prefix(byte(*i))).count();
    let found = prefixes + 2 <= LONGEST
        && byte(prefixes) == expected[0]
        && byte(prefixes + 1) == expected[1];
    found.then_some(prefixes + 2)
}

/// Operand and address size, segments, repetition, REX.
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expected: [u8; 2], code: &[u8]) -> Option<usize> {
        length(expected, |i| code[i])
    }

    #[test]
    fn cpuid_is_known_with_and_without_prefixes() {
        assert_eq!(of(CPUID, &[0x0f, 0xa2]), Some(2));
        assert_eq!(of(CPUID, &[0x48, 0x0f, 0xa2]), Some(3));
        assert_eq!(of(CPUID, &[0x66, 0xf3, 0x0f, 0xa2]), Some(4));
    }

    #[test]
    fn each_pair_of_bytes_is_only_its_own() {
        assert_eq!(of(MARKER, &MARKER), Some(2));
        assert_eq!(of(MARKER, &CPUID), None);
        assert_eq!(of(CPUID, &MARKER), None);
    }

    #[test]
    fn another_instruction_is_none_and_nothing_past_it_is_read() {
        // The closures would panic on reading further than the slice goes.
        assert_eq!(of(CPUID, &[0x0f, 0x0b]), None); // ud2
        assert_eq!(of(CPUID, &[0x90]), None);
        assert_eq!(of(MARKER, &[0xf4, 0x90]), None); // some other hlt
        assert_eq!(of(CPUID, &[0xf0, 0x0f, 0xa2]), None); // lock cpuid is invalid
        assert_eq!(of(CPUID, &[0x66; 15]), None);
    }
}
