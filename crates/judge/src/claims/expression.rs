//! The language of conditions, for published claims and for the rules of advice: typed expressions over facts
//! that whoever asks supplies. Their text, their values with units and intervals. `claims/README.md` has the
//! grammar.

use base::analysis::Estimate;
use std::fmt;
use winnow::ascii::multispace0;
use winnow::combinator::{
    alt, cut_err, delimited, eof, fail, opt, preceded, repeat, separated, terminated,
};
use winnow::error::{ContextError, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::token::take_while;

/// An expression over facts `F`.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression<F> {
    Number(f64, Unit),
    Fact(F),
    Apply(Operator, Vec<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `or`, of any number.
    Or,
    /// `and`, of any number.
    And,
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

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// It cannot be had here.
    #[error("{0}")]
    Impossible(String),
    /// It was not measured, for want of time: nothing follows from that.
    #[error("no time for {0}")]
    Time(String),
}

impl<F> Expression<F> {
    /// Reads an expression; `fact` makes facts of the names and calls in it.
    pub fn parse(text: &str, fact: &dyn Fn(Term) -> Result<F, String>) -> Result<Self, String> {
        parse(text)?.with_facts(fact)
    }

    fn with_facts<T>(self, fact: &dyn Fn(F) -> Result<T, String>) -> Result<Expression<T>, String> {
        Ok(match self {
            Self::Number(number, unit) => Expression::Number(number, unit),
            Self::Fact(of) => Expression::Fact(fact(of)?),
            Self::Apply(how, of) => {
                let of: Result<_, _> = of.into_iter().map(|e| e.with_facts(fact)).collect();
                Expression::Apply(how, of?)
            }
        })
    }

    pub fn facts(&self) -> Vec<&F> {
        match self {
            Self::Number(..) => Vec::new(),
            Self::Fact(fact) => vec![fact],
            Self::Apply(_, of) => of.iter().flat_map(Self::facts).collect(),
        }
    }

    /// What it is of, whatever its facts are worth.
    pub fn kind(&self, of_fact: &dyn Fn(&F) -> Kind) -> Result<Kind, String> {
        match self {
            Self::Number(_, unit) => Ok(Kind::Number(*unit)),
            Self::Fact(fact) => Ok(of_fact(fact)),
            Self::Apply(how, of) => {
                let kinds: Result<Vec<Kind>, _> = of.iter().map(|e| e.kind(of_fact)).collect();
                how.kind(&kinds?)
            }
        }
    }

    /// What it is worth, given its facts.
    ///
    /// Comparisons of measured numbers are decided where their intervals do not overlap. A condition of
    /// which a part is missing still has a value where the other parts decide it.
    pub fn evaluate(
        &self,
        of_fact: &dyn Fn(&F) -> Result<Value, Missing>,
    ) -> Result<Value, Missing> {
        match self {
            Self::Number(number, unit) => Ok(Value::Number(Estimate::exactly(*number), *unit)),
            Self::Fact(fact) => of_fact(fact),
            Self::Apply(how @ (Operator::And | Operator::Or), of) => {
                joined(of.iter().map(|e| e.evaluate(of_fact)), *how == Operator::Or)
            }
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
        let of: Vec<Value> = of.into_iter().collect::<Result<_, _>>()?;
        let kinds: Vec<Kind> = of.iter().map(Value::kind).collect();
        let kind = self.kind(&kinds).map_err(Missing::Impossible)?;
        if let Kind::Number(unit) = kind {
            let numbers: Vec<Estimate> = of.iter().filter_map(Value::interval).collect();
            return Ok(Value::Number(self.computed(&numbers)?, unit));
        }
        if let [Value::Truth(truth)] = of[..] {
            return Ok(Value::Truth(truth.map(|truth| !truth)));
        }
        self.compared(&of[0], &of[1]).map(Value::Truth)
    }

    fn computed(self, of: &[Estimate]) -> Result<Estimate, Missing> {
        let extreme = |choose: fn(f64, f64) -> f64| {
            // The largest number is at least the largest lower end, and so on.
            let over = |end: fn(&Estimate) -> f64| {
                of.iter().map(end).reduce(choose).expect("the grammar has one at least")
            };
            Estimate { median: over(|i| i.median), low: over(|i| i.low), high: over(|i| i.high) }
        };
        Ok(match self {
            Self::Largest => extreme(f64::max),
            Self::Smallest => extreme(f64::min),
            Self::Plus => of[0].with(of[1], |a, b| a + b),
            Self::Minus => of[0].with(of[1], |a, b| a - b),
            Self::Times => of[0].with(of[1], |a, b| a * b),
            _ if of[1].has_zero() => {
                return Err(Missing::Impossible("a ratio to what may be zero".to_owned()));
            }
            _ => of[0].with(of[1], |a, b| a / b),
        })
    }

    /// `None` where the intervals overlap.
    fn compared(self, a: &Value, b: &Value) -> Result<Option<bool>, Missing> {
        if matches!(self, Self::Is | Self::IsNot) {
            let is = match (a.interval(), b.interval()) {
                (Some(a), Some(b)) if a.high < b.low || b.high < a.low => Some(false),
                (Some(a), Some(b)) => (a.low == b.high && b.low == a.high).then_some(true),
                _ => Some(match (a.word(), b.word()) {
                    (Some(a), Some(b)) => a == b,
                    _ => a.to_string() == b.to_string(),
                }),
            };
            return Ok(is.map(|is| is == (self == Self::Is)));
        }
        let (a, b) = match (a.interval(), b.interval()) {
            (Some(a), Some(b)) => (a, b),
            _ => a
                .ranks(b)
                .ok_or_else(|| Missing::Impossible(format!("'{a}' and '{b}' have no order")))?,
        };
        let less = |a: Estimate, b: Estimate, equal_counts: bool| {
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

/// What must be true of all, or of one: one part that has the value `deciding` decides; else what is missing counts before
/// what is undecided.
fn joined(
    of: impl Iterator<Item = Result<Value, Missing>>,
    deciding: bool,
) -> Result<Value, Missing> {
    let (mut missing, mut truth) = (None, Some(!deciding));
    for part in of {
        match part {
            Ok(Value::Truth(Some(is))) if is == deciding => return Ok(Value::Truth(Some(is))),
            Ok(Value::Truth(Some(_))) => {}
            Ok(Value::Truth(None)) => truth = None,
            Ok(other) => {
                let why = format!("{} where a condition must stand", other.kind());
                missing.get_or_insert(Missing::Impossible(why));
            }
            Err(why) => _ = missing.get_or_insert(why),
        }
    }
    missing.map_or(Ok(Value::Truth(truth)), Err)
}

// Values of expressions: numbers with a unit and an interval, truths that may be undecided, words.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number, such as a ratio.
    One,
    /// Megabytes (10^6 bytes) a second.
    MbPerSecond,
    CyclesPerByte,
    InstructionsPerByte,
    Microseconds,
}

impl Unit {
    /// As it is written after a number; empty for plain ones.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::One => "",
            Self::MbPerSecond => "MB/s",
            Self::CyclesPerByte => "c/B",
            Self::InstructionsPerByte => "ins/B",
            Self::Microseconds => "us",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Truth,
    Number(Unit),
    Word,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truth => "a condition",
            Self::Number(Unit::One) => "a plain number",
            Self::Number(unit) => unit.symbol(),
            Self::Word => "a word",
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(Estimate, Unit),
    /// True, false, or undecided because the intervals overlap.
    Truth(Option<bool>),
    Word(String),
    /// One of ordered words, the least first.
    Level(usize, &'static [&'static str]),
}

impl Value {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number(_, unit) => Kind::Number(*unit),
            Self::Truth(_) => Kind::Truth,
            Self::Word(_) | Self::Level(..) => Kind::Word,
        }
    }

    pub fn interval(&self) -> Option<Estimate> {
        match self {
            Self::Number(interval, _) => Some(*interval),
            _ => None,
        }
    }

    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Level(rank, names) => names.get(*rank).copied(),
            Self::Number(..) | Self::Truth(_) => None,
        }
    }

    /// The places of this level and of a word in the order of levels.
    fn ranks(&self, other: &Self) -> Option<(Estimate, Estimate)> {
        let Self::Level(rank, names) = self else { return None };
        let other = names.iter().position(|name| Some(*name) == other.word())?;
        Some((Estimate::exactly(*rank as f64), Estimate::exactly(other as f64)))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(interval, unit) => {
                // Nothing bounds it on one side, or on neither.
                let (sign, number) = match (interval.low > 0.0, interval.high.is_finite()) {
                    (true, false) => ("≥ ", interval.low),
                    _ => ("", interval.median),
                };
                write!(f, "{sign}{}", digits(number))?;
                if *unit != Unit::One {
                    write!(f, " {}", unit.symbol())?;
                }
                match interval.half_width() * 100.0 {
                    0.0 => Ok(()),
                    _ if !sign.is_empty() => Ok(()),
                    f64::INFINITY => f.write_str(" ±?"),
                    percent if percent < 0.05 => f.write_str(" ±<0.1 %"),
                    percent => write!(f, " ±{percent:.1} %"),
                }
            }
            Self::Truth(Some(true)) => f.write_str("yes"),
            Self::Truth(Some(false)) => f.write_str("no"),
            Self::Truth(None) => f.write_str("undecided"),
            Self::Word(word) => f.write_str(word),
            Self::Level(rank, names) => f.write_str(names[*rank]),
        }
    }
}

/// Four digits, which no interval here is narrower than, or all before the point.
fn digits(median: f64) -> String {
    let decimals: usize = match median.abs() {
        m if m >= 1000.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        0.0 => 0,
        m if m >= 0.1 => 3,
        _ => 4,
    };
    let number = format!("{median:.decimals$}");
    // 1371.97 MB/s is shown as 1372, and 8.000 as 8.
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number
    }
}

// Text into expressions whose facts are still names and calls.

/// A name, or a call: `use.storage`, `speed(aes-128-ctr, 8192, in = openssl@3.*)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub name: String,
    /// What it is called with; none of a name.
    pub arguments: Option<Vec<Argument>>,
}

/// `8192`, or `in = openssl@3.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Before the equals sign.
    pub key: Option<String>,
    /// A word, number or glob.
    pub text: String,
}

/// Deeper nesting than anybody writes.
const DEEPEST: usize = 50;

/// Words that name nothing.
const KEYWORDS: [&str; 4] = ["or", "and", "not", "is"];

type Syntax = Expression<Term>;

fn parse(text: &str) -> Result<Syntax, String> {
    let nesting = text.chars().scan(0_usize, |depth, c| {
        *depth = if c == ')' { depth.saturating_sub(1) } else { *depth + usize::from(c == '(') };
        Some(*depth)
    });
    if nesting.max() > Some(DEEPEST) {
        return Err(format!("more than {DEEPEST} brackets in each other"));
    }
    let whole = terminated(any_of, eof.context(expected("the end of the expression")));
    preceded(multispace0, whole).parse(text).map_err(|e| {
        let rest: String =
            text[e.offset()..].chars().take(12).filter(|c| !c.is_control()).collect();
        let at = if rest.is_empty() { "the end".to_owned() } else { format!("'{rest}'") };
        format!("at {at}: {}", e.inner())
    })
}

fn expected(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

fn any_of(input: &mut &str) -> ModalResult<Syntax> {
    separated(1.., cut_err(all_of), keyword("or"))
        .map(|of| joined_syntax(Operator::Or, of))
        .parse_next(input)
}

fn all_of(input: &mut &str) -> ModalResult<Syntax> {
    separated(1.., cut_err(not), keyword("and"))
        .map(|of| joined_syntax(Operator::And, of))
        .parse_next(input)
}

fn joined_syntax(how: Operator, mut of: Vec<Syntax>) -> Syntax {
    if of.len() == 1 { of.remove(0) } else { Expression::Apply(how, of) }
}

fn not(input: &mut &str) -> ModalResult<Syntax> {
    let not = opt(keyword("not")).parse_next(input)?;
    let of = comparison.parse_next(input)?;
    Ok(if not.is_some() { Expression::Apply(Operator::Not, vec![of]) } else { of })
}

fn comparison(input: &mut &str) -> ModalResult<Syntax> {
    let how = alt((
        sign("<=").value(Operator::AtMost),
        sign(">=").value(Operator::AtLeast),
        sign("<").value(Operator::Less),
        sign(">").value(Operator::More),
        (keyword("is"), keyword("not")).value(Operator::IsNot),
        keyword("is").value(Operator::Is),
    ));
    let left = sum.parse_next(input)?;
    let right = opt((how, cut_err(sum))).parse_next(input)?;
    Ok(match right {
        Some((how, right)) => Expression::Apply(how, vec![left, right]),
        None => left,
    })
}

fn sum(input: &mut &str) -> ModalResult<Syntax> {
    let how = || alt((sign("+").value(Operator::Plus), sign("-").value(Operator::Minus)));
    let left = product.parse_next(input)?;
    let right: Vec<_> = repeat(0.., (how(), cut_err(product))).parse_next(input)?;
    Ok(from_the_left(left, right))
}

fn product(input: &mut &str) -> ModalResult<Syntax> {
    let how = || alt((sign("*").value(Operator::Times), sign("/").value(Operator::Over)));
    let left = operand.parse_next(input)?;
    let right: Vec<_> = repeat(0.., (how(), cut_err(operand))).parse_next(input)?;
    Ok(from_the_left(left, right))
}

fn from_the_left(left: Syntax, right: Vec<(Operator, Syntax)>) -> Syntax {
    right.into_iter().fold(left, |left, (how, right)| Expression::Apply(how, vec![left, right]))
}

fn operand(input: &mut &str) -> ModalResult<Syntax> {
    let nothing = fail.context(expected("a number, a name or '('"));
    let in_brackets = delimited(sign("("), cut_err(any_of), closing);
    alt((number, in_brackets, extreme, term, nothing)).parse_next(input)
}

fn number(input: &mut &str) -> ModalResult<Syntax> {
    let digits = take_while(1.., |c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = terminated(digits.parse_to(), multispace0).parse_next(input)?;
    let unit = alt((
        sign("MB/s").value((Unit::MbPerSecond, 1.0)),
        sign("GB/s").value((Unit::MbPerSecond, 1000.0)),
        sign("c/B").value((Unit::CyclesPerByte, 1.0)),
        sign("ins/B").value((Unit::InstructionsPerByte, 1.0)),
        sign("%").value((Unit::One, 0.01)),
    ));
    let (unit, factor) = opt(unit).parse_next(input)?.unwrap_or((Unit::One, 1.0));
    Ok(Expression::Number(number * factor, unit))
}

fn extreme(input: &mut &str) -> ModalResult<Syntax> {
    let how =
        alt((keyword("max").value(Operator::Largest), keyword("min").value(Operator::Smallest)));
    let of = delimited(sign("("), separated(1.., any_of, sign(",")), closing);
    (how, cut_err(of)).map(|(how, of)| Expression::Apply(how, of)).parse_next(input)
}

fn term(input: &mut &str) -> ModalResult<Syntax> {
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic()) && !KEYWORDS.contains(&word)
    };
    let name = word.verify(is_name).map(str::to_owned);
    let argument = argument.context(expected("a name, a size or a glob"));
    let list = separated(1.., cut_err(argument), sign(","));
    let arguments = opt(delimited(sign("("), list, closing));
    (name, arguments)
        .map(|(name, arguments)| Expression::Fact(Term { name, arguments }))
        .parse_next(input)
}

fn argument(input: &mut &str) -> ModalResult<Argument> {
    let key = opt(terminated(word, sign("="))).parse_next(input)?.map(str::to_owned);
    let text = word.parse_next(input)?.to_owned();
    Ok(Argument { key, text })
}

/// A word or glob. A comma ends it, unless it stands in braces: `aes-{128,256}-gcm`.
fn word<'a>(input: &mut &'a str) -> ModalResult<&'a str> {
    let part = |c: char| c.is_ascii_alphanumeric() || "-_.@+*".contains(c);
    let braces = ('{', take_while(0.., move |c| part(c) || c == ','), '}').take();
    let parts = repeat::<_, _, (), _, _>(1.., alt((take_while(1.., part), braces))).take();
    terminated(parts, multispace0).parse_next(input)
}

fn keyword<'a>(which: &'static str) -> impl ModalParser<&'a str, &'a str, ContextError> {
    word.verify(move |word: &str| word == which)
}

fn sign<'a>(which: &'static str) -> impl ModalParser<&'a str, &'a str, ContextError> {
    terminated(which, multispace0)
}

fn closing<'a>(input: &mut &'a str) -> ModalResult<&'a str> {
    cut_err(sign(")")).context(expected("')'")).parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: &[&str] = &["low", "middle", "high"];

    /// A measured number, known to 10 %.
    fn about(median: f64) -> Value {
        let interval = Estimate { median, low: median * 0.9, high: median * 1.1 };
        Value::Number(interval, Unit::MbPerSecond)
    }

    /// Names with a dot are facts, others are words.
    fn value(name: &str) -> Result<Value, Missing> {
        Ok(match name {
            "a.slow" => about(100.0),
            "a.quick" => about(200.0),
            "a.same" => about(105.0),
            "a.ratio" => Value::Number(Estimate::exactly(4.0), Unit::One),
            "a.level" => Value::Level(1, LEVELS),
            "a.word" => Value::Word("red".to_owned()),
            "a.truth" => Value::Truth(Some(true)),
            dotted if dotted.contains('.') => {
                return Err(Missing::Impossible(format!("no {dotted}")));
            }
            word => Value::Word(word.to_owned()),
        })
    }

    fn read(text: &str) -> Result<Expression<String>, String> {
        Expression::parse(text, &|term| Ok(term.name))
    }

    fn worth(text: &str) -> Result<Value, Missing> {
        read(text).unwrap().evaluate(&|name: &String| value(name))
    }

    #[test]
    fn conditions_are_true_false_or_undecided() {
        let (undecided, missing) = ("a.slow < a.same", "a.missing > 1 MB/s");
        let (yes, no) = ("a.slow < a.quick", "1 > 2");
        for (text, expected) in [
            ("a.quick > a.slow", Some(true)),
            ("a.quick < a.slow", Some(false)),
            ("a.slow < a.same", None),
            ("a.slow >= a.same", None),
            ("1 <= 1", Some(true)),
            ("1 < 1", Some(false)),
            ("2 > 1", Some(true)),
            ("1 >= 2", Some(false)),
            ("a.ratio is 4", Some(true)),
            ("a.slow is not a.quick", Some(true)),
            ("a.slow is a.same", None),
            ("a.word is red", Some(true)),
            ("a.word is not red", Some(false)),
            ("a.truth is yes", Some(true)),
            ("a.level is middle", Some(true)),
            ("a.level >= middle", Some(true)),
            ("a.level > middle", Some(false)),
            ("a.slow > 36.8 % * a.quick", Some(true)),
            (&format!("{missing} and {no}"), Some(false)),
            (&format!("{missing} or {yes}"), Some(true)),
            (&format!("{undecided} or {yes}"), Some(true)),
            (&format!("{undecided} and {yes}"), None),
            (&format!("not ({undecided})"), None),
            (&format!("not ({no}) and ({no} or {yes})"), Some(true)),
            // `and` binds more than `or`, `not` more than both.
            (&format!("{yes} or {yes} and {no}"), Some(true)),
            (&format!("not {no} or {no}"), Some(true)),
        ] {
            assert_eq!(worth(text), Ok(Value::Truth(expected)), "{text}");
        }
    }

    #[test]
    fn numbers_are_computed_with_their_units() {
        for (text, expected, unit) in [
            ("a.quick / a.slow", 2.0, Unit::One),
            ("2 * (a.slow + 3 GB/s)", 6200.0, Unit::MbPerSecond),
            ("2 * 3 GB/s - 1000 MB/s + 100 MB/s", 5100.0, Unit::MbPerSecond),
            ("max(a.slow, 50 MB/s, a.quick)", 200.0, Unit::MbPerSecond),
            ("min(a.slow, 50 MB/s)", 50.0, Unit::MbPerSecond),
            ("8 ins/B / 2 / 2", 2.0, Unit::InstructionsPerByte),
            ("1 c/B + 2 c/B * 3", 7.0, Unit::CyclesPerByte),
        ] {
            let Ok(Value::Number(interval, of)) = worth(text) else { panic!("{text}") };
            assert!(
                (interval.median - expected).abs() < 1e-9 && of == unit,
                "{text}: {interval:?}"
            );
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        for (text, why) in [
            ("a.missing is 3", "no a.missing"),
            ("a.missing is not 3", "no a.missing"),
            ("a.missing > 1 and a.slow < a.quick", "no a.missing"),
            ("a.missing > 1 or a.slow < a.same", "no a.missing"),
            ("1 / (1 - 1)", "a ratio to what may be zero"),
            ("a.word < high", "'red' and 'high' have no order"),
            ("a.ratio < a.word", "a word where a number must stand"),
            ("a.word and 1 < 2", "a word where a condition must stand"),
        ] {
            assert_eq!(worth(text), Err(Missing::Impossible(why.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused_by_name() {
        let kind = |name: &String| value(name).unwrap().kind();
        for (text, expected) in [
            ("a.slow > 3", "MB/s and a plain number cannot be compared"),
            ("a.slow + 3 c/B", "MB/s and c/B cannot be added or subtracted"),
            ("max(a.slow, 1)", "MB/s and a plain number cannot be in one max or min"),
            ("a.slow * a.slow", "no unit for MB/s and MB/s together"),
            ("1 / a.slow", "no unit for a plain number and MB/s together"),
            ("a.slow and a.truth", "MB/s where a condition must stand"),
            ("not 3", "a plain number where a condition must stand"),
            ("max(a.truth)", "a condition where a number must stand"),
            ("a.truth > 1", "a condition where a number must stand"),
            ("a.word * 2", "a word where a number must stand"),
        ] {
            let why = read(text).unwrap().kind(&kind).unwrap_err();
            assert_eq!(why.to_string(), expected, "{text}");
        }
        assert_eq!(read("a.slow > 1 MB/s").unwrap().kind(&kind), Ok(Kind::Truth));
        assert_eq!(read("a.slow / a.slow").unwrap().kind(&kind), Ok(Kind::Number(Unit::One)));
    }

    #[test]
    fn what_is_no_expression_is_refused_with_what_stands_in_the_way() {
        let deep = "(".repeat(10_000);
        for (text, why) in [
            ("", "at the end: expected a number, a name or '('"),
            ("1 <", "at the end: expected a number, a name or '('"),
            ("1 < 2 and", "at the end: expected a number, a name or '('"),
            ("f(a, 1", "at the end: expected ')'"),
            ("f(a, )", "at ')': expected a name, a size or a glob"),
            ("1 2", "at '2': expected the end of the expression"),
            ("a.b around 3", "at 'around 3': expected the end of the expression"),
            ("1 \u{1b}[2J", "at '[2J': expected the end of the expression"),
            ("1.2.3", "at '1.2.3': expected a number, a name or '('"),
            (&deep, "more than 50 brackets in each other"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), why, "{text}");
        }
    }

    #[test]
    fn calls_have_words_and_globs_and_named_ones() {
        let term = Expression::parse(" f ( {a-*,b+c}, 1.2 ,in = x@3.* ) ", &Ok).unwrap();
        let Expression::Fact(Term { name, arguments: Some(arguments) }) = term else { panic!() };
        let texts: Vec<_> = arguments.iter().map(|a| (a.key.as_deref(), a.text.as_str())).collect();
        assert_eq!(name, "f");
        assert_eq!(texts, [(None, "{a-*,b+c}"), (None, "1.2"), (Some("in"), "x@3.*")]);
    }

    fn interval(low: f64, median: f64, high: f64) -> Estimate {
        Estimate { median, low, high }
    }

    #[test]
    fn intervals_widen_as_they_are_computed_with() {
        let (a, b) = (interval(9.0, 10.0, 11.0), interval(1.0, 2.0, 4.0));
        assert_eq!(a.with(b, |a, b| a + b), interval(10.0, 12.0, 15.0));
        assert_eq!(a.with(b, |a, b| a - b), interval(5.0, 8.0, 10.0));
        assert_eq!(a.with(b, |a, b| a * b), interval(9.0, 20.0, 44.0));
        assert_eq!(a.with(b, |a, b| a / b), interval(2.25, 5.0, 11.0));
        assert_eq!(interval(-2.0, -1.0, 3.0).with(b, |a, b| a * b), interval(-8.0, -2.0, 12.0));
    }

    #[test]
    fn errors_that_do_not_depend_on_each_other_add_as_such() {
        let around = |median, half| interval(median - half, median, median + half);
        let sum = around(10.0, 3.0).independent(around(20.0, 4.0), |a, b| a + b);
        assert_eq!(sum, around(30.0, 5.0));
    }

    #[test]
    fn numbers_are_shown_with_unit_and_interval() {
        let shown = |median, half: f64, unit| {
            let i = interval(median - median * half, median, median + median * half);
            Value::Number(i, unit).to_string()
        };
        assert_eq!(shown(6338.4, 0.004, Unit::MbPerSecond), "6338 MB/s ±0.4 %");
        assert_eq!(shown(0.3912, 0.0, Unit::InstructionsPerByte), "0.391 ins/B");
        assert_eq!(shown(14.49, 0.0001, Unit::One), "14.49 ±<0.1 %");
        assert_eq!(Value::Truth(None).to_string(), "undecided");
    }
}
