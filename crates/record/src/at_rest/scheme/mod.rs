//! Page schemes: how a page is encrypted, bound to its place and checked, and what tampering each is
//! expected to notice. Pure data and arithmetic: no cipher is called here.
mod catalogue;
mod expected;
mod position;
mod profile;
mod recipe;

pub use catalogue::{good_practice, unknown_scheme, with_lsn_nonces};
pub use expected::{Effect, Expected, Probe, expected};
pub use position::{Field, POSITION_BYTES, Position, write_fields};
pub use profile::{Profile, SOURCES_READ, profile, profiles};
pub use recipe::{
    KeyScope, MacPart, NonceRule, OnReuse, Protection, Recipe, SchemeClass, Sum, check_lengths,
};
