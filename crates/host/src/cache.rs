//! What earlier runs found on this machine: the throughput probe's quiet rates, and where the user's programs
//! keep what they can find out again. A run knows a quiet core by the quietest moments that it saw. Where a
//! neighbour is busy from its beginning to its end there are none, and what it takes for quiet is not: results
//! a third too slow would pass for clean. The rate is a fact of the core, so what an earlier run saw still
//! holds.

use crate::{machine_hash, text_hash};
use record::Cpu;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Raised when the probe changes, and with it what it gives on a quiet core.
const VERSION: u32 = 4;
/// Rates that are kept of a CPU: the highest of all runs.
const KEPT: usize = 5;
/// Which of them counts, from the top: a single run that read too much is not believed, as it would
/// have every later sample called contended.
const BELIEVED: usize = 1;
/// More than any core retires in a cycle: what lies above was not written by this program.
const MOST: f64 = 16.0;

/// What earlier runs found, and the file that it is kept in.
#[derive(Debug)]
pub struct Remembered {
    path: Option<PathBuf>,
    kept: Kept,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    /// Which processor, in words.
    processor: String,
    /// Rates of each CPU, the highest first.
    #[serde(default)]
    cpus: BTreeMap<String, Vec<f64>>,
}

impl Remembered {
    /// What is known of the processor that a CPU of this machine belongs to; nothing where caches are
    /// switched off (`CIPHERMARK_CACHE` is empty) or what was kept cannot be read.
    pub fn here(cpu: u32) -> Self {
        Self::at(cache_directory("quiet"), processor(&crate::facts(cpu).cpu))
    }

    fn at(directory: Option<PathBuf>, processor: String) -> Self {
        // One file each, for a home directory may be many machines'.
        let path = directory.map(|d| d.join(format!("{}.toml", text_hash(&processor))));
        let empty = Kept { version: VERSION, processor, cpus: BTreeMap::new() };
        let read = || {
            let kept: Kept = toml::from_str(&std::fs::read_to_string(path.as_ref()?).ok()?).ok()?;
            let sound = |rates: &Vec<f64>| rates.iter().all(|r| (0.0..MOST).contains(r));
            let same = (kept.version, &kept.processor) == (empty.version, &empty.processor);
            (same && kept.cpus.values().all(sound)).then_some(kept)
        };
        let kept = read().unwrap_or(empty);
        Self { path, kept }
    }

    /// Independent instructions per core cycle on a CPU's quiet core; 0 where no earlier run saw it.
    pub fn of(&self, cpu: u32) -> f64 {
        let kept = self.kept.cpus.get(&cpu.to_string());
        let believed = kept.and_then(|rates| rates.get(BELIEVED).or(rates.last()));
        believed.copied().unwrap_or(0.0)
    }

    /// Keeps what a run found of a CPU. Nothing that goes wrong is an error: what is not kept is found
    /// again.
    pub fn keep(&mut self, cpu: u32, rate: f64) {
        if !(rate > 0.0 && rate < MOST) {
            return;
        }
        let rates = self.kept.cpus.entry(cpu.to_string()).or_default();
        rates.push(rate);
        rates.sort_by(|a, b| b.total_cmp(a));
        rates.truncate(KEPT);
        let _ = self.write();
    }

    fn write(&self) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = toml::to_string(&self.kept).map_err(std::io::Error::other)?;
        let directory = path.parent().expect("a file in a directory");
        std::fs::create_dir_all(directory)?;
        // Renamed, so that a run beside this one reads all of it or nothing.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.persist(path)?;
        Ok(())
    }
}

/// What a quiet rate hangs on: the kind of core and its microcode, and the machine, whose hypervisor
/// may have another clock.
fn processor(cpu: &Cpu) -> String {
    let Cpu { name, vendor, family, model, stepping, microcode, .. } = cpu;
    let microcode = microcode.as_deref().unwrap_or("unknown");
    let machine = machine_hash().unwrap_or_default();
    format!("{vendor} {name} {family}-{model}-{stepping} microcode {microcode} machine {machine}")
}

/// `$CIPHERMARK_CACHE/NAME`, else `ciphermark/NAME` in the user's directory for caches (XDG Base
/// Directory Specification 0.8); none when the variable is empty or there is no such directory.
pub fn cache_directory(name: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let users = || {
        let named = variable("XDG_CACHE_HOME").filter(absolute);
        let caches = named.or_else(|| Some(variable("HOME").filter(absolute)?.join(".cache")));
        Some(caches?.join("ciphermark"))
    };
    let base = match variable("CIPHERMARK_CACHE") {
        Some(path) => Some(path).filter(|p| !p.as_os_str().is_empty()),
        None => users(),
    };
    Some(base?.join(name))
}

/// Whether a name is that of an entry: a hash, whole or its first half of 64 bits. Nothing else there is this program's.
pub fn is_cache_entry(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
    stem.len() >= 16 && stem.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(directory: &tempfile::TempDir) -> Remembered {
        Remembered::at(Some(directory.path().join("quiet")), "a processor".to_owned())
    }

    #[test]
    fn what_one_run_found_the_next_one_knows() {
        let directory = tempfile::tempdir().unwrap();
        let mut first = at(&directory);
        assert_eq!(first.of(3), 0.0);
        first.keep(3, 5.0);
        assert_eq!(at(&directory).of(3), 5.0);
        assert_eq!(at(&directory).of(0), 0.0);
    }

    #[test]
    fn busy_runs_are_forgotten_first_and_a_single_rate_that_is_too_high_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        for rate in [5.0, 5.1, 3.0, 3.1, 9.0, 3.0, 3.2, 3.0, 3.0, 3.0] {
            at(&directory).keep(0, rate);
        }
        assert_eq!(at(&directory).of(0), 5.1);
        assert_eq!(at(&directory).kept.cpus["0"], [9.0, 5.1, 5.0, 3.2, 3.1]);
    }

    #[test]
    fn other_processors_and_what_this_program_did_not_write_count_for_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut one = at(&directory);
        one.keep(0, 5.0);
        let other = Remembered::at(Some(directory.path().join("quiet")), "another".to_owned());
        assert_eq!(other.of(0), 0.0);
        let path = one.path.clone().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for wrong in ["", "torn = [", &text.replace("5.0", "500.0"), &text.replace("5.0", "nan")] {
            std::fs::write(&path, wrong).unwrap();
            assert_eq!(at(&directory).of(0), 0.0, "{wrong}");
        }
        // What no core gives is not kept; what one gives is, though the file was spoilt.
        one.keep(0, f64::NAN);
        one.keep(0, 99.0);
        assert_eq!(at(&directory).of(0), 0.0);
        one.keep(0, 4.9);
        assert_eq!(at(&directory).kept.cpus["0"], [5.0, 4.9]);
    }

    #[test]
    fn without_a_directory_nothing_is_kept_and_nothing_is_wrong() {
        let mut nowhere = Remembered::at(None, "a processor".to_owned());
        nowhere.keep(0, 5.0);
        assert_eq!(nowhere.of(0), 5.0);
    }
}
