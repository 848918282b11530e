//! What the page knows, in the form in which it stands in it. `assets/js/data.js` is the other side.

mod cases;
mod executed;
mod head;
mod leaks;
mod names;
mod samples;
mod sheets;

use crate::page::{Content, Source};
use names::Names;
use serde::Serialize;

pub(crate) use head::Head;

/// Most lines of the table that a page opens with.
const LINES_OF_ANSWER: usize = 24;

/// Everything that the page knows.
pub(crate) struct Data {
    /// What the first paint needs; stands in the page as it is.
    pub(crate) head: Head,
    /// What each survey comes to, with its label; stands in the page as HTML.
    pub(crate) answers: Vec<(String, crate::Summary)>,
    /// Every case and fitted line; stands in the page packed.
    pub(crate) cases: Cases,
    /// What was executed, by library, algorithm, direction, model and tier; packed, unpacked when
    /// it is looked at.
    pub(crate) executed: Vec<serde_json::Value>,
    /// What depends on secrets, by library, algorithm and tier; packed, unpacked when it is looked at.
    pub(crate) leaks: Vec<serde_json::Value>,
    /// Raw samples of [`samples::CASES_IN_CHUNK`] cases each; packed, unpacked when one of them is
    /// looked at.
    pub(crate) samples: Vec<Vec<u8>>,
    /// Records of page stores, and advice; packed, unpacked when it is looked at.
    pub(crate) sheets: Vec<serde_json::Value>,
}

/// Every case, one array a field, with the names that the arrays count.
#[derive(Serialize)]
pub(crate) struct Cases {
    names: Names,
    columns: cases::Columns,
    fits: Vec<serde_json::Value>,
    /// What runs inside the clock: for each library a list of calls.
    calls: Vec<serde_json::Value>,
    samples_in_chunk: usize,
}

impl Data {
    pub(crate) fn of(sources: &[Source<'_>]) -> Self {
        let mut names = Names::default();
        let mut columns = cases::Columns::default();
        let mut samples = samples::Chunks::default();
        let (mut fits, mut calls, mut executed) = (Vec::new(), Vec::new(), Vec::new());
        let mut leaks = Vec::new();
        let surveys = sources.iter().filter_map(|source| match source.content {
            Content::Survey(record) => Some(record),
            _ => None,
        });
        for (number, record) in surveys.enumerate() {
            names.enter_record(number, record);
            for m in &record.measurements {
                columns.push(m, &mut names);
                samples.push(m, record);
            }
            fits.extend(executed::fits(record, &mut names));
            calls.extend(executed::calls(record, &mut names));
            executed.extend(executed::executed(record, &mut names));
            leaks.extend(leaks::leaks(record, &mut names));
        }
        let cases =
            Cases { names, columns, fits, calls, samples_in_chunk: samples::CASES_IN_CHUNK };
        let labels = head::labels(sources);
        let answers =
            sources.iter().zip(&labels).filter_map(|(source, label)| match source.content {
                Content::Survey(record) => {
                    Some((label.clone(), crate::Summary::of(record, LINES_OF_ANSWER)?))
                }
                _ => None,
            });
        let answers = answers.collect();
        Self {
            answers,
            head: Head::of(sources, &labels),
            cases,
            executed,
            leaks,
            samples: samples.finish(),
            sheets: sheets::sheets(sources, &labels),
        }
    }
}
