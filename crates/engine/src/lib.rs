//! From plan to record: the scheduler, the protocol, the worker processes.
//!
//! `plan → scheduler ⇄ protocol ⇄ worker → adapter → library`, and back
//! `samples → analysis → record`. One process per library; every wait has a deadline.
#![forbid(unsafe_code)]

mod cpus;
pub mod decode;
pub mod doctor;
mod evidence;
mod handshakes;
mod kinds;
mod leaks;
mod libraries;
mod limits;
pub mod pages;
mod pair;
mod plan;
mod pool;
mod process;
mod progress;
pub mod protocol;
mod race;
mod recording;
mod schedule;
mod survey;
mod time;
mod verification;
pub mod watching;
pub mod worker;

pub use cpus::{machine, measuring_cpu, usable_cpus};
pub use evidence::{Evidence, Exact, Operation, Wanted, gather};
pub use handshakes::{SelectedStacks, TlsOutcome, TlsRequest, measure_tls, select_stacks};
pub use leaks::{
    AllJudged, LeakSubject, Secrets, judge_leaks, known_leaks, private_schemes, record_of_leaks,
};
pub use libraries::{
    AtTier, Attached, LibraryChoice, SelectError, StackFile, TierHere, at_tiers, discover,
    discover_all, learn_algorithms, select, tier_here,
};
pub use limits::limits_here;
pub use pair::{PairBench, PairError, PairOutcome};
pub use plan::{Budget, Counting, Machine, Request, Screened, cases, lacks_memory};
pub use process::{SUBCOMMAND, Worker, WorkerError};
pub use progress::{Event, Progress, of_elsewhere, strange_program};
pub use race::TlsRace;
pub use survey::{Ended, Keeping, Look, Looks, Outcome, SurveyError, screen, survey};
pub use time::Stop;
pub use verification::{
    Explained, Extra, METER, Outcomes, Subject, Verdict, explain, hold_to_vectors, verify_all,
};
