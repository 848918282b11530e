//! What records mean: rankings, comparisons, verdicts and advice. Pure: the same records give the same answer anywhere.
#![forbid(unsafe_code)]

pub mod advise;
pub mod calls;
pub mod claims;
pub mod compare;
pub mod load;
#[cfg(test)]
mod sample;
pub mod tls;
