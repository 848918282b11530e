//! What this core can do at best, measured in the same run, and measurements held against it.

mod bandwidth;
mod hold;
mod instructions;
mod readings;

pub(crate) use hold::hold;

use crate::quiet;
use base::analysis::bound::Core;
use base::model::{Algorithm, Direction, Model, Tier};
use instructions::TimeLimits;
use probe::{Clock, Prober};
use record::Limits;
use std::time::{Duration, Instant};

/// For the instructions. A core of which a fiftieth of the time is quiet gives five readings of each
/// of a hundred things, of 50 µs with their probes, in a second and a half; twice that is waited.
const INSTRUCTIONS_TIME: TimeLimits =
    TimeLimits { wanted: Duration::from_millis(900), complete: Duration::from_secs(3) };
/// Most time for bandwidths.
const BANDWIDTHS_TIME: Duration = Duration::from_millis(900);

/// What the probes need to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The CPU to measure on.
    pub(crate) cpu: u32,
    /// Independent instructions per core cycle when nothing else runs on the core.
    pub(crate) quiet_probe: f64,
    /// Ticks of the clock in a nanosecond.
    pub(crate) ticks_per_ns: f64,
}

/// Measures the core, on the CPU that takes the samples.
///
/// # Errors
/// Why nothing could be measured.
pub(crate) fn measure(clock: &Clock, conditions: &Conditions) -> Result<Core, String> {
    let caches = host::facts(conditions.cpu).cpu.caches;
    let measured = std::thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            probe::pin_to(&[conditions.cpu])
                .map_err(|e| format!("cannot stay on CPU {}: {e}", conditions.cpu))?;
            let clock = clock.on_this_cpu();
            let mut prober = Prober::new(&clock);
            let read = instructions::read(&mut prober, conditions.quiet_probe, INSTRUCTIONS_TIME)?;
            let until = Instant::now() + BANDWIDTHS_TIME;
            let bandwidths = bandwidth::all(&mut prober, &read, &caches, conditions, until);
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
) -> Result<Core, String> {
    // As far apart as two quiet moments may lie.
    const QUIETER: f64 = 1.01;
    let complete = before.as_ref().is_ok_and(|core| core.unread.is_empty());
    if complete && quiet_probe <= conditions.quiet_probe * QUIETER {
        return before;
    }
    let now = measure(clock, &Conditions { quiet_probe, ..*conditions });
    match (before, now) {
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

/// What both have as `better` says, what one has as it is.
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

/// The record's part: what was measured, and the floors of these algorithms.
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
#[must_use]
pub fn limits_here(algorithms: &[&'static Algorithm]) -> Limits {
    let clock = Clock::calibrate();
    let cpu = crate::placement::measuring_cpu();
    let conditions = Conditions {
        cpu,
        quiet_probe: quiet::watch(&clock, cpu).of(cpu),
        ticks_per_ns: clock.rough_ticks_per_ns(),
    };
    let directions = [Direction::Encrypt, Direction::Decrypt];
    let core = measure(&clock, &conditions);
    let switches: Vec<Tier> = Tier::HERE.iter().copied().filter(|t| !t.is_machine()).collect();
    limits(core, algorithms, &directions, &[Model::Message], &switches)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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
}
