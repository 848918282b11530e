//! Every bound that applies to a demand on a machine.

use crate::bound::demand::{Chain, Demand, Divisible, SIMPLE, Step, Updates, Vector};
use crate::bound::machine::{Machine, cover};
use crate::bound::{Access, Basis, Bound, Level, Limit, Operation};
use model::Footprint;

const AES: &[&str] = &["aesenc", "aesenclast", "aesdec"];
const CARRYLESS: &[&str] = &["pclmulqdq"];

/// Every bound that applies.
pub(crate) fn all(machine: &Machine<'_>, demand: &Demand, operation: &Operation<'_>) -> Vec<Limit> {
    let mut found = candidates(machine, demand);
    if let Some(level) = level(operation.footprint) {
        outer(machine, demand, level, operation.in_place, &mut found);
    }
    found
}

/// In the first-level cache.
fn candidates(machine: &Machine<'_>, demand: &Demand) -> Vec<Limit> {
    let mut found = Vec::new();
    vector_units(machine, demand, &mut found);
    found.extend(demand.updates.iter().flat_map(|u| aegis(machine, u)));
    found.extend(demand.divisible.iter().filter_map(|d| divided(machine, d)));
    found.extend(demand.chains.iter().filter_map(|c| chain(machine, c)));
    found.extend(demand.chains.iter().filter_map(|c| sha_units(machine, c)));
    let both = demand.loaded.min(demand.stored);
    let moves =
        [(Access::Read, demand.loaded), (Access::Write, demand.stored), (Access::Copy, both)];
    found.extend(moving(machine, (Level::L1, Bound::LoadStore), &moves));
    found
}

/// Where the bytes of a footprint come from, beyond the first-level cache.
fn level(footprint: Footprint) -> Option<Level> {
    match footprint {
        // A few buffers that may lie in any cache; so may the first of those that fill one.
        Footprint::Hot | Footprint::L1 => None,
        Footprint::L2 => Some(Level::L2),
        Footprint::L3 => Some(Level::L3),
        Footprint::Memory => Some(Level::Memory),
    }
}

/// AES units, carry-less multipliers, and what both share with everything else.
fn vector_units(machine: &Machine<'_>, demand: &Demand, found: &mut Vec<Limit>) {
    let units = |parts: &[Vector], names: &[&str]| {
        let widths = machine.widths(names);
        parts.iter().map(|v| v.each * cover(v.lanes, &widths, demand.stream)).sum::<f64>()
    };
    let lanes = |parts: &[Vector]| parts.iter().map(|v| v.lanes * v.each).sum::<f64>();
    let (aes, carryless) = (&demand.aes, &demand.carryless);
    let mut add = |cycles, by, basis, names| found.push(machine.limit(cycles, (by, basis), names));
    let (rounds, products) = (units(aes, AES), units(carryless, CARRYLESS));
    add(rounds, Bound::AesUnits, Basis::IfExecuted, AES);
    add(products, Bound::CarrylessMultiply, Basis::IfExecuted, CARRYLESS);
    let simple = machine.widths(SIMPLE);
    let all = lanes(aes) + lanes(carryless) + demand.simple;
    let best = simple.iter().map(|(l, t)| t / l).fold(f64::INFINITY, f64::min);
    if all > 0.0 {
        add(all * best, Bound::SharedVectorPorts, Basis::KnownMethods, SIMPLE);
    }
    let two = (("aesenc", lanes(aes)), ("pclmulqdq", lanes(carryless)));
    // Where the two do not wait for each other, the slower one's own units decide.
    let together = machine.shared(two.0, two.1).filter(|t| *t > rounds.max(products) * 1.001);
    if let Some(cycles) = together {
        add(cycles, Bound::SharedVectorPorts, Basis::IfExecuted, CARRYLESS);
    }
}

/// AEGIS with its state's words in registers of their own, or several in one: then a shuffle of at
/// least one cycle comes between one update and the next.
fn aegis(machine: &Machine<'_>, updates: &Updates) -> Vec<Limit> {
    let widths = machine.widths(AES);
    let Some(latency) = machine.latency("aesenc") else { return Vec::new() };
    let key = machine.latency("aesenc-key").unwrap_or(0.0);
    let window = if updates.endless { Some(0.0) } else { machine.window() };
    let overlap = window.map(|w| w / updates.words);
    let layout = |each: f64, apart: f64| {
        let bound = (Bound::AesUnits, Basis::IfExecuted);
        let mut found = vec![machine.limit(updates.count * each, bound, AES)];
        if let Some(overlap) = overlap {
            // A decrypted word enters the key of a round, whose result is the next round's state and
            // decrypts, with one exclusive or, the word after the next.
            let decrypt = (latency + apart).max((latency + 1.0 + key) / 2.0);
            let steps = |n: f64| (n - overlap).max(0.0);
            let cycles =
                (steps(updates.count) * (latency + apart)).max(steps(updates.decrypting) * decrypt);
            found.push(machine.limit(cycles, (Bound::LatencyChain, Basis::KnownMethods), AES));
        }
        found
    };
    let worst = |l: &[Limit]| l.iter().map(|l| l.cycles).fold(0.0, f64::max);
    let apart = layout(updates.words * cover(updates.lanes, &widths, updates.endless), 0.0);
    let joined = layout(cover(updates.words * updates.lanes, &widths, updates.endless), 1.0);
    if worst(&joined) < worst(&apart) { joined } else { apart }
}

/// Work that vector and scalar units share out.
fn divided(machine: &Machine<'_>, work: &Divisible) -> Option<Limit> {
    let ways = work.vector.iter().filter_map(|way| {
        let widths = machine.widths(way.names);
        (!widths.is_empty())
            .then(|| way.each * cover(way.lanes * work.pieces, &widths, work.stream))
    });
    let vector = ways.fold(f64::INFINITY, f64::min);
    if vector.is_infinite() || work.pieces <= 0.0 {
        return None;
    }
    let scalar = work.scalar.names.iter().filter_map(|name| machine.per_cycle(name, 64));
    let scalar = scalar.fold(0.0, f64::max) / work.scalar.each;
    let cycles = work.pieces / (work.pieces / vector + scalar);
    let names: Vec<&str> = work.vector.iter().flat_map(|w| w.names).copied().collect();
    Some(machine.limit(cycles, (work.bound, Basis::KnownMethods), &names))
}

/// A chain, less what of it can overlap with the next operation's.
fn chain(machine: &Machine<'_>, chain: &Chain) -> Option<Limit> {
    let (step, names) = match chain.step {
        Step::AesRound => (machine.latency("aesenc")?, AES),
        Step::Cycles(cycles) => (cycles, &[][..]),
        // Without instructions of its own a round is a rotation, a sum of three, an addition.
        Step::Sha256TwoRounds => (sha(machine, "sha256rnds2"), &["sha256rnds2"][..]),
        Step::Sha512TwoRounds => (sha(machine, "sha512rnds2"), &["sha512rnds2"][..]),
    };
    let overlap = if chain.endless { 0.0 } else { machine.window()? / chain.waiting };
    let cycles = (chain.steps - overlap).max(0.0) * step;
    let basis = match chain.step {
        Step::AesRound => Basis::IfExecuted,
        _ => Basis::KnownMethods,
    };
    Some(machine.limit(cycles, (Bound::LatencyChain, basis), names))
}

/// Cycles of two rounds: by the instruction or by the least that software takes.
fn sha(machine: &Machine<'_>, name: &str) -> f64 {
    const SOFTWARE: f64 = 6.0;
    let instruction = if machine.has_sha() { machine.latency(name) } else { None };
    instruction.unwrap_or(SOFTWARE).min(SOFTWARE)
}

/// How many SHA instructions start in a cycle: what short messages, which overlap, are bound by.
fn sha_units(machine: &Machine<'_>, chain: &Chain) -> Option<Limit> {
    let (name, width) = match chain.step {
        Step::Sha256TwoRounds => ("sha256rnds2", 128),
        Step::Sha512TwoRounds => ("sha512rnds2", 256),
        _ => return None,
    };
    let rate = machine.per_cycle(name, width).filter(|_| machine.has_sha())?;
    let bound = (Bound::SharedVectorPorts, Basis::KnownMethods);
    Some(machine.limit(chain.steps / rate, bound, &[name]))
}

/// Loading and storing so many bytes at a level.
fn moving(
    machine: &Machine<'_>,
    (level, by): (Level, Bound),
    moves: &[(Access, f64)],
) -> Vec<Limit> {
    let limit = |(access, bytes): &(Access, f64)| {
        let (each, spread) = machine.per_byte(level, *access)?;
        // Loads and stores were read one kind and width at a time: a mix may copy faster. Of an outer
        // level a walk shows what that walk gets; two at once get more.
        let basis = match (level, access) {
            (Level::L1, Access::Read | Access::Write) => Basis::Proven,
            _ => Basis::KnownMethods,
        };
        Some(Limit { cycles: bytes * each, by, basis, spread })
    };
    moves.iter().filter_map(limit).collect()
}

/// Input and output beyond the first-level cache. What is written over the input is there already,
/// so the level has less to do than for a copy, and only reading is counted.
fn outer(
    machine: &Machine<'_>,
    demand: &Demand,
    level: Level,
    in_place: bool,
    found: &mut Vec<Limit>,
) {
    let mut moves = vec![(Access::Read, demand.loaded)];
    if !in_place && demand.stored > 0.0 {
        moves.push((Access::Write, demand.stored));
        moves.push((Access::Copy, demand.loaded.min(demand.stored)));
    }
    found.extend(moving(machine, (level, Bound::Memory), &moves));
}
