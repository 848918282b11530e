//! `ciphermark fleet gather`: records come here whole, are judged, and get a manifest.

use super::engine::{Cluster, Sent};
use super::{Survey, is_open, keep_nodes, load, tell};
use crate::args_fleet::GatherArgs;
use crate::error::{Exit, Failure};
use crate::fleet::{Fleet, Job, Machine, Phase};
use crate::{kinds, screen, signing};
use judge::compare::trust::{Manifest, judge};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a scheduler is asked while jobs run: seldom where it takes long.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(30);
/// How often a transfer is tried: `kubectl exec` now and then loses its end.
const TRIES: u32 = 3;

/// Brings every record that is done, and names the next command.
pub fn gather(args: &GatherArgs) -> Result<Exit, Failure> {
    let fleet = load(&args.file.file)?;
    let key = args.key.clone().or_else(|| fleet.key(&args.file.file));
    let records = fleet.records(&args.file.file);
    std::fs::create_dir_all(&records)
        .map_err(|e| Failure::not_done(format!("cannot make '{}': {e}", records.display())))?;
    let began = Instant::now();
    let until = began + args.wait.unwrap_or_default();
    let mut has_failed = false;
    let survey = loop {
        // Anew each time: between two looks others may cancel what waits.
        let mut survey = Survey::open(&args.file)?;
        let cluster = Cluster::of(&fleet);
        let seen = survey.seen(&cluster)?;
        keep_nodes(&mut survey, &seen)?;
        let is_over = Instant::now() >= until;
        let mut waits = false;
        for (machine, seen) in fleet.machines().zip(&seen) {
            let Some(job) = survey.state.job(machine).filter(|job| is_open(job)).cloned() else {
                continue;
            };
            if matches!(seen.phase, Phase::Done | Phase::Gone) {
                has_failed |=
                    !bring(&mut survey, &cluster, machine, job, (&records, key.as_deref()))?;
            } else if matches!(seen.phase, Phase::Waiting | Phase::Running) {
                waits = true;
            }
        }
        if !waits || is_over {
            break survey;
        }
        drop(survey);
        let again = (began.elapsed() / 10).clamp(SOONEST, LATEST);
        std::thread::sleep(again.min(until.saturating_duration_since(Instant::now())));
    };
    finish(&survey, &fleet, &records, has_failed)
}

/// Brings one record; whether it is here and nothing speaks against it.
fn bring(
    survey: &mut Survey,
    cluster: &Cluster<'_>,
    machine: &Machine,
    job: Job,
    (records, key): (&Path, Option<&Path>),
) -> Result<bool, Failure> {
    let Sent { sha256, record, node } = match whole(cluster, machine, &job)? {
        Ok(sent) => sent,
        Err(why) => {
            tell(machine, &format!("not gathered: {why}"))?;
            return Ok(false);
        }
    };
    let path = file(records, &survey.fleet, machine);
    let manifest = Manifest {
        record_sha256: sha256.clone(),
        machine_type: machine.name.clone(),
        survey: survey.fleet.survey.clone(),
        seed: job.seed,
        given: job.given.clone(),
    };
    // The record last: one that is there has its manifest.
    let beside = signing::manifest_of(&path);
    write(&beside, manifest.text().as_bytes())?;
    if let Some(key) = key {
        signing::sign(&beside, key)?;
    }
    write(&path, &record)?;
    cluster.release(machine, &job)?;
    let doubts = doubts(&path, &manifest);
    let signed = if key.is_some() { ", signed" } else { "" };
    tell(machine, &format!("gathered into '{}', {} bytes{signed}", path.display(), record.len()))?;
    for doubt in &doubts {
        tell(machine, &format!("doubtful: {doubt}"))?;
    }
    survey.put(Job { gathered: Some(sha256), node: node.or(job.node.clone()), ..job })?;
    Ok(doubts.is_empty())
}

/// The record as the node has it, by the hash that was calculated there.
fn whole(
    cluster: &Cluster<'_>,
    machine: &Machine,
    job: &Job,
) -> Result<Result<Sent, String>, Failure> {
    let mut why = String::new();
    for _ in 0..TRIES {
        match cluster.fetch(machine, job)? {
            Ok(sent) if hex::encode(Sha256::digest(&sent.record)) == sent.sha256 => {
                return Ok(Ok(sent));
            }
            Ok(sent) => {
                why = format!("{} bytes came that are not what the node has", sent.record.len())
            }
            Err(said) => return Ok(Err(said)),
        }
    }
    Ok(Err(why))
}

fn file(records: &Path, fleet: &Fleet, machine: &Machine) -> PathBuf {
    records.join(format!("{}-{}.json", fleet.survey, machine.slug()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    record::write_file(path, bytes)
        .map_err(|e| Failure::not_done(format!("cannot write '{}': {e}", path.display())))
}

/// What speaks against a record by itself; the store knows others to hold it against.
fn doubts(path: &Path, manifest: &Manifest) -> Vec<String> {
    let record = match kinds::record(path) {
        Ok(record) => record,
        Err(why) => return vec![why.to_string()],
    };
    let now = jiff::Timestamp::now().to_string();
    let found = judge(&record, &manifest.told(Some(&now)), &[]).doubts;
    found.into_iter().map(|doubt| doubt.sentence).collect()
}

fn finish(
    survey: &Survey,
    fleet: &Fleet,
    records: &Path,
    has_failed: bool,
) -> Result<Exit, Failure> {
    let here: Vec<String> = survey
        .state
        .with(fleet)
        .filter(|(_, job)| job.is_some_and(|job| job.gathered.is_some()))
        .map(|(machine, _)| file(records, fleet, machine).display().to_string())
        .collect();
    let (all, missing) = (fleet.machines().count(), fleet.machines().count() - here.len());
    let left = if missing > 0 {
        format!("; {missing} are not here: `ciphermark fleet status`")
    } else {
        String::new()
    };
    let next = match &here[..] {
        [] => String::new(),
        files => format!("next: ciphermark archive add STORE {}\n", files.join(" ")),
    };
    screen::print(|_| format!("{} of {all} records are here{left}\n{next}", here.len()))?;
    let failed = survey.state.jobs.iter().any(|job| job.refused.is_some());
    Ok(if has_failed || failed { Exit::Found } else { Exit::Done })
}
