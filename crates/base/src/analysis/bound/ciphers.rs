//! AES in its modes, counted. `n` is the message's blocks, the last of which may be a part of one.
//! Simple instructions are counted as if round keys could take up every exclusive or with the
//! first and the last of them, and three operands went into one instruction.

use crate::analysis::bound::demand::{Demand, Vector};
use crate::model::{Algorithm, Direction, Mode};

/// How an operation is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) algorithm: &'a Algorithm,
    pub(crate) direction: Direction,
    pub(crate) size: usize,
    /// Whether the operations go on with one message: no nonce, no tag, endless chains.
    pub(crate) stream: bool,
    /// Whether the message is rejected: whatever need not be decrypted for that is not.
    pub(crate) rejected: bool,
}

impl Call<'_> {
    pub(crate) fn encrypts(&self) -> bool {
        self.direction == Direction::Encrypt
    }

    /// Blocks of 16 bytes.
    pub(crate) fn blocks(&self) -> f64 {
        self.pieces(16)
    }

    /// Pieces of so many bytes: whole ones of a message, while what a stream leaves of one is the next
    /// operation's.
    pub(crate) fn pieces(&self, bytes: usize) -> f64 {
        if self.stream { self.size as f64 / bytes as f64 } else { self.size.div_ceil(bytes) as f64 }
    }

    /// Work once per message, which a stream leaves out.
    pub(crate) fn once(&self, work: f64) -> f64 {
        if self.stream { 0.0 } else { work }
    }

    /// Rounds of AES, FIPS 197 §5: 10, 12 or 14.
    fn rounds(&self) -> f64 {
        let keys = match self.algorithm.mode {
            Mode::Xts | Mode::Siv => 2,
            _ => 1,
        };
        (self.algorithm.key_len / keys / 4 + 6) as f64
    }
}

/// An AES mode, or none of them.
pub(crate) fn aes(call: &Call<'_>) -> Option<Demand> {
    let (n, r) = (call.blocks(), call.rounds());
    let parallel = |blocks: f64, simple: f64| Demand::blocks(blocks, r).simple(simple * n);
    let serial = |blocks: f64| Demand::blocks(blocks, r).serial(blocks * r, call.stream);
    Some(match call.algorithm.mode {
        // SP 800-38A §6.1: the first round key.
        Mode::Ecb => Demand { inverse: !call.encrypts(), ..parallel(n, 1.0) },
        // §6.2: encryption needs the block before; decryption only its ciphertext.
        Mode::Cbc if call.encrypts() => serial(n),
        Mode::Cbc => Demand { inverse: true, ..parallel(n, 2.0) },
        // §6.3, §6.4.
        Mode::Cfb if call.encrypts() => serial(n),
        Mode::Cfb => parallel(n, 2.0),
        Mode::Ofb => serial(n),
        // A block for each byte, for each bit.
        Mode::Cfb8 if call.encrypts() => serial(call.size as f64),
        Mode::Cfb8 => parallel(call.size as f64, 0.0),
        Mode::Cfb1 if call.encrypts() => serial(8.0 * call.size as f64),
        Mode::Cfb1 => parallel(8.0 * call.size as f64, 0.0),
        // §6.5: counter with the first round key; data with the last.
        Mode::Ctr => parallel(n, 2.0),
        // IEEE 1619 §5.3: the tweak's own block; next tweak, tweak with each of two round keys.
        Mode::Xts => Demand { inverse: !call.encrypts(), ..parallel(n + call.once(1.0), 3.0) },
        // RFC 7253 §4: one block for the nonce, one for the tag; offset, offset with each of two
        // round keys, checksum.
        Mode::Ocb => Demand { inverse: !call.encrypts(), ..parallel(n + call.once(2.0), 4.0) },
        Mode::Gcm => gcm(call, n, r),
        Mode::Gmac => ghash(n + 1.0).and(Demand::blocks(1.0, r)),
        Mode::GcmSiv => gcm_siv(call, n, r),
        Mode::Ccm => ccm(call, n, r),
        Mode::Eax => eax(call, n, r),
        Mode::Siv => siv(call, n, r),
        _ => return None,
    })
}

/// GHASH or POLYVAL over so many blocks (SP 800-38D §6.4, RFC 8452 §3): each block is multiplied by
/// a power of the key. A product of 128 bits takes three carry-less multiplications of 64 (Karatsuba;
/// the least for two words by two) and then four and a half simple instructions, or four and three:
/// seven in all at least. One reduction serves any number of blocks, so none is counted.
fn ghash(blocks: f64) -> Demand {
    let carryless = vec![Vector { lanes: blocks, each: 3.0 }];
    Demand { carryless, simple: 4.0 * blocks, ..Demand::default() }
}

/// SP 800-38D §7: CTR, the tag's mask, GHASH with the block of lengths.
fn gcm(call: &Call<'_>, n: f64, r: f64) -> Demand {
    let hash = ghash(n + call.once(1.0));
    if call.rejected {
        return hash.and(Demand::blocks(1.0, r));
    }
    Demand::blocks(n + call.once(1.0), r).simple(2.0 * n).and(hash)
}

/// RFC 8452 §4, §5: four or six blocks derive the message's keys; POLYVAL under a key of this
/// message over associated data (one block here), message and lengths; the tag's block; CTR.
fn gcm_siv(call: &Call<'_>, n: f64, r: f64) -> Demand {
    let derived = if call.algorithm.key_len == 16 { 4.0 } else { 6.0 };
    Demand::blocks(n + derived + 1.0, r).simple(2.0 * n).and(ghash(n + 2.0))
}

/// SP 800-38C §6: CBC-MAC over the first block, two blocks of associated data (their length, then
/// 16 bytes) and the message; CTR beside it.
fn ccm(call: &Call<'_>, n: f64, r: f64) -> Demand {
    let chained = n + 3.0;
    Demand::blocks(chained + n + 1.0, r).serial(chained * r, call.stream)
}

/// EAX: OMAC of the nonce (one block after a constant one), CTR from it, OMAC of the ciphertext. In
/// encryption they follow each other for the first block.
fn eax(call: &Call<'_>, n: f64, r: f64) -> Demand {
    let before = if call.encrypts() { call.once(2.0) } else { 0.0 };
    let ciphered = if call.rejected { 0.0 } else { n };
    Demand::blocks(n + ciphered + call.once(1.0), r).serial((n + before) * r, call.stream)
}

/// RFC 5297 §2.4, §2.6: CMAC of the plaintext, and CTR from it or before it.
fn siv(call: &Call<'_>, n: f64, r: f64) -> Demand {
    Demand::blocks(2.0 * n + 1.0, r).serial((n + 1.0) * r, call.stream)
}
