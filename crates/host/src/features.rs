//! Which of the kernel's CPU flags bear on ciphers or on timing.

/// x86-64 and AArch64 in one list: the names do not clash where both have them.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    // Instructions that ciphers and digests are made of.
    "aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni", "sha_ni", "sha512", "sm3", "sm4", "aeskle",
    "sse2", "pni", "ssse3", "sse4_1", "sse4_2", "avx", "avx2", "avx_vnni", "fma", "xop", "adx",
    "abm", "bmi1", "bmi2", "movbe", "popcnt", "rdrand", "rdseed",
    // How fast memory is copied.
    "erms", "fsrm",
    // Clocks, and what hides instructions from a library.
    "rdtscp", "constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable", "hypervisor",
    "cpuid_fault",
    // AArch64.
    "asimd", "atomics", "cpuid", "pmull", "sha1", "sha2", "sha3", "sve", "sve2", "sveaes", "svepmull", "svesha3",
    "svesm4", "rng",
];

/// Families whose members keep growing.
const FAMILIES: &[&str] = &["avx512", "avx10", "amx_"];

/// The flags that matter, in the kernel's spelling and order.
pub(crate) fn bearing_on_ciphers(flags: &str) -> Vec<String> {
    flags
        .split_whitespace()
        .filter(|f| NAMES.contains(f) || FAMILIES.iter().any(|family| f.starts_with(family)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flags_that_bear_on_ciphers_or_timing_are_kept() {
        let flags = "fpu aes syscall vpclmulqdq avx512_vbmi2 avx512f amx_int8 lahf_lm nonstop_tsc";
        assert_eq!(
            bearing_on_ciphers(flags),
            ["aes", "vpclmulqdq", "avx512_vbmi2", "avx512f", "amx_int8", "nonstop_tsc"]
        );
    }
}
