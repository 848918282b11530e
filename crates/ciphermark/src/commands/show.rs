//! `ciphermark show`, also called `export`: a record again, filtered, in any format.

use crate::args::{FormatArg, ShowArgs};
use crate::error::{Exit, Failure};
use crate::kinds::{self, Kind};
use crate::{choose, screen};
use base::model::NameGlob;
use record::{Leaks, Measurement, Record};
use report::Format;
use std::path::Path;

/// Prints the rows of a record that the filter keeps, or writes them to a file.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let record = kinds::record(&args.record).map_err(Failure::usage)?;
    if let Some(output) = &args.output {
        overwrites_no_record(output)?;
    }
    // A record of verdicts alone has nothing else to show.
    let alone = record.measurements.is_empty() && !record.leaks.is_empty();
    if args.leaks || alone && matches!(args.format, FormatArg::Table | FormatArg::Markdown) {
        return leaks(&record, args);
    }
    let rows = choose::rows(&record, &args.filter)?;
    // A run over pages that took no time has none.
    if rows.is_empty() && !record.measurements.is_empty() {
        return Err(Failure::usage("the filters leave no row of the record"));
    }
    if record.kind().is_some() && is_own_form(args)? {
        as_its_command(&record, &rows, args)?;
    } else {
        screen::print_record(&record, &rows, args.format, args.output.as_deref())?;
    }
    Ok(Exit::Done)
}

/// The verdicts on secrets that the filter keeps, by library, algorithm and tier.
fn leaks(record: &Record, args: &ShowArgs) -> Result<Exit, Failure> {
    let format = match args.format {
        FormatArg::Table => Format::Table,
        FormatArg::Json => Format::Json,
        FormatArg::Jsonl => Format::Jsonl,
        FormatArg::Csv => Format::Csv,
        FormatArg::Markdown => Format::Markdown,
        FormatArg::Openssl
        | FormatArg::OpensslMr
        | FormatArg::Bencher
        | FormatArg::Gha
        | FormatArg::Lnt
        | FormatArg::Parquet => {
            return Err(Failure::usage("--leaks has table, markdown, csv, json and jsonl"));
        }
    };
    if record.leaks.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' has no verdicts on secrets: it was written with --no-evidence or by an older version; \
             `ciphermark leaks` judges now",
            args.record.display()
        )));
    }
    let filter = &args.filter;
    let (algorithms, libraries) =
        (choose::globs(&filter.algorithm)?, choose::globs(&filter.library)?);
    let tiers = choose::tier_globs(&filter.tier)?;
    let any = |globs: &[NameGlob], test: &dyn Fn(&NameGlob) -> bool| {
        globs.is_empty() || globs.iter().any(test)
    };
    let is_kept = |l: &&Leaks| {
        any(&algorithms, &|g| g.matches(&l.algorithm))
            && any(&libraries, &|g| choose::is_library(g, &l.library.name, &l.library.version))
            && any(&tiers, &|g| g.matches(l.tier.name()))
    };
    let kept: Vec<Leaks> = record.leaks.iter().filter(is_kept).cloned().collect();
    if kept.is_empty() {
        return Err(Failure::usage("the filters leave no verdict of the record"));
    }
    screen::print_to(args.output.as_deref(), |options| report::leaks(&kept, format, options))?;
    Ok(Exit::Done)
}

/// Whether runs that are no surveys have a form of their own in this format.
fn is_own_form(args: &ShowArgs) -> Result<bool, Failure> {
    match args.format {
        FormatArg::Table | FormatArg::Markdown => Ok(true),
        FormatArg::Openssl | FormatArg::OpensslMr => Err(Failure::usage(format!(
            "'{}' is no survey, and `openssl speed` has no such form: use another --format",
            args.record.display()
        ))),
        _ => Ok(false),
    }
}

/// What the command printed that made the record, of the cases that are kept in any of their parts.
fn as_its_command(record: &Record, rows: &[&Measurement], args: &ShowArgs) -> Result<(), Failure> {
    let is_kept = |m: &Measurement| rows.iter().any(|kept| std::ptr::eq(*kept, m));
    let parts = if record.kind() == Some(record::at_rest::KIND) { 1 } else { 2 };
    let cases = record.measurements.chunks(parts).filter(|case| case.iter().any(is_kept));
    let kept = Record { measurements: cases.flatten().cloned().collect(), ..record.clone() };
    let kind = Kind::of(kept, &args.record)?;
    let is_markdown = matches!(args.format, FormatArg::Markdown);
    screen::print_to(args.output.as_deref(), |options| match &kind {
        Kind::Tls(run) if is_markdown => run.markdown(),
        Kind::Tls(run) => run.table(options.width),
        Kind::Pages(run) if is_markdown => record::at_rest::markdown(run),
        Kind::Pages(run) => record::at_rest::table(run, options.width),
        Kind::Survey(_) | Kind::Advice(_) => unreachable!("the record has another kind"),
    })
}

/// A record takes minutes to measure, an export no time at all.
fn overwrites_no_record(output: &Path) -> Result<(), Failure> {
    if output.is_file() && kinds::record(output).is_ok() {
        return Err(Failure::usage(format!(
            "'{}' is a ciphermark record: not overwritten by an export",
            output.display()
        )));
    }
    Ok(())
}
