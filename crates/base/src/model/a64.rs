//! Which extension of AArch64 an instruction belongs to, as far as ciphers are made of it: each instruction
//! is a word of 32 bits.

/// Masks, values and the kernel's names of the features (`Features` of /proc/cpuinfo). Encodings are those of the Arm
/// ARM, C4.1 ("Data Processing -- Scalar Floating-Point and Advanced SIMD", "SVE", "SME").
#[rustfmt::skip]
const TABLE: [(u32, u32, &str); 17] = [
    // AESE, AESD, AESMC, AESIMC.
    (0xffff_cc00, 0x4e28_4800, "aes"),
    // PMULL and PMULL2 of 64 bits.
    (0xbfe0_fc00, 0x0ee0_e000, "pmull"),
    // SHA1C, P, M and SU0; SHA1H and SHA1SU1.
    (0xffe0_cc00, 0x5e00_0000, "sha1"), (0xffff_ec00, 0x5e28_0800, "sha1"),
    // SHA256H, H2 and SU1; SHA256SU0.
    (0xffe0_cc00, 0x5e00_4000, "sha2"), (0xffff_fc00, 0x5e28_2800, "sha2"),
    // SHA512H, H2, SU1; SHA512SU0. RAX1, which is between them, is of SHA-3.
    (0xffe0_fc00, 0xce60_8c00, "sha3"), (0xffe0_f000, 0xce60_8000, "sha512"), (0xffff_fc00, 0xcec0_8000, "sha512"),
    // SM4E; SM4EKEY; SM3SS1; SM3TT1A to TT2B; SM3PARTW1 and W2.
    (0xffff_fc00, 0xcec0_8400, "sm4"), (0xffe0_fc00, 0xce60_c800, "sm4"),
    (0xffe0_8000, 0xce40_0000, "sm3"), (0xffe0_c000, 0xce40_8000, "sm3"), (0xffe0_f800, 0xce60_c000, "sm3"),
    // EOR3 and BCAX; XAR.
    (0xffc0_8000, 0xce00_0000, "sha3"), (0xffe0_0000, 0xce80_0000, "sha3"),
    // All of SVE.
    (0x1e00_0000, 0x0400_0000, "sve"),
];

/// The extension that an instruction belongs to; `None` for every other one.
#[must_use]
pub fn extension_of(word: u32) -> Option<&'static str> {
    TABLE.iter().find(|(mask, value, _)| word & mask == *value).map(|(.., name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn each_encoding_is_of_its_extension() {
        for (word, extension) in [
            (0x4e28_4820, "aes"),    // aese v0.16b, v1.16b
            (0x4e28_7841, "aes"),    // aesimc v1.16b, v2.16b
            (0x0ee2_e020, "pmull"),  // pmull v0.1q, v1.1d, v2.1d
            (0x4ee2_e020, "pmull"),  // pmull2 v0.1q, v1.2d, v2.2d
            (0x5e02_0020, "sha1"),   // sha1c q0, s1, v2.4s
            (0x5e02_3020, "sha1"),   // sha1su0 v0.4s, v1.4s, v2.4s
            (0x5e28_1820, "sha1"),   // sha1su1 v0.4s, v1.4s
            (0x5e02_4020, "sha2"),   // sha256h q0, q1, v2.4s
            (0x5e02_6020, "sha2"),   // sha256su1 v0.4s, v1.4s, v2.4s
            (0x5e28_2820, "sha2"),   // sha256su0 v0.4s, v1.4s
            (0xce62_8020, "sha512"), // sha512h q0, q1, v2.2d
            (0xce62_8820, "sha512"), // sha512su1 v0.2d, v1.2d, v2.2d
            (0xcec0_8020, "sha512"), // sha512su0 v0.2d, v1.2d
            (0xce02_0c20, "sha3"),   // eor3 v0.16b, v1.16b, v2.16b, v3.16b
            (0xce22_0c20, "sha3"),   // bcax v0.16b, v1.16b, v2.16b, v3.16b
            (0xce62_8c20, "sha3"),   // rax1 v0.2d, v1.2d, v2.2d
            (0xce82_fc20, "sha3"),   // xar v0.2d, v1.2d, v2.2d, #63
            (0xcec0_8420, "sm4"),    // sm4e v0.4s, v1.4s
            (0xce62_c820, "sm4"),    // sm4ekey v0.4s, v1.4s, v2.4s
            (0xce42_0c20, "sm3"),    // sm3ss1 v0.4s, v1.4s, v2.4s, v3.4s
            (0xce42_8020, "sm3"),    // sm3tt1a v0.4s, v1.4s, v2.s[0]
            (0xce62_c420, "sm3"),    // sm3partw2 v0.4s, v1.4s, v2.4s
            (0x04e0_e3e0, "sve"),    // cntd x0
            (0xa540_0000, "sve"),    // ld1w {z0.s}, p0/z, [x0, x0, lsl #2]
        ] {
            assert_eq!(extension_of(word), Some(extension), "{word:#010x}");
        }
    }

    #[test]
    fn every_other_instruction_is_of_none() {
        for word in [
            0x8b02_0020, // add x0, x1, x2
            0x4e22_1c20, // and v0.16b, v1.16b, v2.16b
            0x0e22_e020, // pmull v0.8h, v1.8b, v2.8b
            0x6e22_1c20, // eor v0.16b, v1.16b, v2.16b
            0x4e02_0020, // tbl v0.16b, {v1.16b}, v2.16b
            0x3dc0_0000, // ldr q0, [x0]
            0xd503_201f, // nop
            0x1ac2_4c20, // crc32x w0, w1, x2
            0xd65f_03c0, // ret
            0x0000_0000, // udf #0
        ] {
            assert_eq!(extension_of(word), None, "{word:#010x}");
        }
    }
}
