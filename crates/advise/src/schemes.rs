//! The schemes: what is known of each, whatever machine it runs on.

use crate::data::BadAdvice;
use crate::question::IntegrityLevel;
use model::{Algorithm, SizeRule};
use serde::{Deserialize, Serialize};

/// What a scheme asks of its nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
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

impl NonceRule {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Position => "position",
            Self::Unique => "unique",
            Self::Unpredictable => "unpredictable",
            Self::Resistant => "resistant",
        }
    }
}

/// Units under one key by their size, where a publication gives a table.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BySize {
    pub max_bytes: u64,
    pub random_log2: f64,
    pub repeated_log2: f64,
}

/// One scheme. Lengths are in bytes unless they say otherwise; logarithms are to the base 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Name: algorithms joined by a plus.
    pub id: String,
    /// Mode, with what is beside it: `gcm`, `ctr+hmac`.
    pub mode: String,
    /// Strength of the cipher's key in bits (XTS and SIV: of one of the two).
    pub key_bits: u32,
    /// What of a change is noticed.
    pub integrity: IntegrityLevel,
    /// Whether NIST publications approve all of it.
    pub approved: bool,
    /// What it asks of its nonces.
    pub nonce: NonceRule,
    /// Bits of the nonce; 0 where there is none.
    pub nonce_bits: u32,
    /// Bytes of tag or sum that are kept with each unit.
    pub tag_bytes: u32,
    /// What a nonce that repeats does.
    pub reuse: String,
    /// What an unnoticed flipped bit does.
    pub flip: String,
    /// Algorithms of the record that are this scheme in one operation.
    pub measured: Vec<&'static Algorithm>,
    /// Algorithms of the record whose costs add up to it.
    pub composed: Vec<&'static Algorithm>,
    pub(crate) block_multiple: u32,
    pub(crate) least_bytes: u32,
    pub(crate) max_bytes_log2: Option<f64>,
    pub(crate) blocks_log2: Option<f64>,
    pub(crate) blocks_source: String,
    pub(crate) random_log2: Option<f64>,
    pub(crate) random_source: String,
    pub(crate) by_size: Vec<BySize>,
    pub(crate) approved_source: String,
    pub(crate) nonce_source: String,
    pub(crate) max_source: String,
}

impl Scheme {
    /// Cipher and MAC have a key each.
    pub(crate) fn has_two_keys(&self) -> bool {
        self.mode.ends_with("+hmac")
    }

    /// The nonce is the unit's place.
    pub(crate) fn is_tweaked(&self) -> bool {
        self.nonce == NonceRule::Position
    }

    /// Every algorithm that must be measured to price it.
    #[must_use]
    pub fn algorithms(&self) -> Vec<&'static Algorithm> {
        self.measured.iter().chain(&self.composed).copied().collect()
    }

    pub(crate) fn sources(&self) -> Vec<&String> {
        let all = [
            &self.approved_source,
            &self.nonce_source,
            &self.max_source,
            &self.blocks_source,
            &self.random_source,
        ];
        all.into_iter().filter(|s| !s.is_empty()).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    family: Vec<Family>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    mode: String,
    integrity: IntegrityLevel,
    approved: bool,
    approved_source: String,
    nonce: NonceRule,
    #[serde(default)]
    nonce_source: String,
    #[serde(default)]
    nonce_bits: u32,
    tag_bytes: u32,
    #[serde(default = "one")]
    block_multiple: u32,
    #[serde(default = "one")]
    least_bytes: u32,
    max_bytes_log2: Option<f64>,
    #[serde(default)]
    max_source: String,
    blocks_log2: Option<f64>,
    #[serde(default)]
    blocks_source: String,
    random_log2: Option<f64>,
    #[serde(default)]
    random_source: String,
    #[serde(default)]
    by_size: Vec<BySize>,
    reuse: String,
    #[serde(default)]
    flip: String,
    members: Vec<Member>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    key_bits: u32,
    #[serde(default)]
    measured: Vec<String>,
    #[serde(default)]
    composed: Vec<String>,
}

/// One scheme for each member of each family.
pub(crate) fn expand(file: File) -> Result<Vec<Scheme>, BadAdvice> {
    let mut schemes = Vec::new();
    for family in &file.family {
        for member in &family.members {
            schemes.push(family.scheme(member)?);
        }
    }
    Ok(schemes)
}

impl Family {
    fn scheme(&self, member: &Member) -> Result<Scheme, BadAdvice> {
        let find = |names: &[String]| -> Result<Vec<&'static Algorithm>, BadAdvice> {
            let one = |name: &String| {
                Algorithm::find(name).map_err(|e| BadAdvice(format!("'{}': {e}", member.id)))
            };
            names.iter().map(one).collect()
        };
        Ok(Scheme {
            id: member.id.clone(),
            mode: self.mode.clone(),
            key_bits: member.key_bits,
            integrity: self.integrity,
            approved: self.approved,
            nonce: self.nonce,
            nonce_bits: self.nonce_bits,
            tag_bytes: self.tag_bytes,
            reuse: self.reuse.clone(),
            flip: self.flip.clone(),
            measured: find(&member.measured)?,
            composed: find(&member.composed)?,
            block_multiple: self.block_multiple,
            least_bytes: self.least_bytes,
            max_bytes_log2: self.max_bytes_log2,
            blocks_log2: self.blocks_log2,
            blocks_source: self.blocks_source.clone(),
            random_log2: self.random_log2,
            random_source: self.random_source.clone(),
            by_size: self.by_size.clone(),
            approved_source: self.approved_source.clone(),
            nonce_source: self.nonce_source.clone(),
            max_source: self.max_source.clone(),
        })
    }
}

/// Whether the algorithm takes units of that size.
pub(crate) fn takes(algorithm: &Algorithm, size: usize) -> bool {
    match algorithm.sizes {
        SizeRule::Any => true,
        rule => rule.allows(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;
    use model::Integrity;

    /// Facts that two tables have are the same in both.
    #[test]
    fn the_facts_agree_with_the_table_of_algorithms() {
        for scheme in &Data::built_in().schemes {
            assert!(!scheme.algorithms().is_empty(), "{}", scheme.id);
            for algorithm in &scheme.measured {
                let integrity = match algorithm.integrity() {
                    Integrity::None => IntegrityLevel::None,
                    Integrity::Accident => IntegrityLevel::Accident,
                    Integrity::Tamper => IntegrityLevel::Adversary,
                };
                assert_eq!(scheme.integrity, integrity, "{}", scheme.id);
                assert_eq!(scheme.nonce_bits as usize, 8 * algorithm.nonce_len, "{}", scheme.id);
                // AEGIS is measured with the longer of its two tags.
                let tag = if scheme.mode == "aegis" { 32 } else { scheme.tag_bytes as usize };
                assert_eq!(tag, algorithm.tag_len, "{}", scheme.id);
                assert!(
                    algorithm.name.contains(&scheme.key_bits.to_string())
                        || scheme.mode.contains("chacha")
                );
                for size in [15, 16, 100] {
                    let fits = size % scheme.block_multiple as usize == 0
                        && size >= scheme.least_bytes as usize;
                    assert_eq!(takes(algorithm, size), fits, "{} {size}", scheme.id);
                }
            }
            let check = scheme.composed.get(1);
            assert!(check.is_none_or(|c| c.tag_len == scheme.tag_bytes as usize), "{}", scheme.id);
            assert!(scheme.nonce_bits == 0 || !scheme.nonce_source.is_empty(), "{}", scheme.id);
            let bound = scheme.blocks_log2.is_none() || !scheme.blocks_source.is_empty();
            assert!(bound, "{}: a bound without a source", scheme.id);
            let random = scheme.random_log2.is_none() || !scheme.random_source.is_empty();
            assert!(random, "{}: a bound without a source", scheme.id);
        }
    }

    /// A collision of random nonces of n bits among q units has the chance of q² / 2^(n + 1) at
    /// most: no stated number may allow more than 2^-32.
    #[test]
    fn no_number_of_random_nonces_risks_more_than_is_said() {
        for scheme in Data::built_in().schemes.iter().filter(|s| s.nonce == NonceRule::Unique) {
            let Some(log2) = scheme.random_log2 else { continue };
            let risk = 2.0 * log2 - f64::from(scheme.nonce_bits) - 1.0;
            assert!(risk <= -32.0, "{}: 2^{risk}", scheme.id);
        }
    }
}
