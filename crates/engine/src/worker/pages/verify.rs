//! Every staged page through the library and back.

use super::Staged;
use crate::protocol::pages::{Answer, VerifyJob};
use crate::protocol::{Finding, not_opened};
use contract::Library;
use probe::pages::{Codec, Draw, Refusal};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use xxhash_rust::xxh3::Xxh3;

/// Encrypts every page under nonces that are the same in every library, and decrypts it.
pub(super) fn run(
    library: &'static dyn Library,
    staged: &Staged,
    out: &File,
    job: &VerifyJob,
) -> Result<Answer, Finding> {
    let mut codec =
        Codec::open(library, &job.recipe, staged.page_size, job.seed).map_err(not_opened)?;
    let mut digest = Xxh3::new();
    let (mut cipher, mut back) = (vec![0; staged.page_size], vec![0; staged.page_size]);
    let mut beside = vec![0; codec.metadata_bytes()];
    for (i, place) in staged.places.iter().enumerate() {
        let plain = staged.page(i);
        codec.seal(place, plain, &mut cipher, &mut beside, Draw::Fixed(job.seed)).map_err(
            |code| Finding::failed(format!("page {i}: the library returned error {code}")),
        )?;
        if job.recipe.cipher.is_some() && cipher == plain {
            return Err(Finding::refused(format!("page {i}: the ciphertext is the plaintext")));
        }
        digest.update(&cipher);
        digest.update(&beside);
        back.fill(0xa5);
        codec.unseal(place, &cipher, &beside, &mut back).map_err(|refusal| match refusal {
            Refusal::Noticed => Finding::refused(format!("page {i}: its own page is not taken")),
            Refusal::Failed(code) => {
                Finding::failed(format!("page {i}: the library returned error {code}"))
            }
        })?;
        if back != plain {
            return Err(Finding::refused(format!("page {i}: it comes back as another")));
        }
        if job.copy.is_some_and(|(every, from)| i % every == from) {
            out.write_all_at(&back, (i * staged.page_size) as u64)
                .map_err(|e| Finding::failed(format!("cannot hand a page on: {e}")))?;
        }
    }
    let sum_by = codec.sum_by().map(ToOwned::to_owned);
    Ok(Answer::Verified { digest: hex::encode(digest.digest128().to_be_bytes()), sum_by })
}
