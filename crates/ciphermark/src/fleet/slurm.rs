//! Slurm: the script of a job, and what Slurm's answers mean.

use crate::fleet::{self, Fleet, Machine, Phase, Seen, code, measure};
use base::text::shell_word;

/// A package's tarball is unpacked; anything else is the program.
const TARBALLS: [&str; 3] = [".tar.xz", ".tar.gz", ".tar"];

/// Where a job keeps journal and record on its node. The seed keeps surveys of one name apart.
pub fn directory(fleet: &Fleet, slurm: &fleet::Slurm, machine: &Machine, seed: u64) -> String {
    format!("{}/{}-{seed}", slurm.directory.trim_end_matches('/'), fleet.job_name(machine))
}

/// The script of a type's job, for `sbatch`.
pub fn script(fleet: &Fleet, slurm: &fleet::Slurm, machine: &Machine, seed: u64) -> String {
    let (name, chdir) = (fleet.job_name(machine), &slurm.directory);
    // Slurm counts minutes, and takes none for no limit.
    let minutes = fleet.time().as_secs().div_ceil(60).max(1);
    let options: String =
        slurm.options.iter().map(|option| format!("#SBATCH {option}\n")).collect();
    let directory = directory(fleet, slurm, machine, seed);
    let (unpack, program) = if TARBALLS.iter().any(|ending| slurm.program.ends_with(ending)) {
        let unpack = format!(
            "mkdir -p {0}/program && tar -x -f {1} -C {0}/program || exit {2}\n",
            shell_word(&directory),
            shell_word(&slurm.program),
            crate::fleet::NO_PROGRAM
        );
        (unpack, format!("{}/program/*/bin/ciphermark", shell_word(&directory)))
    } else {
        (
            format!(
                "[ -x {0} ] || exit {1}\n",
                shell_word(&slurm.program),
                crate::fleet::NO_PROGRAM
            ),
            shell_word(&slurm.program),
        )
    };
    format!(
        r#"#!/bin/sh
# Survey '{survey}' on a machine of type '{kind}', written by `ciphermark fleet plan`. Submit it with: sbatch FILE
# It may be requeued and preempted: it resumes on the same node, and begins anew on another.
#SBATCH --job-name={name}
#SBATCH --constraint="{selector}"
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --time={minutes}
#SBATCH --chdir={chdir}
#SBATCH --output=/dev/null
{options}
{unpack}{measure}"#,
        survey = fleet.survey,
        kind = machine.name,
        selector = machine.selector(),
        // Not by `--output`: in a directory of everybody's another user could lay a link under the log's name.
        measure = measure(fleet, seed, &program, &directory)
            .replace(">answer.txt", ">answer.txt 2>>job.log"),
    )
}

/// What a refusal of `sbatch` means for a type.
pub fn refusal(machine: &Machine, said: &str) -> String {
    let selector = machine.selector();
    let has = |words: &str| said.contains(words);
    if has("Invalid feature specification") {
        format!(
            "unknown type: no node of the cluster has the feature '{selector}' (`sinfo -o '%N %f'` lists them)"
        )
    } else if has("Requested node configuration is not available") {
        format!(
            "unknown type: no node with the feature '{selector}' is in this partition, or none may be used alone"
        )
    } else if has("nvalid partition") || has("nvalid account") || has("nvalid qos") {
        format!("{}: check `options` in [slurm]", last_line(said))
    } else if has("denied") || has("not permitted") || has("not authorized") {
        format!("no rights: {}", last_line(said))
    } else if has("Unable to contact slurm controller") || has("Connection refused") {
        format!("the cluster's controller does not answer: {}", last_line(said))
    } else {
        last_line(said)
    }
}

/// Without the program's name before it.
fn last_line(said: &str) -> String {
    let line =
        said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("Slurm said nothing");
    let line = line.trim();
    ["sbatch: error: ", "srun: error: ", "scontrol: error: "]
        .iter()
        .find_map(|prefix| line.strip_prefix(prefix))
        .unwrap_or(line)
        .to_owned()
}

/// What `scontrol --oneliner show job` says.
pub fn seen(said: &str) -> Option<Seen> {
    let field = |name: &str| {
        said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let state = field("JobState")?;
    let reason = field("Reason").unwrap_or("None");
    let node = field("NodeList").filter(|node| !node.is_empty() && *node != "(null)");
    let on = node.map(|node| format!(" on {node}")).unwrap_or_default();
    let restarts = match field("Restarts").and_then(|n| n.parse::<u32>().ok()) {
        None | Some(0) => String::new(),
        Some(1) => ", requeued once".to_owned(),
        Some(n) => format!(", requeued {n} times"),
    };
    let (exit, signal) =
        field("ExitCode").and_then(|both| both.split_once(':')).unwrap_or(("0", "0"));
    let number = |text: &str| text.parse::<i32>().unwrap_or(0);
    let failed = |words: String| Seen::new(Phase::Failed, words);
    let seen = match state {
        "PENDING" => Seen::new(Phase::Waiting, format!("{}{restarts}", waits(reason))),
        "RUNNING" | "CONFIGURING" | "COMPLETING" | "SUSPENDED" => {
            Seen::new(Phase::Running, format!("measures{on}{restarts}"))
        }
        "COMPLETED" => Seen::new(Phase::Done, format!("done{on}{restarts}: gather it")),
        "FAILED" if number(signal) != 0 => {
            failed(format!("failed{on}: {}", code(128 + number(signal))))
        }
        "FAILED" => failed(format!("failed{on}: {}", code(number(exit)))),
        "OUT_OF_MEMORY" => failed(format!("killed{on}: out of memory")),
        "TIMEOUT" | "DEADLINE" => failed(format!("killed{on}: it took longer than `time`")),
        "NODE_FAIL" | "BOOT_FAIL" => failed(format!("its node went down{on}")),
        "PREEMPTED" => failed(format!("preempted{on}, and not requeued")),
        "CANCELLED" => failed("cancelled".to_owned()),
        other => Seen::new(Phase::Waiting, format!("{}{on}", other.to_lowercase())),
    };
    Some(seen.on(node))
}

fn waits(reason: &str) -> String {
    let begins = |words: &str| reason.starts_with(words);
    if begins("ReqNodeNotAvail") || reason.contains("DOWN") || reason.contains("DRAINED") {
        "waits: the nodes of this type are down or drained".to_owned()
    } else if begins("BeginTime") {
        "waits: it was requeued, and Slurm starts it again in some two minutes".to_owned()
    } else if reason.contains("Held") || begins("launch_failed") || reason.contains("held") {
        format!("held ({reason}): `scontrol release` lets it go on")
    } else if begins("PartitionTimeLimit") {
        "waits for ever: `time` is longer than the partition allows".to_owned()
    } else if matches!(reason, "Resources" | "Priority" | "None" | "Prolog") {
        "waits for a machine".to_owned()
    } else {
        format!("waits ({reason})")
    }
}

/// Nodes that may have run a type's job, of what `sinfo --Node --format '%N %t %f'` lists: those that answer.
pub fn candidates(machine: &Machine, listed: &str) -> Vec<String> {
    let mut nodes: Vec<String> = Vec::new();
    for line in listed.lines() {
        let mut words = line.split_whitespace();
        let (Some(node), Some(state), Some(features)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let has_it = features.split(',').any(|feature| feature == machine.selector());
        let is_up = !["down", "drain", "fail", "unk"].iter().any(|bad| state.starts_with(bad))
            && !state.ends_with('*');
        if has_it && is_up && !nodes.iter().any(|other| other == node) {
            nodes.push(node.to_owned());
        }
    }
    nodes
}
