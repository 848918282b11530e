//! A tier of aarch64 applied to this process: what the kernel has said of the CPU at the start, changed in
//! the process's own memory: in the vector on the stack, in the dynamic loader's copies, which getauxval(3)
//! and resolvers of indirect functions read, and in the kernel's copy, which `/proc/self/auxv` and prctl(2)
//! show. Reads of ID registers are answered by a signal handler.

mod registers;

use crate::tier::mask::{
    HWCAP, ID_REGISTERS, WORDS, answer_of_register, lacks_in_word, left_of_word,
};
use crate::tier::{Applied, Mechanism, Plan};
use base::model::{Feature, Mapped, Tier};
pub use registers::answered;
pub(crate) use registers::{features, questions};
use std::ffi::{CStr, c_void};
use std::path::Path;
use std::sync::OnceLock;

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

/// HWCAP_CPUID: the kernel answers reads of ID registers.
const CPUID: u64 = 1 << 11;

/// What the tier that this process hides the rest for is the same as on this CPU.
static SAME_AS: OnceLock<Option<String>> = OnceLock::new();

/// Changes in this process's memory what the kernel has said of the CPU, which takes system calls that a library needs
/// not: before the process gives them up. The process must have no other thread.
pub fn hide(tier: Tier) -> Result<(), String> {
    if tier == Tier::Native {
        return Ok(());
    }
    // Afterwards the kernel's words are the tier's.
    let (_, same) = machine(tier)?;
    SAME_AS.get_or_init(|| same);
    hide_in_memory(tier)
}

/// How this machine applies tiers, and what each tier is here: `Err` says why a tier cannot be had
/// with any library.
pub fn machine(tier: Tier) -> Result<(Option<Mechanism>, Option<String>), String> {
    let note = exceeded(tier, WORDS.map(kernel_says))?;
    Ok(((tier != Tier::Native).then_some(Mechanism::HwcapMask), note))
}

/// Whether a CPU of which the kernel says this has what the tier is named for; what it is the same as.
fn exceeded(tier: Tier, words: [u64; 4]) -> Result<Option<String>, String> {
    if let Some(why) = tier.foreign() {
        return Err(why);
    }
    let lacks: Vec<String> = lacks_in_word(tier.needs(), words[0]).map(|f| f.to_string()).collect();
    if !lacks.is_empty() {
        return Err(format!("this CPU has no {}", lacks.join(", no ")));
    }
    let of = |tier: Tier| [0, 1, 2, 3].map(|i| left_of_word(tier, WORDS[i], words[i]));
    let equal = Tier::AARCH64.iter().find(|other| **other < tier && of(**other) == of(tier));
    Ok(equal.map(|other| format!("the same as {other} on this CPU")))
}

/// Applies a tier to this process, before it loads the library: after [`hide`], by what [`crate::tier::prepare`] gave, here or
/// in another process, or why it did not. The process must have no other thread.
///
/// # Errors
/// Why the tier cannot be had, in words that follow "the tier cannot be applied: ".
pub fn apply(
    tier: Tier,
    _: &Path,
    plan: Result<Plan, String>,
    _: Option<Mechanism>,
) -> Result<Applied, String> {
    let (mechanism, plan) = (Mechanism::HwcapMask, plan?);
    if let Some(why) = tier.foreign() {
        return Err(why);
    }
    masked(tier, &plan)?;
    let proof = prove(tier)?;
    let answered_before = registers::answered();
    let same = SAME_AS.get().cloned().flatten();
    let note = same.or_else(|| note_on_kernel_copy().map(ToOwned::to_owned));
    let applied = Applied::of_copies(tier, mechanism, &plan, proof)?;
    Ok(Applied { answered_before, note, ..applied })
}

/// Asks as a library would, and holds the answers against the tier's.
fn prove(tier: Tier) -> Result<String, String> {
    for word in WORDS {
        if left_of_word(tier, word, kernel_says(word)) != kernel_says(word) {
            return Err(format!(
                "the self-test failed: getauxval({word}) shows what the tier has not"
            ));
        }
    }
    let mut proof = "getauxval(3)".to_owned();
    if note_on_kernel_copy().is_none() {
        shown_by_kernel(tier)?;
        proof += ", /proc/self/auxv";
    }
    if kernel_says(HWCAP) & CPUID != 0 {
        registers::install(tier)?;
        let counted = registers::answered();
        let (found, raw) = (registers::rewritten_isar0(), registers::id_register(ISAR0));
        if found != answer_of_register(tier, ISAR0, raw) || registers::answered() == counted {
            return Err("the self-test failed: reads of ID registers are not answered".to_owned());
        }
        proof += &format!(" and reads of {} ID registers", ID_REGISTERS.len());
    }
    Ok(proof + " show what the tier has")
}

/// ID_AA64ISAR0_EL1, by CRm and op2.
const ISAR0: u8 = 6 << 3;

/// Whether the file that some programs read shows no more than the tier has.
fn shown_by_kernel(tier: Tier) -> Result<(), String> {
    let bytes = std::fs::read("/proc/self/auxv").map_err(|e| format!("/proc/self/auxv: {e}"))?;
    let (entries, _) = bytes.as_chunks::<8>();
    let numbers: Vec<u64> = entries.iter().map(|e| u64::from_ne_bytes(*e)).collect();
    let (pairs, _) = numbers.as_chunks::<2>();
    let more = pairs.iter().find(|[word, value]| left_of_word(tier, *word, *value) != *value);
    more.map_or(Ok(()), |[word, _]| {
        Err(format!("the self-test failed: /proc/self/auxv ({word}) shows what the tier has not"))
    })
}

/// So many instructions must need an extension before code is said to: a table among functions may look like a few.
const FEWEST: usize = 4;

/// Whether answers can keep the library within the tier: code that asks nothing must be within it.
fn masked(tier: Tier, plan: &Plan) -> Result<(), String> {
    let needed = plan.features.iter().filter(|(_, count)| **count >= FEWEST);
    let names = needed.map(|(name, _)| name.as_str());
    let hidden = |name: &&str| Feature::of_aarch64(name).is_some_and(|f| !tier.shows(f));
    let beyond: Vec<&str> = names.filter(hidden).collect();
    if plan.cpuid_instructions() > 0 || beyond.is_empty() {
        return Ok(());
    }
    Err(format!(
        "its code needs {} and asks nowhere what the CPU has: it was built for CPUs that have them",
        beyond.join(", ")
    ))
}

/// An entry of the vector.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    kind: u64,
    value: u64,
}

/// Why `/proc/self/auxv` still has what the CPU has; empty when it does not.
static KERNEL_COPY: OnceLock<String> = OnceLock::new();

/// Why `/proc/self/auxv` was not changed, where it was not.
pub fn note_on_kernel_copy() -> Option<&'static str> {
    KERNEL_COPY.get().map(String::as_str).filter(|why| !why.is_empty())
}

/// What the C library says of one of the kernel's words.
pub fn kernel_says(word: u64) -> u64 {
    // SAFETY: takes a number and returns one.
    unsafe { libc::getauxval(word) }
}

/// Takes from this process what the tier takes away. It must have no other thread.
pub fn hide_in_memory(tier: Tier) -> Result<(), String> {
    let start = Start::read()?;
    let vector = start.vector();
    for word in WORDS {
        let (have, want) = (kernel_says(word), left_of_word(tier, word, kernel_says(word)));
        if have == want {
            continue;
        }
        for entry in vector.iter_mut().filter(|e| e.kind == word) {
            entry.value = want;
        }
        // Some words the C library reads from the vector each time, some it has copied.
        if kernel_says(word) != want {
            change_loaders_copy(word, have, want)?;
        }
    }
    let _ = KERNEL_COPY.set(start.change_kernels_copy(vector).err().unwrap_or_default());
    Ok(())
}

/// Finds the dynamic loader's copy of a word by its value, and changes it: it is the one by which getauxval(3) changes
/// its mind.
fn change_loaders_copy(word: u64, have: u64, want: u64) -> Result<(), String> {
    let (at, len) = loaders_data()?;
    let writable = Writable::make(at, len)?;
    let place = (at..at + len - 7).step_by(8).find(|address| {
        let place = std::ptr::with_exposed_provenance_mut::<u64>(*address);
        // SAFETY: within the loader's object, which is mapped and writable; no other thread reads it, and it is as it was
        // unless it is the one that was looked for.
        unsafe {
            if place.read_volatile() != have {
                return false;
            }
            place.write_volatile(want);
            let found = kernel_says(word) == want;
            if !found {
                place.write_volatile(have);
            }
            found
        }
    });
    drop(writable);
    place.map(|_| ()).ok_or_else(|| {
        format!(
            "the C library's copy of what the kernel says of the CPU (auxv {word}) was not found"
        )
    })
}

/// Where the dynamic loader keeps what does not change (`_rtld_global_ro` of glibc), and how long that is.
fn loaders_data() -> Result<(usize, usize), String> {
    const NAME: &CStr = c"_rtld_global_ro";
    /// `dlfcn.h`.
    const RTLD_DL_SYMENT: i32 = 1;
    // SAFETY: looks a symbol up; the symbol's entry in the loader's table is there for good.
    unsafe {
        let at = libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr());
        if at.is_null() {
            return Err("this C library is not glibc, whose copy can be found".to_owned());
        }
        let mut info = std::mem::zeroed::<libc::Dl_info>();
        let mut symbol = std::ptr::null_mut::<c_void>();
        let found = libc::dladdr1(at, &raw mut info, &raw mut symbol, RTLD_DL_SYMENT);
        let size = symbol.cast::<libc::Elf64_Sym>();
        if found == 0 || size.is_null() || (*size).st_size < 8 {
            return Err("the dynamic loader does not say how long its data is".to_owned());
        }
        Ok((at.addr(), (*size).st_size as usize))
    }
}

/// Pages that are writable as long as this is there, and then as before.
struct Writable {
    from: usize,
    len: usize,
    read_only: bool,
}

impl Writable {
    fn make(at: usize, len: usize) -> Result<Self, String> {
        let page = rustix::param::page_size();
        let from = at & !(page - 1);
        let len = (at + len).next_multiple_of(page) - from;
        let maps = std::fs::read_to_string("/proc/self/maps").map_err(|e| e.to_string())?;
        let mut mapped = maps.lines().filter_map(Mapped::parse);
        let own = mapped.find(|mapped| mapped.range.contains(&(at as u64)));
        let read_only = own.is_none_or(|mapped| !mapped.permissions.contains('w'));
        let this = Self { from, len, read_only };
        this.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        Ok(this)
    }

    fn protect(&self, protection: i32) -> Result<(), String> {
        if !self.read_only {
            return Ok(());
        }
        let from = std::ptr::with_exposed_provenance_mut(self.from);
        // SAFETY: pages of the loader's own data, which stay readable.
        if unsafe { libc::mprotect(from, self.len, protection) } == 0 {
            return Ok(());
        }
        Err(format!("the dynamic loader's data: {}", std::io::Error::last_os_error()))
    }
}

impl Drop for Writable {
    fn drop(&mut self) {
        // What stays writable is no less right.
        let _ = self.protect(libc::PROT_READ);
    }
}

/// Where the kernel has put things at the start (proc_pid_stat(5)).
struct Start {
    fields: Vec<u64>,
}

impl Start {
    fn read() -> Result<Self, String> {
        let text = std::fs::read_to_string("/proc/self/stat").map_err(|e| e.to_string())?;
        // The name in brackets may hold anything.
        let (_, rest) = text.rsplit_once(')').ok_or("/proc/self/stat has no name")?;
        let number = |word: &str| word.parse().unwrap_or(0);
        let fields: Vec<u64> = rest.split_ascii_whitespace().map(number).collect();
        let this = Self { fields };
        if this.field(28) == 0 || this.field(51) == 0 {
            return Err("/proc/self/stat does not say where the stack begins".to_owned());
        }
        Ok(this)
    }

    /// By its number in proc_pid_stat(5).
    fn field(&self, number: usize) -> u64 {
        self.fields.get(number - 3).copied().unwrap_or(0)
    }

    /// The vector on the stack: behind the number of arguments, the arguments, the environment, and a null pointer
    /// behind each of both.
    fn vector(&self) -> &'static mut [Entry] {
        let stack = std::ptr::with_exposed_provenance_mut::<u64>(self.field(28) as usize);
        // SAFETY: the kernel has laid it out so (System V ABI, process initialization), and this process still runs the
        // program that it was laid out for; no other thread reads it.
        unsafe {
            let mut at = stack.add(stack.read() as usize + 2);
            while at.read() != 0 {
                at = at.add(1);
            }
            let first = at.add(1).cast::<Entry>();
            let mut len = 1;
            while (*first.add(len - 1)).kind != 0 {
                len += 1;
            }
            std::slice::from_raw_parts_mut(first, len)
        }
    }

    /// Has the kernel show the vector as it is now (prctl(2), PR_SET_MM_MAP: no privilege is needed for what stays where
    /// it is).
    fn change_kernels_copy(&self, vector: &[Entry]) -> Result<(), String> {
        const PR_SET_MM: i32 = 35;
        const PR_SET_MM_MAP: u64 = 14;
        /// `struct prctl_mm_map` (`linux/prctl.h`).
        #[repr(C)]
        struct Map {
            addresses: [u64; 11],
            vector: u64,
            vector_bytes: u32,
            program: u32,
        }
        // SAFETY: asks where the heap ends.
        let heap_end = unsafe { libc::sbrk(0) }.addr() as u64;
        let [code, data, args, env] = [(26, 27), (45, 46), (48, 49), (50, 51)]
            .map(|(from, to)| (self.field(from), self.field(to)));
        let map = Map {
            addresses: [
                code.0,
                code.1,
                data.0,
                data.1,
                self.field(47),
                heap_end,
                self.field(28),
                args.0,
                args.1,
                env.0,
                env.1,
            ],
            vector: vector.as_ptr().addr() as u64,
            vector_bytes: size_of_val(vector) as u32,
            program: u32::MAX,
        };
        // SAFETY: a whole map, which only tells the kernel what it knows but for the vector.
        let done = unsafe {
            libc::prctl(PR_SET_MM, PR_SET_MM_MAP, &raw const map, size_of::<Map>(), 0_u64)
        };
        if done == 0 {
            return Ok(());
        }
        Err(format!("/proc/self/auxv keeps what the CPU has: {}", std::io::Error::last_os_error()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::Object;
    use crate::tier::mask::AES;

    /// The words of a Cortex-A72 and of a Neoverse N1 as Linux gives them.
    const A72: [u64; 4] = [0x8ff, 0, 0, 0];
    const N1: [u64; 4] = [0x0011_9fff, 0, 0, 0];

    #[test]
    fn a_tier_that_is_all_the_cpu_has_says_so() {
        let same = |tier, words| exceeded(tier, words).unwrap();
        let native = Some("the same as native on this CPU".to_owned());
        assert_eq!(
            (same(Tier::Nosve, A72), same(Tier::Aes, A72)),
            (native.clone(), native.clone())
        );
        assert_eq!((same(Tier::Noaes, A72), same(Tier::Baseline, A72)), (None, None));
        // A Raspberry Pi 4 has no AES.
        let pi = [A72[0] & !0x78, 0, 0, 0];
        assert_eq!(
            exceeded(Tier::Aes, pi).unwrap_err(),
            "this CPU has no AES instructions, no PMULL"
        );
        assert_eq!(same(Tier::Noaes, pi), native);
        assert_eq!(same(Tier::Nosve, [N1[0] | 1 << 22, 2, 0, 0]), None);
        assert!(exceeded(Tier::Aesni, N1).unwrap_err().contains("a tier of x86-64"));
    }

    #[test]
    fn code_that_asks_nothing_must_be_within_the_tier() {
        let plan = |instructions, feature: &str| Plan {
            objects: vec![Object {
                original: "a".into(),
                load: "a".into(),
                cpuid_instructions: instructions,
            }],
            features: [(feature.to_owned(), 100)].into(),
        };
        let why = masked(Tier::Noaes, &plan(0, "aes")).unwrap_err();
        assert!(why.contains("needs aes and asks nowhere"), "{why}");
        assert!(masked(Tier::Aes, &plan(0, "aes")).is_ok());
        assert!(masked(Tier::Noaes, &plan(1, "aes")).is_ok());
    }

    /// In a process of its own: it keeps the tier.
    #[test]
    fn a_process_that_hides_what_it_has_proves_it_before_it_loads_a_library() {
        let plan = Plan {
            objects: vec![Object { original: "a".into(), load: "a".into(), cpuid_instructions: 1 }],
            ..Plan::default()
        };
        // SAFETY: the child of this thread calls nothing that another thread might hold a lock for, and leaves by _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let hidden = hide(Tier::Baseline);
            let applied = apply(Tier::Baseline, Path::new("a"), Ok(plan), None);
            let proven = applied.as_ref().is_ok_and(|a| a.proof.contains("getauxval"));
            let good = hidden.is_ok() && proven && super::kernel_says(HWCAP) & AES == 0;
            if !good {
                eprintln!("{hidden:?} {applied:?} {:#x}", super::kernel_says(HWCAP));
            }
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!good)) };
        }
        let mut status = 0;
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        let unhidden = apply(Tier::Baseline, Path::new("a"), Ok(Plan::default()), None);
        assert!(unhidden.unwrap_err().contains("self-test"));
    }

    #[test]
    fn the_vector_that_the_kernel_laid_out_is_found() {
        let start = Start::read().unwrap();
        let value = |word| start.vector().iter().find(|e| e.kind == word).map_or(0, |e| e.value);
        assert_eq!(value(16), kernel_says(16));
        assert_eq!(value(6) as usize, rustix::param::page_size());
    }
}
