//! AEGIS, ChaCha20, Poly1305, digests and checksums, counted.

use crate::analysis::bound::Bound;
use crate::analysis::bound::ciphers::Call;
use crate::analysis::bound::demand::{Chain, Demand, Divisible, SIMPLE, Step, Updates, Way};
use crate::analysis::bound::machine::CARRYLESS;
use crate::model::{Mode, Primitive};

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

/// ChaCha20 (RFC 8439 §2.3): 80 quarter rounds of 12 operations on words of 32 bits, 16 additions
/// and 16 exclusive ors for a block of 64 bytes: 992 operations, or 248 on lanes of four words.
fn chacha_blocks(pieces: f64, stream: bool) -> Demand {
    let vector: &[Way] = &[Way { names: ALU, lanes: 1.0, each: 248.0 }];
    let scalar = Way { names: SCALAR, lanes: 1.0, each: 992.0 };
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
    if call.algorithm.mode != Mode::Poly1305 {
        return chacha_blocks(blocks, stream);
    }
    let derived = if call.algorithm.cipher == Primitive::XChaCha20 { 2.0 } else { 1.0 };
    let mac = poly1305(call.blocks() + call.once(2.0), stream);
    let ciphered = if call.rejected { 0.0 } else { blocks };
    chacha_blocks(ciphered + call.once(derived), stream).and(mac)
}

/// Digests, MACs and checksums.
pub(crate) fn digest(call: &Call<'_>) -> Option<Demand> {
    Some(match call.algorithm.cipher {
        Primitive::Sha256 => sha2(call, 64, Step::Sha256TwoRounds),
        Primitive::Sha384 | Primitive::Sha512 => sha2(call, 128, Step::Sha512TwoRounds),
        // FIPS 202 §3.2, §5.2: 24 rounds for each 136, 104 or 72 bytes, with at least one byte of
        // padding. Five words' sum is two instructions of three operands deep, its addition one,
        // chi one; rotations are left out.
        Primitive::Sha3_256 => cycles(call, padded(call, 136, 1), 24.0 * 4.0),
        Primitive::Sha3_384 => cycles(call, padded(call, 104, 1), 24.0 * 4.0),
        Primitive::Sha3_512 => cycles(call, padded(call, 72, 1), 24.0 * 4.0),
        // RFC 7693 §3.1, §3.2: 12 rounds of two steps, each two halves of add, exclusive or,
        // rotate, add, exclusive or, rotate, for each 128 bytes.
        Primitive::Blake2b => cycles(call, padded(call, 128, 0), 12.0 * 2.0 * 12.0),
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

fn cycles(call: &Call<'_>, blocks: f64, each: f64) -> Demand {
    let (step, endless) = (Step::Cycles(each), call.stream);
    let chain = Chain { steps: blocks, step, waiting: each, endless };
    Demand { chains: vec![chain], ..Demand::default() }
}

/// FIPS 180-4 §5.1, §6.2, §6.4: a byte and the length (8 or 16 bytes) after the message; 64 rounds
/// for 64 bytes, 80 for 128. HMAC (FIPS 198-1) hashes one block more, the inner digest's; the key's
/// two are done beforehand.
fn sha2(call: &Call<'_>, block: usize, step: Step) -> Demand {
    let outer = call.once(if call.algorithm.mode == Mode::Hmac { 1.0 } else { 0.0 });
    let blocks = padded(call, block, 1 + block / 8) + outer;
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
