//! What disturbs the measuring CPU. Pure.

use crate::doctor::finding::Finding;
use crate::doctor::live::Live;
use crate::doctor::machine::Machine;

/// Part of the time that interruptions may take: an idle machine's timer takes a tenth of that.
const MOST_INTERRUPTED: f64 = 0.01;
/// From here on a run spends more time waiting than measuring.
const FAR_TOO_MUCH: f64 = 0.5;
/// Stolen time worth knowing of, and that which makes figures in time mean little.
const STOLEN: (f64, f64) = (0.002, 0.1);
/// Part of the probes that may meet a busy sibling before it is worth knowing.
const CONTENDED: f64 = 0.05;
/// What a neighbour on the same core leaves of the probe at most; one on another core leaves all.
const SHARED: f64 = 0.85;

pub(crate) fn examine(machine: &Machine, live: &Live) -> Vec<Finding> {
    vec![
        interruptions(live),
        competitors(machine, live),
        stolen(live),
        contention(live),
        sibling(machine, live),
    ]
}

fn interruptions(live: &Live) -> Finding {
    let seconds = live.spun_seconds.max(1e-9);
    let share = live.gap_seconds / seconds;
    let found = format!(
        "{:.0} a second, {:.2} % of the time, the longest {:.0} µs",
        live.gaps as f64 / seconds,
        share * 100.0,
        live.longest_gap_us
    );
    Finding::ok("noise", "interruptions", found).note_if(
        share > MOST_INTERRUPTED,
        "samples that meet one do not count, so a run takes longer: stop what else runs, or choose \
         a quieter CPU with taskset -c",
    )
}

fn competitors(machine: &Machine, live: &Live) -> Finding {
    let load = machine.host.load_average.unwrap_or(0.0);
    let found = format!(
        "switched out {} times in {:.1} s, load average {load:.2}",
        live.preempted, live.spun_seconds
    );
    let lost = live.gap_seconds / live.spun_seconds.max(1e-9);
    let finding = Finding::ok("noise", "other programs", found);
    if lost > FAR_TOO_MUCH {
        finding.note(
            "other programs have this CPU most of the time: clean samples are still right, but raise \
             --budget, or stop them",
        )
    } else {
        finding.note_if(
            live.preempted > 20,
            "other programs run on this CPU: stop them, or raise --budget",
        )
    }
}

fn stolen(live: &Live) -> Finding {
    let Some(seconds) = live.stolen_seconds else {
        return Finding::ok("noise", "stolen time", "not counted by this kernel");
    };
    let share = seconds / live.spun_seconds.max(1e-9);
    let finding =
        Finding::ok("noise", "stolen time", format!("{:.1} % of the time", share * 100.0));
    if share > STOLEN.1 {
        finding.problem(
            "the hypervisor runs something else on this CPU: figures in time mean little until it has \
             room; use another machine or another hour",
        )
    } else {
        finding.note_if(share > STOLEN.0, "blocks of samples in which it happens do not count")
    }
}

fn contention(live: &Live) -> Finding {
    let Some(quiet) = live.quiet_probe else {
        return Finding::ok("noise", "contention", "unknown").note(
            "there is no throughput probe for this architecture yet: a busy sibling goes unseen",
        );
    };
    let found = format!(
        "{:.0} % of throughput probes below the quiet {quiet:.2} instructions per cycle",
        live.contended * 100.0
    );
    let finding = Finding::ok("noise", "contention", found);
    let advice = "somebody is busy on the core's other hardware thread; such samples do not count, so \
                  a run takes longer: raise --budget, or measure at another hour";
    if live.contended > FAR_TOO_MUCH {
        finding.problem(format!("{advice}; what is still contended at the end is marked '>'"))
    } else {
        finding.note_if(live.contended > CONTENDED, advice)
    }
}

fn sibling(machine: &Machine, live: &Live) -> Finding {
    let cpu = &machine.host.cpu;
    let sharing: Vec<String> =
        live.neighbours.iter().filter(|n| n.left < SHARED).map(|n| n.cpu.to_string()).collect();
    let said = cpu.thread_siblings.as_deref().unwrap_or("unknown");
    let (own, tried, list) = (live.cpu, live.neighbours.len(), sharing.join(", "));
    let found = if sharing.is_empty() {
        format!("keeping {tried} other CPUs busy took nothing from CPU {own}")
    } else {
        format!("CPU {list} takes execution slots from CPU {own}")
    };
    let found = Finding::ok("noise", "shared core", format!("{found} (the system says: {said})"));
    let advice = format!("keep CPU {list} free while measuring, as with isolcpus or taskset");
    found.note_if(!sharing.is_empty(), &advice)
}
