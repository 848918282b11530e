//! What TLS costs a server: from what it is asked to do ([`Spec`]) and what was measured
//! ([`Calibration`]) to CPU seconds per second, by part. Pure: no I/O, no clock, no unsafe code.

mod calibration;
mod changes;
mod ciphers;
mod clients;
mod document;
mod explain;
mod form;
mod formula;
mod grid;
mod groups;
mod handshakes;
mod inputs;
mod load;
mod logs;
mod negotiate;
mod offer;
mod page;
mod primitives;
mod render;
mod render_measured;
mod render_why;
mod requests;
#[doc(hidden)]
pub mod sample;
mod spec;
mod suites;
mod traffic;
mod validation;
mod why;
mod why_rates;
mod words;

pub use calibration::{
    CALIBRATION_VERSION, Calibration, CalibrationError, ChainBytes, Counted, MemoryPoint, Point,
    RealServer, Served,
};
pub use document::{
    Alternative, Calibrated, ClientOutcome, LOAD_VERSION, Load, OpenConnections, Part, PartSum,
    RegimeSum, Source, Term,
};
pub use form::Interval;
pub use groups::{Picked, Picking};
pub use handshakes::resumed;
pub use inputs::{HandshakeParts, Inputs};
pub use load::load;
pub use logs::Evidence;
pub use negotiate::Agreement;
pub use offer::{Recommended, client_classes};
pub use render::render_load;
pub use render_measured::{render_calibration, render_validation};
pub use render_why::render_why;
pub use spec::{ClientShare, Response, Resumption, Settings, Spec, SpecError, Traffic};
pub use traffic::outcomes;
pub use validation::{
    Judgement, LARGEST_JUDGED, MEDIAN_TOLERANCE, PASSING_SHARE, Summary, TOLERANCE,
    VALIDATION_VERSION, ValidatedPart, ValidatedRow, Validation, judge, noise_of, of_rounds,
};
pub use why::{Amount, Explained, Question, Rate, Verdict, WHY_VERSION, Why, why};
pub use words::{Http, Profile, Regime, Role, Unit, Work};
