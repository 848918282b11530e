//! Throughputs, latencies, pairs and the window, from interleaved readings.

use super::readings::{Figure, Readings, quiet_rate};
use analysis::median;
use bound::{Core, Instruction, Pair};
use probe::{Prober, Reads, Subject};
use std::time::Instant;

/// Quiet readings of each thing, where there is time for them: their median is then exact to a few
/// thousandths.
const WANTED: usize = 15;

/// What was read of instructions.
pub(super) struct Read {
    /// Everything but bandwidths.
    pub(super) core: Core,
    /// Core cycles in a tick of the clock meanwhile.
    pub(super) cycles_per_tick: f64,
    /// Independent instructions per core cycle on the quiet core, as far as it is known now.
    pub(super) quiet_probe: f64,
}

/// Reads everything about instructions.
///
/// # Errors
/// Why nothing could be measured.
pub(super) fn read(prober: &mut Prober<'_>, watched: f64, until: Instant) -> Result<Read, String> {
    let subjects = prober.subjects();
    if subjects.is_empty() {
        return Err("no probes for this architecture, or its core cycles cannot be known".into());
    }
    let rounds: Vec<u64> = subjects.iter().map(|s| prober.rounds(s)).collect();
    let mut readings = vec![Readings::default(); subjects.len()];
    let mut rate = watched;
    loop {
        // One reading of each in turn, so that drift and neighbours hit all alike.
        for ((subject, rounds), readings) in subjects.iter().zip(&rounds).zip(&mut readings) {
            if !readings.enough(rate, WANTED) {
                readings.add(prober.read(subject, *rounds));
            }
        }
        rate = quiet_rate(watched, &readings);
        let done = readings.iter().all(|r| r.enough(rate, WANTED));
        if done || Instant::now() >= until {
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
    let mut clocks: Vec<f64> = found.iter().map(|(_, f)| f.cycles / f.ticks).collect();
    let cycles_per_tick = median(&mut clocks).unwrap_or(0.0);
    Ok(Read { core: assembled(&found), cycles_per_tick, quiet_probe: rate })
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
