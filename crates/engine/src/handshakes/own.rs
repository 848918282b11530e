//! Stacks that come as shared objects of their own: found, and loaded once to learn who they are.

use crate::attached::StackFile;
use crate::discover::{LibraryChoice, SelectError};
use crate::link::WorkerError;
use crate::process::Worker;
use record::tls::StackHello;
use std::path::{Path, PathBuf};

/// Those that choices name as files, and with `searches` those that are found. One that was only found and cannot
/// be loaded is left out; to load it says why.
///
/// # Errors
/// [`SelectError::Unusable`] of one that was named.
pub(super) fn own_stacks(
    given: &[LibraryChoice],
    searches: bool,
) -> Result<Vec<StackFile>, SelectError> {
    let mut stacks = Vec::new();
    for choice in given {
        let LibraryChoice::Path { name, path } = choice else { continue };
        let unusable = |why: String| SelectError::Unusable { name: name.clone(), why };
        stacks.push(loaded(path, Some(name)).map_err(unusable)?);
    }
    let found = if searches { host::find_stacks() } else { Vec::new() };
    stacks.extend(found.iter().filter_map(|path| loaded(path, None).ok()));
    Ok(stacks)
}

/// Loads an object in a worker of its own and asks who it is.
fn loaded(path: &Path, name: Option<&String>) -> Result<StackFile, String> {
    let path = path.canonicalize().map_err(|e| format!("'{}': {e}", path.display()))?;
    host::check_elf(&path).map_err(|e| format!("'{}' {e}", path.display()))?;
    let id = host::file_id(&path).map_err(|e| format!("'{}': {e}", path.display()))?;
    let mut ready = ask(&path).map_err(|e| e.to_string())?;
    ready.objects.retain(|object| *object != path);
    let id = host::whole_id(&id, &host::loaded_files(&ready.objects));
    let name = name.cloned().unwrap_or(ready.name);
    let shown = path.display().to_string();
    let mut build = ready.build;
    build.extend(host::bundled(&path).into_iter().flat_map(|bundled| bundled.build));
    let facts = record::tls::Stack {
        label: format!("{name}@{}", ready.version),
        name,
        version: ready.version,
        path: shown.clone(),
        id: id.clone(),
        // The primitives are inside.
        crypto_path: shown,
        crypto_id: id,
        bare_path: String::new(),
        build,
    };
    Ok(StackFile { facts, path, crypto: None })
}

fn ask(path: &Path) -> Result<crate::protocol::Ready, WorkerError> {
    let hello = StackHello {
        path: PathBuf::from(path),
        crypto: None,
        cpu: None,
        process: 0,
        ticks_per_ns: None,
        token: None,
    };
    let mut worker = Worker::launch_stack(hello)?;
    worker.greet(None)?;
    Ok(worker.ready().clone())
}
