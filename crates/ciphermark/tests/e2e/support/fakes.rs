//! Stand-in libraries, compiled from `tests/fakes`.

use super::{arg, repository};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// `--library` for a stand-in under its own name: `early_return` gives `early_return=/…/….so`.
pub fn library(source: &str) -> String {
    variant(source, "")
}

/// The same for a stand-in with a macro defined, which becomes the name, in lower case.
pub fn variant(source: &str, define: &str) -> String {
    let name = if define.is_empty() { source } else { define.split('=').next().unwrap() };
    format!("{}={}", name.to_lowercase(), arg(&object(source, define)))
}

/// The compiled stand-in; several macros are separated by spaces.
pub fn object(source: &str, define: &str) -> PathBuf {
    type Compiled = HashMap<(String, String), Arc<OnceLock<PathBuf>>>;
    static OBJECTS: OnceLock<Mutex<Compiled>> = OnceLock::new();
    let slot = {
        let objects = OBJECTS.get_or_init(Mutex::default);
        let mut objects = objects.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(objects.entry((source.to_owned(), define.to_owned())).or_default())
    };
    slot.get_or_init(|| compile(source, define)).clone()
}

/// Compiles beside and renames, because another test process may have the object open.
fn compile(source: &str, define: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes");
    std::fs::create_dir_all(&directory).unwrap();
    let file = format!("{source}{}.so", define.replace(['=', ' '], "-").to_lowercase());
    let fresh = tempfile::NamedTempFile::new_in(&directory).unwrap().into_temp_path();
    let mut cc = compiler(&fresh);
    cc.args(["-O2", "-I"]).arg(repository("include"));
    cc.args(define.split_whitespace().map(|define| format!("-D{define}")));
    succeed(cc.arg(repository("tests/fakes").join(source).with_extension("c")));
    let object = directory.join(file);
    fresh.persist(&object).unwrap();
    object
}

/// The C compiler, about to make a shared object.
pub fn compiler(object: &Path) -> Command {
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(object);
    cc
}

/// Runs a compiler, which must be installed and content.
pub fn succeed(compiler: &mut Command) {
    let output = compiler.output().unwrap_or_else(|e| panic!("{compiler:?}: {e}"));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler:?}: {messages}");
}
