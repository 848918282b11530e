//! Throughputs, latencies, pairs and the window, from interleaved readings.

use super::readings::{Figure, LEAST, Readings, quiet_rate};
use base::analysis::bound::{Core, Instruction, Pair};
use base::analysis::median;
use probe::{Prober, Reads, Subject};
use std::time::{Duration, Instant};

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

/// How long readings may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimits {
    /// Until there are as many as are wanted; on a quiet core a tenth of it is enough.
    pub(super) wanted: Duration,
    /// Until there is a figure for each thing: without one of them no bound is known.
    pub(super) complete: Duration,
}

/// Reads everything about instructions.
///
/// # Errors
/// Why nothing could be measured.
pub(super) fn read(
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
            if !readings.enough(rate, WANTED) {
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
    let none = || !readings.iter().any(|r| r.enough(rate, LEAST));
    all(WANTED)
        || elapsed >= limits.complete
        || (elapsed >= limits.wanted && (all(LEAST) || none()))
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

/// What is read of a subject, in a few words.
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

#[cfg(test)]
mod tests {
    use super::*;
    use probe::Clock;

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
}
