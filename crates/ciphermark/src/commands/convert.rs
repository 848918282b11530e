//! Records to and from other formats: `ciphermark show`, also called `export`, prints a record again,
//! filtered, in any format; `ciphermark import` takes figures from elsewhere, marked as imported and
//! unverified.

use crate::commands::{Filter, choose, one_size};
use crate::files::Kind;
use crate::screen::FormatArg;
use crate::{Exit, Failure, files, screen};
use base::model::Tier;
use base::text::clean;
use clap::Args;
use record::import::{Row, Said};
use record::{Imported, Leaks, Measurement, Record};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `ciphermark show`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark show run.json -a '*gcm' -s 8192\n  \
    ciphermark show run.json --format csv > run.csv\n  \
    ciphermark show run.json --leaks -l 'wolfssl*'\n  \
    ciphermark export run.json --format parquet -o run.parquet\n  \
    ciphermark export run.json -l openssl -m stream -d encrypt --format openssl-mr\n  \
    ciphermark export run.json --format bencher -o bencher.json    for `bencher run --adapter json`")]
pub struct ShowArgs {
    /// A record: what `run`, `tls …` or `pages` wrote with -o.
    pub record: PathBuf,
    /// Which rows.
    #[command(flatten)]
    pub filter: Filter,
    /// Show what depends on secrets instead: each place, by library and tier.
    #[arg(long)]
    pub leaks: bool,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
    /// Write it to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Prints the rows of a record that the filter keeps, or writes them to a file.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let record = files::record(&args.record).map_err(Failure::usage)?;
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
    let has_no_bounds = matches!(
        args.format,
        FormatArg::Bencher
            | FormatArg::Gha
            | FormatArg::Lnt
            | FormatArg::Benchstat
            | FormatArg::Openssl
            | FormatArg::OpensslMr
    );
    let bounds = rows.iter().filter(|m| m.contended && m.ns_per_op.is_some()).count();
    let text = format!("left out: {bounds} figures that only a busy core showed, which are bounds");
    screen::say(false, has_no_bounds && bounds > 0, &text);
    Ok(Exit::Done)
}

/// The verdicts on secrets that the filter keeps, by library, algorithm and tier.
fn leaks(record: &Record, args: &ShowArgs) -> Result<Exit, Failure> {
    let Some(format) = args.format.own() else {
        return Err(Failure::usage("--leaks has table, markdown, csv, json and jsonl"));
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
    let is_kept = |l: &&Leaks| {
        choose::any(&algorithms, |g| g.matches(&l.algorithm))
            && choose::takes(&libraries, &l.library)
            && choose::any(&tiers, |g| g.matches(l.tier.name()))
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
        Kind::Tls(run) if is_markdown => record::tls::markdown(run),
        Kind::Tls(run) => record::tls::table(run, options.width),
        Kind::Pages(run) if is_markdown => record::at_rest::markdown(run),
        Kind::Pages(run) => record::at_rest::table(run, options.width),
        Kind::Survey(_) | Kind::Advice(_) => unreachable!("the record has another kind"),
    })
}

/// A record takes minutes to measure, an export no time at all.
fn overwrites_no_record(output: &Path) -> Result<(), Failure> {
    if output.is_file() && files::record(output).is_ok() {
        return Err(Failure::usage(format!(
            "'{}' is a ciphermark record: not overwritten by an export",
            output.display()
        )));
    }
    Ok(())
}

/// `ciphermark import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    openssl speed -evp aes-128-gcm 2>&1 | ciphermark import - -o theirs.json\n  \
    ciphermark import old.txt new.txt -o both.json\n  \
    ciphermark import speed.txt --machine 'i5-8400' --beside run.json -o both.json\n  \
    ciphermark import notes.txt --as table -a aes-128-gcm --library mine -o mine.json\n  \
    ciphermark import claims/tables/highgo.csv --beside run.json -o both.json\n\n\
    Formats, recognised by their lines: openssl-speed (also -mr, -multi, -aead, -elapsed, keys and KEMs),\n\
    bssl-speed and botan-speed (text and JSON), cryptsetup, bench-slope, wolfcrypt (text and CSV), borg,\n\
    gocryptfs, go-test; published: CSV that names its source (docs/FORMAT.md); table: lines of a name, a\n\
    size and figures with their unit, as in 'aes-128-gcm 16K 5316.1 MB/s'.\n\n\
    Imported figures were neither measured nor checked here. Every table marks them (†), names their\n\
    source and ranks them behind everything that was measured. Figures that nobody should believe are\n\
    marked †?, with the reason below the row. `compare`, `rank`, `trend` and `report` take the record.")]
pub struct ImportArgs {
    /// What programs printed on standard output, or on both outputs, or tables; `-` reads standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Take the files for this, whatever their lines say.
    #[arg(long = "as", value_name = "FORMAT", hide_possible_values = true)]
    pub format_of: Option<record::import::Format>,
    /// The machine they ran on, in words.
    #[arg(long, value_name = "WORDS")]
    pub machine: Option<String>,
    /// The name to give the library, if it is not the program's own.
    #[arg(long, value_name = "NAME")]
    pub library: Option<String>,
    /// The library's version, if the output lacks it (`openssl speed -mr` always does).
    #[arg(long, value_name = "VERSION")]
    pub library_version: Option<String>,
    /// The algorithm, if a table names none.
    #[arg(short, long, value_name = "NAME")]
    pub algorithm: Option<String>,
    /// Bytes of plaintext in one operation, for rows whose source does not give it.
    #[arg(short, long, value_name = "BYTES", value_parser = one_size)]
    pub size: Option<usize>,
    /// `openssl speed` was called with -decrypt, or a table's ciphers decrypt.
    #[arg(long)]
    pub decrypt: bool,
    /// Which CPU instructions the library could use.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Write the record to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add the rows to those of this record; the record itself is not changed.
    #[arg(long, value_name = "RECORD")]
    pub beside: Option<PathBuf>,
    /// What to print on standard output, unless it goes to a file.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
}

/// Reads the figures and writes or prints the record with them.
pub fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let mut sources = Vec::new();
    for path in &args.files {
        sources.push(source(path, args)?);
    }
    tell_apart(&mut sources, &args.files);
    deliver(&sources, args)
}

/// Lines of doubts and remarks that are told.
const TOLD: usize = 20;

/// The rows of one file, and where they come from.
fn source(path: &Path, args: &ImportArgs) -> Result<(Vec<Row>, Imported), Failure> {
    let said = Said {
        library: args.library.clone(),
        version: args.library_version.clone(),
        algorithm: args.algorithm.clone(),
        size: args.size,
        decrypt: args.decrypt,
        tier: args.tier,
    };
    let found = record::import::read(&read(path)?, args.format_of, &said)
        .map_err(|why| Failure::usage(format!("{}: {why}", shown(path))))?;
    let without =
        found.rows.iter().filter(|r| r.size.is_none() && r.operation_ns.is_none()).count();
    if without > 0 {
        return Err(Failure::usage(format!(
            "{}: {without} of {} rows have no size, because their source does not give it: add --size",
            shown(path),
            found.rows.len()
        )));
    }
    for (why, count) in &found.left_out {
        anstream::eprintln!("ciphermark: {}: left out {count} {why}", clean(&shown(path)));
    }
    let machine = args.machine.clone().or(found.machine);
    let source = found.source.unwrap_or_else(|| format!("{}, {}", found.format, shown(path)));
    Ok((found.rows, Imported { source, machine }))
}

/// Libraries that go by one name in several files get the file's name too, where they have a case in common.
fn tell_apart(sources: &mut [(Vec<Row>, Imported)], files: &[PathBuf]) {
    let key = |row: &Row| (row.library.clone(), row.version.clone());
    let case = |row: &Row| (key(row), row.algorithm.clone(), row.direction, row.model, row.size);
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for (rows, _) in sources.iter() {
        let own: BTreeSet<_> = rows.iter().map(case).collect();
        twice.extend(own.intersection(&seen).map(|(library, ..)| library.clone()));
        seen.extend(own);
    }
    for ((rows, _), path) in sources.iter_mut().zip(files) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for row in rows.iter_mut().filter(|row| twice.contains(&key(row))) {
            row.library = format!("{}:{}", row.library, clean(&stem));
        }
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let text = files::text(path, &shown(path));
    // What took a format by its name once.
    let old = ["openssl-speed", "table"].iter().any(|name| path.as_os_str() == *name);
    match text {
        Err(why) if old && !path.exists() => Err(Failure::usage(format!(
            "{}; formats are recognised: leave it out, or add --as {}",
            why.message,
            path.display()
        ))),
        text => text,
    }
}

fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        format!("'{}'", path.display())
    }
}

fn deliver(sources: &[(Vec<Row>, Imported)], to: &ImportArgs) -> Result<Exit, Failure> {
    let started = jiff::Timestamp::now().to_string();
    let imported =
        record::shared(record::import::record(sources, &started, crate::commands::typed()));
    let record: Record = match &to.beside {
        Some(path) => record::import::beside(record::load(path).map_err(Failure::usage)?, imported),
        None => imported,
    };
    let Some(path) = &to.output else {
        let rows: Vec<_> = record.measurements.iter().collect();
        screen::print_record(&record, &rows, to.format, None)?;
        return Ok(Exit::Done);
    };
    if files::holds_something(path) {
        let shown = path.display();
        let Ok(before) = record::load(path) else {
            return Err(Failure::usage(format!(
                "'{shown}' exists and is not a ciphermark record: not overwritten"
            )));
        };
        let is_measured = |m: &Measurement| m.imported.is_none();
        let stays = to.beside.as_ref().is_some_and(|beside| files::same_file(beside, path));
        if !stays && before.measurements.iter().any(is_measured) {
            return Err(Failure::usage(format!(
                "'{shown}' has measured rows: not overwritten; `--beside {shown}` adds to them"
            )));
        }
    }
    record::save(&record, path).map_err(Failure::not_done)?;
    let imported = || record.measurements.iter().filter(|m| m.imported.is_some());
    let whys = imported().filter_map(|m| Some((m, m.reason.as_ref()?)));
    let remarks = imported().flat_map(|m| m.remarks.iter().map(move |remark| (m, remark)));
    let lines = whys.map(|(m, why)| format!("{} at {} B: {why}", m.algorithm, m.size));
    let lines = lines.chain(remarks.map(|(m, remark)| format!("{}: {remark}", m.algorithm)));
    let lines: BTreeSet<String> = lines.collect();
    for line in lines.iter().take(TOLD) {
        anstream::eprintln!("ciphermark: {}", clean(line));
    }
    if let Some(more) = lines.len().checked_sub(TOLD).filter(|more| *more > 0) {
        anstream::eprintln!("ciphermark: {more} more such lines are in the record");
    }
    Ok(Exit::Done)
}
