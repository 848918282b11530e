//! Blocks of one instruction, or of two in turn, in loops, as `kernels_x86_64` has them.
//!
//! Instructions with operands of their own read registers that nothing writes. Those that change an operand work on
//! 24 vector registers in turn: a latency of six cycles at four a cycle. General registers are read as constants.
//! A round of AES is two instructions, one behind the other on the same register: cores that fuse them do it there.

use std::arch::asm;

/// A loop of `rounds` blocks. `at` points to [`SCRATCH`] writable bytes, aligned to a cache line.
pub(super) type Kernel = unsafe fn(rounds: u64, at: *mut u8);

/// Bytes that kernels may touch: twelve lines to load, and twelve to store half of it further on.
pub(super) const SCRATCH: usize = 4096;

/// Instructions in a block of independent ones; pairs: of each kind.
pub(super) const BLOCK: f64 = 96.0;

/// Steps of the chain between two beginnings in [`vector_window`] and [`scalar_window`].
pub(super) const WINDOW_STEPS: f64 = 600.0;

/// Runs the lines with the clobbers of every kernel here: X1 is where loads go, X2 where stores go, half the scratch
/// further on. The assembler is told of extensions that not every build of this program is compiled for.
macro_rules! looped {
    ($rounds:expr, $at:expr, $($line:expr),+) => {
        asm!(
            ".arch_extension aes", ".arch_extension sha2", ".arch_extension sha3", ".arch_extension crc",
            ".arch_extension sve", ".arch_extension sve2-aes",
            "add x2, x1, #2048",
            "2:", $($line,)+ "subs x0, x0, #1", "b.ne 2b",
            inout("x0") $rounds => _, inout("x1") $at => _, out("x2") _,
            out("x6") _, out("x7") _, out("x8") _, out("x9") _, out("x10") _, out("x11") _,
            out("x12") _, out("x13") _, out("x14") _, out("x15") _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _,
            out("v15") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _,
            out("v22") _, out("v23") _, out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _,
            out("v29") _, out("v30") _, out("v31") _,
            options(nostack),
        )
    };
}

/// The registers that independent instructions change, in turn.
macro_rules! in_turn {
    () => {
        ",0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
    };
}

/// Blocks of independent instructions on vector registers `\r`. `\()` ends that name: in one block within another it
/// would be gone before it was needed.
macro_rules! vector {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: clobbers are declared, memory is the caller's scratch; that the CPU has the instruction is the
            // caller's promise.
            unsafe {
                looped!(rounds, at, concat!(".irp r", in_turn!(), in_turn!(), in_turn!(), in_turn!()), $($line),+, ".endr")
            }
        }
    )+};
}

/// The same on eight general registers.
macro_rules! scalar {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: as above.
            unsafe {
                looped!(rounds, at, ".rept 12", ".irp r,8,9,10,11,12,13,14,15", $($line),+, ".endr", ".endr")
            }
        }
    )+};
}

/// The same on twelve lines of memory, and twelve vector registers.
macro_rules! lines {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: as above; the lines lie within the scratch.
            unsafe {
                looped!(rounds, at, ".rept 8", ".irp r,0,1,2,3,4,5,6,7,8,9,10,11", $($line),+, ".endr", ".endr")
            }
        }
    )+};
}

/// Ninety-six times the same, which depends on itself.
macro_rules! chain {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: as above.
            unsafe { looped!(rounds, at, ".rept 96", $($line),+, ".endr") }
        }
    )+};
}

vector! {
    aese_aesmc: "aese v\\r\\().16b, v31.16b", "aesmc v\\r\\().16b, v\\r\\().16b";
    aesd_aesimc: "aesd v\\r\\().16b, v31.16b", "aesimc v\\r\\().16b, v\\r\\().16b";
    aese: "aese v\\r\\().16b, v31.16b";
    pmull: "pmull v\\r\\().1q, v30.1d, v31.1d";
    eor: "eor v\\r\\().16b, v30.16b, v31.16b";
    eor3: "eor3 v\\r\\().16b, v29.16b, v30.16b, v31.16b";
    add_4s: "add v\\r\\().4s, v30.4s, v31.4s";
    add_2d: "add v\\r\\().2d, v30.2d, v31.2d";
    tbl: "tbl v\\r\\().16b, {{v30.16b}}, v31.16b";
    umull: "umull v\\r\\().2d, v30.2s, v31.2s";
    sha256h: "sha256h q\\r, q30, v31.4s";
    sha256h2: "sha256h2 q\\r, q30, v31.4s";
    sha512h: "sha512h q\\r, q30, v31.2d";
    sve_aese_aesmc: "aese z\\r\\().b, z\\r\\().b, z31.b", "aesmc z\\r\\().b, z\\r\\().b";
    sve_pmullb: "pmullb z\\r\\().q, z30.d, z31.d";
    sve_eor: "eor z\\r\\().d, z30.d, z31.d";
    aes_pmull: "aese v\\r\\().16b, v31.16b", "aesmc v\\r\\().16b, v\\r\\().16b", "pmull v24.1q, v30.1d, v31.1d";
    aes_eor: "aese v\\r\\().16b, v31.16b", "aesmc v\\r\\().16b, v\\r\\().16b", "eor v24.16b, v30.16b, v31.16b";
    pmull_eor: "pmull v\\r\\().1q, v30.1d, v31.1d", "eor v24.16b, v30.16b, v31.16b";
}

scalar! {
    add_64: "add x\\r, x6, x7";
    mul_64: "mul x\\r, x6, x7";
    mul_umulh: "mul x\\r, x6, x7", "umulh x\\r, x6, x7";
    crc32cx: "crc32cx w\\r, w6, x7";
}

chain! {
    aese_aesmc_latency: "aese v0.16b, v31.16b", "aesmc v0.16b, v0.16b";
    aesd_aesimc_latency: "aesd v0.16b, v31.16b", "aesimc v0.16b, v0.16b";
    aese_latency: "aese v0.16b, v31.16b";
    pmull_latency: "pmull v0.1q, v0.1d, v31.1d";
    eor_latency: "eor v0.16b, v0.16b, v31.16b";
    eor3_latency: "eor3 v0.16b, v0.16b, v30.16b, v31.16b";
    add_4s_latency: "add v0.4s, v0.4s, v31.4s";
    add_2d_latency: "add v0.2d, v0.2d, v31.2d";
    tbl_latency: "tbl v0.16b, {{v31.16b}}, v0.16b";
    umull_latency: "umull v0.2d, v0.2s, v31.2s";
    sha256h_latency: "sha256h q0, q30, v31.4s";
    sha256h2_latency: "sha256h2 q0, q30, v31.4s";
    sha512h_latency: "sha512h q0, q30, v31.2d";
    add_latency: "add x8, x8, x7";
    mul_latency: "mul x8, x8, x7";
    umulh_latency: "umulh x8, x8, x7";
    crc32cx_latency: "crc32cx w8, w8, x7";
}

lines! {
    load_64: "ldr x8, [x1, #64 * \\r]";
    load_128: "ldr q\\r, [x1, #64 * \\r]";
    load_256: "ldp q\\r, q31, [x1, #64 * \\r]";
    store_64: "str x8, [x2, #64 * \\r]";
    store_128: "str q\\r, [x2, #64 * \\r]";
    store_256: "stp q\\r, q31, [x2, #64 * \\r]";
    copy_128: "ldr q\\r, [x1, #64 * \\r]", "str q\\r, [x2, #64 * \\r]";
    copy_256: "ldp q\\r, q31, [x1, #64 * \\r]", "stp q\\r, q31, [x2, #64 * \\r]";
    sve_load: "ldr z\\r, [x1, #\\r, mul vl]";
    sve_store: "str z\\r, [x2, #\\r, mul vl]";
    sve_copy: "ldr z\\r, [x1, #\\r, mul vl]", "str z\\r, [x2, #\\r, mul vl]";
}

/// Addresses that depend on what was loaded before, as on x86-64: a word that holds its own address.
pub(super) unsafe fn load_latency(rounds: u64, at: *mut u8) {
    // SAFETY: as above; the word lies within the scratch, behind all that is stored, and is aligned.
    unsafe {
        let own = at.add(SCRATCH - 64);
        own.cast::<*mut u8>().write(own);
        looped!(rounds, own, ".rept 96", "ldr x1, [x1]", ".endr")
    }
}

/// A chain of AES rounds that begins anew after [`WINDOW_STEPS`]: how much of two chains overlaps.
pub(super) unsafe fn vector_window(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe {
        looped!(
            rounds,
            at,
            "mov v0.16b, v30.16b",
            ".rept 600",
            "aese v0.16b, v31.16b",
            "aesmc v0.16b, v0.16b",
            ".endr"
        )
    }
}

/// The same of multiplications.
pub(super) unsafe fn scalar_window(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe { looped!(rounds, at, "mov x8, #3", ".rept 600", "mul x8, x8, x8", ".endr") }
}

/// Bits of SVE's registers.
///
/// # Safety
/// The CPU has SVE.
pub(super) unsafe fn sve_bits() -> u32 {
    let bytes: u64;
    // SAFETY: the caller promises that there is the instruction, which reads a length.
    unsafe { asm!(".arch_extension sve", "rdvl {}, #1", out(reg) bytes, options(nomem, nostack)) };
    bytes as u32 * 8
}

/// Bytes that DC ZVA sets to zero; none where it is forbidden.
pub(super) fn zeroed_bytes() -> Option<usize> {
    let id: u64;
    // SAFETY: Linux lets programs read DCZID_EL0.
    unsafe { asm!("mrs {}, dczid_el0", out(reg) id, options(nomem, nostack)) };
    (id & 16 == 0).then(|| 4 << (id & 15))
}
