//! What is typed where servers of this machine are loaded: `tls calibrate`, and `tls load --validate`.

use crate::args_tls::TlsFormat;
use crate::units::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark tls calibrate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls calibrate -o cal.json                          all three regimes, some five minutes\n  \
    ciphermark tls calibrate --regime low -o cal.json             for a server that mostly sleeps\n  \
    ciphermark tls calibrate --no-nginx -l 'openssl@3.5*' -o cal.json\n\n\
    Loads servers of this machine over its loopback, at 127.0.0.1 alone, one connection every 5 ms (low), one\n\
    after the other (steady), twenty at once (saturated): nginx without TLS, and a minimal server of ciphermark's\n\
    own with and without TLS, over the library that nginx has loaded. What is written is what `tls load` and\n\
    `tls why` calculate from. Servers are kept on one CPU and the client on another. nginx runs with a\n\
    configuration of its own in a directory of its own, and is gone afterwards.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some points failed; 4 there is no nginx, or it cannot be done.")]
pub struct CalibrateArgs {
    /// How everything is run.
    #[command(flatten)]
    pub course: CourseArgs,
    /// Regimes: low, steady, saturated.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "low,steady,saturated"
    )]
    pub regime: Vec<String>,
    /// Without a real server: the minimal one stands in for it.
    #[arg(long, conflicts_with = "nginx", requires = "library")]
    pub no_nginx: bool,
    /// The stack of the minimal server, by the name of its library or NAME=PATH; nginx's own where none is
    /// named.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Option<String>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TlsFormat,
    /// Write the calibration into this file too (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `--validate` and what goes with it.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Hold the model to nginx: predict some fifty points, measure them, and show the errors. With -o FILE parts
    /// that are in the file already are left out, so that a run can be gone on with.
    #[arg(long, conflicts_with_all = ["spec", "calibration", "records", "primitives", "handshakes", "explain"])]
    pub validate: bool,
    /// Parts: certificates, exchanges, resumption, requests, mixes, http2, no-aes, mystery; all of them, as far as
    /// the budget goes, where none is named.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "validate")]
    pub part: Vec<String>,
    /// How everything is run.
    #[command(flatten)]
    pub course: CourseArgs,
}

/// How servers are loaded.
#[derive(Debug, Args)]
pub struct CourseArgs {
    /// The executable of nginx, where it is not where its packages put it.
    #[arg(long, value_name = "FILE")]
    pub nginx: Option<PathBuf>,
    /// Rounds; each visits everything once, in random order.
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub rounds: u32,
    /// How long a visit loads its server.
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = parse_duration)]
    pub visit: Duration,
    /// Most time of a run: what does not fit is left for another.
    #[arg(long, value_name = "TIME", default_value = "290s", value_parser = parse_duration)]
    pub budget: Duration,
    /// Seed of the order of visits.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}
