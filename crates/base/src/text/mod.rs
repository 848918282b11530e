//! What people type and what they read: the grammars of flags and of suite files; text, tables, CSV
//! and Markdown. Pure: values and text in, values and text out.

mod columns;
mod csv;
mod library;
mod markdown;
mod prices;
mod secret;
mod suite;
mod table;
mod terminal;
pub mod units;
mod wrap;

pub use columns::{Align, Cell, Columns, GAP};
pub use csv::{csv, csv_as_is, guarded};
pub use library::{BadLibrary, LibraryText};
pub use markdown::escape as escape_markdown;
pub use prices::{BadPrices, Price, Prices};
pub use secret::{has_password, masked};
pub use suite::{BadSuite, Suite, from_toml};
pub use table::{Column, Table};
pub use terminal::{
    ALARM, ASIDE, BEST, CAUTION, GOOD, HEADING, Options, PLAIN, clean, for_terminal, one_line,
    paint,
};
pub use wrap::{clip, width, wrap};
