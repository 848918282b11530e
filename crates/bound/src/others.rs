//! AEGIS, ChaCha20, Poly1305, digests and checksums, counted.

use crate::Bound;
use crate::ciphers::Call;
use crate::demand::{Chain, Demand, Divisible, SIMPLE, Step, Updates, Way};
use model::{Mode, Primitive};

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
const SCALAR_MULTIPLY: &[&str] = &["imul", "mulx"];

/// ChaCha20 (RFC 8439 §2.3): 80 quarter rounds of 12 operations on words of 32 bits, 16 additions
/// and 16 exclusive ors for a block of 64 bytes: 992 operations, or 248 on lanes of four words.
fn chacha_blocks(pieces: f64) -> Demand {
    let vector: &[Way] = &[Way { names: ALU, lanes: 1.0, each: 248.0 }];
    let scalar = Way { names: SCALAR, lanes: 1.0, each: 992.0 };
    divisible(Divisible { pieces, vector, scalar, bound: Bound::SharedVectorPorts })
}

/// Poly1305 (RFC 8439 §2.5): each block of 16 bytes is multiplied by a power of the key modulo
/// 2^130 - 5. Products are counted by Karatsuba's method: three of 64 bits, nine of 32 bits, or six
/// of 52 bits with two instructions each; two products' lanes of 64 bits are a lane here.
fn poly1305(blocks: f64) -> Demand {
    let vector: &[Way] = &[
        Way { names: &["pmuludq"], lanes: 0.5, each: 9.0 },
        Way { names: &["pmadd52luq"], lanes: 0.5, each: 12.0 },
    ];
    let scalar = Way { names: SCALAR_MULTIPLY, lanes: 1.0, each: 3.0 };
    divisible(Divisible { pieces: blocks, vector, scalar, bound: Bound::Multiply })
}

fn divisible(work: Divisible) -> Demand {
    Demand { divisible: vec![work], ..Demand::default() }
}

/// ChaCha20, alone or with Poly1305, whose key takes a block of its own (RFC 8439 §2.6); XChaCha20
/// derives the message's key by 20 rounds more.
pub(crate) fn chacha(call: &Call<'_>) -> Demand {
    let blocks = call.size.div_ceil(64) as f64;
    if call.algorithm.mode != Mode::Poly1305 {
        return chacha_blocks(blocks);
    }
    let derived = if call.algorithm.cipher == Primitive::XChaCha20 { 2.0 } else { 1.0 };
    let mac = poly1305(call.blocks() + call.once(2.0));
    let ciphered = if call.rejected { 0.0 } else { blocks };
    chacha_blocks(ciphered + call.once(derived)).and(mac)
}

/// Digests, MACs and checksums.
pub(crate) fn digest(call: &Call<'_>) -> Option<Demand> {
    let bytes = call.size as f64;
    let hmac = call.algorithm.mode == Mode::Hmac;
    Some(match call.algorithm.cipher {
        Primitive::Sha256 => sha2(call.size, 64, hmac, Step::Sha256TwoRounds),
        Primitive::Sha384 | Primitive::Sha512 => sha2(call.size, 128, hmac, Step::Sha512TwoRounds),
        // FIPS 202 §3.2, §5.2: 24 rounds for each 136, 104 or 72 bytes, with at least one byte of
        // padding. Five words' sum is two instructions of three operands deep, its addition one,
        // chi one; rotations are left out.
        Primitive::Sha3_256 => keccak(bytes, 136.0),
        Primitive::Sha3_384 => keccak(bytes, 104.0),
        Primitive::Sha3_512 => keccak(bytes, 72.0),
        // RFC 7693 §3.1, §3.2: 12 rounds of two steps, each two halves of add, exclusive or,
        // rotate, add, exclusive or, rotate, for each 128 bytes.
        Primitive::Blake2b => cycles((bytes / 128.0).ceil().max(1.0), 12.0 * 2.0 * 12.0),
        Primitive::Blake3 => blake3(call.size),
        Primitive::Poly1305 => poly1305(call.blocks()),
        Primitive::Xxh3 => xxh3(call.size),
        Primitive::Crc32c => crc32c(call.size),
        _ => return None,
    })
}

fn cycles(steps: f64, each: f64) -> Demand {
    let chain = Chain { steps, step: Step::Cycles(each), waiting: each, endless: false };
    Demand { chains: vec![chain], ..Demand::default() }
}

fn keccak(bytes: f64, rate: f64) -> Demand {
    cycles(((bytes + 1.0) / rate).ceil() * 24.0, 4.0)
}

/// FIPS 180-4 §5.1, §6.2, §6.4: a byte and the length (8 or 16 bytes) after the message; 64 rounds
/// for 64 bytes, 80 for 128. HMAC (FIPS 198-1) hashes one block more, the inner digest's; the key's
/// two are done beforehand.
fn sha2(size: usize, block: usize, hmac: bool, step: Step) -> Demand {
    let blocks = (size + 1 + block / 8).div_ceil(block) + usize::from(hmac);
    let rounds = if block == 64 { 64 } else { 80 };
    let steps = (blocks * rounds / 2) as f64;
    Demand {
        chains: vec![Chain { steps, step, waiting: 1.0, endless: false }],
        ..Demand::default()
    }
}

/// BLAKE3 (paper, §2.2, §2.4): chunks of 1024 bytes that do not depend on each other, then a tree.
/// A compression is 7 rounds of two steps as deep as BLAKE2's, and 784 operations on words of 32 bits.
fn blake3(size: usize) -> Demand {
    let (blocks, chunks) = (size.div_ceil(64).max(1), size.div_ceil(1024).max(1));
    let deep = blocks.min(16) + (chunks as f64).log2().ceil() as usize;
    let vector: &[Way] = &[Way { names: ALU, lanes: 1.0, each: 196.0 }];
    let scalar = Way { names: SCALAR, lanes: 1.0, each: 784.0 };
    let pieces = (blocks + chunks - 1) as f64;
    cycles(deep as f64, 7.0 * 2.0 * 12.0).and(divisible(Divisible {
        pieces,
        vector,
        scalar,
        bound: Bound::SharedVectorPorts,
    }))
}

/// XXH3 (specification, "long inputs"): each word of 64 bits is added to its neighbour's accumulator,
/// combined with the secret, its halves are brought apart and multiplied, the product added: five
/// instructions, one of them a multiplication. Up to 240 bytes other formulas apply, and only
/// loading is counted.
fn xxh3(size: usize) -> Demand {
    if size <= 240 {
        return Demand::default();
    }
    let pieces = (size / 8) as f64;
    let simple: &[Way] = &[Way { names: ALU, lanes: 0.5, each: 5.0 }];
    let multiply: &[Way] = &[Way { names: &["pmuludq"], lanes: 0.5, each: 1.0 }];
    let work = |vector, names, each, bound| {
        let scalar = Way { names, lanes: 1.0, each };
        divisible(Divisible { pieces, vector, scalar, bound })
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
fn crc32c(size: usize) -> Demand {
    let vector: &[Way] = &[Way { names: &["pclmulqdq"], lanes: 1.0, each: 1.0 }];
    let scalar = Way { names: &["crc32"], lanes: 1.0, each: 1.0 };
    let bound = Bound::CarrylessMultiply;
    divisible(Divisible { pieces: (size / 8) as f64, vector, scalar, bound })
}
