//! The earlier part of a run that is gone on with.

use crate::case_progress::{CaseProgress, End};
use crate::kinds::{Message, Subject};
use crate::plan::Planned;
use crate::protocol::Finding;
use record::{JournalFacts, JournalFinding, JournalHead, JournalSample, Kept, Library, Plan};
use std::collections::BTreeMap;

/// What the journal says of a run at its head.
pub(crate) fn head(
    kind: &str,
    (plan, cases): (Plan, usize),
    libraries: Vec<(Option<String>, Library)>,
    command: &[String],
    cpu: u32,
) -> JournalHead {
    let host = host::facts(cpu);
    JournalHead {
        format_version: record::FORMAT_VERSION.to_owned(),
        kind: kind.to_owned(),
        started: jiff::Timestamp::now().to_string(),
        command: command.to_vec(),
        cpu: host.cpu.name,
        microcode: host.cpu.microcode,
        machine: host::machine_hash(),
        circumstances: host.circumstances,
        plan,
        cases,
        libraries,
        store: None,
    }
}

/// What an earlier part of the run left, if there was one.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    /// When it began.
    pub(crate) started: Option<String>,
    /// Seconds of measuring.
    pub(crate) seconds: f64,
    samples: Vec<JournalSample>,
    facts: Vec<JournalFacts>,
    findings: Vec<JournalFinding>,
}

impl Earlier {
    /// Holds the earlier part against this one: samples of two machines, of two builds or of two
    /// plans are never mixed.
    pub(crate) fn of(kept: Option<Kept>, now: &JournalHead) -> Result<Self, String> {
        let Some(kept) = kept else { return Ok(Self::default()) };
        difference(&kept.head, now).map_or(Ok(()), Err)?;
        let Kept { head: first, samples, facts, findings, seconds, .. } = kept;
        Ok(Self { started: Some(first.started), seconds, samples, facts, findings })
    }

    /// What was found stays found.
    pub(crate) fn tell(&self, planned: &mut [Planned]) {
        for JournalFinding { case, state, reason } in &self.findings {
            if let Some(plan) = planned.get_mut(*case) {
                plan.verdict.get_or_insert(Finding::of(*state, reason.clone()));
            }
        }
    }

    /// The cases to sample, with what there is of them.
    pub(crate) fn all_progress(&self, planned: &[Planned]) -> Vec<CaseProgress> {
        all_progress(planned, &self.samples)
    }

    /// Fresh cases with what there is of them, what ended them with it.
    pub(crate) fn continued(&self, fresh: Vec<CaseProgress>) -> Vec<CaseProgress> {
        let mut samples = by_case(&self.samples);
        let progress = |progress: CaseProgress| {
            let earlier = samples.remove(&progress.index).unwrap_or_default();
            progress.continued(earlier)
        };
        let mut all_progress: Vec<CaseProgress> = fresh.into_iter().map(progress).collect();
        for JournalFacts { case, facts } in &self.facts {
            let found = serde_json::from_value(facts.clone()).ok();
            if let (Some(progress), Some(found)) = (all_progress.get_mut(*case), found) {
                progress.facts.push(found);
            }
        }
        for JournalFinding { case, state, reason } in &self.findings {
            if let Some(progress) = all_progress.get_mut(*case) {
                progress.end = Some(End::Found(Finding::of(*state, reason.clone())));
            }
        }
        all_progress
    }
}

fn by_case(samples: &[JournalSample]) -> BTreeMap<usize, Vec<JournalSample>> {
    let mut cases: BTreeMap<usize, Vec<JournalSample>> = BTreeMap::new();
    for entry in samples {
        cases.entry(entry.case).or_default().push(entry.clone());
    }
    cases
}

/// The cases to sample, with their samples among these.
pub(crate) fn all_progress(planned: &[Planned], earlier: &[JournalSample]) -> Vec<CaseProgress> {
    let mut samples = by_case(earlier);
    let open = planned.iter().enumerate().filter(|(_, p)| p.verdict.is_none());
    open.map(|(i, p)| {
        let message = Message::new(p.case.clone(), p.setting.clone());
        let progress = CaseProgress::new(i, Subject::Message(message));
        progress.continued(samples.remove(&i).unwrap_or_default())
    })
    .collect()
}

/// Why what was kept then cannot be gone on with now.
fn difference(then: &JournalHead, now: &JournalHead) -> Option<String> {
    if then.kind != now.kind {
        return Some(format!("it is a run of kind '{}', this is '{}'", then.kind, now.kind));
    }
    if then.cpu != now.cpu {
        return Some(format!("it ran on '{}', this is '{}'", then.cpu, now.cpu));
    }
    if then.machine != now.machine {
        return Some(format!("it ran on another machine with the same CPU, '{}'", now.cpu));
    }
    if then.microcode != now.microcode {
        let shown = |head: &JournalHead| head.microcode.clone().unwrap_or("none".into());
        return Some(format!(
            "the CPU's microcode was {} then and is {} now",
            shown(then),
            shown(now)
        ));
    }
    let differing = record::differing_circumstances(&then.circumstances, &now.circumstances);
    if let Some([name, was, is]) = differing.first() {
        let shown = |text: &String| if text.is_empty() { "not set".into() } else { text.clone() };
        return Some(format!("{name} was {} then and is {} now", shown(was), shown(is)));
    }
    for ((_, a), (_, b)) in then.libraries.iter().zip(&now.libraries) {
        if (&a.path, &a.id) != (&b.path, &b.id) {
            return Some(format!("library '{}' is another build than it was", a.path));
        }
    }
    ((then.libraries.len(), then.cases) != (now.libraries.len(), now.cases))
        .then(|| "the libraries offer other algorithms than they did".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> JournalHead {
        let library = Library {
            name: "l".into(),
            version: "1".into(),
            path: "/l.so".into(),
            id: "sha256:1".into(),
            ..record::Library::default()
        };
        JournalHead {
            format_version: record::FORMAT_VERSION.into(),
            kind: "survey".into(),
            started: "2026-11-21T12:00:00Z".into(),
            command: Vec::new(),
            cpu: "a CPU".into(),
            microcode: Some("0x1".into()),
            machine: Some("one".into()),
            circumstances: Vec::new(),
            plan: Plan {
                suite: None,
                algorithms: Vec::new(),
                sizes: Vec::new(),
                models: Vec::new(),
                directions: Vec::new(),
                tiers: Vec::new(),
                footprints: Vec::new(),
                threads: Vec::new(),
                in_place: Vec::new(),
                latency: false,
                precision: 0.01,
                budget_seconds: 1.0,
                seed: 1,
            },
            cases: 2,
            libraries: vec![(None, library)],
            store: None,
        }
    }

    #[test]
    fn the_same_machine_and_libraries_are_gone_on_with() {
        let later = JournalHead { started: "2026-11-22T12:00:00Z".into(), ..head() };
        assert_eq!(difference(&head(), &later), None);
    }

    #[test]
    fn each_difference_is_named() {
        let named = |change: fn(&mut JournalHead), words: &str| {
            let mut then = head();
            change(&mut then);
            let why = difference(&then, &head()).unwrap_or_default();
            assert!(why.contains(words), "{words}: {why}");
        };
        named(|h| h.kind = "tls".into(), "a run of kind 'tls', this is 'survey'");
        named(|h| h.cpu = "other CPU".into(), "it ran on 'other CPU', this is 'a CPU'");
        named(|h| h.machine = Some("two".into()), "another machine with the same CPU");
        named(|h| h.microcode = None, "microcode was none then and is 0x1 now");
        let mask = |h: &mut JournalHead| {
            let (name, value) = ("OPENSSL_ia32cap".into(), Some("~0x2".into()));
            h.circumstances = vec![record::Circumstance { name, value, ..Default::default() }];
        };
        named(mask, "OPENSSL_ia32cap was ~0x2 then and is not set now");
        named(|h| h.libraries[0].1.id = "sha256:2".into(), "'/l.so' is another build");
        named(|h| h.libraries.clear(), "other algorithms");
        named(|h| h.cases = 3, "other algorithms");
    }
}
