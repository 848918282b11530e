//! `ciphermark archive` and `ciphermark trend`, and what questions over an archive have in common.

use crate::args::Filter;
use crate::error::Failure;
use clap::{Args, Subcommand, ValueEnum};
use record::archive::Selection;
use std::path::PathBuf;

/// `ciphermark archive`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark archive add fleet.db records/*.json.gz --machine c7i.large\n  \
    ciphermark archive list fleet.db\n  \
    ciphermark archive check fleet.db\n  \
    ciphermark rank --from fleet.db --authenticated --size 16K --prices prices.csv\n  \
    ciphermark compare --from fleet.db --since 2026-11-01 --fail-if slower:2%\n  \
    ciphermark trend fleet.db -a aes-256-gcm -s 16K -l openssl\n  \
    ciphermark report --from fleet.db -o site\n\n\
    STORE is a file (SQLite; the records lie compressed in STORE.objects beside it) or postgres://USER@HOST/DATABASE.")]
pub struct ArchiveArgs {
    #[command(subcommand)]
    pub command: ArchiveCommand,
}

/// What to do with an archive.
#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Add records: each is checked, then added whole or not at all; one that is there is left alone.
    Add(AddArgs),
    /// List the records.
    List(Box<ListArgs>),
    /// Read every record again and compare it with its rows.
    Check(CheckArgs),
    /// Remove records.
    Remove(RemoveArgs),
}

/// `ciphermark archive add`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark archive add fleet.db run.json --machine c7i.large --region eu-west-1\n  \
    ciphermark archive add fleet.db gathered/*.json --allowed-signers signers\n  \
    ciphermark archive add postgres://me@db.example/fleet run.json.gz\n\n\
    Every figure is recomputed from the record's raw samples. A record that a check finds fault with is\n\
    added as doubtful, with the reason; answers leave it out unless you ask with --doubtful.\n\
    With --allowed-signers, so are records without a valid signature beside them (RECORD.manifest and\n\
    RECORD.manifest.sig, as `ciphermark fleet gather` writes them).\n\n\
    Exit codes: 0 all are in; 1 all are in, some are doubtful; 2 a file is no record.")]
pub struct AddArgs {
    /// The archive; created if there is none.
    pub store: String,
    /// Records of `run -o`, `tls … -o` or `pages -o`.
    #[arg(required = true)]
    pub records: Vec<PathBuf>,
    /// The machine's type, as in the prices [default: the manifest's, else the processor's name].
    #[arg(long, value_name = "TYPE")]
    pub machine: Option<String>,
    /// Where it is rented.
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Believe only records that one of these signed (a file as `ssh-keygen -Y verify` reads it).
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: Option<PathBuf>,
    /// Say nothing of records that are in without a doubt.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark archive list`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark archive list fleet.db\n  \
    ciphermark archive list fleet.db --select 'machine=c7*,since=2026-11-01' --doubtful\n  \
    ciphermark archive list fleet.db --json")]
pub struct ListArgs {
    /// The archive.
    pub store: String,
    #[command(flatten)]
    pub which: WhichArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `ciphermark archive check`
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all is as it was added; 1 something is lost or changed.")]
pub struct CheckArgs {
    /// The archive.
    pub store: String,
}

/// `ciphermark archive remove`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ciphermark archive remove fleet.db 3fa9c1")]
pub struct RemoveArgs {
    /// The archive.
    pub store: String,
    /// Records by the beginning of their SHA-256 (`ciphermark archive list`).
    #[arg(required = true, value_name = "SHA256")]
    pub records: Vec<String>,
}

/// Which records of an archive.
#[derive(Debug, Default, Args)]
pub struct WhichArgs {
    /// Only these records: machine=GLOB, library=GLOB, since=DAY, until=DAY, record=SHA256, with commas between.
    #[arg(long, value_name = "SELECT", value_parser = selection)]
    pub select: Option<Selection>,
    /// Also records that nobody vouches for or a check finds fault with.
    #[arg(long)]
    pub doubtful: bool,
}

impl WhichArgs {
    /// Refuses a selection where there is nothing to select from.
    pub fn without_archive(&self) -> Result<(), Failure> {
        match self.select.is_some() || self.doubtful {
            true => Err(Failure::usage("--select and --doubtful are for --from STORE")),
            false => Ok(()),
        }
    }
}

/// Reads a selection.
pub fn selection(text: &str) -> Result<Selection, String> {
    text.parse()
}

/// What machines cost.
#[derive(Debug, Default, Args)]
pub struct PriceArgs {
    /// Prices: FLEET.toml, or CSV with the columns type, region, date, price_per_hour, currency.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// `ciphermark trend`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark trend fleet.db -a aes-256-gcm -s 16K -l 'openssl*'\n  \
    ciphermark trend fleet.db -a aes-256-gcm -s 16K --format csv\n  \
    ciphermark trend fleet.db -a 'aes-*-gcm' -s 8K,16K --format otava -o history   # then: otava analyze\n\n\
    A mark stands where `ciphermark compare`, with the same filters, calls a run slower or faster than the\n\
    one before it on the same machine. Slow drifts and steps below its limits are for Apache Otava.")]
pub struct TrendArgs {
    /// The archive.
    pub store: String,
    #[command(flatten)]
    pub which: WhichArgs,
    /// Which cases.
    #[command(flatten)]
    pub filter: Filter,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TrendFormat,
    /// Write otava.yaml and its CSV files into this directory.
    #[arg(short, long, value_name = "DIRECTORY", required_if_eq("format", "otava"))]
    pub output: Option<PathBuf>,
}

/// `trend --format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrendFormat {
    /// A table for each machine and case.
    Text,
    /// One row a run.
    Csv,
    /// One object a run.
    Json,
    /// Files for Apache Otava, which finds change points.
    Otava,
}
