//! What people type, and what is shown to them: the grammars of flags and of suite files, and text
//! for a terminal. Pure: text in, values or one line out.
#![forbid(unsafe_code)]

mod library;
mod line;
mod suite;
pub mod units;

pub use library::{BadLibrary, LibraryText};
pub use line::{for_terminal, one_line};
pub use suite::{BadSuite, Suite};
