//! What is sampled. A kind says what a visit asks for, how many samples a process owes, how long to wait for them, and
//! how precise a case is; everything else (processes, passes, order, CPUs, disturbances) is the schedule's.

mod message;
mod page;
mod tls;

pub(crate) use message::Message;
pub(crate) use page::Page;
pub(crate) use tls::{Ends, Tls};

use crate::protocol::pages::{Job, PageVisit};
use crate::protocol::{self, QuietCore, Request};
use base::analysis::{Summary, of_visits, summarise};
use base::model::{QuietRates, RawSample, Tier};
use record::tls::Found;
use std::time::Duration;

/// Processes of a case that are sampled before it may end as precise enough: six values of two kinds agree by luck too
/// often.
pub(crate) const PROCESSES: usize = 12;
/// Processes after which precise cases begin to wait for others. The interval of nine (second to eighth) is about as wide
/// as that of twelve.
pub(crate) const PILOT: usize = 9;

/// Samples that a case got of the process that is sampled now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass {
    pub(crate) taken: u32,
    pub(crate) clean: usize,
}

/// What a case is of.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// Operations of a library on messages or a stream.
    Message(Message),
    /// Handshakes, records or primitives of a TLS stack.
    Tls(Tls),
    /// Pages of a store.
    Page(Page),
}

/// Where samples come from, at which tier, and what they are of.
pub(crate) type Track = (usize, Tier, String);

/// What a worker is asked for.
pub(crate) enum Visit {
    Message(protocol::Visit),
    Tls(record::tls::Visit),
    Page(PageVisit),
}

impl Visit {
    /// The same with so many microseconds of settling.
    pub(crate) fn settle_for(mut self, us: u32) -> Self {
        match &mut self {
            Self::Message(visit) => visit.settle_us = us,
            Self::Tls(visit) => visit.settle_us = us,
            Self::Page(visit) => visit.settle_us = us,
        }
        self
    }
}

/// What a case's samples come to so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) processes: usize,
    /// Half the interval's width as a fraction of the estimate; of several parts the widest.
    pub(crate) precision: f64,
    /// Whether there are enough processes for the interval to have its confidence.
    pub(crate) is_complete: bool,
}

impl Subject {
    /// The processes that sample it: an index into the run's sources, and the tier.
    pub(crate) fn pool_key(&self) -> (usize, Tier) {
        match self {
            Self::Message(message) => (message.case.library, message.case.tier),
            Self::Tls(tls) => (tls.stack, Tier::Native),
            Self::Page(page) => (page.library, page.tier),
        }
    }

    /// What cases have in common that settle alike.
    pub(crate) fn track(&self) -> Track {
        let (source, tier) = self.pool_key();
        let what = match self {
            Self::Message(Message { case, .. }) => {
                format!("{} {} {}", case.algorithm, case.direction, case.model)
            }
            Self::Tls(tls) => format!("{:?}", tls.subject),
            Self::Page(page) => format!("{} {}", page.recipe.scheme, page.direction),
        };
        (source, tier, what)
    }

    /// Samples that one visit's answer has: one for each thread.
    pub(crate) fn threads(&self) -> u32 {
        match self {
            Self::Message(message) => message.case.threads.max(1),
            Self::Tls(_) => 1,
            Self::Page(page) => page.cpus.len().max(1) as u32,
        }
    }

    /// CPUs of the threads that measure at once; none where there is one.
    pub(crate) fn cpus(&self) -> &[u32] {
        match self {
            Self::Message(message) => &message.setting.cpus,
            Self::Tls(_) => &[],
            Self::Page(page) => &page.cpus,
        }
    }

    /// What to ask for next, after so many samples in all.
    pub(crate) fn visit(&mut self, pass: Pass, taken: u32, ops: Option<u32>) -> Visit {
        match self {
            Self::Message(message) => Visit::Message(message.visit(pass, taken, ops)),
            Self::Tls(tls) => Visit::Tls(tls.visit(pass, taken, ops)),
            Self::Page(page) => Visit::Page(page.visit()),
        }
    }

    /// Whether the pass needs no more of it.
    pub(crate) fn is_done(&self, pass: Pass) -> bool {
        match self {
            Self::Message(_) => message::is_done(pass),
            Self::Tls(_) => tls::is_done(pass),
            Self::Page(page) => page.is_done(pass),
        }
    }

    /// How soon it has its turn where there is no time for all: the lowest first.
    pub(crate) fn wave(&self) -> u32 {
        match self {
            Self::Message(_) => 0,
            Self::Tls(tls) => tls.wave(),
            Self::Page(page) => page.wave(),
        }
    }

    /// Longest wait for a visit.
    pub(crate) fn deadline(&self) -> Duration {
        match self {
            Self::Message(message) => message.deadline(),
            Self::Tls(_) => tls::DEADLINE,
            Self::Page(page) => page.deadline(),
        }
    }

    /// The precision that it is held to.
    pub(crate) fn precision(&self, asked: f64) -> f64 {
        match self {
            Self::Message(_) => asked,
            Self::Tls(tls) => tls.precision(asked),
            Self::Page(page) => page.precision(asked),
        }
    }

    /// Sums its samples up; `ends` are those of both ends, where it has two.
    pub(crate) fn judged(
        &self,
        samples: &[RawSample],
        ends: &Ends,
        quiet: &QuietRates,
    ) -> Option<Judged> {
        let judged = |summary: Summary| Judged {
            processes: summary.processes,
            precision: summary.precision(),
            is_complete: summary.is_complete(),
        };
        match self {
            Self::Message(message) => {
                let visits = of_visits(samples, message.case.threads, quiet);
                summarise(&visits, quiet).map(judged)
            }
            Self::Tls(_) => {
                let server = summarise(samples, quiet).map(judged)?;
                let client = summarise(&ends.others(), quiet).map(judged)?;
                Some(Judged { precision: server.precision.max(client.precision), ..server })
            }
            Self::Page(page) => {
                let visits = of_visits(samples, self.threads(), quiet);
                summarise(&record::at_rest::judged(&visits, page.medium), quiet).map(judged)
            }
        }
    }
}

/// The request for visits, all of one kind.
pub(crate) fn request(visits: Vec<Visit>, quiet: QuietCore) -> Request {
    let (mut of_messages, mut of_tls, mut of_pages) = (Vec::new(), Vec::new(), Vec::new());
    for visit in visits {
        match visit {
            Visit::Message(visit) => of_messages.push(visit),
            Visit::Tls(visit) => of_tls.push(visit),
            Visit::Page(visit) => of_pages.push(visit),
        }
    }
    match (of_tls.is_empty(), of_pages.is_empty()) {
        (true, true) => Request::Sample { visits: of_messages, quiet },
        (true, false) => Request::Pages(Box::new(Job::Time { visits: of_pages, quiet })),
        (false, _) => Request::Tls { visits: of_tls, quiet },
    }
}

/// What processes found of a subject before their first samples.
pub(crate) type Facts = Vec<Found>;
