//! Words, statistics and text: what every other crate speaks. All of it is pure.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

#[cfg(feature = "records")]
pub mod analysis;
pub mod model;
#[cfg(feature = "records")]
pub mod text;
