//! `ciphermark import`.

use crate::args::{FormatArg, one_size};
use base::model::Tier;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `ciphermark import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    openssl speed -mr -evp aes-128-gcm 2>&1 | ciphermark import openssl-speed - -o theirs.json\n  \
    ciphermark import openssl-speed speed.txt --machine 'i5-8400' --beside run.json -o both.json\n  \
    ciphermark import table claims/tables/highgo.csv --beside run.json -o both.json\n\n\
    Imported figures were neither measured nor checked here. Every table marks them (†), names their\n\
    source and ranks them behind everything that was measured. Figures that nobody should believe are\n\
    marked †?, with the reason below the row.")]
pub struct ImportArgs {
    /// What to import.
    #[command(subcommand)]
    pub what: ImportWhat,
}

/// What to import.
#[derive(Debug, Subcommand)]
pub enum ImportWhat {
    /// The output of `openssl speed`, with or without `-mr`.
    OpensslSpeed(SpeedArgs),
    /// A published table: CSV as described in docs/FORMAT.md.
    Table(TableArgs),
}

/// Where imported rows go.
#[derive(Debug, Args)]
pub struct ImportTo {
    /// Write the record to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add the rows to those of this record; the record itself is not changed.
    #[arg(long, value_name = "RECORD")]
    pub beside: Option<PathBuf>,
    /// What to print on standard output, unless it goes to a file.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
}

/// `ciphermark import openssl-speed`
#[derive(Debug, Args)]
pub struct SpeedArgs {
    /// What it printed on standard output, or on both outputs; `-` reads standard input.
    pub file: PathBuf,
    /// The machine it ran on, in words.
    #[arg(long, value_name = "WORDS")]
    pub machine: Option<String>,
    /// The name to give the library.
    #[arg(long, value_name = "NAME", default_value = "openssl")]
    pub library: String,
    /// The library's version, if the output lacks it (with `-mr` it always does).
    #[arg(long, value_name = "VERSION")]
    pub library_version: Option<String>,
    /// `openssl speed` was called with -decrypt.
    #[arg(long)]
    pub decrypt: bool,
    /// Which CPU instructions it could use.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Where the rows go.
    #[command(flatten)]
    pub to: ImportTo,
}

/// `ciphermark import table`
#[derive(Debug, Args)]
pub struct TableArgs {
    /// The table; `-` reads standard input.
    pub file: PathBuf,
    /// Bytes of plaintext in one operation, for rows whose source does not give it.
    #[arg(short, long, value_name = "BYTES", value_parser = one_size)]
    pub size: Option<usize>,
    /// Where the rows go.
    #[command(flatten)]
    pub to: ImportTo,
}
