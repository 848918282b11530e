//! `ciphermark report`: records as one HTML page; with `--from` an archive as a static site.

use crate::commands::archive::{
    PriceArgs, WhichArgs, ask, by_machine, failure, in_one_currency, price_of, prices,
};
use crate::commands::watch::predicted::{self, Predicting};
use crate::files::Kind;
use crate::{Exit, Failure, files, screen};
use base::analysis::Verdict;
use base::model::{Algorithm, version_numbers};
use base::text::Prices;
use clap::Args;
use judge::compare::{
    Case, Compared, Comparison, Matching, RunEffect, Settings, Side, compare_with,
};
use record::archive::{Archive, Chosen, Listed};
use record::{LibraryId, Measurement, Record, State};
use report::ComparisonFormat;
use report::page::{
    Content, SITE_MARK, Site, SiteCell, SiteMachine, SiteRecord, SiteWorkload, Source,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// `ciphermark report`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark report run.json                       writes run.html; to a pipe, prints it\n  \
    ciphermark report old.json new.json -o both.html  two runs, or two machines, side by side\n  \
    ciphermark report pages.json advice.json -o at-rest.html  a page store (`pages -o`) and advice (`advise --format json`)\n  \
    ciphermark report tls.json records.json primitives.json -o tls.html  runs of `ciphermark tls`, each with -o\n  \
    ciphermark report mix.json --from calls.json -o program.html  what changes would save a watched program\n  \
    ciphermark report run.json.gz | gzip > run.html.gz\n  \
    ciphermark report --from fleet.db -o site --prices prices.csv   machines, libraries and releases of an archive\n\n\
    The page is one file that loads nothing else and contains every raw sample. Its address (after '#')\n\
    follows your selection, so you can send a view as a link.")]
pub struct ReportArgs {
    /// Records from `run -o` or `pages -o`, runs from `tls … -o`, and advice from `advise --format
    /// json`.
    #[arg(required_unless_present = "from", value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Write the page to this file, '-' is standard output; with --from, a site into this directory.
    #[arg(short, long, value_name = "FILE.html|DIRECTORY", required_unless_present = "records")]
    pub output: Option<PathBuf>,
    /// A static site from an archive. Or of a watched program (`watch -o`): what changes would save it, by the first RECORD (`run
    /// --workload`), above the page.
    #[arg(long, value_name = "STORE|CALLS")]
    pub from: Option<String>,
    /// Link cells to records below this address instead of copying the records into the site.
    #[arg(long, value_name = "URL", requires = "from")]
    pub records_at: Option<String>,
    /// Which runs of the archive.
    #[command(flatten)]
    pub which: WhichArgs,
    #[command(flatten)]
    pub prices: PriceArgs,
}

/// Writes the page to the file that was named, to a pipe, or to a file named after the first record.
pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let calls = args.from.as_deref().map(predicted::calls_at).transpose()?.flatten();
    match (&args.from, &args.output, &calls, args.records.first()) {
        (Some(store), Some(output), None, None) => return site(args, store, output),
        (Some(store), _, None, _) => {
            return Err(Failure::usage(format!(
                "--from '{store}' is no file of `ciphermark watch -o`, and an archive takes no record beside it, and a directory by -o"
            )));
        }
        (Some(store), _, Some(_), None) => {
            return Err(Failure::usage(format!(
                "give the record of the program's messages: `ciphermark run --workload {store} -o mix.json`"
            )));
        }
        _ => {}
    }
    args.which.without_archive()?;
    let place = Place::of(args)?;
    let kinds: Result<Vec<Kind>, _> = args.records.iter().map(|path| files::load(path)).collect();
    let kinds = kinds?;
    let files: Vec<String> = args.records.iter().map(|path| file_name(path)).collect();
    let each = kinds.iter().zip(&files);
    let sources: Vec<Source<'_>> =
        each.map(|(kind, file)| Source { file, content: content(kind) }).collect();
    let html = match (&calls, &args.from) {
        (Some(calls), Some(from)) => {
            let record = args.records.first().map(PathBuf::as_path);
            let predicting =
                Predicting { record, ..Predicting::of(calls, from, ComparisonFormat::Text)? };
            report::page::page_of_program(&sources, predicting.page()?)
        }
        _ => report::page::page(&sources),
    };
    let html = html.map_err(Failure::not_done)?;
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
        let same = |record: &PathBuf| files::same_file(record, &path);
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
    let read = record::open_regular(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == report::page::MARK.as_bytes()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn cannot_write(path: &Path, why: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the page '{}': {why}", path.display()))
}

const RECORDS: &str = "records";

/// Writes the site into a directory: a new one, an empty one, or one that has such a site.
pub fn site(args: &ReportArgs, store: &str, output: &Path) -> Result<Exit, Failure> {
    let prices = prices(&args.prices)?;
    may_write(output)?;
    let (mut archive, all) = ask(store, &args.which)?;
    let mut builder =
        Builder { at: args.records_at.as_deref().unwrap_or(RECORDS), ..Builder::default() };
    let machines = by_machine(&all);
    in_one_currency(machines.iter().filter_map(|runs| {
        let newest = runs.last()?;
        Some((&*newest.machine, &*price_of(&prices, newest)?.currency))
    }))?;
    for runs in machines {
        builder.machine(&mut archive, runs, &prices)?;
    }
    let files = report::page::site(&builder.site).map_err(Failure::not_done)?;
    let mut bytes = 0;
    for (name, content) in files {
        bytes += content.len();
        write(&output.join(name), &content)?;
    }
    if args.records_at.is_none() {
        for sha256 in &builder.used {
            let path = output.join(RECORDS).join(format!("{sha256}.json.gz"));
            if !path.exists() {
                write(&path, &archive.object(sha256).map_err(failure)?)?;
            }
        }
    }
    anstream::eprintln!(
        "ciphermark: wrote {}: {} machines, {} figures, {:.1} MB and {} records",
        base::text::one_line(&output.join("index.html").display().to_string()),
        builder.site.machines.len(),
        builder.site.cells.len(),
        bytes as f64 / 1e6,
        if args.records_at.is_some() { 0 } else { builder.used.len() }
    );
    Ok(Exit::Done)
}

/// Nobody's files are written over.
fn may_write(output: &Path) -> Result<(), Failure> {
    let mut entries = match fs::read_dir(output) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => {
            return Err(Failure::usage(format!(
                "cannot write a site into '{}': {e}",
                output.display()
            )));
        }
    };
    let index = fs::read(output.join("index.html")).unwrap_or_default();
    match entries.next().is_none() || index.starts_with(SITE_MARK.as_bytes()) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "'{}' is not empty and holds no site by ciphermark: name another directory with -o",
            output.display()
        ))),
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)
        .map_err(|e| Failure::not_done(format!("cannot create '{}': {e}", directory.display())))?;
    screen::write_file(path, content)
}

/// A release's runs on a machine, the newest first; of runs that asked for the same only the newest.
#[derive(Default)]
struct Release(Vec<Run>);

/// The releases of a library, the oldest first.
type Versions = BTreeMap<(Vec<u64>, String), Release>;

struct Run {
    library: LibraryId,
    /// The version, with the build's id where the run has several builds of it.
    version: String,
    record: Rc<Record>,
    listed: Listed,
    place: usize,
}

#[derive(Default)]
struct Builder<'a> {
    site: Site,
    at: &'a str,
    libraries: BTreeMap<(String, String), usize>,
    workloads: BTreeMap<Case, usize>,
    used: BTreeSet<String>,
    /// What pairs of records, by their places, add to all costs.
    effects: BTreeMap<(usize, usize), RunEffect>,
}

impl Builder<'_> {
    fn machine(
        &mut self,
        archive: &mut Archive,
        runs: &[Listed],
        prices: &Prices,
    ) -> Result<(), Failure> {
        let Some(newest) = runs.last() else { return Ok(()) };
        let machine = self.site.machines.len();
        let price = price_of(prices, newest);
        self.site.machines.push(SiteMachine {
            name: newest.machine.clone(),
            region: newest.region.clone(),
            cpu: newest.cpu.clone(),
            cpus: 0,
            price: price.map(|p| (p.per_hour, p.currency.clone(), p.date.clone())),
        });
        for releases in self.releases(archive, runs, machine)?.into_values() {
            let releases: Vec<&Release> = releases.values().collect();
            for (place, release) in releases.iter().enumerate() {
                let is_other = |other: &&&Release| other.version() != release.version();
                let before = releases[..place].iter().rev().find(is_other).copied();
                self.cells(archive, release, before)?;
            }
        }
        Ok(())
    }

    /// By the library's name, then by its version, the oldest first.
    fn releases(
        &mut self,
        archive: &mut Archive,
        runs: &[Listed],
        machine: usize,
    ) -> Result<BTreeMap<String, Versions>, Failure> {
        let none = archive.choose(Some(&|_| false), None).map_err(failure)?;
        let all = archive.choose(None, None).map_err(failure)?;
        let (mut seen, mut shapes) = (BTreeSet::new(), BTreeSet::new());
        let mut releases: BTreeMap<String, Versions> = BTreeMap::new();
        for run in runs.iter().rev() {
            // A newer run of the same shape hides all of this one.
            if run.shape.as_ref().is_some_and(|shape| !shapes.insert(shape)) {
                continue;
            }
            let asked = record::archive::asked(&archive.load(run, &none).map_err(failure)?);
            let mut own = archive.uses(run).map_err(failure)?;
            let release = |id: &LibraryId| (id.name.clone(), id.version.clone(), asked.clone());
            own.retain(|id| !seen.contains(&release(id)));
            seen.extend(own.iter().map(release));
            if own.is_empty() {
                continue;
            }
            let takes = |id: &LibraryId| own.contains(id);
            let chosen = archive.narrow(&all, Some(&takes)).map_err(failure)?;
            let record = Rc::new(archive.load(run, &chosen).map_err(failure)?);
            // The newest run says how many CPUs the machine has.
            if let Some(machine) = self.site.machines.get_mut(machine).filter(|m| m.cpus == 0) {
                machine.cpus = record.host.cpu.cpus_online.max(1);
            }
            let place = self.site.records.len();
            let link = format!("{}/{}.json.gz", self.at.trim_end_matches('/'), run.sha256);
            self.site.records.push(SiteRecord { machine, day: run.day(), link });
            self.used.insert(run.sha256.clone());
            for library in &own {
                let named = labelled(library, &own);
                let versions = releases.entry(library.name.clone()).or_default();
                let key = (version_numbers(&library.version), named.clone());
                let (library, listed, record) = (library.clone(), run.clone(), Rc::clone(&record));
                let run = Run { library, version: named, record, listed, place };
                versions.entry(key).or_default().0.push(run);
            }
        }
        Ok(releases)
    }

    /// Each case of the newest run that has it.
    fn cells(
        &mut self,
        archive: &mut Archive,
        release: &Release,
        before: Option<&Release>,
    ) -> Result<(), Failure> {
        let mut seen = BTreeSet::new();
        for run in &release.0 {
            let name = (run.library.name.clone(), run.version.clone());
            let next = self.libraries.len();
            let library = *self.libraries.entry(name.clone()).or_insert(next);
            if library == next {
                self.site.libraries.push(name);
            }
            let base =
                before.and_then(|b| b.0.iter().find(|r| r.place == run.place).or(b.0.first()));
            let against = base.map(|base| self.against(archive, base, run)).transpose()?;
            let beside = against.as_ref().map(|all| all.beside_the_libraries().join(", "));
            let beside = beside.unwrap_or_default();
            let verdicts = against.iter().flat_map(|all| &all.cases);
            let verdicts: BTreeMap<&Case, &Compared> = verdicts.map(|c| (&c.case, c)).collect();
            for m in run.measured() {
                let case = Case::of(m);
                if let Some(ns) = m.ns_per_op.filter(|_| seen.insert(case.clone())) {
                    let found = verdicts.get(&case).copied();
                    let beside = found.map_or_else(String::new, |_| beside.clone());
                    let beside = self.site.beside(beside);
                    let cell = SiteCell {
                        record: run.place,
                        library,
                        workload: self.workload(case),
                        ns: ns.median,
                        half: (ns.high - ns.low) / 2.0 / ns.median,
                        is_bound: m.contended,
                        beside,
                        verdict: found.map_or(0, |c| number(c.verdict)),
                        change: found.and_then(|c| c.ratio).map_or(0.0, |r| r.estimate - 1.0),
                    };
                    self.site.cells.push(cell);
                }
            }
        }
        Ok(())
    }

    /// What `compare` says of a release and the one before, which allows for what whole runs add to all costs.
    fn against(
        &mut self,
        archive: &mut Archive,
        before: &Run,
        now: &Run,
    ) -> Result<Comparison, Failure> {
        let settings = Settings::of(Matching::Every);
        if before.place == now.place {
            return Ok(compare_with(&before.side(), &now.side(), &settings, None));
        }
        let effect = match self.effects.get(&(before.place, now.place)) {
            Some(known) => *known,
            None => {
                let mut whole = |run: &Run| archive.load(&run.listed, &Chosen::default());
                let (base, new) = (whole(before).map_err(failure)?, whole(now).map_err(failure)?);
                *self.effects.entry((before.place, now.place)).or_insert(RunEffect::of(&base, &new))
            }
        };
        Ok(compare_with(&before.side(), &now.side(), &settings, Some(effect)))
    }

    /// Its place in the site.
    fn workload(&mut self, case: Case) -> usize {
        let next = self.workloads.len();
        let place = *self.workloads.entry(case.clone()).or_insert(next);
        if place == next {
            // What a derivation is to cost is no number of bytes.
            let algorithm = Algorithm::find(&case.algorithm).ok();
            let cost = algorithm.filter(|a| a.cost_unit().is_some());
            let (words, size) = match cost {
                Some(a) => (format!("{}, {}", words(&case), a.size_in_words(case.size)), 0),
                None => (words(&case), case.size),
            };
            self.site.workloads.push(SiteWorkload { algorithm: case.algorithm, words, size });
        }
        place
    }
}

impl Run {
    fn measured(&self) -> impl Iterator<Item = &Measurement> {
        let rows = self.record.measurements.iter();
        rows.filter(|m| m.library == self.library && m.state == State::Measured)
    }

    fn side(&self) -> Side<'_> {
        Side { record: &self.record, name: String::new(), rows: self.measured().collect() }
    }
}

impl Release {
    fn version(&self) -> Option<&str> {
        self.0.first().map(|run| &*run.library.version)
    }
}

/// The version; where others of these are builds of it, too, with the beginning of its id.
fn labelled(id: &LibraryId, all: &[LibraryId]) -> String {
    let is_twin = |other: &&LibraryId| (&other.name, &other.version) == (&id.name, &id.version);
    let digits = id.id.split_once(':').map_or(&*id.id, |(_, digits)| digits);
    let digits: String = digits.chars().take(6).collect();
    match all.iter().filter(is_twin).count() {
        2.. if !digits.is_empty() => format!("{}#{digits}", id.version),
        _ => id.version.clone(),
    }
}

fn number(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Undecided => 0,
        Verdict::Same => 1,
        Verdict::Faster => 2,
        Verdict::Slower => 3,
    }
}

/// Everything of a case but algorithm and size.
fn words(c: &Case) -> String {
    let direction = std::iter::once(c.direction.to_string());
    direction.chain(c.circumstances()).collect::<Vec<_>>().join(", ")
}
