//! The worked example of `docs/ADAPTERS.md`.

use super::{Object, repository};
use base::model::{Direction, Mode};
use contract::{Library, OpenError};
use testing::trial::{open, streams_agree};

const EXAMPLE: &str = "docs/examples/adapter.c";

fn library() -> Box<dyn Library> {
    // On every Debian and Ubuntu: apt itself needs it.
    Object::compile(EXAMPLE, &["-l:libnettle.so.8"]).load()
}

#[test]
fn the_example_says_which_nettle_is_loaded() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "nettle");
    assert!(identity.version.starts_with("3."), "{identity:?}");
    assert!(identity.build[0].starts_with("adapter compiled by "), "{identity:?}");
}

#[test]
fn the_example_is_right_in_all_that_it_offers_and_names_what_it_does_not() {
    let library = library();
    let testing::trial::Offer { names, refused } = testing::trial::whole_offer(&*library);
    assert_eq!((names.len(), refused), (7, vec![]));
    // Composites are made of an adapter's offer, whoever wrote it.
    for algorithm in testing::trial::primitives() {
        if !names.contains(&algorithm.name) {
            let direction = Direction::of(algorithm.kind)[0];
            let opened = library.open(algorithm, direction, &vec![0; algorithm.key_len]);
            let why = format!("this adapter has no {algorithm}");
            assert_eq!(opened.err(), Some(OpenError::Unsupported(why)));
            continue;
        }
        let streams = open(&*library, algorithm.name, Direction::Encrypt).has_stream();
        assert_eq!(streams, algorithm.mode == Mode::Cbc, "{algorithm}");
        streams.then(|| streams_agree(&*library, algorithm));
    }
}

#[test]
fn what_the_page_quotes_is_in_the_example() {
    let page = std::fs::read_to_string(repository("docs/ADAPTERS.md")).unwrap();
    let example = std::fs::read_to_string(repository(EXAMPLE)).unwrap();
    let (_, quoted) = page.split_once("```c\n").unwrap();
    let quoted = quoted.split("```").next().unwrap();
    for function in quoted.split("\n\n") {
        assert!(example.contains(function.trim_end()), "{EXAMPLE} has no {function}");
    }
}
