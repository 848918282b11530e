//! Flags of `ciphermark advise --for tls-server`.

use crate::args::{one_of, one_size};
use clap::Args;
use record::tls::{Certificate, Filter, Temperature};
use std::path::PathBuf;

/// For TLS servers only.
#[derive(Debug, Args)]
#[command(next_help_heading = "For tls-server")]
pub struct TlsServerArgs {
    /// Clients that must be able to connect, optionally with their share of the connections:
    /// browser,java-8=5%.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub clients: Vec<String>,
    /// Available kinds of certificates: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519 [default: all
    /// but ed25519, which browsers reject].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Filter::certificate)]
    pub certificates: Vec<Certificate>,
    /// Share of connections that resume.
    #[arg(long, value_name = "PERCENT", value_parser = base::text::units::parse_share, allow_hyphen_values = true)]
    pub resumed: Option<f64>,
    /// Whether to prefer X25519MLKEM768 where the client supports it [default: yes].
    #[arg(long, value_name = "YES|NO")]
    pub post_quantum: Option<crate::args_advise::YesNo>,
    /// Bytes of responses over a connection; needs --bulk or --calibration for their price.
    #[arg(long, value_name = "BYTES", value_parser = one_size)]
    pub bytes: Option<usize>,
    /// Which handshakes to count [default: hot].
    #[arg(long, value_name = "WHICH", value_parser = one_of(Temperature::ALL, Temperature::name))]
    pub temperature: Option<Temperature>,
    /// A run of `tls records`, for the price of bytes.
    #[arg(long, value_name = "FILE")]
    pub bulk: Option<PathBuf>,
    /// A calibration (`tls calibrate -o FILE`): price connections by its formula, including web server
    /// and kernel.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

impl TlsServerArgs {
    /// The first of these flags that was given.
    pub fn typed(&self) -> Option<&'static str> {
        let typed = [
            ("--clients", !self.clients.is_empty()),
            ("--certificates", !self.certificates.is_empty()),
            ("--resumed", self.resumed.is_some()),
            ("--post-quantum", self.post_quantum.is_some()),
            ("--bytes", self.bytes.is_some()),
            ("--temperature", self.temperature.is_some()),
            ("--bulk", self.bulk.is_some()),
            ("--calibration", self.calibration.is_some()),
        ];
        typed.into_iter().find(|(_, typed)| *typed).map(|(flag, _)| flag)
    }
}
