//! What an expression is worth, given measurements.

use super::{Arithmetic, Asked, Cases, Comparison, Expression, Extreme, Fact};
use crate::evidence::{Evidence, asked_for};
use crate::value::{Interval, Unit, Value};
use record::LibraryId;

/// What is missing for an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub(crate) String);

/// Evaluates an expression; terms that name no library are of `library`.
///
/// Comparisons of measured numbers are decided where their intervals do not overlap. A condition of
/// which a part is missing still has a value where the other parts decide it.
///
/// # Errors
/// [`Missing`]: which case was not measured, or why not.
pub fn evaluate(
    expression: &Expression,
    evidence: &Evidence<'_>,
    library: Option<&LibraryId>,
) -> Result<Value, Missing> {
    Scope { evidence, library }.value(expression)
}

struct Scope<'a, 'b> {
    evidence: &'a Evidence<'b>,
    library: Option<&'a LibraryId>,
}

impl Scope<'_, '_> {
    fn value(&self, expression: &Expression) -> Result<Value, Missing> {
        Ok(match expression {
            Expression::Literal(interval, unit) => Value::Number(*interval, *unit),
            Expression::Fact(fact) => self.fact(fact)?,
            Expression::Handshake(case) => {
                let missing = || Missing(format!("no library is named for {case}"));
                let library = self.library.ok_or_else(missing)?;
                Value::Number(self.evidence.handshake(case, library)?, Unit::Microseconds)
            }
            Expression::Extreme(which, of) => self.extreme(*which, of)?,
            Expression::Arithmetic(what, a, b) => self.arithmetic(expression, *what, a, b)?,
            Expression::Comparison(how, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                Value::Truth(compared(*how, a, b))
            }
            // Not both: what must be true of all, and what makes one of them enough.
            Expression::And(of) => self.joined(of, false)?,
            Expression::Or(of) => self.joined(of, true)?,
            Expression::Not(of) => Value::Truth(self.truth(of)?.map(|truth| !truth)),
        })
    }

    fn number(&self, expression: &Expression) -> Result<Interval, Missing> {
        match self.value(expression)? {
            Value::Number(interval, _) => Ok(interval),
            Value::Truth(_) => Err(Missing("a condition has no number".to_owned())),
        }
    }

    fn truth(&self, expression: &Expression) -> Result<Option<bool>, Missing> {
        match self.value(expression)? {
            Value::Truth(truth) => Ok(truth),
            Value::Number(..) => Err(Missing("a number is not true or false".to_owned())),
        }
    }

    /// One part that has the value `deciding` decides; else what is missing counts before what is
    /// undecided.
    fn joined(&self, of: &[Expression], deciding: bool) -> Result<Value, Missing> {
        let parts: Vec<_> = of.iter().map(|part| self.truth(part)).collect();
        if parts.contains(&Ok(Some(deciding))) {
            return Ok(Value::Truth(Some(deciding)));
        }
        let truths: Vec<Option<bool>> = parts.into_iter().collect::<Result<_, _>>()?;
        let undecided = truths.contains(&None);
        Ok(Value::Truth((!undecided).then_some(!deciding)))
    }

    fn extreme(&self, which: Extreme, of: &[Expression]) -> Result<Value, Missing> {
        let numbers: Vec<Interval> = of.iter().map(|e| self.number(e)).collect::<Result<_, _>>()?;
        let choose = match which {
            Extreme::Largest => f64::max,
            Extreme::Smallest => f64::min,
        };
        // The largest number is at least the largest lower end, and so on.
        let over = |end: fn(&Interval) -> f64| {
            numbers.iter().map(end).reduce(choose).expect("there is one at least")
        };
        let interval =
            Interval { low: over(|i| i.low), mid: over(|i| i.mid), high: over(|i| i.high) };
        Ok(Value::Number(interval, self.unit(&of[0])))
    }

    fn unit(&self, expression: &Expression) -> Unit {
        match expression.kind() {
            super::Kind::Number(unit) => unit,
            super::Kind::Truth => Unit::One,
        }
    }

    fn arithmetic(
        &self,
        whole: &Expression,
        what: Arithmetic,
        a: &Expression,
        b: &Expression,
    ) -> Result<Value, Missing> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        let interval = match what {
            Arithmetic::Plus => a.plus(b),
            Arithmetic::Minus => a.minus(b),
            Arithmetic::Times => a.times(b),
            Arithmetic::Over => {
                a.over(b).ok_or_else(|| Missing("a ratio to what may be zero".to_owned()))?
            }
        };
        Ok(Value::Number(interval, self.unit(whole)))
    }

    fn fact(&self, fact: &Fact) -> Result<Value, Missing> {
        let Fact { asked, cases } = fact;
        let unit = self.unit(&Expression::Fact(Box::new(fact.clone())));
        if *asked == Asked::Fastest {
            return Ok(Value::Number(self.evidence.fastest(cases)?.0, unit));
        }
        let library = self.library_of(cases)?;
        let truth = |truth| Ok(Value::Truth(Some(truth)));
        match asked {
            Asked::Measured => truth(self.evidence.is_measured(cases, library)?),
            Asked::Copies => truth(self.evidence.call(cases, library)?.copies),
            Asked::Allocates => truth(self.evidence.call(cases, library)?.allocates),
            _ => Ok(Value::Number(self.evidence.number(asked, cases, library)?, unit)),
        }
    }

    /// The one that the term names, the newest where several match; else the claim's.
    fn library_of(&self, cases: &Cases) -> Result<&LibraryId, Missing> {
        let Some(glob) = &cases.library else {
            return self
                .library
                .ok_or_else(|| Missing(format!("no library is named for {}", asked_for(cases))));
        };
        let mut found = self.evidence.libraries(glob);
        found.sort_by_key(|l| version(&l.version));
        found.pop().ok_or_else(|| Missing(format!("no library '{}' was measured", glob.text())))
    }
}

/// Numbers in a version, so that 3.10 is newer than 3.9.
fn version(text: &str) -> Vec<u64> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
    numbers.map(|n| n.parse().unwrap_or(u64::MAX)).collect()
}

fn compared(how: Comparison, a: Interval, b: Interval) -> Option<bool> {
    let less = |a: Interval, b: Interval, equal_counts: bool| {
        if a.high < b.low || (equal_counts && a.high <= b.low) {
            Some(true)
        } else if a.low > b.high || (!equal_counts && a.low >= b.high) {
            Some(false)
        } else {
            None
        }
    };
    match how {
        Comparison::Less => less(a, b, false),
        Comparison::AtMost => less(a, b, true),
        Comparison::More => less(b, a, false),
        Comparison::AtLeast => less(b, a, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::parse;
    use crate::sample;
    use model::{Model, NameGlob};

    fn result(text: &str) -> Result<Value, Missing> {
        let records = [sample::record()];
        let evidence = Evidence::of(&records);
        let openssl = evidence.libraries(&NameGlob::parse("openssl@3.0.22").unwrap());
        evaluate(&parse(text, Model::Message).unwrap(), &evidence, Some(openssl[0]))
    }

    fn truth(text: &str) -> Option<bool> {
        let Value::Truth(truth) = result(text).unwrap() else { panic!("{text}") };
        truth
    }

    fn number(text: &str) -> f64 {
        let Value::Number(interval, _) = result(text).unwrap() else { panic!("{text}") };
        interval.mid
    }

    fn near(text: &str, expected: f64) {
        assert!((number(text) / expected - 1.0).abs() < 1e-9, "{text}: {}", number(text));
    }

    #[test]
    fn each_function_reads_the_field_that_it_is_named_after() {
        // 8192 B in 1000 ns at 3 GHz, at half of the limit; counts as the sample has them.
        near("speed(aes-128-gcm, 8192)", 8192.0);
        near("cycles(aes-128-gcm, 8192)", 3000.0 / 8192.0);
        near("instructions(aes-128-gcm, 8192)", 0.25);
        near("executed(aes-round, aes-128-gcm, 8192)", 0.156_25);
        near("1 ins/B + executed(store, aes-128-gcm, 8192)", 1.0);
        near("limit(aes-128-gcm, 8192)", 16_384.0);
        near("fastest(aes-128-*, 8192)", 12_000.0);
        near("fastest(aes-128-*, 8192, in = openssl@3.*)", 9010.0);
        assert_eq!(truth("measured(aes-128-gcm, 8192)"), Some(true));
        assert_eq!(truth("measured(aes-128-ocb, 8192)"), Some(false));
        assert_eq!(truth("copies(aes-128-gcm, 8192)"), Some(true));
        assert_eq!(truth("allocates(aes-128-gcm, 8192)"), Some(false));
    }

    #[test]
    fn direction_tier_model_and_library_choose_the_case() {
        near("speed(aes-128-ctr, 8192, decrypt)", 8900.0);
        near("speed(aes-128-ctr, 8192, noaes)", 600.0);
        near("speed(aes-128-ctr, 8192, stream)", 9500.0);
        near("speed(aes-128-gcm, 8192, in = openssl@4.0.1)", 12_000.0);
        // Of several that match the newest.
        near("speed(aes-128-gcm, 8192, in = openssl)", 12_000.0);
    }

    #[test]
    fn numbers_are_computed_with_and_the_extremes_found() {
        near("speed(aes-128-ctr, 8192) / speed(aes-128-ctr, 8192, noaes)", 15.0);
        near("2 * 3 GB/s - 1000 MB/s + 100 MB/s", 5100.0);
        near("max(speed(aes-128-ctr, 8192), 1 GB/s, speed(aes-128-gcm, 8192))", 9000.0);
        near("min(speed(aes-128-ctr, 8192), 1 GB/s)", 1000.0);
    }

    #[test]
    fn comparisons_are_decided_where_the_intervals_do_not_overlap() {
        assert_eq!(truth("speed(aes-128-ctr, 8192) > speed(aes-128-gcm, 8192)"), Some(true));
        assert_eq!(truth("speed(aes-128-ctr, 8192) < speed(aes-128-gcm, 8192)"), Some(false));
        assert_eq!(truth("speed(aes-128-ctr, 8192) < speed(aes-128-ecb, 8192)"), None);
        assert_eq!(truth("speed(aes-128-ctr, 8192) >= speed(aes-128-ecb, 8192)"), None);
        assert_eq!(truth("1 <= 1"), Some(true));
        assert_eq!(truth("1 < 1"), Some(false));
        assert_eq!(truth("1 >= 2"), Some(false));
        assert_eq!(truth("2 > 1"), Some(true));
    }

    #[test]
    fn a_part_that_decides_is_enough_and_else_what_is_missing_counts() {
        let (yes, no) = ("1 < 2", "2 < 1");
        let undecided = "speed(aes-128-ctr, 8192) < speed(aes-128-ecb, 8192)";
        let missing = "speed(aes-192-ctr, 8192) > 1 MB/s";
        assert_eq!(truth(&format!("{yes} and {yes}")), Some(true));
        assert_eq!(truth(&format!("{missing} and {no}")), Some(false));
        assert_eq!(truth(&format!("{missing} or {yes}")), Some(true));
        assert_eq!(truth(&format!("{undecided} or {yes}")), Some(true));
        assert_eq!(truth(&format!("{undecided} and {yes}")), None);
        assert_eq!(truth(&format!("not ({undecided})")), None);
        assert_eq!(truth(&format!("not ({no}) and ({no} or {yes})")), Some(true));
        assert!(result(&format!("{missing} and {yes}")).is_err());
        assert!(result(&format!("{missing} or {undecided}")).is_err());
    }

    #[test]
    fn what_is_missing_is_named_with_the_reason_where_there_is_one() {
        let why = |text: &str| result(text).unwrap_err().to_string();
        assert_eq!(
            why("speed(aes-192-ctr, 16)"),
            "aes-192-ctr of 16 B, model message, tier native in openssl@3.0.22 was not measured"
        );
        assert_eq!(
            why("speed(aes-128-ocb, 8192)"),
            "aes-128-ocb encrypt of 8192 B, model message, tier native, in openssl@3.0.22: refused: round trip: byte 3 differs"
        );
        assert_eq!(why("speed(a, 1, in = botan)"), "no library 'botan' was measured");
        assert!(
            why("instructions(aes-128-ctr, 8192)")
                .starts_with("no instruction counts of aes-128-ctr")
        );
        assert!(why("fastest(rot13, 1)").starts_with("nothing measured of rot13"));
        assert_eq!(why("1 / (1 - 1)"), "a ratio to what may be zero");
    }

    #[test]
    fn imported_figures_decide_nothing() {
        let mut record = sample::record();
        for m in &mut record.measurements {
            m.state = record::State::Imported;
        }
        let records = [record];
        let evidence = Evidence::of(&records);
        assert!(evidence.libraries(&NameGlob::parse("*").unwrap()).is_empty());
        let fastest = parse("fastest(aes-*, 8192)", Model::Message).unwrap();
        assert!(evaluate(&fastest, &evidence, None).is_err());
    }
}
