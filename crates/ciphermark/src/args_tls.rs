//! `ciphermark tls` and its commands that measure stacks.

use crate::args::{TimeArgs, one_of};
use crate::args_advise::YesNo;
use crate::args_tls_load::{LoadArgs, WhyArgs};
use crate::args_tls_server::CalibrateArgs;
use base::text::units::parse_fraction;
use clap::{Args, Subcommand};
use record::tls::{
    Certificate, Exchange, Filter, Format, Kind, LARGEST_RECORD, Operation, Scheme, Suite,
    Temperature, Version,
};
use std::path::PathBuf;
use std::str::FromStr;

/// `ciphermark tls`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls handshake -l 'openssl@3.0*' -l aws-lc    the matrix of two stacks, two minutes\n  \
    ciphermark tls handshake -x x25519 -c p256 -k full      one case in every stack\n  \
    ciphermark tls records -l 'openssl@3.0*'                what a record costs, next to the bare cipher\n  \
    ciphermark tls calibrate -o cal.json                    what connections cost nginx here\n  \
    ciphermark tls primitives -p x25519,ecdsa-p256          what a handshake is made of\n  \
    ciphermark tls load site.toml --calibration cal.json    a server's CPU by part\n  \
    ciphermark tls why --from 0.5% --to 2..3% --calibration cal.json")]
pub struct TlsArgs {
    #[command(subcommand)]
    pub command: TlsCommand,
}

/// `ciphermark tls …`
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Measure handshakes in memory: server and client separately, in every stack.
    Handshake(HandshakeArgs),
    /// Measure records: sending and receiving separately, by suite and size, next to the bare cipher.
    Records(RecordsArgs),
    /// Measure what connections and requests cost servers on this machine, including nginx.
    Calibrate(CalibrateArgs),
    /// Measure what a handshake is made of: key generation and agreement, signatures, digests.
    Primitives(PrimitivesArgs),
    /// Calculate what a server spends CPU on, from a specification and a calibration.
    Load(Box<LoadArgs>),
    /// Find what explains a rise in CPU use, and what cannot.
    Why(WhyArgs),
}

/// Where the result of a command goes.
#[derive(Debug, Args)]
pub struct TlsOutput {
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Also write it to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Flags of everything that is measured in stacks.
#[derive(Debug, Args)]
pub struct TlsCommon {
    /// Stacks by the name of their library (for rustls: rustls-ring, rustls-graviola,
    /// rustls-aws-lc), name@version or glob, or NAME=PATH of a libssl, a libcrypto, a libwolfssl or a
    /// stack's own object; may be repeated [default: all that are found].
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Stop sampling a case once its interval's half-width is at most this; 5% for handshakes that
    /// are not hot.
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = parse_fraction, allow_hyphen_values = true)]
    pub precision: f64,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Resume the run that was to write FILE and was killed or interrupted. Its flags count again; only
    /// --budget, --thorough, --format and --quiet may be new.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["library", "precision", "seed", "output"])]
    pub resume: Option<PathBuf>,
    /// Seed for the order of visits [default: random].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub out: TlsOutput,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

impl TlsCommand {
    /// The flags of what is measured in stacks.
    pub fn common(&mut self) -> Option<&mut TlsCommon> {
        match self {
            Self::Handshake(args) => Some(&mut args.common),
            Self::Records(args) => Some(&mut args.common),
            Self::Primitives(args) => Some(&mut args.common),
            Self::Calibrate(_) | Self::Load(_) | Self::Why(_) => None,
        }
    }
}

/// What handshakes and records both negotiate.
#[derive(Debug, Args)]
pub struct TlsNegotiated {
    /// Versions of TLS: 1.2, 1.3.
    #[arg(short = 'V', long = "tls", value_name = "LIST", value_delimiter = ',', value_parser = Filter::version)]
    pub versions: Vec<Version>,
    /// Suites.
    #[arg(long = "cipher", value_name = "LIST", value_delimiter = ',', value_parser = Filter::suite)]
    pub suites: Vec<Suite>,
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
    Every handshake that counts is checked against its row, from the bytes on the wire and at both\n\
    ends: version, suite, group, signature, resumed or not. Tables show medians. JSON and CSV also have\n\
    the means (a server's load is a sum of means), the first handshake of a process, bytes on the wire\n\
    and memory. docs/TLS.md says what is inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct HandshakeArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    #[command(flatten)]
    pub negotiated: TlsNegotiated,
    /// Key exchanges.
    #[arg(short = 'x', long = "exchange", value_name = "LIST", value_delimiter = ',', value_parser = Filter::exchange)]
    pub exchanges: Vec<Exchange>,
    /// Certificates.
    #[arg(short, long = "certificate", value_name = "LIST", value_delimiter = ',', value_parser = Filter::certificate)]
    pub certificates: Vec<Certificate>,
    /// How connections begin.
    #[arg(short, long = "kind", value_name = "LIST", value_delimiter = ',', value_parser = Filter::kind)]
    pub kinds: Vec<Kind>,
    /// Whether the client authenticates itself too.
    #[arg(long, value_name = "WHICH")]
    pub client_auth: Option<YesNo>,
    /// The pause between two steps of a handshake. hot: none; idle: 100 µs; cold: a pause, and other
    /// data in the core's caches [default: hot, and cold too for X25519, P-256 and X25519MLKEM768 with
    /// RSA-2048 and P-256].
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = one_of(Temperature::ALL, Temperature::name))]
    pub temperature: Vec<Temperature>,
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
    Each batch is checked outside the clock: there are as many records on the wire as were written,\n\
    long enough and not in the clear; what arrives is what was sent; and a record changed on the way is\n\
    rejected. The bare cipher is that of the stack's own library, called directly, with all its checks.\n\
    docs/TLS.md says what is inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct RecordsArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    #[command(flatten)]
    pub negotiated: TlsNegotiated,
    /// Bytes of data in a record, 1 to 16K.
    #[arg(short, long, value_name = "LIST", default_value = "64,256,1400,4K,16K")]
    pub size: RecordSizes,
}

/// `ciphermark tls primitives`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls primitives -l 'openssl@3.0*' -l aws-lc               everything in two libraries\n  \
    ciphermark tls primitives -p rsa-2048-pss,ecdsa-p256 -O sign        what a certificate costs a server\n  \
    ciphermark tls primitives -p x25519,p256,p384,mlkem768              what a key exchange costs\n  \
    ciphermark tls primitives -p sha256,sha384 -s 64,16K --format csv   digests, for a plot\n  \
    ciphermark tls primitives -l mine=/opt/openssl/lib/libssl.so.4 -o primitives.json\n\n\
    Primitives: x25519, p256, p384, ffdhe2048, ffdhe3072, ffdhe4096, own-dh-2048 (generate, agree);\n\
    mlkem768, x25519mlkem768 (generate, encapsulate, decapsulate); rsa-2048-pss, rsa-2048-pkcs1 and the\n\
    same of 3072 and 4096 bits, ecdsa-p256, ecdsa-p384, ed25519 (sign, verify); sha256, sha384,\n\
    hmac-sha256, hmac-sha384 (digest).\n\n\
    Each row has two figures, measured in turn: whole, as in a handshake (context, the other side's key\n\
    from its bytes, the operation), and the library's call alone, as in openssl speed. After each timed\n\
    batch another implementation checks its results, and a changed bit must be noticed. A handshake\n\
    costs more than their sum. docs/TLS.md says what is inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct PrimitivesArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    /// Primitives.
    #[arg(short, long = "primitive", value_name = "LIST", value_delimiter = ',', value_parser = Filter::scheme)]
    pub primitives: Vec<Scheme>,
    /// Operations: generate, agree, sign, verify, encapsulate, decapsulate, digest.
    #[arg(short = 'O', long = "operation", value_name = "LIST", value_delimiter = ',', value_parser = Filter::operation)]
    pub operations: Vec<Operation>,
    /// Bytes to digest, 1 to 16K.
    #[arg(short, long, value_name = "LIST", default_value = "64,256,1400,16K")]
    pub size: RecordSizes,
}

/// Sizes that fit into a record.
#[derive(Clone, Debug)]
pub struct RecordSizes(pub Vec<u32>);

impl FromStr for RecordSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes = base::model::parse_sizes(text).map_err(|e| e.to_string())?;
        match sizes.iter().find(|size| !(1..=LARGEST_RECORD).contains(*size)) {
            Some(size) => Err(format!(
                "a TLS record holds 1 to {LARGEST_RECORD} bytes of data (RFC 8446 5.1), not {size}"
            )),
            None => Ok(Self(sizes.into_iter().map(|size| size as u32).collect())),
        }
    }
}
