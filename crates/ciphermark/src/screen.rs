//! What the user sees: standard output (its width, its colours, or a file in its place), and the progress bar
//! on standard error.

use crate::Failure;
use base::text::Options;
use clap::ValueEnum;
use engine::pages::PagesEvent;
use engine::{Event, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::{Measurement, Record};
use report::Format;
use serde::Serialize;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

/// `--format`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FormatArg {
    /// Ranked table.
    Table,
    /// The whole record.
    Json,
    /// One measurement a line.
    Jsonl,
    /// One measurement a row, without raw samples.
    Csv,
    /// Ranked table in Markdown.
    Markdown,
    /// The format of `openssl speed`.
    Openssl,
    /// The format of `openssl speed -mr`, for programs that parse it.
    OpensslMr,
    /// Bencher Metric Format.
    Bencher,
    /// What github-action-benchmark reads as customSmallerIsBetter.
    Gha,
    /// LNT's report, format version 2.
    Lnt,
    /// Go's benchmark format for benchstat, a line for each process.
    Benchstat,
    /// The columns of the CSV with types and units, for pandas, DuckDB and others.
    Parquet,
}

impl FormatArg {
    /// One of this program's own.
    pub fn own(self) -> Option<Format> {
        match self {
            Self::Table => Some(Format::Table),
            Self::Json => Some(Format::Json),
            Self::Jsonl => Some(Format::Jsonl),
            Self::Csv => Some(Format::Csv),
            Self::Markdown => Some(Format::Markdown),
            _ => None,
        }
    }
}

/// Columns if standard output is not a terminal: what pagers and issue trackers show without wrapping.
const DEFAULT_WIDTH: usize = 100;

/// Prints what `render` produces for this terminal.
pub fn print(render: impl FnOnce(Options) -> String) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    let color = !matches!(out.current_choice(), anstream::ColorChoice::Never);
    let mut text = render(Options { width: width(), color });
    if std::io::stdout().is_terminal() {
        text = base::text::for_terminal(&text);
    }
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// A reader that has seen enough (`| head`) is no failure, and takes no exit code away.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::output(&error)),
    }
}

/// As [`print`], to standard error: standard output is another program's.
pub fn print_aside(render: impl FnOnce(Options) -> String) -> Result<(), Failure> {
    let mut out = anstream::stderr();
    let color = !matches!(out.current_choice(), anstream::ColorChoice::Never);
    let text = render(Options { width: width(), color });
    written(out.write_all(text.as_bytes()))
}

/// Prints what `render` produces, or writes it to a file.
pub fn print_to(
    output: Option<&Path>,
    render: impl FnOnce(Options) -> String,
) -> Result<(), Failure> {
    let Some(path) = output else { return print(render) };
    let options = Options { width: DEFAULT_WIDTH, color: false };
    write_file(path, render(options).as_bytes())
}

/// Prints a remark on standard error.
pub fn say(quiet: bool, applies: bool, text: &str) {
    if applies && !quiet {
        anstream::eprintln!("ciphermark: {}", base::text::one_line(text));
    }
}

pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(|_| record::pretty(value))
}

pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// The terminal's width, else that of the variable COLUMNS, else the default.
fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
    let variable = || std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|w| *w > 0);
    terminal.or_else(variable).unwrap_or(DEFAULT_WIDTH)
}

/// Refuses, before measuring, what standard output could not show.
pub fn check_format(format: FormatArg, output: Option<&Path>) -> Result<(), Failure> {
    let shows_bytes = matches!(format, FormatArg::Parquet) && output.is_none();
    if shows_bytes && std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "Parquet is not text: redirect it, or write it with `ciphermark export RECORD --format parquet -o FILE`",
        ));
    }
    Ok(())
}

/// Most lines of a table at the end of a run: what is longer would push its beginning off the screen.
const SCREEN_LINES: usize = 40;

/// Prints what a run came to: its table, or where that is longer than a screen, and not `all` is asked for, the
/// answer in a screen. `path` is the record's file.
pub fn print_run(
    record: &Record,
    format: FormatArg,
    path: Option<&Path>,
    all: bool,
) -> Result<(), Failure> {
    let rows: Vec<_> = record.measurements.iter().collect();
    let FormatArg::Table = format else {
        return print_record(record, &rows, format, None);
    };
    let best = judge::compare::Best::of(record, &rows);
    let path = path.map(|path| path.display().to_string());
    print(|options| {
        let whole = report::render(record, &rows, &best, Format::Table, options);
        let is_long = !all && whole.lines().count() > SCREEN_LINES;
        let first = || report::first_screen(record, path.as_deref(), options);
        is_long.then(first).flatten().unwrap_or(whole)
    })
}

/// Prints a run that is no survey: in tables of its own, or as any record. `table` is given a width.
pub fn print_own(
    record: &Record,
    format: record::tls::Format,
    table: impl FnOnce(usize) -> String,
    markdown: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let rows: Vec<_> = record.measurements.iter().collect();
    print(|options| match format {
        record::tls::Format::Table => table(options.width),
        record::tls::Format::Json => record::to_json(record),
        record::tls::Format::Csv => report::formats::csv(record, &rows),
        record::tls::Format::Markdown => markdown(),
    })
}

/// Prints rows of a record, or writes them to a file.
pub fn print_record(
    record: &Record,
    rows: &[&Measurement],
    format: FormatArg,
    output: Option<&Path>,
) -> Result<(), Failure> {
    check_format(format, output)?;
    match (rendered(record, rows, format)?, output) {
        (Rendered::Text(render), output) => print_to(output, render),
        (Rendered::Bytes(bytes), Some(path)) => write_file(path, &bytes),
        (Rendered::Bytes(bytes), None) => print_bytes(&bytes),
    }
}

enum Rendered<'a> {
    Text(Box<dyn FnOnce(Options) -> String + 'a>),
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "Parquet alone is no text"))]
    Bytes(Vec<u8>),
}

fn rendered<'a>(
    record: &'a Record,
    rows: &'a [&'a Measurement],
    format: FormatArg,
) -> Result<Rendered<'a>, Failure> {
    use record::import::openssl_speed;
    Ok(Rendered::Text(match format {
        FormatArg::Openssl => Box::new(|_| openssl_speed::text(record, rows)),
        FormatArg::OpensslMr => Box::new(|_| openssl_speed::machine_readable(record, rows)),
        FormatArg::Bencher => Box::new(|_| report::formats::bencher(rows)),
        FormatArg::Gha => Box::new(|_| report::formats::github_action(rows)),
        FormatArg::Lnt => Box::new(|_| report::formats::lnt(record, rows)),
        FormatArg::Benchstat => Box::new(|_| report::formats::benchstat(record, rows)),
        #[cfg(not(feature = "parquet"))]
        FormatArg::Parquet => {
            return Err(Failure::usage(
                "`make bench` builds no Parquet; `make build` does, and packages have it",
            ));
        }
        #[cfg(feature = "parquet")]
        FormatArg::Parquet => {
            return report::formats::parquet(record, rows)
                .map(Rendered::Bytes)
                .map_err(Failure::not_done);
        }
        own => {
            let format = own.own().unwrap_or_default();
            let best = match format {
                Format::Table => judge::compare::Best::of(record, rows),
                _ => judge::compare::Best::default(),
            };
            Box::new(move |options| report::render(record, rows, &best, format, options))
        }
    }))
}

/// Replaces a file atomically. A device or pipe is written to as it is.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    record::write_file(path, bytes)
        .map_err(|e| Failure::not_done(format!("cannot write '{}': {e}", path.display())))
}

/// Writes a document as JSON, packed if the file's name ends in `.gz`.
pub fn write_document(path: &Path, document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(document).map_err(Failure::not_done)?;
    let bytes = record::pack(path, text).map_err(Failure::not_done)?;
    write_file(path, &bytes)
}

// The progress bar, on standard error, only on a terminal.

/// Steps of the bar: finer than any terminal is wide.
const STEPS: u64 = 1000;

/// A bar that is hidden if nobody can see it.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

impl Bar {
    /// Visible if standard error is a terminal, unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{prefix:<10} [{bar:32}] {percent:>3} %  {msg}")
            .expect("the template is a constant")
            .progress_chars("=> ");
        bar.set_style(style);
        Self { bar, quiet }
    }

    /// There while the work is done.
    pub fn during<T>(quiet: bool, work: impl FnOnce(&Self) -> T) -> T {
        let bar = Self::new(quiet);
        let done = work(&bar);
        bar.finish();
        done
    }

    /// So much of a number of things is done.
    pub fn count(&self, prefix: &'static str, done: usize, of: usize, what: &str) {
        self.share(prefix, done as f64 / of.max(1) as f64, format!("{done} of {of} {what}"));
    }

    fn share(&self, prefix: &'static str, done: f64, message: String) {
        self.bar.set_prefix(prefix);
        self.bar.set_position((STEPS as f64 * done) as u64);
        self.bar.set_message(message);
    }

    /// Pairs of library and algorithm are verified.
    pub fn verifying(&self, done: usize, of: usize) {
        self.count("verifying", done, of, "algorithms in libraries");
    }

    pub fn stepping(&self, done: usize, of: usize) {
        self.count("stepping", done, of, "algorithms in libraries");
    }

    pub fn judging(&self, done: usize, of: usize, left: Duration) {
        let message = format!("{done} of {of} algorithms in libraries, {} left", seconds(left));
        self.share("judging", done as f64 / of.max(1) as f64, message);
    }

    /// Candidates of a comparison are settled with pairs of processes.
    pub fn confirming(&self, done: usize, of: usize, algorithm: &str, size: usize) {
        self.count("confirming", done, of, &format!("cases, now {algorithm} of {size} bytes"));
    }

    pub fn visits(&self, done: usize, of: usize) {
        self.count("loading", done, of, "visits of servers");
    }

    pub fn sampling(&self, progress: &Progress) {
        let Progress { ended, cases, fraction, left } = progress;
        let message = format!("{ended} of {cases} cases done, {} left", seconds(*left));
        self.share("measuring", *fraction, message);
    }

    pub fn show(&self, event: Event<'_>) {
        match event {
            Event::Verifying { done, of } => self.verifying(done, of),
            Event::Stepping { done, of } => self.stepping(done, of),
            Event::Screening(Progress { cases, .. }) => {
                self.share(
                    "looking",
                    0.0,
                    format!("at {cases} cases, which of them could be chosen"),
                );
            }
            Event::Sampling(progress) => self.sampling(&progress),
            Event::Remark(text) => self.remark(text),
        }
    }

    /// How far a run over a page store is.
    pub fn pages(&self, event: PagesEvent<'_>) {
        let (prefix, done, of, what) = match event {
            PagesEvent::Reading { done, of } => ("reading", done, of, "pages"),
            PagesEvent::Checking { done, of } => ("checking", done, of, "ciphers in libraries"),
            PagesEvent::Verifying { done, of } => ("verifying", done, of, "pages, all schemes"),
            PagesEvent::Probing { done, of } => ("probing", done, of, "schemes"),
            PagesEvent::Timing(event) => return self.show(event),
        };
        self.count(prefix, done as usize, of as usize, what);
    }

    pub fn remark(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| anstream::eprintln!("ciphermark: {text}"));
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn seconds(left: Duration) -> String {
    match left.as_secs() {
        0 => "less than a second".to_owned(),
        s @ 1..=119 => format!("about {s} s"),
        s => format!("about {} min", s.div_ceil(60)),
    }
}
