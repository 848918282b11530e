//! `ciphermark compare`.

use super::Filter;
use crate::args_archive::{WhichArgs, selection};
use base::text::units::{parse_duration, parse_fraction, parse_rows};
use clap::Args;
use judge::compare::Condition;
use record::archive::Selection;
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
    ciphermark compare run.json --algorithms 'aes-128-*,aes-256-*'  what AES-256 costs over AES-128\n  \
    ciphermark compare run.json --algorithms aes-256-gcm,aes-256-gcm-siv -s 8K\n  \
    ciphermark compare run.json --sizes 4K,16K -l 'openssl@3*'      what a byte costs in larger chunks\n  \
    ciphermark compare base.json head.json --fail-if slower:2% --fail-if instructions:0.5%\n  \
    ciphermark compare base.json head.json --confirm --budget 2m    settle candidates with pairs of processes\n  \
    ciphermark compare base.json head.json --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n  \
    ciphermark compare --from fleet.db --since 2026-11-01 --fail-if slower:2%\n  \
    ciphermark compare --from fleet.db --base library=openssl@3.5* --new library=openssl@4*\n\n\
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
    #[arg(value_name = "BASE", required_unless_present = "from", conflicts_with = "from")]
    pub base: Option<PathBuf>,
    /// The record to judge; without it, compare two libraries, tiers, algorithms, sizes or directions
    /// of BASE.
    #[arg(value_name = "NEW", required_unless_present_any = ["libraries", "tiers", "algorithms", "sizes", "directions", "from"], conflicts_with = "from")]
    pub new: Option<PathBuf>,
    /// Compare runs of an archive, machine by machine.
    #[arg(long, value_name = "STORE", conflicts_with_all = ["libraries", "tiers", "confirm"])]
    pub from: Option<String>,
    /// With --from: the newest run against the last one before this day, or else the first since then.
    #[arg(long, value_name = "DAY", value_parser = record::archive::day, requires = "from", conflicts_with_all = ["of_base", "of_new"], required_unless_present_any = ["of_base", "of_new", "base"])]
    pub since: Option<i64>,
    /// With --from: the base is each machine's newest run of these (machine=, library=, since=, until=, record=).
    #[arg(long = "base", value_name = "SELECT", value_parser = selection, requires = "from")]
    pub of_base: Option<Selection>,
    /// With --from: what is judged is each machine's newest run of these.
    #[arg(long = "new", value_name = "SELECT", value_parser = selection, requires = "from")]
    pub of_new: Option<Selection>,
    /// Which runs of the archive.
    #[command(flatten)]
    pub which: WhichArgs,
    /// The base's library and the new one, as globs over name or name@version; with one alone,
    /// compare it with each of the others.
    #[arg(long, value_name = "BASE[,NEW]")]
    pub libraries: Option<String>,
    /// The base's tier and the new one.
    #[arg(long, value_name = "BASE,NEW")]
    pub tiers: Option<String>,
    /// The base's algorithm and the new one, of one record: two names, or two with a star each, which
    /// stands for the same in both.
    #[arg(long, value_name = "BASE,NEW", conflicts_with_all = ["new", "from", "confirm", "libraries", "tiers", "sizes", "directions"])]
    pub algorithms: Option<String>,
    /// The base's size and the new one, of one record, compared by what a byte costs.
    #[arg(long, value_name = "BASE,NEW", conflicts_with_all = ["new", "from", "confirm", "libraries", "tiers", "directions"])]
    pub sizes: Option<String>,
    /// The base's direction and the new one, of one record.
    #[arg(long, value_name = "BASE,NEW", conflicts_with_all = ["new", "from", "confirm", "libraries", "tiers"])]
    pub directions: Option<String>,
    /// Which cases.
    #[command(flatten)]
    pub filter: Filter,
    /// Call two cases the same if they differ by at most this.
    #[arg(long, visible_alias = "threshold", value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT", default_value = "0.5%")]
    pub same_within: f64,
    /// Conditions that make the exit code 1; may be repeated [default: slower, refused; of
    /// algorithms, sizes and directions: never].
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
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

impl CompareArgs {
    /// Conditions that make the exit code 1. What another algorithm costs is a question, and no regression.
    pub fn conditions(&self) -> Vec<Condition> {
        let asks = self.algorithms.is_some() || self.sizes.is_some() || self.directions.is_some();
        if !self.fail_if.is_empty() || asks {
            return self.fail_if.clone();
        }
        ["slower", "refused"].map(|c| c.parse().expect("one of the conditions")).to_vec()
    }
}
