//! The language of conditions, for published claims and for the rules of advice: typed expressions
//! over facts that whoever asks supplies. `docs/CLAIMS.md` has its grammar.

mod syntax;
mod value;

pub use syntax::{Argument, BadExpression, Term};
pub use value::{Interval, Kind, Unit, Value};

/// An expression over facts `F`.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression<F> {
    /// A number.
    Number(f64, Unit),
    /// Something that is known, or not.
    Fact(F),
    /// An operator and its operands.
    Apply(Operator, Vec<Self>),
}

/// What is done with operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `or`, of any number.
    Or,
    /// `and`, of any number.
    And,
    /// `not`, of one.
    Not,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `is`
    Is,
    /// `is not`
    IsNot,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
    /// `max`, of any number.
    Largest,
    /// `min`, of any number.
    Smallest,
}

/// What is missing for an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);

impl<F> Expression<F> {
    /// Reads an expression; `fact` makes facts of the names and calls in it.
    ///
    /// # Errors
    /// [`BadExpression`] says what is wrong, and where.
    pub fn parse(
        text: &str,
        fact: &dyn Fn(Term) -> Result<F, BadExpression>,
    ) -> Result<Self, BadExpression> {
        syntax::parse(text)?.with_facts(fact)
    }

    fn with_facts<T>(
        self,
        fact: &dyn Fn(F) -> Result<T, BadExpression>,
    ) -> Result<Expression<T>, BadExpression> {
        Ok(match self {
            Self::Number(number, unit) => Expression::Number(number, unit),
            Self::Fact(of) => Expression::Fact(fact(of)?),
            Self::Apply(how, of) => {
                let of: Result<_, _> = of.into_iter().map(|e| e.with_facts(fact)).collect();
                Expression::Apply(how, of?)
            }
        })
    }

    /// Every fact in it.
    #[must_use]
    pub fn facts(&self) -> Vec<&F> {
        match self {
            Self::Number(..) => Vec::new(),
            Self::Fact(fact) => vec![fact],
            Self::Apply(_, of) => of.iter().flat_map(Self::facts).collect(),
        }
    }

    /// What it is of, whatever its facts are worth.
    ///
    /// # Errors
    /// [`BadExpression`] where units or kinds do not fit together.
    pub fn kind(&self, of_fact: &dyn Fn(&F) -> Kind) -> Result<Kind, BadExpression> {
        match self {
            Self::Number(_, unit) => Ok(Kind::Number(*unit)),
            Self::Fact(fact) => Ok(of_fact(fact)),
            Self::Apply(how, of) => {
                let kinds: Result<Vec<Kind>, _> = of.iter().map(|e| e.kind(of_fact)).collect();
                how.kind(&kinds?).map_err(BadExpression)
            }
        }
    }

    /// What it is worth, given its facts.
    ///
    /// Comparisons of measured numbers are decided where their intervals do not overlap. A condition of
    /// which a part is missing still has a value where the other parts decide it.
    ///
    /// # Errors
    /// [`Missing`]: which fact, and why.
    pub fn evaluate(
        &self,
        of_fact: &dyn Fn(&F) -> Result<Value, Missing>,
    ) -> Result<Value, Missing> {
        match self {
            Self::Number(number, unit) => Ok(Value::Number(Interval::exact(*number), *unit)),
            Self::Fact(fact) => of_fact(fact),
            Self::Apply(how, of) => how.apply(of.iter().map(|e| e.evaluate(of_fact)).collect()),
        }
    }
}

impl Operator {
    /// What it gives for operands of these kinds; else why it cannot be applied to them.
    fn kind(self, of: &[Kind]) -> Result<Kind, String> {
        let number = |kind: &Kind| match kind {
            Kind::Number(unit) => Ok(*unit),
            Kind::Truth | Kind::Word => Err(format!("{kind} where a number must stand")),
        };
        let same = |what: &str| match of.iter().find(|kind| **kind != of[0]) {
            Some(other) => Err(format!("{} and {other} cannot be {what}", of[0])),
            None => Ok(of[0]),
        };
        match self {
            Self::Or | Self::And | Self::Not => match of.iter().find(|k| **k != Kind::Truth) {
                Some(other) => Err(format!("{other} where a condition must stand")),
                None => Ok(Kind::Truth),
            },
            // Words and truths are compared by their texts; only words have an order.
            Self::Is | Self::IsNot if of.iter().all(|k| !matches!(k, Kind::Number(_))) => {
                Ok(Kind::Truth)
            }
            Self::Less | Self::AtMost | Self::More | Self::AtLeast
                if of.iter().all(|k| *k == Kind::Word) =>
            {
                Ok(Kind::Truth)
            }
            Self::Less | Self::AtMost | Self::More | Self::AtLeast | Self::Is | Self::IsNot => {
                of.iter().try_for_each(|k| number(k).map(drop))?;
                same("compared").map(|_| Kind::Truth)
            }
            Self::Plus | Self::Minus | Self::Largest | Self::Smallest => {
                of.iter().try_for_each(|k| number(k).map(drop))?;
                let put_together = matches!(self, Self::Largest | Self::Smallest);
                same(if put_together { "in one max or min" } else { "added or subtracted" })
            }
            Self::Times | Self::Over => {
                let (a, b) = (number(&of[0])?, number(&of[1])?);
                match (self, a, b) {
                    (_, unit, Unit::One) | (Self::Times, Unit::One, unit) => Ok(Kind::Number(unit)),
                    (Self::Over, a, b) if a == b => Ok(Kind::Number(Unit::One)),
                    _ => Err(format!("no unit for {} and {} together", of[0], of[1])),
                }
            }
        }
    }

    fn apply(self, of: Vec<Result<Value, Missing>>) -> Result<Value, Missing> {
        // What must be true of all, and what makes one of them enough.
        match self {
            Self::And => return joined(of, false),
            Self::Or => return joined(of, true),
            _ => {}
        }
        let of: Vec<Value> = of.into_iter().collect::<Result<_, _>>()?;
        let kinds: Vec<Kind> = of.iter().map(Value::kind).collect();
        let kind = self.kind(&kinds).map_err(Missing)?;
        if let Kind::Number(unit) = kind {
            let numbers: Vec<Interval> = of.iter().filter_map(Value::interval).collect();
            return Ok(Value::Number(self.computed(&numbers)?, unit));
        }
        if let [Value::Truth(truth)] = of[..] {
            return Ok(Value::Truth(truth.map(|truth| !truth)));
        }
        self.compared(&of[0], &of[1]).map(Value::Truth)
    }

    fn computed(self, of: &[Interval]) -> Result<Interval, Missing> {
        let extreme = |choose: fn(f64, f64) -> f64| {
            // The largest number is at least the largest lower end, and so on.
            let over = |end: fn(&Interval) -> f64| {
                of.iter().map(end).reduce(choose).expect("the grammar has one at least")
            };
            Interval { median: over(|i| i.median), low: over(|i| i.low), high: over(|i| i.high) }
        };
        Ok(match self {
            Self::Largest => extreme(f64::max),
            Self::Smallest => extreme(f64::min),
            Self::Plus => of[0].with(of[1], |a, b| a + b),
            Self::Minus => of[0].with(of[1], |a, b| a - b),
            Self::Times => of[0].with(of[1], |a, b| a * b),
            _ if of[1].has_zero() => return Err(Missing("a ratio to what may be zero".to_owned())),
            _ => of[0].with(of[1], |a, b| a / b),
        })
    }

    /// `None` where the intervals overlap.
    fn compared(self, a: &Value, b: &Value) -> Result<Option<bool>, Missing> {
        if matches!(self, Self::Is | Self::IsNot) {
            let is = match (a.interval(), b.interval()) {
                (Some(a), Some(b)) if a.high < b.low || b.high < a.low => Some(false),
                (Some(a), Some(b)) => (a.low == b.high && b.low == a.high).then_some(true),
                _ => Some(a.to_string() == b.to_string()),
            };
            return Ok(is.map(|is| is == (self == Self::Is)));
        }
        let (a, b) = match (a.interval(), b.interval()) {
            (Some(a), Some(b)) => (a, b),
            _ => a.ranks(b).ok_or_else(|| Missing(format!("'{a}' and '{b}' have no order")))?,
        };
        let less = |a: Interval, b: Interval, equal_counts: bool| {
            if a.high < b.low || (equal_counts && a.high <= b.low) {
                Some(true)
            } else if a.low > b.high || (!equal_counts && a.low >= b.high) {
                Some(false)
            } else {
                None
            }
        };
        Ok(match self {
            Self::Less => less(a, b, false),
            Self::AtMost => less(a, b, true),
            Self::More => less(b, a, false),
            _ => less(b, a, true),
        })
    }
}

/// One part that has the value `deciding` decides; else what is missing counts before what is
/// undecided.
fn joined(of: Vec<Result<Value, Missing>>, deciding: bool) -> Result<Value, Missing> {
    let decided = Ok(Value::Truth(Some(deciding)));
    if of.contains(&decided) {
        return decided;
    }
    let truth = |value: Value| match value {
        Value::Truth(truth) => Ok(truth),
        other => Err(Missing(format!("{} where a condition must stand", other.kind()))),
    };
    let truths: Vec<_> = of.into_iter().map(|v| v.and_then(truth)).collect::<Result<_, _>>()?;
    Ok(Value::Truth((!truths.contains(&None)).then_some(!deciding)))
}

#[cfg(test)]
mod tests;
