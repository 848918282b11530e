//! FLEET.toml.

use base::text::Prices;
use base::text::units::parse_duration;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// Who schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Slurm,
    Kubernetes,
}

/// A survey of machine types.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// Names the survey's jobs: lower-case letters, digits, dashes.
    pub survey: String,
    /// Who schedules.
    pub engine: Engine,
    /// Of `ciphermark run`.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Most time of a job.
    #[serde(default = "two_hours")]
    time: String,
    /// Where gathered records go, seen from FLEET.toml.
    #[serde(default = "records")]
    records: PathBuf,
    /// A CSV file of prices, seen from FLEET.toml.
    prices: Option<PathBuf>,
    /// An SSH key that signs what is gathered, seen from FLEET.toml.
    key: Option<PathBuf>,
    /// What Slurm needs to know.
    pub slurm: Option<Slurm>,
    /// What Kubernetes needs to know.
    pub kubernetes: Option<Kubernetes>,
    #[serde(rename = "machine", default)]
    machines: Vec<Spanned<Machine>>,
}

/// What Slurm needs to know.
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

/// What Kubernetes needs to know.
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
    /// The claim's storage class.
    pub storage_class: Option<String>,
    /// How long a finished pod keeps its record for `gather`.
    #[serde(default = "an_hour")]
    pub keep: String,
    /// CPUs that a pod asks for: as many as the type's nodes have free keep others away.
    #[serde(default = "one")]
    pub cpu: String,
    /// Memory that it asks for.
    #[serde(default = "memory")]
    pub memory: String,
}

/// A machine type.
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
    /// Reads FLEET.toml.
    ///
    /// # Errors
    /// One line with the place.
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

    /// What a type's job is called.
    pub fn job_name(&self, machine: &Machine) -> String {
        format!("ciphermark-{}-{}", self.survey, machine.slug())
    }

    /// Most time of a job.
    pub fn time(&self) -> Duration {
        parse_duration(&self.time).expect("it was read before")
    }

    /// Where gathered records go.
    pub fn records(&self, file: &Path) -> PathBuf {
        beside(file, &self.records)
    }

    /// The file of prices.
    pub fn prices(&self, file: &Path) -> Option<PathBuf> {
        self.prices.as_deref().map(|path| beside(file, path))
    }

    /// The key that signs.
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
