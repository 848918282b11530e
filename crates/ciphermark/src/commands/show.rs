//! `ciphermark show`: a record again, filtered, in any format.

use crate::args::ShowArgs;
use crate::error::{Exit, Failure};
use crate::{choose, screen};

/// Prints the rows of a record that the filter keeps.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let record = record::load(&args.record).map_err(Failure::usage)?;
    let rows = choose::rows(&record, &args.filter)?;
    if rows.is_empty() {
        return Err(Failure::usage("the filters leave no row of the record"));
    }
    screen::print_record(&record, &rows, args.format.into())?;
    Ok(Exit::Done)
}
