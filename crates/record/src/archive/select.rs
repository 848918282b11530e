//! Which records are meant.

use crate::LibraryId;
use crate::archive::{Archive, ArchiveError, Listed};
use base::model::NameGlob;
use std::collections::BTreeSet;
use std::str::FromStr;

/// What records must be to be taken: `machine=GLOB,library=GLOB,since=DAY,until=DAY,record=SHA256`, each of which may
/// be left out.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The machine's type.
    pub machine: Option<NameGlob>,
    /// A library that was measured, by name or `name@version`.
    pub library: Option<NameGlob>,
    /// The run began then or later, seconds since 1970.
    pub since: Option<i64>,
    /// The run began before, seconds since 1970.
    pub until: Option<i64>,
    /// The beginning of the SHA-256.
    pub record: Option<String>,
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut of = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| wrong(text, part))?;
            let glob = || NameGlob::parse(value).map(Some).map_err(|e| e.to_string());
            match key {
                "machine" => of.machine = glob()?,
                "library" => of.library = glob()?,
                "since" => of.since = Some(day(value)?),
                "until" => of.until = Some(day(value)?),
                "record" => of.record = Some(value.to_lowercase()),
                _ => return Err(wrong(text, part)),
            }
        }
        Ok(of)
    }
}

fn wrong(text: &str, part: &str) -> String {
    let in_it = if text == part { String::new() } else { format!(" in '{text}'") };
    format!(
        "'{part}'{in_it}: write machine=GLOB, library=GLOB, since=DAY, until=DAY or record=SHA256, with commas between"
    )
}

impl Selection {
    pub(crate) fn takes(&self, r: &Listed) -> bool {
        self.machine.as_ref().is_none_or(|g| g.matches(&r.machine))
            && self.since.is_none_or(|since| r.started >= since)
            && self.until.is_none_or(|until| r.started < until)
            && self.record.as_ref().is_none_or(|prefix| r.sha256.starts_with(prefix))
    }

    /// Whether a library is meant: all are, where none is named.
    #[must_use]
    pub fn takes_library(&self, id: &LibraryId) -> bool {
        let versioned = || format!("{}@{}", id.name, id.version);
        self.library.as_ref().is_none_or(|g| g.matches(&id.name) || g.matches(&versioned()))
    }
}

impl Archive {
    /// The records in which a library of the selection was measured.
    pub(crate) fn having(&mut self, of: &Selection) -> Result<BTreeSet<i64>, ArchiveError> {
        let libraries = self.libraries(&|id| of.takes_library(id))?;
        let mut found = BTreeSet::new();
        for library in libraries {
            let rows =
                self.rows("SELECT record FROM uses WHERE library = $1", &[library.into()])?;
            for row in &rows {
                found.insert(row.int(0).map_err(self.damaged())?);
            }
        }
        Ok(found)
    }
}

/// A day, `YYYY-MM-DD`, or a time, RFC 3339, as seconds since 1970.
///
/// # Errors
/// What is wrong with it.
pub fn day(text: &str) -> Result<i64, String> {
    if let Some(seconds) = seconds(text) {
        return Ok(seconds);
    }
    let date: Result<jiff::civil::Date, _> = text.parse();
    let midnight = date.ok().and_then(|d| d.to_zoned(jiff::tz::TimeZone::UTC).ok());
    midnight.map(|z| z.timestamp().as_second()).ok_or_else(|| {
        format!("'{text}': write a day as in 2026-11-25, or a time as in 2026-11-25T04:00:00Z")
    })
}

/// A time, RFC 3339, as seconds since 1970.
#[must_use]
pub fn seconds(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(|t| t.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_read_as_it_is_written() {
        let of: Selection = "library=openssl@3*,since=2026-11-01".parse().unwrap();
        assert_eq!(of.since, Some(1_793_491_200));
        assert!(of.library.is_some() && of.machine.is_none());
        let why = "date=2026".parse::<Selection>().unwrap_err();
        assert!(why.starts_with("'date=2026': write machine=GLOB"), "{why}");
        assert!("since=yesterday".parse::<Selection>().unwrap_err().contains("2026-11-25"));
    }

    #[test]
    fn a_time_is_one_of_the_day() {
        assert_eq!(day("2026-11-25").unwrap() + 4 * 3600, day("2026-11-25T04:00:00Z").unwrap());
    }
}
