//! A survey on many machines, one exclusive job for each machine type. Here is what is pure: FLEET.toml, the
//! state of a survey between two calls, and, one module for each, scripts or manifests for a scheduler and
//! its answers in words. `commands/fleet` runs the programs.

pub mod kubernetes;
pub mod slurm;

use base::text::flags::parse_duration;
use base::text::{Prices, shell_word};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Waiting,
    Running,
    /// Its record can be gathered.
    Done,
    /// It ended without a record, or was never taken.
    Failed,
    /// The engine does not know it any more.
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub phase: Phase,
    pub words: String,
    /// Where it runs or ran.
    pub node: Option<String>,
}

impl Seen {
    fn new(phase: Phase, words: impl Into<String>) -> Self {
        Self { phase, words: words.into(), node: None }
    }

    fn on(self, node: Option<&str>) -> Self {
        Self { node: node.map(ToOwned::to_owned), ..self }
    }
}

/// What the node says when its own part fails, by the exit code of the script, beside ciphermark's own.
const NO_DIRECTORY: i32 = 73;
const NO_PROGRAM: i32 = 72;

fn code(code: i32) -> String {
    match code {
        2 => "exit code 2: ciphermark refused the arguments".to_owned(),
        4 => "exit code 4: ciphermark could not measure".to_owned(),
        130 | 143 => "it was interrupted".to_owned(),
        137 => "it was killed (SIGKILL): out of memory, or by hand".to_owned(),
        NO_PROGRAM => "there is no ciphermark on the node: check `program`".to_owned(),
        NO_DIRECTORY => {
            "the node's directory takes no files: no space, or no rights; check `directory`"
                .to_owned()
        }
        code if code > 128 => format!("it was killed by signal {}", code - 128),
        code => format!("exit code {code}"),
    }
}

/// What a job does, in both engines: resumes where an earlier part stopped, and leaves the record with its hash. `run` is
/// the program as the shell is to call it, `directory` where journal and record are kept.
///
/// `record.json.sha256` comes last: whoever finds it finds the whole record. Exit code 3, some cases were refused, is a
/// record like any other.
fn measure(fleet: &Fleet, seed: u64, run: &str, directory: &str) -> String {
    let arguments: Vec<String> = fleet.arguments.iter().map(|a| shell_word(a)).collect();
    let arguments = arguments.join(" ");
    format!(
        r#"directory={directory}
mkdir -p "$directory" && [ -O "$directory" ] && [ ! -L "$directory" ] && : >"$directory/.try" || exit {NO_DIRECTORY}
rm -f "$directory/.try"
cd "$directory" || exit {NO_DIRECTORY}
if [ ! -e record.json.sha256 ]; then
  code=0
  if [ -e record.json.partial ]; then
    {run} run --quiet --resume record.json >answer.txt || code=$?
  elif [ ! -e record.json ]; then
    {run} run --quiet {arguments} --seed {seed} -o record.json >answer.txt || code=$?
  fi
  [ $code = 0 ] || [ $code = 3 ] || exit $code
  sha256sum record.json | cut -d ' ' -f 1 >.sha256 && mv .sha256 record.json.sha256 || exit {NO_DIRECTORY}
fi
"#,
        directory = shell_word(directory)
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Slurm,
    Kubernetes,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// Names the survey's jobs: lower-case letters, digits, dashes.
    pub survey: String,
    pub engine: Engine,
    /// Of `ciphermark run`.
    #[serde(default)]
    pub arguments: Vec<String>,
    #[serde(default = "two_hours")]
    time: String,
    /// Where gathered records go, seen from FLEET.toml.
    #[serde(default = "records")]
    records: PathBuf,
    /// A CSV file of prices, seen from FLEET.toml.
    prices: Option<PathBuf>,
    /// An SSH key that signs what is gathered, seen from FLEET.toml.
    key: Option<PathBuf>,
    pub slurm: Option<Slurm>,
    pub kubernetes: Option<Kubernetes>,
    #[serde(rename = "machine", default)]
    machines: Vec<Spanned<Machine>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slurm {
    /// On every node: the program, or a package's tarball, which a job unpacks.
    #[serde(default = "program")]
    pub program: String,
    /// On every node: where journals and records are kept. It need not be shared.
    #[serde(default = "var_tmp")]
    pub directory: String,
    /// Of `sbatch` and `srun`: --partition=…, --account=….
    #[serde(default)]
    pub options: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kubernetes {
    /// The image that `make packages` builds, where the cluster pulls it from.
    pub image: String,
    /// The kubectl context; its current one if absent.
    pub context: Option<String>,
    /// The namespace; the context's if absent.
    pub namespace: Option<String>,
    /// The label of nodes that names their type.
    #[serde(default = "instance_type")]
    pub label: String,
    /// A claim of this size keeps the journal when a pod is evicted (10Gi); without, a new pod begins anew.
    pub volume: Option<String>,
    pub storage_class: Option<String>,
    /// How long a finished pod keeps its record for `gather`.
    #[serde(default = "an_hour")]
    pub keep: String,
    /// CPUs that a pod asks for: as many as the type's nodes have free keep others away.
    #[serde(default = "one")]
    pub cpu: String,
    #[serde(default = "memory")]
    pub memory: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its name, in the store and in prices.
    #[serde(rename = "type")]
    pub name: String,
    /// What the engine knows it by, if not by its name: a feature of Slurm's, a label's value of Kubernetes'.
    pub select: Option<String>,
    /// Read by [`Prices`].
    #[serde(rename = "region")]
    _region: Option<String>,
    #[serde(rename = "price_per_hour")]
    _price_per_hour: Option<f64>,
    #[serde(rename = "currency")]
    _currency: Option<String>,
    #[serde(rename = "date")]
    _date: Option<toml::Value>,
}

fn two_hours() -> String {
    "2h".to_owned()
}

fn an_hour() -> String {
    "1h".to_owned()
}

fn records() -> PathBuf {
    PathBuf::from("records")
}

fn program() -> String {
    "/usr/bin/ciphermark".to_owned()
}

fn var_tmp() -> String {
    "/var/tmp".to_owned()
}

fn instance_type() -> String {
    "node.kubernetes.io/instance-type".to_owned()
}

fn one() -> String {
    "1".to_owned()
}

fn memory() -> String {
    "512Mi".to_owned()
}

impl Machine {
    /// What the engine selects nodes by.
    pub fn selector(&self) -> &str {
        self.select.as_deref().unwrap_or(&self.name)
    }

    /// Its name as a part of names of jobs and files.
    pub fn slug(&self) -> String {
        slug(&self.name)
    }
}

fn slug(name: &str) -> String {
    let dashed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(dashed).collect::<String>().trim_matches('-').to_owned()
}

/// Names of jobs are labels of Kubernetes, which are this long at most (RFC 1123).
const MOST_CHARS: usize = 63;
/// What this program gives by itself.
const OWN: [&str; 7] = ["-o", "--output", "--resume", "--seed", "--format", "-q", "--quiet"];

impl Fleet {
    pub fn parse(text: &str) -> Result<Self, String> {
        let fleet: Self = base::text::from_toml(text).map_err(|e| e.to_string())?;
        Prices::from_toml(text).map_err(|e| e.to_string())?;
        let at_key = |key: &str, why: String| format!("line {}: {why}", line_of(text, key));
        if fleet.survey.is_empty() || slug(&fleet.survey) != fleet.survey {
            let why = format!(
                "'{}' is no name of a survey: lower-case letters, digits, dashes",
                fleet.survey
            );
            return Err(at_key("survey", why));
        }
        for (key, time) in
            [("time", Some(&fleet.time)), ("keep", fleet.kubernetes.as_ref().map(|k| &k.keep))]
        {
            let wrong = time.and_then(|time| parse_duration(time).err());
            wrong.map_or(Ok(()), |why| Err(at_key(key, format!("{key}: {why}"))))?;
        }
        let own =
            |a: &&String| OWN.iter().any(|own| *a == own || a.starts_with(&format!("{own}=")));
        if let Some(given) = fleet.arguments.iter().find(own) {
            return Err(at_key("arguments", format!("'{given}' is given by `fleet` itself")));
        }
        let missing = match fleet.engine {
            Engine::Slurm if fleet.slurm.is_none() => Some("[slurm]"),
            Engine::Kubernetes if fleet.kubernetes.is_none() => Some("[kubernetes] with `image`"),
            _ => None,
        };
        if let Some(table) = missing {
            return Err(at_key("engine", format!("the engine needs a table {table}")));
        }
        if let Some(slurm) = fleet
            .slurm
            .as_ref()
            .filter(|s| !s.directory.starts_with('/') || !s.program.starts_with('/'))
        {
            let why = format!(
                "'{}' and '{}': paths on the nodes begin with /",
                slurm.program, slurm.directory
            );
            return Err(at_key("[slurm]", why));
        }
        fleet.check_machines(text)?;
        Ok(fleet)
    }

    fn check_machines(&self, text: &str) -> Result<(), String> {
        if self.machines.is_empty() {
            return Err("line 1: no [[machine]]: name at least one type".to_owned());
        }
        let mut seen = BTreeMap::new();
        for spanned in &self.machines {
            let machine = spanned.get_ref();
            let line = 1 + text[..spanned.span().start].matches('\n').count();
            let job = self.job_name(machine);
            if machine.slug().is_empty() || job.len() > MOST_CHARS {
                return Err(format!(
                    "line {line}: '{job}' is no name of a job: {MOST_CHARS} characters at most"
                ));
            }
            if !machine.selector().chars().all(|c| c.is_ascii_graphic()) {
                return Err(format!(
                    "line {line}: '{}' is nothing to select nodes by",
                    machine.selector()
                ));
            }
            if let Some(other) = seen.insert(machine.slug(), machine.name.clone()) {
                return Err(format!(
                    "line {line}: '{}' has the name of '{other}': each type once",
                    machine.name
                ));
            }
        }
        Ok(())
    }

    /// Every machine type, in the file's order.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().map(Spanned::get_ref)
    }

    pub fn job_name(&self, machine: &Machine) -> String {
        format!("ciphermark-{}-{}", self.survey, machine.slug())
    }

    pub fn time(&self) -> Duration {
        parse_duration(&self.time).expect("it was read before")
    }

    pub fn records(&self, file: &Path) -> PathBuf {
        beside(file, &self.records)
    }

    pub fn prices(&self, file: &Path) -> Option<PathBuf> {
        self.prices.as_deref().map(|path| beside(file, path))
    }

    pub fn key(&self, file: &Path) -> Option<PathBuf> {
        self.key.as_deref().map(|path| beside(file, path))
    }
}

fn beside(file: &Path, path: &Path) -> PathBuf {
    let path = path.to_str().map_or_else(|| path.to_owned(), record::expanded);
    file.parent().unwrap_or(Path::new("")).join(path)
}

/// The first line that begins with a key; 1 where there is none.
fn line_of(text: &str, key: &str) -> usize {
    let begins = |line: &str| line.trim_start().starts_with(key);
    text.lines().position(begins).map_or(1, |at| at + 1)
}

// What is known of a survey between two calls: a file beside FLEET.toml.

const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    version: u32,
    pub survey: String,
    /// One for each machine type that was submitted.
    pub jobs: Vec<Job>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub machine_type: String,
    /// The run's seed: a record with another one is not this job's.
    pub seed: u64,
    pub given: String,
    /// The engine's name for it; `None` where it was not taken.
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Where it ran, once that is known: Slurm forgets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gathered: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
}

const MOST_OF_STATE: u64 = 16 << 20;

impl State {
    pub fn new(survey: &str) -> Self {
        Self { version: VERSION, survey: survey.to_owned(), jobs: Vec::new() }
    }

    /// Where the state of a survey is kept, unless the user says where.
    pub fn path(fleet: &Path) -> PathBuf {
        fleet.with_extension("state.json")
    }

    /// Reads the state; `None` where there is no file.
    pub fn load(path: &Path) -> Result<Option<Self>, String> {
        let shown = path.display();
        let text = match record::read_most(path, MOST_OF_STATE) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(format!("'{shown}' has more than 16 MiB")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("cannot read '{shown}': {e}")),
        };
        let state: Self = serde_json::from_slice(&text)
            .map_err(|e| format!("'{shown}' is no state of a survey: {e}"))?;
        if state.version != VERSION {
            return Err(format!(
                "'{shown}' has version {}; this program reads {VERSION}",
                state.version
            ));
        }
        Ok(Some(state))
    }

    /// Writes it: at every moment the old one or the new one is there, whole.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        let text = record::pretty(self);
        record::write_file(path, text.as_bytes())
            .map_err(|e| format!("cannot write '{}': {e}", path.display()))
    }

    pub fn job(&self, machine: &Machine) -> Option<&Job> {
        self.jobs.iter().find(|job| job.machine_type == machine.name)
    }

    /// Notes a job in the place of an earlier one of its type.
    pub fn put(&mut self, job: Job) {
        match self.jobs.iter_mut().find(|other| other.machine_type == job.machine_type) {
            Some(other) => *other = job,
            None => self.jobs.push(job),
        }
    }

    /// Each machine type of the file with its job.
    pub fn with<'a>(
        &'a self,
        fleet: &'a Fleet,
    ) -> impl Iterator<Item = (&'a Machine, Option<&'a Job>)> {
        fleet.machines().map(|machine| (machine, self.job(machine)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{kubernetes, slurm};
    use base::text::fixtures::says;
    use serde_json::{Value, json};

    const SLURM: &str = include_str!("../../../../docs/examples/fleet/slurm.toml");
    const KUBERNETES: &str = include_str!("../../../../docs/examples/fleet/kubernetes.toml");

    fn slurm() -> Fleet {
        Fleet::parse(SLURM).unwrap()
    }

    fn why(text: &str) -> String {
        Fleet::parse(text).unwrap_err()
    }

    /// The lines of a table, apart at its bars.
    fn table<const N: usize>(text: &str) -> Vec<[String; N]> {
        let cell = |text: &str| text.trim().replace("\\n", "\n");
        let row = |line: &str| Vec::from_iter(line.split('|').map(cell)).try_into().unwrap();
        text.trim().lines().map(row).collect()
    }

    /// What stands in the example, what stands there instead, and what is said of it.
    const BROKEN: &str = r#"
        "2026-12"                 | "Dec 26"                | line 2: 'Dec 26' is no name of a survey
        "slurm"                   | "nomad"                 | line 3: unknown variant `nomad`
        engine = "slurm"          | engine = "kubernetes"   | line 3: the engine needs a table [kubernetes]
        "30m"                     | "long"                  | line 5: time: write a time
        ["--suite", "quick"]      | ["--seed", "1"]         | line 4: '--seed' is given by `fleet` itself
        ["--suite", "quick"]      | ["--output=x"]          | line 4: '--output=x' is given
        "/var/tmp"                | "tmp"                   | line 7:
        type = "c7i.large"        | type = "C7a-large"      | line 20: 'C7a-large' has the name of 'c7a.large'
        type = "c7i.large"        | typ = "c7i.large"       | line 21: unknown field `typ`
        select = "c7i"            | select = "c7 i"         | line 20: 'c7 i' is nothing to select nodes by
        price_per_hour = 0.1026   | price_per_hour = -1.0   | line 12: -1 is no price
    "#;

    #[test]
    fn what_is_no_survey_is_one_line_with_its_place() {
        for [from, to, said] in table(BROKEN) {
            assert!(SLURM.contains(&from), "{from}");
            let why = why(&SLURM.replacen(&from, &to, 1));
            assert!(why.starts_with(&said) && why.lines().count() == 1, "{from} → {to}: {why}");
        }
        assert!(why(SLURM.split("[[machine]]").next().unwrap()).contains("no [[machine]]"));
        let long = SLURM.replace("2026-12", &"x".repeat(60));
        assert!(why(&long).contains("63 characters at most"), "{}", why(&long));
    }

    #[test]
    fn names_that_a_shell_or_yaml_would_read_as_code_stay_names() {
        let text = SLURM.replace("[\"--suite\", \"quick\"]", "[\"-a\", \"aes-*'$(id)\"]");
        let fleet = Fleet::parse(&text).unwrap();
        let machine = fleet.machines().next().unwrap();
        let script = slurm::script(&fleet, fleet.slurm.as_ref().unwrap(), machine, 1);
        assert!(script.contains(r"'-a' 'aes-*'\''$(id)' --seed 1"), "{script}");
        let text = KUBERNETES.replace("1700m", "1, memory: 9Ti");
        let fleet = Fleet::parse(&text).unwrap();
        let manifest = kubernetes::manifest(&fleet, fleet.kubernetes.as_ref().unwrap(), machine, 1);
        assert!(manifest.contains("cpu: \"1, memory: 9Ti\","), "{manifest}");
    }

    #[test]
    fn a_tarball_is_unpacked_on_the_node() {
        let fleet =
            Fleet::parse(&SLURM.replace("bin/ciphermark\"", "ciphermark-0.1.0.tar.xz\"")).unwrap();
        let machine = fleet.machines().next().unwrap();
        let script = slurm::script(&fleet, fleet.slurm.as_ref().unwrap(), machine, 5);
        says(&script, ["tar -x -f '/opt/ciphermark/ciphermark-0.1.0.tar.xz' -C"]);
        says(&script, ["ciphermark-2026-12-c7a-large-5'/program/*/bin/ciphermark run"]);
    }

    /// What `scontrol --oneliner show job` of Slurm 22.05 prints, shortened.
    fn job(state: &str, more: &str) -> String {
        format!(
            "JobId=3 JobName=ciphermark-a-m8g UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901757 Nice=0 \
         Account=(null) QOS=(null) JobState={state} {more} Requeue=1 BatchFlag=1 TimeLimit=00:10:00 \
         ReqNodeList=(null) ExcNodeList=(null) Features=m8g Command=(null) WorkDir=/var/tmp"
        )
    }

    /// State, reason, restarts, exit code and node of a job; its phase; its words.
    const OF_SLURM: &str = "
        PENDING Priority 0 0:0 -                            | Waiting | waits for a machine
        PENDING Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions 0 0:0 (null) | Waiting | waits: the nodes of this type are down or drained
        PENDING ReqNodeNotAvail,_UnavailableNodes:n3 0 0:0 (null) | Waiting | waits: the nodes of this type are down or drained
        PENDING BeginTime 1 0:0 (null)                      | Waiting | waits: it was requeued, and Slurm starts it again in some two minutes, requeued once
        PENDING launch_failed_requeued_held 2 0:0 (null)    | Waiting | held (launch_failed_requeued_held): `scontrol release` lets it go on, requeued 2 times
        RUNNING None 0 0:0 n3                               | Running | measures on n3
        COMPLETED None 1 0:0 n3                             | Done | done on n3, requeued once: gather it
        FAILED NonZeroExitCode 0 72:0 n3                    | Failed | failed on n3: there is no ciphermark on the node: check `program`
        FAILED NonZeroExitCode 0 73:0 n3                    | Failed | failed on n3: the node's directory takes no files: no space, or no rights; check `directory`
        FAILED NonZeroExitCode 0 137:0 n3                   | Failed | failed on n3: it was killed (SIGKILL): out of memory, or by hand
        FAILED RaisedSignal:9(Killed) 0 0:9 n3              | Failed | failed on n3: it was killed (SIGKILL): out of memory, or by hand
        TIMEOUT TimeLimit 0 0:15 n3                         | Failed | killed on n3: it took longer than `time`
        NODE_FAIL NodeDown 0 0:0 n3                         | Failed | its node went down on n3
        CANCELLED None 0 0:0 n3                             | Failed | cancelled
        PENDING PartitionTimeLimit 0 0:0 (null)             | Waiting | waits for ever: `time` is longer than the partition allows
    ";

    #[test]
    fn slurms_answers_are_plain_words() {
        for [of, phase, words] in table(OF_SLURM) {
            let [state, reason, restarts, code, node] = Vec::from_iter(of.split(' '))[..] else {
                panic!("{of}")
            };
            let list = if node == "-" { "" } else { node };
            let more =
                format!("Reason={reason} Restarts={restarts} ExitCode={code} NodeList={list}");
            let seen = slurm::seen(&job(state, &more)).unwrap();
            assert_eq!((format!("{:?}", seen.phase), seen.words), (phase, words), "{of}");
            assert_eq!(seen.node.as_deref(), (node == "n3").then_some("n3"), "{of}");
        }
        assert_eq!(slurm::seen("slurm_load_jobs error: Invalid job id specified"), None);
    }

    /// How the program ends what it says of a job that it does not take, and what we say.
    const REFUSED: &str = "
        Invalid feature specification | unknown type: no node of the cluster has the feature 'c7a'
        Requested node configuration is not available | unknown type:
        Invalid partition name specified | Batch job submission failed: Invalid partition name specified: check `options`
        User's group not permitted to use this partition | no rights: Batch job
        Access/permission denied | no rights:
        Unable to contact slurm controller (connect failure) | the cluster's controller does not answer
    ";

    #[test]
    fn slurms_refusals_name_the_remedy() {
        let fleet = slurm();
        let machine = fleet.machines().next().unwrap();
        for [why, words] in table(REFUSED) {
            let before = "sbatch: error: invalid partition specified: bench\n";
            let before = if why.contains("partition name") { before } else { "" };
            let said = format!("{before}sbatch: error: Batch job submission failed: {why}\n");
            let found = slurm::refusal(machine, &said);
            assert!(found.starts_with(&words) && found.lines().count() == 1, "{said}: {found}");
        }
        assert!(slurm::refusal(machine, "").starts_with("Slurm said nothing"));
        let listed = "n1 idle c7a,nvme\nn1 idle c7a,nvme\nn2 mix c7a\nn3 down* c7a\nn4 idle c7i\nn5 idle* c7a\nn6 drain c7a\n";
        assert_eq!(slurm::candidates(machine, listed), ["n1", "n2"]);
    }

    fn listed(items: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "List", "items": items})
    }

    fn pod(created: &str, status: Value) -> Value {
        json!({"kind": "Pod", "metadata": {"name": format!("p-{created}"), "creationTimestamp": created,
        "labels": {"job-name": "ciphermark-2026-12-c7a-large"}},
        "spec": {"nodeName": "n1", "initContainers": [{"image": "r/c:1"}]}, "status": status})
    }

    /// A job's condition, its pod's status, nodes that are ready of those that there are; the phase; the words.
    const OF_KUBERNETES: &str = r#"
        - | unscheduled | 0 of 0 | Waiting | waits: unknown type, or none is up yet: no node is labelled 'c7a.large'
        - | unscheduled | 0 of 2 | Waiting | waits: the nodes of this type are down
        - | unscheduled | - | Waiting | waits for a node: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.
        - | init {"waiting": {"reason": "ImagePullBackOff"}} | - | Waiting | waits: the node cannot pull the image 'r/c:1' (ImagePullBackOff)
        - | init {"running": {}} | - | Running | measures on n1
        - | {"phase": "Running"} | - | Done | done on n1: gather it
        - | {"phase": "Succeeded"} | - | Failed | its pod ended before the record was gathered: raise `keep`
        - | terminated {"reason": "Error", "exitCode": 143} | - | Waiting | failed: it was interrupted; it is tried again
        over | terminated {"reason": "OOMKilled", "exitCode": 137} | - | Failed | killed: out of memory, raise `memory`
        over | terminated {"reason": "Error", "exitCode": 73} | - | Failed | failed: the node's directory takes no files: no space, or no rights; check `directory`
        over | {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."} | - | Failed | evicted: no space on the node: The node was low on resource: ephemeral-storage.
        late | init {"running": {}} | - | Failed | killed: it took longer than `time`
    "#;

    fn status(of: &str) -> Value {
        let json = |text| serde_json::from_str::<Value>(text).unwrap();
        let init = |phase, state: Value| json!({"phase": phase, "initContainerStatuses": [{"state": state}]});
        match of.split_once(' ') {
            None => {
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."}]})
            }
            Some(("init", state)) => init("Pending", json(state)),
            Some(("terminated", state)) => init("Failed", json!({"terminated": json(state)})),
            Some(_) => json(of),
        }
    }

    #[test]
    fn kubernetes_answers_are_plain_words() {
        let fleet = Fleet::parse(KUBERNETES).unwrap();
        let machine = fleet.machines().next().unwrap();
        let name = fleet.job_name(machine);
        for [conditions, of, nodes, phase, words] in table(OF_KUBERNETES) {
            let conditions = match &*conditions {
                "over" => {
                    json!([{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}])
                }
                "late" => {
                    json!([{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}])
                }
                _ => json!([]),
            };
            let nodes = nodes.split_once(" of ").map(|(ready, all)| kubernetes::Nodes {
                all: all.parse().unwrap(),
                ready: ready.parse().unwrap(),
            });
            // An older pod says nothing any more.
            let all = listed(json!([
                {"kind": "Job", "metadata": {"name": name}, "status": {"conditions": conditions}},
                pod("2026-12-01T00:00:00Z", json!({"phase": "Failed"})),
                pod("2026-12-01T00:05:00Z", status(&of))
            ]));
            let seen = kubernetes::seen(&all, &name, machine, nodes);
            assert_eq!((format!("{:?}", seen.phase), seen.words), (phase, words), "{of}");
        }
        let gone = kubernetes::seen(&listed(json!([])), &name, machine, None);
        assert_eq!(gone.phase, Phase::Gone);
        let ready =
            |status| json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        let nodes = listed(json!([ready("True"), ready("Unknown")]));
        assert_eq!(kubernetes::Nodes::of(&nodes), kubernetes::Nodes { all: 2, ready: 1 });
    }

    #[test]
    fn kubectls_errors_name_the_remedy() {
        let errors = r#"
            Error from server (Forbidden): error when creating "STDIN": jobs.batch is forbidden: User "x" cannot create resource "jobs" | no rights: (Forbidden)
            error: You must be logged in to the server (Unauthorized) | no rights: error: You must be logged in
            Error from server (NotFound): error when creating "STDIN": namespaces "bench" not found | no such namespace:
            The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\nUnable to connect to the server | the cluster does not answer:
            error: context "x" does not exist | error: context "x" does not exist: check `context`
        "#;
        for [said, words] in table(errors) {
            let found = kubernetes::refusal(&said);
            assert!(found.starts_with(&words), "{said}: {found}");
        }
        assert!(kubernetes::refusal("").starts_with("kubectl said nothing"));
    }

    #[test]
    fn a_state_comes_back_as_it_was_saved_and_no_other_file_is_taken_for_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = State::path(&directory.path().join("fleet.toml"));
        assert_eq!(path.file_name().unwrap(), "fleet.state.json");
        assert_eq!(State::load(&path), Ok(None));
        let mut state = State::new("2026-12");
        let job = Job {
            machine_type: "c7a.large".to_owned(),
            seed: u64::MAX,
            given: "2026-12-01T00:00:00Z".to_owned(),
            id: Some("3".to_owned()),
            ..Job::default()
        };
        state.put(job.clone());
        state.put(Job { cancelled: true, ..job });
        state.save(&path).unwrap();
        assert_eq!(State::load(&path), Ok(Some(state.clone())));
        assert_eq!(state.jobs.len(), 1);
        std::fs::write(&path, "{}").unwrap();
        assert!(State::load(&path).unwrap_err().contains("is no state of a survey"));
    }
}
