//! `ciphermark show`, also called `export`: a record again, filtered, in any format.

use crate::args::ShowArgs;
use crate::error::{Exit, Failure};
use crate::{choose, screen};
use std::path::Path;

/// Prints the rows of a record that the filter keeps, or writes them to a file.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let record = record::load(&args.record).map_err(Failure::usage)?;
    if let Some(output) = &args.output {
        overwrites_no_record(output)?;
    }
    let rows = choose::rows(&record, &args.filter)?;
    if rows.is_empty() {
        return Err(Failure::usage("the filters leave no row of the record"));
    }
    screen::print_record(&record, &rows, args.format, args.output.as_deref())?;
    Ok(Exit::Done)
}

/// A record takes minutes to measure, an export no time at all.
fn overwrites_no_record(output: &Path) -> Result<(), Failure> {
    if output.is_file() && record::load(output).is_ok() {
        return Err(Failure::usage(format!(
            "'{}' is a ciphermark record: not overwritten by an export",
            output.display()
        )));
    }
    Ok(())
}
