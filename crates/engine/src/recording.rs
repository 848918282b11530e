//! The record of a run, at its end or at any moment before.

use crate::assemble::{Checks, Rates, assemble, host_facts, library_facts, plan_facts};
use crate::attached::Attached;
use crate::costs;
use crate::evidence;
use crate::limits;
use crate::memory::Memory;
use crate::noise::noise;
use crate::plan::{Planned, Request};
use crate::schedule::Sampled;
use crate::ticking::Ticking;
use base::analysis::bound::Core;
use probe::Clock;
use record::{Executed, Leaks, Record, Tool};
use std::cell::RefCell;

/// All that a record is made from, but for the samples.
pub(crate) struct Recording<'a> {
    pub(crate) request: &'a Request,
    pub(crate) libraries: &'a [Attached],
    pub(crate) planned: &'a [Planned],
    pub(crate) checks: &'a Checks,
    pub(crate) memory: &'a Memory,
    pub(crate) executed: &'a [Executed],
    pub(crate) leaks: &'a [Leaks],
    pub(crate) clock: &'a Clock,
    pub(crate) ticking: &'a RefCell<Ticking>,
    /// The CPU that the run began on.
    pub(crate) cpu: u32,
    /// CPUs that the run may use.
    pub(crate) cpus_allowed: u32,
    pub(crate) started: &'a str,
    /// Seconds of measuring in earlier parts of the run.
    pub(crate) seconds_before: f64,
}

impl Recording<'_> {
    /// Takes a look at the clock.
    pub(crate) fn look(&self) {
        self.ticking.borrow_mut().look(self.clock);
    }

    /// Seconds of measuring, earlier parts of the run too.
    pub(crate) fn seconds(&self, sampled: Sampled<'_>) -> f64 {
        self.seconds_before + sampled.time.as_secs_f64()
    }

    /// The record of what was sampled.
    pub(crate) fn record(&self, sampled: Sampled<'_>, core: Result<Core, String>) -> Record {
        let Self { request, libraries, planned, clock, .. } = *self;
        let ticks_per_second = self.ticking.borrow_mut().ticks_per_second(clock);
        let quiet = sampled.quiet.clone();
        let rates = Rates::new(clock, ticks_per_second, quiet, request.budget.precision);
        let mut host = host_facts(self.cpu, libraries, &rates, sampled.all_progress);
        host.cpu.cpus_allowed = self.cpus_allowed;
        let mut measurements =
            assemble(planned, sampled.all_progress, libraries, self.checks, self.memory, &rates);
        evidence::tell(&mut measurements, self.executed);
        let facts: Vec<_> = libraries.iter().map(|l| library_facts(l, request)).collect();
        if let Ok(core) = &core {
            limits::hold(&mut measurements, core, self.executed, &facts);
        }
        // Of what is left after the limits: a case that is refused for its speed has no part in
        // others.
        costs::set_key_setup(&mut measurements);
        record::shared(Record {
            format_version: record::FORMAT_VERSION.to_owned(),
            tool: Tool {
                name: "ciphermark".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                command: request.command.clone(),
            },
            started: self.started.to_owned(),
            measuring_seconds: self.seconds(sampled),
            host,
            libraries: facts,
            plan: plan_facts(request),
            noise: Some(noise(&sampled)),
            executed: self.executed.to_vec(),
            leaks: self.leaks.to_vec(),
            limits: limits::limits(
                core,
                &request.algorithms,
                &request.directions,
                &request.models,
                &request.tiers,
            ),
            fits: costs::fits(&measurements),
            measurements,
            details: None,
        })
    }
}
