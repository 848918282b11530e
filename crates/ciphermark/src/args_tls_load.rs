//! What is typed after `ciphermark tls load` and `ciphermark tls why`.

use crate::args_tls::TlsFormat;
use crate::args_tls_server::ValidateArgs;
use crate::units::{parse_bytes, parse_share};
use clap::Args;
use std::path::PathBuf;

/// `ciphermark tls load`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls load --connections 50 --requests 4 --response 20K --calibration cal.json\n  \
    ciphermark tls load site.toml --calibration cal.json --explain        which change saves most\n  \
    ciphermark tls load site.toml --calibration cal.json --profile old --client ie-11-win7\n  \
    ciphermark tls load site.toml --calibration cal.json --records rec.json --primitives prim.json\n\n\
    SPEC is a small TOML file (docs/examples/tls-site.toml); options go before what it says. What counts is what the\n\
    clients negotiate: cipher strings are read as OpenSSL reads them. Classes of clients: browser, firefox-100,\n\
    safari-15, openssl-3.5, openssl-3.0, java-17, go-1.17, chrome-49, firefox-45, safari-9, ie-11-win7,\n\
    android-4.4, java-8, openssl-1.0.1, tls-1.0. Profiles: modern, intermediate, old, intermediate-2016.\n\n\
    Every term is shown with its value, the range over rounds, its source and its share. docs/TLS-LOAD.md has the\n\
    formula, what it is held to, and what it leaves out.\n\n\
    Exit codes: 0 done; 2 wrong usage or specification; 4 nothing to calculate from.")]
pub struct LoadArgs {
    /// What the server is asked to do (TOML).
    #[arg(value_name = "SPEC")]
    pub spec: Option<PathBuf>,
    /// What was measured.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What the specification does not say, or says otherwise.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Show what other configurations would save, the most first.
    #[arg(long)]
    pub explain: bool,
    /// Hold the model to a real server.
    #[command(flatten)]
    pub validate: ValidateArgs,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TlsFormat,
    /// Write the load into this file too (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The documents that costs come from.
#[derive(Debug, Args)]
pub struct DocumentArgs {
    /// A calibration of a server on this machine (`tls calibrate -o FILE`). Without one, `tls load` measures it
    /// first, some minutes long.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// A run of `tls records`: tells the cipher of records apart from the rest.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// A run of `tls primitives`: tells key exchange and signature apart from the rest of a handshake.
    #[arg(long, value_name = "FILE")]
    pub primitives: Option<PathBuf>,
    /// A run of `tls handshake`: tells how much memory an open connection takes.
    #[arg(long, value_name = "FILE")]
    pub handshakes: Option<PathBuf>,
}

/// The commonest values of a specification.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// New connections per second.
    #[arg(long, value_name = "N")]
    pub connections: Option<f64>,
    /// Requests over each connection.
    #[arg(long, value_name = "N")]
    pub requests: Option<f64>,
    /// Bytes of each response: 20K.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub response: Option<usize>,
    /// Share of connections that resume: 60%.
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    pub resumed: Option<f64>,
    /// Certificates: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519; two with a comma.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub certificate: Vec<String>,
    /// Mozilla's profile.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Cipher string of TLS 1.2.
    #[arg(long, value_name = "STRING")]
    pub ciphers: Option<String>,
    /// Groups by colons.
    #[arg(long, value_name = "LIST")]
    pub groups: Option<String>,
    /// Finite field of DHE: ffdhe2048, ffdhe4096, own-dh-2048.
    #[arg(long, value_name = "FIELD")]
    pub dh: Option<String>,
    /// Version of HTTP: 1.1, 2.
    #[arg(long, value_name = "VERSION")]
    pub http: Option<String>,
    /// How close connections follow one another: low, steady, saturated.
    #[arg(long, value_name = "REGIME")]
    pub regime: Option<String>,
    /// Class of clients, in equal shares where several are named.
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    pub client: Vec<String>,
}

/// `ciphermark tls why`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls why --from 0.5% --to 2..3% --calibration cal.json\n  \
    ciphermark tls why --from 0.5% --to 2.5% --spec site.toml --calibration cal.json    which change it was\n  \
    ciphermark tls why --from 0.5% --to 2.5% --spec old.toml --spec-is before --calibration cal.json\n  \
    ciphermark tls why --from 0.5% --to 2..3% --slower 1.3..2.5 --mbit 20 --calibration cal.json\n\n\
    Percentages are of one core; a range is written as 2..3%. With a specification its rates exclude what would\n\
    need more connections, requests or bytes than there are, and each change of its settings is priced.\n\
    docs/TLS-LOAD.md works through an example.\n\n\
    Exit codes: 0 answered, also where CPU use alone cannot decide; 2 wrong usage or specification; 4 nothing to\n\
    calculate from.")]
pub struct WhyArgs {
    /// CPU use before, in percent of one core.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub from: (f64, f64),
    /// CPU use after.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub to: (f64, f64),
    /// What is known of the server (TOML).
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Whether the specification is that of the server before the rise, or after it.
    #[arg(long, value_name = "WHEN", default_value = "after")]
    pub spec_is: WhenArg,
    /// How many times slower the observed core is than the calibrated one: 1.9 or 1.3..2.5.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_range)]
    pub slower: (f64, f64),
    /// Most that the server's clients receive, in Mbit per second.
    #[arg(long, value_name = "N")]
    pub mbit: Option<f64>,
    /// What was measured.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TlsFormat,
    /// Write the answer into this file too (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `--spec-is`
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WhenArg {
    /// Before the rise.
    Before,
    /// After it.
    After,
}

/// `2.5%`, `2.5` or `2..3%`: percent of a core.
fn parse_percent(text: &str) -> Result<(f64, f64), String> {
    let plain: String = text.chars().filter(|c| *c != '%' && !c.is_whitespace()).collect();
    range(&plain).ok_or_else(|| "write a percentage of a core, as 2.5% or 2..3%".to_owned())
}

/// `1.9` or `1.3..2.5`, above zero.
fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let above_zero = range(text).filter(|(low, _)| *low > 0.0);
    above_zero.ok_or_else(|| "write a factor above 0, as 1.9 or 1.3..2.5".to_owned())
}

fn range(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let (low, high) = (low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?);
    (low.is_finite() && high.is_finite() && 0.0 <= low && low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_with_and_without_their_sign() {
        assert_eq!(parse_percent("0.5%"), Ok((0.5, 0.5)));
        assert_eq!(parse_percent("2..3 %"), Ok((2.0, 3.0)));
        assert_eq!(parse_percent("2%..3%"), Ok((2.0, 3.0)));
        for wrong in ["3..2%", "-1", "", "x", "nan", "1..", "inf"] {
            assert!(parse_percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_range("1.3..2.5"), Ok((1.3, 2.5)));
        assert!(parse_range("0").is_err());
    }
}
