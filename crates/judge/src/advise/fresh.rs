//! Whether the record still describes what is here.

use crate::advise::evidence::Evidence;
use jiff::civil::Date;
use record::{Leaks, LibraryId};

/// Days after which a record should be taken anew: by then libraries have had releases. Policy.
const MOST_DAYS: i32 = 90;

/// What is so on this machine on this day.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The day.
    pub today: Date,
    /// Name of the CPU; none where it is not known.
    pub cpu: Option<String>,
    /// The files of the record's libraries.
    pub libraries: Vec<LibraryNow>,
    /// Verdicts on secrets that were found here, where the record has none.
    pub judged: Vec<Leaks>,
}

/// A library's file now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryNow {
    /// Path in the record.
    pub path: String,
    /// What its content is called now; none where there is no such file.
    pub id: Option<String>,
}

/// Why the advice may no longer hold; empty where nothing speaks against it.
pub(crate) fn stale(
    evidence: Evidence<'_>,
    chosen: &[LibraryId],
    around: &Surroundings,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let taken = evidence.started().get(..10).and_then(|day| day.parse::<Date>().ok());
    let age = taken.and_then(|t| around.today.since(t).ok()).map(|span| span.get_days());
    if let Some(days) = age.filter(|days| *days > MOST_DAYS) {
        reasons.push(format!("the record is {days} days old"));
    }
    if let Some(cpu) = around.cpu.as_ref().filter(|cpu| *cpu != evidence.cpu()) {
        reasons.push(format!("it was taken on '{}', and this is '{cpu}'", evidence.cpu()));
    }
    for library in chosen {
        let now = around.libraries.iter().find(|l| l.path == library.path);
        match now.map(|l| &l.id) {
            Some(Some(id)) if *id != library.id => reasons.push(format!(
                "{} has changed since: it was {}, now it is {id}",
                library.path, library.id
            )),
            Some(None) => reasons.push(format!("there is no {} here", library.path)),
            _ => {}
        }
    }
    reasons
}

/// The day from which on the record is too old.
pub(crate) fn stale_from(evidence: Evidence<'_>) -> Option<Date> {
    let taken: Date = evidence.started().get(..10)?.parse().ok()?;
    taken.checked_add(jiff::Span::new().days(MOST_DAYS)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn record() -> record::Record {
        let text = include_str!("../../../record/tests/sample.json");
        record::from_json(text, "sample").unwrap()
    }

    #[test]
    fn age_machine_and_changed_files_make_advice_stale() {
        let record = record();
        let day: Date = record.started[..10].parse().unwrap();
        let library = record.measurements[0].library.clone();
        let file = |id: &str| LibraryNow { path: library.path.clone(), id: Some(id.to_owned()) };
        let mut around = Surroundings {
            today: day,
            cpu: Some(record.host.cpu.name.clone()),
            libraries: vec![file(&library.id)],
            judged: Vec::new(),
        };
        let chosen = [library.clone()];
        assert_eq!(stale(Evidence::Survey(&record), &chosen, &around), Vec::<String>::new());
        around.today = stale_from(Evidence::Survey(&record)).unwrap();
        assert!(stale(Evidence::Survey(&record), &chosen, &around).is_empty());
        around.today = around.today.tomorrow().unwrap();
        assert_eq!(
            stale(Evidence::Survey(&record), &chosen, &around),
            ["the record is 91 days old"]
        );
        around.today = date(day.year(), day.month(), day.day());
        around.libraries = vec![file("build-id:beef")];
        around.cpu = Some("another".to_owned());
        let reasons = stale(Evidence::Survey(&record), &chosen, &around);
        assert!(reasons[0].contains("'another'") && reasons[1].contains("has changed since"));
        around.libraries[0].id = None;
        assert!(stale(Evidence::Survey(&record), &chosen, &around)[1].starts_with("there is no "));
    }
}
