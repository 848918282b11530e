//! Words, statistics and text: what every other crate speaks. All of it is pure.
#![forbid(unsafe_code)]

#[cfg(feature = "records")]
pub mod analysis;
pub mod model;
#[cfg(feature = "records")]
pub mod text;
