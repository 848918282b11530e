//! What is typed after `ciphermark tls`.

use crate::args_tls_load::{LoadArgs, WhyArgs};
use crate::args_tls_primitives::PrimitivesArgs;
use crate::args_tls_server::CalibrateArgs;
use crate::units::{parse_duration, parse_fraction};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark tls`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls handshake -l 'openssl@3.0*' -l aws-lc    the matrix of two stacks, two minutes\n  \
    ciphermark tls handshake -x x25519 -c p256 -k full      one case in every stack\n  \
    ciphermark tls records -l 'openssl@3.0*'                what a record costs, beside the bare cipher\n  \
    ciphermark tls calibrate -o cal.json                    what connections cost nginx here\n  \
    ciphermark tls primitives -p x25519,ecdsa-p256          what lies under a handshake\n  \
    ciphermark tls load site.toml --calibration cal.json    a server's CPU by part\n  \
    ciphermark tls why --from 0.5% --to 2..3% --calibration cal.json")]
pub struct TlsArgs {
    /// What to measure.
    #[command(subcommand)]
    pub command: TlsCommand,
}

/// `ciphermark tls …`
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Measure handshakes: server and client apart, in memory, in every stack.
    Handshake(HandshakeArgs),
    /// Measure records: sending and receiving apart, by suite and size, beside the bare cipher.
    Records(RecordsArgs),
    /// Measure what connections and requests cost servers of this machine, nginx among them.
    Calibrate(CalibrateArgs),
    /// Measure what lies under a handshake: key generation, agreement, signatures, encapsulation, digests.
    Primitives(PrimitivesArgs),
    /// Calculate what a server's CPU does, by part, from a specification and a calibration.
    Load(Box<LoadArgs>),
    /// Find what explains a rise of CPU use, and what cannot.
    Why(WhyArgs),
}

/// What handshakes and records negotiate alike.
#[derive(Debug, Args)]
pub struct TlsNegotiated {
    /// Versions of TLS: 1.2, 1.3.
    #[arg(short = 'V', long = "tls", value_name = "LIST", value_delimiter = ',')]
    pub versions: Vec<String>,
    /// Suites.
    #[arg(long = "cipher", value_name = "LIST", value_delimiter = ',')]
    pub suites: Vec<String>,
}

/// What everything that is measured in stacks is asked for alike.
#[derive(Debug, Args)]
pub struct TlsCommon {
    /// Stacks by the name of their library (of rustls: rustls-ring, rustls-graviola, rustls-aws-lc),
    /// name@version or glob, or NAME=PATH of a libssl, a libcrypto, a libwolfssl or a stack's own
    /// object; may be repeated. All that are found, where none is named.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Half the width of the interval at which sampling ends; handshakes that are not hot end at 5%.
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = parse_fraction)]
    pub precision: f64,
    /// Most time of sampling; of records a third is for the bare ciphers.
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_duration)]
    pub budget: Duration,
    /// Seed of the order of visits.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TlsFormat,
    /// Write the run into this file too (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark tls handshake`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls handshake -l 'openssl@3.0*' -l aws-lc        the matrix of two stacks\n  \
    ciphermark tls handshake -x x25519 -c p256 -k full          one case in every stack\n  \
    ciphermark tls handshake -V 1.2 -x own-dh-2048,ffdhe2048    what a DH file costs\n  \
    ciphermark tls handshake -k resumed-psk -t hot,cold         how much the caches help\n  \
    ciphermark tls handshake -l mine=/opt/openssl/lib/libssl.so.4 -o tls.json\n\n\
    Key exchanges: rsa, ffdhe2048, ffdhe4096, own-dh-2048, p256, p384, x25519, x25519mlkem768.\n\
    Certificates: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519. Kinds: full, hello-retry,\n\
    resumed-id, resumed-ticket, resumed-psk. Suites: aes-128-gcm, aes-256-gcm, chacha20-poly1305,\n\
    aes-128-ccm, aes-128-cbc+sha1, aes-256-cbc+sha1, aes-128-cbc+sha256, aes-256-cbc+sha384.\n\n\
    Every counted handshake is held to its row, by the bytes on the wire and by both ends: version,\n\
    suite, group, signature, resumed or not. Times are medians; JSON and CSV have the means too,\n\
    which are what a server's load is a sum of, the first handshake of a process, bytes on the wire\n\
    and memory. docs/TLS.md says what lies inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct HandshakeArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    #[command(flatten)]
    pub negotiated: TlsNegotiated,
    /// Key exchanges.
    #[arg(short = 'x', long = "exchange", value_name = "LIST", value_delimiter = ',')]
    pub exchanges: Vec<String>,
    /// Certificates.
    #[arg(short, long = "certificate", value_name = "LIST", value_delimiter = ',')]
    pub certificates: Vec<String>,
    /// How connections begin.
    #[arg(short, long = "kind", value_name = "LIST", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Whether the client proves itself too.
    #[arg(long, value_name = "WHICH")]
    pub client_auth: Option<ClientAuthArg>,
    /// What lies between two steps of a handshake; hot without it, and cold as well for X25519, P-256 and
    /// X25519MLKEM768 with RSA-2048 and P-256.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    pub temperature: Vec<TemperatureArg>,
}

/// `ciphermark tls records`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls records -l 'openssl@3.0*' -l aws-lc               every suite of two stacks\n  \
    ciphermark tls records --cipher aes-128-gcm,chacha20-poly1305    two suites in every stack\n  \
    ciphermark tls records -V 1.2 --cipher aes-256-cbc+sha384 -s 1K,16K\n  \
    ciphermark tls records -s 64..16K --format csv                   for a plot\n\n\
    Suites: aes-128-gcm, aes-256-gcm, chacha20-poly1305, aes-128-ccm, and in TLS 1.2 aes-128-cbc+sha1,\n\
    aes-256-cbc+sha1, aes-128-cbc+sha256, aes-256-cbc+sha384.\n\n\
    Each batch is looked at outside the clock: as many records on the wire as were written, long enough,\n\
    nothing in the clear, and what comes out is what went in; a record that is changed on the way must not\n\
    be taken. The bare cipher is that of the library under the stack, called directly, with all its checks.\n\
    docs/TLS.md says what lies inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct RecordsArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    #[command(flatten)]
    pub negotiated: TlsNegotiated,
    /// Bytes of data in a record, 1 to 16K.
    #[arg(short, long, value_name = "LIST", default_value = "64,256,1400,4K,16K")]
    pub size: String,
}

/// `--client-auth`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClientAuthArg {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// `--temperature`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TemperatureArg {
    /// Nothing: the next step follows at once.
    Hot,
    /// A pause of 100 µs.
    Idle,
    /// A pause, and the core's own caches hold other data.
    Cold,
}

/// `--format`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TlsFormat {
    /// For a terminal.
    Table,
    /// The whole run.
    Json,
    /// One row a handshake.
    Csv,
    /// GitHub-flavoured Markdown.
    Markdown,
}

impl From<TlsFormat> for tls::Format {
    fn from(typed: TlsFormat) -> Self {
        match typed {
            TlsFormat::Table => Self::Table,
            TlsFormat::Json => Self::Json,
            TlsFormat::Csv => Self::Csv,
            TlsFormat::Markdown => Self::Markdown,
        }
    }
}

impl From<TemperatureArg> for tls::Temperature {
    fn from(typed: TemperatureArg) -> Self {
        match typed {
            TemperatureArg::Hot => Self::Hot,
            TemperatureArg::Idle => Self::Idle,
            TemperatureArg::Cold => Self::Cold,
        }
    }
}
