//! What connections cost, from documents.

use crate::advise::tls_server::answer::Cost;
use crate::advise::tls_server::candidate::Candidate;
use crate::advise::tls_server::question::Question;
use crate::load::{Calibration, Inputs, load};
use record::State;
use record::tls::{Case, Document, Exchange, Handshake, RecordsDocument, Suite, Version};

/// What answers rest on.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// A run of `tls handshake`.
    pub handshakes: &'a Document,
    /// A run of `tls records` of the same stacks.
    pub records: Option<&'a RecordsDocument>,
    /// A calibration of `tls load`: connections are then priced by its formula, in the stack that it is of.
    pub calibration: Option<&'a Calibration>,
}

/// Why there is no price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoPrice {
    /// The stack's own words.
    NotOffered(String),
    NotMeasured(String),
}

/// A price, and what to know of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Priced {
    pub(crate) cost: Cost,
    pub(crate) remark: Option<String>,
}

impl Evidence<'_> {
    /// In words, what prices rest on.
    pub(crate) fn in_words(&self, question: &Question) -> String {
        let temperature = question.temperature;
        match self.calibration {
            Some(calibration) => format!(
                "the formula of tls load with the calibration of {} in {}",
                calibration.started, calibration.stack.label
            ),
            None if self.records.is_some() && question.bytes_per_connection > 0 => {
                format!("{temperature} handshakes and records in memory: no sockets, no web server")
            }
            None => format!("{temperature} handshakes in memory: no sockets, no web server"),
        }
    }

    /// Labels of the stacks that can be priced.
    pub(crate) fn stacks(&self) -> Vec<&str> {
        let all = self.handshakes.stacks.iter().map(|stack| stack.label.as_str());
        let of_calibration =
            |label: &&str| self.calibration.is_none_or(|c| c.stack.label == **label);
        all.filter(of_calibration).collect()
    }

    /// Key exchanges that a stack was asked for and has not.
    pub(crate) fn lacking(&self, stack: &str) -> Vec<Exchange> {
        let rows = || self.handshakes.rows.iter().filter(|row| row.stack == stack);
        let lacks = |exchange: &Exchange| {
            let mut of_it = rows().filter(|row| row.case.exchange == *exchange).peekable();
            of_it.peek().is_some() && of_it.all(|row| row.state == State::Unsupported)
        };
        Exchange::ALL.iter().copied().filter(lacks).collect()
    }

    /// Suites of TLS 1.2 that a stack was asked for records of and has not.
    pub(crate) fn lacking_suites(&self, stack: &str) -> Vec<Suite> {
        let rows = || self.records.into_iter().flat_map(|records| &records.rows);
        let lacks = |suite: &Suite| {
            let is_it = |row: &&record::tls::RecordRow| {
                let of = row.protection;
                row.stack == stack && of.suite == *suite && of.version == Version::Tls12
            };
            let mut of_it = rows().filter(is_it).peekable();
            of_it.peek().is_some() && of_it.all(|row| row.state == State::Unsupported)
        };
        Suite::ALL.iter().copied().filter(lacks).collect()
    }

    /// Whether a handshake with it was measured in the stack.
    pub(crate) fn has(&self, stack: &str, exchange: Exchange) -> bool {
        let of_it = |row: &&Handshake| row.stack == stack && row.case.exchange == exchange;
        self.handshakes.rows.iter().filter(of_it).any(|row| row.state == State::Measured)
    }

    fn row(
        &self,
        stack: &str,
        question: &Question,
        is_it: impl Fn(&Case) -> bool,
    ) -> Option<&Handshake> {
        let mut rows = self.handshakes.rows.iter();
        rows.find(|row| {
            row.stack == stack && row.temperature == question.temperature && is_it(&row.case)
        })
    }

    /// A handshake's price. The suite makes little difference to it, so that another one's stands in.
    pub(crate) fn handshake(
        &self,
        stack: &str,
        question: &Question,
        case: &Case,
    ) -> Result<Priced, NoPrice> {
        let exact = self.row(stack, question, |c| c == case);
        let like = |c: &Case| Case { suite: case.suite, ..*c } == *case;
        let found = exact.or_else(|| self.row(stack, question, like));
        let found = found.or_else(|| {
            // A resumption has no certificate.
            let resumed = |c: &Case| {
                let same = c.kind == case.kind && c.version == case.version;
                case.kind.is_resumed() && same && !c.client_auth
            };
            let same_exchange = |c: &Case| resumed(c) && c.exchange == case.exchange;
            let row = self.row(stack, question, same_exchange);
            row.or_else(|| {
                self.row(stack, question, |c| resumed(c) && case.version == Version::Tls12)
            })
        });
        let row = found.ok_or_else(|| NoPrice::NotMeasured(case.to_string()))?;
        match (row.state, row.server) {
            (State::Measured, Some(cost)) => {
                let us = |ns: f64| ns / 1000.0;
                let part = |end: f64| us(cost.mean_ns) * end / cost.median_ns;
                Ok(Priced {
                    cost: Cost {
                        us: us(cost.mean_ns),
                        low_us: part(cost.low_ns),
                        high_us: part(cost.high_ns),
                    },
                    remark: (row.case.suite != case.suite).then(|| {
                        format!(
                            "handshakes with {} are priced as with {}",
                            case.suite, row.case.suite
                        )
                    }),
                })
            }
            (State::Unsupported, _) => {
                Err(NoPrice::NotOffered(row.reason.clone().unwrap_or_else(|| case.to_string())))
            }
            (state, _) => Err(NoPrice::NotMeasured(format!("{case} was {}", state.name()))),
        }
    }

    /// What sending a connection's bytes costs: nothing where there are none.
    pub(crate) fn records(
        &self,
        stack: &str,
        question: &Question,
        case: &Case,
    ) -> Result<Cost, NoPrice> {
        let bytes = question.bytes_per_connection as f64;
        // A formula has the price of bytes in it.
        if bytes <= 0.0 || self.calibration.is_some() {
            return Ok(Cost::NOTHING);
        }
        let missing = || NoPrice::NotMeasured(format!("records of {} in {stack}", case.suite));
        let Some(records) = self.records else { return Err(missing()) };
        let lines = records.lines();
        let is_it = |suite: Suite| {
            lines.iter().find(|line| {
                line.stack == stack
                    && line.protection.version == case.version
                    && line.protection.suite == suite
            })
        };
        let line = is_it(case.suite).or_else(|| is_it(Suite::Aes128Gcm)).and_then(|line| line.send);
        let Some(line) = line else { return Err(missing()) };
        let count = (bytes / record::tls::LARGEST_RECORD as f64).ceil();
        let us = (count * line.fixed_ns + bytes * line.ns_per_byte) / 1000.0;
        let width = us * line.residual;
        Ok(Cost { us, low_us: us - width, high_us: us + width })
    }

    /// A connection's price by the formula of a load; none without a calibration.
    pub(crate) fn by_formula(
        &self,
        candidate: &Candidate,
        question: &Question,
    ) -> Option<Result<Cost, NoPrice>> {
        let calibration = self.calibration?;
        let mut spec = candidate.spec(question);
        if question.bytes_per_connection > 0 {
            spec.traffic.responses[0].bytes = question.bytes_per_connection;
        }
        let inputs = Inputs { calibration, records: self.records, parts: None };
        let found = load(&spec, &inputs, false);
        let found = found.map_err(|e| NoPrice::NotMeasured(e.to_string()));
        Some(found.map(|load| {
            // One connection a second was asked for.
            let cpu = load.cpu_us_per_s;
            Cost { us: cpu.value, low_us: cpu.low, high_us: cpu.high }
        }))
    }
}
