//! A ranking of nothing but what took the same way with every secret.

use record::{LeakVerdict, Measurement, Record, State};
use serde::Serialize;
use std::fmt;

/// Cases that are left out for what is known of their secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Secret {
    /// Traces differ with the secret.
    pub depends: usize,
    /// By taint a place may depend on it.
    pub may_depend: usize,
    /// Not all could be judged.
    pub not_judged: usize,
    /// The record has no verdict.
    pub without_verdict: usize,
}

impl Secret {
    /// Counts a case; true if it takes part.
    fn is_same(&mut self, verdict: Option<LeakVerdict>) -> bool {
        let count = match verdict {
            Some(LeakVerdict::SameTrace) => return true,
            Some(LeakVerdict::Depends) => &mut self.depends,
            Some(LeakVerdict::MayDepend) => &mut self.may_depend,
            Some(LeakVerdict::NotJudged) => &mut self.not_judged,
            None => &mut self.without_verdict,
        };
        *count += 1;
        false
    }
}

impl fmt::Display for Secret {
    /// `left out: 3 depend on the secret, 2 without a verdict`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.depends, "depend on the secret"),
            (self.may_depend, "may depend on it"),
            (self.not_judged, "not judged"),
            (self.without_verdict, "without a verdict"),
        ];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let counts: Vec<String> = counts.collect();
        match counts.is_empty() {
            true => f.write_str("left out: none"),
            false => write!(f, "left out: {}", counts.join(", ")),
        }
    }
}

/// Drops measured cases without the same trace, and counts them.
pub(crate) fn only_same_trace(record: &Record, found: &mut Vec<&Measurement>) -> Secret {
    let mut secret = Secret::default();
    let verdict = |m: &Measurement| record.leaks_of(m).map(|l| l.verdict);
    found.retain(|m| m.state != State::Measured || secret.is_same(verdict(m)));
    secret
}

#[cfg(test)]
mod tests {
    use crate::compare::sample::{case, library, record};
    use crate::compare::{Question, rank};
    use record::{LeakVerdict, Leaks, Measurement, Record};

    fn of(name: &str) -> Measurement {
        let mut m = case("aes-128-gcm", 8192, &[1000.0, 1004.0, 1008.0, 996.0]);
        m.library = library(name, "1", name);
        m
    }

    fn verdict(name: &str, verdict: LeakVerdict) -> Leaks {
        Leaks {
            library: library(name, "1", name),
            algorithm: "aes-128-gcm".to_owned(),
            tier: base::model::Tier::Native,
            verdict,
            reason: None,
            secrets: 16,
            operations: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn judged() -> Record {
        let names = ["same", "may", "depends", "half", "unknown", "unknown too"];
        let mut record = record("a", names.map(of).to_vec());
        record.leaks = vec![
            verdict("same", LeakVerdict::SameTrace),
            verdict("may", LeakVerdict::MayDepend),
            verdict("depends", LeakVerdict::Depends),
            verdict("half", LeakVerdict::NotJudged),
        ];
        record
    }

    #[test]
    fn only_what_has_the_same_trace_is_ranked_and_the_rest_is_counted_by_its_reason() {
        let question = Question { same_trace: true, ..Question::default() };
        let ranking = rank(&judged(), &question, 10).unwrap();
        let names: Vec<&str> =
            ranking.standings[0].rows.iter().map(|r| r.library.name.as_str()).collect();
        assert_eq!(names, ["same"]);
        assert!(ranking.terms.sentence.starts_with("fastest same-trace on encrypt"));
        assert_eq!(
            ranking.secret.unwrap().to_string(),
            "left out: 1 depend on the secret, 1 may depend on it, 1 not judged, 2 without a verdict"
        );
    }

    #[test]
    fn a_verdict_on_another_tier_or_build_is_none() {
        let mut record = judged();
        record.leaks[0].tier = base::model::Tier::Noaes;
        let question = Question { same_trace: true, ..Question::default() };
        let error = rank(&record, &question, 10).unwrap_err();
        assert!(error.contains("3 without a verdict"), "{error}");
        record.leaks[0].tier = base::model::Tier::Native;
        record.leaks[0].library.id = "build-id:other".to_owned();
        assert!(rank(&record, &question, 10).is_err());
    }

    #[test]
    fn who_does_not_ask_sees_all_with_their_verdicts() {
        let ranking = rank(&judged(), &Question::default(), 10).unwrap();
        assert_eq!((ranking.secret, ranking.standings[0].rows.len()), (None, 6));
        let row = |name: &str| {
            let mut rows = ranking.standings[0].rows.iter();
            rows.find(|r| r.library.name == name).unwrap().leaks
        };
        assert_eq!(row("depends"), Some(LeakVerdict::Depends));
        assert_eq!(row("unknown"), None);
    }
}
