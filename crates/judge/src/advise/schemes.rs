//! The schemes: what is known of each, whatever machine it runs on.

use crate::advise::data::BadAdvice;
use crate::advise::question::IntegrityLevel;
use base::model::{Algorithm, SizeRule};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a scheme asks of its nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NonceRule {
    /// It has none.
    None,
    /// It is made for the unit's place: a repeat is expected.
    Position,
    /// It must be unique under a key.
    Unique,
    /// It must not be foreseen.
    Unpredictable,
    /// A repeat shows equal units and nothing else.
    Resistant,
}

/// Units under one key by their size, where a publication gives a table.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BySize {
    pub max_bytes: u64,
    pub random_log2: f64,
    pub repeated_log2: f64,
}

/// One scheme: a member of its family.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Name: algorithms joined by a plus.
    pub id: String,
    /// Strength of the cipher's key in bits (XTS and SIV: of one of the two).
    pub key_bits: u32,
    /// Algorithms of the record that are this scheme in one operation.
    pub measured: Vec<&'static Algorithm>,
    /// Algorithms of the record whose costs add up to it.
    pub composed: Vec<&'static Algorithm>,
    /// The algorithm that with a new key for each unit costs what it does.
    pub rekeyed: Option<&'static Algorithm>,
    pub(crate) family: Arc<Family>,
}

/// What schemes have in common that differ in their ciphers. Lengths are in bytes unless they say
/// otherwise; logarithms are to the base 2. What is not set is not known to have a bound or a source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Mode, with what is beside it: `gcm`, `ctr+hmac`.
    pub mode: String,
    /// What of a change is noticed.
    pub integrity: IntegrityLevel,
    /// Whether NIST publications approve all of it.
    pub approved: bool,
    approved_source: String,
    pub nonce: NonceRule,
    #[serde(default)]
    pub nonce_source: String,
    /// Bits of the nonce; 0 where there is none.
    #[serde(default)]
    pub nonce_bits: u32,
    /// Bytes of tag or sum that are kept with each unit.
    pub tag_bytes: u32,
    /// Bytes of tag that the record's algorithms make, where some are cut off.
    made_tag_bytes: Option<u32>,
    #[serde(default)]
    cut_source: String,
    #[serde(default = "one")]
    pub block_multiple: u32,
    #[serde(default = "one")]
    pub least_bytes: u32,
    pub max_bytes_log2: Option<f64>,
    #[serde(default)]
    max_source: String,
    pub blocks_log2: Option<f64>,
    #[serde(default)]
    pub blocks_source: String,
    pub random_log2: Option<f64>,
    #[serde(default)]
    pub random_source: String,
    #[serde(default)]
    pub by_size: Vec<BySize>,
    pub forgery_log2: Option<f64>,
    #[serde(default)]
    pub forgery_by_size: bool,
    pub forgery_most_log2: Option<f64>,
    #[serde(default)]
    pub forgery_source: String,
    /// What a nonce that repeats does.
    pub reuse: String,
    /// What an unnoticed flipped bit does.
    #[serde(default)]
    pub flip: String,
    /// Who has it, where no library that is measured does.
    #[serde(default)]
    pub elsewhere: String,
    members: Vec<Member>,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    key_bits: u32,
    #[serde(default)]
    measured: Vec<String>,
    #[serde(default)]
    composed: Vec<String>,
    rekeyed: Option<String>,
}

/// One scheme for each member of each family.
pub(crate) fn expand(families: Vec<Family>) -> Result<Vec<Scheme>, BadAdvice> {
    let families: Vec<Arc<Family>> = families.into_iter().map(Arc::new).collect();
    let members = families.iter().flat_map(|f| f.members.iter().map(move |m| (f, m)));
    members.map(|(family, member)| Scheme::of(family, member)).collect()
}

impl Scheme {
    fn of(family: &Arc<Family>, member: &Member) -> Result<Self, BadAdvice> {
        let find = |names: &[String]| -> Result<Vec<&'static Algorithm>, BadAdvice> {
            let one = |name: &String| {
                Algorithm::find(name).map_err(|e| BadAdvice(format!("'{}': {e}", member.id)))
            };
            names.iter().map(one).collect()
        };
        Ok(Self {
            id: member.id.clone(),
            key_bits: member.key_bits,
            measured: find(&member.measured)?,
            composed: find(&member.composed)?,
            rekeyed: find(member.rekeyed.as_slice())?.first().copied(),
            family: Arc::clone(family),
        })
    }

    /// Cipher and MAC have a key each.
    pub(crate) fn has_two_keys(&self) -> bool {
        self.family.mode.ends_with("+hmac")
    }

    /// The nonce is the unit's place.
    pub(crate) fn is_tweaked(&self) -> bool {
        self.family.nonce == NonceRule::Position
    }

    /// A change anywhere in a unit changes all of it.
    pub(crate) fn is_wide(&self) -> bool {
        self.family.mode == "wide"
    }

    /// Bits of the tag that is stored, where the algorithms make a longer one; else none.
    pub(crate) fn cut_to_bits(&self) -> Option<u32> {
        let bytes = self.family.tag_bytes;
        self.family.made_tag_bytes.filter(|made| *made > bytes).map(|_| 8 * bytes)
    }

    /// Every algorithm that must be measured to price it.
    #[must_use]
    pub fn algorithms(&self) -> Vec<&'static Algorithm> {
        self.measured.iter().chain(&self.composed).copied().collect()
    }

    /// Those that run for a unit: of it whole where that is measured, else of its parts.
    pub(crate) fn running(&self) -> &[&'static Algorithm] {
        match (&self.rekeyed, self.measured.as_slice()) {
            (Some(of), _) => std::slice::from_ref(of),
            (None, []) => &self.composed,
            (None, measured) => measured,
        }
    }

    pub(crate) fn sources(&self) -> Vec<&String> {
        let Family { approved_source, nonce_source, max_source, .. } = &*self.family;
        let Family { blocks_source, random_source, cut_source, forgery_source, .. } = &*self.family;
        let all = [approved_source, nonce_source, max_source, blocks_source, random_source];
        let all = all.into_iter().chain([cut_source, forgery_source]);
        all.filter(|s| !s.is_empty()).collect()
    }
}

/// Whether the algorithm takes units of that size.
pub(crate) fn takes(algorithm: &Algorithm, size: usize) -> bool {
    algorithm.sizes == SizeRule::Any || algorithm.sizes.allows(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::data::Data;
    use base::model::Integrity;

    /// Facts that two tables have are the same in both.
    #[test]
    fn the_facts_agree_with_the_table_of_algorithms() {
        for scheme in &Data::built_in().schemes {
            let family = &scheme.family;
            let told = family.elsewhere.is_empty();
            assert_eq!(!scheme.algorithms().is_empty(), told, "{}", scheme.id);
            let made = family.made_tag_bytes.unwrap_or(family.tag_bytes) as usize;
            for algorithm in &scheme.measured {
                let integrity = match algorithm.integrity() {
                    Integrity::None => IntegrityLevel::None,
                    Integrity::Accident => IntegrityLevel::Accident,
                    Integrity::Tamper => IntegrityLevel::Adversary,
                };
                assert_eq!(family.integrity, integrity, "{}", scheme.id);
                assert_eq!(family.nonce_bits as usize, 8 * algorithm.nonce_len, "{}", scheme.id);
                assert_eq!(made, algorithm.tag_len, "{}", scheme.id);
                assert!(
                    algorithm.name.contains(&scheme.key_bits.to_string())
                        || family.mode.contains("chacha")
                );
                for size in [15, 16, 100] {
                    let fits = size % family.block_multiple as usize == 0
                        && size >= family.least_bytes as usize;
                    assert_eq!(takes(algorithm, size), fits, "{} {size}", scheme.id);
                }
            }
            let check = scheme.composed.get(1);
            assert!(check.is_none_or(|c| c.tag_len == made), "{}", scheme.id);
            assert!(family.nonce_bits == 0 || !family.nonce_source.is_empty(), "{}", scheme.id);
            let bound = family.blocks_log2.is_none() || !family.blocks_source.is_empty();
            assert!(bound, "{}: a bound without a source", scheme.id);
            let random = family.random_log2.is_none() || !family.random_source.is_empty();
            assert!(random, "{}: a bound without a source", scheme.id);
            let forged = family.forgery_log2.is_none() || !family.forgery_source.is_empty();
            assert!(forged, "{}: a bound without a source", scheme.id);
            // What has a tag that takes a key can be guessed at, and nothing else.
            let authentic = family.integrity == IntegrityLevel::Adversary;
            assert_eq!(family.forgery_log2.is_some(), authentic, "{}", scheme.id);
        }
    }

    /// A collision of random nonces of n bits among q units has the chance of q² / 2^(n + 1) at
    /// most: no stated number may allow more than 2^-32.
    #[test]
    fn no_number_of_random_nonces_risks_more_than_is_said() {
        for scheme in
            Data::built_in().schemes.iter().filter(|s| s.family.nonce == NonceRule::Unique)
        {
            let Some(log2) = scheme.family.random_log2 else { continue };
            let risk = 2.0 * log2 - f64::from(scheme.family.nonce_bits) - 1.0;
            assert!(risk <= -32.0, "{}: 2^{risk}", scheme.id);
        }
    }
}
