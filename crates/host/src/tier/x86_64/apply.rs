//! A tier applied to this process, by the first mechanism that can.

use super::{fault, features, switch, trap};
use crate::tier::Mechanism;
use crate::tier::mask::{Registers, answer, lacks, leaves};
use crate::tier::plan::{Applied, Object, Plan};
use crate::tier::rewrite::preload;
use base::model::Tier;
use std::path::Path;

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
///
/// # Errors
/// What the CPU lacks.
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
    fault::available()?;
    // Nothing is loaded by it here: it is for what the code shows.
    let plan = plan.ok();
    plan.as_ref().map_or(Ok(()), |plan| masked(tier, plan))?;
    trap::install(tier, true)?;
    fault::enable()?;
    let here = prove(tier, &trap::cpuid);
    let there = std::thread::spawn(move || prove(tier, &trap::cpuid)).join();
    let proven = here.and_then(|n| there.map_err(|_| "a thread died".to_owned())?.map(|m| n + m));
    let leaves = proven.inspect_err(|_| fault::disable())?;
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
    let Some((own, dependencies)) = plan.objects.split_last() else {
        return Err(Refusal::Mechanism("nothing to load".to_owned()));
    };
    dependencies.iter().try_for_each(preload)?;
    let rewritten = |o: &&Object| o.load != o.original;
    Ok(Applied {
        tier,
        mechanism: Mechanism::CpuidRewrite,
        load: own.load.clone(),
        originals: plan.objects.iter().filter(rewritten).map(|o| o.original.clone()).collect(),
        cpuid_instructions: Some(plan.cpuid_instructions()),
        proof: format!("{leaves} answers of CPUID"),
        note: None,
        answered_before,
    })
}

fn by_switch(tier: Tier, library: &Path) -> Result<Applied, Refusal> {
    Ok(Applied {
        tier,
        mechanism: Mechanism::LibrarySwitch,
        load: library.to_owned(),
        originals: Vec::new(),
        cpuid_instructions: None,
        proof: switch::apply(tier, library)?,
        note: None,
        answered_before: 0,
    })
}

/// Whether answers can keep the library within the tier: code that asks nothing must be within it.
fn masked(tier: Tier, plan: &Plan) -> Result<(), Refusal> {
    let beyond = features::missing(tier, &plan.features);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
