//! `ciphermark pair`.

use super::{one_of, one_size};
use base::model::{Direction, Model, Tier};
use base::text::units::{parse_duration, parse_fraction};
use clap::{Args, ValueEnum};
use std::time::Duration;

/// `ciphermark pair`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark pair openssl@3.0.22 openssl@4.0.1 -a aes-256-gcm -s 16K\n  \
    ciphermark pair old=base/libcrypto.so new=patched/libcrypto.so -a aes-128-ctr\n  \
    ciphermark pair old=base/libcrypto.so new=patched/libcrypto.so -a aes-128-ctr --margin 3% \\\n    \
    --budget 2m --fail-if slower --fail-if undecided\n\n\
    Verifies both libraries, then samples pairs of worker processes, one of each library, in turn. It\n\
    looks for a verdict after 12, 16, 24, 36, 56, 84, 128 and 192 pairs and when the budget is spent.\n\
    If both are the same, 'slower' or 'faster' comes out at most once in a thousand comparisons. It\n\
    usually finds a planted difference of 1 % within a second.\n\n\
    Exit codes: 0 compared; 1 a condition of --fail-if holds (never with several --trials); 2 wrong\n\
    usage; 3 a check refused one of the two; 4 one of the two does not offer the case, or was lost.")]
pub struct PairArgs {
    /// The library to compare with: a name or name@version that matches one, or NAME=PATH.
    #[arg(value_name = "BASE")]
    pub base: String,
    /// The library to judge.
    #[arg(value_name = "NEW")]
    pub new: String,
    /// The algorithm.
    #[arg(short, long)]
    pub algorithm: String,
    /// Bytes of plaintext in one operation.
    #[arg(short, long, value_name = "BYTES", default_value = "8192", value_parser = one_size)]
    pub size: usize,
    /// Encrypt or decrypt.
    #[arg(short, long, value_name = "DIRECTION", default_value = "encrypt", value_parser = one_of(&[Direction::Encrypt, Direction::Decrypt], Direction::name))]
    pub direction: Direction,
    /// What one timed operation is.
    #[arg(short, long, value_name = "MODEL", default_value = "message")]
    pub model: Model,
    /// Which CPU instructions the libraries may use.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Call the two the same if they differ by at most this.
    #[arg(long, value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT", default_value = "0.2%")]
    pub margin: f64,
    /// How often to compare, each time with new processes.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// Spend at most this long on one comparison.
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME", default_value = "20s")]
    pub budget: Duration,
    /// Verdicts that make the exit code 1; may be repeated.
    #[arg(long, value_name = "VERDICT", default_values = ["slower"])]
    pub fail_if: Vec<PairFailArg>,
    /// Seed for keys, messages and the order of processes [default: random].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--fail-if` of `pair`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PairFailArg {
    /// The second library is slower.
    Slower,
    /// The second library is faster.
    Faster,
    /// No verdict within the budget.
    Undecided,
    /// Nothing: the exit code is 0 whatever the verdict.
    Never,
}
