//! Objects that speak the interface, compiled from the repository's C sources and loaded.

#[cfg(test)]
mod objects;
use contract::Library;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn compiler() -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(repository("include"));
    command
}

/// A shared object that is deleted with this value; what is loaded of it stays.
struct Object {
    _folder: TempDir,
    path: PathBuf,
}

impl Object {
    /// Compiles a C source; `flags` come last, as libraries must.
    fn compile(source: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libunder-test.so");
        let mut command = compiler();
        command.args(["-shared", "-fPIC", "-o"]).arg(&path).arg(repository(source)).args(flags);
        assert!(command.status().unwrap().success(), "{command:?}");
        Self { _folder: folder, path }
    }

    fn load(&self) -> Box<dyn Library> {
        crate::load(&self.path, None).unwrap()
    }
}
