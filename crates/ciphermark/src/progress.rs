//! The progress bar, on standard error, only on a terminal.

use engine::pages::PagesEvent;
use engine::{Event, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Steps of the bar: finer than any terminal is wide.
const STEPS: u64 = 1000;

/// A bar that is hidden if nobody can see it.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

impl Bar {
    /// Visible if standard error is a terminal, unless `quiet`.
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

    /// So much of a number of things is done.
    fn count(&self, prefix: &'static str, done: usize, of: usize, what: &str) {
        self.share(prefix, done as f64 / of.max(1) as f64, format!("{done} of {of} {what}"));
    }

    fn share(&self, prefix: &'static str, done: f64, message: String) {
        self.bar.set_prefix(prefix);
        self.bar.set_position((STEPS as f64 * done) as u64);
        self.bar.set_message(message);
    }

    /// Pairs of library and algorithm are verified.
    pub fn verifying(&self, done: usize, of: usize) {
        self.count("verifying", done, of, "algorithms in libraries");
    }

    /// Operations are single-stepped.
    pub fn stepping(&self, done: usize, of: usize) {
        self.count("stepping", done, of, "algorithms in libraries");
    }

    /// Algorithms are judged by their traces.
    pub fn judging(&self, done: usize, of: usize, left: Duration) {
        let message = format!("{done} of {of} algorithms in libraries, {} left", seconds(left));
        self.share("judging", done as f64 / of.max(1) as f64, message);
    }

    /// Candidates of a comparison are settled with pairs of processes.
    pub fn confirming(&self, done: usize, of: usize, algorithm: &str, size: usize) {
        self.count("confirming", done, of, &format!("cases, now {algorithm} of {size} bytes"));
    }

    /// Allocations and copies of messages are counted.
    pub fn counting(&self, done: usize, of: usize) {
        self.count("counting", done, of, "algorithms in libraries");
    }

    /// Servers are visited.
    pub fn visits(&self, done: usize, of: usize) {
        self.count("loading", done, of, "visits of servers");
    }

    /// Libraries are tested with vectors.
    pub fn vectors(&self, done: usize, of: usize) {
        self.count("vectors", done, of, "vectors in libraries");
    }

    /// Two libraries are compared.
    pub fn comparing(&self, done: usize, of: usize) {
        self.count("comparing", done, of, "comparisons");
    }

    /// How far sampling is.
    pub fn sampling(&self, progress: &Progress) {
        let Progress { ended, cases, fraction, left } = progress;
        let message = format!("{ended} of {cases} cases done, {} left", seconds(*left));
        self.share("measuring", *fraction, message);
    }

    /// What a run reports.
    pub fn show(&self, event: Event<'_>) {
        match event {
            Event::Verifying { done, of } => self.verifying(done, of),
            Event::Stepping { done, of } => self.stepping(done, of),
            Event::Screening(Progress { cases, .. }) => {
                self.share(
                    "looking",
                    0.0,
                    format!("at {cases} cases, which of them could be chosen"),
                );
            }
            Event::Sampling(progress) => self.sampling(&progress),
            Event::Remark(text) => self.remark(text),
        }
    }

    /// How far a run over a page store is.
    pub fn pages(&self, event: PagesEvent<'_>) {
        let (prefix, done, of, what) = match event {
            PagesEvent::Reading { done, of } => ("reading", done, of, "pages"),
            PagesEvent::Checking { done, of } => ("checking", done, of, "ciphers in libraries"),
            PagesEvent::Verifying { done, of } => ("verifying", done, of, "pages, all schemes"),
            PagesEvent::Probing { done, of } => ("probing", done, of, "schemes"),
            PagesEvent::Timing(event) => return self.show(event),
        };
        self.count(prefix, done as usize, of as usize, what);
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
