//! What is typed after `ciphermark pages`.

use crate::args::TimeArgs;
use base::model::Tier;
use base::text::units::parse_fraction;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `ciphermark pages`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark pages /var/lib/postgresql/15/main -o pages.json     a cluster that was shut down\n  \
    ciphermark pages data --snapshot data.monday --media none      nonces over two states\n  \
    ciphermark pages data --nonce lsn --snapshot data.monday       and what nonces made of LSNs cost and break\n  \
    ciphermark pages data --decrypt-to copy -s aes-256-xts -l openssl --media none\n  \
    ciphermark pages app.db --as sqlcipher4                        an SQLite file, SQLCipher's way\n  \
    ciphermark pages --synthetic --page-size 16K -s 'aegis-*' -s aes-256-gcm\n  \
    ciphermark pages pages.json --format markdown                  a record again\n\n\
    Exit codes: 1 a probe came out otherwise than expected, nonces came twice where plaintexts leak by it, or\n\
    the store changed meanwhile; 3 a\n\
    library's scheme was refused or failed. docs/PAGES.md has the method and the format.")]
pub struct PagesArgs {
    /// A PostgreSQL data directory that was shut down, an SQLite file, or any file as a raw image, all
    /// only read; or a record of pages, to be shown again.
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
    /// Where timed pages come from and go to; `none`: no time is taken.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "memory,cache,direct,log"
    )]
    pub media: Vec<MediaArg>,
    /// Threads timed at once: a number or a list.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Stop sampling a cell once its interval's half-width is at most this; 5% where files are read or written.
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = parse_fraction, allow_hyphen_values = true)]
    pub precision: f64,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Resume the run that was to write FILE and was killed or interrupted, over the same store. Its flags
    /// count again, but for --decrypt-to and --scratch, which are typed again; only --budget, --thorough,
    /// --format and --quiet may be new.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "synthetic", "library", "precision", "seed", "output"])]
    pub resume: Option<PathBuf>,
    /// Pages in a visit in memory; files take fewer.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(16..=65_536))]
    pub pages: u32,
    /// Probes of each kind of change; 0: none.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub probes: u32,
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

/// Every real system, with the schemes that it has.
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
