//! Reads of ID registers: how a library asks what the CPU has, and which instructions it has itself; and the
//! signal handler that answers such reads in copies of libraries. It is strict about async-signal safety: no
//! allocation, no lock, no errno, nothing but loads and stores on its own statics, and MRS.

use crate::tier::aarch64::marker;
use crate::tier::mask::{ID_REGISTERS, answer_of_register};
use crate::tier::rewrite::{Code, Handler, Image, Patch, Questions};
use base::model::{Tier, extension_of};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSymbol as _};
use std::arch::asm;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ops::Range;

static HANDLER: Handler = Handler::of(libc::SIGTRAP);

/// `si_code` of a breakpoint in the code (`asm-generic/siginfo.h`).
const TRAP_BRKPT: c_int = 1;

/// How many reads have been answered in this process.
pub fn answered() -> u64 {
    HANDLER.answered()
}

/// From now on the handler answers as the tier does.
pub fn install(tier: Tier) -> Result<(), String> {
    HANDLER.install(tier, on_trap)
}

extern "C" fn on_trap(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands over both, valid and ours for the handler's duration.
    let (code, machine) =
        unsafe { ((*info).si_code, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext) };
    if code == TRAP_BRKPT {
        let at = std::ptr::with_exposed_provenance::<u32>(machine.pc as usize);
        // SAFETY: the word was just executed, so it can be read.
        if let Some((register, to)) = marker::replaced(unsafe { at.read() }) {
            // The last number is the register that is always zero.
            if let Some(place) = machine.regs.get_mut(to as usize) {
                *place = answer_of_register(HANDLER.tier(), register, id_register(register));
            }
            machine.pc += 4;
            HANDLER.count();
            return;
        }
    }
    HANDLER.step_back(code);
}

/// What an ID register of [`crate::tier::mask::ID_REGISTERS`] holds, as the kernel gives it to programs; 0 for others.
pub fn id_register(register: u8) -> u64 {
    macro_rules! read {
        ($name:literal) => {{
            let value: u64;
            // SAFETY: Linux answers reads of these registers (HWCAP_CPUID, which was asked for before).
            unsafe { asm!(concat!("mrs {}, ", $name), out(reg) value, options(nomem, nostack)) };
            value
        }};
    }
    match register {
        0x20 => read!("S3_0_C0_C4_0"),
        0x21 => read!("S3_0_C0_C4_1"),
        0x24 => read!("S3_0_C0_C4_4"),
        0x25 => read!("S3_0_C0_C4_5"),
        0x30 => read!("S3_0_C0_C6_0"),
        0x31 => read!("S3_0_C0_C6_1"),
        0x32 => read!("S3_0_C0_C6_2"),
        _ => 0,
    }
}

/// ID_AA64ISAR0_EL1 as a rewritten library reads it.
pub fn rewritten_isar0() -> u64 {
    let value: u64;
    // SAFETY: the handler is installed, and the word is what stands for `mrs x0, id_aa64isar0_el1`.
    unsafe { asm!("brk #0x4600", out("x0") value, options(nostack)) };
    value
}

/// Files of the kernel's that name what the CPU has, and a name of the same length that is none. libgcrypt believes
/// either this or getauxval(3).
const CPUINFO: (&[u8], &[u8]) = (b"/proc/cpuinfo\0", b"/proc/no-file\0");

/// Says what the CPU has as well, and is changed with the rest of the process.
const AUXV: &[u8] = b"/proc/self/auxv\0";

/// Functions that say it. Not `__getauxval`: the compiler's own code for atomic operations calls that in every
/// library.
const FUNCTIONS: [&str; 2] = ["getauxval", "elf_aux_info"];

/// The places that ask, and what a copy has there: reads of ID registers that fault, no name of the kernel's file.
pub(crate) fn questions(image: &Image<'_>, bytes: &[u8]) -> Result<Questions, String> {
    let mut patches = Vec::new();
    for (code, range) in functions(image) {
        for (offset, word) in words(code, &range) {
            let Some((register, to)) = marker::read(word) else { continue };
            if ID_REGISTERS.contains(&register) {
                let becomes = marker::of(register, to).to_le_bytes().to_vec();
                patches.push(Patch { offset, was: word.to_le_bytes().to_vec(), becomes });
            }
        }
    }
    // Functions may overlap.
    patches.sort_by_key(|p| p.offset);
    patches.dedup();
    let mapped = &bytes[..image.mapped];
    let (name, none) = CPUINFO;
    let file = |at| Patch { offset: at as u64, was: name.to_vec(), becomes: none.to_vec() };
    patches.extend(all(mapped, name).map(file));
    let places = patches.len() + calls(bytes) + all(mapped, AUXV).count();
    Ok(Questions { places: places as u64, patches })
}

/// Functions of [`FUNCTIONS`] that a whole file takes from elsewhere.
fn calls(bytes: &[u8]) -> usize {
    let Ok(file) = ElfFile64::<LittleEndian>::parse(bytes) else { return 0 };
    let taken = file.dynamic_symbols().filter(|s| s.is_undefined());
    taken.filter(|s| s.name().is_ok_and(|name| FUNCTIONS.contains(&name))).count()
}

fn all<'a>(bytes: &'a [u8], text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let whole = move |at: &usize| bytes[*at..].starts_with(text);
    // Texts begin at any byte: the first letter sorts out nearly all.
    (0..bytes.len()).filter(move |at| bytes[*at] == text[0]).filter(whole)
}

/// The extensions that the code needs, as the kernel names them, each with how many instructions do.
pub(crate) fn features(image: &Image<'_>) -> Result<BTreeMap<String, usize>, String> {
    let mut counts = BTreeMap::new();
    for (code, range) in functions(image) {
        for (_, word) in words(code, &range) {
            if let Some(name) = extension_of(word) {
                *counts.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
    }
    Ok(counts)
}

/// Functions, each once and as far as no earlier one covers it: what lies between functions may be a table.
fn functions<'i, 'a>(
    image: &'i Image<'a>,
) -> impl Iterator<Item = (&'i Code<'a>, Range<u64>)> + use<'i, 'a> {
    let mut done = 0;
    image.functions.iter().filter_map(move |function| {
        let range = function.start.max(done)..function.end;
        done = done.max(function.end);
        if range.is_empty() { None } else { image.code_at(range.start).map(|code| (code, range)) }
    })
}

/// The words of a range of code, each with its offset in the file.
fn words<'a>(code: &Code<'a>, range: &Range<u64>) -> impl Iterator<Item = (u64, u32)> + use<'a> {
    let within = |address: u64| {
        let offset = usize::try_from(address.saturating_sub(code.address)).unwrap_or(usize::MAX);
        offset.min(code.bytes.len())
    };
    let start = within(range.start).next_multiple_of(4);
    let (bytes, offset) = (code.bytes, code.offset);
    let end = within(range.end);
    let at = (start..end).step_by(4);
    at.filter_map(move |at| {
        let word = bytes.get(at..)?.first_chunk::<4>()?;
        Some((offset.saturating_add(at as u64), u32::from_le_bytes(*word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::aarch64::marker;
    use crate::tier::mask::ID_REGISTERS;

    #[test]
    fn a_rewritten_read_gets_what_the_tier_answers_and_is_counted() {
        assert_eq!(marker::of(0x30, 0), 0xd420_0000 | 0x4600 << 5);
        install(Tier::Noaes).unwrap();
        let before = answered();
        assert_eq!(rewritten_isar0(), answer_of_register(Tier::Noaes, 0x30, id_register(0x30)));
        assert!(answered() > before);
        assert_eq!(rewritten_isar0() >> 4 & 15, 0, "AES");
    }

    #[test]
    fn the_registers_that_tiers_change_can_be_read() {
        // Every core has vectors: the field is 0, or 1 with half precision.
        assert!(id_register(0x20) >> 20 & 15 <= 1);
        assert!(ID_REGISTERS.iter().all(|r| *r == 0x20 || id_register(*r) != u64::MAX));
    }

    /// `mrs x0, id_aa64isar0_el1`, `mrs x1, midr_el1`, `aese v0.16b, v1.16b`, `ret`, and a table that looks like the
    /// first.
    const CODE: [u32; 5] = [0xd538_0600, 0xd538_0001, 0x4e28_4820, 0xd65f_03c0, 0xd538_0600];

    fn image(bytes: &[u8]) -> Image<'_> {
        Image {
            code: vec![Code { address: 0x1000, offset: 0, bytes }],
            functions: vec![0x1000..0x1010, 0x1000..0x1008],
            entries: Vec::new(),
            soname: None,
            needed: Vec::new(),
            mapped: bytes.len(),
        }
    }

    #[test]
    fn reads_in_functions_and_names_of_files_are_found_and_tables_are_left_alone() {
        let mut bytes: Vec<u8> = CODE.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend(b"x/proc/cpuinfo\0/proc/self/auxv\0");
        let found = questions(&image(&bytes), &bytes).unwrap();
        // One register that tiers change, the file, the vector.
        assert_eq!(found.places, 3);
        let offsets: Vec<u64> = found.patches.iter().map(|p| p.offset).collect();
        assert_eq!(offsets, [0, 21]);
        assert!(found.patches.iter().all(|p| p.was.len() == p.becomes.len()));
        let word = u32::from_le_bytes(*found.patches[0].becomes.first_chunk().unwrap());
        assert_eq!(marker::replaced(word), Some((0x30, 0)));
    }

    #[test]
    fn this_program_asks_the_c_library_and_a_text_asks_nothing() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(calls(&own), 1);
        assert_eq!(calls(b"getauxval"), 0);
    }

    #[test]
    fn code_says_what_it_needs() {
        let bytes: Vec<u8> = CODE.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(features(&image(&bytes)).unwrap(), [("aes".to_owned(), 1)].into());
    }
}
