//! Company for an experiment (docs/METHOD.md, What a number is): what else a visit's process does before it samples its case.
//! Without the variable it does nothing.

use super::bench::Bench;
use crate::protocol::Visit;
use base::model::{Algorithm, Direction, Model};
use contract::Library;

/// `cases=N`: samples N other cases of the library first. `opened`: opens all its other algorithms and keeps
/// them. `heap=N`: takes N MiB of heap in pieces and gives a third of them back.
const VARIABLE: &str = "CIPHERMARK_COMPANY";

/// Bytes of a piece of heap.
const PIECE: usize = 4000;

pub(super) fn keep(library: &'static dyn Library, bench: &mut Bench, visit: &Visit) {
    let Ok(kind) = std::env::var(VARIABLE) else { return };
    let (kind, number) = kind.split_once('=').unwrap_or((&kind, "0"));
    let number: usize = number.parse().unwrap_or(0);
    match kind {
        "cases" => others(library, visit, number).iter().for_each(|other| {
            // Whatever comes of it.
            let _ = bench.visit(library, other);
        }),
        "opened" => opened(library),
        "heap" => fragmented(number << 20),
        _ => {}
    }
    bench.unsettle();
}

fn others(library: &'static dyn Library, visit: &Visit, number: usize) -> Vec<Visit> {
    let offered = |a: &&'static Algorithm| {
        a.name != visit.algorithm
            && a.key_len > 0
            && library.open(a, Direction::Encrypt, &key(a)).is_ok()
    };
    let algorithms: Vec<&'static Algorithm> = Algorithm::all().iter().filter(offered).collect();
    let other = |(i, algorithm): (usize, &&'static Algorithm)| Visit {
        algorithm: algorithm.name.to_owned(),
        direction: Direction::Encrypt,
        model: Model::Message,
        size: [16, 64, 256, 1024, 4096][i % 5],
        ops: None,
        samples: 1,
        most: 0,
        every_check: false,
        ..visit.clone()
    };
    algorithms.iter().cycle().take(number).enumerate().map(other).collect()
}

fn opened(library: &'static dyn Library) {
    for algorithm in Algorithm::all() {
        for direction in Direction::of(algorithm.kind) {
            std::mem::forget(library.open(algorithm, *direction, &key(algorithm)));
        }
    }
}

fn fragmented(bytes: usize) {
    let mut pieces: Vec<Vec<u8>> = (0..bytes / PIECE).map(|_| vec![1; PIECE]).collect();
    let mut i = 0;
    pieces.retain(|_| {
        i += 1;
        i % 3 != 0
    });
    std::mem::forget(pieces);
}

/// Any key will do, but XTS refuses two equal halves.
fn key(algorithm: &Algorithm) -> Vec<u8> {
    (1..=algorithm.key_len as u8).collect()
}
