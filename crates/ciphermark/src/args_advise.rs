//! What is typed after `ciphermark advise`.

use crate::args::TimeArgs;
use crate::args_advise_postgres::PostgresArgs;
use crate::args_advise_tls::TlsServerArgs;
use base::model::Tier;
use base::text::units::{parse_days, parse_micros, parse_share};
use clap::{Args, ValueEnum};
use judge::advise::{Fips, Format, IntegrityLevel, KeyPer, NonceSource};
use std::path::PathBuf;

/// `ciphermark advise`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark advise --for postgres                              measures what it needs, half a minute or so\n  \
    ciphermark advise run.json --for postgres --fips algorithm    nothing is measured anew\n  \
    ciphermark advise --for postgres --expansion 0 --integrity none\n  \
    ciphermark advise --for sqlite --library-version system --writes-per-second 500 --key-life 2y\n  \
    ciphermark advise run.json --for wal -t core2 --format markdown\n  \
    ciphermark advise --for postgres --from 'dbname=postgres'     what it would take of this server's CPU\n  \
    ciphermark advise tls.json --for tls-server --clients browser,java-8=5%\n  \
    ciphermark run --suite at-rest -o at-rest.json                a record for many questions\n\n\
    The answer names the scheme and library, what it costs, the limits to respect and the day by which\n\
    the key must be changed; with --why every scheme that was rejected with the rule that did it, and all\n\
    that would change the answer. Where no scheme fulfils all wishes, it names those that stand against each other\n\
    (exit code 1); where something that could be chosen was not measured, it names that (exit code 3). What is not\n\
    asked is assumed for the use, and said. docs/AT-REST.md has the rules.\n\n\
    For a TLS server the answer is a profile, a certificate and a stack, priced by a run of\n\
    `ciphermark tls handshake`; docs/TLS.md.")]
pub struct AdviseArgs {
    /// A record to answer from (`ciphermark run --suite at-rest -o FILE`; of a TLS server, `ciphermark tls
    /// handshake -o FILE`); without one, what is needed is measured.
    #[arg(value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// The same, as a flag.
    #[arg(long = "record", value_name = "FILE", conflicts_with = "record")]
    pub record_flag: Option<PathBuf>,
    /// What is encrypted.
    #[arg(long = "for", value_name = "USE")]
    pub used: UseArg,
    /// Bytes of the unit that is encrypted: a page, a chunk; 8K.
    #[arg(short, long, value_name = "BYTES")]
    pub size: Option<String>,
    /// What of a change must be noticed.
    #[arg(long, value_name = "LEVEL")]
    pub integrity: Option<IntegrityLevel>,
    /// Approved by NIST: the algorithm, or a validated module that computes it.
    #[arg(long, value_name = "LEVEL")]
    pub fips: Option<Fips>,
    /// Number of the validated module's certificate, which you vouch for; with --library.
    #[arg(long, value_name = "NUMBER", requires = "library")]
    pub certificate: Option<String>,
    /// Most bytes that each unit may grow by: room for nonce and tag.
    #[arg(long, value_name = "BYTES")]
    pub expansion: Option<u32>,
    /// Shortest key.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=256))]
    pub key_bits: Option<u32>,
    /// What nonces are made of.
    #[arg(long, value_name = "SOURCE")]
    pub nonce: Option<NonceSource>,
    /// Whether copies of the store (snapshots, replicas, restores) go on under the same key.
    #[arg(long, value_name = "YES|NO")]
    pub snapshots: Option<YesNo>,
    /// What has a key of its own: the store, an epoch, or every single write (model `rekey`).
    #[arg(long, value_name = "WHAT")]
    pub key_per: Option<KeyPer>,
    /// Units written a second, by each writer.
    #[arg(long, value_name = "N")]
    pub writes_per_second: Option<f64>,
    /// Instances that write under the same keys: a primary, its replicas, restored copies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub writers: Option<u32>,
    /// Keys that these writes are spread over, as with a key for each table.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keys: Option<u32>,
    /// How long a key must last: 90d, 2y.
    #[arg(long, value_name = "TIME", value_parser = parse_days, allow_hyphen_values = true)]
    pub key_life: Option<f64>,
    /// Day from which the key is in use; today if not given.
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub key_born: Option<jiff::civil::Date>,
    /// Share of decryption in the cost that ranks.
    #[arg(long, value_name = "PERCENT", value_parser = parse_share, allow_hyphen_values = true)]
    pub reads: Option<f64>,
    /// Most time of the 99th percentile of one operation: 20us.
    #[arg(long, value_name = "TIME", value_parser = parse_micros, allow_hyphen_values = true)]
    pub max_p99: Option<f64>,
    /// Only these libraries: a glob over names or name@version; NAME=PATH adds a file to what is
    /// measured; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Only libraries of the system's own packages, or any.
    #[arg(long, value_name = "WHICH")]
    pub library_version: Option<LibraryVersion>,
    /// Whether nobody else's code runs on the core, so that what depends on the secret may be used.
    #[arg(long, value_name = "YES|NO")]
    pub alone: Option<YesNo>,
    /// Which CPU instructions libraries may see.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Print everything: assumptions, all that is to be respected, every scheme with the rule that decided.
    #[arg(long)]
    pub why: bool,
    /// How to print it; Markdown and JSON have everything.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Keep what was measured in this file (JSON).
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["record", "record_flag"])]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub postgres: PostgresArgs,
    #[command(flatten)]
    pub tls: TlsServerArgs,
}

/// `--for`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UseArg {
    /// PostgreSQL's pages, 8 KiB.
    Postgres,
    /// A write-ahead log, in blocks of 8 KiB.
    Wal,
    /// Sectors of a disk, 4 KiB, with no room for anything else.
    Disk,
    /// SQLite's pages, 4 KiB.
    Sqlite,
    /// Objects, in chunks of 64 KiB.
    ObjectStore,
    /// Backup archives, in chunks of 64 KiB.
    Backup,
    /// Messages on a connection, 1 KiB.
    Messages,
    /// A TLS server: profile, certificate and stack.
    TlsServer,
}

/// `--snapshots`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

/// `--library-version`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LibraryVersion {
    /// Those that the distribution's packages installed.
    System,
    /// Any.
    Any,
}
