//! Every reader of what strangers write, and everything that shows it, over any bytes: what
//! `make fuzz` runs with inputs that it makes up, and a test with all inputs that ever told it
//! something (`fuzz/corpus`). A function here panics where a promise is broken: that whatever is read
//! becomes a value or one line, that what was read is written as it was, that nothing which a record
//! says steers a terminal, is markup in a page or a formula in a spreadsheet.
#![forbid(unsafe_code)]

mod check;
mod pages;
mod readers;
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
    Entry { name: "records", run: readers::read_records },
    Entry { name: "consumers", run: readers::show_records },
    Entry { name: "protocol", run: readers::read_protocol },
    Entry { name: "documents", run: readers::read_documents },
    Entry { name: "grammars", run: readers::read_typed },
    Entry { name: "importers", run: readers::read_figures },
    Entry { name: "objects", run: readers::read_objects },
    Entry { name: "pages", run: pages::show_pages },
    Entry { name: "stores", run: pages::read_stores },
    Entry { name: "tls", run: readers::read_tls },
];

/// The entrance of a name.
pub fn entry(name: &str) -> Entry {
    let found = ENTRIES.into_iter().find(|entry| entry.name == name);
    found.unwrap_or_else(|| panic!("there is no entry '{name}'"))
}
