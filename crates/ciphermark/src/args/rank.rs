//! `ciphermark rank` as it is typed.

use super::compare::ComparisonFormatArg;
use super::{DirectionArg, InPlaceArg};
use crate::units::parse_rows;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use model::{Footprint, Model, Tier};
use std::ffi::OsStr;

/// `ciphermark rank`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark rank run.json                                       the usual questions\n  \
    ciphermark rank run.json \"fastest authenticated at 8 KiB\"\n  \
    ciphermark rank run.json \"fastest on decrypt at 64 B\" \"best per library\"\n  \
    ciphermark rank run.json fastest without AES instructions     words need no quotes\n  \
    ciphermark rank run.json --authenticated --size 8K --per library\n  \
    ciphermark rank \"fastest authenticated at 8 KiB\"               measure now, about a minute\n  \
    ciphermark rank --list                                         every word that can be asked\n\n\
    Cases that cannot be told apart at 95 % share a place, with '=' behind it: the truly fastest is\n\
    among those in place 1. What is not authenticated is labelled.")]
pub struct RankArgs {
    /// A record that `run -o` wrote (without one, the question is measured now), then questions: one
    /// each in quotes, or the words of one.
    #[arg(value_name = "RECORD|QUESTION", value_parser = Words, hide_possible_values = true)]
    pub words: Vec<String>,
    /// Print the words that questions are made of.
    #[arg(long)]
    pub list: bool,
    /// Only algorithms that notice tampering.
    #[arg(long, conflicts_with = "class")]
    pub authenticated: bool,
    /// Only algorithms of a kind.
    #[arg(long, value_name = "CLASS")]
    pub class: Option<ClassArg>,
    /// What is least in the best.
    #[arg(long, value_name = "WHAT")]
    pub by: Option<ByArg>,
    /// A best one for each.
    #[arg(long, value_name = "WHAT")]
    pub per: Option<PerArg>,
    /// Bits of the key, by the algorithm's name.
    #[arg(long, value_name = "BITS")]
    pub key_bits: Option<usize>,
    /// Algorithms by name or glob; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries by name or name@version glob; may be repeated. To measure now also NAME=PATH.
    #[arg(short, long, value_name = "GLOB")]
    pub library: Vec<String>,
    /// Bytes of plaintext.
    #[arg(short, long, value_name = "BYTES")]
    pub size: Option<String>,
    /// Encrypt or decrypt.
    #[arg(short, long, value_name = "DIRECTION")]
    pub direction: Option<DirectionArg>,
    /// What one timed operation is.
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<Model>,
    /// Which CPU instructions the library may see.
    #[arg(short, long, value_name = "TIER")]
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
    /// How many rows of each answer: a number, or all. Ties for the first place are always shown.
    #[arg(long, value_name = "N|all", value_parser = parse_rows)]
    pub rows: Option<usize>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormatArg,
}

/// `--class`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ClassArg {
    /// Tampering is noticed.
    Authenticated,
    /// Encryption that does not notice tampering.
    Unauthenticated,
    /// A cipher joined with a checksum or a MAC.
    Composite,
    /// Digests and checksums.
    Digest,
    /// Message authentication codes.
    Mac,
}

/// `--by`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ByArg {
    Time,
    Instructions,
}

/// `--per`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PerArg {
    Library,
    Algorithm,
    Family,
    Size,
    Tier,
}

/// Any text: the words of questions are known for completion only, because a file may stand there
/// as well.
#[derive(Clone, Debug)]
struct Words;

impl TypedValueParser for Words {
    type Value = String;

    fn parse_ref(
        &self,
        cmd: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(compare::words().into_iter().map(PossibleValue::new)))
    }
}
