//! Probes: stored pages are changed in every way there is a name for, then read.

use super::Staged;
use super::effect::Contents;
use crate::protocol::pages::{Answer, ProbeJob};
use crate::protocol::{Finding, not_opened};
use contract::Library;
use probe::pages::{Codec, Draw, Refusal};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use record::at_rest::ProbeCounts;
use record::at_rest::scheme::{Expected, Position, Probe, Recipe, SchemeClass, expected};

/// Bytes of each half that an older version of a page has otherwise.
const CHANGED: usize = 64;

/// Makes every probe so many times.
pub(super) fn run(
    library: &'static dyn Library,
    staged: &Staged,
    job: &ProbeJob,
) -> Result<Answer, Finding> {
    let codec =
        Codec::open(library, &job.recipe, staged.page_size, job.seed).map_err(not_opened)?;
    let mut prober = Prober {
        codec,
        staged,
        recipe: &job.recipe,
        rng: ChaCha8Rng::seed_from_u64(job.seed),
        fit: fit(staged),
    };
    let mut counts = Vec::new();
    for &probe in Probe::ALL {
        let mut count = ProbeCounts { probe, tried: 0, noticed: 0, effects: Vec::new() };
        if expected(&job.recipe, probe) != Expected::NotApplicable {
            for _ in 0..job.count {
                prober.one(probe, &mut count)?;
            }
        }
        counts.push(count);
    }
    Ok(Answer::Probed { counts })
}

/// Pages whose halves both hold something: on others a change may change nothing.
fn fit(staged: &Staged) -> Vec<usize> {
    let holds = |bytes: &[u8]| bytes.iter().filter(|b| **b != 0).count() >= CHANGED;
    let fits = |i: &usize| {
        let (first, second) = staged.page(*i).split_at(staged.page_size / 2);
        holds(first) && holds(second)
    };
    (0..staged.places.len()).filter(fits).collect()
}

struct Prober<'a> {
    codec: Codec,
    staged: &'a Staged,
    recipe: &'a Recipe,
    rng: ChaCha8Rng,
    fit: Vec<usize>,
}

/// A page as it is stored.
#[derive(Clone)]
struct Stored {
    cipher: Vec<u8>,
    beside: Vec<u8>,
}

impl Prober<'_> {
    fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n.max(1) as u64) as usize
    }

    /// One probe of a page that is picked at random.
    fn one(&mut self, probe: Probe, count: &mut ProbeCounts) -> Result<(), Finding> {
        let Some((page, partner)) = self.pick(probe) else { return Ok(()) };
        let at = self.staged.places[page];
        let present = self.staged.page(page).to_vec();
        let old = self.older(&present);
        let before = Position { version: at.version.wrapping_sub(1), ..at };
        let now = self.stored(&at, &present)?;
        let then = self.stored(&before, &old)?;
        let other = partner.map(|p| (self.staged.places[p], self.staged.page(p).to_vec()));
        let other_stored = match &other {
            Some((place, content)) => Some(self.stored(place, content)?),
            None => None,
        };
        let other = other.map(|(_, content)| content).unwrap_or_default();
        let mut meant = Vec::new();
        let read = match probe {
            Probe::Swap | Probe::OtherFile => other_stored.unwrap_or(now),
            Probe::Replay => then,
            Probe::Rewrite => {
                let made = self.rewritten(&at, (&present, &now), (&old, &then));
                meant = made.1;
                made.0
            }
            _ => self.changed(probe, &now, &then),
        };
        let mut got = vec![0x5a; present.len()];
        count.tried += 1;
        match self.codec.unseal(&at, &read.cipher, &read.beside, &mut got) {
            Err(Refusal::Noticed) => count.noticed += 1,
            Err(Refusal::Failed(code)) => {
                return Err(Finding::failed(format!(
                    "probe {}: the library returned error {code}",
                    probe.name()
                )));
            }
            Ok(()) => {
                let contents =
                    Contents { present: &present, old: &old, other: &other, meant: &meant };
                count.add(contents.effect(&got));
            }
        }
        Ok(())
    }

    /// A page, and the one that it changes places with.
    fn pick(&mut self, probe: Probe) -> Option<(usize, Option<usize>)> {
        if self.fit.is_empty() {
            return None;
        }
        let needs_partner = matches!(probe, Probe::Swap | Probe::OtherFile);
        let start = self.below(self.fit.len());
        for step in 0..self.fit.len() {
            let page = self.fit[(start + step) % self.fit.len()];
            if !needs_partner {
                return Some((page, None));
            }
            if let Some(partner) = self.partner(probe, page) {
                return Some((page, Some(partner)));
            }
        }
        None
    }

    fn partner(&self, probe: Probe, page: usize) -> Option<usize> {
        let at = self.staged.places[page];
        let suits = |candidate: &usize| {
            let there = self.staged.places[*candidate];
            let fits = match probe {
                Probe::Swap => at.same_file(&there) && at.block != there.block,
                // Another relation: a fork of the same one can share its key.
                _ => {
                    (at.database, at.relation) != (there.database, there.relation)
                        && at.block == there.block
                        && at.fork == there.fork
                }
            };
            let differ = |(a, b): &(&u8, &u8)| a != b;
            fits && self
                .staged
                .page(page)
                .iter()
                .zip(self.staged.page(*candidate))
                .filter(differ)
                .count()
                > 2 * CHANGED
        };
        self.fit.iter().copied().find(suits)
    }

    fn stored(&mut self, at: &Position, plain: &[u8]) -> Result<Stored, Finding> {
        let mut made =
            Stored { cipher: vec![0; plain.len()], beside: vec![0; self.codec.metadata_bytes()] };
        let draw = Draw::Fixed(self.rng.next_u64());
        self.codec
            .seal(at, plain, &mut made.cipher, &mut made.beside, draw)
            .map_err(|code| Finding::failed(format!("the library returned error {code}")))?;
        Ok(made)
    }

    /// An older version of a page: in each half some bytes were others.
    fn older(&mut self, present: &[u8]) -> Vec<u8> {
        let mut old = present.to_vec();
        let half = old.len() / 2;
        for from in [0, half] {
            let at = from + self.below(half - CHANGED);
            old[at..at + CHANGED].iter_mut().for_each(|b| *b ^= 0x5f);
        }
        old
    }

    /// The present page with what an accident or a vandal does to it.
    fn changed(&mut self, probe: Probe, now: &Stored, then: &Stored) -> Stored {
        let mut read = now.clone();
        let half = read.cipher.len() / 2;
        let nonce = self.recipe.stored_nonce_bytes();
        match probe {
            Probe::FlipCiphertext => {
                let last = read.cipher.len();
                // Not in the last block, so that a chain has a next one.
                let bit = self.below((last - 16) * 8);
                read.cipher[bit / 8] ^= 1 << (bit % 8);
            }
            Probe::FlipNonce => {
                let bit = self.below(nonce * 8);
                read.beside[bit / 8] ^= 1 << (bit % 8);
            }
            Probe::FlipTag | Probe::FlipSum => {
                let len = read.beside.len() - nonce;
                let bit = self.below(len * 8);
                read.beside[nonce + bit / 8] ^= 1 << (bit % 8);
            }
            Probe::Torn => read.cipher[half..].copy_from_slice(&then.cipher[half..]),
            Probe::Truncated => read.cipher[half..].fill(0),
            _ => {
                read.cipher.fill(0);
                read.beside.fill(0);
            }
        }
        read
    }

    /// What somebody makes who knows both contents and both ciphertexts and has no key, and what they
    /// mean the page to read.
    fn rewritten(
        &mut self,
        at: &Position,
        (present, now): (&[u8], &Stored),
        (old, then): (&[u8], &Stored),
    ) -> (Stored, Vec<u8>) {
        let mut made = now.clone();
        let mut meant = present.to_vec();
        match self.recipe.class() {
            SchemeClass::Plain => {
                meant[..CHANGED].copy_from_slice(&[b'!'; CHANGED]);
                made.cipher.clone_from(&meant);
            }
            SchemeClass::Stream | SchemeClass::Authenticated => {
                meant[..CHANGED].copy_from_slice(&[b'!'; CHANGED]);
                let change = present.iter().zip(&meant).map(|(a, b)| a ^ b);
                made.cipher.iter_mut().zip(change).for_each(|(c, x)| *c ^= x);
            }
            // Of two versions' blocks whichever one likes.
            SchemeClass::Blocks => {
                let half = present.len() / 2;
                meant[..half].copy_from_slice(&old[..half]);
                made.cipher[..half].copy_from_slice(&then.cipher[..half]);
            }
            // The chain goes on behind the splice, which garbles one block.
            SchemeClass::Chain => {
                let half = present.len() / 2;
                meant[half..].copy_from_slice(&old[half..]);
                made.cipher[half..].copy_from_slice(&then.cipher[half..]);
            }
        }
        self.codec.forge_checksum(at, &meant, &mut made.beside);
        (made, meant)
    }
}
