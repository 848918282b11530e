//! Suites, claims and manifests (TOML), and vectors (JSON): files of a known form.

use crate::check;
use base::text::{Suite, units};

/// The first byte says which reader the rest is for.
pub(crate) fn run(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    // The program names a file that is no text before any of these sees it.
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match which % 4 {
        0 => suite(text),
        1 => judge::claims::parse_source(text).map_or_else(|why| check::shown(&why), drop),
        2 => host::inputs::read_manifest(text).map_or_else(|why| check::shown(&why), drop),
        _ => vectors(text),
    }
}

fn suite(text: &str) {
    match Suite::parse(text) {
        Err(why) => check::shown(&why),
        Ok(suite) => {
            suite.algorithms.iter().for_each(|glob| {
                let _ = base::model::NameGlob::parse(glob);
            });
            let _ =
                (base::model::parse_sizes(&suite.sizes), units::parse_fraction(&suite.precision));
            let _ = units::parse_duration(&suite.budget);
        }
    }
}

fn vectors(text: &str) {
    match verify::vector_file::read(text) {
        Err(why) => check::line(&why),
        Ok(file) => {
            for (algorithm, vector) in &file.vectors {
                let bytes = |hex: &str| hex.len() / 2;
                assert_eq!(bytes(&vector.key), algorithm.key_len);
                assert_eq!(bytes(&vector.nonce), algorithm.nonce_len);
                assert_eq!(bytes(&vector.tag), algorithm.tag_len);
            }
            file.skipped.iter().for_each(|(_, why)| check::shown(why));
        }
    }
}
