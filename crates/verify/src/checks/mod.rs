//! The checks, in the order in which they run. Each file holds those of one subject, a function each.
//!
//! The checks, one a file.
//!
//! They run from the narrow to the broad: a fault is named by the first check that it trips, so
//! the checks that look for one thing only (a byte outside the output, a nonce that changes
//! nothing) come before those that any fault trips (known answers, the reference). Guard pages
//! come last: they end the process.

mod answers;
mod changes;
mod memory;
mod session;

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
    Definition { name: "input-unchanged", applies: always, run: memory::input_unchanged },
    Definition { name: "bounds", applies: always, run: memory::bounds },
    Definition { name: "written", applies: writes, run: memory::written },
    Definition { name: "determinism", applies: writes, run: session::determinism },
    Definition { name: "independence", applies: writes, run: session::independence },
    Definition { name: "nonce-matters", applies: has_nonce, run: changes::nonce_matters },
    Definition { name: "aad-matters", applies: Algorithm::takes_aad, run: changes::aad_matters },
    Definition { name: "key-matters", applies: has_key, run: changes::key_matters },
    Definition { name: "known-answers", applies: is_published, run: answers::known_answers },
    Definition { name: "tamper", applies: Algorithm::rejects, run: changes::tamper },
    Definition {
        name: "known-forgeries",
        applies: vectors::has_forgeries,
        run: changes::known_forgeries,
    },
    Definition { name: "reference", applies: always, run: answers::reference },
    Definition { name: "rekey", applies: has_key, run: session::rekeyed },
    Definition { name: "round-trip", applies: Algorithm::encrypts, run: answers::round_trip },
    Definition { name: "unaligned", applies: always, run: memory::unaligned },
    Definition { name: "in-place", applies: always, run: memory::in_place },
    Definition { name: "stream", applies: has_parts, run: session::stream },
    Definition { name: "other-sizes", applies: always, run: answers::other_sizes },
    Definition { name: "repeated-calls", applies: writes, run: session::repeated_calls },
    Definition { name: "guard-pages", applies: always, run: memory::guard_pages },
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
