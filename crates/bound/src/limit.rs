//! Demand and machine into the least time, and what decides it.

use crate::ciphers::{self, Call};
use crate::demand::{Chain, Demand, Divisible, SIMPLE, Step, Updates, Vector};
use crate::machine::{Machine, cover};
use crate::others;
use crate::{Access, Basis, Bound, Core, Floor, Level};
use model::{Algorithm, Direction, Footprint, Kind, Model, Primitive, Tier};

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// Algorithm.
    pub algorithm: &'a Algorithm,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions may be used.
    pub tier: Tier,
    /// Bytes of plaintext.
    pub size: usize,
    /// Where the bytes are.
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    /// Whether several messages are in work at once: then what one waits for, others fill.
    pub several: bool,
}

/// What one operation takes at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Core cycles.
    pub cycles: f64,
    /// What decides them.
    pub by: Bound,
    /// Whom they bind.
    pub basis: Basis,
    /// Relative spread of the readings that they are derived from.
    pub spread: f64,
}

/// What one operation of an implementation was seen to execute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Rounds of AES by instructions, each on a block.
    pub aes_rounds: f64,
    /// Carry-less multiplications, each of one block's 128 bits.
    pub products: f64,
}

/// A long message: everything that is paid once is less than a thousandth.
const LONG: usize = 1 << 23;

const AES: &[&str] = &["aesenc", "aesenclast", "aesdec"];
const CARRYLESS: &[&str] = &["pclmulqdq"];

/// What an operation takes at least on this core.
///
/// # Errors
/// Why no bound is known.
pub fn limit(core: &Core, operation: &Operation<'_>) -> Result<Limit, String> {
    let machine = Machine::new(core, operation.tier);
    let demand = demand(&machine, operation)?;
    complete(core)?;
    longest(all(&machine, &demand, operation))
        .ok_or_else(|| "nothing that bounds it was measured on this core".to_owned())
}

/// What an operation takes at least however it is done, or by an implementation that was seen to execute
/// so much. None where nothing is proven of it.
#[must_use]
pub fn proven(core: &Core, operation: &Operation<'_>, seen: Option<Seen>) -> Option<Limit> {
    let machine = Machine::new(core, operation.tier);
    // Of a core that was not wholly read nothing is proven; what has no bound of its own moves bytes.
    complete(core).ok()?;
    let demand = match demand(&machine, operation) {
        Ok(demand) => demand,
        Err(_) => moves(operation)?,
    };
    let binding = all(&machine, &demand, operation).into_iter().filter_map(|l| match l.basis {
        Basis::Proven => Some(l),
        Basis::IfExecuted => {
            Some(Limit { cycles: l.cycles * executed(&demand, seen?), basis: Basis::Proven, ..l })
        }
        Basis::KnownMethods => None,
    });
    longest(binding.collect())
}

/// The part of the counted rounds and products that was seen: whoever executes a part of them takes at
/// least that part of the time. What more was seen is overhead.
fn executed(demand: &Demand, seen: Seen) -> f64 {
    let part =
        |counted: f64, seen: f64| if counted > 0.0 { (seen / counted).min(1.0) } else { 1.0 };
    part(demand.aes_rounds(), seen.aes_rounds).min(part(demand.products(), seen.products))
}

fn all(machine: &Machine<'_>, demand: &Demand, operation: &Operation<'_>) -> Vec<Limit> {
    let mut found = candidates(machine, demand);
    if let Some(level) = level(operation.footprint) {
        outer(machine, demand, level, operation.in_place, &mut found);
    }
    found
}

fn longest(found: Vec<Limit>) -> Option<Limit> {
    let known = found.into_iter().filter(|l| l.cycles.is_finite() && l.cycles > 0.0);
    known.max_by(|a, b| a.cycles.total_cmp(&b.cycles))
}

/// A core of which only the narrow instructions were read would seem slower than it is.
fn complete(core: &Core) -> Result<(), String> {
    /// As many as fit into a line.
    const SHOWN: usize = 3;
    let unread = &core.unread;
    if unread.is_empty() {
        return Ok(());
    }
    let more = if unread.len() > SHOWN { ", …" } else { "" };
    let names = unread[..unread.len().min(SHOWN)].join(", ");
    Err(format!(
        "the core was not quiet for long enough to read {} of what bounds ciphers ({names}{more})",
        unread.len()
    ))
}

/// What each byte of a long message takes at least, in the first-level cache.
#[must_use]
pub fn floor(
    core: &Core,
    algorithm: &Algorithm,
    (direction, model, tier): (Direction, Model, Tier),
) -> Floor {
    let footprint = Footprint::Hot;
    let operation = Operation {
        algorithm,
        direction,
        model,
        tier,
        size: LONG,
        footprint,
        in_place: false,
        several: false,
    };
    let found = limit(core, &operation);
    Floor {
        algorithm: algorithm.name.to_owned(),
        direction,
        model,
        tier,
        cycles_per_byte: found.as_ref().ok().map(|l| l.cycles / LONG as f64),
        limited_by: found.as_ref().ok().map(|l| l.by),
        basis: found.as_ref().ok().map(|l| l.basis),
        reason: found.err(),
    }
}

/// What an operation needs.
fn demand(machine: &Machine<'_>, operation: &Operation<'_>) -> Result<Demand, String> {
    let Operation { algorithm, direction, model, size, .. } = *operation;
    if algorithm.kind == Kind::Null {
        return Err("it does no work".to_owned());
    }
    let (stream, rejected) = (model == Model::Stream, model == Model::Forgery);
    let call = Call { algorithm, direction, size, stream, rejected };
    let mut demand = match algorithm.composite {
        None => of_one(machine, &call)?,
        Some(parts) => {
            let part = |name| Algorithm::find(name).map_err(|e| e.to_string());
            let (cipher, check) = (part(parts.cipher)?, part(parts.check)?);
            // A MAC is also over associated data, nonce and a length (RFC 7518 §5.2.2.1).
            let mac = check.kind == Kind::Mac;
            let size = size + if mac { model::AAD_LEN + algorithm.nonce_len + 8 } else { 0 };
            let checked = of_one(
                machine,
                &Call { algorithm: check, direction: Direction::Digest, size, ..call },
            )?;
            if rejected && mac {
                checked
            } else {
                of_one(machine, &Call { algorithm: cipher, ..call })?.and(checked)
            }
        }
    };
    demand.stream = stream;
    if operation.several {
        demand = side_by_side(demand);
    }
    Ok(moves(operation).map_or(Demand::default(), |m| m.and(demand)))
}

/// Of one message among several: no chain binds, and a register may hold lanes of several. What SHA
/// instructions take is no bound either, for vector registers do several messages without them.
fn side_by_side(mut demand: Demand) -> Demand {
    demand.chains.clear();
    demand.stream = true;
    demand.divisible.iter_mut().for_each(|work| work.stream = true);
    if let Some(Updates { count, words, lanes, .. }) = demand.updates.take() {
        demand.aes.push(Vector { lanes: words * lanes, each: count });
    }
    demand
}

/// Every byte of the input is loaded, and each of the output stored: a message that is rejected has none.
/// None where nothing is moved.
fn moves(operation: &Operation<'_>) -> Option<Demand> {
    let Operation { algorithm, model, size, .. } = *operation;
    let size = size as f64;
    let writes = algorithm.writes_output() && model != Model::Forgery;
    let stored = if writes { size } else { 0.0 };
    (algorithm.kind != Kind::Null).then(|| Demand { loaded: size, stored, ..Demand::default() })
}

/// What one algorithm that is no composite needs.
fn of_one(machine: &Machine<'_>, call: &Call<'_>) -> Result<Demand, String> {
    let algorithm = call.algorithm;
    let needs_aes = |demand: Demand| {
        if machine.has_aes() {
            Ok(demand)
        } else {
            Err("without AES instructions no bound is known: tables, vector permutations and \
                 bit slices all do it"
                .to_owned())
        }
    };
    match algorithm.cipher {
        _ if algorithm.kind == Kind::Copy => Ok(Demand::default()),
        Primitive::Aes => match ciphers::aes(call) {
            Some(demand) => needs_aes(demand),
            None => Err("its work is not counted".to_owned()),
        },
        Primitive::Aegis128 { lanes } | Primitive::Aegis256 { lanes } => {
            needs_aes(others::aegis(call, f64::from(lanes)))
        }
        Primitive::ChaCha20 | Primitive::XChaCha20 => Ok(others::chacha(call)),
        Primitive::Camellia | Primitive::Aria | Primitive::Sm4 | Primitive::TripleDes => {
            Err("no bound is known: the cipher has no instructions of its own, and tables, vector \
             permutations and bit slices all do it"
                .to_owned())
        }
        _ => others::digest(call).ok_or_else(|| "its work is not counted".to_owned()),
    }
}

/// Every bound that applies.
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
    let mut add = |cycles, by, basis, names| {
        found.push(Limit { cycles, by, basis, spread: machine.spread(names) });
    };
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
    let spread = machine.spread(AES);
    let Some(latency) = machine.latency("aesenc") else { return Vec::new() };
    let key = machine.latency("aesenc-key").unwrap_or(0.0);
    let window = if updates.endless { Some(0.0) } else { machine.window() };
    let overlap = window.map(|w| w / updates.words);
    let layout = |each: f64, apart: f64| {
        let (cycles, basis) = (updates.count * each, Basis::IfExecuted);
        let mut found = vec![Limit { cycles, by: Bound::AesUnits, basis, spread }];
        if let Some(overlap) = overlap {
            // A decrypted word enters the key of a round, whose result is the next round's state and
            // decrypts, with one exclusive or, the word after the next.
            let decrypt = (latency + apart).max((latency + 1.0 + key) / 2.0);
            let steps = |n: f64| (n - overlap).max(0.0);
            let cycles =
                (steps(updates.count) * (latency + apart)).max(steps(updates.decrypting) * decrypt);
            let (by, basis) = (Bound::LatencyChain, Basis::KnownMethods);
            found.push(Limit { cycles, by, basis, spread });
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
    let (by, basis) = (work.bound, Basis::KnownMethods);
    Some(Limit { cycles, by, basis, spread: machine.spread(&names) })
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
    Some(Limit { cycles, by: Bound::LatencyChain, basis, spread: machine.spread(names) })
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
    let cycles = chain.steps / rate;
    let (by, basis) = (Bound::SharedVectorPorts, Basis::KnownMethods);
    Some(Limit { cycles, by, basis, spread: machine.spread(&[name]) })
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

#[cfg(test)]
mod tests;
