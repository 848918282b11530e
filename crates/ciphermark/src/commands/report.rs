//! `ciphermark report`: records as one HTML page.

use crate::args_report::ReportArgs;
use crate::error::{Exit, Failure};
use crate::kinds::{self, Kind};
use crate::screen;
use report::page::{Content, Source};
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// Writes the page to the file that was named, to a pipe, or to a file named after the first record.
pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    if let (Some(store), Some(output)) = (&args.from, &args.output) {
        return super::archive::site(args, store, output);
    }
    args.which.without_archive()?;
    let place = Place::of(args)?;
    let kinds: Result<Vec<Kind>, _> = args.records.iter().map(|path| kinds::load(path)).collect();
    let kinds = kinds?;
    let files: Vec<String> = args.records.iter().map(|path| file_name(path)).collect();
    let each = kinds.iter().zip(&files);
    let sources: Vec<Source<'_>> =
        each.map(|(kind, file)| Source { file, content: content(kind) }).collect();
    let html = report::page::page(&sources).map_err(Failure::not_done)?;
    match place {
        Place::Output => screen::print_bytes(html.as_bytes())?,
        Place::File(path) => {
            screen::write_file(&path, html.as_bytes())?;
            let shown = path.display().to_string();
            anstream::eprintln!("ciphermark: wrote {}", base::text::one_line(&shown));
        }
    }
    Ok(Exit::Done)
}

fn content(kind: &Kind) -> Content<'_> {
    match kind {
        Kind::Survey(record) => Content::Survey(record),
        Kind::Pages(record) => Content::Pages(record),
        Kind::Advice(advised) => Content::Advice(advised),
        Kind::Tls(file) => Content::Tls(file),
    }
}

/// Where the page goes.
enum Place {
    Output,
    File(PathBuf),
}

impl Place {
    /// Decided and checked before anything is read, so that a typing error shows at once.
    fn of(args: &ReportArgs) -> Result<Self, Failure> {
        let path = match &args.output {
            Some(path) if path.as_os_str() == "-" => return Ok(Self::Output),
            Some(path) => path.clone(),
            None if !std::io::stdout().is_terminal() => return Ok(Self::Output),
            None => named_after(&args.records[0])?,
        };
        let same = |record: &PathBuf| same_file(record, &path);
        if let Some(record) = args.records.iter().find(|record| same(record)) {
            return Err(Failure::usage(format!(
                "'{}' is a record that the page is made from: name another file with -o",
                record.display()
            )));
        }
        record::check_writable(&path).map_err(|e| match e {
            record::RecordError::Write { path, source } => cannot_write(&path, &source),
            other => Failure::usage(other),
        })?;
        Ok(Self::File(path))
    }
}

/// `run.html` here for `…/run.json.gz`. A file of that name is replaced if it is such a page.
fn named_after(record: &Path) -> Result<PathBuf, Failure> {
    let name = file_name(record);
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let path = PathBuf::from(format!("{}.html", stem.strip_suffix(".json").unwrap_or(stem)));
    if path.exists() && !is_page(&path) {
        return Err(Failure::usage(format!(
            "'{}' exists and is not a page by ciphermark: name another file with -o",
            path.display()
        )));
    }
    Ok(path)
}

fn is_page(path: &Path) -> bool {
    let mut beginning = vec![0; report::page::MARK.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == report::page::MARK.as_bytes()
}

fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().ok().is_some_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn cannot_write(path: &Path, why: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the page '{}': {why}", path.display()))
}
