//! `ciphermark rank` as it is typed.

use super::{InPlaceArg, TimeArgs, one_of};
use crate::args_archive::{PriceArgs, WhichArgs};
use base::model::{Direction, Footprint, Model, Tier};
use base::text::units::parse_rows;
use clap::Args;
use judge::compare::{By, Class, Per};
use report::ComparisonFormat;

/// `ciphermark rank`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark rank run.json                                       the usual questions\n  \
    ciphermark rank run.json --authenticated --size 8K\n  \
    ciphermark rank run.json --direction decrypt --size 64\n  \
    ciphermark rank run.json --authenticated --per library\n  \
    ciphermark rank run.json --tier noaes                          without AES instructions\n  \
    ciphermark rank run.json --authenticated --same-trace          nothing that depends on secrets\n  \
    ciphermark rank tls.json --direction server --per library      of `tls handshake -o`\n  \
    ciphermark rank --authenticated --size 8K                      measure now, within half a minute\n  \
    ciphermark rank --from fleet.db --authenticated --size 16K --prices prices.csv\n                                                                 \
    what it costs on each machine\n\n\
    Cases that cannot be told apart at 95 % share a place, with '=' behind it: the truly fastest is\n\
    among those in place 1. What is not authenticated is labelled.")]
pub struct RankArgs {
    /// A record, of `run`, `tls …` or `pages`; without one, what the flags ask for is measured now.
    #[arg(value_name = "RECORD")]
    pub record: Option<String>,
    /// Answer from an archive: the best of each machine's newest run.
    #[arg(long, value_name = "STORE", conflicts_with = "record")]
    pub from: Option<String>,
    /// Which runs of the archive.
    #[command(flatten)]
    pub which: WhichArgs,
    #[command(flatten)]
    pub prices: PriceArgs,
    /// What is asked.
    #[command(flatten)]
    pub question: Option<QuestionArgs>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// How many rows of each answer: a number, or all. Ties for the first place are always shown.
    #[arg(long, value_name = "N|all", value_parser = parse_rows)]
    pub rows: Option<usize>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormat,
}

/// A question in flags.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// Only algorithms that notice tampering.
    #[arg(long, conflicts_with = "class")]
    pub authenticated: bool,
    /// Only algorithms of a kind.
    #[arg(long, value_name = "CLASS")]
    pub class: Option<Class>,
    /// What is least in the best.
    #[arg(long, value_name = "WHAT")]
    pub by: Option<By>,
    /// A best one for each.
    #[arg(long, value_name = "WHAT")]
    pub per: Option<Per>,
    /// Bits of the key, by the algorithm's name.
    #[arg(long, value_name = "BITS")]
    pub key_bits: Option<usize>,
    /// Only cases whose traces were the same for all secrets (`ciphermark leaks`).
    #[arg(long)]
    pub same_trace: bool,
    /// Algorithms by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries by name or name@version glob, separated by commas; may be repeated. To measure now also NAME=PATH.
    #[arg(short, long, value_name = "GLOB")]
    pub library: Vec<String>,
    /// Bytes of plaintext.
    #[arg(short, long, value_name = "BYTES")]
    pub size: Option<String>,
    /// Direction, or the part of what `tls` measures.
    #[arg(short, long, value_name = "DIRECTION", value_parser = one_of(Direction::ALL, Direction::name))]
    pub direction: Option<Direction>,
    /// What one timed operation is.
    #[arg(short, long, value_name = "MODEL", value_parser = one_of(Model::RECORDED, Model::name))]
    pub model: Option<Model>,
    /// Which CPU instructions the library may see.
    #[arg(short, long, value_name = "TIER", hide_possible_values = true)]
    pub tier: Option<Tier>,
    /// Memory that the operations walk through.
    #[arg(long, value_name = "FOOTPRINT")]
    pub footprint: Option<Footprint>,
    /// Threads measuring at once.
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Output over the input.
    #[arg(long, value_name = "WHERE")]
    pub in_place: Option<InPlaceArg>,
    /// What else tells cases apart: of handshakes hot, idle or cold; of pages as in 'random reused'.
    #[arg(long, value_name = "TEXT")]
    pub setting: Option<String>,
}
