//! What this core can do at best, measured in the same run: instructions and bandwidths, from interleaved
//! readings on a quiet core.

mod hold;

use crate::cpus;
use base::analysis::bound::{Access, Bandwidth, Core, Instruction, Level, Pair};
use base::analysis::{median, quantile};
use base::model::{Algorithm, Direction, Model, QUIET_PROBE_FRACTION, Tier};
pub(crate) use hold::hold;
use probe::{Clock, Prober, Reading, Reads, Stretch, Subject};
use record::{Cache, Limits};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// For the instructions. A core of which a fiftieth of the time is quiet gives five readings of each
/// of a hundred things, of 50 µs with their probes, in a second and a half; twice that is waited.
const INSTRUCTIONS_TIME: TimeLimits =
    TimeLimits { wanted: Duration::from_millis(900), complete: Duration::from_secs(3) };
const BANDWIDTHS_TIME: Duration = Duration::from_millis(900);

/// What the probes need to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) cpu: u32,
    /// Independent instructions per core cycle when nothing else runs on the core.
    pub(crate) quiet_probe: f64,
    pub(crate) ticks_per_ns: f64,
}

/// As far apart as two quiet moments may lie.
const QUIETER: f64 = 1.01;

/// What this process has measured of a core: its CPU, the quiet rate then, and all that was read.
static MEASURED: Mutex<Option<(u32, f64, Core)>> = Mutex::new(None);

/// The share of a question's time that its core's limits may take.
const SHARE: u32 = 8;

/// The core as this process has measured it, unless it is seen quieter now; else measured, in a part of the time that is left.
pub(crate) fn of_core(
    clock: &Clock,
    conditions: &Conditions,
    left: Option<Duration>,
) -> Result<Core, String> {
    let mut measured = MEASURED.lock().expect("no thread panics holding it");
    let same = measured.take().filter(|(cpu, rate, core)| {
        let is_as_quiet = conditions.quiet_probe <= rate * QUIETER;
        *cpu == conditions.cpu && is_as_quiet && core.unread.is_empty()
    });
    let core = match same {
        Some((_, _, core)) => core,
        None => measure(clock, conditions, left.map_or(Duration::MAX, |left| left / SHARE))?,
    };
    *measured = Some((conditions.cpu, conditions.quiet_probe, core.clone()));
    Ok(core)
}

/// Measures the core, on the CPU that takes the samples, in so much time at the most.
fn measure(clock: &Clock, conditions: &Conditions, most: Duration) -> Result<Core, String> {
    let times = TimeLimits {
        wanted: INSTRUCTIONS_TIME.wanted.min(most / 2),
        complete: INSTRUCTIONS_TIME.complete.min(most),
    };
    let caches = host::facts(conditions.cpu).cpu.caches;
    let measured = std::thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            probe::pin_to(&[conditions.cpu])
                .map_err(|e| format!("cannot stay on CPU {}: {e}", conditions.cpu))?;
            let clock = clock.on_this_cpu();
            let mut prober = Prober::new(&clock);
            let read = read_instructions(&mut prober, conditions.quiet_probe, times)?;
            let until = Instant::now() + BANDWIDTHS_TIME.min(most / 2);
            let bandwidths = all_bandwidths(&mut prober, &read, &caches, conditions, until);
            Ok(Core { bandwidths, ..read.core })
        });
        measuring.join()
    });
    measured.unwrap_or_else(|_| Err("the probes broke off".to_owned()))
}

/// Measures once more where the run saw the core quieter than it was before the run: a floor that was
/// read on a busy core is too high, and would refuse what is right. And where something could not be
/// read at all.
pub(crate) fn again(
    clock: &Clock,
    conditions: &Conditions,
    before: Result<Core, String>,
    quiet_probe: f64,
    has_time: bool,
) -> Result<Core, String> {
    let complete = before.as_ref().is_ok_and(|core| core.unread.is_empty());
    if complete && quiet_probe <= conditions.quiet_probe * QUIETER {
        return before;
    }
    if !has_time {
        return Err("the core was busy, and there was no time to measure it again".to_owned());
    }
    let now = measure(clock, &Conditions { quiet_probe, ..*conditions }, Duration::MAX);
    match (before, now) {
        // What was read on a busy core is no floor.
        (Ok(_), now) if quiet_probe > conditions.quiet_probe * QUIETER => now,
        (Ok(before), Ok(now)) => Ok(faster(now, before)),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(why), Err(_)) => Err(why),
    }
}

/// The faster of two measurements of each thing, whatever else runs on a core only slows it; and what
/// only one of them has.
pub(crate) fn faster(mut a: Core, b: Core) -> Core {
    merge(
        &mut a.instructions,
        b.instructions,
        |i| (i.name.clone(), i.width_bits),
        |one, other| {
            let latencies = [one.latency_cycles, other.latency_cycles];
            let latency_cycles = latencies.into_iter().flatten().min_by(f64::total_cmp);
            let faster = if other.per_cycle > one.per_cycle { other } else { one };
            base::analysis::bound::Instruction { latency_cycles, ..faster }
        },
    );
    let of_pair = |p: &base::analysis::bound::Pair| {
        (p.first.clone(), p.second.clone(), p.width_bits, p.second_width_bits)
    };
    merge(&mut a.pairs, b.pairs, of_pair, |one, other| {
        if other.per_cycle > one.per_cycle { other } else { one }
    });
    merge(
        &mut a.bandwidths,
        b.bandwidths,
        |m| (m.level, m.access),
        |one, other| {
            if other.bytes_per_cycle > one.bytes_per_cycle { other } else { one }
        },
    );
    a.window = a.window.into_iter().chain(b.window).max_by(f64::total_cmp);
    a.unread.retain(|name| b.unread.contains(name));
    a
}

fn merge<T, K: PartialEq>(
    into: &mut Vec<T>,
    from: Vec<T>,
    key: impl Fn(&T) -> K,
    better: impl Fn(T, T) -> T,
) {
    for other in from {
        match into.iter().position(|one| key(one) == key(&other)) {
            Some(at) => {
                let one = into.remove(at);
                into.insert(at, better(one, other));
            }
            None => into.push(other),
        }
    }
}

pub(crate) fn limits(
    core: Result<Core, String>,
    algorithms: &[&'static Algorithm],
    directions: &[Direction],
    models: &[Model],
    tiers: &[Tier],
) -> Limits {
    let core = match core {
        Ok(core) => core,
        Err(reason) => return Limits { reason: Some(reason), ..Limits::default() },
    };
    let mut floors = Vec::new();
    for algorithm in algorithms {
        let own = Direction::of(algorithm.kind).iter();
        for direction in own.filter(|d| !algorithm.encrypts() || directions.contains(d)) {
            for model in models {
                for tier in tiers {
                    floors.push(base::analysis::bound::floor(
                        &core,
                        algorithm,
                        (*direction, *model, *tier),
                    ));
                }
            }
        }
    }
    Limits { core: Some(core), floors, reason: None }
}

/// The limits of the CPU that a run would measure on, at every tier that is a switch, for the model `message`.
pub fn limits_here(algorithms: &[&'static Algorithm]) -> Limits {
    let clock = Clock::calibrate();
    let cpu = crate::cpus::measuring_cpu();
    let conditions = Conditions {
        cpu,
        quiet_probe: cpus::watch_quiet_rate(&clock, cpu).of(cpu),
        ticks_per_ns: clock.rough_ticks_per_ns(),
    };
    let directions = [Direction::Encrypt, Direction::Decrypt];
    let core = measure(&clock, &conditions, Duration::MAX);
    let switches: Vec<Tier> = Tier::HERE.iter().copied().filter(|t| !t.is_machine()).collect();
    limits(core, algorithms, &directions, &[Model::Message], &switches)
}

// Throughputs, latencies, pairs and the window, from interleaved readings.

/// Quiet readings of each thing, where there is time for them: their median is then exact to a few
/// thousandths.
const INSTRUCTION_READINGS: usize = 15;

struct Read {
    /// Everything but bandwidths.
    core: Core,
    /// Core cycles in a tick of the clock meanwhile.
    cycles_per_tick: f64,
    /// Independent instructions per core cycle on the quiet core, as far as it is known now.
    quiet_probe: f64,
}

#[derive(Clone, Copy, Debug)]
struct TimeLimits {
    /// Until there are as many as are wanted; on a quiet core a tenth of it is enough.
    wanted: Duration,
    /// Until there is a figure for each thing: without one of them no bound is known.
    complete: Duration,
}

/// Reads everything about instructions.
fn read_instructions(
    prober: &mut Prober<'_>,
    watched: f64,
    limits: TimeLimits,
) -> Result<Read, String> {
    let begun = Instant::now();
    let subjects = prober.subjects();
    if subjects.is_empty() {
        return Err("no probes for this architecture, or its core cycles cannot be known".into());
    }
    let rounds: Vec<u64> = subjects.iter().map(|s| prober.rounds(s)).collect();
    let mut readings = vec![Readings::default(); subjects.len()];
    let mut rate = watched;
    loop {
        // Behind the sorting of the quiet rate the first reading of a pass finds the core cold, and
        // its subject would hardly ever have one that counts.
        let _ = prober.read(&subjects[0], rounds[0]);
        // One reading of each in turn, so that drift and neighbours hit all alike.
        for ((subject, rounds), readings) in subjects.iter().zip(&rounds).zip(&mut readings) {
            if !readings.enough(rate, INSTRUCTION_READINGS) {
                readings.add(prober.read(subject, *rounds));
            }
        }
        rate = quiet_rate(watched, &readings);
        if ended(&readings, rate, begun.elapsed(), limits) {
            break;
        }
    }
    let found: Vec<(Subject, Figure)> = subjects
        .iter()
        .zip(&readings)
        .filter_map(|(subject, r)| r.figure(rate).map(|figure| (*subject, figure)))
        .collect();
    if found.is_empty() {
        return Err("the core was not quiet for long enough to measure what it can do".into());
    }
    let unread = unread(&subjects, &found);
    let mut clocks: Vec<f64> = found.iter().map(|(_, f)| f.cycles / f.ticks).collect();
    let cycles_per_tick = median(&mut clocks).unwrap_or(0.0);
    let core = Core { unread, ..assembled(&found) };
    Ok(Read { core, cycles_per_tick, quiet_probe: rate })
}

/// Whether there are readings enough, or no more are to be had. A core that was never quiet is not
/// waited for.
fn ended(readings: &[Readings], rate: f64, elapsed: Duration, limits: TimeLimits) -> bool {
    let all = |least| readings.iter().all(|r| r.enough(rate, least));
    let none = || !readings.iter().any(|r| r.enough(rate, LEAST_READINGS));
    all(INSTRUCTION_READINGS)
        || elapsed >= limits.complete
        || (elapsed >= limits.wanted && (all(LEAST_READINGS) || none()))
}

/// What there is no figure of. A chain's overlap is one figure with its latency: two measurements that
/// lack a half of it each do not have it together.
fn unread(subjects: &[Subject], found: &[(Subject, Figure)]) -> Vec<String> {
    let read = |s: &Subject| found.iter().any(|(f, _)| label(f) == label(s));
    let whole = |s: &Subject| match s.reads {
        Reads::Window { .. } => latency(s, found).is_some(),
        Reads::Throughput | Reads::Latency | Reads::Pair { .. } => true,
    };
    subjects.iter().filter(|s| !read(s) || !whole(s)).map(label).collect()
}

fn label(subject: &Subject) -> String {
    let Subject { name, width_bits, .. } = subject;
    match subject.reads {
        Reads::Throughput => format!("{name}-{width_bits}"),
        Reads::Latency => format!("latency of {name}-{width_bits}"),
        Reads::Pair { second, width_bits: other } => {
            format!("{name}-{width_bits} with {second}-{other}")
        }
        Reads::Window { .. } => format!("overlap of {name}-{width_bits}"),
    }
}

fn assembled(found: &[(Subject, Figure)]) -> Core {
    let mut core = Core::default();
    for (subject, figure) in found {
        match subject.reads {
            Reads::Throughput => core.instructions.push(instruction(subject, figure, found)),
            Reads::Pair { second, width_bits } => core.pairs.push(Pair {
                first: subject.name.to_owned(),
                second: second.to_owned(),
                width_bits: subject.width_bits,
                second_width_bits: width_bits,
                per_cycle: 1.0 / figure.cycles,
                spread: figure.spread,
                samples: figure.samples,
            }),
            Reads::Window { steps } => {
                let held = latency(subject, found).map(|l| steps - figure.cycles / l.cycles);
                let held = held.unwrap_or(0.0).max(core.window.unwrap_or(0.0));
                core.window = (held > 0.0).then_some(held);
            }
            // Stands beside its throughput.
            Reads::Latency => {}
        }
    }
    core
}

fn latency<'a>(subject: &Subject, found: &'a [(Subject, Figure)]) -> Option<&'a Figure> {
    let of = |s: &Subject| {
        s.reads == Reads::Latency && (s.name, s.width_bits) == (subject.name, subject.width_bits)
    };
    found.iter().find(|(s, _)| of(s)).map(|(_, figure)| figure)
}

fn instruction(subject: &Subject, figure: &Figure, found: &[(Subject, Figure)]) -> Instruction {
    let latency = latency(subject, found);
    Instruction {
        name: subject.name.to_owned(),
        width_bits: subject.width_bits,
        per_cycle: 1.0 / figure.cycles,
        latency_cycles: latency.map(|l| l.cycles),
        spread: latency.map_or(figure.spread, |l| l.spread.max(figure.spread)),
        samples: latency.map_or(figure.samples, |l| l.samples.min(figure.samples)),
    }
}

// Bytes a cycle from and to each level of memory, by whatever moves them fastest.

/// Readings of each way: few, because there are many ways and a reading of memory is long.
const BANDWIDTH_READINGS: usize = 7;
const MOST_BANDWIDTH_READINGS: usize = 28;

/// Most bytes that are set aside to get past the last cache. A machine whose last cache is larger
/// than half of it has no figure for memory.
const MOST_BYTES: u64 = 256 << 20;

struct Place {
    level: Level,
    bytes: usize,
    /// Bytes walked through at once.
    piece: usize,
    /// Bytes of one reading: tens of microseconds at the least.
    reading: usize,
}

/// Every level that the machine tells the size of, for reading, writing and copying.
fn all_bandwidths(
    prober: &mut Prober<'_>,
    read: &Read,
    caches: &[Cache],
    conditions: &Conditions,
    until: Instant,
) -> Vec<Bandwidth> {
    let conditions = Conditions { quiet_probe: read.quiet_probe, ..*conditions };
    let mut found = first_level(&read.core, read.cycles_per_tick * conditions.ticks_per_ns);
    for place in places(caches) {
        // Without the memory for it there is no figure.
        let Ok(mut stretch) = Stretch::new(place.bytes, place.piece) else { continue };
        for how in [Access::Read, Access::Write, Access::Copy] {
            found.extend(best(prober, &place, &mut stretch, how, &conditions, until));
        }
    }
    found
}

/// The first level, from the probes of single loads and stores, which no loop is around.
fn first_level(core: &Core, cycles_per_ns: f64) -> Vec<Bandwidth> {
    let kinds = [(Access::Read, "load"), (Access::Write, "store"), (Access::Copy, "load+store")];
    let best = |(access, name): (Access, &str)| {
        // `-sve` are registers as long as the core has them.
        let is_one =
            |i: &&base::analysis::bound::Instruction| i.name.trim_end_matches("-sve") == name;
        let all = core.instructions.iter().filter(is_one);
        let bytes =
            |i: &base::analysis::bound::Instruction| i.per_cycle * f64::from(i.width_bits / 8);
        let best = all.max_by(|a, b| bytes(a).total_cmp(&bytes(b)))?;
        Some(Bandwidth {
            level: Level::L1,
            access,
            by: format!("{name}-{}", best.width_bits),
            // Twelve lines, and twelve more where they are copied.
            buffer_bytes: u64::from(best.width_bits / 8) * 12,
            bytes_per_cycle: bytes(best),
            gb_per_s: bytes(best) * cycles_per_ns,
            spread: best.spread,
            samples: best.samples,
        })
    };
    kinds.into_iter().filter_map(best).collect()
}

/// Buffers for the levels beyond the first: half a cache, so that the other half is left to
/// whatever else is in it; and twice the last cache for memory.
fn places(caches: &[Cache]) -> Vec<Place> {
    let size = |level| {
        let data = caches.iter().filter(|c| c.level == level && c.kind != "Instruction");
        data.map(|c| c.size_bytes).max()
    };
    let place = |level, bytes: u64, reading| Place {
        level,
        bytes: bytes as usize,
        piece: (bytes as usize / 2).min(1 << 20),
        reading,
    };
    let mut places = Vec::new();
    let (second, third) = (size(2), size(3));
    if let Some(second) = second {
        places.push(place(Level::L2, second / 2, 2 << 20));
    }
    if let Some(third) = third {
        // Several times the second level, not all of a cache that others use as well.
        let least = second.unwrap_or(0) * 4;
        let bytes = (third / 4).max(least).min(third / 2).min(MOST_BYTES / 8);
        if bytes >= least {
            places.push(place(Level::L3, bytes, 4 << 20));
        }
    }
    if let Some(last) = third.or(second)
        && last * 2 <= MOST_BYTES
    {
        places.push(place(Level::Memory, last * 2, 4 << 20));
    }
    places
}

/// The fastest way at one level; none where one of them could not be read, which may be the fastest.
fn best(
    prober: &mut Prober<'_>,
    place: &Place,
    stretch: &mut Stretch,
    how: Access,
    conditions: &Conditions,
    until: Instant,
) -> Option<Bandwidth> {
    let mut best: Option<(&'static str, Figure)> = None;
    for way in prober.ways(how) {
        let mut readings = Readings::default();
        for _ in 0..MOST_BANDWIDTH_READINGS {
            if readings.enough(conditions.quiet_probe, BANDWIDTH_READINGS)
                || Instant::now() >= until
            {
                break;
            }
            readings.add(prober.walk(stretch, how, way, place.reading));
        }
        let figure = readings.figure(conditions.quiet_probe)?;
        if best.is_none_or(|(_, b)| figure.cycles < b.cycles) {
            best = Some((way, figure));
        }
    }
    let (way, figure) = best?;
    Some(Bandwidth {
        level: place.level,
        access: how,
        by: way.to_owned(),
        buffer_bytes: stretch.bytes(),
        bytes_per_cycle: 1.0 / figure.cycles,
        gb_per_s: conditions.ticks_per_ns / figure.ticks,
        spread: figure.spread,
        samples: figure.samples,
    })
}

// Readings of one thing, and what they say.

const LEAST_READINGS: usize = 5;

#[derive(Clone, Debug, Default)]
struct Readings(Vec<Reading>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    cycles: f64,
    ticks: f64,
    /// Half the distance between the quartiles of cycles, relative to the median.
    spread: f64,
    samples: u32,
}

impl Readings {
    fn add(&mut self, reading: Reading) {
        self.0.push(reading);
    }

    fn probes(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(|r| r.probe)
    }

    fn quiet(&self, rate: f64) -> Vec<Reading> {
        let clean = |r: &&Reading| r.steady && r.probe >= rate * QUIET_PROBE_FRACTION;
        self.0.iter().filter(clean).copied().collect()
    }

    fn enough(&self, rate: f64, wanted: usize) -> bool {
        self.quiet(rate).len() >= wanted
    }

    /// Of the faster half: whatever else runs on a core only slows it, and a floor that is too high would refuse what is
    /// right. None from fewer than [`LEAST_READINGS`] quiet readings.
    fn figure(&self, rate: f64) -> Option<Figure> {
        let mut quiet = self.quiet(rate);
        if quiet.len() < LEAST_READINGS {
            return None;
        }
        let samples = quiet.len() as u32;
        quiet.sort_unstable_by(|a, b| a.cycles.total_cmp(&b.cycles));
        quiet.truncate(quiet.len().div_ceil(2));
        let mut cycles: Vec<f64> = quiet.iter().map(|r| r.cycles).collect();
        let mut ticks: Vec<f64> = quiet.iter().map(|r| r.ticks).collect();
        let (low, high) = (quantile(&mut cycles, 0.25)?, quantile(&mut cycles, 0.75)?);
        let middle = median(&mut cycles)?;
        Some(Figure {
            cycles: middle,
            ticks: median(&mut ticks)?,
            spread: (high - low) / 2.0 / middle,
            samples,
        })
    }
}

/// The quiet rate as far as it is known: what the watch found, or more if the readings saw more.
fn quiet_rate(watched: f64, all: &[Readings]) -> f64 {
    let mut probes: Vec<f64> = all.iter().flat_map(Readings::probes).collect();
    base::analysis::quiet_rate(&mut probes).max(watched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::Clock;

    #[test]
    fn of_two_measurements_the_faster_counts_for_each_thing() {
        let instruction = |name: &str, per_cycle| base::analysis::bound::Instruction {
            name: name.into(),
            width_bits: 128,
            per_cycle,
            latency_cycles: None,
            spread: 0.0,
            samples: 9,
        };
        let core = |a, b, window| Core {
            instructions: vec![instruction("aesenc", a), instruction("pxor", b)],
            window: Some(window),
            ..Core::default()
        };
        let both = faster(core(2.0, 1.0, 50.0), core(1.5, 4.0, 62.0));
        let rates: Vec<f64> = both.instructions.iter().map(|i| i.per_cycle).collect();
        assert_eq!((rates, both.window), (vec![2.0, 4.0], Some(62.0)));
    }

    #[test]
    fn what_one_of_two_measurements_lacks_is_taken_from_the_other() {
        let wide = |latency_cycles| base::analysis::bound::Instruction {
            name: "aesenc".into(),
            width_bits: 512,
            per_cycle: 1.0,
            latency_cycles,
            spread: 0.0,
            samples: 5,
        };
        let unread = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let narrow = Core { unread: unread(&["aesenc-512", "imul-64"]), ..Core::default() };
        let wide = |latency, names| Core {
            instructions: vec![wide(latency)],
            unread: unread(names),
            ..Core::default()
        };
        let both = faster(narrow, wide(None, &["imul-64", "latency of aesenc-512"]));
        assert_eq!((both.instructions.len(), &both.unread[..]), (1, &["imul-64".to_owned()][..]));
        let both = faster(both, wide(Some(3.0), &[]));
        assert_eq!((both.instructions[0].latency_cycles, both.unread.len()), (Some(3.0), 0));
    }

    #[test]
    fn limits_without_a_core_say_why() {
        let all = [Algorithm::find("aes-128-ctr").unwrap()];
        let of =
            |core| limits(core, &all, &[Direction::Encrypt], &[Model::Message], &[Tier::Native]);
        let none = of(Err("no probes here".to_owned()));
        assert_eq!(none.reason.as_deref(), Some("no probes here"));
        assert!(none.core.is_none() && none.floors.is_empty());
        let empty = of(Ok(Core::default()));
        assert_eq!((empty.floors.len(), empty.reason), (1, None));
    }

    /// The whole of it on the machine that the test runs on, without a word about speed.
    #[test]
    #[ignore = "long: seconds"]
    fn this_core_is_measured_and_floors_are_derived() {
        let found = limits_here(&[Algorithm::find("memcpy").unwrap()]);
        if let Some(reason) = &found.reason {
            assert!(reason.contains("quiet"), "{reason}");
            return;
        }
        let core = found.core.unwrap();
        assert!(core.instructions.iter().all(|i| i.per_cycle > 0.0 && i.samples > 0));
        let switches = Tier::HERE.iter().filter(|t| !t.is_machine());
        assert_eq!(found.floors.len(), switches.count());
    }

    #[test]
    fn an_overlap_whose_latency_was_not_read_was_not_read_either() {
        let clock = Clock::calibrate();
        let subjects = Prober::new(&clock).subjects();
        let figure = Figure { cycles: 1.0, ticks: 1.0, spread: 0.0, samples: 15 };
        let is_overlap = |s: &&Subject| matches!(s.reads, Reads::Window { .. });
        // Without probes for the architecture there is none.
        for overlap in subjects.iter().filter(is_overlap) {
            let of_it = |s: &Subject| (s.name, s.width_bits) == (overlap.name, overlap.width_bits);
            let lacks = |s: &Subject| s.reads == Reads::Latency && of_it(s);
            let all = subjects.iter().map(|s| (*s, figure));
            assert_eq!(unread(&subjects, &all.clone().collect::<Vec<_>>()), [""; 0]);
            let found: Vec<_> = all.filter(|(s, _)| !lacks(s)).collect();
            let latency = subjects.iter().find(|s| lacks(s)).unwrap();
            let mut not = unread(&subjects, &found);
            not.sort();
            assert_eq!(not, [label(latency), label(overlap)]);
        }
    }

    fn cache(level: u32, kind: &str, size_bytes: u64) -> Cache {
        Cache { level, kind: kind.into(), size_bytes, line_bytes: 64, shared_by: String::new() }
    }

    fn sizes(caches: &[Cache]) -> Vec<(Level, usize)> {
        places(caches).iter().map(|p| (p.level, p.bytes)).collect()
    }

    #[test]
    fn buffers_follow_the_caches_of_the_machine() {
        let zen4 = [
            cache(1, "Data", 32 << 10),
            cache(1, "Instruction", 32 << 10),
            cache(2, "Unified", 1 << 20),
            cache(3, "Unified", 32 << 20),
        ];
        let expected = [(Level::L2, 512 << 10), (Level::L3, 8 << 20), (Level::Memory, 64 << 20)];
        assert_eq!(sizes(&zen4), expected);
        assert!(sizes(&[]).is_empty());
    }

    #[test]
    fn a_last_cache_that_is_too_large_to_get_past_leaves_memory_out() {
        let huge = [cache(2, "Unified", 2 << 20), cache(3, "Unified", 480 << 20)];
        assert_eq!(sizes(&huge), [(Level::L2, 1 << 20), (Level::L3, 32 << 20)]);
    }

    fn readings(all: &[(f64, f64, bool)]) -> Readings {
        let reading = |(cycles, probe, steady): &(f64, f64, bool)| Reading {
            cycles: *cycles,
            ticks: cycles / 2.0,
            probe: *probe,
            steady: *steady,
        };
        Readings(all.iter().map(reading).collect())
    }

    #[test]
    fn contended_and_unsteady_readings_do_not_count() {
        let mut all = vec![(1.0, 5.0, true); 9];
        all.extend([(9.0, 3.0, true); 20]);
        all.extend([(9.0, 5.0, false); 20]);
        let figure = readings(&all).figure(5.0).unwrap();
        assert_eq!((figure.cycles, figure.spread, figure.samples), (1.0, 0.0, 9));
    }

    #[test]
    fn a_core_that_is_taken_in_half_of_all_readings_is_no_slower() {
        let mut all = vec![(1.0, 5.0, true); 8];
        all.extend([(1.3, 5.0, true); 7]);
        let figure = readings(&all).figure(5.0).unwrap();
        assert_eq!((figure.cycles, figure.spread, figure.samples), (1.0, 0.0, 15));
    }

    #[test]
    fn few_quiet_readings_are_no_figure() {
        assert_eq!(readings(&[(1.0, 5.0, true); 4]).figure(5.0), None);
    }

    #[test]
    fn the_quiet_rate_is_the_higher_of_watched_and_seen() {
        let seen = [readings(&[(1.0, 5.5, true); 50])];
        assert_eq!(quiet_rate(5.0, &seen), 5.5);
        assert_eq!(quiet_rate(6.0, &seen), 6.0);
    }
}
