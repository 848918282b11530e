//! A tier of x86-64 applied to this process, by the first mechanism that can: CPUID answered by a signal
//! handler, or, last, library switches: what a library's own setting can leave out, for where its CPUID
//! instructions cannot be answered. Only settings that amount to exactly the tier count.

#[cfg(test)]
pub(crate) mod fixtures;
mod sites;
pub(crate) mod trap;

use crate::tier::mask::{Registers, answer, lacks, leaves};
use crate::tier::rewrite::{Image, Patch, Questions};
use crate::tier::{Applied, Mechanism, Plan};
use base::model::Feature::*;
use base::model::{Feature, Tier};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol as _};
pub(crate) use sites::features;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
pub use trap::answered;

/// Nothing of a tier has to be applied before the process gives up its power.
pub fn hide(_: Tier) -> Result<(), String> {
    Ok(())
}

/// The CPUID instructions of a file, each replaced by the marker of [`marker`].
pub(crate) fn questions(image: &Image<'_>, _: &[u8]) -> Result<Questions, String> {
    let found = sites::find(image)?.instructions;
    let (was, becomes) = (trap::CPUID.to_vec(), trap::MARKER.to_vec());
    let patch = |offset| Patch { offset, was: was.clone(), becomes: becomes.clone() };
    Ok(Questions { places: found.len() as u64, patches: found.into_iter().map(patch).collect() })
}

/// What is read of a file that is to be loaded at a tier: how many places of it are CPUID
/// instructions and how many only look so, and how many instruction sets its code needs. For tests
/// of what any file does to the reader.
#[doc(hidden)]
pub fn read_object(bytes: &[u8]) -> Result<[usize; 3], String> {
    let image = Image::parse(bytes)?;
    let found = sites::find(&image)?;
    let within =
        |offset: &u64| bytes.get(*offset as usize..).is_some_and(|b| b.starts_with(&trap::CPUID));
    assert!(
        found.instructions.iter().chain(&found.others).all(within),
        "a place that is not CPUID"
    );
    Ok([found.instructions.len(), found.others.len(), sites::features(&image)?.len()])
}

/// How this machine applies tiers, and what each tier is here: `Err` says why a tier cannot be had
/// with any library.
pub fn machine(tier: Tier) -> Result<(Option<Mechanism>, Option<String>), String> {
    let note = exceeded(tier, &trap::cpuid)?;
    if tier == Tier::Native {
        return Ok((None, note));
    }
    let fault = trap::can_fault().is_ok();
    let mechanism = if fault { Mechanism::CpuidFault } else { Mechanism::CpuidRewrite };
    Ok((Some(mechanism), note))
}

/// Applies a tier to this process, before it loads the library, by what [`prepare`] gave, here or in another
/// process, or why it did not; the copies are there for as long as this process lives. The process must have
/// no other thread. `wanted` leaves no choice of the mechanism.
///
/// # Errors
/// Why the tier cannot be had, in words that follow "the tier cannot be applied: ".
pub fn apply(
    tier: Tier,
    library: &Path,
    plan: Result<Plan, String>,
    wanted: Option<Mechanism>,
) -> Result<Applied, String> {
    let note = exceeded(tier, &trap::cpuid)?;
    let mut reasons = Vec::new();
    for mechanism in Mechanism::HERE.iter().filter(|m| wanted.is_none_or(|w| w == **m)) {
        let tried = match mechanism {
            Mechanism::CpuidFault => by_fault(tier, library, plan.clone()),
            Mechanism::CpuidRewrite => by_rewrite(tier, plan.clone()),
            Mechanism::LibrarySwitch => by_switch(tier, library),
            Mechanism::HwcapMask => Err(Refusal::Mechanism("is for aarch64".to_owned())),
        };
        match tried {
            Ok(applied) => return Ok(Applied { note, ..applied }),
            // No other mechanism changes what the code is made of.
            Err(Refusal::Fixed(why)) => return Err(why),
            Err(Refusal::Mechanism(why)) => reasons.push(format!("{mechanism}: {why}")),
        }
    }
    Err(reasons.join("; "))
}

/// Why a mechanism did not do.
enum Refusal {
    /// Another one may.
    Mechanism(String),
    /// None can.
    Fixed(String),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Mechanism(why)
    }
}

/// Whether this CPU has what the tier is named for; what it is the same as.
pub fn exceeded(
    tier: Tier,
    cpuid: &dyn Fn(u32, u32) -> Registers,
) -> Result<Option<String>, String> {
    if let Some(why) = tier.foreign() {
        return Err(why);
    }
    let lacks: Vec<String> = lacks(tier.needs(), cpuid).map(|f| f.to_string()).collect();
    if !lacks.is_empty() {
        return Err(format!("this CPU has no {}", lacks.join(", no ")));
    }
    let asked: Vec<_> = leaves().map(|(l, s)| (l, s, cpuid(l, s))).collect();
    let same = |other: Tier| {
        asked.iter().all(|(l, s, raw)| answer(other, *l, *s, *raw) == answer(tier, *l, *s, *raw))
    };
    let equal = Tier::X86_64.iter().find(|other| **other < tier && same(**other));
    Ok(equal.map(|other| format!("the same as {other} on this CPU")))
}

fn by_fault(tier: Tier, library: &Path, plan: Result<Plan, String>) -> Result<Applied, Refusal> {
    trap::can_fault()?;
    // Nothing is loaded by it here: it is for what the code shows.
    let plan = plan.ok();
    plan.as_ref().map_or(Ok(()), |plan| masked(tier, plan))?;
    trap::install(tier, true)?;
    trap::enable_faulting()?;
    let here = prove(tier, &trap::cpuid);
    let there = std::thread::spawn(move || prove(tier, &trap::cpuid)).join();
    let proven = here.and_then(|n| there.map_err(|_| "a thread died".to_owned())?.map(|m| n + m));
    let leaves = proven.inspect_err(|_| trap::disable_faulting())?;
    Ok(Applied {
        tier,
        mechanism: Mechanism::CpuidFault,
        load: library.to_owned(),
        originals: Vec::new(),
        cpuid_instructions: plan.as_ref().map(Plan::cpuid_instructions),
        proof: format!("{leaves} answers of CPUID, in this and in a new thread"),
        note: None,
        answered_before: trap::answered(),
    })
}

fn by_rewrite(tier: Tier, plan: Result<Plan, String>) -> Result<Applied, Refusal> {
    let plan = plan?;
    masked(tier, &plan)?;
    trap::install(tier, false)?;
    let leaves = prove(tier, &trap::rewritten_cpuid)?;
    let answered_before = trap::answered();
    let proof = format!("{leaves} answers of CPUID");
    let applied = Applied::of_copies(tier, Mechanism::CpuidRewrite, &plan, proof)?;
    Ok(Applied { answered_before, ..applied })
}

fn by_switch(tier: Tier, library: &Path) -> Result<Applied, Refusal> {
    Ok(Applied {
        tier,
        mechanism: Mechanism::LibrarySwitch,
        load: library.to_owned(),
        originals: Vec::new(),
        cpuid_instructions: None,
        proof: apply_switch(tier, library)?,
        note: None,
        answered_before: 0,
    })
}

/// Whether answers can keep the library within the tier: code that asks nothing must be within it.
fn masked(tier: Tier, plan: &Plan) -> Result<(), Refusal> {
    let beyond = sites::missing_features(tier, &plan.features);
    if plan.cpuid_instructions() > 0 || beyond.is_empty() {
        return Ok(());
    }
    Err(Refusal::Fixed(format!(
        "its code needs {} and has no CPUID instruction that could be answered: it was built for CPUs that have them",
        beyond.join(", ")
    )))
}

/// Asks through the mechanism and holds the answers against the tier's; how many there were.
fn prove(tier: Tier, asked: &dyn Fn(u32, u32) -> Registers) -> Result<u64, String> {
    let (counted, mut answers) = (trap::answered(), 0);
    for (leaf, subleaf) in leaves() {
        let found = asked(leaf, subleaf);
        if answer(tier, leaf, subleaf, found) != found {
            return Err(format!(
                "the self-test failed: leaf {leaf:#x} shows what the tier has not"
            ));
        }
        answers += 1;
    }
    // Other threads' answers may count too, so at least as many.
    if trap::answered() < counted + answers {
        return Err("the self-test failed: CPUID is not answered".to_owned());
    }
    Ok(answers)
}

/// Sets what has the library leave out the tier's features; what was set, for the record. The
/// process must have no other thread, and must not have the library loaded yet.
pub fn apply_switch(tier: Tier, library: &Path) -> Result<String, String> {
    let bytes = crate::identity::whole(library);
    let bytes = bytes.map_err(|e| format!("'{}': {e}", library.display()))?;
    let exports = exports(&bytes)?;
    let has = |symbol: &str| exports.iter().any(|e| e == symbol);
    if has("BORINGSSL_self_test") && !has("awslc_version_string") {
        // Tried: VAES stays in use whatever the second word says.
        Err("BoringSSL heeds only the first word of OPENSSL_ia32cap".to_owned())
    } else if has("EVP_CIPHER_CTX_new") && contains(&bytes, b"\0OPENSSL_ia32cap\0") {
        Ok(set_variable("OPENSSL_ia32cap", &ia32cap(tier)))
    } else if has("botan_cipher_init") && contains(&bytes, b"BOTAN_CLEAR_CPUI") {
        // Without its last letter: compilers keep that in an instruction of its own.
        Ok(set_variable("BOTAN_CLEAR_CPUID", &botan(tier)))
    } else if has("nettle_gcm_aes256_encrypt") && contains(&bytes, b"NETTLE_FAT_OVERRIDE") {
        Ok(set_variable("NETTLE_FAT_OVERRIDE", &nettle(tier, &trap::cpuid)))
    } else if has("gcry_control") {
        disable_in_gcrypt(library, &gcrypt(tier))
    } else {
        Err("the library has no switch of its own for this".to_owned())
    }
}

fn exports(bytes: &[u8]) -> Result<Vec<String>, String> {
    let file = ElfFile64::<object::LittleEndian>::parse(bytes).map_err(|e| e.to_string())?;
    let defined = file.dynamic_symbols().filter(|s| s.is_definition());
    Ok(defined.filter_map(|s| s.name().ok().map(ToOwned::to_owned)).collect())
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|w| w == text)
}

fn set_variable(name: &str, value: &str) -> String {
    // SAFETY: the caller promises that there is no other thread to read the environment.
    unsafe { std::env::set_var(name, value) };
    format!("{name}={value}")
}

/// OPENSSL_ia32cap(3): words of 64 bits, `~` clears bits. The first two since 1.0.1, also in
/// AWS-LC; the others since 3.4, and not read before.
fn ia32cap(tier: Tier) -> String {
    let gone = |leaf, subleaf| {
        let all = u32::MAX;
        let left =
            answer(tier, leaf, subleaf, Registers { eax: all, ebx: all, ecx: all, edx: all });
        Registers { eax: !left.eax, ebx: !left.ebx, ecx: !left.ecx, edx: !left.edx }
    };
    let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let (one, seven, next, avx10) = (gone(1, 0), gone(7, 0), gone(7, 1), gone(0x24, 0));
    // AMD's XOP stands in a bit of the first word that CPUID uses for something else.
    let xop = gone(0x8000_0001, 0).ecx & 1 << 11;
    let words = [
        word(one.edx, one.ecx | xop),
        word(seven.ebx, seven.ecx),
        word(seven.edx, next.eax),
        word(next.edx, next.ebx),
        word(next.ecx, avx10.ebx),
    ];
    words.map(|w| format!("~{w:#x}")).join(":")
}

/// The names of features that a tier hides.
fn names(tier: Tier, groups: &[(Feature, &[&'static str])]) -> Vec<&'static str> {
    let hidden = groups.iter().filter(|(feature, _)| !tier.shows(*feature));
    hidden.flat_map(|(_, names)| names.iter().copied()).collect()
}

/// Botan 2 and 3, `CPUID::bit_from_string`; names that a version does not know are ignored.
#[rustfmt::skip]
fn botan(tier: Tier) -> String {
    let groups: [(Feature, &[&str]); 15] = [
        (Avx512, &["avx512", "avx512f", "avx512bw", "avx512dq", "avx512_icelake", "avx512_aes", "avx512_clmul"]),
        (Avx512Icelake, &["avx512_icelake"]),
        (Vaes, &["vaes", "avx2_vaes", "avx2_aes", "avx512_aes"]),
        (Vpclmul, &["avx2_clmul", "avx512_clmul"]),
        (Gfni, &["gfni"]),
        (Aes, &["aesni", "aes_ni", "intel_aes"]),
        (Clmul, &["clmul"]),
        (Ssse3, &["ssse3"]),
        (Sse41, &["sse41"]),
        (Sse42, &["sse42"]),
        (Avx2, &["avx2"]),
        (Bmi2, &["bmi1", "bmi2"]),
        (Adx, &["adx"]),
        (Sha, &["sha", "intel_sha"]),
        (AvxLater, &["intel_sha512", "intel_sm3", "intel_sm4"]),
    ];
    names(tier, &groups).join(",")
}

/// libgcrypt's `hwfeatures.c`.
#[rustfmt::skip]
fn gcrypt(tier: Tier) -> Vec<&'static str> {
    let groups: [(Feature, &[&str]); 13] = [
        (Avx512, &["intel-avx512"]),
        (Vaes, &["intel-vaes-vpclmul"]),
        (Vpclmul, &["intel-vaes-vpclmul"]),
        (Gfni, &["intel-gfni"]),
        (Aes, &["intel-aesni"]),
        (Clmul, &["intel-pclmul"]),
        (Ace, &["padlock-aes"]),
        (Ssse3, &["intel-ssse3"]),
        (Sse41, &["intel-sse4.1"]),
        (Avx, &["intel-avx"]),
        (Avx2, &["intel-avx2", "intel-fast-vpgather"]),
        (Bmi2, &["intel-bmi2"]),
        (Sha, &["intel-shaext"]),
    ];
    let mut all = names(tier, &groups);
    all.extend(names(tier, &[(Other, &["padlock-sha", "padlock-mmul"])]));
    all.dedup();
    all
}

/// Nettle's `fat-x86_64.c`: what is named is there, all else is not.
fn nettle(tier: Tier, cpuid: &dyn Fn(u32, u32) -> Registers) -> String {
    let vendor = if cpuid(0, 0).ebx == u32::from_le_bytes(*b"Auth") { "amd" } else { "intel" };
    let (one, seven) = (answer(tier, 1, 0, cpuid(1, 0)), answer(tier, 7, 0, cpuid(7, 0)));
    let has = [(one.ecx >> 25, ",aesni"), (seven.ebx >> 29, ",sha_ni"), (one.ecx >> 1, ",pclmul")];
    let named = has.into_iter().filter(|(bit, _)| bit & 1 == 1).map(|(_, name)| name);
    format!("vendor:{vendor}{}", named.collect::<String>())
}

/// `gcry_control(GCRYCTL_DISABLE_HWF, name, NULL)` before the library is initialised; a name that it
/// does not know is of a feature that it cannot use.
fn disable_in_gcrypt(library: &Path, features: &[&str]) -> Result<String, String> {
    const DISABLE_HWF: c_int = 63;
    let path = CString::new(library.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: loads the library that this process is there for, which stays loaded.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    // SAFETY: a handle of the loader's, or null, for which it fails.
    let function = unsafe { libc::dlsym(handle, c"gcry_control".as_ptr()) };
    if handle.is_null() || function.is_null() {
        return Err("libgcrypt cannot be loaded".to_owned());
    }
    // SAFETY: the type that gcrypt.h gives the function.
    let control = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, ...) -> c_uint>(function)
    };
    for feature in features {
        let name = CString::new(*feature).expect("the names have no NUL");
        // SAFETY: the command takes a string and a null pointer (gcrypt.h).
        unsafe { control(DISABLE_HWF, name.as_ptr(), std::ptr::null::<c_char>()) };
    }
    Ok(format!("GCRYCTL_DISABLE_HWF {}", features.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::Object;
    use std::collections::BTreeSet;

    /// A CPU with these bits of leaf 1 ECX, 7 EBX and 7 ECX.
    fn cpu(one_ecx: u32, seven_ebx: u32, seven_ecx: u32) -> impl Fn(u32, u32) -> Registers {
        move |leaf, subleaf| match (leaf, subleaf) {
            (1, _) => Registers { ecx: one_ecx, ..Registers::default() },
            (7, 0) => Registers { ebx: seven_ebx, ecx: seven_ecx, ..Registers::default() },
            _ => Registers::default(),
        }
    }

    const AES: u32 = 1 << 25 | 1 << 1;
    const VAES: u32 = 1 << 9 | 1 << 10;
    const AVX512F: u32 = 1 << 16;

    #[test]
    fn a_tier_that_the_cpu_does_not_reach_is_none() {
        let old = cpu(AES, 0, 0);
        assert_eq!(
            exceeded(Tier::Vaes256, &old).unwrap_err(),
            "this CPU has no VAES, no VPCLMULQDQ"
        );
        let older = cpu(0, 0, 0);
        assert_eq!(
            exceeded(Tier::Aesni, &older).unwrap_err(),
            "this CPU has no AES instructions, no PCLMULQDQ"
        );
        assert!(exceeded(Tier::Noaes, &older).is_ok());
        let nehalem = cpu(1 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23, 0, 0);
        assert_eq!(
            exceeded(Tier::Sandybridge, &nehalem).unwrap_err(),
            "this CPU has no AES instructions, no PCLMULQDQ, no XSAVE, no AVX"
        );
        assert_eq!(
            exceeded(Tier::Nehalem, &nehalem).unwrap().as_deref(),
            Some("the same as native on this CPU")
        );
        assert_eq!(exceeded(Tier::Core2, &nehalem), Ok(None));
    }

    #[test]
    fn a_tier_that_is_all_the_cpu_has_says_so() {
        let same = |tier, cpu: &dyn Fn(u32, u32) -> Registers| exceeded(tier, cpu).unwrap();
        let new = cpu(AES, AVX512F, VAES);
        assert_eq!(same(Tier::Native, &new), None);
        assert_eq!(same(Tier::Vaes256, &new), None);
        let without_avx512 = cpu(AES, 0, VAES);
        let native = "the same as native on this CPU";
        assert_eq!(same(Tier::Vaes256, &without_avx512).as_deref(), Some(native));
        assert_eq!(same(Tier::Aesni, &without_avx512), None);
        assert_eq!(same(Tier::Aesni, &cpu(AES, 0, 0)).as_deref(), Some(native));
        assert_eq!(same(Tier::Noaes, &cpu(0, 0, 0)).as_deref(), Some(native));
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
        let Err(Refusal::Fixed(why)) = masked(Tier::Noaes, &plan(0, "AES")) else { panic!() };
        assert!(why.contains("needs AES and has no CPUID"), "{why}");
        assert!(masked(Tier::Aesni, &plan(0, "AES")).is_ok());
        assert!(masked(Tier::Noaes, &plan(1, "AES")).is_ok());
    }

    #[test]
    fn a_mask_that_does_not_hold_is_found() {
        let all = u32::MAX;
        let unmasked = |_, _| Registers { eax: all, ebx: all, ecx: all, edx: all };
        assert!(prove(Tier::Noaes, &unmasked).unwrap_err().contains("self-test"));
    }

    #[test]
    fn openssl_loses_the_bits_that_its_manual_names() {
        // AES-NI is bit 57 and PCLMULQDQ bit 33 of the first word; VAES and VPCLMULQDQ are bits 41
        // and 42 of the second, AVX512F its bit 16 (OPENSSL_ia32cap(3)).
        let words = |tier| -> Vec<u64> {
            let hex = |w: &str| u64::from_str_radix(w.trim_start_matches("~0x"), 16).unwrap();
            ia32cap(tier).split(':').map(hex).collect()
        };
        assert_eq!(words(Tier::Noaes)[0], 1 << 57 | 1 << 33);
        assert_eq!(words(Tier::Aesni)[0], 0);
        assert_eq!(words(Tier::Aesni)[1] >> 40 & 7, 7);
        assert_eq!((words(Tier::Vaes256)[1] >> 40 & 7, words(Tier::Vaes256)[1] >> 16 & 1), (0, 1));
        assert_eq!(words(Tier::Baseline)[0] >> 43 & 1, 1, "XOP");
        assert_eq!(words(Tier::Noaes).len(), 5);
    }

    #[test]
    fn a_tier_that_shows_less_is_named_more() {
        const LADDER: [Tier; 5] =
            [Tier::Native, Tier::Vaes256, Tier::Aesni, Tier::Noaes, Tier::Baseline];
        for list in [|t| gcrypt(t).join(","), botan] {
            let names = |tier| list(tier).split(',').map(str::to_owned).collect::<BTreeSet<_>>();
            for (a, b) in
                Tier::X86_64.iter().flat_map(|a| Tier::X86_64.iter().map(move |b| (*a, *b)))
            {
                let more = a != Tier::Native && b != Tier::Native;
                assert!(!(more && a.covers(b)) || names(b).is_superset(&names(a)), "{a} {b}");
            }
            for pair in LADDER.windows(2) {
                assert_ne!(names(pair[0]), names(pair[1]));
            }
        }
        assert!(gcrypt(Tier::Noaes).contains(&"intel-aesni"));
        assert!(!gcrypt(Tier::Aesni).contains(&"intel-aesni"));
        assert_eq!(gcrypt(Tier::Nopclmul), ["intel-vaes-vpclmul", "intel-pclmul"]);
    }

    #[test]
    fn nettle_is_told_what_is_left() {
        let amd = |leaf, _| match leaf {
            0 => Registers { ebx: u32::from_le_bytes(*b"Auth"), ..Registers::default() },
            _ => Registers { eax: 0, ebx: u32::MAX, ecx: u32::MAX, edx: 0 },
        };
        assert_eq!(nettle(Tier::Aesni, &amd), "vendor:amd,aesni,sha_ni,pclmul");
        assert_eq!(nettle(Tier::Noaes, &amd), "vendor:amd,sha_ni");
        assert_eq!(nettle(Tier::Baseline, &amd), "vendor:amd");
    }
}
