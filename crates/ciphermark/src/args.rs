//! The command line as clap reads it. `choose` decides what it means.

mod compare;
mod explain;
mod leaks;
mod pair;
mod rank;
mod run;
mod time;
mod verify;

pub use compare::CompareArgs;
pub use explain::ExplainArgs;
pub use leaks::LeaksArgs;
pub use pair::{PairArgs, PairFailArg};
pub use rank::{QuestionArgs, RankArgs};
pub use run::{FormatArg, RunArgs, ShowArgs};
pub use time::TimeArgs;
pub use verify::{ListArgs, OnceArgs, VerifyArgs, What};

use crate::args_advise::AdviseArgs;
use crate::args_archive::{ArchiveArgs, TrendArgs};
use crate::args_claims::ClaimsArgs;
use crate::args_fleet::FleetArgs;
use crate::args_import::ImportArgs;
use crate::args_pages::PagesArgs;
use crate::args_quietly::QuietlyArgs;
use crate::args_report::ReportArgs;
use crate::args_tls::TlsArgs;
use base::model::{Footprint, Model, Tier};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

/// Measure how fast every cipher is in every crypto library on this machine, with a proof beside
/// each number.
#[derive(Debug, Parser)]
#[command(
    name = "ciphermark",
    version,
    max_term_width = 100,
    after_help = "Without a command: `ciphermark run --suite quick`, about a minute, then a ranked table.\n\n\
    Examples:\n  \
    ciphermark\n  \
    ciphermark run -a 'aes-*-gcm' -s 16..64K\n  \
    ciphermark run -l openssl -l mine=/opt/openssl/lib/libcrypto.so -o compare.json\n  \
    ciphermark verify -l libgcrypt\n\n\
    Exit codes: 0 success; 1 a check or comparison found something; 2 wrong usage; 3 some cases were\n\
    refused or failed; 4 the command could not be carried out; 130 interrupted: what was measured until\n\
    then is shown and kept.\n\n\
    Environment (separate directories in a list with colons):\n  \
    CIPHERMARK_LIBS            more directories to search for libraries and Java's jars\n  \
    CIPHERMARK_BUNDLED         directories of libraries built by libs/build; empty: none\n  \
    CIPHERMARK_CACHE           where to cache counts, quiet rates and runtimes' programs; empty: nowhere\n  \
    CIPHERMARK_CONFINEMENT     kinds of confinement to switch off; off: all of them\n  \
    CIPHERMARK_TIER_MECHANISM  how to apply tiers: fault, rewrite or switch\n  \
    CIPHERMARK_PASS            names of other variables that libraries get, with commas between them\n  \
    NO_COLOR, CLICOLOR         whether to use colours, as in other programs"
)]
pub struct Cli {
    #[command(flatten)]
    pub color: ColorArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Colours.
#[derive(Debug, Args)]
pub struct ColorArgs {
    /// When to use colours; auto follows the terminal and NO_COLOR.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: When,
}

/// When to colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl ColorArgs {
    /// Applies the choice to everything printed from now on.
    pub fn write_global(&self) {
        match self.color {
            When::Auto => anstream::ColorChoice::Auto,
            When::Always => anstream::ColorChoice::Always,
            When::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure and verify, then print a ranked table.
    Run(Box<RunArgs>),
    /// List libraries, algorithms, tiers, models, suites or limits.
    List(ListArgs),
    /// Run every check on the libraries without timing anything.
    Verify(VerifyArgs),
    /// Show what of each algorithm's execution depends on its key.
    Leaks(LeaksArgs),
    /// Run one operation in one library: reads standard input, writes standard output, tag appended.
    Once(OnceArgs),
    /// Print a record again: filtered, in any format, to the screen or a file.
    #[command(visible_alias = "export")]
    Show(ShowArgs),
    /// Import published figures into a record, marked as imported and unverified.
    Import(ImportArgs),
    /// Recommend how to encrypt stored data, and say why each other scheme lost.
    Advise(Box<AdviseArgs>),
    /// Judge published claims by measurements on this machine.
    Claims(ClaimsArgs),
    /// Show what runs inside the clock: functions, instructions, allocations, copies.
    Explain(ExplainArgs),
    /// Write one self-contained HTML page from one or more records.
    Report(ReportArgs),
    /// Keep records of many machines and runs in one store.
    Archive(ArchiveArgs),
    /// Show what a case cost from run to run, machine by machine, and where it became slower or faster.
    Trend(TrendArgs),
    /// Rank the cases of a record, or of what is measured now.
    Rank(Box<RankArgs>),
    /// Compare two records, or two libraries, tiers, algorithms, sizes or directions within one.
    Compare(Box<CompareArgs>),
    /// Encrypt a real page store page by page: verify it, tamper with it, time it.
    Pages(Box<PagesArgs>),
    /// Compare two libraries on one case until there is a verdict.
    Pair(PairArgs),
    /// Measure TLS handshakes, records and primitives, and calculate a server's load.
    Tls(TlsArgs),
    /// Run another benchmark only while its core is otherwise idle.
    Quietly(QuietlyArgs),
    /// Measure on many machines through Slurm or Kubernetes, one job for each machine type.
    Fleet(FleetArgs),
    /// Check machine, clock, noise and libraries, and say how to fix what is wrong.
    Doctor(DoctorArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Examples:\n  \
        ciphermark completions bash > ~/.local/share/bash-completion/completions/ciphermark\n  \
        ciphermark completions fish > ~/.config/fish/completions/ciphermark.fish")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write a page for each command into a directory.
    #[command(after_help = "Examples:\n  ciphermark man | man -l -\n  \
        ciphermark man ~/.local/share/man/man1")]
    Man {
        /// The directory for the pages.
        directory: Option<PathBuf>,
    },
}

impl Command {
    /// What `ciphermark` without arguments does.
    pub fn bare() -> Self {
        let cli = Cli::parse_from(["ciphermark", "run"]);
        cli.command.expect("`run` was just parsed")
    }
}

/// Which cases.
#[derive(Debug, Args)]
pub struct Filter {
    /// Algorithms by name or glob, separated by commas, e.g. 'aes-*-gcm'; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries found on this machine, by name or name@version glob, separated by commas, or NAME=PATH
    /// to add a file; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Message sizes in bytes: 16,64,1K or 16..64K (doubling) or 16..256+16 (in steps).
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<Sizes>,
    /// Encrypt, decrypt or both.
    #[arg(short, long, value_name = "DIRECTION")]
    pub direction: Option<DirectionArg>,
    /// What one timed operation is; may be repeated, or a list: message,rekey.
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    pub model: Vec<Model>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas; may be
    /// repeated. `ciphermark list tiers` lists them.
    #[arg(short, long, value_name = "TIER", value_parser = TierGlobs, hide_possible_values = true)]
    pub tier: Vec<String>,
    /// How much memory the operations cycle through; may be repeated, or a list: hot,l2,memory.
    #[arg(long, value_name = "FOOTPRINT", value_delimiter = ',')]
    pub footprint: Vec<Footprint>,
    /// Threads that measure at once, each on its own CPU with its own session and buffers: a number
    /// or a list: 1,2,4.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Whether to write the output over the input: yes, no or both.
    #[arg(long, value_name = "WHERE")]
    pub in_place: Option<InPlaceArg>,
}

/// Reads globs over tiers, which `choose` takes apart; completions list the names.
#[derive(Clone)]
pub struct TierGlobs;

impl TypedValueParser for TierGlobs {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let named = |tier: &Tier| PossibleValue::new(tier.name()).help(tier.summary());
        Some(Box::new(Tier::HERE.iter().map(named)))
    }
}

/// `--direction`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectionArg {
    Encrypt,
    Decrypt,
    Both,
}

/// `--in-place`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum InPlaceArg {
    Yes,
    No,
    Both,
}

/// `--size` as a list.
#[derive(Clone, Debug)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = base::model::BadSizes;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        base::model::parse_sizes(text).map(Self)
    }
}

/// `--size` where only one makes sense.
pub fn one_size(text: &str) -> Result<usize, String> {
    match base::model::parse_sizes(text).map_err(|e| e.to_string())?[..] {
        [size] => Ok(size),
        _ => Err("give one size".to_owned()),
    }
}

/// Reads the name of one of `all`. Help, completions and errors list the names.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(|one| name(*one)));
    names.map(move |text| {
        let found = all.iter().find(|one| name(**one) == text);
        *found.expect("clap has checked that it is one of the names")
    })
}

/// `ciphermark doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark doctor\n  ciphermark doctor --json\n\n\
    Takes about two seconds, mostly to measure the noise of the CPU that `run` would use. Each line\n\
    is ok, a note, or a problem together with its remedy. Exit code 1 if something would make\n\
    figures wrong.")]
pub struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
