//! `ciphermark pages`: a page store, encrypted page by page. By default the answer in a screen (`pages/prices.rs`);
//! with flags that ask for more, or `--thorough`, everything.

mod prices;

use crate::commands::run::watch_signals;
use crate::commands::tls::{Begun, claim_output, command, gone_on_with, release};
use crate::commands::{Cli, Command, TimeArgs, choose};
use crate::files::Kind;
use crate::screen::Bar;
use crate::{Exit, Failure, files, screen};
use base::model::{NameGlob, Tier};
use base::text::flags::{parse_bytes, parse_fraction};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser as _, ValueEnum};
use engine::pages::{PagesError, PagesPlan};
use engine::{Keeping, Stop, SurveyError};
use record::State;
use record::at_rest::scheme::{Profile, Recipe};
use record::at_rest::store::{PAGE_SIZES, Store};
use record::at_rest::{Medium, PagesRecord};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `ciphermark pages`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark pages /var/lib/postgresql/15/main                   what a page costs: a cluster that was shut down\n  \
    ciphermark pages app.db                                        the same of an SQLite file\n  \
    ciphermark pages 'host=/run/postgresql dbname=postgres'        of a server that runs, whose pages are not read\n  \
    ciphermark pages data --thorough -o pages.json                 all schemes, libraries and media: minutes\n  \
    ciphermark pages data --snapshot data.monday --media none      nonces over two states\n  \
    ciphermark pages data --nonce lsn --snapshot data.monday       and what nonces made of LSNs cost and break\n  \
    ciphermark pages data --decrypt-to copy -s aes-256-xts -l openssl --media none\n  \
    ciphermark pages app.db --as sqlcipher4                        an SQLite file, SQLCipher's way\n  \
    ciphermark pages --synthetic --page-size 16K -s 'aegis-*' -s aes-256-gcm\n  \
    ciphermark pages pages.json --format markdown                  a record again\n\n\
    Exit codes: 1 a probe came out otherwise than expected, nonces came twice where plaintexts leak by it, or\n\
    the store changed meanwhile; 3 a library's scheme was refused or failed, or a question got no answer in\n\
    time. docs/PAGES.md has the method and the format.")]
pub struct PagesArgs {
    /// A PostgreSQL data directory that was shut down, an SQLite file, or any file as a raw image, all
    /// only read; a connection string of a PostgreSQL server; or a record of pages, to be shown again.
    #[arg(
        value_name = "PATH",
        required_unless_present_any = ["synthetic", "resume"],
        conflicts_with = "synthetic"
    )]
    pub path: Option<PathBuf>,
    /// A store made of the seed, of this size, instead of a real one.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, default_missing_value = "64M")]
    pub synthetic: Option<String>,
    /// Bytes of a page: 512 to 64K. The store's own where it says; 4K for images, 8K for a synthetic
    /// store.
    #[arg(long, value_name = "SIZE")]
    pub page_size: Option<String>,
    /// Another state of the same store, for nonces; may be repeated.
    #[arg(long, value_name = "PATH")]
    pub snapshot: Vec<PathBuf>,
    /// As this system does it, not as good practice has it.
    #[arg(long = "as", value_name = "SYSTEM", value_parser = systems())]
    pub profile: Option<String>,
    /// What nonces are made of: drawn at random, or the page's LSN and block, which stand in the page.
    #[arg(long, value_name = "SOURCE", default_value = "random", conflicts_with = "profile")]
    pub nonce: NonceFrom,
    /// Schemes by name or glob; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub scheme: Vec<String>,
    /// Libraries found on this machine by name or name@version glob, or NAME=PATH to add a file; may be
    /// repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Which CPU instructions the libraries may see.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Where timed pages come from and go to; `none`: no time is taken [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub media: Option<Vec<MediaArg>>,
    /// Threads timed at once: a number or a list.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Stop sampling a cell once its interval's half-width is at most this; 5% where files are read or written
    /// [default: 2%].
    #[arg(long, value_name = "PERCENT", value_parser = parse_fraction, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Resume the run that was to write FILE and was killed or interrupted, over the same store. Its flags
    /// count again, but for --decrypt-to and --scratch, which are typed again; only --budget, --thorough,
    /// --format and --quiet may be new.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "synthetic", "library", "precision", "seed", "output"])]
    pub resume: Option<PathBuf>,
    /// Pages in a visit in memory; files take fewer [default: 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=65_536))]
    pub pages: Option<u32>,
    /// Probes of each kind of change; 0: none [default: 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub probes: Option<u32>,
    /// Directory for the files that are read and written while time is taken.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Write a copy of the store to this new path whose pages were all encrypted and decrypted, by every
    /// library and scheme in turn.
    #[arg(long, value_name = "PATH")]
    pub decrypt_to: Option<PathBuf>,
    /// Seed of keys, nonces of verification, orders, and of a synthetic store.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Measure again what earlier runs have left in this machine's price list.
    #[arg(long)]
    pub fresh: bool,
    /// Keep the record in this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: record::tls::Format,
    /// No progress bar on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

fn systems() -> PossibleValuesParser {
    let system = |profile: record::at_rest::scheme::Profile| {
        let schemes: Vec<_> = profile.recipes.iter().map(|r| r.scheme.as_str()).collect();
        PossibleValue::new(profile.name).help(format!("{}: {}", profile.title, schemes.join(", ")))
    };
    PossibleValuesParser::new(record::at_rest::scheme::profiles().into_iter().map(system))
}

/// `--nonce`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NonceFrom {
    /// Drawn for each write and stored beside the page.
    Random,
    /// 64 bits of LSN and 32 of block, as was proposed for PostgreSQL: free, and not always unique.
    Lsn,
}

/// `--media`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MediaArg {
    /// Memory, page after page and at random.
    Memory,
    /// A file in the page cache.
    Cache,
    /// A file past the page cache.
    Direct,
    /// The end of a log, each unit forced to the disk.
    Log,
    /// No time is taken.
    None,
}

/// Bytes of a synthetic store's page.
const SYNTHETIC_PAGE: usize = 8192;

/// Time for timing of a thorough run.
const THOROUGH: Duration = Duration::from_secs(60);
/// Pages in a visit in memory, probes of each kind, half-width at which a cell ends: where nothing else is typed.
const PAGES_OF_A_VISIT: u32 = 256;
const PROBES: u32 = 200;
const PRECISION: f64 = 0.02;

/// Runs, or shows a record again.
pub fn pages(args: &PagesArgs) -> Result<Exit, Failure> {
    if let Some(record) = args.path.as_deref().map(shown_again).transpose()?.flatten() {
        if args.output.is_some() {
            let shown = args.path.as_deref().unwrap_or(Path::new("")).display();
            return Err(Failure::usage(format!(
                "'{shown}' is a record, which is only shown again: `ciphermark export {shown} -o FILE` writes one"
            )));
        }
        if !prices::shown_again(args, &record)? {
            print(&record, args)?;
        }
        return Ok(exit(&record));
    }
    match &args.resume {
        Some(path) => resumed(path, args),
        None if prices::is_asked(args) => prices::prices(args),
        None => measure(args, None),
    }
}

/// Goes on with the run that was to write the record: what was typed then counts again.
fn resumed(path: &Path, args: &PagesArgs) -> Result<Exit, Failure> {
    let (journal, kept) = gone_on_with(path, args.quiet)?;
    let typed = Cli::try_parse_from(&kept.head.command).map_err(Failure::usage)?;
    let Some(Command::Pages(mut again)) = typed.command else {
        let (shown, kind) = (path.display(), &kept.head.kind);
        let why = format!("'{shown}' is a run of kind '{kind}', not of this command");
        return Err(Failure::usage(why));
    };
    again.time = args.time.or(again.time);
    again.time.thorough |= again.decrypt_to.is_some();
    again.decrypt_to = copy_again(again.decrypt_to.as_deref(), args)?;
    // What is written, and where, is what was typed now: a journal may be anybody's.
    again.scratch.clone_from(&args.scratch);
    again.quiet = args.quiet;
    again.format = args.format;
    again.output = Some(path.to_owned());
    measure(&again, Some((journal, kept)))
}

/// Where a resumed run writes its copy; nowhere where the copy is there already.
fn copy_again(before: Option<&Path>, args: &PagesArgs) -> Result<Option<PathBuf>, Failure> {
    match (before, args.decrypt_to.as_deref()) {
        (None, None) => Ok(None),
        (Some(before), None) => Err(Failure::usage(format!(
            "this run writes a copy to '{}': resume it with --decrypt-to PATH",
            before.display()
        ))),
        (None, Some(_)) => {
            Err(Failure::usage("this run writes no copy: resume it without --decrypt-to"))
        }
        (Some(_), Some(path)) => {
            let is_there = path.symlink_metadata().is_ok();
            let shown = format!("'{}' is there already: it is not written again", path.display());
            screen::say(args.quiet, is_there, &shown);
            Ok((!is_there).then(|| path.to_owned()))
        }
    }
}

fn measure(args: &PagesArgs, begun: Begun) -> Result<Exit, Failure> {
    // A copy needs every page.
    let thorough = args.time.thorough || args.decrypt_to.is_some();
    let stop = TimeArgs { thorough, ..args.time }.limit(&watch_signals()?);
    let profile = args.profile.as_deref().and_then(record::at_rest::scheme::profile);
    let recipes = recipes(args, profile.as_ref())?;
    let store = open(args, profile.as_ref())?;
    let snapshot = |path: &PathBuf| {
        let other = Store::open(path, Some(store.page_size()))?;
        store.is_no_state(&other).map_or(Ok(other), Err)
    };
    let snapshots = args.snapshot.iter().map(snapshot).collect::<Result<Vec<Store>, _>>();
    let snapshots = snapshots.map_err(Failure::usage)?;
    let keeping = claim_output(args.output.as_deref(), record::at_rest::KIND, begun)?;
    let plan = plan(args, profile, recipes, &keeping, stop)?;
    let libraries = choose::attached(&args.library)?;
    let ended = Bar::during(args.quiet, |bar| {
        let events = |event: engine::pages::PagesEvent<'_>| bar.pages(event);
        engine::pages::run(&plan, &store, &snapshots, &libraries, keeping, &|_| false, &events)
    });
    let ended = ended.map_err(|e| match e {
        PagesError::Store(_) | PagesError::Copy(_) => Failure::usage(e),
        PagesError::Sampling(SurveyError::Resume(_)) => Failure::usage(e),
        PagesError::Interrupted => Failure { exit: Exit::Interrupted, ..Failure::not_done(e) },
        _ => Failure::not_done(e),
    })?;
    if let Some(output) = &args.output {
        record::save(&record::at_rest::into_record(&ended.document), output)
            .map_err(Failure::not_done)?;
    }
    let remark = release(ended.journal, ended.interrupted, args.output.as_deref())?;
    let record = ended.document;
    print(&record, args)?;
    screen::say(args.quiet, remark.is_some(), &remark.unwrap_or_default());
    Ok(exit(&record))
}

fn shown_again(path: &Path) -> Result<Option<PagesRecord>, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !(name.ends_with(".json") || name.ends_with(".json.gz")) || !path.is_file() {
        return Ok(None);
    }
    match files::within_bounds(|| files::load(path))?? {
        Kind::Pages(record) => Ok(Some(*record)),
        _ => Ok(None),
    }
}

/// The schemes that the globs match, and `none` before them.
fn recipes(args: &PagesArgs, profile: Option<&Profile>) -> Result<Vec<Recipe>, Failure> {
    let all = match args.nonce {
        NonceFrom::Random => record::at_rest::scheme::good_practice(),
        NonceFrom::Lsn => record::at_rest::scheme::with_lsn_nonces(),
    };
    let none = all.first().cloned();
    let known = profile.map_or(all, |p| p.recipes.clone());
    let mut chosen: Vec<Recipe> = Vec::new();
    for text in &args.scheme {
        let glob = NameGlob::parse(text).map_err(Failure::usage)?;
        let matched: Vec<&Recipe> = known.iter().filter(|r| glob.matches(&r.scheme)).collect();
        if matched.is_empty() && text != "none" {
            return Err(Failure::usage(record::at_rest::scheme::unknown_scheme(text, &known)));
        }
        chosen.extend(matched.into_iter().cloned());
    }
    let wanted = |r: &Recipe| args.scheme.is_empty() || chosen.contains(r);
    let rest = known.into_iter().filter(|r| r.cipher.is_some() && wanted(r));
    let recipes: Vec<Recipe> = none.into_iter().chain(rest).collect();
    if recipes.len() < 2 {
        return Err(Failure::usage("'none' alone is nothing to measure: name a scheme beside it"));
    }
    Ok(recipes)
}

fn open(args: &PagesArgs, profile: Option<&Profile>) -> Result<Store, Failure> {
    let given = args.page_size.as_deref().map(page_size).transpose()?;
    let sizes = profile.map_or(&[][..], |p| p.page_sizes);
    let store = match (&args.path, &args.synthetic) {
        (Some(path), _) => {
            Store::open(path, given.or_else(|| of_image(path, sizes))).map_err(Failure::usage)?
        }
        (None, synthetic) => {
            let text = synthetic.as_deref().unwrap_or("64M");
            let bytes = size(text, "--synthetic")?;
            if !(1 << 20..=64 << 30).contains(&bytes) {
                return Err(Failure::usage(format!("--synthetic {text}: from 1M to 64G")));
            }
            let page_size = given.unwrap_or(sizes.first().copied().unwrap_or(SYNTHETIC_PAGE));
            Store::synthetic(args.seed.unwrap_or(1), bytes as u64, page_size)
        }
    };
    if args.nonce == NonceFrom::Lsn && !store.has_versions() {
        return Err(Failure::usage(
            "--nonce lsn: only the pages of a PostgreSQL store, in their own size, have an LSN",
        ));
    }
    let of_sqlite = profile.filter(|p| p.name.starts_with("sqlcipher"));
    if let Some(profile) = of_sqlite.filter(|_| store.kind() == record::at_rest::store::Kind::Image)
    {
        return Err(Failure::usage(format!(
            "--as {} is for SQLite databases, and '{}' does not begin like one",
            profile.name,
            store.root().display()
        )));
    }
    if let Some(profile) = profile.filter(|p| !p.page_sizes.contains(&store.page_size())) {
        let sizes: Vec<String> = profile.page_sizes.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(format!(
            "--as {} has units of {} bytes, the store's pages have {}; --page-size {} reads it in such units",
            profile.name,
            sizes.join(", "),
            store.page_size(),
            sizes[0]
        )));
    }
    Ok(store)
}

/// An image says nothing of its pages: the profile's own size serves.
fn of_image(path: &Path, sizes: &[usize]) -> Option<usize> {
    let is_image = path.is_file()
        && Store::open(path, None).is_ok_and(|s| s.kind() == record::at_rest::store::Kind::Image);
    sizes.first().copied().filter(|_| is_image)
}

fn page_size(text: &str) -> Result<usize, Failure> {
    let bytes = size(text, "--page-size")?;
    if !PAGE_SIZES.contains(&bytes) {
        return Err(Failure::usage(format!(
            "--page-size {text}: pages have a power of two of bytes, from 512 to 64K"
        )));
    }
    Ok(bytes)
}

fn size(text: &str, option: &str) -> Result<usize, Failure> {
    parse_bytes(text).map_err(|e| Failure::usage(format!("{option} {text}: {e}")))
}

fn plan(
    args: &PagesArgs,
    profile: Option<Profile>,
    recipes: Vec<Recipe>,
    keeping: &Keeping,
    stop: Stop,
) -> Result<PagesPlan, Failure> {
    Ok(PagesPlan {
        recipes,
        profile,
        media: args.media.as_deref().map_or_else(|| Medium::ALL.to_vec(), media),
        threads: choose::threads(&args.threads)?,
        tier: args.tier,
        seed: args.seed.unwrap_or(1),
        budget: args.time.sampling(THOROUGH),
        precision: args.precision.unwrap_or(PRECISION),
        command: command(keeping),
        pages_per_visit: args.pages.unwrap_or(PAGES_OF_A_VISIT) as usize,
        probes: args.probes.unwrap_or(PROBES),
        scratch: args.scratch.clone().unwrap_or_else(std::env::temp_dir),
        copy_to: args.decrypt_to.clone(),
        stop,
        priced: None,
    })
}

/// In the order in which they are timed.
fn media(typed: &[MediaArg]) -> Vec<Medium> {
    if typed.contains(&MediaArg::None) {
        return Vec::new();
    }
    let has = |medium: Medium| match medium {
        Medium::Sequential | Medium::Random => typed.contains(&MediaArg::Memory),
        Medium::Cache => typed.contains(&MediaArg::Cache),
        Medium::Direct => typed.contains(&MediaArg::Direct),
        Medium::Log => typed.contains(&MediaArg::Log),
    };
    Medium::ALL.iter().copied().filter(|m| has(*m)).collect()
}

fn print(record: &PagesRecord, args: &PagesArgs) -> Result<(), Failure> {
    let as_record = record::at_rest::into_record(record);
    let table = |width| record::at_rest::table(record, width);
    screen::print_own(&as_record, args.format, table, || record::at_rest::markdown(record))
}

/// 1 where a check found something: probes, nonces, the store; 3 where something was refused or failed.
fn exit(record: &PagesRecord) -> Exit {
    let store = &record.store;
    let odd = record.probes.iter().any(|p| !p.as_expected);
    let broken = record.nonces.schemes.iter().any(|s| s.verdict == "broken");
    if store.has_changed() || odd || broken {
        return Exit::Found;
    }
    let bad = |state: State| matches!(state, State::Refused | State::Failed);
    let refused = record.verified.iter().any(|v| bad(v.state) && !v.is_left_out());
    if refused || record.cells.iter().any(|c| bad(c.state) && !c.is_left_out()) {
        Exit::SomeRefused
    } else {
        Exit::Done
    }
}
