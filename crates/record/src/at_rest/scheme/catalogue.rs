//! The schemes as good practice has them: position bound wherever the scheme has room for it, nonces
//! drawn at random and stored.

use crate::at_rest::scheme::position::Field;
use crate::at_rest::scheme::recipe::{KeyScope, MacPart, NonceRule, Recipe, Sum};
use base::model::{Algorithm, Mode, nearest};

/// File and block in 16 bytes: unequal for unequal pages of a store, as long as OIDs of tablespaces
/// differ in their low 24 bits.
pub(crate) const PLACE: [Field; 5] =
    [Field::Database32, Field::Relation32, Field::Block32, Field::Fork8, Field::Space24];

/// Ciphers, with the sums that are put beside them.
const SCHEMES: &[(&str, &[Option<Sum>])] = &[
    ("aes-128-ctr", &[None, Some(Sum::Xxh3), Some(Sum::HmacSha256)]),
    ("aes-256-ctr", &[None, Some(Sum::Xxh3), Some(Sum::HmacSha256)]),
    ("aes-256-cbc", &[Some(Sum::HmacSha1), Some(Sum::HmacSha256), Some(Sum::HmacSha512)]),
    ("aes-128-xts", &[None, Some(Sum::Xxh3), Some(Sum::Crc32c)]),
    ("aes-256-xts", &[None, Some(Sum::Xxh3), Some(Sum::Crc32c)]),
    ("aes-128-gcm", &[None]),
    ("aes-256-gcm", &[None]),
    ("aes-128-gcm-siv", &[None]),
    ("aes-256-gcm-siv", &[None]),
    ("aes-128-ocb", &[None]),
    ("aes-256-ocb", &[None]),
    ("chacha20-poly1305", &[None]),
    ("xchacha20-poly1305", &[None]),
    ("aegis-128l", &[None]),
    ("aegis-128x2", &[None]),
    ("aegis-128x4", &[None]),
    ("aegis-256", &[None]),
    ("aegis-256x2", &[None]),
    ("aegis-256x4", &[None]),
];

/// All of them, `none` first.
#[must_use]
pub fn good_practice() -> Vec<Recipe> {
    let rest = SCHEMES.iter().flat_map(|(cipher, sums)| sums.iter().map(|sum| good(cipher, *sum)));
    std::iter::once(none()).chain(rest).collect()
}

/// No encryption.
fn none() -> Recipe {
    Recipe {
        scheme: "none".to_owned(),
        cipher: None,
        sum: None,
        nonce: NonceRule::None,
        bound: Vec::new(),
        mac: Vec::new(),
        key: KeyScope::Store,
        zero_passes: false,
        zero_page_passes: false,
        reserve: 0,
    }
}

/// A scheme's name.
pub(crate) fn name(cipher: &str, sum: Option<Sum>) -> String {
    sum.map_or_else(|| cipher.to_owned(), |sum| format!("{cipher}+{}", sum.name()))
}

/// A cipher and a sum as good practice has them.
pub(crate) fn good(cipher: &str, sum: Option<Sum>) -> Recipe {
    let algorithm = Algorithm::find(cipher).expect("a test holds the names");
    // NIST SP 800-38E: the tweak is the data unit's number, and need not be secret. Everything else is
    // drawn: a CBC IV has to be unpredictable (NIST SP 800-38A §5.3), and a place comes again with
    // every rewrite.
    let nonce = match algorithm.mode {
        Mode::Xts => NonceRule::Place(PLACE.to_vec()),
        _ => NonceRule::Random,
    };
    let mac = match sum {
        // All but the ciphertext have lengths that never change, so that nothing can be moved from one
        // part to another.
        Some(sum) if sum.is_mac() => {
            vec![MacPart::Nonce, MacPart::Place(PLACE.to_vec()), MacPart::Ciphertext]
        }
        _ => Vec::new(),
    };
    let binds = algorithm.takes_aad() || sum.is_some_and(|s| !s.is_mac());
    Recipe {
        scheme: name(cipher, sum),
        cipher: Some(cipher.to_owned()),
        sum,
        nonce,
        bound: if binds { PLACE.to_vec() } else { Vec::new() },
        mac,
        ..none()
    }
}

/// The same with nonces made of the page's LSN and block, as was proposed for `PostgreSQL` (pgsql-hackers,
/// 25 July and 7 October 2019): 64 and 32 bits, then zeros, which a counter counts in. XTS has the place as
/// its tweak and CBC an IV that cannot be foreseen, as before.
#[must_use]
pub fn with_lsn_nonces() -> Vec<Recipe> {
    let fields = vec![Field::Version64, Field::Block32];
    let of = |recipe: Recipe| {
        let unique = recipe.algorithm().is_some_and(|a| a.mode != Mode::Cbc);
        match recipe.nonce {
            NonceRule::Random if unique => {
                Recipe { nonce: NonceRule::Lsn(fields.clone()), ..recipe }
            }
            _ => recipe,
        }
    };
    good_practice().into_iter().map(of).collect()
}

/// One line for a glob that matches no scheme.
#[must_use]
pub fn unknown_scheme(text: &str, known: &[Recipe]) -> String {
    let near = nearest(text, known.iter().map(|r| r.scheme.as_str()));
    let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
    let names: Vec<&str> = known.iter().map(|r| r.scheme.as_str()).collect();
    format!("no page scheme matches '{text}'{hint}; there are: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::recipe::{Protection, SchemeClass, check_lengths};

    #[test]
    fn every_scheme_is_whole_and_named_once() {
        let all = good_practice();
        for recipe in &all {
            assert_eq!(all.iter().filter(|r| r.scheme == recipe.scheme).count(), 1);
            assert_eq!(recipe.cipher.is_some(), recipe.algorithm().is_some(), "{}", recipe.scheme);
            assert!(check_lengths(recipe), "{}", recipe.scheme);
            assert_eq!(
                recipe.sum.is_some_and(Sum::is_mac),
                recipe.mac.contains(&MacPart::Ciphertext),
                "{}",
                recipe.scheme
            );
        }
    }

    #[test]
    fn extra_bytes_are_what_is_stored() {
        let extra = |name: &str| {
            good_practice().iter().find(|r| r.scheme == name).map(Recipe::extra_bytes).unwrap()
        };
        assert_eq!(extra("none"), 0);
        assert_eq!(extra("aes-256-xts"), 0);
        assert_eq!(extra("aes-256-xts+crc32c"), 4);
        assert_eq!(extra("aes-256-ctr"), 16);
        assert_eq!(extra("aes-256-gcm"), 28);
        assert_eq!(extra("xchacha20-poly1305"), 40);
        assert_eq!(extra("aes-256-cbc+hmac-sha512"), 80);
        assert_eq!(extra("aegis-256"), 64);
    }

    #[test]
    fn a_nonce_that_stands_in_the_page_costs_no_room() {
        for recipe in with_lsn_nonces() {
            assert!(check_lengths(&recipe), "{}", recipe.scheme);
        }
        let extra = |name: &str| {
            with_lsn_nonces().iter().find(|r| r.scheme == name).map(Recipe::extra_bytes).unwrap()
        };
        assert_eq!((extra("aes-256-ctr"), extra("aes-256-gcm"), extra("aes-256-xts")), (0, 16, 0));
        assert_eq!((extra("aegis-256"), extra("aes-256-cbc+hmac-sha256")), (32, 48));
    }

    #[test]
    fn whatever_authenticates_binds_the_place() {
        for recipe in good_practice() {
            if recipe.class() == SchemeClass::Authenticated {
                assert_eq!(recipe.bound, PLACE, "{}", recipe.scheme);
            }
            if recipe.protection() == Protection::Accident {
                assert_eq!(recipe.bound, PLACE, "{}", recipe.scheme);
            }
        }
    }

    #[test]
    fn a_misspelt_scheme_gets_the_nearest_one() {
        let text = unknown_scheme("aes-256-xst", &good_practice());
        assert!(text.contains("did you mean 'aes-256-xts'?"), "{text}");
    }
}
