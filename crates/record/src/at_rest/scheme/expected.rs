//! Probes of integrity, and what each scheme is expected to notice: one table.

use crate::at_rest::scheme::recipe::{NonceRule, Protection, Recipe, SchemeClass, Sum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way in which a stored page can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Probe {
    /// One bit of the ciphertext is another.
    FlipCiphertext,
    /// One bit of the stored nonce is another.
    FlipNonce,
    /// One bit of the tag, or of the MAC, is another.
    FlipTag,
    /// One bit of the checksum is another.
    FlipSum,
    /// Two pages of a file, each with what is stored beside it, have changed places.
    Swap,
    /// In a page's place lies the page of the same number of another file.
    OtherFile,
    /// The page's second half is that of an older version: a write that was cut short.
    Torn,
    /// The page's second half is lost, and reads as zeros.
    Truncated,
    /// The page and what is stored beside it read as zeros.
    Zeroed,
    /// An older version of the page, with what was stored beside it then.
    Replay,
    /// Whoever knows the page's present and an older content, but no key, writes what serves them.
    Rewrite,
}

/// What an unnoticed change did to the plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing: the page reads as it should.
    None,
    /// One bit is another.
    OneBit,
    /// At most one block of 16 bytes is garbled.
    OneBlock,
    /// One block of 16 bytes is garbled, and one bit of the next is another.
    BlockAndBit,
    /// The other page's content, but for at most a block: under another IV a chain loses its first.
    OtherPage,
    /// An older content of the page.
    OldPage,
    /// The first half of the one version and the second half of the other, but for at most a block.
    Mixed,
    /// The second half is zeros.
    HalfZero,
    /// Zeros.
    Zeros,
    /// Exactly what was meant by whoever wrote it.
    AsMeant,
    /// Garbage.
    Garbage,
}

/// What is expected of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// There is nothing to change.
    NotApplicable,
    /// Every one is noticed.
    Noticed,
    /// None is noticed, and this becomes of the plaintext.
    Unnoticed(Effect),
}

impl Probe {
    /// All.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is something that happens by itself.
    #[must_use]
    pub fn is_accident(self) -> bool {
        !matches!(self, Self::Replay | Self::Rewrite)
    }
}

/// What becomes unnoticed of a plaintext, by class: `None` where the scheme has nothing to change.
type Row = (Probe, [Expected; 4]);

const fn un(effect: Effect) -> Expected {
    Expected::Unnoticed(effect)
}

const fn all(effects: [Effect; 4]) -> [Expected; 4] {
    let [plain, stream, blocks, chain] = effects;
    [un(plain), un(stream), un(blocks), un(chain)]
}

const NA: Expected = Expected::NotApplicable;

/// Without any check: plain, stream under a stored nonce, blocks whose tweak names place and file, chain
/// under a key of its file's. [`without_check`] has what differs for others.
const WITHOUT_CHECK: [Row; 11] = {
    use Effect::{AsMeant, BlockAndBit, Garbage, HalfZero, Mixed, OldPage, OneBit, OneBlock};
    use Effect::{OtherPage, Zeros};
    [
        (Probe::FlipCiphertext, all([OneBit, OneBit, OneBlock, BlockAndBit])),
        (Probe::FlipNonce, [NA, un(Garbage), NA, un(OneBit)]),
        (Probe::FlipTag, [NA; 4]),
        (Probe::FlipSum, [NA; 4]),
        (Probe::Swap, all([OtherPage, OtherPage, Garbage, OtherPage])),
        (Probe::OtherFile, all([OtherPage, OtherPage, Garbage, Garbage])),
        (Probe::Torn, all([Mixed, Garbage, Mixed, Mixed])),
        (Probe::Truncated, all([HalfZero, Garbage, Garbage, Garbage])),
        (Probe::Zeroed, all([Zeros, Garbage, Garbage, Garbage])),
        (Probe::Replay, [un(OldPage); 4]),
        (Probe::Rewrite, all([AsMeant, AsMeant, AsMeant, Mixed])),
    ]
};

/// What is expected of a probe of a scheme.
#[must_use]
pub fn expected(recipe: &Recipe, probe: Probe) -> Expected {
    let stored_nonce = recipe.stored_nonce_bytes() > 0;
    match probe {
        Probe::FlipNonce if !stored_nonce => return NA,
        Probe::FlipTag if recipe.tag_bytes() == 0 && !recipe.sum.is_some_and(Sum::is_mac) => {
            return NA;
        }
        Probe::FlipSum if recipe.sum.is_none_or(Sum::is_mac) => return NA,
        // No per-page scheme tells an old page from the present one.
        Probe::Replay => return un(Effect::OldPage),
        Probe::Zeroed if recipe.zero_page_passes => return un(Effect::Zeros),
        _ => {}
    }
    match (recipe.protection(), probe) {
        (Protection::Adversary, _) => adversary(recipe, probe),
        // Whoever can rewrite the page can work out its checksum anew.
        (Protection::Accident, Probe::Rewrite) | (Protection::None, _) => {
            without_check(recipe, probe)
        }
        (Protection::Accident, _) => Expected::Noticed,
    }
}

/// A MAC notices all but what it does not cover.
fn adversary(recipe: &Recipe, probe: Probe) -> Expected {
    let covers_file = recipe.key == crate::at_rest::scheme::KeyScope::File
        || recipe.class() == SchemeClass::Authenticated
        || recipe.mac.iter().any(|part| match part {
            crate::at_rest::scheme::MacPart::Place(fields) => {
                fields.contains(&crate::at_rest::scheme::Field::Relation32)
            }
            _ => false,
        });
    match probe {
        Probe::OtherFile if !covers_file => un(Effect::OtherPage),
        _ => Expected::Noticed,
    }
}

fn without_check(recipe: &Recipe, probe: Probe) -> Expected {
    let place_is_in_nonce = matches!(recipe.nonce, NonceRule::Place(_) | NonceRule::MaskedPlace(_));
    match (recipe.class(), probe) {
        // A file's number that is neither in the tweak nor in the key binds no page to its file.
        (SchemeClass::Blocks, Probe::OtherFile) if !names_file(recipe) => {
            return un(Effect::OtherPage);
        }
        (SchemeClass::Chain, Probe::OtherFile)
            if recipe.key == crate::at_rest::scheme::KeyScope::Store =>
        {
            return un(Effect::OtherPage);
        }
        (_, Probe::Zeroed) if recipe.zero_passes => return un(Effect::Zeros),
        (SchemeClass::Stream, Probe::Swap | Probe::OtherFile) if place_is_in_nonce => {
            return un(Effect::Garbage);
        }
        _ => {}
    }
    let column = match recipe.class() {
        SchemeClass::Plain => 0,
        SchemeClass::Stream => 1,
        SchemeClass::Blocks => 2,
        SchemeClass::Chain | SchemeClass::Authenticated => 3,
    };
    WITHOUT_CHECK.iter().find(|(p, _)| *p == probe).map_or(NA, |(_, row)| row[column])
}

fn names_file(recipe: &Recipe) -> bool {
    let in_nonce = match &recipe.nonce {
        NonceRule::Place(f) | NonceRule::MaskedPlace(f) => {
            f.contains(&crate::at_rest::scheme::Field::Relation32)
        }
        _ => false,
    };
    in_nonce || recipe.key == crate::at_rest::scheme::KeyScope::File
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::{good_practice, profiles};

    fn of(name: &str, probe: Probe) -> Expected {
        let all = good_practice();
        expected(all.iter().find(|r| r.scheme == name).unwrap(), probe)
    }

    #[test]
    fn the_table_has_every_probe_once() {
        for &probe in Probe::ALL {
            assert_eq!(WITHOUT_CHECK.iter().filter(|(p, _)| *p == probe).count(), 1, "{probe:?}");
        }
    }

    #[test]
    fn no_scheme_notices_an_old_page_in_its_own_place() {
        let all = good_practice().into_iter().chain(profiles().into_iter().flat_map(|p| p.recipes));
        for recipe in all {
            assert_eq!(expected(&recipe, Probe::Replay), Expected::Unnoticed(Effect::OldPage));
        }
    }

    #[test]
    fn a_checksum_notices_accidents_and_no_informed_rewrite() {
        for name in ["aes-256-ctr+xxh3-64", "aes-256-xts+xxh3-64", "aes-256-xts+crc32c"] {
            for &probe in Probe::ALL {
                let found = of(name, probe);
                let noticed = matches!(found, Expected::Noticed | Expected::NotApplicable);
                assert_eq!(noticed, probe.is_accident(), "{name} {}", probe.name());
            }
        }
    }

    #[test]
    fn authenticated_schemes_notice_all_but_replay() {
        for name in ["aes-256-gcm", "aes-256-ctr+hmac-sha256", "aegis-256", "aes-256-gcm-siv"] {
            for &probe in Probe::ALL {
                let unnoticed = matches!(of(name, probe), Expected::Unnoticed(_));
                assert_eq!(unnoticed, probe == Probe::Replay, "{name} {}", probe.name());
            }
        }
    }

    #[test]
    fn sqlcipher_3_takes_zeros_for_a_page_that_was_never_written_and_4_does_not() {
        let zeroed = |name: &str| {
            expected(&crate::at_rest::scheme::profile(name).unwrap().recipes[0], Probe::Zeroed)
        };
        assert_eq!(zeroed("sqlcipher3"), Expected::Unnoticed(Effect::Zeros));
        assert_eq!(zeroed("sqlcipher4"), Expected::Noticed);
    }

    #[test]
    fn sqlciphers_mac_does_not_know_of_files() {
        let sqlcipher = crate::at_rest::scheme::profile("sqlcipher4").unwrap();
        let found = expected(&sqlcipher.recipes[0], Probe::OtherFile);
        assert_eq!(found, Expected::Unnoticed(Effect::OtherPage));
    }
}
