//! What `rank`, `compare`, `report` and `advise --from calls.json` say of a watched program.

use crate::commands::{choose, run};
use crate::{Exit, Failure, files, screen};
use base::text::Options;
use judge::calls::predict::{Change, Prediction, What, predict};
use record::{Calls, LibraryId, Record};
use report::{ComparisonFormat, PredictionAsked};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The file of a watched program that `--from` names; none where it names something else.
pub fn calls_at(from: &str) -> Result<Option<Calls>, Failure> {
    let path = Path::new(from);
    let mut start = [0; 512];
    let is_calls = record::open_regular(path)
        .and_then(|mut file| std::io::Read::read(&mut file, &mut start))
        .is_ok_and(|read| String::from_utf8_lossy(&start[..read]).contains(record::CALLS_SCHEMA));
    if is_calls { files::calls(path).map(Some) } else { Ok(None) }
}

fn measured(from: &str, libraries: &[String], time: Option<Duration>) -> Result<Record, Failure> {
    let mut line: Vec<String> =
        ["ciphermark", "run", "--workload", from].map(str::to_owned).to_vec();
    libraries.iter().for_each(|library| line.extend(["-l".to_owned(), library.clone()]));
    if let Some(time) = time {
        line.extend(["--budget".to_owned(), format!("{}s", time.as_secs_f64())]);
    }
    run::measured(&line, engine::Counting::All, &run::watch_signals()?)
}

/// Answers `--from calls.json` of one of the commands.
pub struct Predicting<'a> {
    pub calls: &'a Calls,
    pub from: &'a str,
    pub record: Option<&'a Path>,
    /// Globs over libraries, or NAME=PATH.
    pub libraries: &'a [String],
    pub time: Option<Duration>,
    pub is_json: bool,
}

impl<'a> Predicting<'a> {
    /// Measures everything now.
    pub fn of(calls: &'a Calls, from: &'a str, format: ComparisonFormat) -> Result<Self, Failure> {
        let is_json = match format {
            ComparisonFormat::Text => false,
            ComparisonFormat::Json => true,
            ComparisonFormat::Csv | ComparisonFormat::Markdown => {
                return Err(Failure::usage("a watched program's answer is text or json"));
            }
        };
        Ok(Self { calls, from, record: None, libraries: &[], time: None, is_json })
    }

    /// By the program's messages in a record; without one, they are measured now.
    fn prediction(&self) -> Result<Prediction, Failure> {
        let record = match self.record {
            Some(path) => files::record(path).map_err(Failure::usage)?,
            None => measured(self.from, self.libraries, self.time)?,
        };
        predict(self.calls, &record).map_err(Failure::usage)
    }

    /// All changes that save something.
    pub fn advise(&self) -> Result<Exit, Failure> {
        self.print(&self.prediction()?, PredictionAsked::Changes, &|_| true)
    }

    /// The builds, the one that saves most first.
    pub fn rank(&self) -> Result<Exit, Failure> {
        let globs = choose::library_globs(self.libraries)?;
        let is_taken = |change: &Change| is_swap(change, |_, to| choose::takes(&globs, to));
        self.print(&self.prediction()?, PredictionAsked::Libraries, &is_taken)
    }

    /// One build for another, or each other one, kind by kind.
    pub fn compare(&self, libraries: Option<&str>) -> Result<Exit, Failure> {
        let globs = match libraries {
            None => Vec::new(),
            Some(list) => choose::globs(&[list.to_owned()])?,
        };
        let (base, new) = match &globs[..] {
            [] => (&[][..], &[][..]),
            [base] => (std::slice::from_ref(base), &[][..]),
            [base, new] => (std::slice::from_ref(base), std::slice::from_ref(new)),
            _ => return Err(Failure::usage("--libraries: give the program's own and the new one")),
        };
        let prediction = self.prediction()?;
        let is_taken = |change: &Change| {
            is_swap(change, |from, to| choose::takes(base, from) && choose::takes(new, to))
        };
        if !prediction.changes.iter().any(is_taken) {
            return Err(Failure::usage(format!(
                "no build in the record can be compared with the program's own ({})",
                own(&prediction)
            )));
        }
        self.print(&prediction, PredictionAsked::Kinds, &is_taken)
    }

    /// The screen of `advise`, for a page.
    pub fn page(&self) -> Result<String, Failure> {
        let options = Options { width: 100, color: false };
        let prediction = self.prediction()?;
        Ok(report::prediction(&prediction, PredictionAsked::Changes, &|_| true, options))
    }

    fn print(
        &self,
        prediction: &Prediction,
        asked: PredictionAsked,
        shows: &dyn Fn(&Change) -> bool,
    ) -> Result<Exit, Failure> {
        if self.is_json {
            let changes =
                prediction.changes.iter().filter(|change| shows(change)).cloned().collect();
            screen::print_json(&Prediction { changes, ..prediction.clone() })?;
        } else {
            screen::print(|options| report::prediction(prediction, asked, shows, options))?;
        }
        Ok(Exit::Done)
    }
}

fn is_swap(change: &Change, is: impl Fn(&LibraryId, &LibraryId) -> bool) -> bool {
    matches!(&change.what, What::Library { from, to, .. } if is(from, to))
}

fn own(prediction: &Prediction) -> String {
    let used: BTreeSet<String> = prediction.rows.iter().map(|row| row.library.label()).collect();
    if used.is_empty() { "not measured".to_owned() } else { Vec::from_iter(used).join(", ") }
}
