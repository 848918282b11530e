//! Virtual environments of Python with packages of fixed versions, made once and kept.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of an environment with these packages, each a name and a version.
pub fn python_with(name: &str, packages: &[(&str, &str)]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let python = directory.join("bin/python");
    if has(&python, packages) {
        return python;
    }
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory), packages);
    let wanted = packages.iter().map(|(package, version)| format!("{package}=={version}"));
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(wanted);
    succeed(&mut install, packages);
    assert!(has(&python, packages), "installed, and not there: {packages:?}");
    python
}

fn has(python: &Path, packages: &[(&str, &str)]) -> bool {
    packages.iter().all(|(package, version)| {
        let ask = format!("from importlib.metadata import version; print(version('{package}'))");
        let output = Command::new(python).args(["-c", &ask]).output();
        output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).trim() == *version)
    })
}

fn succeed(command: &mut Command, packages: &[(&str, &str)]) {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|e| panic!("{shown} does not start: {e}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let needed = format!("this test needs Python's packages {packages:?}");
    assert!(output.status.success(), "{needed}, and {shown} failed: {said}");
}
