//! `ciphermark archive add`.

use super::open::{failure, opened};
use super::trust::{Candidate, Judged, judge};
use crate::args_archive::AddArgs;
use crate::error::{Exit, Failure};
use crate::kinds;
use jiff::Timestamp;
use record::archive::{Added, Archive, Entry, Trust};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// Adds records one by one; those before one that cannot be read stay in.
pub fn add(args: &AddArgs) -> Result<Exit, Failure> {
    let mut archive = opened(&args.store, true)?;
    let mut is_doubtful = false;
    for path in &args.records {
        is_doubtful |= one(&mut archive, args, path)? == Trust::Doubtful;
    }
    Ok(if is_doubtful { Exit::Found } else { Exit::Done })
}

fn one(archive: &mut Archive, args: &AddArgs, path: &Path) -> Result<Trust, Failure> {
    let bytes = record::bytes(path).map_err(Failure::usage)?;
    let file_sha256 = hex::encode(Sha256::digest(&bytes));
    let text = record::text(bytes, &path.display().to_string()).map_err(Failure::usage)?;
    let record = kinds::read(&text, path).map_err(Failure::usage)?;
    let sha256 = hex::encode(Sha256::digest(&text));
    let now = Timestamp::now();
    let of = Candidate { path, record: &record, sha256: &sha256, file_sha256: &file_sha256 };
    let judged = judge(archive, args, &of, &now.to_string())?;
    let packed = record::pack(Path::new("record.gz"), text).map_err(Failure::not_done)?;
    let added = archive.add(&Entry {
        record: &record,
        packed: &packed,
        sha256: &sha256,
        samples: judged.samples.as_deref(),
        machine: &judged.machine,
        region: args.region.as_deref(),
        trust: judged.trust,
        signer: judged.signer.as_deref(),
        doubts: &judged.doubts,
        known: Some(&judged.known),
        added: now.as_second(),
    });
    let added = added.map_err(failure)?;
    tell(args, path, added, &judged);
    Ok(if added == Added::Known { Trust::Own } else { judged.trust })
}

/// One line a record, and one for each doubt and what could not be checked.
fn tell(args: &AddArgs, path: &Path, added: Added, judged: &Judged) {
    let shown = base::text::one_line(&path.display().to_string());
    match added {
        Added::Known if args.quiet => {}
        Added::Known => anstream::eprintln!("ciphermark: {shown} is in already"),
        Added::New(_) if args.quiet && judged.trust.counts() => {}
        Added::New(cases) => {
            anstream::eprintln!(
                "ciphermark: added {shown}: {cases} cases, {}",
                judged.trust.name()
            );
            for doubt in &judged.doubts {
                anstream::eprintln!("ciphermark:   {}", base::text::one_line(doubt));
            }
            for what in judged.unchecked.iter().filter(|_| !args.quiet) {
                anstream::eprintln!("ciphermark:   unchecked: {what}");
            }
        }
    }
}
