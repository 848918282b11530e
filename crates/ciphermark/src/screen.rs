//! Standard output: its width, its colours, and writing to it.

use crate::error::Failure;
use record::{Measurement, Record};
use report::{Format, Options};
use std::io::Write as _;

/// Columns where standard output is no terminal: wide enough for six sizes, and what pagers and
/// issue trackers show without wrapping.
const DEFAULT_WIDTH: usize = 120;

/// Prints what `render` makes for this terminal.
pub fn print(render: impl FnOnce(Options) -> String) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    let color = !matches!(out.current_choice(), anstream::ColorChoice::Never);
    let width = terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(w, _)| usize::from(w.0));
    let text = render(Options { width, color });
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}

/// Prints rows of a record.
pub fn print_record(record: &Record, rows: &[&Measurement], format: Format) -> Result<(), Failure> {
    print(|options| report::render(record, rows, format, options))
}
