//! Made-up cores for tests, after published figures.

use crate::analysis::bound::{Access, Bandwidth, Core, Instruction, Level, Pair};

fn instruction(name: &str, width_bits: u32, cycles: f64, latency: f64) -> Instruction {
    Instruction {
        name: name.to_owned(),
        width_bits,
        per_cycle: 1.0 / cycles,
        latency_cycles: (latency > 0.0).then_some(latency),
        spread: 0.0,
        samples: 9,
    }
}

fn three(name: &str, cycles: [f64; 3], latency: f64) -> Vec<Instruction> {
    [128, 256, 512].iter().zip(cycles).map(|(w, c)| instruction(name, *w, c, latency)).collect()
}

/// A core like Zen 4 (figures of InstLatx64 for Genoa).
pub(crate) fn zen4() -> Core {
    core(4.0, [2.0, 2.0, 2.0], [0.25, 0.25, 0.5])
}

/// A core like Ice Lake to Granite Rapids.
pub(crate) fn intel() -> Core {
    core(3.0, [1.0, 1.0, 1.0], [1.0 / 3.0, 1.0 / 3.0, 0.5])
}

/// A core of AArch64 that does not fuse the two halves of a round (readings that an Arm core could have), with SVE of
/// 256 bits as no such core has it.
pub(crate) fn aarch64() -> Core {
    let narrow = [
        ("aese+aesmc", 1.0, 4.0),
        ("aesd+aesimc", 1.0, 4.0),
        ("aese", 0.5, 2.0),
        ("pmull.1q", 1.0, 2.0),
        ("eor.16b", 0.5, 2.0),
        ("eor3.16b", 0.5, 2.0),
        ("sha256h", 1.0, 4.0),
        ("sha512h", 1.0, 4.0),
        ("umull.2d", 1.0, 4.0),
    ];
    let scalar = [
        ("add", 1.0 / 3.0, 1.0),
        ("mul", 1.0, 2.0),
        ("mul+umulh", 4.0, 4.0),
        ("crc32cx", 1.0, 2.0),
    ];
    let mut instructions: Vec<Instruction> = narrow
        .iter()
        .map(|(name, cycles, latency)| instruction(name, 128, *cycles, *latency))
        .collect();
    instructions.extend(
        scalar.iter().map(|(name, cycles, latency)| instruction(name, 64, *cycles, *latency)),
    );
    instructions.push(instruction("eor-sve", 256, 0.5, 0.0));
    Core { instructions, window: Some(40.0), ..Core::default() }
}

fn core(aes_latency: f64, carryless: [f64; 3], simple: [f64; 3]) -> Core {
    let mut instructions = Vec::new();
    for name in ["aesenc", "aesdec", "aesenclast"] {
        instructions.extend(three(name, [0.5, 0.5, 1.0], aes_latency));
    }
    instructions.push(instruction("aesenc-key", 128, 0.5, aes_latency));
    instructions.extend(three("pclmulqdq", carryless, 4.0));
    for name in ["pxor", "paddd", "paddq"] {
        instructions.extend(three(name, simple, 1.0));
    }
    instructions.extend(three("pmuludq", [0.5, 0.5, 1.0], 3.0));
    instructions.push(instruction("sha256rnds2", 128, 1.0, 4.0));
    instructions.push(instruction("add", 64, 0.25, 1.0));
    instructions.push(instruction("imul", 64, 1.0, 3.0));
    instructions.push(instruction("crc32", 64, 1.0, 3.0));
    let pair = |width_bits, cycles: f64| Pair {
        first: "aesenc".to_owned(),
        second: "pclmulqdq".to_owned(),
        width_bits,
        second_width_bits: width_bits,
        per_cycle: 1.0 / cycles,
        spread: 0.0,
        samples: 9,
    };
    let pairs = vec![pair(256, carryless[1]), pair(512, carryless[2])];
    let bandwidth = |access, bytes_per_cycle| Bandwidth {
        level: Level::L1,
        access,
        by: "load-512".to_owned(),
        buffer_bytes: 16384,
        bytes_per_cycle,
        gb_per_s: bytes_per_cycle * 3.7,
        spread: 0.0,
        samples: 9,
    };
    let bandwidths = vec![
        bandwidth(Access::Read, 64.0),
        bandwidth(Access::Write, 32.0),
        bandwidth(Access::Copy, 32.0),
    ];
    Core { instructions, pairs, bandwidths, window: Some(62.0), unread: Vec::new() }
}
