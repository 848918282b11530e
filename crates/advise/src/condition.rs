//! Conditions of rules: clauses joined by `and`, over named values.

use crate::data::BadAdvice;
use std::collections::BTreeMap;
use std::fmt;

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    /// One of ordered words, the least first.
    Level(usize, &'static [&'static str]),
    Word(String),
    Truth(bool),
    /// Not known, or not asked: no clause about it holds.
    Missing,
}

impl Value {
    pub fn word(text: &str) -> Self {
        Self::Word(text.to_owned())
    }

    pub fn number(number: Option<f64>) -> Self {
        number.map_or(Self::Missing, Self::Number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) if n.fract() == 0.0 => write!(f, "{n}"),
            Self::Number(n) => write!(f, "{n:.1}"),
            Self::Level(rank, names) => f.write_str(names[*rank]),
            Self::Word(word) => f.write_str(word),
            Self::Truth(truth) => f.write_str(if *truth { "yes" } else { "no" }),
            Self::Missing => f.write_str("–"),
        }
    }
}

/// Values by name.
pub(crate) type Values = BTreeMap<&'static str, Value>;

/// What must be so.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition(Vec<Clause>);

#[derive(Clone, Debug, PartialEq)]
struct Clause {
    name: String,
    operator: Operator,
    right: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The longer first: one begins with the other.
const OPERATORS: [(&str, Operator); 6] = [
    (" is not ", Operator::IsNot),
    (" is ", Operator::Is),
    (" <= ", Operator::AtMost),
    (" >= ", Operator::AtLeast),
    (" < ", Operator::Less),
    (" > ", Operator::More),
];

impl Condition {
    pub fn parse(text: &str) -> Result<Self, BadAdvice> {
        let clause = |part: &str| {
            let found = OPERATORS.iter().find_map(|(sign, operator)| {
                let (name, right) = part.split_once(sign)?;
                let [name, right] = [name, right].map(|t| t.trim().to_owned());
                Some(Clause { name, operator: *operator, right })
            });
            found.ok_or_else(|| BadAdvice(format!("'{part}' is no clause")))
        };
        text.split(" and ").map(clause).collect::<Result<_, _>>().map(Self)
    }

    /// Whether all of it holds.
    pub fn holds(&self, values: &Values) -> bool {
        self.0.iter().all(|clause| clause.holds(values))
    }

    /// The names that it looks at.
    #[cfg(test)]
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let right = |c: &'_ Clause| c.right.contains('.') && c.right.parse::<f64>().is_err();
        self.0.iter().flat_map(move |c| {
            std::iter::once(c.name.as_str()).chain(right(c).then_some(c.right.as_str()))
        })
    }
}

impl Clause {
    fn holds(&self, values: &Values) -> bool {
        let Some(left) = values.get(self.name.as_str()) else { return false };
        let right = values.get(self.right.as_str());
        if matches!(left, Value::Missing) || matches!(right, Some(Value::Missing)) {
            return false;
        }
        let words = || match right {
            Some(value) => value.to_string(),
            None => self.right.clone(),
        };
        match self.operator {
            Operator::Is => left.to_string() == words(),
            Operator::IsNot => left.to_string() != words(),
            _ => self.compares(left, right).unwrap_or(false),
        }
    }

    fn compares(&self, left: &Value, right: Option<&Value>) -> Option<bool> {
        let (left, right) = match left {
            Value::Number(number) => {
                let right = match right {
                    Some(Value::Number(other)) => *other,
                    Some(_) => return None,
                    None => self.right.parse().ok()?,
                };
                (*number, right)
            }
            Value::Level(rank, names) => {
                let word = right.map_or_else(|| self.right.clone(), ToString::to_string);
                (*rank as f64, names.iter().position(|n| *n == word)? as f64)
            }
            _ => return None,
        };
        Some(match self.operator {
            Operator::Less => left < right,
            Operator::AtMost => left <= right,
            Operator::More => left > right,
            Operator::AtLeast => left >= right,
            Operator::Is | Operator::IsNot => return None,
        })
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
            Some(value) => out += &value.to_string(),
            None => out += &format!("{{{name}}}"),
        }
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: &[&str] = &["low", "middle", "high"];

    fn values() -> Values {
        Values::from([
            ("a.number", Value::Number(4.0)),
            ("a.other", Value::Number(4.5)),
            ("a.level", Value::Level(1, LEVELS)),
            ("a.word", Value::word("red")),
            ("a.truth", Value::Truth(true)),
            ("a.missing", Value::Missing),
        ])
    }

    #[test]
    fn clauses_compare_numbers_levels_words_and_truths() {
        for (text, expected) in [
            ("a.number < 5", true),
            ("a.number >= a.other", false),
            ("a.number <= a.other and a.word is red", true),
            ("a.level >= middle", true),
            ("a.level > middle", false),
            ("a.level is middle", true),
            ("a.word is not red", false),
            ("a.truth is yes", true),
            ("a.number < a.word", false),
            ("a.word < 3", false),
        ] {
            assert_eq!(Condition::parse(text).unwrap().holds(&values()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_makes_a_clause_false_either_way() {
        for text in ["a.missing is 3", "a.missing is not 3", "a.number < a.missing", "b > 1"] {
            assert!(!Condition::parse(text).unwrap().holds(&values()), "{text}");
        }
        assert!(Condition::parse("a.number around 3").is_err());
    }

    #[test]
    fn names_in_words_are_filled_in() {
        let text = "{a.number} and {a.level}, {nothing}, {a.truth} {";
        assert_eq!(fill(text, &values()), "4 and middle, {nothing}, yes ");
    }
}
