//! `ciphermark tls calibrate` and `ciphermark tls load --validate`, which load servers of this machine.

use crate::args::one_of;
use crate::args_tls::TlsOutput;
use crate::server::PARTS;
use base::text::units::parse_duration;
use clap::Args;
use clap::builder::PossibleValuesParser;
use judge::load::Regime;
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark tls calibrate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls calibrate -o cal.json                          all three regimes, about five minutes\n  \
    ciphermark tls calibrate --regime low -o cal.json             for a server that mostly sleeps\n  \
    ciphermark tls calibrate --no-nginx -l 'openssl@3.5*' -o cal.json\n\n\
    Puts load on servers of this machine over the loopback (127.0.0.1 only): one connection every 5 ms\n\
    (low), one after the other (steady), twenty at once (saturated). The servers are nginx without TLS,\n\
    and ciphermark's own minimal server with and without TLS, using the library that nginx has loaded.\n\
    `tls load` and `tls why` calculate from the result. Servers run on one CPU, the client on another.\n\
    nginx gets its own configuration in its own directory, and ends with the command.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some points failed; 4 there is no nginx, or it cannot be done.")]
pub struct CalibrateArgs {
    #[command(flatten)]
    pub course: CourseArgs,
    /// How closely connections follow one another.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "low,steady,saturated", value_parser = one_of(Regime::ALL, Regime::name))]
    pub regime: Vec<Regime>,
    /// Measure the minimal server in place of nginx.
    #[arg(long, conflicts_with = "nginx", requires = "library")]
    pub no_nginx: bool,
    /// The stack of the minimal server, by the name of its library or NAME=PATH [default: nginx's]. It is confined to its
    /// servers' ports, for which the kernel must know them (Linux 6.7).
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Option<String>,
    #[command(flatten)]
    pub out: TlsOutput,
}

/// `--validate` and its flags.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Validate the model with nginx: predict about fifty points, measure them, and show the errors.
    /// With -o FILE, skip parts that the file already has, so that a run can be resumed.
    #[arg(long, conflicts_with_all = ["spec", "calibration", "records", "primitives", "handshakes", "explain"])]
    pub validate: bool,
    /// Which points [default: all parts that fit into the budget].
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "validate", value_parser = PossibleValuesParser::new(PARTS))]
    pub part: Vec<String>,
    #[command(flatten)]
    pub course: CourseArgs,
}

/// How servers are put under load.
#[derive(Debug, Args)]
pub struct CourseArgs {
    /// The executable of nginx, if it is not where its packages install it.
    #[arg(long, value_name = "FILE")]
    pub nginx: Option<PathBuf>,
    /// Rounds; each visits every point once, in random order.
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub rounds: u32,
    /// How long a visit puts load on its server.
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = parse_duration, allow_hyphen_values = true)]
    pub visit: Duration,
    /// Measure for at most this long; what does not fit is left for another run.
    #[arg(long, value_name = "TIME", default_value = "290s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub budget: Duration,
    /// Seed for the order of visits [default: random].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}
