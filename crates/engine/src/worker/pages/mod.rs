//! Pages in the worker: staged ones are taken into memory, encrypted and decrypted through the
//! library, changed, and timed.

mod effect;
mod media;
mod memory;
mod probing;
mod time;
mod verify;

use super::power;
use super::side_effects::Pulse;
use crate::protocol::pages::{Answer, Job, PageFiles, PageVisit, Staging};
use crate::protocol::{Finding, Hello, Reply, VisitResult};
use contract::Library;
use probe::Clock;
use record::at_rest::scheme::{POSITION_BYTES, Position};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use time::{PageBench, Scene};

/// What a worker holds for pages.
pub(super) struct Desk {
    files: Files,
    staged: Staged,
    bench: PageBench,
}

/// The scheduler's files, opened by this worker: positions and modes are its own.
pub(super) struct Files {
    plain: File,
    places: File,
    out: File,
    scratch: Option<File>,
    /// The scratch file without the page cache; else why not.
    direct: Result<File, String>,
    log: Option<File>,
}

/// Pages in memory, with their places.
#[derive(Default)]
pub(super) struct Staged {
    bytes: Vec<u8>,
    places: Vec<Position>,
    page_size: usize,
}

impl Staged {
    fn page(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.page_size..][..self.page_size]
    }
}

impl Desk {
    /// Opens what the scheduler has open, and takes what is staged into memory.
    pub(super) fn open(hello: &Hello, files: &PageFiles) -> Result<Self, String> {
        let staging = files.staged;
        let open = |fd: i32, write: bool| {
            let file = OpenOptions::new().read(true).write(write).open(path(files, fd));
            file.map_err(|e| format!("a file for pages: {e}"))
        };
        let write = |fd: Option<i32>| fd.map(|fd| open(fd, true)).transpose();
        let files = Files {
            plain: open(files.plain, false)?,
            places: open(files.places, false)?,
            out: open(files.out, true)?,
            scratch: write(files.scratch)?,
            direct: match files.scratch {
                Some(fd) => direct(&path(files, fd)),
                None => Err("no scratch file".to_owned()),
            },
            log: write(files.log)?,
        };
        let tick_ns = 1.0 / hello.ticks_per_ns.unwrap_or(1.0);
        let bench = PageBench::new(hello.process, tick_ns, hello.seed);
        let mut desk = Self { files, staged: Staged::default(), bench };
        if let Some(staging) = staging {
            desk.load(staging)?;
        }
        Ok(desk)
    }

    /// Does a job.
    pub(super) fn answer(
        &mut self,
        library: &'static dyn Library,
        clock: &Clock,
        job: &Job,
    ) -> Result<Reply, Finding> {
        let answer = match job {
            Job::Load(staging) => {
                self.load(*staging).map(|()| Answer::Loaded).map_err(Finding::failed)
            }
            Job::Verify(job) => verify::run(library, &self.staged, &self.files.out, job),
            Job::Probe(job) => probing::run(library, &self.staged, job),
            Job::Time { visits, .. } => {
                let results = visits.iter().map(|visit| self.visit(library, clock, visit));
                return Ok(Reply::Samples { results: results.collect() });
            }
        };
        answer.map(|answer| Reply::Pages(Box::new(answer)))
    }

    /// Takes the samples of a visit, which count only if the library reached for nothing it must not and left
    /// the process as it was.
    fn visit(
        &mut self,
        library: &'static dyn Library,
        clock: &Clock,
        visit: &PageVisit,
    ) -> Vec<VisitResult> {
        if self.staged.places.is_empty() {
            return vec![VisitResult::Finding(Finding::failed("no pages are staged"))];
        }
        let threads = visit.cpus.len().max(1);
        let PageBench { process, tick_ns, .. } = self.bench;
        let Self { files, staged, bench } = self;
        let pulse = Pulse::now();
        let mut results =
            bench.visit(&Scene { library, clock, staged, files, visit, process, tick_ns, threads });
        if threads == 1
            && let Some(finding) = pulse.changed()
        {
            results = vec![VisitResult::Finding(finding)];
        }
        results.into_iter().map(power::held).collect()
    }

    fn load(&mut self, Staging { pages, page_size }: Staging) -> Result<(), String> {
        let mut staged =
            Staged { bytes: vec![0; pages * page_size], places: Vec::new(), page_size };
        let mut places = vec![0; pages * POSITION_BYTES];
        let failed = |e: std::io::Error| format!("cannot read staged pages: {e}");
        self.files.plain.read_exact_at(&mut staged.bytes, 0).map_err(failed)?;
        self.files.places.read_exact_at(&mut places, 0).map_err(failed)?;
        let (places, _) = places.as_chunks::<POSITION_BYTES>();
        staged.places = places.iter().map(Position::from_bytes).collect();
        self.staged = staged;
        Ok(())
    }
}

/// Where a file that the scheduler has open is found.
fn path(files: &PageFiles, fd: i32) -> String {
    format!("/proc/{}/fd/{fd}", files.owner)
}

/// The same file past the page cache.
fn direct(path: &str) -> Result<File, String> {
    let flags = rustix::fs::OFlags::DIRECT.bits();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(i32::try_from(flags).unwrap_or(0));
    options.open(path).map_err(|e| format!("the scratch file's system has no direct I/O ({e})"))
}
