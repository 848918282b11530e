//! Words into an expression whose types are right.

use super::lexer::{Token, tokens};
use super::{Arithmetic, Asked, Cases, Comparison, Expression, Extreme, Fact, Kind};
use crate::value::{Interval, Unit};
use model::{Direction, Model, NameGlob, Tier};
use tls::{Case, Filter};

/// A text that is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadExpression(pub(super) String);

impl BadExpression {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Deeper nesting than anybody writes.
const DEEPEST: usize = 50;

/// Reads an expression. Terms that do not name a model have this one.
///
/// # Errors
/// [`BadExpression`] says what is wrong: a word, a unit, a missing bracket.
pub fn parse(text: &str, model: Model) -> Result<Expression, BadExpression> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, model, depth: 0 };
    let expression = parser.or()?;
    match parser.tokens.get(parser.at) {
        None => Ok(expression),
        Some(left) => bad(format!("{} after the end of the expression", shown(Some(left)))),
    }
}

fn bad<T>(why: impl Into<String>) -> Result<T, BadExpression> {
    Err(BadExpression(why.into()))
}

fn shown(token: Option<&Token>) -> String {
    match token {
        Some(Token::Word(word)) => format!("'{word}'"),
        Some(Token::Number(number, unit)) => format!("'{number} {}'", unit.symbol()),
        Some(Token::Sign(sign)) => format!("'{sign}'"),
        None => "nothing".to_owned(),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    model: Model,
    depth: usize,
}

impl Parser {
    fn or(&mut self) -> Result<Expression, BadExpression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return bad(format!("more than {DEEPEST} brackets in each other"));
        }
        let mut of = vec![self.and()?];
        while self.takes_word("or") {
            of.push(self.and()?);
        }
        self.depth -= 1;
        joined(of, "or", Expression::Or)
    }

    fn and(&mut self) -> Result<Expression, BadExpression> {
        let mut of = vec![self.not()?];
        while self.takes_word("and") {
            of.push(self.not()?);
        }
        joined(of, "and", Expression::And)
    }

    fn not(&mut self) -> Result<Expression, BadExpression> {
        if !self.takes_word("not") {
            return self.comparison();
        }
        let of = self.comparison()?;
        truth(&of, "not")?;
        Ok(Expression::Not(Box::new(of)))
    }

    fn comparison(&mut self) -> Result<Expression, BadExpression> {
        use Comparison::{AtLeast, AtMost, Less, More};
        let left = self.sum()?;
        let signs = [("<=", AtMost), (">=", AtLeast), ("<", Less), (">", More)];
        let Some(how) = self.takes_one_of(&signs) else { return Ok(left) };
        let right = self.sum()?;
        same_unit(&left, &right, "compared")?;
        Ok(Expression::Comparison(how, Box::new(left), Box::new(right)))
    }

    fn sum(&mut self) -> Result<Expression, BadExpression> {
        let mut left = self.product()?;
        let signs = [("+", Arithmetic::Plus), ("-", Arithmetic::Minus)];
        while let Some(what) = self.takes_one_of(&signs) {
            let right = self.product()?;
            same_unit(&left, &right, "added or subtracted")?;
            left = Expression::Arithmetic(what, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, BadExpression> {
        let mut left = self.factor()?;
        let signs = [("*", Arithmetic::Times), ("/", Arithmetic::Over)];
        while let Some(what) = self.takes_one_of(&signs) {
            let right = self.factor()?;
            let (a, b) = (number(&left)?, number(&right)?);
            let possible = match what {
                Arithmetic::Times => a == Unit::One || b == Unit::One,
                _ => a == b || b == Unit::One,
            };
            if !possible {
                return bad(format!("no unit for {} and {} together", name(a), name(b)));
            }
            left = Expression::Arithmetic(what, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, BadExpression> {
        match self.next() {
            Some(Token::Number(number, unit)) => {
                Ok(Expression::Literal(Interval::exact(number), unit))
            }
            Some(Token::Sign("(")) => {
                let inner = self.or()?;
                self.demand(")")?;
                Ok(inner)
            }
            Some(Token::Word(word)) => self.call(&word),
            other => {
                bad(format!("{} where a number, a name or '(' must stand", shown(other.as_ref())))
            }
        }
    }

    fn call(&mut self, function: &str) -> Result<Expression, BadExpression> {
        match function {
            "max" => self.extreme(Extreme::Largest),
            "min" => self.extreme(Extreme::Smallest),
            "handshake" => self.handshake(),
            _ => self.fact(function),
        }
    }

    fn extreme(&mut self, which: Extreme) -> Result<Expression, BadExpression> {
        self.demand("(")?;
        let mut of = vec![self.or()?];
        while self.takes(",") {
            of.push(self.or()?);
            same_unit(&of[0], &of[of.len() - 1], "in one max or min")?;
        }
        number(&of[0])?;
        self.demand(")")?;
        Ok(Expression::Extreme(which, of))
    }

    /// `handshake(1.2, x25519, rsa-2048, full)`
    fn handshake(&mut self) -> Result<Expression, BadExpression> {
        let wrong = |e: tls::UnknownName| BadExpression(e.to_string());
        self.demand("(")?;
        let version = match self.next() {
            Some(Token::Number(number, Unit::One)) => number.to_string(),
            other => return bad(format!("{} where a version must stand", shown(other.as_ref()))),
        };
        let version = Filter::version(&version).map_err(wrong)?;
        self.demand(",")?;
        let exchange = Filter::exchange(&self.word("a key exchange")?).map_err(wrong)?;
        self.demand(",")?;
        let certificate = Filter::certificate(&self.word("a certificate")?).map_err(wrong)?;
        self.demand(",")?;
        let kind = Filter::kind(&self.word("a kind of handshake")?).map_err(wrong)?;
        self.demand(")")?;
        let suite = tls::Suite::Aes128Gcm;
        let case = Case { version, exchange, certificate, kind, client_auth: false, suite };
        if !case.exists() {
            return bad(format!("TLS has no handshake '{case}'"));
        }
        Ok(Expression::Handshake(case))
    }

    /// `speed(aes-128-ctr, 8192, decrypt, noaes, message, in = openssl@3.*)`
    fn fact(&mut self, function: &str) -> Result<Expression, BadExpression> {
        let mut asked = match function {
            "speed" => Asked::Speed,
            "fastest" => Asked::Fastest,
            "cycles" => Asked::Cycles,
            "instructions" => Asked::Instructions,
            "executed" => Asked::Executed(String::new()),
            "limit" => Asked::Limit,
            "measured" => Asked::Measured,
            "copies" => Asked::Copies,
            "allocates" => Asked::Allocates,
            _ => {
                return bad(format!(
                    "unknown function '{function}'; there are speed, fastest, cycles, instructions, executed, limit, measured, copies, allocates, handshake, max, min"
                ));
            }
        };
        self.demand("(")?;
        if let Asked::Executed(class) = &mut asked {
            *class = self.word("the class of the instructions")?;
            self.demand(",")?;
        }
        let algorithm = self.glob("an algorithm")?;
        self.demand(",")?;
        let size = self.size()?;
        let (model, tier) = (self.model, Tier::Native);
        let mut cases = Cases { algorithm, size, direction: None, model, tier, library: None };
        while self.takes(",") {
            self.option(&mut cases)?;
        }
        self.demand(")")?;
        Ok(Expression::Fact(Box::new(Fact { asked, cases })))
    }

    fn option(&mut self, cases: &mut Cases) -> Result<(), BadExpression> {
        let word = self.word("a direction, model, tier or library")?;
        if word == "in" {
            self.demand("=")?;
            cases.library = Some(self.glob("a library")?);
            return Ok(());
        }
        let directions = [Direction::Encrypt, Direction::Decrypt];
        if let Some(direction) = directions.iter().find(|d| d.name() == word) {
            cases.direction = Some(*direction);
        } else if let Some(model) = Model::ALL.iter().find(|m| m.name() == word) {
            cases.model = *model;
        } else if let Some(tier) = Tier::ALL.iter().find(|t| t.name() == word) {
            cases.tier = *tier;
        } else {
            return bad(format!("'{word}' is no direction, model or tier, and not 'in = LIBRARY'"));
        }
        Ok(())
    }

    fn glob(&mut self, what: &str) -> Result<NameGlob, BadExpression> {
        let word = self.word(what)?;
        NameGlob::parse(&word).map_err(|e| BadExpression(e.to_string()))
    }

    fn size(&mut self) -> Result<usize, BadExpression> {
        match self.next() {
            // Sizes are whole and far below 2^53.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(Token::Number(n, Unit::One))
                if n.fract() == 0.0 && (1.0..=model::MAX_SIZE as f64).contains(&n) =>
            {
                Ok(n as usize)
            }
            other => bad(format!("{} where a size in bytes must stand", shown(other.as_ref()))),
        }
    }

    fn word(&mut self, what: &str) -> Result<String, BadExpression> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            other => bad(format!("{} where {what} must stand", shown(other.as_ref()))),
        }
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    fn takes(&mut self, sign: &'static str) -> bool {
        let is = self.tokens.get(self.at) == Some(&Token::Sign(sign));
        self.at += usize::from(is);
        is
    }

    fn takes_word(&mut self, keyword: &str) -> bool {
        let is = matches!(self.tokens.get(self.at), Some(Token::Word(w)) if w == keyword);
        self.at += usize::from(is);
        is
    }

    fn takes_one_of<T: Copy>(&mut self, signs: &[(&'static str, T)]) -> Option<T> {
        signs.iter().find(|(sign, _)| self.takes(sign)).map(|(_, what)| *what)
    }

    fn demand(&mut self, sign: &'static str) -> Result<(), BadExpression> {
        if self.takes(sign) {
            return Ok(());
        }
        bad(format!("{} where '{sign}' must stand", shown(self.tokens.get(self.at))))
    }
}

/// One alone stays as it is; several must be truths.
fn joined(
    mut of: Vec<Expression>,
    keyword: &str,
    join: impl FnOnce(Vec<Expression>) -> Expression,
) -> Result<Expression, BadExpression> {
    if of.len() == 1 {
        return Ok(of.remove(0));
    }
    of.iter().try_for_each(|e| truth(e, keyword))?;
    Ok(join(of))
}

fn truth(e: &Expression, keyword: &str) -> Result<(), BadExpression> {
    match e.kind() {
        Kind::Truth => Ok(()),
        Kind::Number(unit) => {
            bad(format!("'{keyword}' needs conditions, and one is {}", name(unit)))
        }
    }
}

fn number(e: &Expression) -> Result<Unit, BadExpression> {
    match e.kind() {
        Kind::Number(unit) => Ok(unit),
        Kind::Truth => bad("a condition where a number must stand"),
    }
}

fn same_unit(a: &Expression, b: &Expression, what: &str) -> Result<(), BadExpression> {
    let (a, b) = (number(a)?, number(b)?);
    if a == b { Ok(()) } else { bad(format!("{} and {} cannot be {what}", name(a), name(b))) }
}

fn name(unit: Unit) -> &'static str {
    if unit == Unit::One { "a plain number" } else { unit.symbol() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(text: &str) -> Kind {
        parse(text, Model::Stream).unwrap().kind()
    }

    fn why(text: &str) -> String {
        parse(text, Model::Stream).unwrap_err().to_string()
    }

    #[test]
    fn numbers_have_units_and_ratios_have_none() {
        assert_eq!(kind("speed(aes-128-ctr, 8192)"), Kind::Number(Unit::MbPerSecond));
        assert_eq!(kind("speed(a, 1) / speed(b, 1)"), Kind::Number(Unit::One));
        assert_eq!(kind("2 * (speed(a, 1) + 3 GB/s)"), Kind::Number(Unit::MbPerSecond));
        assert_eq!(kind("instructions(a, 16) / 2"), Kind::Number(Unit::InstructionsPerByte));
        assert_eq!(kind("max(cycles(a, 1), 0.5 c/B)"), Kind::Number(Unit::CyclesPerByte));
        assert_eq!(kind("speed(a, 1) > 36.8 % * speed(b, 1)"), Kind::Truth);
    }

    #[test]
    fn a_handshake_is_named_by_its_four_parts() {
        assert_eq!(kind("handshake(1.3, x25519, p256, full)"), Kind::Number(Unit::Microseconds));
        let ratio = "handshake(1.2, rsa, rsa-2048, full) / handshake(1.2, p256, rsa-2048, full)";
        assert_eq!(kind(ratio), Kind::Number(Unit::One));
        assert_eq!(parse(ratio, Model::Stream).unwrap().handshakes().len(), 2);
        let why_not = why("handshake(1.3, rsa, rsa-2048, full)");
        assert_eq!(why_not, "TLS has no handshake '1.3 rsa rsa-2048 full'");
        assert!(why("handshake(1.2, x25591, p256, full)").contains("did you mean 'x25519'?"));
        assert!(why("handshake(x25519, p256, full)").contains("where a version must stand"));
    }

    #[test]
    fn a_term_names_its_cases() {
        let text =
            "fastest({aes-128-ctr,aes-256-*}, 8192, decrypt, noaes, message, in = openssl@3.*)";
        let Expression::Fact(fact) = parse(text, Model::Stream).unwrap() else { panic!() };
        let cases = &fact.cases;
        assert_eq!(fact.asked, Asked::Fastest);
        assert!(cases.algorithm.matches("aes-256-xts") && !cases.algorithm.matches("aes-128-xts"));
        assert_eq!((cases.size, cases.direction), (8192, Some(Direction::Decrypt)));
        assert_eq!((cases.model, cases.tier), (Model::Message, Tier::Noaes));
        assert!(cases.library.as_ref().unwrap().matches("openssl@3.0.22"));
    }

    #[test]
    fn wrong_units_are_refused_by_name() {
        assert_eq!(why("speed(a, 1) > 3"), "MB/s and a plain number cannot be compared");
        assert_eq!(why("speed(a, 1) + cycles(a, 1)"), "MB/s and c/B cannot be added or subtracted");
        assert_eq!(why("speed(a, 1) * speed(a, 1)"), "no unit for MB/s and MB/s together");
        assert_eq!(
            why("speed(a, 1) and measured(a, 1)"),
            "'and' needs conditions, and one is MB/s"
        );
        assert_eq!(why("not 3"), "'not' needs conditions, and one is a plain number");
        assert_eq!(why("max(measured(a, 1))"), "a condition where a number must stand");
        assert_eq!(why("measured(a, 1) > 1"), "a condition where a number must stand");
    }

    #[test]
    fn what_is_no_expression_is_refused_with_what_stands_in_the_way() {
        assert_eq!(why(""), "nothing where a number, a name or '(' must stand");
        assert_eq!(why("speed(a, 1"), "nothing where ')' must stand");
        assert_eq!(why("speed(a, 1.5)"), "'1.5 ' where a size in bytes must stand");
        assert_eq!(
            why("speed(a, 16, sideways)"),
            "'sideways' is no direction, model or tier, and not 'in = LIBRARY'"
        );
        assert!(why("sped(a, 16)").starts_with("unknown function 'sped'; there are speed, "));
        assert_eq!(why("1 2"), "'2 ' after the end of the expression");
        assert_eq!(why("1 \u{1b}[2J"), "'[2J' is nothing that can stand here");
        assert_eq!(why("1.2.3"), "'1.2.3' is no number");
        assert!(why(&"(".repeat(10_000)).starts_with("more than 50 brackets"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_fail_otherwise(text in "[a-z0-9(){}<>=+*/., -]{0,60}") {
            let _ = parse(&text, Model::Message);
        }
    }
}
