//! What people type and what they read: the grammars of flags and of suite files; text, tables, CSV and
//! Markdown. Pure: values and text in, values and text out.

mod documents;
pub mod flags;
mod table;
mod terminal;

pub use documents::{BadPrices, BadSuite, Price, Prices, Suite, from_toml};
pub use flags::{BadLibrary, LibraryText, has_password, masked};
pub use table::{
    Align, Cell, Column, Columns, GAP, Table, csv, csv_as_is, escape as escape_markdown, guarded,
};
pub use terminal::{
    ALARM, ASIDE, BEST, CAUTION, GOOD, HEADING, Options, PLAIN, clean, clip, for_terminal,
    one_line, paint, width, wrap,
};
