//! What a core can do at best: measured throughputs and latencies in, the floor of each algorithm out, with
//! what it is bound by and whom it binds. Pure: no I/O, no clock, no unsafe code. `docs/LIMITS.md` has the
//! derivations in words. Here: the words of it, what was measured of a core, and what a floor is; and demand
//! and machine into the least time, and what decides it: a core as an implementation sees it (what was
//! measured, cut down to a tier), and every bound that applies to a demand on it.

mod demand;
#[cfg(test)]
mod fixtures;

use crate::model::{Algorithm, Direction, Feature, Footprint, Kind, Model, Primitive, Tier};
use demand::{Call, Chain, Demand, Divisible, SIMPLE, Step, Updates, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The floor of an algorithm: what the best implementation known to us takes, and what is proven of it.

/// What bounds an algorithm on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// AES rounds a cycle.
    #[strum(serialize = "AES units")]
    AesUnits,
    /// Carry-less multiplications a cycle.
    #[strum(serialize = "carry-less multiply")]
    CarrylessMultiply,
    /// Units that several kinds of vector instructions wait for together.
    #[strum(serialize = "shared vector ports")]
    SharedVectorPorts,
    /// Instructions of which each needs the one before.
    #[strum(serialize = "latency chain")]
    LatencyChain,
    /// Integer multiplications a cycle.
    #[strum(serialize = "multiply")]
    Multiply,
    /// Loads and stores a cycle in the first-level cache.
    #[strum(serialize = "load/store")]
    LoadStore,
    /// Bandwidth of memory or of an outer cache.
    #[strum(serialize = "memory")]
    Memory,
}

/// Whom a limit binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every implementation: each has to do this work, and the core does no more of it in a cycle.
    #[strum(serialize = "proven")]
    Proven,
    /// Every implementation that was seen to execute the instructions that the limit counts.
    #[strum(serialize = "if executed")]
    IfExecuted,
    /// The best methods known to us: a better one may be faster.
    #[strum(serialize = "known methods")]
    KnownMethods,
}

/// What an algorithm costs at least on this core, for each byte of a long message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions may be used.
    pub tier: Tier,
    /// Core cycles per byte of a long message in the first-level cache; null where no bound is known.
    pub cycles_per_byte: Option<f64>,
    /// What bounds it.
    pub limited_by: Option<Bound>,
    /// Whom it binds; null where no bound is known, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// Why no bound is known.
    pub reason: Option<String>,
}

// What was measured of a core: instructions, pairs of instructions, bandwidths.

/// What one core can do, as the run's own probes measured it on the CPU that took the samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Core {
    /// Instructions that ciphers are made of, each width by itself.
    pub instructions: Vec<Instruction>,
    /// Two instructions in turn: whether they wait for the same execution units.
    pub pairs: Vec<Pair>,
    /// Bytes a cycle from and to each level of memory.
    pub bandwidths: Vec<Bandwidth>,
    /// Dependent instructions of one chain that the core holds while it begins with the next
    /// chain: by so many steps the chains of two messages can overlap. Null where not measured.
    pub window: Option<f64>,
    /// What this CPU has and what the core was not quiet for long enough to read. As long as there is
    /// any of it no bound is known: what was read may be slower than what was not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl Core {
    /// A core that does more in a cycle than any that was ever built: what it cannot do, none can.
    pub fn faster_than_any() -> Self {
        const INSTRUCTIONS: [&str; 14] = [
            "aesenc",
            "aesdec",
            "aesenclast",
            "pclmulqdq",
            "pxor",
            "paddd",
            "paddq",
            "pmuludq",
            "pmadd52luq",
            "sha256rnds2",
            "sha512rnds2",
            "add",
            "imul",
            "crc32",
        ];
        let of_width = |width_bits| {
            INSTRUCTIONS.map(|name| Instruction {
                name: name.to_owned(),
                width_bits,
                per_cycle: 8.0,
                latency_cycles: Some(2.0),
                spread: 0.0,
                samples: 0,
            })
        };
        let load = Bandwidth {
            level: Level::L1,
            access: Access::Read,
            by: String::new(),
            buffer_bytes: 0,
            bytes_per_cycle: 256.0,
            gb_per_s: 0.0,
            spread: 0.0,
            samples: 0,
        };
        Self {
            instructions: [64, 128, 256, 512].map(of_width).into_iter().flatten().collect(),
            bandwidths: vec![load],
            window: Some(1000.0),
            ..Self::default()
        }
    }
}

/// One instruction at one width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Instruction {
    /// Name as assemblers write it, without the prefix `v` that only says how it is encoded.
    pub name: String,
    /// Bits of the registers that it works on.
    pub width_bits: u32,
    /// Independent ones a core cycle.
    pub per_cycle: f64,
    /// Core cycles from one to the next that depends on it; null where there is no such chain.
    pub latency_cycles: Option<f64>,
    /// Half the distance between the quartiles of the readings, as a fraction of the median; the
    /// larger of throughput's and latency's.
    pub spread: f64,
    /// Quiet readings that count.
    pub samples: u32,
}

/// Two instructions in turn, all of them independent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// One.
    pub first: String,
    /// The other.
    pub second: String,
    /// Bits of the registers that the first works on.
    pub width_bits: u32,
    /// Bits of the registers that the second works on.
    pub second_width_bits: u32,
    /// Pairs a core cycle.
    pub per_cycle: f64,
    /// As for [`Instruction`].
    pub spread: f64,
    /// Quiet readings that count.
    pub samples: u32,
}

/// A level of memory, from the core outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// First-level data cache.
    L1,
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Memory.
    Memory,
}

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Loaded.
    Read,
    /// Stored.
    Write,
    /// Loaded from one place and stored to another.
    Copy,
}

/// The bandwidth of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bandwidth {
    /// Where the bytes are.
    pub level: Level,
    /// What is done to them.
    pub access: Access,
    /// What does it best of what was tried: `load-512`, `store-256`, `non-temporal-512`,
    /// `rep-movsb`, …
    pub by: String,
    /// Bytes of the buffer or buffers that were walked through.
    pub buffer_bytes: u64,
    /// Bytes a core cycle; copied ones count once.
    pub bytes_per_cycle: f64,
    /// 10^9 bytes a second.
    pub gb_per_s: f64,
    /// As for [`Instruction`].
    pub spread: f64,
    /// Quiet readings that count.
    pub samples: u32,
}

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
pub fn limit(core: &Core, operation: &Operation<'_>) -> Result<Limit, String> {
    let machine = Machine::new(core, operation.tier);
    let demand = demand(&machine, operation)?;
    complete(core)?;
    longest(all(&machine, &demand, operation))
        .ok_or_else(|| "nothing that bounds it was measured on this core".to_owned())
}

/// What an operation takes at least however it is done, or by an implementation that was seen to execute
/// so much. None where nothing is proven of it.
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

fn demand(machine: &Machine<'_>, operation: &Operation<'_>) -> Result<Demand, String> {
    let Operation { algorithm, direction, model, size, .. } = *operation;
    if algorithm.kind == Kind::Null {
        return Err("it does no work".to_owned());
    }
    if algorithm.kind == Kind::Random {
        return Err("each library generates in a way of its own".to_owned());
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
        Primitive::Aes => match demand::aes(call) {
            Some(demand) => needs_aes(demand),
            None => Err("its work is not counted".to_owned()),
        },
        Primitive::Aegis128 { lanes } | Primitive::Aegis256 { lanes } => {
            needs_aes(demand::aegis(call, f64::from(lanes)))
        }
        Primitive::ChaCha20 | Primitive::XChaCha20 | Primitive::ChaCha8 | Primitive::ChaCha12 => {
            Ok(demand::chacha(call))
        }
        Primitive::Adiantum { rounds } => Ok(demand::adiantum(call, rounds)),
        cipher if cipher.block_len().is_some() => {
            Err("no bound is known: the cipher has no instructions of its own, and tables, vector \
             permutations and bit slices all do it"
                .to_owned())
        }
        _ => demand::digest(call).ok_or_else(|| "its work is not counted".to_owned()),
    }
}

/// Bits of one block of AES, the unit in which vector work is counted.
pub(crate) const LANE_BITS: u32 = 128;

/// What does a round of AES: x86-64's instruction, or AArch64's two.
pub(crate) const ROUNDS: &[&str] =
    &["aesenc", "aesenclast", "aesdec", "aese+aesmc", "aesd+aesimc", "aese+aesmc-sve"];
/// AArch64's last round has the first of the two alone, and no cipher has fewer than ten.
const LAST_ROUND: &str = "aese";
const LAST_PART: f64 = 0.1;
/// What multiplies polynomials.
pub(crate) const CARRYLESS: &[&str] = &["pclmulqdq", "pmull.1q", "pmullb-sve"];

/// A core under a tier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine<'a> {
    core: &'a Core,
    tier: Tier,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(core: &'a Core, tier: Tier) -> Self {
        Self { core, tier }
    }

    pub(crate) fn has_aes(&self) -> bool {
        ROUNDS.iter().any(|name| self.per_cycle(name, 128).is_some())
    }

    pub(crate) fn has_products(&self) -> bool {
        !self.widths(CARRYLESS).is_empty()
    }

    /// Each width at which rounds of AES may be done: lanes, and cycles of a cipher's average round.
    pub(crate) fn rounds(&self) -> Vec<(f64, f64)> {
        let whole = self.widths(ROUNDS);
        let Some(last) = self.per_cycle(LAST_ROUND, LANE_BITS).map(|rate| 1.0 / rate) else {
            return whole;
        };
        whole.into_iter().map(|(lanes, cycles)| (lanes, average_round(cycles, last))).collect()
    }

    /// Cycles from one round of AES to the next that needs it.
    pub(crate) fn round_latency(&self) -> Option<f64> {
        let whole = ["aese+aesmc", "aesd+aesimc"].iter().filter_map(|name| self.latency(name));
        let average = || {
            let whole = whole.min_by(f64::total_cmp)?;
            Some(average_round(whole, self.latency(LAST_ROUND)?))
        };
        self.latency("aesenc").or_else(average)
    }

    pub(crate) fn has_sha(&self) -> bool {
        self.tier.shows(Feature::Sha)
    }

    /// Widest registers that instructions may work on which have a narrow form and a wide one. AArch64's work on 128
    /// bits, but for SVE's.
    fn most_bits(&self, narrow: Option<Feature>, wide: Feature) -> u32 {
        if narrow.is_some_and(|feature| !self.tier.shows(feature)) {
            0
        } else if !self.tier.shows(wide) {
            128
        } else if self.tier.shows(Feature::Avx512) {
            512
        } else {
            256
        }
    }

    fn allowed(&self, i: &Instruction) -> bool {
        let (name, tier) = (i.name.as_str(), self.tier);
        // What AArch64's tiers hide beside widths.
        let hidden = name.ends_with("-sve") && !tier.shows(Feature::Sve)
            || matches!(name, "eor3.16b" | "sha512h") && !tier.shows(Feature::Sha3);
        let most = if name.starts_with("aes") {
            self.most_bits(Some(Feature::Aes), Feature::Vaes)
        } else if CARRYLESS.contains(&name) {
            self.most_bits(Some(Feature::Clmul), Feature::Vpclmul)
        } else {
            self.most_bits(None, Feature::Avx2)
        };
        !hidden && i.width_bits <= most
    }

    fn find(&self, name: &str, width_bits: u32) -> Option<&'a Instruction> {
        let all = self.core.instructions.iter();
        all.filter(|i| self.allowed(i)).find(|i| i.name == name && i.width_bits == width_bits)
    }

    /// Independent ones a cycle.
    pub(crate) fn per_cycle(&self, name: &str, width_bits: u32) -> Option<f64> {
        self.find(name, width_bits).map(|i| i.per_cycle).filter(|rate| *rate > 0.0)
    }

    /// Cycles from one to the next that depends on it, at the narrowest width that is known.
    pub(crate) fn latency(&self, name: &str) -> Option<f64> {
        let all = self.core.instructions.iter().filter(|i| self.allowed(i) && i.name == name);
        all.min_by_key(|i| i.width_bits).and_then(|i| i.latency_cycles)
    }

    /// Each width at which one of the instructions may be used: lanes of 128 bits, and cycles of
    /// the fastest of them.
    pub(crate) fn widths(&self, names: &[&str]) -> Vec<(f64, f64)> {
        [128, 256, 512]
            .into_iter()
            .filter_map(|bits| {
                let rates = names.iter().filter_map(|name| self.per_cycle(name, bits));
                let best = rates.fold(0.0, f64::max);
                (best > 0.0).then(|| (f64::from(bits / LANE_BITS), 1.0 / best))
            })
            .collect()
    }

    /// The largest relative spread among the instructions that may be used.
    pub(crate) fn spread(&self, names: &[&str]) -> f64 {
        let all = self.core.instructions.iter().filter(|i| self.allowed(i));
        all.filter(|i| names.contains(&i.name.as_str())).map(|i| i.spread).fold(0.0, f64::max)
    }

    /// What takes so many cycles by these instructions.
    pub(crate) fn limit(&self, cycles: f64, by: Bound, basis: Basis, names: &[&str]) -> Limit {
        Limit { cycles, by, basis, spread: self.spread(names) }
    }

    /// Chain steps that two messages can overlap by.
    pub(crate) fn window(&self) -> Option<f64> {
        self.core.window
    }

    /// Cycles for one byte of a level, and the spread of that figure.
    pub(crate) fn per_byte(&self, level: Level, access: Access) -> Option<(f64, f64)> {
        let mut all = self.core.bandwidths.iter();
        let found = all.find(|b| b.level == level && b.access == access)?;
        (found.bytes_per_cycle > 0.0).then(|| (1.0 / found.bytes_per_cycle, found.spread))
    }

    /// Cycles in which so many rounds of AES and products of polynomials are done, at the most favourable widths that
    /// were measured together.
    pub(crate) fn rounds_beside_products(&self, rounds: f64, products: f64) -> Option<f64> {
        let x86 = self.shared(("aesenc", rounds), ("pclmulqdq", products));
        x86.or_else(|| {
            // Wider ones were not measured together, and may do better.
            let [(_, whole)] = self.widths(ROUNDS)[..] else { return None };
            let [_] = self.widths(CARRYLESS)[..] else { return None };
            // Last rounds are less work.
            let part = self.rounds().first()?.1 / whole;
            self.shared(("aese+aesmc", rounds * part), ("pmull.1q", products))
        })
    }

    /// Cycles in which at least `lanes` and `second_lanes` of 128 bits go through two instructions
    /// that wait for the same units, at the most favourable widths that were measured together.
    ///
    /// With T(a, b) the least time for a of the one and b of the other: T never falls when work is
    /// added, and two programs one after the other take no less than the best joint one, so for a ≥ b
    /// T(a, b) ≥ a·T(1, 1) − (a − b)·T(0, 1), and likewise with the two exchanged.
    pub(crate) fn shared(&self, first: (&str, f64), second: (&str, f64)) -> Option<f64> {
        let (mut least, mut known) = (f64::INFINITY, 0);
        for pair in self.core.pairs.iter().filter(|p| p.first == first.0 && p.second == second.0) {
            let (Some(one), Some(other)) = (
                self.per_cycle(first.0, pair.width_bits),
                self.per_cycle(second.0, pair.second_width_bits),
            ) else {
                continue;
            };
            let lanes = |bits: u32| f64::from(bits / LANE_BITS);
            let (a, b) =
                (first.1 / lanes(pair.width_bits), second.1 / lanes(pair.second_width_bits));
            let together = 1.0 / pair.per_cycle;
            let bound =
                if a >= b { a * together - (a - b) / other } else { b * together - (b - a) / one };
            least = least.min(bound.max(a / one).max(b / other));
            known += 1;
        }
        (known > 0).then_some(least)
    }
}

/// Cycles of a round of AES, of which a tenth are last ones.
fn average_round(whole: f64, last: f64) -> f64 {
    whole * (1.0 - LAST_PART) + whole.min(last) * LAST_PART
}

/// The least time in which instructions of these widths go over `lanes` lanes once. Each entry is
/// lanes and cycles of one instruction; whole instructions only, unless a register may hold lanes of
/// `several` operations.
pub(crate) fn cover(lanes: f64, widths: &[(f64, f64)], several: bool) -> f64 {
    let best = widths.iter().map(|(l, t)| t / l).fold(f64::INFINITY, f64::min);
    // Past a few registers the last one no longer decides, and any split of them is allowed for.
    if several || lanes > 64.0 {
        return lanes * best;
    }
    let lanes = lanes.ceil() as usize;
    let mut least = vec![0.0_f64; lanes + 1];
    for n in 1..=lanes {
        let cost = |(l, t): &(f64, f64)| t + least[n.saturating_sub(*l as usize)];
        least[n] = widths.iter().map(cost).fold(f64::INFINITY, f64::min);
    }
    least[lanes]
}

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
    found.extend(moving(machine, Level::L1, Bound::LoadStore, &moves));
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
    let mut add = |cycles, by, basis, names| found.push(machine.limit(cycles, by, basis, names));
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
        let cycles = updates.count * each;
        let mut found = vec![machine.limit(cycles, Bound::AesUnits, Basis::IfExecuted, ROUNDS)];
        if let Some(overlap) = overlap {
            // A decrypted word enters the key of a round, whose result is the next round's state and
            // decrypts, with one exclusive or, the word after the next.
            let decrypt = (latency + apart).max((latency + 1.0 + key) / 2.0);
            let steps = |n: f64| (n - overlap).max(0.0);
            let cycles =
                (steps(updates.count) * (latency + apart)).max(steps(updates.decrypting) * decrypt);
            found.push(machine.limit(cycles, Bound::LatencyChain, Basis::KnownMethods, ROUNDS));
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
    Some(machine.limit(cycles, work.bound, Basis::KnownMethods, &names))
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
    Some(machine.limit(cycles, Bound::LatencyChain, basis, names))
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
        let cycles = chain.steps * each / machine.per_cycle(name, *width)?;
        let (by, basis) = (Bound::SharedVectorPorts, Basis::KnownMethods);
        Some(machine.limit(cycles, by, basis, &[*name]))
    };
    here.find_map(rated)
}

/// Loading and storing so many bytes at a level.
fn moving(machine: &Machine<'_>, level: Level, by: Bound, moves: &[(Access, f64)]) -> Vec<Limit> {
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
    found.extend(moving(machine, level, Bound::Memory, &moves));
}

#[cfg(test)]
mod tests;
