//! Of what draws random bytes there is no right answer. What can be held against a generator: no call gives what another
//! one gave, in one session or in another, in one thread or in another; and the bytes pass for random where simple faults
//! do not: a constant, a counter, bits that are one too often, bytes that follow from those before.

use crate::context::{Context, Verdict, refuse, words};
use crate::inputs::{self, Placement};
use base::model::Direction;
use contract::{Library, Message, Session};
use std::thread;

/// Draws of each size from each of two sessions.
const DRAWS: usize = 4;

pub(crate) fn differ(context: &mut Context<'_>) -> Verdict {
    let mut count = 0;
    for note in ["", " in a new session"] {
        let sizes = inputs::few_sizes(context.algorithm);
        count += context.every_example("draws-differ", sizes, |context, session, example| {
            let mut one =
                || context.answer(session, example, Placement::ALIGNED, format_args!("{note}"));
            (0..DRAWS).map(|_| one()).sum()
        })?;
    }
    Ok(count)
}

/// Bytes that are looked at as a whole, ...
const LOOKED_AT: usize = 64 << 10;
/// ... in draws of so many.
const PIECES: [usize; 2] = [16, 16 << 10];

pub(crate) fn look_random(context: &mut Context<'_>) -> Verdict {
    let mut session = context.open(Direction::Generate, &[])?;
    for piece in PIECES {
        let mut bytes = vec![0; LOOKED_AT];
        for part in bytes.chunks_mut(piece) {
            draw(&mut session, part)
                .or_else(|why| refuse(format!("generate of {piece} bytes {why}")))?;
        }
        if let Some(why) = pattern(&bytes) {
            return refuse(format!("of {LOOKED_AT} bytes in draws of {piece}, {why}"));
        }
    }
    Ok(PIECES.len() as u64)
}

/// Standard deviations that a good generator leaves once in 10^11: with the two bounds below, and for nine counts of two
/// sets of bytes, it is refused once in 10^9 verifications.
const MOST_DEVIATIONS: f64 = 6.8;
/// Pearson's sum over 256 values of a byte, which has a mean of 255: a good generator is beyond either bound once in 10^10.
const SUM: std::ops::RangeInclusive<f64> = 130.0..=440.0;
/// How far before a bit the one is that it must not follow: in bytes, the lengths of words and of blocks.
const LAGS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// What no random bytes are like, in words.
fn pattern(bytes: &[u8]) -> Option<String> {
    let far = |ones: usize, bits: usize| {
        let (ones, bits) = (ones as f64, bits as f64);
        (ones - bits / 2.0).abs() > MOST_DEVIATIONS * bits.sqrt() / 2.0
    };
    let count = |bytes: &mut dyn Iterator<Item = u8>| -> usize {
        bytes.map(|byte| byte.count_ones() as usize).sum()
    };
    let bits = 8 * bytes.len();
    let ones = count(&mut bytes.iter().copied());
    if far(ones, bits) {
        return Some(format!("{ones} of {bits} bits are ones"));
    }
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let mean = bytes.len() as f64 / 256.0;
    let sum: f64 = counts.iter().map(|n| (f64::from(*n) - mean).powi(2) / mean).sum();
    if !SUM.contains(&sum) {
        let how = if sum > *SUM.end() {
            "some bytes come far more often"
        } else {
            "all bytes come too evenly"
        };
        return Some(format!("{how} (chi-squared {sum:.0}, 255 on average)"));
    }
    // A bit against the one before it in its byte.
    let turns = count(&mut bytes.iter().map(|byte| (byte ^ byte >> 1) & 0x7f));
    if far(turns, 7 * bytes.len()) {
        return Some(format!("{turns} of {} bits differ from the bit before", 7 * bytes.len()));
    }
    LAGS.into_iter().find_map(|lag| {
        let mut changed = bytes.iter().zip(&bytes[lag..]).map(|(a, b)| a ^ b);
        let (differ, of) = (count(&mut changed), 8 * (bytes.len() - lag));
        let what = format!("{differ} of {of} bits differ from the bit {lag} bytes before");
        far(differ, of).then_some(what)
    })
}

/// Threads beside this one, and draws of each.
const THREADS: usize = 2;
const OF_A_THREAD: usize = 8;
const LEN: usize = 32;

pub(crate) fn differ_in_threads(context: &mut Context<'_>) -> Verdict {
    let (library, algorithm) = (context.library(), context.algorithm);
    if library.one_thread_only().is_some() {
        return Ok(0);
    }
    let some = || -> Result<Vec<[u8; LEN]>, String> {
        let mut session = opened(library, algorithm)?;
        let mut draws = vec![[0; LEN]; OF_A_THREAD];
        draws.iter_mut().try_for_each(|to| draw(&mut session, to))?;
        Ok(draws)
    };
    let drawn = thread::scope(|scope| {
        let threads = [(); THREADS].map(|()| scope.spawn(some));
        let drawn = threads.map(|thread| thread.join().unwrap_or(Err("panicked".to_owned())));
        drawn.into_iter().chain([some()]).collect::<Result<Vec<_>, _>>()
    });
    let drawn =
        drawn.or_else(|why| refuse(format!("generate of {LEN} bytes in a thread {why}")))?;
    let mut count = 0;
    for draw in drawn.iter().flatten() {
        count +=
            context.is_new(draw, format_args!("generate of {LEN} bytes in one of two threads"))?;
    }
    Ok(count)
}

fn opened(
    library: &dyn Library,
    algorithm: &'static base::model::Algorithm,
) -> Result<Session, String> {
    library
        .open(algorithm, Direction::Generate, &[])
        .map_err(|e| format!("cannot open: {}", words(e)))
}

/// Fills the memory.
fn draw(session: &mut Session, to: &mut [u8]) -> Result<(), String> {
    // A length, which is all of the message that counts.
    let input = to.to_vec();
    let message = Message { nonce: &[], aad: &[], input: &input, output: to, tag: &mut [] };
    match session.message(message) {
        contract::Outcome::Done => Ok(()),
        other => Err(format!("returned {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

    #[test]
    fn random_bytes_pass_and_each_pattern_is_named() {
        let drawn = |seed| {
            let mut bytes = vec![0; LOOKED_AT];
            ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
            bytes
        };
        assert_eq!((0..64).find_map(|seed| pattern(&drawn(seed))), None);
        let counter: Vec<u8> = (0..LOOKED_AT).map(|n| n as u8).collect();
        let mut half_alike = drawn(3);
        half_alike.chunks_mut(32).for_each(|block| block.copy_within(..4, 16));
        let mut ones = drawn(4);
        ones.iter_mut().step_by(8).for_each(|byte| *byte |= 0x80);
        let mut without = drawn(5);
        without.iter_mut().filter(|b| **b == 0).for_each(|byte| *byte = 0xff);
        for (bytes, words) in [
            (vec![0xa5; LOOKED_AT], "chi-squared"),
            (counter, "too evenly"),
            (ones, "bits are ones"),
            (without, "far more often"),
            (half_alike, "from the bit 16 bytes before"),
        ] {
            let why = pattern(&bytes).unwrap();
            assert!(why.contains(words), "{why}");
        }
    }
}
