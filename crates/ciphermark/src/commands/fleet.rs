//! `ciphermark fleet`: a survey on many machines through the user's own scheduler. Jobs are planned, started
//! and cancelled; records come here whole, are judged, and get a manifest. What is asked of Slurm or Kubernetes
//! is asked through their own programs, with a deadline and a bound.

use crate::commands::choose;
use crate::fleet::{Fleet, Job, Machine, Phase, Seen, State, kubernetes, slurm};
use crate::{Exit, Failure, files, fleet, screen};
use base::text::Prices;
use base::text::flags::parse_duration;
use clap::{Args, Subcommand};
use judge::compare::trust::{Manifest, judge};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// `ciphermark fleet`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark fleet plan fleet.toml             print what would be submitted, one job for each machine type\n  \
    ciphermark fleet run fleet.toml              submit it with sbatch or kubectl\n  \
    ciphermark fleet status fleet.toml           one line for each type\n  \
    ciphermark fleet gather fleet.toml --wait 2h     bring the records here, checked\n  \
    ciphermark fleet cancel fleet.toml\n\n\
    A file (docs/FLEET.md has every field):\n  \
    survey = \"2026-12\"\n  \
    engine = \"slurm\"                 # or \"kubernetes\"\n  \
    arguments = [\"--suite\", \"quick\"]  # of `ciphermark run`\n  \
    [slurm]\n  \
    program = \"/usr/bin/ciphermark\"\n  \
    [[machine]]\n  \
    type = \"c7i.large\"\n\n\
    The state (seeds, job ids, hashes) is in FLEET.state.json beside the file, or where --state says.\n\n\
    Exit codes: 0 success; 1 a job failed, was refused, or brought a record that is doubtful; 2 wrong\n\
    usage; 4 the scheduler could not be asked.")]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// `ciphermark fleet …`
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Print or write the scripts or manifests of every machine type; nothing is submitted.
    Plan(PlanArgs),
    /// Submit a job for every machine type that has none, or whose last one failed.
    Run(FileArgs),
    /// Say how far each machine type's job is.
    Status(FileArgs),
    /// Bring finished records here, whole, and check them.
    Gather(GatherArgs),
    /// Cancel every job that is not gathered.
    Cancel(FileArgs),
}

/// Which survey.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The survey.
    #[arg(value_name = "FLEET.toml")]
    pub file: PathBuf,
    /// Keep the state in this file.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

/// `ciphermark fleet plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The survey.
    #[arg(value_name = "FLEET.toml")]
    pub file: PathBuf,
    /// Write a file for each machine type into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The seed in what is printed; `run` draws one for each job.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// `ciphermark fleet gather`
#[derive(Debug, Args)]
pub struct GatherArgs {
    /// Which survey.
    #[command(flatten)]
    pub file: FileArgs,
    /// Wait for jobs that are not done, at most this long.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// Sign each record's manifest with this SSH key [default: `key` of the file, if any].
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

pub fn fleet(args: &FleetArgs) -> Result<Exit, Failure> {
    match &args.command {
        FleetCommand::Plan(args) => plan(args),
        FleetCommand::Run(args) => run(args),
        FleetCommand::Status(args) => status(args),
        FleetCommand::Gather(args) => gather(args),
        FleetCommand::Cancel(args) => cancel(args),
    }
}

/// Reads FLEET.toml, and the prices that it names: a mistake there is better known now.
fn load(path: &Path) -> Result<Fleet, Failure> {
    let shown = format!("'{}'", path.display());
    let text = files::text(path, &shown)?;
    let fleet = Fleet::parse(&text).map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
    if let Some(prices) = fleet.prices(path) {
        let shown = format!("'{}'", prices.display());
        let text = files::text(&prices, &shown)?;
        Prices::from_csv(&text).map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
    }
    Ok(fleet)
}

/// A survey that is under way: what was asked for, where its state is, and what it says.
struct Survey {
    fleet: Fleet,
    path: PathBuf,
    state: State,
    /// Held as long as the state is changed; none where another program holds it.
    lock: Option<File>,
}

/// How long another program's change is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Locks a survey, by its file: no two programs submit its jobs.
fn lock(path: &Path, patience: Duration) -> Result<Option<File>, Failure> {
    let file = record::open_regular(path)
        .map_err(|e| Failure::usage(format!("cannot read '{}': {e}", path.display())))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            // A file system without locks must do without.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

impl Survey {
    /// To change it, which one program does at a time.
    fn open(args: &FileArgs) -> Result<Self, Failure> {
        let survey = Self::look(args)?;
        if survey.lock.is_some() {
            return Ok(survey);
        }
        Err(Failure::not_done(format!(
            "another `ciphermark fleet` works on '{}': wait for it",
            args.file.display()
        )))
    }

    /// Reads both. A state of another survey is not this one's.
    fn look(args: &FileArgs) -> Result<Self, Failure> {
        let fleet = load(&args.file)?;
        let lock = lock(&args.file, LOCK_PATIENCE)?;
        let path = args.state.clone().unwrap_or_else(|| State::path(&args.file));
        let state = State::load(&path).map_err(Failure::usage)?;
        let state = state.unwrap_or_else(|| State::new(&fleet.survey));
        if state.survey != fleet.survey {
            let is_open = |job: &&Job| job.id.is_some() && job.gathered.is_none() && !job.cancelled;
            let open = state.jobs.iter().filter(is_open).count();
            if open > 0 {
                return Err(Failure::usage(format!(
                    "'{}' has {open} jobs of the survey '{}' that are not gathered: gather or cancel them with that name, or use --state",
                    path.display(),
                    state.survey
                )));
            }
            return Ok(Self { state: State::new(&fleet.survey), fleet, path, lock });
        }
        Ok(Self { fleet, path, state, lock })
    }

    fn save(&self) -> Result<(), Failure> {
        self.state.save(&self.path).map_err(Failure::not_done)
    }

    /// Notes a job at once: whatever ends this program, what was submitted is known.
    fn put(&mut self, job: Job) -> Result<(), Failure> {
        self.state.put(job);
        self.save()
    }

    /// What becomes of each machine type's job.
    fn seen(&self, cluster: &Cluster<'_>) -> Result<Vec<Seen>, Failure> {
        let jobs: Vec<(&Machine, Option<&Job>)> = self.state.with(&self.fleet).collect();
        let asked =
            jobs.iter().filter_map(|(machine, job)| Some((*machine, job.filter(|j| is_open(j))?)));
        let mut answers = cluster.look(&asked.collect::<Vec<_>>())?.into_iter();
        let of = |job: Option<&Job>, answers: &mut dyn Iterator<Item = Seen>| match job {
            Some(job) if is_open(job) => answers.next().expect("an answer for each job"),
            job => without_asking(job),
        };
        Ok(jobs.into_iter().map(|(_, job)| of(job, &mut answers)).collect())
    }
}

/// Whether the engine knows more than the state.
fn is_open(job: &Job) -> bool {
    job.id.is_some() && job.gathered.is_none() && !job.cancelled
}

fn without_asking(job: Option<&Job>) -> Seen {
    let (phase, words) = match job {
        None => (Phase::Gone, "not submitted".to_owned()),
        Some(Job { gathered: Some(_), .. }) => (Phase::Done, "gathered".to_owned()),
        Some(Job { cancelled: true, .. }) => (Phase::Gone, "cancelled".to_owned()),
        Some(Job { refused: Some(why), .. }) => (Phase::Failed, format!("refused: {why}")),
        Some(_) => (
            Phase::Gone,
            "not submitted: this program ended before the scheduler answered".to_owned(),
        ),
    };
    Seen { phase, words, node: None }
}

fn plan(args: &PlanArgs) -> Result<Exit, Failure> {
    let fleet = load(&args.file)?;
    let cluster = Cluster::of(&fleet);
    let files: Vec<(String, String)> = fleet
        .machines()
        .map(|machine| (cluster.file_name(machine), cluster.text(machine, args.seed)))
        .collect();
    let Some(directory) = &args.output else {
        let between = |(name, text): &(String, String)| format!("{}{text}", cluster.heading(name));
        let all: Vec<String> = files.iter().map(between).collect();
        screen::print(|_| all.concat())?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(directory)
        .map_err(|e| Failure::not_done(format!("cannot make '{}': {e}", directory.display())))?;
    for (name, text) in &files {
        let path = directory.join(name);
        record::write_file(&path, text.as_bytes())
            .map_err(|e| Failure::not_done(format!("cannot write '{}': {e}", path.display())))?;
        screen::print(|_| format!("{}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

fn run(args: &FileArgs) -> Result<Exit, Failure> {
    let mut survey = Survey::open(args)?;
    let fleet = survey.fleet.clone();
    let cluster = Cluster::of(&fleet);
    let seen = survey.seen(&cluster)?;
    let mut refused = false;
    for (machine, seen) in fleet.machines().zip(seen) {
        let old = survey.state.job(machine).cloned();
        let is_under_way = old.as_ref().is_some_and(|job| job.gathered.is_some())
            || matches!(seen.phase, Phase::Waiting | Phase::Running | Phase::Done);
        if is_under_way {
            tell(machine, &seen.words)?;
            continue;
        }
        // The seed is kept first: whoever asks the scheduler again after a crash asks for the same job.
        let job = Job {
            machine_type: machine.name.clone(),
            seed: choose::random_seed(),
            given: jiff::Timestamp::now().to_string(),
            ..Job::default()
        };
        let was_cut_off =
            old.filter(|job| job.id.is_none() && job.refused.is_none() && !job.cancelled);
        let job = was_cut_off.unwrap_or(job);
        survey.put(job.clone())?;
        let answer = cluster.submit(machine, job.seed)?;
        refused |= answer.is_err();
        let (words, job) = match answer {
            Ok(id) => (format!("submitted as {id}"), Job { id: Some(id), ..job }),
            Err(why) => (format!("refused: {why}"), Job { refused: Some(why), ..job }),
        };
        survey.put(job)?;
        tell(machine, &words)?;
    }
    Ok(if refused { Exit::Found } else { Exit::Done })
}

fn tell(machine: &Machine, words: &str) -> Result<(), Failure> {
    screen::print(|_| format!("{}: {}\n", machine.name, base::text::one_line(words)))
}

fn status(args: &FileArgs) -> Result<Exit, Failure> {
    let mut survey = Survey::look(args)?;
    let fleet = survey.fleet.clone();
    let cluster = Cluster::of(&fleet);
    let seen = survey.seen(&cluster)?;
    keep_nodes(&mut survey, &seen)?;
    let width = fleet.machines().map(|m| base::text::width(&m.name)).max().unwrap_or(0);
    let line = |(machine, seen): (&Machine, &Seen)| {
        format!("{:width$}  {}\n", machine.name, base::text::one_line(&seen.words))
    };
    let lines: String = fleet.machines().zip(&seen).map(line).collect();
    screen::print(|_| lines)?;
    let failed = seen.iter().any(|seen| seen.phase == Phase::Failed);
    Ok(if failed { Exit::Found } else { Exit::Done })
}

/// Notes where jobs ran: Slurm forgets it after five minutes.
fn keep_nodes(survey: &mut Survey, seen: &[Seen]) -> Result<(), Failure> {
    let mut has_changed = false;
    let names: Vec<String> = survey.fleet.machines().map(|m| m.name.clone()).collect();
    for (name, seen) in names.iter().zip(seen) {
        let job = survey.state.jobs.iter_mut().find(|job| job.machine_type == *name);
        if let (Some(job), Some(node)) = (job, &seen.node)
            && job.node.as_ref() != Some(node)
        {
            job.node = Some(node.clone());
            has_changed = true;
        }
    }
    if has_changed && survey.lock.is_some() { survey.save() } else { Ok(()) }
}

fn cancel(args: &FileArgs) -> Result<Exit, Failure> {
    let mut survey = Survey::open(args)?;
    let fleet = survey.fleet.clone();
    let cluster = Cluster::of(&fleet);
    for machine in fleet.machines() {
        let job = survey.state.job(machine).filter(|job| is_open(job)).cloned();
        let Some(job) = job else { continue };
        let id = job.id.clone().unwrap_or_default();
        cluster.cancel(machine, &id)?;
        survey.put(Job { cancelled: true, ..job })?;
        tell(machine, "cancelled")?;
    }
    Ok(Exit::Done)
}

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
    let mut worst = Exit::Done;
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
                let brought = bring(&mut survey, &cluster, machine, job, &records, key.as_deref())?;
                if brought != Exit::Done && worst != Exit::NotDone {
                    worst = brought;
                }
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
    finish(&survey, &fleet, &records, worst)
}

/// Brings one record: done where it is here and nothing speaks against it. A host that sends what it may not costs its own
/// record alone.
fn bring(
    survey: &mut Survey,
    cluster: &Cluster<'_>,
    machine: &Machine,
    job: Job,
    records: &Path,
    key: Option<&Path>,
) -> Result<Exit, Failure> {
    let not_gathered = |why: &str| tell(machine, &format!("not gathered: {why}"));
    let sent = match whole(cluster, machine, &job) {
        Ok(Ok(sent)) => sent,
        Ok(Err(why)) => return not_gathered(&why).map(|()| Exit::Found),
        Err(failure) => return not_gathered(&failure.message).map(|()| failure.exit),
    };
    let Sent { sha256, record, node } = sent;
    let path = file(records, &survey.fleet, machine);
    let manifest = Manifest {
        record_sha256: sha256.clone(),
        machine_type: machine.name.clone(),
        survey: survey.fleet.survey.clone(),
        seed: job.seed,
        given: job.given.clone(),
    };
    // The record last: one that is there has its manifest.
    let beside = files::manifest_of(&path);
    write(&beside, manifest.text().as_bytes())?;
    if let Some(key) = key {
        files::sign_manifest(&beside, key)?;
    }
    write(&path, &record)?;
    cluster.release(machine, &job)?;
    let signed = if key.is_some() { ", signed" } else { "" };
    tell(machine, &format!("gathered into '{}', {} bytes{signed}", path.display(), record.len()))?;
    // Before it is judged: one that takes more memory than there is ends this program, and would each time.
    survey.put(Job { gathered: Some(sha256), node: node.or(job.node.clone()), ..job })?;
    drop(record);
    let doubts = doubts(&path, &manifest);
    for doubt in &doubts {
        tell(machine, &format!("doubtful: {doubt}"))?;
    }
    Ok(if doubts.is_empty() { Exit::Done } else { Exit::Found })
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
    let record = match files::record(path) {
        Ok(record) => record,
        Err(why) => return vec![why.to_string()],
    };
    let now = jiff::Timestamp::now().to_string();
    let found = judge(&record, &manifest.told(Some(&now)), &[]).doubts;
    found.into_iter().map(|doubt| doubt.sentence).collect()
}

fn finish(survey: &Survey, fleet: &Fleet, records: &Path, worst: Exit) -> Result<Exit, Failure> {
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
    Ok(if failed && worst == Exit::Done { Exit::Found } else { worst })
}

/// Seconds that `srun` waits for a node that should be idle.
const IMMEDIATE: &str = "--immediate=60";
/// Prints a job's hash and record; `$0` is its directory.
const SEND: &str = r#"cat "$0/record.json.sha256" "$0/record.json""#;

pub enum Cluster<'a> {
    /// By `sbatch`, `srun`, `scontrol`, `sinfo`, `squeue`, `scancel`.
    Slurm(&'a Fleet, &'a fleet::Slurm),
    /// By `kubectl`.
    Kubernetes(&'a Fleet, &'a fleet::Kubernetes),
}

pub struct Sent {
    /// What the node says is its SHA-256, in hexadecimal.
    pub sha256: String,
    pub record: Vec<u8>,
    pub node: Option<String>,
}

impl<'a> Cluster<'a> {
    pub fn of(fleet: &'a Fleet) -> Self {
        match (fleet.engine, &fleet.slurm, &fleet.kubernetes) {
            (fleet::Engine::Slurm, Some(slurm), _) => Self::Slurm(fleet, slurm),
            (fleet::Engine::Kubernetes, _, Some(kubernetes)) => Self::Kubernetes(fleet, kubernetes),
            _ => unreachable!("a file without its engine's table is refused"),
        }
    }

    /// What `plan` calls a type's file.
    pub fn file_name(&self, machine: &Machine) -> String {
        match self {
            Self::Slurm(..) => format!("{}.sh", machine.slug()),
            Self::Kubernetes(..) => format!("{}.yaml", machine.slug()),
        }
    }

    /// What stands before a file where all of them are printed.
    pub fn heading(&self, file: &str) -> String {
        match self {
            Self::Slurm(..) => format!("### {file}\n"),
            // The whole is what `kubectl apply -f -` takes.
            Self::Kubernetes(..) => "---\n".to_owned(),
        }
    }

    /// The script or the manifest of a type's job.
    pub fn text(&self, machine: &Machine, seed: u64) -> String {
        match self {
            Self::Slurm(fleet, slurm) => slurm::script(fleet, slurm, machine, seed),
            Self::Kubernetes(fleet, kubernetes) => {
                kubernetes::manifest(fleet, kubernetes, machine, seed)
            }
        }
    }

    /// Submits a type's job; the engine's name for it, or why it was refused.
    pub fn submit(&self, machine: &Machine, seed: u64) -> Result<Result<String, String>, Failure> {
        let text = self.text(machine, seed);
        match self {
            Self::Slurm(fleet, _) => {
                let name = fleet.job_name(machine);
                // One that was submitted before this program was killed.
                let queued =
                    call("squeue", &["--noheader", "--me", "--name", &name, "--format=%i"], "")?;
                let queued = queued.text();
                if let Some(id) = queued.lines().next().map(str::trim).filter(|id| !id.is_empty()) {
                    return Ok(Ok(id.to_owned()));
                }
                let done = call("sbatch", &["--parsable"], &text)?;
                let id = done.text().trim().split(';').next().unwrap_or_default().to_owned();
                let is_taken = done.success && !id.is_empty();
                Ok(if is_taken { Ok(id) } else { Err(slurm::refusal(machine, &done.stderr)) })
            }
            Self::Kubernetes(fleet, _) => {
                let name = fleet.job_name(machine);
                // One that failed: a job's pods cannot be changed.
                let gone = self
                    .kubectl(&["delete", "job", &name, "--ignore-not-found", "--wait=true"], "")?;
                if !gone.success {
                    return Ok(Err(kubernetes::refusal(&gone.stderr)));
                }
                let done = self.kubectl(&["apply", "-f", "-"], &text)?;
                Ok(if done.success { Ok(name) } else { Err(kubernetes::refusal(&done.stderr)) })
            }
        }
    }

    pub fn look(&self, jobs: &[(&Machine, &Job)]) -> Result<Vec<Seen>, Failure> {
        match self {
            Self::Slurm(..) => jobs.iter().map(|(_, job)| look_at(job)).collect(),
            Self::Kubernetes(fleet, _) if !jobs.is_empty() => {
                let listed = self.list(fleet)?;
                let seen = |(machine, _): &(&Machine, &Job)| {
                    let job = fleet.job_name(machine);
                    let blind = kubernetes::seen(&listed, &job, machine, None);
                    // Only of a job that waits it matters which nodes there are.
                    let nodes =
                        (blind.phase == Phase::Waiting).then(|| self.nodes(machine)).flatten();
                    nodes.map_or(blind, |nodes| {
                        kubernetes::seen(&listed, &job, machine, Some(nodes))
                    })
                };
                Ok(jobs.iter().map(seen).collect())
            }
            Self::Kubernetes(..) => Ok(Vec::new()),
        }
    }

    pub fn fetch(&self, machine: &Machine, job: &Job) -> Result<Result<Sent, String>, Failure> {
        match self {
            Self::Slurm(fleet, slurm) => {
                let directory = slurm::directory(fleet, slurm, machine, job.seed);
                let nodes = match &job.node {
                    Some(node) => vec![node.clone()],
                    None => candidates(machine)?,
                };
                let mut why = Ok("no node of this type answers".to_owned());
                for node in nodes {
                    let asked = srun(slurm, &node, &["sh", "-c", SEND, &directory]);
                    match asked.map(|done| sent(done, Some(node.clone()))) {
                        Ok(Ok(sent)) => return Ok(Ok(sent)),
                        Ok(Err(said)) => why = why.map(|_| format!("{node}: {said}")),
                        Err(failure) => why = Err(failure),
                    }
                }
                why.map(Err)
            }
            Self::Kubernetes(fleet, _) => {
                let listed = self.list(fleet)?;
                let pod = kubernetes::pod(&listed, &fleet.job_name(machine)).map(kubernetes::name);
                let Some(pod) = pod else { return Ok(Err("its pod is gone".to_owned())) };
                let directory = kubernetes::directory(job.seed);
                let send = ["exec", pod, "-c", "hold", "--", "sh", "-c", SEND, &directory];
                Ok(sent(self.kubectl_for(&send, "", MOST_OF_RECORD)?, None))
            }
        }
    }

    /// Lets go of a job whose record is here.
    pub fn release(&self, machine: &Machine, job: &Job) -> Result<(), Failure> {
        if let Self::Kubernetes(fleet, _) = self {
            let listed = self.list(fleet)?;
            let pod = kubernetes::pod(&listed, &fleet.job_name(machine)).map(kubernetes::name);
            let fetched = format!("{}/fetched", kubernetes::directory(job.seed));
            // The pod may end before the answer comes.
            pod.map(|pod| self.kubectl(&["exec", pod, "-c", "hold", "--", "touch", &fetched], ""))
                .transpose()?;
        }
        Ok(())
    }

    /// Cancels a job. One that the engine does not know any more is cancelled.
    pub fn cancel(&self, machine: &Machine, id: &str) -> Result<(), Failure> {
        let done = match self {
            Self::Slurm(..) => call("scancel", &[id], "")?,
            Self::Kubernetes(fleet, kubernetes) => {
                let name = fleet.job_name(machine);
                let what =
                    if kubernetes.volume.is_some() { "job,persistentvolumeclaim" } else { "job" };
                self.kubectl(&["delete", what, &name, "--ignore-not-found", "--wait=false"], "")?
            }
        };
        let is_over = ["Invalid job id", "already completing or completed"];
        if done.success || is_over.iter().any(|words| done.stderr.contains(words)) {
            return Ok(());
        }
        Err(Failure::not_done(match self {
            Self::Slurm(..) => slurm::refusal(machine, &done.stderr),
            Self::Kubernetes(..) => kubernetes::refusal(&done.stderr),
        }))
    }

    /// kubectl in the file's context and namespace.
    fn kubectl(&self, arguments: &[&str], input: &str) -> Result<Done, Failure> {
        self.kubectl_for(arguments, input, MOST_OF_WORDS)
    }

    fn kubectl_for(&self, arguments: &[&str], input: &str, most: u64) -> Result<Done, Failure> {
        let Self::Kubernetes(_, kubernetes) = self else { unreachable!("Slurm has no kubectl") };
        let mut all = Vec::new();
        kubernetes.context.iter().for_each(|context| all.extend(["--context", context]));
        kubernetes.namespace.iter().for_each(|namespace| all.extend(["--namespace", namespace]));
        all.extend(arguments);
        call_for("kubectl", &all, input, most)
    }

    fn list(&self, fleet: &Fleet) -> Result<Value, Failure> {
        let labels = format!("app=ciphermark,survey={}", fleet.survey);
        let done = self.kubectl(&["get", "jobs,pods", "-l", &labels, "-o", "json"], "")?;
        if !done.success {
            return Err(Failure::not_done(kubernetes::refusal(&done.stderr)));
        }
        record::value_from_json(&done.stdout)
            .map_err(|e| Failure::not_done(format!("kubectl printed no JSON: {e}")))
    }

    /// The nodes of a type, if the user may see nodes.
    fn nodes(&self, machine: &Machine) -> Option<kubernetes::Nodes> {
        let Self::Kubernetes(_, kubernetes) = self else { return None };
        let label = format!("{}={}", kubernetes.label, machine.selector());
        let done = self.kubectl(&["get", "nodes", "-l", &label, "-o", "json"], "").ok()?;
        let listed = record::value_from_json(&done.stdout).ok().filter(|_| done.success)?;
        Some(kubernetes::Nodes::of(&listed))
    }
}

fn look_at(job: &Job) -> Result<Seen, Failure> {
    let id = job.id.as_deref().unwrap_or_default();
    let done = call("scontrol", &["--oneliner", "show", "job", id], "")?;
    if let Some(seen) = slurm::seen(&done.text()).filter(|_| done.success) {
        return Ok(seen);
    }
    if done.stderr.contains("Invalid job id") {
        let words = "Slurm has forgotten it: `gather` looks for its record on the nodes".to_owned();
        return Ok(Seen { phase: Phase::Gone, words, node: job.node.clone() });
    }
    Err(Failure::not_done(format!("scontrol: {}", done.stderr.trim())))
}

/// Nodes that may have a job's record, where nobody noted which one ran it.
fn candidates(machine: &Machine) -> Result<Vec<String>, Failure> {
    let done = call("sinfo", &["--noheader", "--Node", "--format=%N %t %f"], "")?;
    Ok(slurm::candidates(machine, &done.text()))
}

/// Runs something on a node, in a step of a job of its own.
fn srun(slurm: &fleet::Slurm, node: &str, command: &[&str]) -> Result<Done, Failure> {
    let node = format!("--nodelist={node}");
    let mut all = vec![
        "--quiet",
        "--nodes=1",
        "--ntasks=1",
        "--input=none",
        "--job-name=ciphermark-gather",
        "--chdir=/",
        IMMEDIATE,
        &node,
    ];
    all.extend(slurm.options.iter().map(String::as_str));
    all.extend(command);
    call_for("srun", &all, "", MOST_OF_RECORD)
}

/// A hash, a line's end, and the record.
fn sent(mut done: Done, node: Option<String>) -> Result<Sent, String> {
    if !done.success {
        let line = done
            .stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("nothing was sent");
        return Err(line.trim().to_owned());
    }
    let line = done.stdout.iter().position(|byte| *byte == b'\n').ok_or("nothing was sent")?;
    let sha256 = String::from_utf8_lossy(&done.stdout[..line]).into_owned();
    done.stdout.drain(..=line);
    Ok(Sent { sha256, record: done.stdout, node })
}

// Runs the scheduler's own programs.

/// How long a scheduler's program may take: `srun` waits a minute for a node, and then brings a record.
const PROGRAM_PATIENCE: Duration = Duration::from_secs(600);
/// Most bytes of what it prints: of a record, which comes unpacked (the longest so far has 91 MiB), and of all else.
const MOST_OF_RECORD: u64 = 256 << 20;
const MOST_OF_WORDS: u64 = 16 << 20;

pub struct Done {
    pub success: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Done {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { success: output.status.success(), stdout: output.stdout, stderr }
    }
}

/// Runs a program to its end, with this on its standard input.
pub fn call(program: &str, arguments: &[&str], input: &str) -> Result<Done, Failure> {
    call_for(program, arguments, input, MOST_OF_WORDS)
}

fn call_for(program: &str, arguments: &[&str], input: &str, most: u64) -> Result<Done, Failure> {
    let cannot = |e: std::io::Error| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => missing(program),
            _ => format!("cannot run {program}: {e}"),
        })
    };
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C");
    host::output(&mut command, input.as_bytes(), PROGRAM_PATIENCE, most)
        .map(Done::from)
        .map_err(cannot)
}

fn missing(program: &str) -> String {
    match program {
        "kubectl" => {
            "there is no kubectl here: install it, or run this where your cluster's is".to_owned()
        }
        _ => format!(
            "there is no {program} here: run this on a login node of the cluster, or install slurm-client"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_is_changed_by_one_program_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fleet.toml");
        std::fs::write(&path, "").unwrap();
        let first = lock(&path, Duration::ZERO).unwrap();
        assert!(first.is_some() && lock(&path, Duration::ZERO).unwrap().is_none());
        drop(first);
        assert!(lock(&path, Duration::ZERO).unwrap().is_some());
    }
}
