//! What is done to a page within the clock.

mod codec;
mod mac;

pub use codec::{Codec, Draw, Refusal};
