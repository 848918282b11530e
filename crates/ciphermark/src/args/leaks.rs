//! `ciphermark leaks`.

use super::{Sizes, TierGlobs};
use base::text::units::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark leaks`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark leaks -a aes-256-gcm\n  \
    ciphermark leaks -l mine=./libmine.so                        a library of your own, all its algorithms\n  \
    ciphermark leaks -l wolfssl -a 'aes-*-gcm' -t native -t noaes\n  \
    ciphermark leaks -l openssl --thorough -o leaks.json\n  \
    ciphermark leaks -l openssl -a x25519,ecdsa-p256,'rsa-2048-*'  private keys under TLS\n  \
    ciphermark leaks -l nettle -a aes-128-gcm --trace _nettle_aes_set_key\n\n\
    Single-steps key set-up, encryption, decryption and rejection under several keys and compares the\n\
    traces: branches, addresses, operands of divisions, and how far a comparison of tags runs. Then\n\
    follows the key through one trace (taint). The same trace is no proof: caches, speculation and\n\
    instructions whose time depends on values are not seen.\n\n\
    Private keys, where they are named: x25519, p256 (agree); ecdsa-p256, ed25519, rsa-2048-pss,\n\
    rsa-2048-pkcs1 (sign); mlkem768 (decapsulate). Taint cannot follow p256, ecdsa-p256 and RSA: without a\n\
    finding their verdict is not-judged and says over how many keys the trace was the same.\n\n\
    Exit codes: 0 no trace differs with a key (what may depend on one, by taint alone, is printed);\n\
    1 something depends on a key; 3 something could not be judged; 4 nothing to judge.")]
pub struct LeaksArgs {
    /// Algorithms and primitives of TLS by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas; may be
    /// repeated.
    #[arg(short, long, value_name = "TIER", value_parser = TierGlobs, hide_possible_values = true, default_value = "native")]
    pub tier: Vec<String>,
    /// Message sizes in bytes, as for `run` [default: a part of a block, a block, and one that meets
    /// the widest loops].
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<Sizes>,
    /// Keys whose traces are compared.
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(2..=256))]
    pub secrets: u32,
    /// 64 keys.
    #[arg(long, conflicts_with = "secrets")]
    pub thorough: bool,
    /// Judge for at most this long; what there was no time for is counted.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Print the instructions of two traces around this function's first difference.
    #[arg(long, value_name = "FUNCTION")]
    pub trace: Option<String>,
    /// Write a record.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}
