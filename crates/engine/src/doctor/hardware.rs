//! What no emulator could show of aarch64, and only the hardware settles: each with what was found here, or the command
//! that finds it. Pure.

use crate::doctor::finding::Finding;
use crate::doctor::live::Live;
use crate::doctor::machine::Machine;

/// How far the chain's clock may be above what the driver says: its figures are rounded.
const ABOVE: f64 = 1.03;

/// Nothing where samples are not timed by the counter of aarch64.
pub(crate) fn examine(machine: &Machine, live: &Live) -> Vec<Finding> {
    if live.source != "cntvct" {
        return Vec::new();
    }
    let asked = |name: &str, open: &str, command: &str| {
        Finding::ok("hardware", name, open)
            .note(format!("developed under emulation; please report: {command}"))
    };
    vec![
        additions(machine, live),
        asked("repeats", "whether two runs agree", "make repeat"),
        asked("agrees with openssl speed", "whether both time the same", "make agree"),
        asked(
            "cost of a step",
            "how long counting instructions takes",
            "time ciphermark explain -l openssl -a aes-128-gcm",
        ),
        asked(
            "limits",
            "whether instructions take what their makers publish (docs/LIMITS.md)",
            "ciphermark list limits",
        ),
        asked(
            "record",
            "what this core does",
            "make bench && make add-record NAME=your-machine, in a clone",
        ),
    ]
}

/// Cycles rest on an addition that takes one.
fn additions(machine: &Machine, live: &Live) -> Finding {
    let finding = |found: String| Finding::ok("hardware", "an addition is a cycle", found);
    match (live.core_ghz, machine.host.cpu.frequency_range_khz) {
        (None, _) => finding("the second chain contradicts it".to_owned())
            .problem("figures are in time alone; please report `ciphermark doctor --json`"),
        (Some(ghz), Some((_, most))) if ghz > ABOVE * most as f64 / 1e6 => {
            finding(format!("{ghz:.2} GHz by the chain, {:.2} at most by the driver", most as f64 / 1e6))
                .problem("this core does two additions of a chain in a cycle; please report `ciphermark doctor --json`")
        }
        (Some(ghz), Some((_, most))) => {
            finding(format!("{ghz:.2} GHz by the chain, {:.2} at most by the driver", most as f64 / 1e6))
        }
        (Some(ghz), None) => finding(format!("{ghz:.2} GHz by the chain, the driver says nothing"))
            .note("compare with what the maker says, or as root: perf stat -e cycles:u,task-clock ciphermark list algorithms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;

    fn of(ghz: Option<f64>, most_khz: Option<u64>) -> Vec<Finding> {
        let mut machine = Machine::default();
        machine.host.cpu.frequency_range_khz = most_khz.map(|most| (1_000_000, most));
        examine(&machine, &Live { source: "cntvct".into(), core_ghz: ghz, ..Live::default() })
    }

    #[test]
    fn a_chain_that_is_faster_than_the_core_can_be_is_a_problem() {
        for (ghz, most, verdict) in [
            (Some(2.6), Some(2_600_000), Verdict::Ok),
            (Some(1.4), Some(2_600_000), Verdict::Ok),
            (Some(5.2), Some(2_600_000), Verdict::Problem),
            (None, Some(2_600_000), Verdict::Problem),
            (Some(2.6), None, Verdict::Note),
        ] {
            assert_eq!(of(ghz, most)[0].verdict, verdict, "{ghz:?} {most:?}");
        }
    }

    #[test]
    fn what_is_open_is_named_with_the_command_that_closes_it() {
        let found = of(Some(2.6), None);
        assert!(found.len() > 4 && found.iter().all(|f| f.mend.is_some()), "{found:?}");
        let on_x86_64 =
            examine(&Machine::default(), &Live { source: "tsc".into(), ..Live::default() });
        assert!(on_x86_64.is_empty());
    }
}
