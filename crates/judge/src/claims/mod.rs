//! The published claims: what they say, the figures that they were published with, the condition on
//! measurements that decides each, and the verdict of records on them. Pure: records in, text out.
//!
//! The claims are data: `claims/*.toml` and `claims/tables/*.csv` in the repository.
//! `docs/CLAIMS.md` describes them and the language of conditions.

mod claim;
mod evidence;
pub mod expression;
mod fact;
mod handshakes;
mod merge;
mod needs;
mod printed;
mod render;
#[cfg(test)]
mod sample;
mod verdict;

pub use claim::{BadClaims, Claim, Figure, Part, Source, built_in, parse_source};
pub use evidence::Evidence;
pub use fact::{Asked, Cases, Fact, evaluate, parse};
pub use handshakes::Handshakes;
pub use merge::merged;
pub use needs::{HandshakeNeed, Need, handshakes_of_claims, needs_of_claims, needs_of_table};
pub use printed::{Column, Group, Line, PrintedTable, printed_table, published};
pub use render::{Format, claims as render_claims, table as render_table};
pub use verdict::{Answer, CaseOutcome, Judged, Outcome, Verdict, judge};
