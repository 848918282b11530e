//! The language of conditions: a small typed expression language over measurements. `docs/CLAIMS.md`
//! has its grammar.

mod evaluate;
mod lexer;
mod parse;

pub use evaluate::{Missing, evaluate};
pub use parse::{BadExpression, parse};

use crate::value::{Interval, Unit};
use model::{Direction, Model, NameGlob, Tier};

/// What an expression is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Truth,
    /// A number with this unit.
    Number(Unit),
}

/// An expression whose types are right.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A number.
    Literal(Interval, Unit),
    /// Something that was measured.
    Fact(Box<Fact>),
    /// What a TLS handshake costs the server.
    Handshake(tls::Case),
    /// The largest or the smallest of several.
    Extreme(Extreme, Vec<Expression>),
    /// Two numbers and what is done with them.
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    /// Two numbers of one unit, compared.
    Comparison(Comparison, Box<Expression>, Box<Expression>),
    /// All of them.
    And(Vec<Expression>),
    /// One of them at least.
    Or(Vec<Expression>),
    /// Not.
    Not(Box<Expression>),
}

/// `max` or `min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// `max`
    Largest,
    /// `min`
    Smallest,
}

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// What is asked of the measurements.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Which of their fields.
    pub asked: Asked,
    /// Of which cases.
    pub cases: Cases,
}

/// Fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `speed`: MB/s.
    Speed,
    /// `fastest`: the most MB/s of all algorithms and libraries that match.
    Fastest,
    /// `cycles`: core cycles per byte.
    Cycles,
    /// `instructions`: instructions that each further byte costs.
    Instructions,
    /// `executed`: those of one class.
    Executed(String),
    /// `limit`: MB/s that this core permits.
    Limit,
    /// `measured`: whether there is a verified measurement.
    Measured,
    /// `copies`: whether the library's own interface copies every message.
    Copies,
    /// `allocates`: whether it allocates memory for every message.
    Allocates,
}

/// Cases.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Algorithms by glob.
    pub algorithm: NameGlob,
    /// Bytes in one operation.
    pub size: usize,
    /// `None`: encrypt, or what the algorithm has instead.
    pub direction: Option<Direction>,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// `None`: the library that the claim is judged for.
    pub library: Option<NameGlob>,
}

impl Expression {
    /// What it is of.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Literal(_, unit) => Kind::Number(*unit),
            Self::Fact(fact) => fact.asked.kind(),
            Self::Handshake(_) => Kind::Number(Unit::Microseconds),
            // The parser lets through only what has one unit.
            Self::Extreme(_, of) => of[0].kind(),
            Self::Arithmetic(_, a, b) => arithmetic_kind(self, a, b),
            Self::Comparison(..) | Self::And(_) | Self::Or(_) | Self::Not(_) => Kind::Truth,
        }
    }

    /// Every question that it asks.
    #[must_use]
    pub fn facts(&self) -> Vec<&Fact> {
        match self {
            Self::Literal(..) | Self::Handshake(_) => Vec::new(),
            Self::Fact(fact) => vec![fact],
            Self::Extreme(_, of) | Self::And(of) | Self::Or(of) => {
                of.iter().flat_map(Self::facts).collect()
            }
            Self::Arithmetic(_, a, b) | Self::Comparison(_, a, b) => {
                [a.facts(), b.facts()].concat()
            }
            Self::Not(of) => of.facts(),
        }
    }

    /// Every handshake that it asks for.
    #[must_use]
    pub fn handshakes(&self) -> Vec<&tls::Case> {
        match self {
            Self::Literal(..) | Self::Fact(_) => Vec::new(),
            Self::Handshake(case) => vec![case],
            Self::Extreme(_, of) | Self::And(of) | Self::Or(of) => {
                of.iter().flat_map(Self::handshakes).collect()
            }
            Self::Arithmetic(_, a, b) | Self::Comparison(_, a, b) => {
                [a.handshakes(), b.handshakes()].concat()
            }
            Self::Not(of) => of.handshakes(),
        }
    }
}

fn arithmetic_kind(whole: &Expression, a: &Expression, b: &Expression) -> Kind {
    let Expression::Arithmetic(what, ..) = whole else { return Kind::Truth };
    match (what, a.kind(), b.kind()) {
        (Arithmetic::Over, a, b) if a == b => Kind::Number(Unit::One),
        (Arithmetic::Times, Kind::Number(Unit::One), b) => b,
        (_, a, _) => a,
    }
}

impl Asked {
    fn kind(&self) -> Kind {
        match self {
            Self::Speed | Self::Fastest | Self::Limit => Kind::Number(Unit::MbPerSecond),
            Self::Cycles => Kind::Number(Unit::CyclesPerByte),
            Self::Instructions | Self::Executed(_) => Kind::Number(Unit::InstructionsPerByte),
            Self::Measured | Self::Copies | Self::Allocates => Kind::Truth,
        }
    }

    /// Whether it needs instructions to be counted.
    #[must_use]
    pub fn counts_instructions(&self) -> bool {
        matches!(self, Self::Instructions | Self::Executed(_))
    }
}
