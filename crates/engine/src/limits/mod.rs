//! What this core can do at best, measured in the same run, and measurements held against it.

mod bandwidth;
mod hold;
mod instructions;
mod readings;

pub(crate) use hold::hold;

use crate::quiet;
use bound::Core;
use model::{Algorithm, Direction, Model, Tier};
use probe::{Clock, Prober};
use record::Limits;
use std::time::{Duration, Instant};

/// Most time for the instructions; on a quiet core a tenth of it is enough.
const INSTRUCTIONS_TIME: Duration = Duration::from_millis(900);
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
            let mut prober = Prober::new(clock);
            let until = Instant::now() + INSTRUCTIONS_TIME;
            let read = instructions::read(&mut prober, conditions.quiet_probe, until)?;
            let until = Instant::now() + BANDWIDTHS_TIME;
            let bandwidths = bandwidth::all(&mut prober, &read, &caches, conditions, until);
            Ok(Core { bandwidths, ..read.core })
        });
        measuring.join()
    });
    measured.unwrap_or_else(|_| Err("the probes broke off".to_owned()))
}

/// Measures once more where the run saw the core quieter than it was before the run: a floor that was
/// read on a busy core is too high, and would refuse what is right.
pub(crate) fn again(
    clock: &Clock,
    conditions: &Conditions,
    before: Result<Core, String>,
    quiet_probe: f64,
) -> Result<Core, String> {
    // As far apart as two quiet moments may lie.
    const QUIETER: f64 = 1.01;
    if before.is_ok() && quiet_probe <= conditions.quiet_probe * QUIETER {
        return before;
    }
    let now = measure(clock, &Conditions { quiet_probe, ..*conditions });
    match (before, now) {
        (Ok(before), Ok(now)) => Ok(faster(now, before)),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(why), Err(_)) => Err(why),
    }
}

/// The faster of two measurements of each thing: whatever else runs on a core only slows it.
pub(crate) fn faster(mut a: Core, b: Core) -> Core {
    for i in &mut a.instructions {
        let same = |o: &&bound::Instruction| (&o.name, o.width_bits) == (&i.name, i.width_bits);
        if let Some(other) = b.instructions.iter().find(same)
            && other.per_cycle > i.per_cycle
        {
            *i = other.clone();
        }
    }
    for p in &mut a.pairs {
        let same = |o: &&bound::Pair| {
            (&o.first, &o.second, o.width_bits, o.second_width_bits)
                == (&p.first, &p.second, p.width_bits, p.second_width_bits)
        };
        if let Some(other) = b.pairs.iter().find(same)
            && other.per_cycle > p.per_cycle
        {
            *p = other.clone();
        }
    }
    for m in &mut a.bandwidths {
        let same = |o: &&bound::Bandwidth| (o.level, o.access) == (m.level, m.access);
        if let Some(other) = b.bandwidths.iter().find(same)
            && other.bytes_per_cycle > m.bytes_per_cycle
        {
            *m = other.clone();
        }
    }
    a.window = match (a.window, b.window) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    };
    a
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
                    floors.push(bound::floor(&core, algorithm, (*direction, *model, *tier)));
                }
            }
        }
    }
    Limits { core: Some(core), floors, reason: None }
}

/// The limits of the CPU that a run would measure on, in every tier, for the model `message`.
#[must_use]
pub fn limits_here(algorithms: &[&'static Algorithm]) -> Limits {
    let clock = Clock::calibrate();
    let cpu = crate::survey::measuring_cpu();
    let conditions = Conditions {
        cpu,
        quiet_probe: quiet::watch(&clock, cpu).of(cpu),
        ticks_per_ns: crate::survey::rough_rate(&clock).unwrap_or(1.0),
    };
    let directions = [Direction::Encrypt, Direction::Decrypt];
    let core = measure(&clock, &conditions);
    limits(core, algorithms, &directions, &[Model::Message], Tier::ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_measurements_the_faster_counts_for_each_thing() {
        let instruction = |name: &str, per_cycle| bound::Instruction {
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
    #[cfg(target_arch = "x86_64")]
    fn this_core_is_measured_and_floors_are_derived() {
        let found = limits_here(&[Algorithm::find("memcpy").unwrap()]);
        if let Some(reason) = &found.reason {
            assert!(reason.contains("quiet"), "{reason}");
            return;
        }
        let core = found.core.unwrap();
        assert!(core.instructions.iter().all(|i| i.per_cycle > 0.0 && i.samples > 0));
        assert_eq!(found.floors.len(), Tier::ALL.len());
    }
}
