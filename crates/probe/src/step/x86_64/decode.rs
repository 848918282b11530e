//! One instruction's class, width, use of memory and instruction sets.

use crate::step::{Class, Decoded};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};

/// Longest instruction (Intel SDM volume 2A, section 2.3.11).
pub(crate) const LONGEST: usize = 15;

/// Decodes the instruction that these bytes begin with; `None` where they are none.
pub(crate) fn decode(bytes: &[u8], address: u64) -> Option<Decoded> {
    let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
    if instruction.is_invalid() {
        return None;
    }
    let width = width(&instruction);
    let (reads_memory, writes_memory) = memory(&instruction);
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let repeats = instruction.is_string_instruction()
        && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
    let mut sets: Vec<String> =
        instruction.cpuid_features().iter().map(|f| format!("{f:?}").to_lowercase()).collect();
    if instruction.mnemonic() == Mnemonic::Tzcnt {
        // `REP BSF`, which older CPUs execute as `BSF`: compilers write it for either where the
        // two agree.
        sets = vec!["intel386".to_owned()];
    }
    Some(Decoded {
        class: class(&instruction, &mnemonic, width.is_some()),
        width,
        reads_memory,
        writes_memory,
        repeats,
        sets,
        mnemonic,
    })
}

fn registers(instruction: &Instruction) -> impl Iterator<Item = Register> {
    (0..instruction.op_count())
        .filter(|i| instruction.op_kind(*i) == OpKind::Register)
        .map(|i| instruction.op_register(i))
}

fn width(instruction: &Instruction) -> Option<u16> {
    let vectors = registers(instruction).filter(|r| r.is_vector_register() || r.is_mm());
    vectors.map(|r| r.size() as u16 * 8).max()
}

/// Whether it reads memory and whether it writes it, the stack included.
fn memory(instruction: &Instruction) -> (bool, bool) {
    use OpAccess::{CondRead, CondWrite, Read, ReadCondWrite, ReadWrite, Write};
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(instruction).used_memory();
    let any = |kinds: &[OpAccess]| used.iter().any(|m| kinds.contains(&m.access()));
    (
        any(&[Read, CondRead, ReadWrite, ReadCondWrite]),
        any(&[Write, CondWrite, ReadWrite, ReadCondWrite]),
    )
}

fn class(instruction: &Instruction, mnemonic: &str, vector: bool) -> Class {
    if instruction.is_string_instruction() {
        return Class::String;
    }
    match instruction.mnemonic() {
        Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int | Mnemonic::Int3 => {
            return Class::Other;
        }
        Mnemonic::Push | Mnemonic::Pushfq => return Class::Store,
        Mnemonic::Pop | Mnemonic::Popfq => return Class::Load,
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::Next => {}
        FlowControl::XbeginXabortXend | FlowControl::Interrupt | FlowControl::Exception => {
            return Class::Other;
        }
        _ => return Class::Branch,
    }
    if vector { vector_class(instruction, mnemonic) } else { scalar_class(instruction, mnemonic) }
}

/// Names of vector instructions, without the `v` that VEX and EVEX put before them, by what they
/// begin with.
#[rustfmt::skip]
const SHUFFLES: &[&str] = &[
    "pshuf", "shuf", "perm", "pperm", "unpck", "punpck", "palignr", "align", "insert", "extract",
    "pinsr", "pextr", "broadcast", "pbroadcast", "pack", "blend", "pblend", "pcompress", "pexpand",
    "compress", "expand", "movddup", "movshdup", "movsldup", "movlhps", "movhlps", "pslldq",
    "psrldq", "pmovzx", "pmovsx",
];
const LOGIC: &[&str] = &["pand", "por", "pxor", "pternlog", "and", "or", "xor"];
const MOVES: &[&str] = &[
    "movdq", "movap", "movup", "movd", "movq", "movnt", "lddqu", "movh", "movl", "movss", "movsd",
    "pmovmskb", "movmsk", "maskmov", "pmaskmov",
];

fn vector_class(instruction: &Instruction, mnemonic: &str) -> Class {
    let name = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    let begins = |with: &[&str]| with.iter().any(|w| name.starts_with(w));
    if begins(&["aesenc", "aesdec"]) {
        Class::AesRound
    } else if begins(&["aes"]) {
        Class::AesKey
    } else if begins(&["pclmul"]) {
        Class::CarryLess
    } else if begins(&["gf2p8"]) {
        Class::Gfni
    } else if begins(&["sha1", "sha256", "sha512", "sm3", "sm4"]) {
        Class::HashRound
    } else if begins(SHUFFLES) {
        Class::Shuffle
    } else if begins(LOGIC) {
        Class::VectorLogic
    } else if begins(MOVES) {
        moved(instruction).unwrap_or(Class::VectorMove)
    } else {
        Class::VectorArithmetic
    }
}

fn scalar_class(instruction: &Instruction, mnemonic: &str) -> Class {
    let is_move = mnemonic.starts_with("mov") || mnemonic.starts_with("kmov");
    if let Some(class) = moved(instruction).filter(|_| is_move) {
        return class;
    }
    let other = ["nop", "endbr", "prefetch", "pause", "vzero", "emms", "cpuid", "rdtsc", "xgetbv"];
    let fence = mnemonic.ends_with("fence");
    if fence || other.iter().any(|o| mnemonic.starts_with(o)) {
        Class::Other
    } else {
        Class::Scalar
    }
}

fn moved(instruction: &Instruction) -> Option<Class> {
    if instruction.op0_kind() == OpKind::Memory {
        Some(Class::Store)
    } else {
        let from = 1..instruction.op_count();
        from.into_iter().any(|i| instruction.op_kind(i) == OpKind::Memory).then_some(Class::Load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Decoded {
        decode(bytes, 0x1000).unwrap()
    }

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn each_instruction_has_its_class_and_width() {
        use Class::*;
        let cases: &[(&[u8], Class, Option<u16>)] = &[
            (&[0x66, 0x0f, 0x38, 0xdc, 0xc1], AesRound, Some(128)), // aesenc %xmm1,%xmm0
            (&[0xc4, 0xe2, 0x75, 0xdc, 0xc2], AesRound, Some(256)), // vaesenc %ymm2,%ymm1,%ymm0
            (&[0x62, 0xf2, 0x75, 0x48, 0xdd, 0xc2], AesRound, Some(512)), // vaesenclast, zmm
            (&[0x66, 0x0f, 0x38, 0xdb, 0xc1], AesKey, Some(128)),   // aesimc %xmm1,%xmm0
            (&[0x66, 0x0f, 0x3a, 0x44, 0xc1, 0x10], CarryLess, Some(128)), // pclmulqdq
            (&[0x66, 0x0f, 0x3a, 0xce, 0xc1, 0x00], Gfni, Some(128)), // gf2p8affineqb
            (&[0x0f, 0x38, 0xcb, 0xc1], HashRound, Some(128)),      // sha256rnds2 %xmm1,%xmm0
            (&[0x66, 0x0f, 0xef, 0xc1], VectorLogic, Some(128)),    // pxor %xmm1,%xmm0
            (&[0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 0x96], VectorLogic, Some(512)), // vpternlogd
            (&[0x66, 0x0f, 0x38, 0x00, 0xc1], Shuffle, Some(128)),  // pshufb %xmm1,%xmm0
            (&[0xc5, 0xf5, 0xfe, 0xc2], VectorArithmetic, Some(256)), // vpaddd %ymm2,%ymm1,%ymm0
            (&[0xf3, 0x0f, 0x6f, 0x06], Load, Some(128)),           // movdqu (%rsi),%xmm0
            (&[0xc5, 0xfe, 0x7f, 0x07], Store, Some(256)),          // vmovdqu %ymm0,(%rdi)
            (&[0x66, 0x0f, 0x6f, 0xc1], VectorMove, Some(128)),     // movdqa %xmm1,%xmm0
            (&[0x48, 0x8b, 0x06], Load, None),                      // mov (%rsi),%rax
            (&[0x48, 0x89, 0x07], Store, None),                     // mov %rax,(%rdi)
            (&[0x50], Store, None),                                 // push %rax
            (&[0x58], Load, None),                                  // pop %rax
            (&[0x48, 0x01, 0xd8], Scalar, None),                    // add %rbx,%rax
            (&[0x48, 0x8d, 0x06], Scalar, None),                    // lea (%rsi),%rax
            (&[0x75, 0xfe], Branch, None),                          // jne .
            (&[0xc3], Branch, None),                                // ret
            (&[0xf3, 0xa4], String, None),                          // rep movsb
            (&[0x0f, 0x05], Other, None),                           // syscall
            (&[0xf3, 0x0f, 0x1e, 0xfa], Other, None),               // endbr64
            (&[0xc5, 0xf8, 0x77], Other, None),                     // vzeroupper
        ];
        for (bytes, class, width) in cases {
            let found = decoded(bytes);
            assert_eq!((found.class, found.width), (*class, *width), "{bytes:02x?} {found:?}");
        }
    }

    #[test]
    fn memory_operands_are_told_beside_the_class() {
        let memory = |bytes: &[u8]| {
            let found = decoded(bytes);
            (found.class, found.reads_memory, found.writes_memory)
        };
        // aesenc (%rsi),%xmm0; pxor (%rsi),%xmm0; add %rax,(%rdi); call; lea; rep movsb.
        assert_eq!(memory(&[0x66, 0x0f, 0x38, 0xdc, 0x06]), (Class::AesRound, true, false));
        assert_eq!(memory(&[0x66, 0x0f, 0xef, 0x06]), (Class::VectorLogic, true, false));
        assert_eq!(memory(&[0x48, 0x01, 0x07]), (Class::Scalar, true, true));
        assert_eq!(memory(&[0xe8, 0, 0, 0, 0]), (Class::Branch, false, true));
        assert_eq!(memory(&[0x48, 0x8d, 0x06]), (Class::Scalar, false, false));
        assert_eq!(memory(&[0xf3, 0xa4]), (Class::String, true, true));
    }

    #[test]
    fn instruction_sets_are_those_that_the_encoding_needs() {
        let sets = |bytes: &[u8]| decoded(bytes).sets;
        assert_eq!(sets(&[0x66, 0x0f, 0x38, 0xdc, 0xc1]), ["aes"]);
        assert_eq!(sets(&[0xc4, 0xe2, 0x75, 0xdc, 0xc2]), ["vaes"]);
        assert_eq!(sets(&[0x62, 0xf2, 0x75, 0x48, 0xdd, 0xc2]), ["avx512f", "vaes"]);
        assert_eq!(sets(&[0x66, 0x0f, 0x3a, 0x44, 0xc1, 0x10]), ["pclmulqdq"]);
        assert_eq!(sets(&[0x66, 0x0f, 0x38, 0x00, 0xc1]), ["ssse3"]);
        assert_eq!(sets(&[0xc5, 0xf5, 0xfe, 0xc2]), ["avx2"]);
    }

    #[test]
    fn only_string_instructions_with_the_prefix_repeat() {
        assert!(decoded(&[0xf3, 0xa4]).repeats);
        assert!(!decoded(&[0xa4]).repeats);
        // rep ret: the prefix means nothing.
        assert!(!decoded(&[0xf3, 0xc3]).repeats);
        assert_eq!(decode(&[0x06], 0), None, "no instruction in 64-bit code");
    }
}
