//! What is answered. `docs/tls-advice.schema.json` is its schema.

use crate::advise::evaluate::{Beside, beside};
use crate::advise::tls_server::candidate::Candidate;
use crate::advise::tls_server::question::Question;
use crate::advise::tls_server::rules::Rule;
use crate::claims::expression::Interval;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the format.
pub const FORMAT_VERSION: &str = "1.0";

/// Advice for a server of TLS.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// [`FORMAT_VERSION`].
    pub format_version: String,
    /// `tls-advice`.
    pub kind: String,
    /// What was asked.
    pub question: Question,
    /// What it is answered from.
    pub basis: Basis,
    /// The choice; null where nothing serves all clients.
    pub choice: Option<Choice>,
    /// What could be chosen and has no price, or not all of it; where it is empty, the answer is settled.
    pub missing: Vec<Candidate>,
    /// Everything else that serves all clients by the same profile, the cheapest first.
    pub fitting: Vec<Fitting>,
    /// What was rejected, and by which rule.
    pub rejected: Vec<Rejected>,
    /// What would change the answer.
    pub changes: Vec<Change>,
    /// The rules that are named.
    pub rules: Vec<Rule>,
}

/// What an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Basis {
    /// The machine's CPU.
    pub cpu: String,
    /// When the handshakes were measured (RFC 3339).
    pub started: String,
    /// How prices came about, in words.
    pub priced_by: String,
}

/// µs of the server's CPU for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// The estimate: means, as CPU per second is a sum.
    pub us: f64,
    /// Lower end of its interval.
    pub low_us: f64,
    /// Upper end.
    pub high_us: f64,
}

impl Cost {
    pub(crate) const NOTHING: Self = Self { us: 0.0, low_us: 0.0, high_us: 0.0 };

    pub(crate) fn plus(self, other: Self, times: f64) -> Self {
        Self {
            us: self.us + other.us * times,
            low_us: self.low_us + other.low_us * times,
            high_us: self.high_us + other.high_us * times,
        }
    }

    fn beside(&self, other: &Self) -> Beside {
        let interval = |c: &Self| Interval { median: c.us, low: c.low_us, high: c.high_us };
        beside(interval(self), interval(other))
    }

    /// Whether both are shown to be the same within 5 %.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.beside(other).is_same()
    }

    /// Whether it may be lower by more than that.
    pub(crate) fn may_be_lower(&self, other: &Self) -> bool {
        self.beside(other).may_be_lower()
    }
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// What is chosen.
    pub candidate: Candidate,
    /// What it costs for each connection, over all clients.
    pub cost: Cost,
    /// Connections per second that one core can do, if it did nothing else.
    pub connections_per_core_second: f64,
    /// What each class negotiates, and what it costs.
    pub clients: Vec<ClientCost>,
    /// Directives of nginx that set it so; none where nginx cannot use the stack.
    pub nginx: Vec<String>,
    /// Others that are shown to cost the same within 5 %.
    pub ties_with: Vec<String>,
    /// Others that may cost less by more than that.
    pub undecided: Vec<String>,
    /// What to know of the price.
    pub remarks: Vec<String>,
}

/// One class of clients.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClientCost {
    /// The class.
    pub class: String,
    /// Its share of the connections.
    pub share: f64,
    /// What is negotiated: version, key exchange, certificate, suite.
    pub negotiated: String,
    /// A full handshake.
    pub full: Cost,
    /// A resumed one; null where none resumes.
    pub resumed: Option<Cost>,
}

/// Another that serves all clients.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fitting {
    /// What it is.
    pub candidate: Candidate,
    /// What it costs for each connection.
    pub cost: Cost,
    /// That over the choice's.
    pub times: f64,
}

/// One that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rejected {
    /// What it is.
    pub candidate: Candidate,
    /// The rule's name.
    pub rule: String,
    /// Which client, which case.
    pub detail: String,
}

/// Another wish and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// What would be asked otherwise.
    pub wish: String,
    /// What would be chosen then.
    pub candidate: Candidate,
    /// What that costs for each connection.
    pub cost: Cost,
    /// That over the choice's; null where there is no choice now.
    pub times: Option<f64>,
}

#[cfg(test)]
#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    crate::load::sample::is_documented::<Advice>("tls-advice");
}
