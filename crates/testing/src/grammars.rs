//! What is typed: sizes, globs, quantities, libraries, conditions, expressions.

use crate::check;
use crate::mutation::RECORD;
use base::model::{MAX_SIZE, Model, NameGlob};
use base::text::{LibraryText, units};
use judge::claims::Evidence;

/// The first byte says which grammar the rest is of.
pub(crate) fn run(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    // As the system hands over arguments: what is not UTF-8 never arrives.
    let text = &*String::from_utf8_lossy(rest);
    match which % 10 {
        0 => sizes(text),
        1 => glob(text),
        2 => fraction(text),
        3 => duration(text),
        4 => units::parse_rows(text).map_or_else(|why| check::shown(&why), |_| ()),
        5 => hexadecimal(text),
        6 => library(text),
        8 => expression(text),
        _ => text
            .parse::<judge::compare::Condition>()
            .map_or_else(|why| check::shown(&why), condition),
    }
}

fn sizes(text: &str) {
    match base::model::parse_sizes(text) {
        Err(why) => check::shown(&why),
        Ok(sizes) => {
            assert!(!sizes.is_empty() && sizes.windows(2).all(|w| w[0] < w[1]));
            assert!(sizes.iter().all(|s| (1..=MAX_SIZE).contains(s)));
            let printed = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            assert_eq!(base::model::parse_sizes(&printed).as_ref(), Ok(&sizes));
        }
    }
}

fn glob(text: &str) {
    match NameGlob::parse(text) {
        Err(why) => check::shown(&why),
        Ok(glob) => {
            assert_eq!(glob.text(), text);
            let again = NameGlob::parse(glob.text()).expect("it was read before");
            for name in ["aes-128-gcm", "openssl@3.0.22", "", "{", text] {
                assert_eq!(glob.matches(name), again.matches(name));
            }
            let _ = base::model::nearest(text, ["openssl", "libgcrypt"]);
        }
    }
}

fn fraction(text: &str) {
    match units::parse_fraction(text) {
        Err(why) => check::shown(&why),
        Ok(fraction) => assert!(fraction > 0.0 && fraction <= 1.0),
    }
}

fn duration(text: &str) {
    match units::parse_duration(text) {
        Err(why) => check::shown(&why),
        Ok(time) => assert!((0.0009..=86_400.0).contains(&time.as_secs_f64())),
    }
}

fn hexadecimal(text: &str) {
    match units::parse_hex(text) {
        Err(why) => check::shown(&why),
        Ok(bytes) => assert_eq!(bytes.0.len() * 2, text.trim().len()),
    }
}

fn library(text: &str) {
    match LibraryText::parse(text) {
        Err(why) => check::shown(&why),
        Ok(LibraryText::Glob(glob)) => assert_eq!(glob.text(), text),
        Ok(LibraryText::File { name, path }) => {
            assert_eq!(format!("{name}={path}"), text);
            assert!(!name.contains(['/', '\0', '\n', ' ']) && !name.is_empty());
        }
    }
}

fn expression(text: &str) {
    match judge::claims::parse(text, Model::Message) {
        Err(why) => check::shown(&why),
        Ok(expression) => {
            let records = std::slice::from_ref(&*RECORD);
            let evidence = Evidence::of(records);
            let library = RECORD.measurements.first().map(|m| &m.library);
            match judge::claims::evaluate(&expression, &evidence, library) {
                Ok(value) => check::shown(&value),
                Err(why) => check::shown(&why),
            }
        }
    }
}

fn condition(condition: judge::compare::Condition) {
    let again = condition.to_string().parse::<judge::compare::Condition>();
    assert_eq!(again.ok().map(|c| c.to_string()), Some(condition.to_string()));
}
