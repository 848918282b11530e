//! The progress bar, on standard error, only on a terminal.

use engine::Progress;
use engine::pages::PagesEvent;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Steps of the bar: finer than any terminal is wide.
const STEPS: u64 = 1000;

/// A bar that is silent where nobody looks.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

impl Bar {
    /// Shows itself when standard error is a terminal and quiet is not asked for.
    pub fn new(quiet: bool) -> Self {
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{prefix:<10} [{bar:32}] {percent:>3} %  {msg}")
            .expect("the template is a constant")
            .progress_chars("=> ");
        bar.set_style(style);
        Self { bar, quiet }
    }

    /// Pairs of library and algorithm that are verified.
    pub fn verifying(&self, done: usize, of: usize) {
        self.bar.set_prefix("verifying");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} algorithms in libraries"));
    }

    /// Operations that are stepped.
    pub fn stepping(&self, done: usize, of: usize) {
        self.bar.set_prefix("stepping");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} algorithms in libraries"));
    }

    /// Candidates of a comparison that pairs of processes settle.
    pub fn confirming(&self, done: usize, of: usize, algorithm: &str, size: usize) {
        self.bar.set_prefix("confirming");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} cases, now {algorithm} of {size} bytes"));
    }

    /// Algorithms whose messages are counted.
    pub fn counting(&self, done: usize, of: usize) {
        self.bar.set_prefix("counting");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} algorithms in libraries"));
    }

    /// Visits of servers.
    pub fn visits(&self, done: usize, of: usize) {
        self.bar.set_prefix("loading");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} visits of servers"));
    }

    /// Vectors that libraries are held to.
    pub fn vectors(&self, done: usize, of: usize) {
        self.bar.set_prefix("vectors");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} vectors in libraries"));
    }

    /// How far sampling is.
    pub fn sampling(&self, progress: &Progress) {
        let Progress { ended, cases, fraction, left } = progress;
        self.bar.set_prefix("measuring");
        self.bar.set_position((STEPS as f64 * fraction) as u64);
        self.bar.set_message(format!("{ended} of {cases} cases done, {} left", seconds(*left)));
    }

    /// How far a run over a page store is.
    pub fn pages(&self, event: PagesEvent) {
        let (prefix, done, of, what) = match event {
            PagesEvent::Reading { done, of } => ("reading", done, of, "pages"),
            PagesEvent::Checking { done, of } => ("checking", done, of, "ciphers in libraries"),
            PagesEvent::Verifying { done, of } => ("verifying", done, of, "pages, all schemes"),
            PagesEvent::Probing { done, of } => ("probing", done, of, "schemes"),
            PagesEvent::Timing { round, elapsed, budget } => {
                let fraction = (elapsed.as_secs_f64() / budget.as_secs_f64()).min(1.0);
                self.bar.set_prefix("timing");
                self.bar.set_position((STEPS as f64 * fraction) as u64);
                let left = seconds(budget.saturating_sub(elapsed));
                self.bar.set_message(format!("round {}, {left} left", round + 1));
                return;
            }
        };
        self.bar.set_prefix(prefix);
        self.bar.set_position(STEPS * done / of.max(1));
        self.bar.set_message(format!("{done} of {of} {what}"));
    }

    /// So many comparisons of two libraries are done.
    pub fn comparing(&self, done: usize, of: usize) {
        self.bar.set_prefix("comparing");
        self.bar.set_position(STEPS * done as u64 / of.max(1) as u64);
        self.bar.set_message(format!("{done} of {of} comparisons"));
    }

    /// Prints a remark above the bar.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| anstream::eprintln!("ciphermark: {text}"));
        }
    }

    /// Clears the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn seconds(left: Duration) -> String {
    match left.as_secs() {
        0 => "less than a second".to_owned(),
        s @ 1..=119 => format!("about {s} s"),
        s => format!("about {} min", s.div_ceil(60)),
    }
}
