//! Conditions of rules, in the language of `crate::claims::expression`: over named values and words.

use crate::claims::expression::{BadExpression, Expression, Interval, Missing, Term, Unit, Value};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Values by name; none of what is not known, or not asked: no clause about it holds.
pub(crate) type Values = BTreeMap<&'static str, Option<Value>>;

pub(crate) fn number(number: impl Into<f64>) -> Value {
    Value::Number(Interval::exact(number.into()), Unit::One)
}

pub(crate) fn word(text: &str) -> Value {
    Value::Word(text.to_owned())
}

pub(crate) fn truth(truth: bool) -> Value {
    Value::Truth(Some(truth))
}

/// What must be so.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Condition(Expression<String>);

impl TryFrom<String> for Condition {
    type Error = BadExpression;

    fn try_from(text: String) -> Result<Self, BadExpression> {
        let name = |term: Term| match term.arguments {
            None => Ok(term.name),
            Some(_) => Err(BadExpression::new(format!("'{}' is no function", term.name))),
        };
        Expression::parse(&text, &name).map(Self)
    }
}

impl Condition {
    /// Whether all of it holds.
    pub fn holds(&self, values: &Values) -> bool {
        let value = |name: &String| match values.get(name.as_str()) {
            Some(known) => known.clone().ok_or_else(|| Missing(format!("no {name}"))),
            // What is no name is a word, such as `adversary`.
            None if is_name(name) => Err(Missing(format!("no {name}"))),
            None => Ok(word(name)),
        };
        self.0.evaluate(&value) == Ok(truth(true))
    }

    /// The names that it looks at.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.facts().into_iter().filter(|text| is_name(text))
    }
}

/// `scheme.mode`
fn is_name(text: &str) -> bool {
    text.contains('.')
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::Number(n, _)) if n.median.fract() == 0.0 => n.median.to_string(),
        Some(Value::Number(n, _)) => format!("{:.1}", n.median),
        Some(value) => value.to_string(),
        None => "–".to_owned(),
    }
}

/// The text with `{names}` filled in; a name that is none stays as it is.
pub(crate) fn fill(text: &str, values: &Values) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        let Some((name, behind)) = after.split_once('}') else {
            rest = after;
            continue;
        };
        match values.get(name) {
            Some(value) => out += &shown(value.as_ref()),
            None => out += &format!("{{{name}}}"),
        }
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values::from([
            ("a.number", Some(number(4.0))),
            ("a.level", Some(Value::Level(1, &["low", "middle", "high"]))),
            ("a.word", Some(word("red"))),
            ("a.truth", Some(truth(true))),
            ("a.missing", None),
        ])
    }

    #[test]
    fn conditions_are_of_names_and_words() {
        for (text, expected) in [
            ("a.number < 5 and a.word is red", true),
            ("a.level >= middle and a.truth is yes", true),
            // What is not known, or of another kind, makes a clause false either way.
            ("a.missing is 3", false),
            ("a.missing is not 3", false),
            ("a.number < a.missing", false),
            ("a.number < a.word", false),
            ("a.word < 3", false),
            ("b > 1", false),
            ("b.c is not 1", false),
        ] {
            let condition = Condition::try_from(text.to_owned()).unwrap();
            assert_eq!(condition.holds(&values()), expected, "{text}");
        }
        for text in ["a.number around 3", "speed(a)"] {
            assert!(Condition::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_in_words_are_filled_in() {
        let text = "{a.number} and {a.level}, {nothing}, {a.truth} {";
        assert_eq!(fill(text, &values()), "4 and middle, {nothing}, yes ");
    }
}
