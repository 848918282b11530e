//! A run that is watched and killed from outside.

use crate::support::{Done, Running, program, running};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A call of the program that goes on by itself; killed when it is dropped.
pub struct Background {
    child: Option<Child>,
    _running: Running,
}

impl Background {
    /// Starts the program.
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.args(arguments).env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
        Self::of(command)
    }

    /// Starts another command, without input and with its output kept.
    pub fn of(mut command: Command) -> Self {
        // Cargo's, which a run notes as what decides which code runs.
        command.env_remove("LD_LIBRARY_PATH").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let _running = running();
        Self { child: Some(command.spawn().unwrap()), _running }
    }

    /// Starts `run -o record` and waits until its journal holds some hundred samples. It has a
    /// precision to reach that no machine has.
    pub fn start_run(arguments: &[&str], record: &Path) -> Self {
        Self::start_kept(&[&["run"], arguments].concat(), record, "10m", 300)
    }

    /// The same of any command that keeps a journal, until it has so many lines.
    pub fn start_kept(command: &[&str], record: &Path, budget: &str, lines: usize) -> Self {
        let endless =
            ["--precision", "0.0001%", "--budget", budget, "-o", crate::support::arg(record)];
        let mut running = Self::start(&[command, &endless].concat());
        let journal = journal(record);
        running.wait_until("the journal has samples", || {
            std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() > lines)
        });
        running
    }

    pub fn id(&self) -> u32 {
        self.child().id()
    }

    pub fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits while the program goes on.
    pub fn wait_until(&mut self, what: &str, mut reached: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        while !reached() {
            assert!(Instant::now() < end, "never happened: {what}");
            if self.has_ended() {
                panic!("ended before {what}: {:?}", self.child.take().unwrap().wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end, which must come within this time.
    pub fn ends_within(self, time: Duration) -> Done {
        self.output_within(time).into()
    }

    /// The same of a program that may end however it likes.
    pub fn output_within(mut self, time: Duration) -> Output {
        let end = Instant::now() + time;
        while !self.has_ended() {
            assert!(Instant::now() < end, "still running after {time:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.take().unwrap().wait_with_output().unwrap()
    }

    fn has_ended(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    fn child(&self) -> &Child {
        self.child.as_ref().unwrap()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where a run is kept while it goes on.
pub fn journal(record: &Path) -> PathBuf {
    PathBuf::from(format!("{}.partial", record.display()))
}

/// The processes that this one has started and that live: `(pid, start time)`, which names a
/// process for good.
pub fn processes_below(parent: u32) -> Vec<(u32, String)> {
    let parent = parent.to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let fields = stat(pid)?;
        let alive = !["Z", "X"].contains(&fields[0].as_str());
        (alive && fields[1] == parent).then(|| (pid, fields[19].clone()))
    })
    .collect()
}

/// What the kernel says of a process: its state, its parent, …, as the 20th its start time.
pub fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before them, in parentheses, may hold anything.
    Some(stat.rsplit_once(") ")?.1.split(' ').map(ToOwned::to_owned).collect())
}

/// These, and those that they have started: a visit of a case has a process below a worker's.
pub fn descendants(parent: u32) -> Vec<u32> {
    let below = processes_below(parent);
    below.into_iter().flat_map(|(pid, _)| [vec![pid], descendants(pid)].concat()).collect()
}
