//! From plan to record: the scheduler, the protocol, the worker processes.
//!
//! `plan → scheduler ⇄ protocol ⇄ worker → adapter → library`, and back
//! `samples → analysis → record`. One process per library; every wait has a deadline.
#![forbid(unsafe_code)]

mod assemble;
mod attached;
mod case_progress;
mod checkpoints;
mod costs;
mod deadlines;
pub mod decode;
mod discover;
pub mod doctor;
mod earlier;
mod events;
mod evidence;
mod handshakes;
mod in_workers;
mod kept;
mod kinds;
mod last_words;
mod leaks;
mod limits;
mod link;
mod memory;
mod meter;
mod noise;
pub mod pages;
mod pair;
mod placement;
mod plan;
mod process;
pub mod protocol;
mod quiet;
mod recording;
mod run_queue;
mod runtimes;
mod sampling;
mod schedule;
mod screen;
mod setting;
mod settling;
mod side_by_side;
mod stolen;
mod stop;
mod survey;
mod suspend;
mod ticking;
mod tiers;
mod vectors;
mod verification;
mod waiting;
pub mod worker;
mod worker_pool;

pub use attached::{AtTier, Attached, StackFile};
pub use discover::{LibraryChoice, SelectError, discover, discover_all, select};
pub use events::{Event, Progress};
pub use evidence::{Evidence, Exact, Operation, Wanted, gather};
pub use handshakes::{
    SampledRow, SelectedStacks, TlsOutcome, TlsRequest, measure_tls, select_stacks,
};
pub use leaks::{AllJudged, LeakSubject, Secrets, judge_leaks, private_schemes, record_of_leaks};
pub use limits::limits_here;
pub use link::WorkerError;
pub use meter::{Explained, METER, explain};
pub use pair::{PairBench, PairError, PairOutcome};
pub use placement::{machine, measuring_cpu, usable_cpus};
pub use plan::{Budget, Request, Screened, cases};
pub use process::{SUBCOMMAND, Worker};
pub use sampling::Ended;
pub use screen::{Look, screen};
pub use setting::Machine;
pub use stop::Stop;
pub use survey::{Keeping, Outcome, SurveyError, survey};
pub use tiers::{TierHere, at_tiers, tier_here};
pub use vectors::{Outcomes, hold_to_vectors};
pub use verification::{Extra, Subject, Verdict, verify_all};
