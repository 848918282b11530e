use super::*;
use proptest::prelude::*;

const LEVELS: &[&str] = &["low", "middle", "high"];

/// A measured number, known to 10 %.
fn about(median: f64) -> Value {
    let interval = Interval { median, low: median * 0.9, high: median * 1.1 };
    Value::Number(interval, Unit::MbPerSecond)
}

/// Names with a dot are facts, others are words.
fn value(name: &str) -> Result<Value, Missing> {
    Ok(match name {
        "a.slow" => about(100.0),
        "a.quick" => about(200.0),
        "a.same" => about(105.0),
        "a.ratio" => Value::Number(Interval::exact(4.0), Unit::One),
        "a.level" => Value::Level(1, LEVELS),
        "a.word" => Value::Word("red".to_owned()),
        "a.truth" => Value::Truth(Some(true)),
        dotted if dotted.contains('.') => return Err(Missing(format!("no {dotted}"))),
        word => Value::Word(word.to_owned()),
    })
}

fn read(text: &str) -> Result<Expression<String>, BadExpression> {
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
        assert!((interval.median - expected).abs() < 1e-9 && of == unit, "{text}: {interval:?}");
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
        assert_eq!(worth(text), Err(Missing(why.to_owned())), "{text}");
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

proptest! {
    #[test]
    fn no_text_makes_the_parser_fail_otherwise(text in "[a-z0-9(){}<>=+*/., -]{0,60}") {
        if let Ok(expression) = read(&text) {
            let _ = expression.evaluate(&|name: &String| value(name));
        }
    }
}
