//! Everything that a run needs, fresh or gone on with.

use engine::{Attached, Keeping, Request};
use std::path::PathBuf;

/// Everything that a run needs.
pub struct Job {
    /// What to measure.
    pub request: Request,
    /// In which libraries.
    pub libraries: Vec<Attached>,
    /// Where the record goes.
    pub output: Option<PathBuf>,
    /// How it is kept, and what an earlier part of the run left.
    pub keeping: Keeping,
}
