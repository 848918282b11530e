//! Records as something that questions are put to.

use crate::claims::expression::{Interval, Missing};
use crate::claims::fact::{Asked, Cases};
use crate::claims::handshakes::Handshakes;
use base::model::{Direction, Footprint, NameGlob};
use record::import::Row;
use record::{Call, Estimate, LibraryId, Measurement, Record, State};
use std::collections::BTreeSet;

/// What one or several records measured, on one machine.
pub struct Evidence<'a> {
    records: &'a [Record],
    handshakes: Option<&'a Handshakes>,
}

/// `openssl@3.0.22`.
pub(crate) fn label(library: &LibraryId) -> String {
    if library.version.is_empty() {
        library.name.clone()
    } else {
        format!("{}@{}", library.name, library.version)
    }
}

fn is(glob: &NameGlob, library: &LibraryId) -> bool {
    glob.matches(&library.name) || glob.matches(&label(library))
}

impl<'a> Evidence<'a> {
    /// Of these records.
    #[must_use]
    pub fn of(records: &'a [Record]) -> Self {
        Self { records, handshakes: None }
    }

    /// And of runs of TLS handshakes of the same machine.
    #[must_use]
    pub fn with(self, handshakes: &'a Handshakes) -> Self {
        Self { handshakes: Some(handshakes), ..self }
    }

    /// The libraries that match and of which anything was to be measured, each once.
    #[must_use]
    pub fn libraries(&self, glob: &NameGlob) -> Vec<&'a LibraryId> {
        let of_stacks = self.handshakes.into_iter().flat_map(Handshakes::libraries);
        let measured = self.own().map(|m| &m.library).chain(of_stacks);
        let libraries: BTreeSet<&LibraryId> = measured.filter(|l| is(glob, l)).collect();
        libraries.into_iter().collect()
    }

    /// What was measured here: imported figures prove nothing.
    pub(crate) fn own(&self) -> impl Iterator<Item = &'a Measurement> {
        self.records.iter().flat_map(|r| &r.measurements).filter(|m| {
            m.state != State::Imported
                && m.threads == 1
                && m.footprint == Footprint::Hot
                // Out of place where there is a choice; updates of a stream are always in place.
                && (!m.in_place || m.model == base::model::Model::Stream)
        })
    }

    /// What a handshake costs the server in a library's stack, in µs.
    pub(crate) fn handshake(
        &self,
        case: &record::tls::Case,
        library: &LibraryId,
    ) -> Result<Interval, Missing> {
        self.handshakes.unwrap_or(&Handshakes::default()).time(case, library)
    }

    /// A number of the cases of one library.
    pub(crate) fn number(
        &self,
        asked: &Asked,
        cases: &Cases,
        library: &LibraryId,
    ) -> Result<Interval, Missing> {
        if let Asked::Executed(class) = asked {
            return self.executed(class, cases, library);
        }
        let m = self.measurement(cases, library)?;
        let lacking = |what: &str| Missing(format!("no {what} of {}", described(m)));
        match asked {
            Asked::Cycles => {
                let each = |cycles: f64| cycles / m.size as f64;
                let e = m.cycles_per_op.ok_or_else(|| lacking("core cycles"))?;
                Ok(Interval { median: each(e.median), low: each(e.low), high: each(e.high) })
            }
            Asked::Instructions => {
                let per_byte = m.instructions_per_byte;
                per_byte.map(Interval::exact).ok_or_else(|| lacking("instruction counts"))
            }
            Asked::Limit => {
                let fraction = m.limit_fraction.filter(|f| *f > 0.0);
                let fraction = fraction.ok_or_else(|| lacking("limit"))?;
                speed(m).map(|s| Interval::exact(s.median / fraction))
            }
            _ => speed(m),
        }
    }

    /// The fastest of all libraries and algorithms that match.
    pub(crate) fn fastest(&self, cases: &Cases) -> Result<Interval, Missing> {
        let matching = self.own().filter(|m| {
            m.state == State::Measured
                && cases.algorithm.matches(&m.algorithm)
                && matches_case(m, cases)
                && cases.library.as_ref().is_none_or(|glob| is(glob, &m.library))
        });
        let speeds = matching.filter_map(|m| speed(m).ok());
        let fastest = speeds.max_by(|a, b| a.median.total_cmp(&b.median));
        fastest.ok_or_else(|| Missing(format!("nothing measured of {}", asked_for(cases))))
    }

    /// Whether there is a measurement of a case, with every check passed.
    pub(crate) fn is_measured(&self, cases: &Cases, library: &LibraryId) -> Result<bool, Missing> {
        let state = self.found(cases, library).map(|m| m.state);
        match state {
            Some(state) => Ok(state == State::Measured),
            None => {
                Err(Missing(format!("{} was not asked for {}", label(library), asked_for(cases))))
            }
        }
    }

    /// What the record says of the library's interface.
    pub(crate) fn call(&self, cases: &Cases, library: &LibraryId) -> Result<&'a Call, Missing> {
        let built = self.records.iter().flat_map(|r| &r.libraries);
        let of_it = built.filter(|l| l.path == library.path && l.id == library.id);
        let mut calls = of_it.flat_map(|l| &l.calls).filter(|c| {
            let usual = Row::usual_direction(&c.algorithm);
            cases.algorithm.matches(&c.algorithm) && c.direction == cases.direction.unwrap_or(usual)
        });
        calls.next().ok_or_else(|| {
            Missing(format!("the record does not say what {} calls", label(library)))
        })
    }

    fn executed(
        &self,
        class: &str,
        cases: &Cases,
        library: &LibraryId,
    ) -> Result<Interval, Missing> {
        let all = self.records.iter().flat_map(|r| &r.executed);
        let mut of_it = all.filter(|e| {
            e.library == *library
                && cases.algorithm.matches(&e.algorithm)
                && (e.model, e.tier) == (cases.model, cases.tier)
                && e.direction == cases.direction.unwrap_or(Row::usual_direction(&e.algorithm))
                && e.source.is_some()
        });
        let found = of_it.next().ok_or_else(|| {
            Missing(format!("no instruction counts of {} in {}", asked_for(cases), label(library)))
        })?;
        let of_class = found.classes.iter().filter(|c| c.class == class);
        // The sum of none is -0.
        Ok(Interval::exact(of_class.map(|c| c.per_byte).sum::<f64>() + 0.0))
    }

    fn measurement(&self, cases: &Cases, library: &LibraryId) -> Result<&'a Measurement, Missing> {
        match self.found(cases, library) {
            Some(m) if m.state == State::Measured => Ok(m),
            Some(m) => {
                let reason = m.reason.as_deref().unwrap_or("no reason given");
                Err(Missing(format!("{}: {}: {reason}", described(m), m.state.name())))
            }
            None => {
                Err(Missing(format!("{} in {} was not measured", asked_for(cases), label(library))))
            }
        }
    }

    /// A measured one where there is one.
    fn found(&self, cases: &Cases, library: &LibraryId) -> Option<&'a Measurement> {
        let same = |m: &&Measurement| {
            m.library == *library && cases.algorithm.matches(&m.algorithm) && matches_case(m, cases)
        };
        let measured = self.own().filter(same).find(|m| m.state == State::Measured);
        measured.or_else(|| self.own().find(same))
    }
}

fn matches_case(m: &Measurement, cases: &Cases) -> bool {
    (m.size, m.model, m.tier) == (cases.size, cases.model, cases.tier)
        && m.direction == cases.direction.unwrap_or(Row::usual_direction(&m.algorithm))
}

/// MB/s; the longest time is the lowest speed.
pub(crate) fn speed(m: &Measurement) -> Result<Interval, Missing> {
    let Some(Estimate { median, low, high }) = m.ns_per_op.filter(|e| e.low > 0.0) else {
        return Err(Missing(format!("{} has no time", described(m))));
    };
    let of = |ns: f64| m.size as f64 / ns * 1e3;
    Ok(Interval { median: of(median), low: of(high), high: of(low) })
}

fn described(m: &Measurement) -> String {
    let Measurement { algorithm, direction, model, size, tier, library, .. } = m;
    format!(
        "{algorithm} {direction} of {size} B, model {model}, tier {tier}, in {}",
        label(library)
    )
}

pub(crate) fn asked_for(cases: &Cases) -> String {
    let Cases { algorithm, size, direction, model, tier, .. } = cases;
    let direction: &str = direction.map_or("", Direction::name);
    let direction = if direction.is_empty() { String::new() } else { format!(" {direction}") };
    format!("{}{direction} of {size} B, model {model}, tier {tier}", algorithm.text())
}
