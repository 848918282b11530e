//! Which tests may run the program at the same time, by locks on files: the runner starts each test in a process of its own.

use std::fs::File;
use std::path::Path;

thread_local! {
    /// Whether this test is the one that is alone.
    static ALONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Held until it is dropped, or its process ends.
pub struct Lock(#[allow(dead_code, reason = "held, not read")] File);

/// Waits until nobody holds the lock of this name, and holds it.
pub fn lock(name: &str) -> Lock {
    let file = opened(name);
    file.lock().unwrap();
    Lock(file)
}

fn opened(name: &str) -> File {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("locks");
    std::fs::create_dir_all(&directory).unwrap();
    let mut options = File::options();
    options.write(true).create(true).truncate(false).open(directory.join(name)).unwrap()
}

/// The lock that everybody shares who runs the program.
const COMPANY: &str = "company";

/// A program that runs.
pub struct Running(#[allow(dead_code, reason = "held, not read")] Option<Lock>);

/// Waits while another test is alone.
pub fn running() -> Running {
    Running((!ALONE.get()).then(|| {
        let file = opened(COMPANY);
        file.lock_shared().unwrap();
        Lock(file)
    }))
}

/// No program but this test's: for what needs every CPU.
pub struct Alone(#[allow(dead_code, reason = "held, not read")] Lock);

/// Waits until no program runs; none starts meanwhile but this test's.
pub fn alone() -> Alone {
    let none = lock(COMPANY);
    ALONE.set(true);
    Alone(none)
}

impl Drop for Alone {
    fn drop(&mut self) {
        ALONE.set(false);
    }
}
