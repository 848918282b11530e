//! What several tests look at is made once in a run of all tests, although the runner starts each in a process of its own.

use super::company;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Older ones are of runs that have ended.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What `make` gives to the first test of this run that asks for it by this name.
pub fn shared(name: &str, make: impl FnOnce() -> Value) -> Value {
    // Without that runner all tests are in one process, and whoever calls this keeps it.
    let Some(run) = std::env::var_os("NEXTEST_RUN_ID") else { return make() };
    let _turn = company::lock(name);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared");
    let file = all.join(run).join(name).with_extension("json");
    if let Ok(text) = std::fs::read_to_string(&file) {
        return serde_json::from_str(&text).unwrap();
    }
    let made = make();
    let directory = file.parent().unwrap();
    std::fs::create_dir_all(directory).unwrap();
    forget_older(&all);
    let mut whole = tempfile::NamedTempFile::new_in(directory).unwrap();
    serde_json::to_writer(&mut whole, &made).unwrap();
    whole.persist(&file).unwrap();
    made
}

fn forget_older(all: &Path) {
    let age = |run: &PathBuf| run.metadata().ok()?.modified().ok()?.elapsed().ok();
    let runs = std::fs::read_dir(all).unwrap().flatten().map(|run| run.path());
    for old in runs.filter(|run| age(run).is_some_and(|age| age > DAY)) {
        // Another test may be at it, too.
        let _ = std::fs::remove_dir_all(old);
    }
}
