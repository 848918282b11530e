//! A tier applied to this process.

use super::{auxv, trap};
use crate::tier::Mechanism;
use crate::tier::hwcap::{HWCAP, ID_REGISTERS, WORDS, answer, lacks, left};
use crate::tier::plan::{Applied, Object, Plan};
use crate::tier::rewrite::preload;

use base::model::{Feature, Tier};
use std::path::Path;
use std::sync::OnceLock;

/// HWCAP_CPUID: the kernel answers reads of ID registers.
const CPUID: u64 = 1 << 11;

/// What the tier that this process hides the rest for is the same as on this CPU.
static SAME_AS: OnceLock<Option<String>> = OnceLock::new();

/// Changes in this process's memory what the kernel has said of the CPU, which takes system calls that a library needs
/// not: before the process gives them up. The process must have no other thread.
///
/// # Errors
/// Why it cannot be changed.
pub fn hide(tier: Tier) -> Result<(), String> {
    if tier == Tier::Native {
        return Ok(());
    }
    // Afterwards the kernel's words are the tier's.
    let (_, same) = machine(tier)?;
    SAME_AS.get_or_init(|| same);
    auxv::hide(tier)
}

/// How this machine applies tiers, and what each tier is here: `Err` says why a tier cannot be had
/// with any library.
///
/// # Errors
/// What this CPU lacks.
pub fn machine(tier: Tier) -> Result<(Option<Mechanism>, Option<String>), String> {
    let note = exceeded(tier, WORDS.map(auxv::says))?;
    Ok(((tier != Tier::Native).then_some(Mechanism::HwcapMask), note))
}

/// Whether a CPU of which the kernel says this has what the tier is named for; what it is the same as.
fn exceeded(tier: Tier, words: [u64; 4]) -> Result<Option<String>, String> {
    if let Some(why) = tier.foreign() {
        return Err(why);
    }
    let lacks: Vec<String> = lacks(tier.needs(), words[0]).map(|f| f.to_string()).collect();
    if !lacks.is_empty() {
        return Err(format!("this CPU has no {}", lacks.join(", no ")));
    }
    let of = |tier: Tier| [0, 1, 2, 3].map(|i| left(tier, WORDS[i], words[i]));
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
    let answered_before = trap::answered();
    let (own, dependencies) = plan.objects.split_last().ok_or("nothing to load")?;
    dependencies.iter().try_for_each(preload)?;
    let rewritten = |o: &&Object| o.load != o.original;
    Ok(Applied {
        tier,
        mechanism,
        load: own.load.clone(),
        originals: plan.objects.iter().filter(rewritten).map(|o| o.original.clone()).collect(),
        cpuid_instructions: Some(plan.cpuid_instructions()),
        answered_before,
        proof,
        note: SAME_AS.get().cloned().flatten().or_else(|| auxv::note().map(ToOwned::to_owned)),
    })
}

/// Asks as a library would, and holds the answers against the tier's.
fn prove(tier: Tier) -> Result<String, String> {
    for word in WORDS {
        if left(tier, word, auxv::says(word)) != auxv::says(word) {
            return Err(format!(
                "the self-test failed: getauxval({word}) shows what the tier has not"
            ));
        }
    }
    let mut proof = "getauxval(3)".to_owned();
    if auxv::note().is_none() {
        shown_by_kernel(tier)?;
        proof += ", /proc/self/auxv";
    }
    if auxv::says(HWCAP) & CPUID != 0 {
        trap::install(tier)?;
        let counted = trap::answered();
        let (found, raw) = (trap::rewritten_isar0(), trap::id_register(ISAR0));
        if found != answer(tier, ISAR0, raw) || trap::answered() == counted {
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
    let more = pairs.iter().find(|[word, value]| left(tier, *word, *value) != *value);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::hwcap::AES;

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
            let good = hidden.is_ok() && proven && auxv::says(HWCAP) & AES == 0;
            if !good {
                eprintln!("{hidden:?} {applied:?} {:#x}", auxv::says(HWCAP));
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
}
