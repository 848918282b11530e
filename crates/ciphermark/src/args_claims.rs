//! What is typed after `ciphermark claims`.

use crate::args::TimeArgs;
use clap::Args;
use std::path::PathBuf;

/// `ciphermark claims`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark claims                                 measures what it needs, half a minute\n  \
    ciphermark claims --only 'tx-*' -o claims.json    and keeps the record\n  \
    ciphermark claims claims.json claims.tls.json     nothing is measured anew: the record and the handshakes\n  \
    ciphermark claims --table highgo                  the article's table, with this machine beside it\n\n\
    Verdicts: holds, does not hold, depends (and on what), not testable here (and why). A claim is\n\
    judged in each version of the library that it is of. Sources: highgo, transactional,\n\
    asecuritysite, tls. docs/CLAIMS.md has the conditions.")]
pub struct ClaimsArgs {
    /// Records and runs of `tls handshake` to judge by; without any, what is needed is measured.
    #[arg(value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Only these claims, by name or glob, separated by commas; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Only the claims of this source; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub source: Vec<String>,
    /// Print this source's table with this machine's figures beside it, instead of verdicts.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "source"])]
    pub table: Option<String>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: judge::claims::Format,
    /// Keep what was measured in this file (JSON); handshakes beside it, in NAME.tls.json.
    #[arg(short, long, value_name = "FILE", conflicts_with = "records")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Libraries to measure beside those found: NAME=PATH; or only those that a glob matches.
    #[arg(short, long, value_name = "GLOB|NAME=PATH", conflicts_with = "records")]
    pub library: Vec<String>,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}
