//! How long a command may take.

use base::text::units::parse_duration;
use clap::Args;
use engine::Stop;
use std::time::Duration;

/// Time for a whole command where none was typed.
const BUDGET: Duration = Duration::from_secs(30);

/// The part of it after which nothing new is begun: what is there is summed up, written and shown in the rest.
const WORKING: f64 = 0.95;

/// How long a command that measures may take as a whole.
#[derive(Clone, Copy, Debug, Args)]
pub struct TimeArgs {
    /// Time for the whole command: what most people ask for comes first, and what does not fit is left out,
    /// which is said [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Leave nothing out, however long it takes.
    #[arg(long, conflicts_with = "budget")]
    pub thorough: bool,
}

impl TimeArgs {
    /// Ends when the time is over that the whole may take, from now on.
    pub fn limit(&self, stop: &Stop) -> Stop {
        match self.thorough {
            true => stop.clone(),
            false => stop.within(self.whole().mul_f64(WORKING)),
        }
    }

    /// Most time of sampling, where a thorough command takes so long at least.
    pub fn sampling(&self, thorough: Duration) -> Duration {
        if self.thorough { thorough } else { self.whole() }
    }

    /// With what was typed now in the place of what was typed before.
    pub fn or(self, before: Self) -> Self {
        if self.thorough || self.budget.is_some() { self } else { before }
    }

    fn whole(&self) -> Duration {
        self.budget.unwrap_or(BUDGET)
    }
}
