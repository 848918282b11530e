//! The worked example of `docs/ADAPTERS.md`.

use super::{Object, repository};
use contract::{Library, OpenError};
use model::{Algorithm, Direction, Mode};
use trial::{forgeries_are_rejected, messages_agree, streams_agree};

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
    let mut offered = 0;
    // Composites are made of an adapter's offer, whoever wrote it.
    for algorithm in Algorithm::all().iter().filter(|a| a.composite.is_none()) {
        let direction = Direction::of(algorithm.kind)[0];
        match library.open(algorithm, direction, &vec![0; algorithm.key_len]) {
            Ok(session) => {
                messages_agree(&*library, algorithm, |_| true);
                assert_eq!(session.has_stream(), algorithm.mode == Mode::Cbc, "{algorithm}");
                if session.has_stream() {
                    streams_agree(&*library, algorithm);
                } else {
                    forgeries_are_rejected(&*library, algorithm);
                }
                offered += 1;
            }
            Err(OpenError::Unsupported(why)) => {
                assert_eq!(why, format!("this adapter has no {algorithm}"));
            }
            Err(other) => panic!("{algorithm}: {other:?}"),
        }
    }
    assert_eq!(offered, 7);
}

#[test]
fn the_page_quotes_the_example_whole() {
    let page = std::fs::read_to_string(repository("docs/ADAPTERS.md")).unwrap();
    let example = std::fs::read_to_string(repository(EXAMPLE)).unwrap();
    assert!(
        page.contains(&format!("```c\n{example}```\n")),
        "docs/ADAPTERS.md and {EXAMPLE} differ"
    );
}
