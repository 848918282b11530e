//! What an operation needs at least, apart from any core, counted from the algorithms' definitions: AES in
//! its modes, AEGIS, ChaCha20, Poly1305, digests and checksums. `n` is the message's blocks, the last of
//! which may be a part of one. Simple instructions are counted as if round keys could take up every exclusive
//! or with the first and the last of them, and three operands went into one instruction.

use crate::analysis::bound::{Bound, CARRYLESS};
use crate::model::{Algorithm, Direction, Mode, Primitive};

/// What one operation needs at least. What depends on the key and the associated data alone is left
/// out: an implementation may keep it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// AES rounds: so many instructions over so many blocks side by side.
    pub(crate) aes: Vec<Vector>,
    /// Whether the rounds are those of decryption.
    pub(crate) inverse: bool,
    /// Updates of AEGIS.
    pub(crate) updates: Option<Updates>,
    /// Carry-less multiplications over so many blocks side by side.
    pub(crate) carryless: Vec<Vector>,
    /// Simple vector instructions (add, exclusive or, shuffle), each on a lane of 128 bits, beside
    /// AES rounds and multiplications.
    pub(crate) simple: f64,
    /// Work that vector and scalar units can divide among them.
    pub(crate) divisible: Vec<Divisible>,
    /// Instructions of which each needs the one before.
    pub(crate) chains: Vec<Chain>,
    pub(crate) loaded: f64,
    pub(crate) stored: f64,
    /// Whether operations go on with one message, so that work for several may be done at once.
    pub(crate) stream: bool,
}

/// So many instructions one after the other on each of so many lanes of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vector {
    pub(crate) lanes: f64,
    pub(crate) each: f64,
}

/// Updates of AEGIS' state, each of `words` rounds on so many lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Updates {
    pub(crate) count: f64,
    pub(crate) words: f64,
    pub(crate) lanes: f64,
    /// Updates among them that decrypt: each needs what the two before gave.
    pub(crate) decrypting: f64,
    pub(crate) endless: bool,
}

/// Work in pieces, which vector and scalar units can share out: the least time is the work over the
/// sum of both rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Divisible {
    pub(crate) pieces: f64,
    /// How vector units can do it: the fastest of these.
    pub(crate) vector: &'static [Way],
    /// How scalar units can do it.
    pub(crate) scalar: Way,
    /// What it is bound by where this bounds.
    pub(crate) bound: Bound,
    /// As for [`Demand`].
    pub(crate) stream: bool,
}

/// One way to do a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    /// The fastest of these instructions.
    pub(crate) names: &'static [&'static str],
    /// Lanes of 128 bits that a piece takes; 1 for scalar registers.
    pub(crate) lanes: f64,
    /// Instructions on each lane.
    pub(crate) each: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chain {
    pub(crate) steps: f64,
    pub(crate) step: Step,
    /// Instructions in each step that wait for it: they fill the core's window.
    pub(crate) waiting: f64,
    /// Whether it goes on from one operation to the next, so that nothing of it overlaps.
    pub(crate) endless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    AesRound,
    Sha256TwoRounds,
    Sha512TwoRounds,
    /// So many instructions of a cycle each.
    Cycles(f64),
}

/// Vector instructions that every simple operation is at least as slow as one of.
#[rustfmt::skip]
pub(crate) const SIMPLE: &[&str] = &[
    "pxor", "pternlogd", "paddd", "paddq", "pshufb",
    "eor.16b", "eor3.16b", "add.4s", "add.2d", "tbl.16b", "eor-sve",
];

impl Demand {
    /// Rounds of AES, each on a block.
    pub(crate) fn aes_rounds(&self) -> f64 {
        let updates = self.updates.map_or(0.0, |u| u.count * u.words * u.lanes);
        self.aes.iter().map(|v| v.lanes * v.each).sum::<f64>() + updates
    }

    /// Carry-less multiplications of 64 bits.
    pub(crate) fn products(&self) -> f64 {
        self.carryless.iter().map(|v| v.lanes * v.each).sum()
    }

    /// Both at once, as if they shared nothing.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.aes.extend(other.aes);
        self.inverse |= other.inverse;
        self.updates = self.updates.or(other.updates);
        self.carryless.extend(other.carryless);
        self.simple += other.simple;
        self.divisible.extend(other.divisible);
        self.chains.extend(other.chains);
        self.loaded = self.loaded.max(other.loaded);
        self.stored = self.stored.max(other.stored);
        self.stream |= other.stream;
        self
    }

    /// AES of so many blocks side by side.
    pub(crate) fn blocks(lanes: f64, rounds: f64) -> Self {
        Self { aes: vec![Vector { lanes, each: rounds }], ..Self::default() }
    }

    /// A chain of AES rounds, one waiting for each.
    pub(crate) fn serial(mut self, rounds: f64, endless: bool) -> Self {
        self.chains.push(Chain { steps: rounds, step: Step::AesRound, waiting: 1.0, endless });
        self
    }

    pub(crate) fn simple(mut self, lanes: f64) -> Self {
        self.simple += lanes;
        self
    }
}

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
        Mode::Essiv => essiv(call, n, r),
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
        Mode::Hctr2 => hctr2(call, n, r),
        // RFC 7253 §4: one block for the nonce, one for the tag; offset, offset with each of two
        // round keys, checksum.
        Mode::Ocb => Demand { inverse: !call.encrypts(), ..parallel(n + call.once(2.0), 4.0) },
        Mode::Gcm => gcm(call, n, r),
        Mode::Gmac => ghash(n + 1.0).and(Demand::blocks(1.0, r)),
        Mode::GcmSiv => gcm_siv(call, n, r),
        Mode::Ccm => ccm(call, n, r),
        Mode::Eax => eax(call, n, r),
        Mode::Siv => siv(call, n, r),
        // SP 800-38F §6.1: six passes over halves of a block; each step needs the one before.
        Mode::KeyWrap => Demand { inverse: !call.encrypts(), ..serial(6.0 * call.pieces(8)) },
        // §6.3: a single half is one block.
        Mode::KeyWrapPadded => {
            let passes = if call.size <= 8 { 1.0 } else { 6.0 };
            Demand { inverse: !call.encrypts(), ..serial(passes * call.pieces(8)) }
        }
        // SP 800-38B §6.2: a chain over the blocks, the last of which may be only padding.
        Mode::Cmac => serial(n.max(call.once(1.0))),
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

/// The IV is a block of AES-256, with 14 rounds, that encryption begins with.
fn essiv(call: &Call<'_>, n: f64, r: f64) -> Demand {
    let (number, data) = (Demand::blocks(1.0, 14.0), Demand::blocks(n, r));
    if call.encrypts() {
        return number.and(data).serial(n * r + 14.0, call.stream);
    }
    Demand { inverse: true, ..number.and(data).simple(2.0 * n) }
}

/// IACR ePrint 2021/1441 §3: the first block through AES one way or the other, counter mode over the rest, which is hashed
/// before and after it; the tweak's two blocks begin both hashes.
fn hctr2(call: &Call<'_>, n: f64, r: f64) -> Demand {
    let rest = (n - 1.0).max(0.0);
    let cipher = Demand { inverse: !call.encrypts() && rest == 0.0, ..Demand::blocks(n, r) };
    cipher.simple(2.0 * rest).and(ghash(2.0 * rest + 2.0))
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

/// AEGIS (draft-irtf-cfrg-aegis-aead §3 to §6): an update is eight rounds for 32 bytes of each lane,
/// or six for 16; ten or sixteen updates begin a message, one takes the associated data, seven end
/// it. Each word of the state is a round of its neighbour's, so no update ends before a round
/// after the one before it.
pub(crate) fn aegis(call: &Call<'_>, lanes: f64) -> Demand {
    let wide = matches!(call.algorithm.cipher, Primitive::Aegis128 { .. });
    let (words, rate, first) = if wide { (8.0, 32.0, 10.0) } else { (6.0, 16.0, 16.0) };
    let body = (call.size as f64 / (rate * lanes)).ceil();
    let count = body + call.once(first + 1.0 + 7.0);
    let decrypting = if call.encrypts() { 0.0 } else { body };
    let updates = Updates { count, words, lanes, decrypting, endless: call.stream };
    Demand { updates: Some(updates), ..Demand::default() }
}

const ALU: &[&str] = SIMPLE;
const SCALAR: &[&str] = &["add"];
/// 64 bits by 64, to 128: AArch64 has an instruction for each half.
const SCALAR_PRODUCT: &[&str] = &["imul", "mulx", "mul+umulh"];
/// 32 bits by 32.
const SCALAR_MULTIPLY: &[&str] = &["imul", "mulx", "mul"];

/// ChaCha (RFC 8439 §2.3): four quarter rounds a round, of 12 operations on words of 32 bits, 16 additions
/// and 16 exclusive ors for a block of 64 bytes: 992 operations for 20 rounds, or 248 on lanes of four words.
fn chacha_blocks(pieces: f64, rounds: usize, stream: bool) -> Demand {
    let (vector, each): (&[Way], f64) = match rounds {
        8 => (&[Way { names: ALU, lanes: 1.0, each: 104.0 }], 416.0),
        12 => (&[Way { names: ALU, lanes: 1.0, each: 152.0 }], 608.0),
        _ => (&[Way { names: ALU, lanes: 1.0, each: 248.0 }], 992.0),
    };
    let scalar = Way { names: SCALAR, lanes: 1.0, each };
    divisible(Divisible { pieces, vector, scalar, bound: Bound::SharedVectorPorts, stream })
}

/// Poly1305 (RFC 8439 §2.5): each block of 16 bytes is multiplied by a power of the key modulo
/// 2^130 - 5. Products are counted by Karatsuba's method: three of 64 bits, nine of 32 bits, or six
/// of 52 bits with two instructions each; two products' lanes of 64 bits are a lane here.
fn poly1305(pieces: f64, stream: bool) -> Demand {
    let vector: &[Way] = &[
        Way { names: &["pmuludq", "umull.2d"], lanes: 0.5, each: 9.0 },
        Way { names: &["pmadd52luq"], lanes: 0.5, each: 12.0 },
    ];
    let scalar = Way { names: SCALAR_PRODUCT, lanes: 1.0, each: 3.0 };
    divisible(Divisible { pieces, vector, scalar, bound: Bound::Multiply, stream })
}

fn divisible(work: Divisible) -> Demand {
    Demand { divisible: vec![work], ..Demand::default() }
}

/// ChaCha20, alone or with Poly1305, whose key takes a block of its own (RFC 8439 §2.6); XChaCha20
/// derives the message's key by 20 rounds more.
pub(crate) fn chacha(call: &Call<'_>) -> Demand {
    let (blocks, stream) = (call.pieces(64), call.stream);
    let rounds = match call.algorithm.cipher {
        Primitive::ChaCha8 => 8,
        Primitive::ChaCha12 => 12,
        _ => 20,
    };
    let is_tagged = call.algorithm.mode == Mode::Poly1305;
    let of_the_key = f64::from(u8::from(call.algorithm.cipher == Primitive::XChaCha20));
    let derived = call.once(of_the_key + f64::from(u8::from(is_tagged)));
    let ciphered = if call.rejected { 0.0 } else { blocks };
    let keystream = chacha_blocks(ciphered + derived, rounds, stream);
    if !is_tagged {
        return keystream;
    }
    keystream.and(poly1305(call.blocks() + call.once(2.0), stream))
}

/// Adiantum (IACR ePrint 2018/720 §2): ChaCha under a derived key over all but one block; before and after it NH, two
/// products of 32 bits in each of four passes for 16 bytes, and Poly1305 over 32 bytes for 1024 and over the tweak. The one
/// block of AES is left out: it needs no instructions of its own.
pub(crate) fn adiantum(call: &Call<'_>, rounds: u8) -> Demand {
    let len = call.size.saturating_sub(16);
    let (pieces, stream) = (2.0 * len.div_ceil(16) as f64, call.stream);
    let vector: &[Way] = &[Way { names: &["pmuludq", "umull.2d"], lanes: 4.0, each: 1.0 }];
    let scalar = Way { names: SCALAR_MULTIPLY, lanes: 1.0, each: 8.0 };
    let nh = Divisible { pieces, vector, scalar, bound: Bound::Multiply, stream };
    let hashed = 4.0 * len.div_ceil(1024) as f64 + 3.0;
    chacha_blocks(len.div_ceil(64) as f64 + 1.0, usize::from(rounds), stream)
        .and(divisible(nh))
        .and(poly1305(hashed, stream))
}

/// Digests, MACs and checksums.
pub(crate) fn digest(call: &Call<'_>) -> Option<Demand> {
    Some(match call.algorithm.cipher {
        // RFC 1321 §3.4: 64 steps for each 64 bytes, each of them at least a function of the step before, a sum, a
        // rotation and a sum.
        Primitive::Md5 => cycles(call, merkle(call, 64), 64.0 * 4.0),
        // FIPS 180-4 §6.1: 80 rounds for each 64 bytes. An instruction does four, and takes four cycles or more.
        Primitive::Sha1 => cycles(call, merkle(call, 64), 80.0),
        Primitive::Sha224 | Primitive::Sha256 => sha2(call, 64, Step::Sha256TwoRounds),
        Primitive::Sha384 | Primitive::Sha512 | Primitive::Sha512_224 | Primitive::Sha512_256 => {
            sha2(call, 128, Step::Sha512TwoRounds)
        }
        // Bytes of a block: FIPS 202 §5.2 (200 less twice the security), RFC 9861 §2.2.
        Primitive::Sha3_224 => keccak(call, 144, 24.0),
        Primitive::Sha3_256 | Primitive::Shake256 | Primitive::Keccak256 => keccak(call, 136, 24.0),
        Primitive::Sha3_384 => keccak(call, 104, 24.0),
        Primitive::Sha3_512 => keccak(call, 72, 24.0),
        Primitive::Shake128 => keccak(call, 168, 24.0),
        Primitive::TurboShake128 => keccak(call, 168, 12.0),
        Primitive::TurboShake256 => keccak(call, 136, 12.0),
        // RFC 7693 §3.1, §3.2: 12 or 10 rounds of two steps, each two halves of add, exclusive or,
        // rotate, add, exclusive or, rotate, for each 128 or 64 bytes. A key's block (§2.9) is done beforehand.
        Primitive::Blake2b | Primitive::Blake2b256 => blake2(call, 128, 12.0),
        Primitive::Blake2s => blake2(call, 64, 10.0),
        Primitive::Blake3 => blake3(call),
        Primitive::Poly1305 => poly1305(call.blocks(), call.stream),
        Primitive::Xxh3 => xxh3(call),
        Primitive::Crc32c => crc32c(call),
        _ => return None,
    })
}

/// Blocks of a message and so many bytes of padding, at least one; of a stream what an operation adds.
fn padded(call: &Call<'_>, block: usize, padding: usize) -> f64 {
    if call.stream {
        return call.pieces(block);
    }
    (call.size + padding).div_ceil(block).max(1) as f64
}

/// Blocks of a digest that puts a byte and the length (an eighth of a block) after the message, and HMAC's.
fn merkle(call: &Call<'_>, block: usize) -> f64 {
    padded(call, block, 1 + block / 8) + outer(call)
}

/// HMAC (FIPS 198-1) hashes one block more, the inner digest's; the key's two are done beforehand.
fn outer(call: &Call<'_>) -> f64 {
    call.once(if call.algorithm.mode == Mode::Hmac { 1.0 } else { 0.0 })
}

/// FIPS 202 §3.2: so many rounds for each block, with at least one byte of padding; KMAC's key is done beforehand. Five words' sum is two instructions of three operands deep, its addition one, chi one;
/// rotations are left out.
fn keccak(call: &Call<'_>, block: usize, rounds: f64) -> Demand {
    cycles(call, padded(call, block, 1) + outer(call), rounds * 4.0)
}

fn blake2(call: &Call<'_>, block: usize, rounds: f64) -> Demand {
    cycles(call, padded(call, block, 0), rounds * 2.0 * 12.0)
}

fn cycles(call: &Call<'_>, blocks: f64, each: f64) -> Demand {
    let (step, endless) = (Step::Cycles(each), call.stream);
    let chain = Chain { steps: blocks, step, waiting: each, endless };
    Demand { chains: vec![chain], ..Demand::default() }
}

/// FIPS 180-4 §5.1, §6.2, §6.4: a byte and the length (8 or 16 bytes) after the message; 64 rounds
/// for 64 bytes, 80 for 128.
fn sha2(call: &Call<'_>, block: usize, step: Step) -> Demand {
    let blocks = merkle(call, block);
    let rounds = if block == 64 { 64.0 } else { 80.0 };
    let chain = Chain { steps: blocks * rounds / 2.0, step, waiting: 1.0, endless: call.stream };
    Demand { chains: vec![chain], ..Demand::default() }
}

/// BLAKE3 (paper, §2.2, §2.4): chunks of 1024 bytes that do not depend on each other, then a tree.
/// A compression is 7 rounds of two steps as deep as BLAKE2's, and 784 operations on words of 32 bits.
/// A stream's chunks may wait for each other and be done side by side: no chain binds it.
fn blake3(call: &Call<'_>) -> Demand {
    let (blocks, chunks) = (padded(call, 64, 0), padded(call, 1024, 0));
    let deep = call.once(blocks.min(16.0) + chunks.log2().ceil());
    let vector: &[Way] = &[Way { names: ALU, lanes: 1.0, each: 196.0 }];
    let scalar = Way { names: SCALAR, lanes: 1.0, each: 784.0 };
    let pieces = blocks + chunks - call.once(1.0);
    let (bound, stream) = (Bound::SharedVectorPorts, call.stream);
    cycles(call, deep, 7.0 * 2.0 * 12.0).and(divisible(Divisible {
        pieces,
        vector,
        scalar,
        bound,
        stream,
    }))
}

/// XXH3 (specification, "long inputs"): each word of 64 bits is added to its neighbour's accumulator,
/// combined with the secret, its halves are brought apart and multiplied, the product added: five
/// instructions, one of them a multiplication. Up to 240 bytes other formulas apply, and only
/// loading is counted.
fn xxh3(call: &Call<'_>) -> Demand {
    if call.size <= 240 {
        return Demand::default();
    }
    let (pieces, stream) = ((call.size / 8) as f64, call.stream);
    let simple: &[Way] = &[Way { names: ALU, lanes: 0.5, each: 5.0 }];
    let multiply: &[Way] = &[Way { names: &["pmuludq", "umull.2d"], lanes: 0.5, each: 1.0 }];
    let work = |vector, names, each, bound| {
        let scalar = Way { names, lanes: 1.0, each };
        divisible(Divisible { pieces, vector, scalar, bound, stream })
    };
    work(simple, SCALAR, 5.0, Bound::SharedVectorPorts).and(work(
        multiply,
        SCALAR_MULTIPLY,
        1.0,
        Bound::Multiply,
    ))
}

/// CRC-32C (RFC 3720 §12.1): the instruction takes eight bytes, a carry-less multiplication folds
/// eight.
fn crc32c(call: &Call<'_>) -> Demand {
    let vector: &[Way] = &[Way { names: CARRYLESS, lanes: 1.0, each: 1.0 }];
    let scalar = Way { names: &["crc32", "crc32cx"], lanes: 1.0, each: 1.0 };
    let (bound, stream) = (Bound::CarrylessMultiply, call.stream);
    divisible(Divisible { pieces: (call.size / 8) as f64, vector, scalar, bound, stream })
}
