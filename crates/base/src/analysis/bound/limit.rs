//! Demand and machine into the least time, and what decides it.

use crate::analysis::bound::candidates::all;
use crate::analysis::bound::ciphers::{self, Call};
use crate::analysis::bound::demand::{Demand, Updates, Vector};
use crate::analysis::bound::machine::Machine;
use crate::analysis::bound::{Basis, Bound, Core, Floor, others};
use crate::model::{Algorithm, Direction, Footprint, Kind, Model, Primitive, Tier};

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
            let size = size + if mac { crate::model::AAD_LEN + algorithm.nonce_len + 8 } else { 0 };
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
        let lacks = if !machine.has_aes() {
            "AES instructions"
        } else if !demand.carryless.is_empty() && !machine.has_products() {
            "carry-less multiplication"
        } else {
            return Ok(demand);
        };
        Err(format!(
            "without {lacks} no bound is known: tables, vector permutations and bit slices all do it"
        ))
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

#[cfg(test)]
mod tests;
