//! What is typed after `ciphermark tls primitives`.

use crate::args_tls::TlsCommon;
use clap::Args;

/// `ciphermark tls primitives`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls primitives -l 'openssl@3.0*' -l aws-lc               everything in two libraries\n  \
    ciphermark tls primitives -p rsa-2048-pss,ecdsa-p256 -O sign        what a certificate costs a server\n  \
    ciphermark tls primitives -p x25519,p256,p384,mlkem768              what an exchange costs\n  \
    ciphermark tls primitives -p sha256,sha384 -s 64,16K --format csv   digests, for a plot\n  \
    ciphermark tls primitives -l mine=/opt/openssl/lib/libssl.so.4 -o primitives.json\n\n\
    Primitives: x25519, p256, p384, ffdhe2048, ffdhe3072, ffdhe4096, own-dh-2048 (generate, agree);\n\
    mlkem768, x25519mlkem768 (generate, encapsulate, decapsulate); rsa-2048-pss, rsa-2048-pkcs1 and the\n\
    same of 3072 and 4096 bits, ecdsa-p256, ecdsa-p384, ed25519 (sign, verify); sha256, sha384,\n\
    hmac-sha256, hmac-sha384 (digest).\n\n\
    Two figures stand in each row, taken in turn: whole, as a handshake has it (context, the other side's\n\
    key from its bytes, the operation), and the library's call alone, as openssl speed has it. After each\n\
    timed batch its results are held against another implementation, and a changed bit must be noticed; a\n\
    handshake is more than their sum. docs/TLS.md says what lies inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct PrimitivesArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    /// What it is done with.
    #[arg(short, long = "primitive", value_name = "LIST", value_delimiter = ',')]
    pub primitives: Vec<String>,
    /// What is done: generate, agree, sign, verify, encapsulate, decapsulate, digest.
    #[arg(short = 'O', long = "operation", value_name = "LIST", value_delimiter = ',')]
    pub operations: Vec<String>,
    /// Bytes that are digested, 1 to 16K.
    #[arg(short, long, value_name = "LIST", default_value = "64,256,1400,16K")]
    pub size: String,
}
