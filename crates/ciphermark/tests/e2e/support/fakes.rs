//! Stand-in libraries, compiled from `tests/fakes`.

use super::{arg, repository};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `--library` for a stand-in under its own name: `early_return` gives `early_return=/…/….so`.
pub fn library(source: &str) -> String {
    variant(source, "")
}

/// The same for a stand-in with a macro defined, which becomes the name, in lower case.
pub fn variant(source: &str, define: &str) -> String {
    let name = if define.is_empty() { source } else { define.split('=').next().unwrap() };
    format!("{}={}", name.to_lowercase(), arg(&object(source, define)))
}

/// The compiled stand-in; several macros are separated by spaces. Compiled once for all tests, until a source changes.
pub fn object(source: &str, define: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes").join(sources_hash());
    let file = format!("{source}{}.so", define.replace(['=', ' '], "-").to_lowercase());
    let object = directory.join(file);
    if !object.is_file() {
        std::fs::create_dir_all(&directory).unwrap();
        compile(source, define, &object);
    }
    object
}

/// Of all files that a stand-in may be compiled from.
fn sources_hash() -> String {
    let below = |directory: &str| std::fs::read_dir(repository(directory)).unwrap();
    let all = below("tests/fakes").chain(below("include")).map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.is_file()).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

/// Compiles beside and renames, because another test process may compile or open it, too.
fn compile(source: &str, define: &str, object: &Path) {
    let directory = object.parent().unwrap();
    let fresh = tempfile::NamedTempFile::new_in(directory).unwrap().into_temp_path();
    let mut cc = compiler(&fresh);
    cc.args(["-O2", "-I"]).arg(repository("include"));
    cc.args(define.split_whitespace().map(|define| format!("-D{define}")));
    succeed(cc.arg(repository("tests/fakes").join(source).with_extension("c")));
    fresh.persist(object).unwrap();
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
