//! `ciphermark cache`: what earlier runs found and later ones need not find again, and how to be rid of it.

use crate::{Exit, Failure, screen};
use base::model::nearest;
use base::text::{Cell, Column, Options, PLAIN, Table};
use clap::Args;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// `ciphermark cache`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ciphermark cache\n  ciphermark cache --clear verified,leaks\n  \
    ciphermark cache --clear all\n\n\
    An entry counts only as long as all that it depends on is the same (docs/METHOD.md, \"Circumstances\"), so\n\
    clearing changes no verdict; the next run finds everything again, but what a quiet core is, which it learns\n\
    anew: in the beginning it may take a busy one for quiet. CIPHERMARK_CACHE names another\n\
    directory; when it is empty nothing is kept. Libraries that `make libs` built are not touched\n\
    (`make clean-libs`)."
)]
pub struct CacheArgs {
    /// Remove what is kept of these kinds, separated by commas, or of all.
    #[arg(long, value_name = "KIND|all", value_delimiter = ',')]
    pub clear: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Every directory of the cache, and what is in it.
const KINDS: [(&str, &str); 7] = [
    ("verified", "checks that a library passed"),
    ("evidence", "counted instructions and allocations"),
    ("leaks", "verdicts on secrets"),
    ("looks", "first looks at what is fastest"),
    ("prices", "prices of pages"),
    ("quiet", "rates of this processor's quiet cores"),
    ("runtimes", "compiled programs of Go and Java"),
];

/// What is kept of a kind.
#[derive(Debug, Serialize)]
struct Kept {
    kind: &'static str,
    what: &'static str,
    path: PathBuf,
    files: u64,
    bytes: u64,
    /// Days since the last was written; none where there are no files.
    newest_days: Option<u64>,
}

pub fn cache(args: &CacheArgs) -> Result<Exit, Failure> {
    let cleared = kinds(&args.clear)?;
    let mut all = Vec::new();
    for (kind, what) in KINDS {
        let Some(path) = host::cache_directory(kind) else {
            return Err(Failure::not_done(
                "nothing is kept: CIPHERMARK_CACHE is empty, or there is no home directory",
            ));
        };
        if cleared.contains(&kind) {
            removed(&path)?;
        }
        let (files, bytes, newest) = sum(&path).map_err(|e| cannot("read", &path, &e))?;
        let age = newest.map(|time| time.elapsed().unwrap_or(Duration::ZERO).as_secs() / 86_400);
        all.push(Kept { kind, what, path, files, bytes, newest_days: age });
    }
    if args.json {
        screen::print_json(&all)?;
    } else {
        screen::print(|options| table(&all, options))?;
    }
    Ok(Exit::Done)
}

fn kinds(typed: &[String]) -> Result<Vec<&'static str>, Failure> {
    let names = || KINDS.iter().map(|(kind, _)| *kind);
    if typed.iter().any(|kind| kind == "all") {
        return Ok(names().collect());
    }
    let known = |kind: &String| {
        names().find(|name| name == kind).ok_or_else(|| {
            let near = nearest(kind, names()).map(|n| format!(", did you mean '{n}'?"));
            let (near, all) = (near.unwrap_or_default(), Vec::from_iter(names()).join(", "));
            Failure::usage(format!(
                "--clear: nothing is kept as '{kind}'{near}; there are {all}, or all"
            ))
        })
    };
    typed.iter().map(known).collect()
}

/// Removes what this program has put into a directory, and the directory if nothing else is in it: CIPHERMARK_CACHE may name
/// any. What is not there is as good.
fn removed(path: &Path) -> Result<(), Failure> {
    let done = |result: io::Result<()>, path: &Path| match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(cannot("remove", path, &e)),
        _ => Ok(()),
    };
    let entries = match std::fs::read_dir(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|e| cannot("read", path, &e))?,
    };
    for entry in entries {
        let own = entry.map_err(|e| cannot("read", path, &e))?.path();
        if host::is_cache_entry(&own) {
            let removed = match own.is_dir() && !own.is_symlink() {
                true => std::fs::remove_dir_all(&own),
                false => std::fs::remove_file(&own),
            };
            done(removed, &own)?;
        }
    }
    // With what is not ours in it, it stays.
    let _ = std::fs::remove_dir(path);
    Ok(())
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::not_done(format!("cannot {what} '{}': {error}", path.display()))
}

/// Files, their bytes, and when the last was written; links are not followed.
fn sum(directory: &Path) -> io::Result<(u64, u64, Option<SystemTime>)> {
    let entries = match std::fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((0, 0, None)),
        entries => entries?,
    };
    let (mut files, mut bytes, mut newest) = (0, 0, None);
    for entry in entries {
        let entry = entry?;
        // What runs meanwhile renames and removes.
        let Ok(facts) = entry.metadata() else { continue };
        let (of, len, written) = match facts.is_dir() {
            true => sum(&entry.path())?,
            false => (1, facts.len(), facts.modified().ok()),
        };
        (files, bytes, newest) = (files + of, bytes + len, newest.max(written));
    }
    Ok((files, bytes, newest))
}

fn table(all: &[Kept], options: Options) -> String {
    let age = |kept: &&Kept| match kept.newest_days {
        None => "–".to_owned(),
        Some(0) => "today".to_owned(),
        Some(1) => "1 day".to_owned(),
        Some(days) => format!("{days} days"),
    };
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    let table = Table::of(
        all,
        &[
            (Column::left("kind"), &|kept: &&Kept| Cell::plain(kept.kind.to_owned())),
            (Column::right("files"), &|kept| Cell::plain(kept.files.to_string())),
            (Column::right("MiB"), &|kept| Cell::plain(mib(kept.bytes))),
            (Column::right("newest"), &|kept| Cell::plain(age(kept))),
            (Column::left("what").goes(1), &|kept| Cell::plain(kept.what.to_owned())),
        ],
    );
    let directory = all.first().and_then(|kept| kept.path.parent()).unwrap_or(Path::new("."));
    let bytes: u64 = all.iter().map(|kept| kept.bytes).sum();
    let foot = format!(
        "{} MiB in '{}'; `ciphermark cache --clear KIND|all` removes some or all",
        mib(bytes),
        base::text::clean(&directory.display().to_string())
    );
    format!("{}\n{}", table.text(options), options.hang(&foot, 2, PLAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks through the sources for what opens a directory of the cache.
    #[test]
    fn every_directory_of_the_cache_is_listed() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut opened = Vec::new();
        let mut directories = vec![crates];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    for call in ["Cache::open(\"", "cache_directory(\""] {
                        let names = text.split(call).skip(1).filter_map(|t| t.split('"').next());
                        opened.extend(names.map(str::to_owned));
                    }
                }
            }
        }
        assert!(opened.len() >= KINDS.len(), "{opened:?}");
        for name in opened {
            assert!(KINDS.iter().any(|(kind, _)| *kind == name), "{name} is not in KINDS");
        }
    }

    #[test]
    fn what_is_cleared_is_gone_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        for (kind, _) in KINDS {
            let below = directory.path().join(kind).join("fd6b1fa394fd6245");
            std::fs::create_dir_all(&below).unwrap();
            std::fs::write(below.join("entry"), "1234").unwrap();
            std::fs::write(below.with_file_name(format!("{}.json", "0a".repeat(32))), "12")
                .unwrap();
        }
        let [leaks, quiet] = ["leaks", "quiet"].map(|kind| directory.path().join(kind));
        std::fs::write(quiet.join("notes.json"), "mine").unwrap();
        assert_eq!(sum(&leaks).map(|(files, bytes, _)| (files, bytes)).unwrap(), (2, 6));
        removed(&leaks).unwrap();
        removed(&leaks).unwrap();
        assert!(!leaks.exists());
        removed(&quiet).unwrap();
        assert_eq!(sum(&quiet).unwrap().0, 1, "what nobody here has written");
        assert_eq!(sum(directory.path()).unwrap().0, 2 * (KINDS.len() as u64 - 2) + 1);
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_nearest() {
        let error = kinds(&["verifed".to_owned()]).unwrap_err();
        assert!(format!("{error:?}").contains("did you mean 'verified'"), "{error:?}");
        assert_eq!(kinds(&["all".to_owned()]).unwrap().len(), KINDS.len());
    }
}
