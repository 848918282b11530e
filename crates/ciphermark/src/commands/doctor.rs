//! `ciphermark doctor`: machine, clock, noise, instructions, libraries.

use crate::args::DoctorArgs;
use crate::error::{Exit, Failure};
use crate::screen;
use base::model::Tier;
use engine::doctor::{Finding, Verdict};

/// Examines everything and prints the findings.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let cpu = engine::measuring_cpu();
    // Before the noise is measured: loading libraries is noise.
    let libraries = engine::discover(&[]).into_iter().map(|l| l.facts).collect();
    let machine =
        engine::doctor::Machine { libraries, tiers: tiers(), ..engine::doctor::machine(cpu) };
    let findings = engine::doctor::examine(&machine, &engine::doctor::watch(cpu));
    if args.json {
        screen::print_json(&findings)?;
    } else {
        let rows: Vec<report::Advice> = findings.iter().map(advice).collect();
        screen::print(|options| report::advice(&rows, options))?;
    }
    let problem = findings.iter().any(|f| f.verdict == Verdict::Problem);
    Ok(if problem { Exit::Found } else { Exit::Done })
}

/// Every switch but `native`, and how it is applied to libraries.
fn tiers() -> Vec<(String, Result<String, String>)> {
    let others = Tier::HERE.iter().copied().filter(|t| *t != Tier::Native && !t.is_machine());
    let how = |tier: Tier| {
        let here = engine::tier_here(tier);
        let unknown = || "this machine has no way to apply it".to_owned();
        match here.mechanism {
            Some(mechanism) if here.available => Ok(format!("by {mechanism}")),
            _ => Err(here.reason.unwrap_or_else(unknown)),
        }
    };
    others.map(|tier| (tier.name().to_owned(), how(tier))).collect()
}

fn advice(finding: &Finding) -> report::Advice {
    report::Advice {
        topic: finding.topic.to_owned(),
        name: finding.name.clone(),
        grade: match finding.verdict {
            Verdict::Ok => report::Grade::Ok,
            Verdict::Note => report::Grade::Note,
            Verdict::Problem => report::Grade::Problem,
        },
        found: finding.found.clone(),
        mend: finding.mend.clone(),
    }
}
