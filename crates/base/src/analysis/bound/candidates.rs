//! Every bound that applies to a demand on a machine.

use crate::analysis::bound::demand::{Chain, Demand, Divisible, SIMPLE, Step, Updates, Vector};
use crate::analysis::bound::machine::{CARRYLESS, Machine, ROUNDS, cover};
use crate::analysis::bound::{Access, Basis, Bound, Level, Limit, Operation};
use crate::model::Footprint;

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
    let units = |parts: &[Vector], widths: &[(f64, f64)]| {
        parts.iter().map(|v| v.each * cover(v.lanes, widths, demand.stream)).sum::<f64>()
    };
    let lanes = |parts: &[Vector]| parts.iter().map(|v| v.lanes * v.each).sum::<f64>();
    let (aes, carryless) = (&demand.aes, &demand.carryless);
    let mut add = |cycles, by, basis, names| found.push(machine.limit(cycles, (by, basis), names));
    let rounds = units(aes, &machine.rounds());
    let products = units(carryless, &machine.widths(CARRYLESS));
    add(rounds, Bound::AesUnits, Basis::IfExecuted, ROUNDS);
    add(products, Bound::CarrylessMultiply, Basis::IfExecuted, CARRYLESS);
    let simple = machine.widths(SIMPLE);
    let all = lanes(aes) + lanes(carryless) + demand.simple;
    let best = simple.iter().map(|(l, t)| t / l).fold(f64::INFINITY, f64::min);
    if all > 0.0 {
        add(all * best, Bound::SharedVectorPorts, Basis::KnownMethods, SIMPLE);
    }
    // Where the two do not wait for each other, the slower one's own units decide.
    let together = machine
        .rounds_beside_products(lanes(aes), lanes(carryless))
        .filter(|t| *t > rounds.max(products) * 1.001);
    if let Some(cycles) = together {
        add(cycles, Bound::SharedVectorPorts, Basis::IfExecuted, CARRYLESS);
    }
}

/// AEGIS with its state's words in registers of their own, or several in one: then a shuffle of at
/// least one cycle comes between one update and the next.
fn aegis(machine: &Machine<'_>, updates: &Updates) -> Vec<Limit> {
    let widths = machine.rounds();
    let Some(latency) = machine.round_latency() else { return Vec::new() };
    let key = machine.latency("aesenc-key").unwrap_or(0.0);
    let window = if updates.endless { Some(0.0) } else { machine.window() };
    let overlap = window.map(|w| w / updates.words);
    let layout = |each: f64, apart: f64| {
        let bound = (Bound::AesUnits, Basis::IfExecuted);
        let mut found = vec![machine.limit(updates.count * each, bound, ROUNDS)];
        if let Some(overlap) = overlap {
            // A decrypted word enters the key of a round, whose result is the next round's state and
            // decrypts, with one exclusive or, the word after the next.
            let decrypt = (latency + apart).max((latency + 1.0 + key) / 2.0);
            let steps = |n: f64| (n - overlap).max(0.0);
            let cycles =
                (steps(updates.count) * (latency + apart)).max(steps(updates.decrypting) * decrypt);
            found.push(machine.limit(cycles, (Bound::LatencyChain, Basis::KnownMethods), ROUNDS));
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
        Step::AesRound => (machine.round_latency()?, ROUNDS),
        Step::Cycles(cycles) => (cycles, &[][..]),
        Step::Sha256TwoRounds => (sha(machine, SHA256), &["sha256rnds2", "sha256h"][..]),
        Step::Sha512TwoRounds => (sha(machine, SHA512), &["sha512rnds2", "sha512h"][..]),
    };
    let overlap = if chain.endless { 0.0 } else { machine.window()? / chain.waiting };
    let cycles = (chain.steps - overlap).max(0.0) * step;
    let basis = match chain.step {
        Step::AesRound => Basis::IfExecuted,
        _ => Basis::KnownMethods,
    };
    Some(machine.limit(cycles, (Bound::LatencyChain, basis), names))
}

/// Instructions that do rounds of SHA: name, width, and how many of them two rounds take. Four rounds of SHA-256 are
/// one SHA256H and, beside it, one SHA256H2.
type Sha = [(&'static str, u32, f64); 2];
const SHA256: Sha = [("sha256rnds2", 128, 1.0), ("sha256h", 128, 0.5)];
const SHA512: Sha = [("sha512rnds2", 256, 1.0), ("sha512h", 128, 1.0)];

/// Cycles of two rounds: by an instruction or by the least that software takes, a rotation, a sum of three and an
/// addition for each.
fn sha(machine: &Machine<'_>, instructions: Sha) -> f64 {
    const SOFTWARE: f64 = 6.0;
    let here = instructions.iter().filter(|_| machine.has_sha());
    let latencies = here.filter_map(|(name, _, each)| Some(machine.latency(name)? * each));
    latencies.fold(SOFTWARE, f64::min)
}

/// How many SHA instructions start in a cycle: what short messages, which overlap, are bound by.
fn sha_units(machine: &Machine<'_>, chain: &Chain) -> Option<Limit> {
    let instructions = match chain.step {
        Step::Sha256TwoRounds => SHA256,
        Step::Sha512TwoRounds => SHA512,
        _ => return None,
    };
    let mut here = instructions.iter().filter(|_| machine.has_sha());
    let rated = |(name, width, each): &(&'static str, u32, f64)| {
        let bound = (Bound::SharedVectorPorts, Basis::KnownMethods);
        let rate = machine.per_cycle(name, *width)?;
        Some(machine.limit(chain.steps * each / rate, bound, &[*name]))
    };
    here.find_map(rated)
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
