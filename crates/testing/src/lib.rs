//! Every reader of what strangers write, and everything that shows it, over any bytes: what
//! `make fuzz` runs with inputs that it makes up, and a test with all inputs that ever told it
//! something (`fuzz/corpus`). A function here panics where a promise is broken: that whatever is read
//! becomes a value or one line, that what was read is written as it was, that nothing which a record
//! says steers a terminal, is markup in a page or a formula in a spreadsheet.
#![forbid(unsafe_code)]

mod check;
mod consumers;
mod documents;
mod grammars;
mod importers;
mod mutation;
mod objects;
mod pages;
mod protocol;
mod records;
mod stores;
mod tls;
pub mod trial;

/// One entrance.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name of the fuzz target and of the directory with its inputs.
    pub name: &'static str,
    /// Takes any bytes; panics where a promise is broken.
    pub run: fn(&[u8]),
}

/// Every entrance.
pub const ENTRIES: [Entry; 10] = [
    Entry { name: "records", run: records::run },
    Entry { name: "consumers", run: consumers::run },
    Entry { name: "protocol", run: protocol::run },
    Entry { name: "documents", run: documents::run },
    Entry { name: "grammars", run: grammars::run },
    Entry { name: "importers", run: importers::run },
    Entry { name: "objects", run: objects::run },
    Entry { name: "pages", run: pages::run },
    Entry { name: "stores", run: stores::run },
    Entry { name: "tls", run: tls::run },
];

/// The entrance of a name.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn entry(name: &str) -> Entry {
    let found = ENTRIES.into_iter().find(|entry| entry.name == name);
    found.unwrap_or_else(|| panic!("there is no entry '{name}'"))
}
