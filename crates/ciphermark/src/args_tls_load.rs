//! `ciphermark tls load` and `ciphermark tls why`.

use crate::args::one_of;
use crate::args_tls::TlsOutput;
use crate::args_tls_server::ValidateArgs;
use base::text::units::{parse_bytes, parse_share};
use clap::Args;
use judge::load::{Http, Profile, Regime};
use record::tls::{Certificate, Exchange, Filter};
use std::path::PathBuf;

/// `ciphermark tls load`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls load --connections 50 --requests 4 --response 20K --calibration cal.json\n  \
    ciphermark tls load site.toml --calibration cal.json --explain        which change saves most\n  \
    ciphermark tls load site.toml --calibration cal.json --profile old --client ie-11-win7\n  \
    ciphermark tls load site.toml --calibration cal.json --records rec.json --primitives prim.json\n\n\
    SPEC is a small TOML file (see docs/examples/tls-site.toml); options override it. The load follows\n\
    from what the clients negotiate; cipher strings mean what they mean to OpenSSL. Classes of clients:\n\
    browser, firefox-100, safari-15, openssl-3.5, openssl-3.0, java-17, go-1.17, chrome-49, firefox-45,\n\
    safari-9, ie-11-win7, android-4.4, java-8, openssl-1.0.1, tls-1.0.\n\n\
    Each term is shown with its value, its range over rounds, its source and its share. docs/TLS-LOAD.md\n\
    has the formula, how it was validated, and what it leaves out.\n\n\
    Exit codes: 0 done; 2 wrong usage or specification; 4 nothing to calculate from.")]
pub struct LoadArgs {
    /// The specification: traffic, clients and settings of the server (TOML).
    #[arg(value_name = "SPEC")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub documents: DocumentArgs,
    #[command(flatten)]
    pub site: SiteArgs,
    /// Show what other configurations would save, best first.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub validate: ValidateArgs,
    #[command(flatten)]
    pub out: TlsOutput,
}

/// The documents that costs come from.
#[derive(Debug, Args)]
pub struct DocumentArgs {
    /// A calibration of a server on this machine (`tls calibrate -o FILE`). Without one, `tls load`
    /// measures it first, which takes some minutes.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// A run of `tls records`: separates the cipher of records from the rest.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// A run of `tls primitives`: separates key exchange and signature from the rest of a handshake.
    #[arg(long, value_name = "FILE")]
    pub primitives: Option<PathBuf>,
    /// A run of `tls handshake`: says how much memory an open connection takes.
    #[arg(long, value_name = "FILE")]
    pub handshakes: Option<PathBuf>,
}

/// The most common values of a specification.
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
    #[arg(long, value_name = "PERCENT", value_parser = parse_share, allow_hyphen_values = true)]
    pub resumed: Option<f64>,
    /// Certificates, separated by commas: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Filter::certificate)]
    pub certificate: Vec<Certificate>,
    /// A profile of Mozilla's.
    #[arg(long, value_name = "NAME", value_parser = one_of(Profile::ALL, Profile::name))]
    pub profile: Option<Profile>,
    /// Cipher string for TLS 1.2.
    #[arg(long, value_name = "STRING")]
    pub ciphers: Option<String>,
    /// Groups, separated by colons, tuples of OpenSSL 3.5 by slashes.
    #[arg(long, value_name = "LIST")]
    pub groups: Option<String>,
    /// Finite field for DHE: ffdhe2048, ffdhe4096, own-dh-2048.
    #[arg(long, value_name = "FIELD", value_parser = Filter::exchange)]
    pub dh: Option<Exchange>,
    /// Version of HTTP.
    #[arg(long, value_name = "VERSION", value_parser = one_of(Http::ALL, Http::name))]
    pub http: Option<Http>,
    /// How closely connections follow one another; with --validate, a list.
    #[arg(long, value_name = "REGIME", value_delimiter = ',', value_parser = one_of(Regime::ALL, Regime::name))]
    pub regime: Vec<Regime>,
    /// Classes of clients, in equal shares.
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
    Percentages are of one core; write a range as 2..3%. A specification adds two things: its rates\n\
    exclude explanations that need more connections, requests or bytes than there are, and each change\n\
    of its settings gets a price. docs/TLS-LOAD.md works through an example.\n\n\
    Exit codes: 0 answered, even if CPU use alone cannot decide; 2 wrong usage or specification;\n\
    4 nothing to calculate from.")]
pub struct WhyArgs {
    /// CPU use before, in percent of one core.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub from: (f64, f64),
    /// CPU use after.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub to: (f64, f64),
    /// The specification of the server (TOML).
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Whether the specification describes the server before the rise or after it.
    #[arg(long, value_name = "WHEN", default_value = "after")]
    pub spec_is: WhenArg,
    /// How many times slower the observed core is than the calibrated one: 1.9 or 1.3..2.5.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_range)]
    pub slower: (f64, f64),
    /// The most that the server's clients receive, in Mbit per second.
    #[arg(long, value_name = "N")]
    pub mbit: Option<f64>,
    #[command(flatten)]
    pub documents: DocumentArgs,
    #[command(flatten)]
    pub out: TlsOutput,
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
