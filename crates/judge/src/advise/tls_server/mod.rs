//! What a TLS server should be set to, for the clients that it must serve: profile, certificate and stack,
//! priced by measured handshakes, with the rule that rejects each other choice. Pure: no I/O, no clock.
mod advise;
mod answer;
mod candidate;
mod nginx;
mod price;
mod question;
mod render;
mod rules;
#[cfg(test)]
mod sample;

pub use advise::{advise, cases};
pub use answer::{
    Advice, Basis, Change, Choice, ClientCost, Cost, FORMAT_VERSION, Fitting, Rejected,
};
pub use candidate::Candidate;
pub use price::Evidence;
pub use question::{BadQuestion, Question};
pub use render::{Format, render};
pub use rules::{RULES, Rule};
