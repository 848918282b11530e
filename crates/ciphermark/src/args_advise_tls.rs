//! What `ciphermark advise --for tls-server` is asked beside.

use crate::args_tls::TemperatureArg;
use clap::Args;
use std::path::PathBuf;

/// Of TLS servers only.
#[derive(Debug, Args)]
#[command(next_help_heading = "For tls-server")]
pub struct TlsServerArgs {
    /// Clients that must be able to connect, some with a share of the connections: browser,java-8=5%.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub clients: Vec<String>,
    /// Kinds of certificates that can be had: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519; all but
    /// ed25519, which browsers do not take.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub certificates: Vec<String>,
    /// Share of connections that resume.
    #[arg(long, value_name = "PERCENT", value_parser = crate::units::parse_share)]
    pub resumed: Option<f64>,
    /// Whether X25519MLKEM768 comes first for those who have it; it does.
    #[arg(long, value_name = "YES|NO")]
    pub post_quantum: Option<crate::args_advise::YesNo>,
    /// Bytes of responses over a connection, priced with --bulk or --calibration.
    #[arg(long, value_name = "BYTES")]
    pub bytes: Option<String>,
    /// Handshakes of which temperature are counted; hot.
    #[arg(long, value_name = "WHICH")]
    pub temperature: Option<TemperatureArg>,
    /// A run of `tls records` that prices bytes.
    #[arg(long, value_name = "FILE")]
    pub bulk: Option<PathBuf>,
    /// A calibration of `tls load`: connections are priced by its formula, web server and kernel with them.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

impl TlsServerArgs {
    /// The first of these flags that was typed.
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
