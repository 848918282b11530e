//! What is typed after `ciphermark import`.

use crate::args::{FormatArg, TierArg};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `ciphermark import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    openssl speed -mr -evp aes-128-gcm 2>&1 | ciphermark import openssl-speed - -o theirs.json\n  \
    ciphermark import openssl-speed speed.txt --machine 'i5-8400' --beside run.json -o both.json\n  \
    ciphermark import table claims/tables/highgo.csv --beside run.json -o both.json\n\n\
    Imported figures were neither measured nor checked here: every table marks them (†) and names\n\
    their source, they are ranked behind everything that was measured, and they prove nothing.")]
pub struct ImportArgs {
    /// What is imported.
    #[command(subcommand)]
    pub what: ImportWhat,
}

/// What is imported.
#[derive(Debug, Subcommand)]
pub enum ImportWhat {
    /// What `openssl speed` printed, with `-mr` or without.
    OpensslSpeed(SpeedArgs),
    /// A published table: CSV of the shape that docs/FORMAT.md describes.
    Table(TableArgs),
}

/// Where imported rows go.
#[derive(Debug, Args)]
pub struct ImportTo {
    /// Write the record to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Put the rows beside those of this record; it is not changed.
    #[arg(long, value_name = "RECORD")]
    pub beside: Option<PathBuf>,
    /// What to print on standard output, unless it goes to a file.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
}

/// `ciphermark import openssl-speed`
#[derive(Debug, Args)]
pub struct SpeedArgs {
    /// What was printed on standard output, or on both outputs; `-` reads standard input.
    pub file: PathBuf,
    /// The machine that it ran on, in words.
    #[arg(long, value_name = "WORDS")]
    pub machine: Option<String>,
    /// The library whose `openssl speed` it was.
    #[arg(long, value_name = "NAME", default_value = "openssl")]
    pub library: String,
    /// Its version, where the output does not name it (with `-mr` it never does).
    #[arg(long, value_name = "VERSION")]
    pub library_version: Option<String>,
    /// It was called with -decrypt.
    #[arg(long)]
    pub decrypt: bool,
    /// Which CPU instructions it could see.
    #[arg(short, long, value_name = "TIER", default_value = "native")]
    pub tier: TierArg,
    /// Where the rows go.
    #[command(flatten)]
    pub to: ImportTo,
}

/// `ciphermark import table`
#[derive(Debug, Args)]
pub struct TableArgs {
    /// The table; `-` reads standard input.
    pub file: PathBuf,
    /// Bytes of plaintext in one operation, for rows whose source does not say it.
    #[arg(short, long, value_name = "BYTES")]
    pub size: Option<String>,
    /// Where the rows go.
    #[command(flatten)]
    pub to: ImportTo,
}
