//! `ciphermark explain`.

use super::{DirectionArg, TierGlobs};
use base::model::Model;
use clap::Args;
use std::path::PathBuf;

/// `ciphermark explain`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark explain -l botan -a aes-256-gcm\n  \
    ciphermark explain -l cryptopp -a 'aes-256-*' -s 64,16K --json\n  \
    ciphermark explain -l openssl -a aes-128-gcm -t aesni -t native\n  \
    ciphermark explain run.json -a '*-gcm'             what a run counted, and what messages, bytes and keys cost\n\n\
    Counts the instructions of an operation by single-stepping it at two sizes; the difference is the\n\
    cost of a byte. Counts allocations and copies in separate workers that time nothing: everything\n\
    that goes through malloc, memcpy and similar functions of the C library, for one message.")]
pub struct ExplainArgs {
    /// A record written by `run -o`: explain its counts, fitted lines, key set-ups, latencies and
    /// threads instead of counting anew.
    pub record: Option<PathBuf>,
    /// Algorithms by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Message sizes in bytes to count at, as for `run`.
    #[arg(short, long, value_name = "LIST", default_value = "16,8192", conflicts_with = "record")]
    pub size: String,
    /// What one operation is, for instructions.
    #[arg(short, long, value_name = "MODEL", default_value = "message")]
    pub model: Model,
    /// Which CPU instructions the library may use, by name or glob, separated by commas, for
    /// instructions; may be repeated.
    #[arg(short, long, value_name = "TIER", value_parser = TierGlobs, hide_possible_values = true)]
    pub tier: Vec<String>,
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
