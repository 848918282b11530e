//! `ciphermark compare`.

use super::Filter;
use crate::units::{parse_duration, parse_fraction, parse_rows};
use clap::Args;
use compare::Condition;
use report::ComparisonFormat;
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark compare`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark compare before.json after.json\n  \
    ciphermark compare run.json --libraries 'openssl@3.0*,openssl@4*'\n  \
    ciphermark compare run.json --libraries 'openssl@4*'            one library against each other one\n  \
    ciphermark compare run.json --tiers noaes,native -a 'aes-*'\n  \
    ciphermark compare base.json head.json --fail-if slower:2% --fail-if instructions:0.5%\n  \
    ciphermark compare base.json head.json --confirm --budget 2m    settle candidates with pairs of processes\n  \
    ciphermark compare base.json head.json --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n\n\
    Conditions of --fail-if:\n  \
    slower[:PERCENT]        a case is certainly slower, and its estimate is more than this\n  \
    mean[:PERCENT]          the geometric mean over all shared cases is certainly slower, by more than this\n  \
    instructions[:PERCENT]  instructions at a measured size, per byte or per message grew by more\n                          \
    than this; also instructions-per-operation, -per-byte, -per-message\n  \
    leaks                   a place depends on the secret now, and did not in BASE\n  \
    refused                 a case that BASE measured is refused or failed in NEW\n  \
    missing                 a case that BASE measured is absent from NEW\n  \
    undecided               there is no verdict on a case\n  \
    never                   nothing\n\n\
    --confirm compares a case again, as `ciphermark pair` does, if it is faster or slower, or undecided\n\
    with an estimate beyond --same-within. Both builds must still be on this machine. Cases that would\n\
    make the exit code 1 come first, until --budget is spent. The new verdict replaces the old one and\n\
    decides the exit code.\n\n\
    Exit codes: 0 nothing found; 1 a condition holds; 2 wrong usage, or nothing to compare.")]
pub struct CompareArgs {
    /// The record to compare with.
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// The record to judge; without it, compare two libraries or tiers of BASE.
    #[arg(value_name = "NEW", required_unless_present_any = ["libraries", "tiers"])]
    pub new: Option<PathBuf>,
    /// The base's library and the new one, as globs over name or name@version; with one alone,
    /// compare it with each of the others.
    #[arg(long, value_name = "BASE[,NEW]")]
    pub libraries: Option<String>,
    /// The base's tier and the new one.
    #[arg(long, value_name = "BASE,NEW")]
    pub tiers: Option<String>,
    /// Which cases.
    #[command(flatten)]
    pub filter: Filter,
    /// Call two cases the same if they differ by at most this.
    #[arg(long, visible_alias = "threshold", value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT", default_value = "0.5%")]
    pub same_within: f64,
    /// Conditions that make the exit code 1; may be repeated.
    #[arg(long, value_name = "CONDITION", default_values = ["slower", "refused"])]
    pub fail_if: Vec<Condition>,
    /// Settle candidates with pairs of processes; both builds must be on this machine.
    #[arg(long, conflicts_with = "tiers")]
    pub confirm: bool,
    /// Spend at most this long on --confirm.
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME", default_value = "60s", requires = "confirm")]
    pub budget: Duration,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
    /// How many cases of each verdict to list in text and Markdown: a number, or all.
    #[arg(long, value_name = "N|all", default_value = "20", value_parser = parse_rows)]
    pub rows: usize,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormat,
}
