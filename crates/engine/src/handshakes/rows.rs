//! What the all_progress of each kind of run come to.

use super::assemble::Outcome;
use record::tls::{
    Bare, Bytes, Facts, First, Found, Handshake, Memory, PrimitiveFacts, PrimitiveRow, RecordFacts,
    RecordRow, Row, Subject, Temperature,
};

/// A row that samples give.
pub trait Sampled: Row {
    /// What lies inside the clock, in words.
    const SPAN: &'static str;
    /// Whether rows that differ in their size stand together.
    const IS_BY_SIZE: bool = false;

    /// A progress's row; none of one that is of another kind.
    #[doc(hidden)]
    fn of(subject: Subject, temperature: Temperature, sum: Sum<'_>) -> Option<Self>;
}

/// What is known of a progress.
#[derive(Debug)]
pub struct Sum<'a> {
    pub(super) stack: String,
    pub(super) outcome: Outcome,
    pub(super) facts: &'a [Found],
    pub(super) ticks_per_ns: f64,
}

impl Sum<'_> {
    /// What processes found; of a progress without a number nothing, because it is no one's.
    fn facts<F: Clone>(&self, of: impl Fn(&Found) -> Option<&F>) -> Vec<F> {
        let all = self.facts.iter().filter_map(of).cloned();
        all.filter(|_| self.outcome.measured.is_some()).collect()
    }
}

impl Sampled for Handshake {
    const SPAN: &'static str = record::tls::SPAN;

    fn of(subject: Subject, temperature: Temperature, sum: Sum<'_>) -> Option<Self> {
        let Subject::Handshake(case) = subject else { return None };
        let facts: Vec<Facts> = sum.facts(|found| match found {
            Found::Handshake(facts) => Some(facts),
            _ => None,
        });
        let found = sum.outcome.measured;
        Some(Self {
            stack: sum.stack,
            case,
            temperature,
            state: sum.outcome.state,
            reason: sum.outcome.reason,
            negotiated: facts.first().map(|f| f.negotiated.clone()),
            unset: facts.first().and_then(|f| f.unset),
            server: found.map(|f| f.server),
            client: found.map(|f| f.client),
            first: First::of(&facts, sum.ticks_per_ns),
            bytes: Bytes::of(&facts),
            memory: Memory::of(&facts),
            samples: found.map_or(0, |f| f.samples),
            handshakes: found.map_or(0, |f| f.handshakes),
            processes: found.map_or(0, |f| f.processes),
            disturbed: found.map(|f| f.disturbed).unwrap_or_default(),
            contended: found.is_some_and(|f| f.contended),
            stopped: sum.outcome.stopped,
        })
    }
}

impl Sampled for RecordRow {
    const SPAN: &'static str = record::tls::RECORDS_SPAN;
    const IS_BY_SIZE: bool = true;

    fn of(subject: Subject, _: Temperature, sum: Sum<'_>) -> Option<Self> {
        let Subject::Records { protection, size } = subject else { return None };
        let facts: Vec<RecordFacts> = sum.facts(|found| match found {
            Found::Records(facts) => Some(facts),
            _ => None,
        });
        let found = sum.outcome.measured;
        Some(Self {
            stack: sum.stack,
            protection,
            size,
            state: sum.outcome.state,
            reason: sum.outcome.reason,
            overhead_bytes: facts.first().map(|f| f.overhead_bytes),
            negotiated: facts.first().map(|f| f.negotiated.clone()),
            send: found.map(|f| f.server),
            receive: found.map(|f| f.client),
            bare: Bare { algorithm: protection.suite.cipher().to_owned(), ..Bare::default() },
            samples: found.map_or(0, |f| f.samples),
            records: found.map_or(0, |f| f.handshakes),
            processes: found.map_or(0, |f| f.processes),
            disturbed: found.map(|f| f.disturbed).unwrap_or_default(),
            contended: found.is_some_and(|f| f.contended),
            stopped: sum.outcome.stopped,
        })
    }
}

impl Sampled for PrimitiveRow {
    const SPAN: &'static str = record::tls::PRIMITIVES_SPAN;

    fn of(subject: Subject, _: Temperature, sum: Sum<'_>) -> Option<Self> {
        let Subject::Primitive(primitive) = subject else { return None };
        let facts: Vec<PrimitiveFacts> = sum.facts(|found| match found {
            Found::Primitive(facts) => Some(facts),
            _ => None,
        });
        let found = sum.outcome.measured;
        Some(Self {
            stack: sum.stack,
            primitive,
            state: sum.outcome.state,
            reason: sum.outcome.reason,
            checks: facts.into_iter().next().map(|f| f.checks).unwrap_or_default(),
            whole: found.map(|f| f.server),
            call: found.map(|f| f.client),
            samples: found.map_or(0, |f| f.samples),
            operations: found.map_or(0, |f| f.handshakes),
            processes: found.map_or(0, |f| f.processes),
            disturbed: found.map(|f| f.disturbed).unwrap_or_default(),
            contended: found.is_some_and(|f| f.contended),
            stopped: sum.outcome.stopped,
        })
    }
}
