//! Text into expressions whose facts are still names and calls.

use super::{Expression, Operator, Unit};
use winnow::ascii::multispace0;
use winnow::combinator::{
    alt, cut_err, delimited, eof, fail, opt, preceded, repeat, separated, terminated,
};
use winnow::error::{ContextError, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::token::take_while;

/// A text that is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadExpression(pub(super) String);

impl BadExpression {
    /// For this reason, on one line.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// A name, or a call: `use.storage`, `speed(aes-128-ctr, 8192, in = openssl@3.*)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What is named or called.
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

pub(super) fn parse(text: &str) -> Result<Syntax, BadExpression> {
    let nesting = text.chars().scan(0_usize, |depth, c| {
        *depth = if c == ')' { depth.saturating_sub(1) } else { *depth + usize::from(c == '(') };
        Some(*depth)
    });
    if nesting.max() > Some(DEEPEST) {
        return Err(BadExpression(format!("more than {DEEPEST} brackets in each other")));
    }
    let whole = terminated(any_of, eof.context(expected("the end of the expression")));
    preceded(multispace0, whole).parse(text).map_err(|e| {
        let rest: String =
            text[e.offset()..].chars().take(12).filter(|c| !c.is_control()).collect();
        let at = if rest.is_empty() { "the end".to_owned() } else { format!("'{rest}'") };
        BadExpression(format!("at {at}: {}", e.inner()))
    })
}

fn expected(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

fn any_of(input: &mut &str) -> ModalResult<Syntax> {
    separated(1.., cut_err(all_of), keyword("or"))
        .map(|of| joined(Operator::Or, of))
        .parse_next(input)
}

fn all_of(input: &mut &str) -> ModalResult<Syntax> {
    separated(1.., cut_err(not), keyword("and"))
        .map(|of| joined(Operator::And, of))
        .parse_next(input)
}

/// One alone stays as it is.
fn joined(how: Operator, mut of: Vec<Syntax>) -> Syntax {
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
