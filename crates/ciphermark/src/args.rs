//! What several commands take as arguments: which cases, tiers, sizes, formats, how long it may take. `choose` decides what
//! filters mean.

use base::model::{Footprint, Model, Tier};
use base::text::flags::parse_duration;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use engine::Stop;
use std::ffi::OsStr;
use std::str::FromStr;
use std::time::Duration;

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
    /// The columns of the CSV with types and units, for pandas, DuckDB and others.
    Parquet,
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

/// Time for a whole command where none was typed.
const BUDGET: Duration = Duration::from_secs(30);

/// The part of it after which nothing new is begun: what is there is summed up, written and shown in the rest.
const WORKING: f64 = 0.95;

/// How long a command that measures may take as a whole.
#[derive(Clone, Copy, Debug, Args)]
pub struct TimeArgs {
    /// Time for the whole command: what most people ask for comes first, and what does not fit is left out,
    /// which is said [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Leave nothing out, however long it takes.
    #[arg(long, conflicts_with = "budget")]
    pub thorough: bool,
}

impl TimeArgs {
    /// Ends when the time is over that the whole may take, from now on.
    pub fn limit(&self, stop: &Stop) -> Stop {
        match self.thorough {
            true => stop.clone(),
            false => stop.within(self.whole().mul_f64(WORKING)),
        }
    }

    /// Most time of sampling, where a thorough command takes so long at least.
    pub fn sampling(&self, thorough: Duration) -> Duration {
        if self.thorough { thorough } else { self.whole() }
    }

    /// With what was typed now in the place of what was typed before.
    pub fn or(self, before: Self) -> Self {
        if self.thorough || self.budget.is_some() { self } else { before }
    }

    fn whole(&self) -> Duration {
        self.budget.unwrap_or(BUDGET)
    }
}
