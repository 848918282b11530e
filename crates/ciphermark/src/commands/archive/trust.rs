//! Whether a record that is added is believed.

use super::open::failure;
use crate::args_archive::AddArgs;
use crate::error::Failure;
use crate::signing;
use judge::compare::trust::{self, Given, Known, Manifest, Told};
use record::Record;
use record::archive::{Archive, Trust};
use std::path::Path;

/// Records of each kind that a new one is judged by.
const PEERS: u32 = 8;

/// What is to be kept of a record beside its figures.
pub struct Judged {
    pub machine: String,
    pub trust: Trust,
    pub signer: Option<String>,
    pub doubts: Vec<String>,
    /// What could not be checked, which is no doubt.
    pub unchecked: Vec<String>,
    pub samples: Option<String>,
    pub known: String,
}

/// A record and the file that it is in.
pub struct Candidate<'a> {
    pub path: &'a Path,
    pub record: &'a Record,
    pub sha256: &'a str,
    /// SHA-256 of the file, which may be compressed.
    pub file_sha256: &'a str,
}

/// Judges a record by itself, by its manifest and by those in the archive.
pub fn judge(
    archive: &mut Archive,
    args: &AddArgs,
    of: &Candidate<'_>,
    now: &str,
) -> Result<Judged, Failure> {
    let manifest = manifest(of.path)?;
    let named = args.machine.clone().or_else(|| manifest.as_ref().map(|m| m.machine_type.clone()));
    let machine = named.clone().unwrap_or_else(|| of.record.host.cpu.name.clone());
    let samples = trust::samples_digest(of.record);
    let peers = archive
        .known((&of.record.host.cpu.name, &machine, samples.as_deref()), PEERS)
        .map_err(failure)?;
    // What an older version kept and this one cannot read judges nobody.
    let peers: Vec<Known> = peers.iter().filter_map(|k| serde_json::from_str(k).ok()).collect();
    let given = manifest.as_ref().map(|m| Given { seed: m.seed, at: Some(&m.given) });
    let told = Told { now: Some(now), machine_type: named.as_deref(), given };
    let trust::Judgement { doubts: found, unchecked } = trust::judge(of.record, &told, &peers);
    let mut doubts: Vec<String> =
        found.into_iter().map(|d| format!("{}: {}", d.code.name(), d.sentence)).collect();
    let is_of = |m: &Manifest| [of.sha256, of.file_sha256].contains(&m.record_sha256.as_str());
    if manifest.as_ref().is_some_and(|m| !is_of(m)) {
        doubts.push("manifest: it is of another record".to_owned());
    }
    let (trust, signer) = signed(args, of.path, manifest.is_some())?;
    let known = Known::of(of.sha256, named.as_deref(), of.record);
    Ok(Judged {
        machine,
        trust: if doubts.is_empty() { trust } else { Trust::Doubtful },
        signer,
        doubts,
        unchecked,
        samples,
        known: serde_json::to_string(&known).map_err(Failure::not_done)?,
    })
}

fn manifest(record: &Path) -> Result<Option<Manifest>, Failure> {
    let path = signing::manifest_of(record);
    if !path.is_file() {
        return Ok(None);
    }
    let text = crate::files::text(&path, &format!("'{}'", path.display()))?;
    let parsed = Manifest::parse(&text);
    parsed.map(Some).map_err(|why| Failure::usage(format!("'{}': {why}", path.display())))
}

/// Who signed it; without a list of signers the user vouches for what is added.
fn signed(
    args: &AddArgs,
    record: &Path,
    has_manifest: bool,
) -> Result<(Trust, Option<String>), Failure> {
    let Some(signers) = &args.allowed_signers else { return Ok((Trust::Own, None)) };
    if !signers.is_file() {
        return Err(Failure::usage(format!(
            "there is no file '{}' of allowed signers",
            signers.display()
        )));
    }
    if !has_manifest {
        return Ok((Trust::Unsigned, None));
    }
    match signing::verify(&signing::manifest_of(record), signers) {
        Ok(signer) => Ok((Trust::Signed, Some(signer))),
        // A program that is missing is no verdict on the record.
        Err(error) if error.exit == crate::error::Exit::NotDone => Err(error),
        Err(_) => Ok((Trust::Unsigned, None)),
    }
}
