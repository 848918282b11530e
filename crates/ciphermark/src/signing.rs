//! Signatures over manifests, by OpenSSH's own program.

use crate::error::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// What signatures are for: one over anything else is none over a record.
const NAMESPACE: &str = "ciphermark-record";

/// How long ssh-keygen may take: somebody may have to type a passphrase, or to touch a key.
const PATIENCE: Duration = Duration::from_secs(120);
/// Most bytes of what it prints.
const MOST_BYTES: u64 = 1 << 20;

/// Where a record's manifest is: `x.json.manifest` of `x.json`.
pub fn manifest_of(record: &Path) -> PathBuf {
    with_more(record, ".manifest")
}

/// Where a manifest's signature is.
pub fn signature_of(manifest: &Path) -> PathBuf {
    with_more(manifest, ".sig")
}

fn with_more(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}

/// Signs a manifest; an older signature is replaced.
pub fn sign(manifest: &Path, key: &Path) -> Result<PathBuf, Failure> {
    let signature = signature_of(manifest);
    let _ = std::fs::remove_file(&signature);
    let mut command = keygen();
    command.args(["-Y", "sign", "-q", "-n", NAMESPACE, "-f"]).arg(key).arg(manifest);
    let done = output(&mut command, &[], PATIENCE)?;
    if done.status.success() && signature.is_file() {
        return Ok(signature);
    }
    Err(Failure::not_done(format!("cannot sign with '{}': {}", key.display(), said(&done))))
}

/// Who signed a manifest, of those that are allowed to (`ssh-keygen(1)`, ALLOWED SIGNERS).
#[allow(dead_code, reason = "the store's question")]
pub fn verify(manifest: &Path, allowed: &Path) -> Result<String, Failure> {
    let signature = signature_of(manifest);
    let signed = record::bytes(manifest).map_err(Failure::usage)?;
    let mut find = keygen();
    find.args(["-Y", "find-principals", "-f"]).arg(allowed).arg("-s").arg(&signature);
    let found = output(&mut find, &[], PATIENCE)?;
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    let Some(name) = names.lines().next().filter(|_| found.status.success()) else {
        let shown = signature.display();
        return Err(Failure::usage(format!(
            "'{shown}' is not by an allowed signer: {}",
            said(&found)
        )));
    };
    let mut verify = keygen();
    verify
        .args(["-Y", "verify", "-n", NAMESPACE, "-I", name, "-f"])
        .arg(allowed)
        .arg("-s")
        .arg(&signature);
    let done = output(&mut verify, &signed, PATIENCE)?;
    if done.status.success() {
        return Ok(name.to_owned());
    }
    Err(Failure::usage(format!(
        "'{}' is not what '{name}' signed: {}",
        manifest.display(),
        said(&done)
    )))
}

fn keygen() -> Command {
    Command::new("ssh-keygen")
}

fn output(command: &mut Command, input: &[u8], within: Duration) -> Result<Output, Failure> {
    host::output(command, input, within, MOST_BYTES).map_err(|e| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no ssh-keygen here: install openssh-client".to_owned()
            }
            _ => format!("cannot run ssh-keygen: {e}"),
        })
    })
}

/// The last thing that it said.
fn said(done: &Output) -> String {
    let errors = String::from_utf8_lossy(&done.stderr);
    let line = errors.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or_else(|| "ssh-keygen said nothing".to_owned(), |line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(directory: &Path, name: &str) -> PathBuf {
        let key = directory.join(name);
        let made =
            keygen().args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(&key).status();
        assert!(made.unwrap().success());
        key
    }

    #[test]
    fn a_program_that_does_not_end_is_no_verdict_on_a_signature() {
        let mut command = Command::new("sleep");
        let why = output(command.arg("600"), &[], Duration::from_millis(200)).unwrap_err();
        assert_eq!(why.exit, crate::error::Exit::NotDone);
        assert_eq!(why.message, "cannot run ssh-keygen: it did not end within 0.2 s");
    }

    #[test]
    fn a_manifest_is_by_whoever_signed_it_and_by_no_one_once_it_changed() {
        let directory = tempfile::tempdir().unwrap();
        let (ours, theirs) = (key(directory.path(), "ours"), key(directory.path(), "theirs"));
        let manifest = manifest_of(&directory.path().join("r.json"));
        std::fs::write(&manifest, "{}\n").unwrap();
        let allowed = directory.path().join("allowed");
        let public = std::fs::read_to_string(ours.with_extension("pub")).unwrap();
        std::fs::write(&allowed, format!("bench@example.com {public}")).unwrap();
        let why = |of: Result<String, Failure>| of.unwrap_err().message;
        assert!(why(verify(&manifest, &allowed)).contains("r.json.manifest.sig"));
        sign(&manifest, &ours).unwrap();
        assert_eq!(verify(&manifest, &allowed).unwrap(), "bench@example.com");
        std::fs::write(&manifest, "{ }\n").unwrap();
        assert!(why(verify(&manifest, &allowed)).contains("not what 'bench@example.com' signed"));
        sign(&manifest, &theirs).unwrap();
        assert!(why(verify(&manifest, &allowed)).contains("not by an allowed signer"));
        let none = sign(&manifest, &directory.path().join("none")).unwrap_err();
        assert!(none.message.contains("none"), "{}", none.message);
    }
}
