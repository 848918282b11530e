//! What to encrypt stored data with: schemes, rules and sources as data (`advice/*.toml` in the
//! repository), costs from a record, and an answer with the reason for each scheme that lost. Pure:
//! records and dates in, text out. `docs/AT-REST.md` is the long form.

mod answer;
mod change;
mod condition;
mod context;
mod cost;
mod data;
mod evaluate;
mod evidence;
mod fresh;
mod limits;
pub mod postgres;
mod question;
mod read;
mod render;
mod rules;
mod schemes;
pub mod tls_server;
mod unit;
mod uses;

pub use answer::{
    Advice, Avoided, Basis, Candidates, Change, Choice, Conflict, Fitting, Key, Longer, Open,
    OpenWhy, Other, Outcome, Rejected, Remark, RuleUsed, Term, advise, unjudged,
};
pub use change::{Wished, contenders, needed_schemes};
pub use cost::{Costs, How, InStore, Price};
pub use data::{Data, Source};
pub use evidence::Evidence;
pub use fresh::{LibraryNow, Surroundings};
pub use question::{Fips, IntegrityLevel, KeyPer, NonceSource, Question, Wishes};
pub use read::{AdviceError, Advised, from_json, is_advice};
pub use render::{Format, first_screen, render};
pub use schemes::Scheme;
pub use unit::UnitSize;
pub use uses::Use;
