//! The checks, one a file.
//!
//! They run from the narrow to the broad: a fault is named by the first check that it trips, so
//! the checks that look for one thing only (a byte outside the output, a nonce that changes
//! nothing) come before those that any fault trips (known answers, the reference). Guard pages
//! come last: they end the process.

mod aad_matters;
mod bounds;
mod determinism;
mod guard_pages;
mod in_place;
mod independence;
mod input_unchanged;
mod key_matters;
mod known_answers;
mod known_forgeries;
mod nonce_matters;
mod other_sizes;
mod reference;
mod rekey;
mod repeated_calls;
mod round_trip;
mod stream;
mod tamper;
mod unaligned;
mod written;

use crate::context::Context;
use crate::finding::Verdict;
use crate::vectors;
use base::model::{Algorithm, Kind};

/// One check.
pub(crate) struct Definition {
    /// Name in records and messages.
    pub(crate) name: &'static str,
    /// Whether the algorithm has what is checked.
    pub(crate) applies: fn(&Algorithm) -> bool,
    /// Runs it.
    pub(crate) run: fn(&mut Context<'_>) -> Verdict,
}

/// Every check, in the order in which they run.
pub(crate) const ALL: &[Definition] = &[
    Definition { name: "input-unchanged", applies: always, run: input_unchanged::run },
    Definition { name: "bounds", applies: always, run: bounds::run },
    Definition { name: "written", applies: writes, run: written::run },
    Definition { name: "determinism", applies: writes, run: determinism::run },
    Definition { name: "independence", applies: writes, run: independence::run },
    Definition { name: "nonce-matters", applies: has_nonce, run: nonce_matters::run },
    Definition { name: "aad-matters", applies: Algorithm::takes_aad, run: aad_matters::run },
    Definition { name: "key-matters", applies: has_key, run: key_matters::run },
    Definition { name: "known-answers", applies: is_published, run: known_answers::run },
    Definition { name: "tamper", applies: Algorithm::rejects, run: tamper::run },
    Definition {
        name: "known-forgeries",
        applies: vectors::has_forgeries,
        run: known_forgeries::run,
    },
    Definition { name: "reference", applies: always, run: reference::run },
    Definition { name: "rekey", applies: has_key, run: rekey::run },
    Definition { name: "round-trip", applies: Algorithm::encrypts, run: round_trip::run },
    Definition { name: "unaligned", applies: always, run: unaligned::run },
    Definition { name: "in-place", applies: always, run: in_place::run },
    Definition { name: "stream", applies: has_parts, run: stream::run },
    Definition { name: "other-sizes", applies: always, run: other_sizes::run },
    Definition { name: "repeated-calls", applies: writes, run: repeated_calls::run },
    Definition { name: "guard-pages", applies: always, run: guard_pages::run },
];

/// Names of every check, in the order in which they run.
pub const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut n = 0;
    while n < ALL.len() {
        names[n] = ALL[n].name;
        n += 1;
    }
    names
};

fn always(_: &Algorithm) -> bool {
    true
}

fn writes(algorithm: &Algorithm) -> bool {
    algorithm.kind != Kind::Null
}

fn has_nonce(algorithm: &Algorithm) -> bool {
    // The null operation has a nonce and does nothing with it.
    algorithm.nonce_len > 0 && algorithm.kind != Kind::Null
}

fn has_key(algorithm: &Algorithm) -> bool {
    algorithm.key_len > 0
}

fn has_parts(algorithm: &Algorithm) -> bool {
    algorithm.encrypts() || matches!(algorithm.kind, Kind::Digest | Kind::Mac)
}

fn is_published(algorithm: &Algorithm) -> bool {
    vectors::unpublished(algorithm).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        for name in NAMES {
            assert_eq!(NAMES.iter().filter(|n| **n == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn authenticated_encryption_gets_every_check_and_null_the_ones_that_make_sense() {
        let names = |algorithm: &str| -> Vec<&str> {
            let algorithm = Algorithm::find(algorithm).unwrap();
            ALL.iter().filter(|c| (c.applies)(algorithm)).map(|c| c.name).collect()
        };
        assert_eq!(names("aes-256-gcm"), NAMES);
        assert_eq!(
            names("null"),
            [
                "input-unchanged",
                "bounds",
                "reference",
                "unaligned",
                "in-place",
                "other-sizes",
                "guard-pages"
            ]
        );
        assert!(!names("aes-128-ecb").contains(&"nonce-matters"));
        assert!(!names("aes-128-ctr").contains(&"tamper"));
    }
}
