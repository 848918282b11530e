//! Reads files that are named on the command line: text within bounds, and whatever ciphermark writes, whose
//! kind is told by its contents, not by its name; and what stands beside a record: its manifest, with a signature
//! by OpenSSH's own program.

use crate::Failure;
use base::model::Tier;
use judge::advise::Advised;
use judge::load::Calibration;
use record::at_rest::PagesRecord;
use record::tls::{Run, RunKind};
use record::{CALLS_SCHEMA, CALLS_VERSION, Calls, Record, RecordError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

pub enum Kind {
    /// A survey: `run -o`.
    Survey(Box<Record>),
    /// A page store: `pages -o`.
    Pages(Box<PagesRecord>),
    /// Advice: `advise --format json`.
    Advice(Box<Advised>),
    /// A run of TLS: `tls handshake -o`, `tls records -o`, `tls primitives -o`.
    Tls(Box<Run>),
}

/// Reads a file, packed by gzip or not.
pub fn load(path: &Path) -> Result<Kind, Failure> {
    let text = record::load_text(path).map_err(Failure::usage)?;
    if judge::advise::is_advice(&text) {
        let advice = judge::advise::from_json(&text, &path.display().to_string());
        return advice.map(|advice| Kind::Advice(Box::new(advice))).map_err(Failure::usage);
    }
    Kind::of(read(&text, path).map_err(Failure::usage)?, path)
}

/// Reads what strangers may have written within the bound of memory, in a command that measures afterwards.
pub fn within_bounds<T>(read: impl FnOnce() -> T) -> Result<T, Failure> {
    host::memory::while_reading(read).map_err(Failure::usage)
}

/// Whether a file stands there that writing would destroy. An empty one, as mktemp(1) makes it, holds nothing; one behind a
/// link may be another program's standard output.
pub fn holds_something(path: &Path) -> bool {
    let is_empty = path.symlink_metadata().is_ok_and(|m| m.is_file() && m.len() == 0);
    path.is_file() && !is_empty
}

pub fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().ok().is_some_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// Reads a record of any kind, as this version writes it or an older one did.
pub fn record(path: &Path) -> Result<Record, RecordError> {
    read(&record::load_text(path)?, path)
}

pub fn read(text: &str, path: &Path) -> Result<Record, RecordError> {
    record::read(text, &path.display().to_string())
}

/// Reads the record of a survey, for what other runs have nothing of.
pub fn survey(path: &Path) -> Result<Record, Failure> {
    match load(path)? {
        Kind::Survey(record) => Ok(*record),
        _ => Err(Failure::usage(format!(
            "'{}' is no survey, and no instructions are counted in others: `ciphermark run -o FILE` writes one",
            path.display()
        ))),
    }
}

impl Kind {
    pub fn of(record: Record, path: &Path) -> Result<Self, Failure> {
        let kind = match record.kind() {
            None => return Ok(Self::Survey(Box::new(record))),
            Some(record::at_rest::KIND) => {
                record::at_rest::of(&record).map(|run| Self::Pages(Box::new(run)))
            }
            Some(_) => record::tls::from_record(&record).map(|run| Self::Tls(Box::new(run))),
        };
        kind.map_err(|why| Failure::usage(format!("'{}': {why}", path.display())))
    }
}

/// Reads a run of this kind.
pub fn tls(path: &Path, kind: RunKind) -> Result<Run, Failure> {
    let record = record(path).map_err(Failure::usage)?;
    let is_it = |run: Run| match run.kind == kind {
        true => Ok(run),
        false => Err(format!("it is of the kind '{}', not '{kind}'", run.kind)),
    };
    record::tls::from_record(&record).and_then(is_it).map_err(|why| {
        Failure::usage(format!(
            "'{}' is not a run of tls {command}: {why}; `ciphermark tls {command} -o FILE` writes one",
            path.display(),
            command = kind.command()
        ))
    })
}

/// What a file's times are of.
#[derive(PartialEq)]
pub struct TakenOn {
    cpu: String,
    tier: Tier,
}

impl TakenOn {
    pub fn run(run: &Run) -> Self {
        Self { cpu: run.host.cpu.kind(), tier: run.plan.tier }
    }

    pub fn calibration(calibration: &Calibration) -> Self {
        Self { cpu: calibration.host.cpu.kind(), tier: Tier::Native }
    }

    /// Refuses a file, the one that a flag names, with times of another CPU or tier than this one's: they do not add up.
    pub fn holds(&self, flag: &str, other: &Self) -> Result<(), Failure> {
        if self == other {
            return Ok(());
        }
        let of = |Self { cpu, tier }: &Self| format!("{cpu} at tier {tier}");
        let (own, other) = (of(self), of(other));
        Err(Failure::usage(format!(
            "{flag} is of {other}, and not of {own}: their times do not add up"
        )))
    }
}

/// A file by `tls calibrate`.
pub fn calibration(path: &Path) -> Result<Calibration, Failure> {
    let text = record::load_text(path).map_err(Failure::usage)?;
    Calibration::parse(&text, &path.display().to_string()).map_err(Failure::usage)
}

/// What a watched program called: `watch -o`. Files of this machine go by their own names, as in records.
pub fn calls(path: &Path) -> Result<Calls, Failure> {
    let shown = format!("'{}'", path.display());
    let not_calls = |why: String| {
        Failure::usage(format!(
            "{shown} is not what `ciphermark watch -o FILE -- COMMAND` writes: {why}"
        ))
    };
    let mut calls: Calls =
        serde_json::from_str(&text(path, &shown)?).map_err(|e| not_calls(e.to_string()))?;
    if calls.schema != CALLS_SCHEMA || calls.version > CALLS_VERSION {
        let Calls { schema, version, .. } = &calls;
        return Err(not_calls(format!(
            "it says '{}', version {version}",
            base::text::clean(schema)
        )));
    }
    for library in &mut calls.libraries {
        if let Ok(path) = library.path.canonicalize() {
            library.path = path;
        }
    }
    Ok(calls)
}

/// The most bytes of a text file: a hundred times the longest known, and an end for endless devices.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a file, or of standard input for `-`. `shown` names it in errors.
pub fn text(path: &Path, shown: &str) -> Result<String, Failure> {
    let bytes = if path.as_os_str() == "-" {
        read_bytes(std::io::stdin().lock())
    } else {
        record::read_most(path, MOST_BYTES)
    };
    let bytes = bytes.map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")))?;
    let bytes = bytes.ok_or_else(|| Failure::usage(format!("{shown} has more than 64 MiB")))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let byte = e.utf8_error().valid_up_to();
        Failure::usage(format!("{shown} is not text (byte {byte} is not UTF-8)"))
    })?;
    // Editors on some systems put a mark at the beginning of what they save.
    Ok(record::unmarked(&text).to_owned())
}

fn read_bytes(from: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MOST_BYTES).then_some(bytes))
}

// Signatures over manifests, by OpenSSH's own program.

/// What signatures are for: one over anything else is none over a record.
const NAMESPACE: &str = "ciphermark-record";

/// How long ssh-keygen may take: somebody may have to type a passphrase, or to touch a key.
const KEYGEN_PATIENCE: Duration = Duration::from_secs(120);
const KEYGEN_MOST_BYTES: u64 = 1 << 20;

/// Where a record's manifest is: `x.json.manifest` of `x.json`.
pub fn manifest_of(record: &Path) -> PathBuf {
    with_more(record, ".manifest")
}

pub fn signature_of(manifest: &Path) -> PathBuf {
    with_more(manifest, ".sig")
}

fn with_more(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}

/// Signs a manifest; an older signature is replaced.
pub fn sign_manifest(manifest: &Path, key: &Path) -> Result<PathBuf, Failure> {
    let signature = signature_of(manifest);
    let _ = std::fs::remove_file(&signature);
    let mut command = keygen();
    command.args(["-Y", "sign", "-q", "-n", NAMESPACE, "-f"]).arg(key).arg(manifest);
    let done = keygen_output(&mut command, &[], KEYGEN_PATIENCE)?;
    if done.status.success() && signature.is_file() {
        return Ok(signature);
    }
    Err(Failure::not_done(format!("cannot sign with '{}': {}", key.display(), said(&done))))
}

/// Who signed a manifest, of those that are allowed to (`ssh-keygen(1)`, ALLOWED SIGNERS).
#[allow(dead_code, reason = "the store's question")]
pub fn signer_of(manifest: &Path, allowed: &Path) -> Result<String, Failure> {
    let signature = signature_of(manifest);
    let signed = record::bytes(manifest).map_err(Failure::usage)?;
    let mut find = keygen();
    find.args(["-Y", "find-principals", "-f"]).arg(allowed).arg("-s").arg(&signature);
    let found = keygen_output(&mut find, &[], KEYGEN_PATIENCE)?;
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
    let done = keygen_output(&mut verify, &signed, KEYGEN_PATIENCE)?;
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

fn keygen_output(command: &mut Command, input: &[u8], within: Duration) -> Result<Output, Failure> {
    host::output(command, input, within, KEYGEN_MOST_BYTES).map_err(|e| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no ssh-keygen here: install openssh-client".to_owned()
            }
            _ => format!("cannot run ssh-keygen: {e}"),
        })
    })
}

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
        let why = keygen_output(command.arg("600"), &[], Duration::from_millis(200)).unwrap_err();
        assert_eq!(why.exit, crate::Exit::NotDone);
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
        assert!(why(signer_of(&manifest, &allowed)).contains("r.json.manifest.sig"));
        sign_manifest(&manifest, &ours).unwrap();
        assert_eq!(signer_of(&manifest, &allowed).unwrap(), "bench@example.com");
        std::fs::write(&manifest, "{ }\n").unwrap();
        assert!(
            why(signer_of(&manifest, &allowed)).contains("not what 'bench@example.com' signed")
        );
        sign_manifest(&manifest, &theirs).unwrap();
        assert!(why(signer_of(&manifest, &allowed)).contains("not by an allowed signer"));
        let none = sign_manifest(&manifest, &directory.path().join("none")).unwrap_err();
        assert!(none.message.contains("none"), "{}", none.message);
    }
}
