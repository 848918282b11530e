//! What the workers of this machine's libraries give up.

use crate::doctor::finding::Finding;
use record::{Confinement, Library};
use std::collections::BTreeMap;

/// One finding for what every worker gives up, one for each thing that is missing, and one for the libraries
/// that tried what they may not.
pub(crate) fn examine(libraries: &[Library]) -> Vec<Finding> {
    let confined: Vec<(&str, &Confinement)> = libraries
        .iter()
        .filter_map(|l| l.confinement.as_ref().map(|c| (l.name.as_str(), c)))
        .collect();
    let Some((_, first)) = confined.first() else { return Vec::new() };
    let mut findings: Vec<Finding> = first
        .in_force
        .iter()
        .map(|r| Finding::ok("confinement", &r.name, r.detail.as_str()))
        .collect();
    let mut missing: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (_, confinement) in &confined {
        for restriction in &confinement.missing {
            *missing.entry((&restriction.name, &restriction.detail)).or_insert(0) += 1;
        }
    }
    findings.extend(missing.into_iter().map(|((name, why), count)| {
        let found = format!("missing with {count} of {} libraries: {why}", confined.len());
        Finding::ok("confinement", name, found).note(without(name))
    }));
    findings.extend(older(first));
    if let Some(why) = &first.switched_off {
        findings.push(
            Finding::ok("confinement", "switched off", why.as_str())
                .note("for a library that needs more; unset it to have libraries confined again"),
        );
    }
    findings.extend(denied(&confined));
    findings
}

/// What a library can do without a restriction (docs/TRUST.md, "Least power").
fn without(name: &str) -> &'static str {
    match name {
        "seccomp" => "a library can do what you can do: measure none that you do not trust",
        "landlock" => {
            "a library can read what you can read; it has no network, but its texts go into records"
        }
        _ => "a library that you were handed can do more in a worker than it needs; records say so",
    }
}

/// That Landlock is there, and is older than its rules for TCP.
fn older(first: &Confinement) -> Option<Finding> {
    let landlock = first.in_force.iter().find(|r| r.name == "landlock")?;
    let is_older = !landlock.detail.contains("no TCP");
    is_older.then(|| {
        Finding::ok("confinement", "TCP", "this kernel's Landlock has no rules for it (Linux 6.7)").note(
            "`tls calibrate` refuses a library that you name: nothing would hold it to its servers",
        )
    })
}

fn denied(confined: &[(&str, &Confinement)]) -> Option<Finding> {
    let tried = confined.iter().filter(|(_, c)| !c.denied.is_empty());
    let tried: Vec<String> =
        tried.map(|(name, c)| format!("{name} ({})", c.denied.join(", "))).collect();
    (!tried.is_empty()).then(|| {
        Finding::ok("confinement", "tried", tried.join("; ")).note(
            "while they were loaded these libraries called what a worker may not; the calls failed",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;
    use record::Restriction;

    fn library(confinement: Option<Confinement>) -> Library {
        Library { confinement, ..crate::doctor::examine::tests::library("openssl", None) }
    }

    fn restriction(name: &str) -> Restriction {
        Restriction { name: name.into(), detail: "so and so".into() }
    }

    #[test]
    fn each_kernel_is_told_what_it_lets_a_library_do() {
        let of = |in_force: Vec<Restriction>, missing: Vec<Restriction>| {
            let confinement = Confinement { in_force, missing, ..Confinement::default() };
            let found = examine(&[library(Some(confinement))]);
            found.into_iter().map(|f| (f.name, f.mend.unwrap_or_default())).collect::<Vec<_>>()
        };
        let landlock =
            |detail: &str| Restriction { detail: detail.into(), ..restriction("landlock") };
        let whole = of(vec![landlock("files read-only, no TCP")], Vec::new());
        assert_eq!(whole.len(), 1, "{whole:?}");
        let older = of(vec![landlock("files read-only")], Vec::new());
        assert!(older[1].0 == "TCP" && older[1].1.contains("`tls calibrate` refuses"), "{older:?}");
        let none = of(Vec::new(), vec![restriction("landlock"), restriction("seccomp")]);
        assert!(none[0].1.contains("can read what you can read"), "{none:?}");
        assert!(none[1].1.contains("can do what you can do"), "{none:?}");
    }

    #[test]
    fn what_is_given_up_is_told_and_what_is_missing_is_a_note() {
        assert_eq!(examine(&[library(None)]), []);
        let confinement = Confinement {
            in_force: vec![restriction("seccomp")],
            missing: vec![restriction("landlock")],
            switched_off: Some("limits left out".into()),
            denied: vec!["socket".into()],
        };
        let findings = examine(&[library(None), library(Some(confinement))]);
        let told: Vec<(&str, Verdict)> =
            findings.iter().map(|f| (f.name.as_str(), f.verdict)).collect();
        let note = Verdict::Note;
        assert_eq!(
            told,
            [("seccomp", Verdict::Ok), ("landlock", note), ("switched off", note), ("tried", note)]
        );
        assert!(findings[1].found.contains("missing with 1 of 1"), "{findings:?}");
        assert!(findings[3].found.contains("openssl (socket)"), "{findings:?}");
    }
}
