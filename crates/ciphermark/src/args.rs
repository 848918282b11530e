//! What is typed: the command line as clap reads it. What it means is decided in `choose`.

mod compare;
mod rank;

pub use compare::CompareArgs;
pub use rank::{QuestionArgs, RankArgs};

use crate::args_advise::AdviseArgs;
use crate::args_claims::ClaimsArgs;
use crate::args_import::ImportArgs;
use crate::args_pages::PagesArgs;
use crate::args_quietly::QuietlyArgs;
use crate::args_report::ReportArgs;
use crate::args_tls::TlsArgs;
use crate::units::{Hex, parse_duration, parse_fraction, parse_hex};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// How fast every cipher really is in every crypto library on this machine, with a proof beside
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
    Exit codes: 0 done; 1 a check found something; 2 wrong usage; 3 some cases were refused or\n\
    failed; 4 the run could not be done.\n\n\
    Environment (lists of directories are parted by colons):\n  \
    CIPHERMARK_LIBS            more directories to look for libraries in\n  \
    CIPHERMARK_BUNDLED         directories of libraries that libs/build made; empty: none\n  \
    CIPHERMARK_CACHE           where instruction counts and quiet rates are kept; empty: nowhere\n  \
    CIPHERMARK_CONFINEMENT     kinds of confinement to do without; off: all of them\n  \
    CIPHERMARK_TIER_MECHANISM  how tiers are applied: fault, rewrite or switch\n  \
    NO_COLOR, CLICOLOR         colours of the terminal, as everywhere"
)]
pub struct Cli {
    /// Colours on standard output.
    #[command(flatten)]
    pub color: ColorArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Colours.
#[derive(Debug, Args)]
pub struct ColorArgs {
    /// Colours: auto follows the terminal and NO_COLOR.
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
    /// Makes it every later print's choice.
    pub fn write_global(&self) {
        match self.color {
            When::Auto => anstream::ColorChoice::Auto,
            When::Always => anstream::ColorChoice::Always,
            When::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure, verified, and print the ranked table.
    Run(Box<RunArgs>),
    /// Show what there is to measure.
    List(ListArgs),
    /// Run every check over the libraries, no timing.
    Verify(VerifyArgs),
    /// One operation through one library: standard input to standard output, tag appended.
    Once(OnceArgs),
    /// Show a record again, filtered, in any format, on the screen or in a file.
    #[command(visible_alias = "export")]
    Show(ShowArgs),
    /// Take figures from elsewhere into a record, marked as imported and unverified.
    Import(ImportArgs),
    /// Say what to encrypt stored data with, why, and why each other scheme lost.
    Advise(Box<AdviseArgs>),
    /// Judge the published claims by this machine.
    Claims(ClaimsArgs),
    /// Show what runs inside the clock: functions, instructions, allocations, copies.
    Explain(ExplainArgs),
    /// Write one self-contained HTML page of one record or several side by side.
    Report(ReportArgs),
    /// Answer questions: the best of a record, or measured now.
    Rank(Box<RankArgs>),
    /// Hold two records, or two libraries or tiers of one, against each other.
    Compare(Box<CompareArgs>),
    /// Encrypt a real page store page by page: proven, tampered with, timed.
    Pages(Box<PagesArgs>),
    /// Hold two libraries against each other on one case, until a verdict.
    Pair(PairArgs),
    /// What TLS costs: handshakes in the stacks of this machine.
    Tls(TlsArgs),
    /// Run another benchmark only while nobody else is busy on its core.
    Quietly(QuietlyArgs),
    /// Look at machine, clock, noise and libraries: what works, and how to mend what does not.
    Doctor(DoctorArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Examples:\n  \
        ciphermark completions bash > ~/.local/share/bash-completion/completions/ciphermark\n  \
        ciphermark completions fish > ~/.config/fish/completions/ciphermark.fish")]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page for each command into a directory.
    #[command(after_help = "Examples:\n  ciphermark man | man -l -\n  \
        ciphermark man ~/.local/share/man/man1")]
    Man {
        /// Directory to write the pages into.
        directory: Option<PathBuf>,
    },
}

impl Command {
    /// What a bare `ciphermark` does.
    pub fn bare() -> Self {
        let cli = Cli::parse_from(["ciphermark", "run"]);
        cli.command.expect("`run` was just parsed")
    }
}

/// Which cases.
#[derive(Debug, Args)]
pub struct Filter {
    /// Algorithms by name or glob, e.g. 'aes-*-gcm', with commas between; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries found on this machine by name or name@version glob, or NAME=PATH to add a file;
    /// may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Message sizes in bytes: 16,64,1K or 16..64K (doubling) or 16..256+16.
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<String>,
    /// Encrypt, decrypt or both.
    #[arg(short, long, value_name = "DIRECTION")]
    pub direction: Option<DirectionArg>,
    /// What one timed operation is; may be repeated, or a list: message,rekey.
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    pub model: Vec<ModelArg>,
    /// Which CPU instructions the library may see; may be repeated.
    #[arg(short, long, value_name = "TIER")]
    pub tier: Vec<TierArg>,
    /// Memory that the operations walk through; may be repeated, or a list: hot,l2,memory.
    #[arg(long, value_name = "FOOTPRINT", value_delimiter = ',')]
    pub footprint: Vec<FootprintArg>,
    /// Threads measuring at once, each pinned to a CPU, with its own session and buffers: a number
    /// or a list: 1,2,4.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Write the output over the input: yes, no or both.
    #[arg(long, value_name = "WHERE")]
    pub in_place: Option<InPlaceArg>,
}

/// `--direction`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectionArg {
    Encrypt,
    Decrypt,
    Both,
}

/// `--model`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModelArg {
    Stream,
    Message,
    Rekey,
    Forgery,
}

/// `--footprint`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FootprintArg {
    /// The same few buffers again and again.
    Hot,
    /// Buffers that fill the first-level cache.
    L1,
    /// Buffers that fill the second-level cache.
    L2,
    /// Buffers that fill the third-level cache.
    L3,
    /// Buffers that no cache holds.
    Memory,
}

/// `--in-place`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum InPlaceArg {
    Yes,
    No,
    Both,
}

/// `--tier`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TierArg {
    Native,
    Vaes256,
    Aesni,
    Noaes,
    Baseline,
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
    /// What `openssl speed` prints.
    Openssl,
    /// What `openssl speed -mr` prints, for programs that parse it.
    OpensslMr,
    /// The columns of the CSV, typed and with units: for pandas, DuckDB and the like.
    Parquet,
}

/// `ciphermark run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark run                                   the quick suite, about a minute\n  \
    ciphermark run -a 'aes-256-*' -s 4K,8K,16K       database pages\n  \
    ciphermark run -l openssl -m stream -s 8192      what `openssl speed -evp` measures\n  \
    ciphermark run -l openssl -t native -t noaes     with and without AES instructions\n  \
    ciphermark run -l a=old/libcrypto.so -l b=new/libcrypto.so -o ab.json\n  \
    ciphermark run -m message,rekey -s 16..64K       what a new key for each message costs\n  \
    ciphermark run -a 'aes-256-gcm' -m forgery       what rejecting a forgery costs\n  \
    ciphermark run --footprint hot,l2,l3,memory      warm and cold buffers\n  \
    ciphermark run --threads 1,2,4 --footprint memory -s 16K     up to the memory wall\n  \
    ciphermark run --latency -s 16,1K                p50, p99 and p99.9 of single operations\n  \
    ciphermark run --precision 0.5% --budget 5m --format csv > out.csv\n  \
    ciphermark run --resume long.json                go on with a run that was cut short")]
pub struct RunArgs {
    /// Which cases; what is not given comes from the suite.
    #[command(flatten)]
    pub filter: Filter,
    /// A suite by name (see `ciphermark list suites`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub suite: String,
    /// Half-width of each case's interval at which it is done.
    #[arg(long, value_parser = parse_fraction, value_name = "PERCENT")]
    pub precision: Option<f64>,
    /// Most time of measuring.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Do not count instructions: no column of them, and tiers are believed.
    #[arg(long)]
    pub no_evidence: bool,
    /// Also time single operations, each alone, and show percentiles of their latency.
    #[arg(long)]
    pub latency: bool,
    /// Seed of keys, messages and the order of cases; a random one is chosen and recorded.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Write the record to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Go on with a run that was killed or interrupted, and write its record to the same file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "algorithm", "library", "size", "direction", "model", "tier", "footprint", "threads", "in_place", "latency", "seed", "precision"])]
    pub resume: Option<PathBuf>,
    /// What to print on standard output.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark list`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ciphermark list libraries\n  ciphermark list algorithms --json\n  ciphermark list limits -a 'aes-256-*'"
)]
pub struct ListArgs {
    /// What to list.
    pub what: What,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Only these algorithms, for `limits`, with commas between; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Only these libraries, as for `run`; NAME=PATH adds a file.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
}

/// What to list.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum What {
    /// Algorithms, and which library offers each.
    Algorithms,
    /// Libraries found, with version, path and id.
    Libraries,
    /// CPU instruction tiers.
    Tiers,
    /// What one timed operation can be.
    Models,
    /// Suites.
    Suites,
    /// What this core can do at best: instructions, bandwidths, and the floor of each algorithm.
    Limits,
}

/// `ciphermark verify`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark verify\n  \
    ciphermark verify -a 'aes-*-gcm' -l mine=./libcrypto.so\n  \
    ciphermark verify -t noaes -t aesni -l openssl\n  \
    ciphermark verify -l mine=./libcrypto.so -s 777,3000,12345     these sizes too\n  \
    ciphermark verify -l mine=./libcrypto.so --seed 4711           what an earlier one drew\n  \
    ciphermark verify --vectors aes_gcm_test.json\n\n\
    Every size from 0 to 257 bytes is checked, those around powers of two up to 64 KiB, the ones of\n\
    --size, and six more for each algorithm, drawn anew each time up to 1 MiB. The end of the output\n\
    says what was tried. Exit code 1 when a check found something.")]
pub struct VerifyArgs {
    /// Algorithms by name or glob, with commas between; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Which CPU instructions the library may see; may be repeated.
    #[arg(short, long, value_name = "TIER", default_value = "native", conflicts_with = "vectors")]
    pub tier: Vec<TierArg>,
    /// Message sizes to check beside the fixed and the drawn ones, as for `run`: 777,3000 or 16..64K.
    #[arg(short, long, value_name = "LIST", conflicts_with = "vectors")]
    pub size: Option<String>,
    /// Seed of the sizes, messages and order of calls that are drawn; a random one is chosen and
    /// printed.
    #[arg(long, value_name = "N", conflicts_with = "vectors")]
    pub seed: Option<u64>,
    /// Hold the libraries to the vectors of this file (Project Wycheproof's JSON format) instead.
    #[arg(long, value_name = "FILE", conflicts_with = "algorithm")]
    pub vectors: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark once`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  printf hello | ciphermark once -a aes-128-gcm -l openssl \\\n    \
    --key 000102030405060708090a0b0c0d0e0f --nonce 000000000000000000000000 | xxd\n\n\
    Lengths of key and nonce: `ciphermark list algorithms --json`."
)]
pub struct OnceArgs {
    /// The algorithm.
    #[arg(short, long)]
    pub algorithm: String,
    /// The library, as for `run`; exactly one must match.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: String,
    /// Which CPU instructions the library may see.
    #[arg(short, long, default_value = "native")]
    pub tier: TierArg,
    /// Key (XTS: data key, then tweak key).
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub key: Hex,
    /// Nonce, IV, initial counter block or tweak.
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub nonce: Hex,
    /// Associated data.
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub aad: Hex,
    /// Decrypt; the tag is the input's end.
    #[arg(long)]
    pub decrypt: bool,
}

/// `ciphermark show`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark show run.json -a '*gcm' -s 8192\n  \
    ciphermark show run.json --format csv > run.csv\n  \
    ciphermark export run.json --format parquet -o run.parquet\n  \
    ciphermark export run.json -l openssl -m stream -d encrypt --format openssl-mr")]
pub struct ShowArgs {
    /// A record that `run -o` wrote.
    pub record: PathBuf,
    /// Which rows.
    #[command(flatten)]
    pub filter: Filter,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
    /// Write it to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `ciphermark explain`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark explain -l botan -a aes-256-gcm\n  \
    ciphermark explain -l cryptopp -a 'aes-256-*' -s 64,16K --json\n  \
    ciphermark explain -l openssl -a aes-128-gcm -t aesni -t native\n  \
    ciphermark explain run.json -a '*-gcm'             what a run counted, and what messages, bytes and keys cost\n\n\
    Instructions are counted one by one, by single-stepping an operation of two sizes: what they\n\
    differ by is what a byte costs. Allocations and copies are counted in workers of their own, with nothing timed: what goes\n\
    through the C library's malloc, memcpy and their kin, for one message.")]
pub struct ExplainArgs {
    /// A record that `run -o` wrote: nothing is counted anew; with its fitted lines, key set-ups,
    /// latencies and threads.
    pub record: Option<PathBuf>,
    /// Algorithms by name or glob, with commas between; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Message sizes in bytes, as for `run`, whose allocations, copies and instructions are counted.
    #[arg(short, long, value_name = "LIST", default_value = "16,8192", conflicts_with = "record")]
    pub size: String,
    /// What one operation is, for instructions.
    #[arg(short, long, value_name = "MODEL", default_value = "message")]
    pub model: ModelArg,
    /// Which CPU instructions the library may see, for instructions; may be repeated.
    #[arg(short, long, value_name = "TIER")]
    pub tier: Vec<TierArg>,
    /// Encrypt, decrypt or both.
    #[arg(short, long, value_name = "DIRECTION", default_value = "both")]
    pub direction: DirectionArg,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark pair`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark pair openssl@3.0.22 openssl@4.0.1 -a aes-256-gcm -s 16K\n  \
    ciphermark pair old=base/libcrypto.so new=patched/libcrypto.so -a aes-128-ctr\n\n\
    ciphermark pair old=base/libcrypto.so new=patched/libcrypto.so -a aes-128-ctr --margin 3% \\\n      \
    --budget 2m --fail-if slower --fail-if undecided\n\n\
    Both are verified first. Then pairs of worker processes, one of each library, are sampled in\n\
    turn. The verdict is looked for after 12, 16, 24, 36, 56, 84, 128 and 192 pairs and when the\n\
    time is over: 'slower' and 'faster' are wrong at most once in a thousand comparisons of the same\n\
    with the same. A planted 1 % is found within a second, mostly.\n\n\
    Exit codes: 0 compared; 1 a condition of --fail-if holds (of several --trials: never); 2 wrong\n\
    usage; 3 a check refused one of the two; 4 one of the two does not offer the case, or was lost.")]
pub struct PairArgs {
    /// The library to compare with: a name or name@version that matches one, or NAME=PATH.
    #[arg(value_name = "BASE")]
    pub base: String,
    /// The library that the verdict is about.
    #[arg(value_name = "NEW")]
    pub new: String,
    /// The algorithm.
    #[arg(short, long)]
    pub algorithm: String,
    /// Bytes of plaintext in one operation.
    #[arg(short, long, value_name = "BYTES", default_value = "8192")]
    pub size: String,
    /// Encrypt or decrypt.
    #[arg(short, long, value_name = "DIRECTION", default_value = "encrypt")]
    pub direction: DirectionArg,
    /// What one timed operation is.
    #[arg(short, long, value_name = "MODEL", default_value = "message")]
    pub model: ModelArg,
    /// Which CPU instructions the libraries may see.
    #[arg(short, long, value_name = "TIER", default_value = "native")]
    pub tier: TierArg,
    /// Differences up to this do not matter: within it, two are the same.
    #[arg(long, value_parser = parse_fraction, value_name = "PERCENT", default_value = "0.2%")]
    pub margin: f64,
    /// How often to compare, each time with new processes.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// Most time for one comparison.
    #[arg(long, value_parser = parse_duration, value_name = "TIME", default_value = "20s")]
    pub budget: Duration,
    /// What makes the exit code 1; may be repeated.
    #[arg(long, value_name = "VERDICT", default_values = ["slower"])]
    pub fail_if: Vec<PairFailArg>,
    /// Seed of keys, messages and the order of processes.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--fail-if` of `pair`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PairFailArg {
    /// The second library is slower.
    Slower,
    /// The second library is faster.
    Faster,
    /// The time was over without a verdict.
    Undecided,
    /// Nothing: the exit code is 0 whatever the verdict.
    Never,
}

/// `ciphermark doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark doctor\n  ciphermark doctor --json\n\n\
    Takes about two seconds, in which it measures the noise of the CPU that `run` would measure\n\
    on. Each line is ok, a note, or a problem with what mends it. Exit code 1 when something would\n\
    make figures wrong.")]
pub struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
