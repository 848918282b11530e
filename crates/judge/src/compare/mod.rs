//! Measurements held against each other: two records, two libraries or tiers of one (`compare`), and
//! the best answer to a question (`rank`). Pure: no I/O, no clock; the statistics are those of the
//! crate `analysis`, the rendering that of `report`.

mod answer;
mod apart;
mod best;
mod case;
mod comparison;
mod conditions;
mod confirm;
mod costs;
mod family;
mod instructions;
mod leaks;
mod matching;
mod question;
mod ranking;
mod same_trace;
#[cfg(test)]
mod sample;
mod states;
mod summary;
pub mod trust;
mod warnings;

pub use answer::{Answer, Asked, Family, Newer, REFERENCE_SIZE, Row, Standing as SystemStanding};
pub use apart::{Apart, Between, Other, Part};
pub use best::Best;
pub use case::Case;
pub use comparison::{Case as Compared, Comparison, Facts, Settings, Side, compare};
pub use conditions::{Condition, Found, Sought};
pub use confirm::{ByPairs, Confirmation, Told};
pub use costs::Unit;
pub use family::family;
pub use instructions::{Counts, InstructionRow, NOT_COUNTED, SizeCounts, Uncounted};
pub use leaks::LeakRow;
pub use matching::Matching;
pub use question::{By, Class, Per, Question};
pub use ranking::{Absent, Ranked, Ranking, Standing, Terms, rank};
pub use same_trace::Secret;
pub use states::{Change, Only, OnlyIn, StateRow};
pub use summary::{Summary, Tally};
