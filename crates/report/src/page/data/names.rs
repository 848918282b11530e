//! Names that cases share: written once, counted afterwards.

use crate::page::text::clean;
use record::{LibraryId, Record};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The lists of names that the columns count.
#[derive(Default, Serialize)]
pub(crate) struct Names {
    /// One entry for each build of each record.
    libraries: Vec<LibraryName>,
    pub(crate) algorithms: Words,
    pub(crate) directions: Words,
    pub(crate) models: Words,
    pub(crate) tiers: Words,
    pub(crate) footprints: Words,
    /// Reasons, warnings and other sentences.
    pub(crate) texts: Words,
    /// Lists of checks that passed, as JSON.
    pub(crate) checks: Words,
    #[serde(skip)]
    record: usize,
    #[serde(skip)]
    numbers: HashMap<(usize, LibraryId), usize>,
}

/// One build in one record.
#[derive(Serialize)]
struct LibraryName {
    record: usize,
    name: String,
    version: String,
    path: String,
    id: String,
    /// What it is called where there is little room: no two builds of a record have the same.
    label: String,
}

impl Names {
    /// The libraries of the next record.
    pub(crate) fn enter_record(&mut self, number: usize, record: &Record) {
        self.record = number;
        let mut same: BTreeMap<String, usize> = BTreeMap::new();
        for l in &record.libraries {
            *same.entry(versioned(&l.name, &l.version)).or_default() += 1;
        }
        for l in &record.libraries {
            let twins = same[&versioned(&l.name, &l.version)] > 1;
            self.add_library(&l.identity(), twins);
        }
    }

    /// The number of a build of the record that was entered last.
    pub(crate) fn library(&mut self, id: &LibraryId) -> usize {
        match self.numbers.get(&(self.record, id.clone())) {
            Some(number) => *number,
            // A record made by hand may name libraries that it does not list.
            None => self.add_library(id, false),
        }
    }

    fn add_library(&mut self, id: &LibraryId, twins: bool) -> usize {
        let number = self.libraries.len();
        let mut label = versioned(&id.name, &id.version);
        if twins {
            let hex = id.id.split_once(':').map_or(id.id.as_str(), |(_, hex)| hex);
            label += &format!("#{}", hex.chars().take(6).collect::<String>());
        }
        let taken = |label: &str| {
            self.libraries.iter().any(|l| l.record == self.record && l.label == label)
        };
        let mut label = clean(&label);
        while taken(&label) {
            label += "′";
        }
        self.libraries.push(LibraryName {
            record: self.record,
            name: clean(&id.name),
            version: clean(&id.version),
            path: clean(&id.path),
            id: clean(&id.id),
            label,
        });
        self.numbers.insert((self.record, id.clone()), number);
        number
    }
}

fn versioned(name: &str, version: &str) -> String {
    if version.is_empty() { name.to_owned() } else { format!("{name}@{version}") }
}

/// A list in which each text stands once.
#[derive(Default)]
pub(crate) struct Words {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Words {
    /// The text's place in the list.
    pub(crate) fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.list.len();
        self.list.push(clean(text));
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

impl Serialize for Words {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}
