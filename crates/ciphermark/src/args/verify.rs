//! `ciphermark verify`, `once` and `list`.

use super::{Sizes, TierGlobs};
use base::model::Tier;
use base::text::units::{Hex, parse_hex};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `ciphermark verify`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark verify\n  \
    ciphermark verify -a 'aes-*-gcm' -l mine=./libcrypto.so\n  \
    ciphermark verify -t noaes -t aesni -l openssl\n  \
    ciphermark verify -l mine=./libcrypto.so -s 777,3000,12345     check these sizes as well\n  \
    ciphermark verify -l mine=./libcrypto.so --seed 4711           repeat an earlier random choice\n  \
    ciphermark verify --vectors aes_gcm_test.json\n\n\
    Checks every size from 0 to 257 bytes, sizes around powers of two up to 64 KiB, those of --size,\n\
    and for each algorithm six random ones up to 1 MiB. The output ends with what was tried. Exit\n\
    code 1 if a check found something.")]
pub struct VerifyArgs {
    /// Algorithms by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas; may be
    /// repeated.
    #[arg(
        short,
        long,
        value_name = "TIER",
        value_parser = TierGlobs,
        hide_possible_values = true,
        default_value = "native",
        conflicts_with = "vectors"
    )]
    pub tier: Vec<String>,
    /// Message sizes to check besides the fixed and random ones, as for `run`: 777,3000 or 16..64K.
    #[arg(short, long, value_name = "LIST", conflicts_with = "vectors")]
    pub size: Option<Sizes>,
    /// Seed for the random sizes, messages and order of calls [default: random, and printed].
    #[arg(long, value_name = "N", conflicts_with = "vectors")]
    pub seed: Option<u64>,
    /// Run the test vectors of this file instead (Project Wycheproof's JSON format).
    #[arg(long, value_name = "FILE", conflicts_with = "algorithm")]
    pub vectors: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark once`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  printf hello | ciphermark once -a aes-128-gcm -l openssl \\\n    \
    --key 000102030405060708090a0b0c0d0e0f --nonce 000000000000000000000000 | xxd\n\n\
    `ciphermark list algorithms --json` shows the lengths of key and nonce."
)]
pub struct OnceArgs {
    /// The algorithm.
    #[arg(short, long)]
    pub algorithm: String,
    /// The library, as for `run`; exactly one must match.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: String,
    /// Which CPU instructions the library may use.
    #[arg(short, long, default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// The key (XTS: data key, then tweak key).
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub key: Hex,
    /// The nonce, IV, initial counter block or tweak.
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub nonce: Hex,
    /// The associated data.
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub aad: Hex,
    /// Decrypt; the input ends with the tag.
    #[arg(long)]
    pub decrypt: bool,
}

/// `ciphermark list`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ciphermark list libraries\n  ciphermark list algorithms --json\n  ciphermark list limits -a 'aes-256-*'"
)]
pub struct ListArgs {
    /// What to list.
    pub what: What,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Show limits of these algorithms only, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Only these libraries, as for `run`; NAME=PATH adds a file.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
}

/// What to list.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum What {
    /// Algorithms, and which library offers each.
    Algorithms,
    /// Libraries found, with version, path and id.
    Libraries,
    /// CPU instruction tiers.
    Tiers,
    /// What one timed operation can be.
    Models,
    /// Suites.
    Suites,
    /// What this core can do at best: instructions, bandwidths, and a lower bound for each algorithm.
    Limits,
}
