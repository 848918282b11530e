//! Where programs spend their CPU time: the kernel interrupts them every millisecond of it (perf_event_open(2),
//! `cpu-clock`) and says which thread was at which address. A thread of ours takes that out of the kernel's buffers and
//! counts it by file and offset, so memory is bounded by what was seen, never by how long.
//!
//! A process is followed by an event for each of its threads and each CPU: only such events are inherited by what
//! it starts and may share a buffer.

pub mod kinds;
pub mod objects;

use base::model::{Mapped, ranges_of_list};
use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, SampleFlag, data};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// CPU time between two samples: 999 a second, in step with no timer of a program.
pub const INTERVAL_NS: u64 = 1_001_001;
/// Bytes of a CPU's buffer: as many as everybody may lock in memory (`perf_event_mlock_kb`).
const RING_BYTES: usize = 512 << 10;
/// A buffer fills in seconds at the very least.
const DRAIN: Duration = Duration::from_millis(50);
/// Records of one CPU are written in order, of several nearly so.
const SETTLED_NS: u64 = 2_000_000;
/// Different places, programs, and ended processes whose mappings are still known.
const MOST_PLACES: usize = 1 << 20;
const MOST_NAMES: usize = 1 << 16;
const MOST_ENDED: usize = 1 << 10;
const MOST_FILES: usize = 1 << 14;
/// Files that are held open, so that they can be read when the process is gone.
const MOST_OPEN: usize = 512;

/// What samples are in: an index into [`Samples::files`].
pub type FileIndex = u32;
/// The kernel; offsets are addresses.
pub const KERNEL: FileIndex = 0;
/// Code without a file, which a program made while it ran.
pub const MADE: FileIndex = 1;
/// In no mapping that was told of.
pub const UNKNOWN: FileIndex = 2;

#[derive(Debug)]
pub struct CodeFile {
    pub path: PathBuf,
    pub file: Option<File>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: FileIndex,
    pub offset: u64,
    pub program: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Program {
    pub pid: u32,
    pub name: String,
}

#[derive(Debug, Default)]
pub struct Samples {
    pub interval_ns: u64,
    pub with_kernel: bool,
    pub places: HashMap<Place, u64>,
    pub files: Vec<CodeFile>,
    pub programs: Vec<Program>,
    pub lost: u64,
    /// How often the kernel paused sampling because it took too long.
    pub throttled: u64,
    /// Samples of which only the file is known, because there were too many places.
    pub merged: u64,
}

impl Samples {
    pub fn total(&self) -> u64 {
        self.places.values().sum()
    }
}

pub struct Sampler {
    stop: Arc<AtomicBool>,
    drains: JoinHandle<Samples>,
}

impl Sampler {
    /// Samples what the calling thread starts from now on, each from its `exec` on, and what those start.
    pub fn of_what_this_thread_starts() -> Result<Self, String> {
        let cpus = online_cpus();
        let (events, with_kernel) =
            with_or_without_kernel(|kernel| Events::open(&[Target::ToBeStarted], &cpus, kernel))
                .map_err(|e| refused("what is started", &e))?;
        Self::drain(events, Book::new(), with_kernel)
    }

    /// Samples a process with all that it has started and will start.
    pub fn of_process(pid: u32) -> Result<Self, String> {
        let cpus = online_cpus();
        let family = family(pid);
        if family.is_empty() {
            return Err(format!("there is no process {pid}"));
        }
        raise_file_limit(family.len() * cpus.len());
        let what = format!("process {pid}");
        let (events, with_kernel) = with_or_without_kernel(|kernel| attach(pid, &cpus, kernel))
            .map_err(|e| refused(&what, &e))?;
        let mut book = Book::new();
        let pids: BTreeSet<u32> = tasks_of(pid).into_iter().map(|task| task.pid).collect();
        pids.into_iter().for_each(|pid| book.adopt(pid));
        Self::drain(events, book, with_kernel)
    }

    fn drain(mut events: Events, mut book: Book, with_kernel: bool) -> Result<Self, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let work = move || {
            while !told.load(Ordering::Acquire) {
                let now = now_ns();
                events.take(&mut book);
                book.settle(now.saturating_sub(SETTLED_NS));
                std::thread::park_timeout(DRAIN);
            }
            events.disable();
            events.take(&mut book);
            book.settle(u64::MAX);
            Samples { with_kernel, ..book.found }
        };
        let drains = std::thread::Builder::new().name("samples".to_owned()).spawn(work);
        let drains = drains.map_err(|e| format!("no thread to take the samples: {e}"))?;
        Ok(Self { stop, drains })
    }

    pub fn finish(self) -> Result<Samples, String> {
        self.stop.store(true, Ordering::Release);
        self.drains.thread().unpark();
        self.drains.join().map_err(|_| "taking the samples failed".to_owned())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    ToBeStarted,
    Thread(u32),
}

/// The events, the first of each CPU with a buffer that the others write into.
struct Events {
    rings: Vec<perf_event::Sampler>,
    others: Vec<Counter>,
}

impl Events {
    fn open(targets: &[Target], cpus: &[usize], kernel: bool) -> io::Result<Self> {
        let mut all = Self { rings: Vec::new(), others: Vec::new() };
        for cpu in cpus {
            let mut ring: Option<usize> = None;
            for target in targets {
                let counter = match event(*target, *cpu, kernel).build() {
                    Ok(counter) => counter,
                    // The thread is gone, or the CPU.
                    Err(e) if matches!(e.raw_os_error(), Some(libc::ESRCH | libc::ENODEV)) => {
                        continue;
                    }
                    Err(e) => return Err(e),
                };
                if let Some(ring) = ring {
                    redirect(&counter, &all.rings[ring])?;
                    all.others.push(counter);
                } else {
                    ring = Some(all.rings.len());
                    all.rings.push(counter.sampled(RING_BYTES)?);
                }
            }
        }
        if all.rings.is_empty() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        Ok(all)
    }

    /// Empties the buffers.
    fn take(&mut self, book: &mut Book) {
        for ring in &mut self.rings {
            while let Some(record) = ring.next_record() {
                book.add(&record);
            }
        }
    }

    fn disable(&mut self) {
        // One that cannot be is closed in a moment.
        self.rings.iter_mut().for_each(|ring| drop(ring.disable()));
        self.others.iter_mut().for_each(|event| drop(event.disable()));
    }
}

fn event(target: Target, cpu: usize, kernel: bool) -> Builder<'static> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder
        .one_cpu(cpu)
        .sample_period(INTERVAL_NS)
        .sample(SampleFlag::IP | SampleFlag::TID | SampleFlag::TIME)
        .sample_id_all(true)
        .inherit(true)
        .mmap(true)
        .mmap2(true)
        .comm(true)
        .comm_exec(true)
        .task(true)
        .clockid(Clock::MONOTONIC)
        .exclude_kernel(!kernel);
    match target {
        Target::ToBeStarted => builder.observe_self().enabled(false).enable_on_exec(true),
        Target::Thread(tid) => builder.observe_pid(tid.cast_signed()).enabled(true),
    };
    builder
}

/// Has an event write into another's buffer.
fn redirect(counter: &Counter, ring: &perf_event::Sampler) -> io::Result<()> {
    /// `PERF_EVENT_IOC_SET_OUTPUT`: `_IO('$', 5)`.
    const SET_OUTPUT: libc::c_ulong = 0x2405;
    // SAFETY: both descriptors are open events, and the call takes no pointer.
    let done = unsafe { libc::ioctl(counter.as_raw_fd(), SET_OUTPUT as _, ring.as_raw_fd()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The kernel's part may be forbidden (`perf_event_paranoid` 2) where the program's own is allowed.
fn with_or_without_kernel<T>(open: impl Fn(bool) -> io::Result<T>) -> io::Result<(T, bool)> {
    match open(true) {
        Err(e) if matches!(e.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => {
            open(false).map(|opened| (opened, false))
        }
        other => other.map(|opened| (opened, true)),
    }
}

/// Opens an event for each thread of a process and of what it started. A thread that appears meanwhile may have inherited
/// one or not: then all begin anew, so that none counts twice.
fn attach(pid: u32, cpus: &[usize], kernel: bool) -> io::Result<Events> {
    const ATTEMPTS: usize = 50;
    let mut before = family(pid);
    for _ in 0..ATTEMPTS {
        let targets: Vec<Target> = before.iter().map(|tid| Target::Thread(*tid)).collect();
        let events = Events::open(&targets, cpus, kernel)?;
        let now = family(pid);
        if now.is_subset(&before) {
            return Ok(events);
        }
        before = now;
    }
    Err(io::Error::other("it starts threads faster than they can be followed"))
}

/// The reason in words, with what helps.
fn refused(what: &str, error: &io::Error) -> String {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level = paranoid.ok().and_then(|text| text.trim().parse::<i32>().ok());
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) if level.is_some_and(|level| level > 2) => {
            let level = level.unwrap_or_default();
            format!(
                "the kernel allows no sampling (perf_event_paranoid is {level}): sudo sysctl kernel.perf_event_paranoid=2, \
                or run this as root"
            )
        }
        Some(libc::EACCES | libc::EPERM) => {
            format!("{what} may not be sampled by this user: it is another's, or set-user-ID; root may")
        }
        Some(libc::ENOSYS | libc::ENOENT | libc::EOPNOTSUPP) => {
            "this kernel, or the container's filter, has no perf_event_open: nothing can be sampled here".to_owned()
        }
        Some(libc::ESRCH) => format!("{what} has ended"),
        Some(libc::EMFILE) => format!(
            "{what} has more threads than this process may open files for: raise it with ulimit -n"
        ),
        _ => format!("{what} cannot be sampled: {error}"),
    }
}

#[derive(Clone, Copy)]
struct Task {
    pid: u32,
    tid: u32,
}

/// The threads of a process and of all that it has started, as far as they live.
fn tasks_of(pid: u32) -> Vec<Task> {
    let mut children = BTreeMap::<u32, Vec<u32>>::new();
    for pid in numbers("/proc") {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut open, mut found) = (vec![pid], Vec::new());
    while let Some(pid) = open.pop() {
        let threads = numbers(&format!("/proc/{pid}/task")).into_iter();
        found.extend(threads.map(|tid| Task { pid, tid }));
        open.extend(children.remove(&pid).into_iter().flatten());
    }
    found
}

fn family(pid: u32) -> BTreeSet<u32> {
    tasks_of(pid).into_iter().map(|task| task.tid).collect()
}

fn numbers(directory: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Who started a process: proc_pid_stat(5), the second word behind the name, which may hold anything.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let behind = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[behind + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The CPUs that anything runs on: `0-3,6`.
fn online_cpus() -> Vec<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus = ranges_of_list(&text).into_iter().flatten().flatten();
    let cpus: Vec<usize> = cpus.map(|cpu| cpu as usize).take(1 << 16).collect();
    if cpus.is_empty() { vec![0] } else { cpus }
}

/// Raises how many files this process may open, as far as it may.
fn raise_file_limit(more: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = more as u64 + 1024;
    if limit.current.is_some_and(|current| current < wanted) {
        let current = limit.maximum.map_or(wanted, |most| most.min(wanted));
        // Opening says so where it does not suffice.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    }
}

fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

// From records to counts.

#[derive(Debug)]
enum What {
    At { pid: u32, ip: u64, in_kernel: bool },
    Mapped { pid: u32, start: u64, mapping: Mapping },
    Named { pid: u32, name: String, by_exec: bool },
    Forked { pid: u32, parent: u32 },
    Ended { pid: u32 },
}

/// One mapping of code in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    end: u64,
    offset: u64,
    file: FileIndex,
}

#[derive(Clone, Debug, Default)]
struct Process {
    name: String,
    /// By their beginnings; none overlaps another.
    maps: BTreeMap<u64, Mapping>,
    /// Under its name, once it has a sample.
    program: Option<u32>,
}

impl Process {
    /// Adds a mapping; what it covers of others is gone.
    fn map(&mut self, start: u64, new: Mapping) {
        let overlaps = self.maps.range(..new.end).filter(|(_, old)| old.end > start);
        for (from, old) in overlaps.map(|(from, old)| (*from, *old)).collect::<Vec<_>>() {
            self.maps.remove(&from);
            if from < start {
                self.maps.insert(from, Mapping { end: start, ..old });
            }
            if new.end < old.end {
                let offset = old.offset.wrapping_add(new.end - from);
                self.maps.insert(new.end, Mapping { offset, ..old });
            }
        }
        self.maps.insert(start, new);
    }

    fn at(&self, ip: u64) -> Option<(FileIndex, u64)> {
        let (start, mapping) = self.maps.range(..=ip).next_back()?;
        let offset = mapping.offset.wrapping_add(ip - start);
        (ip < mapping.end).then_some((mapping.file, offset))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileKey {
    path: PathBuf,
    inode: u64,
}

#[derive(Debug, Default)]
struct Book {
    /// Told, and not yet old enough that nothing earlier can come.
    waiting: Vec<(u64, What)>,
    processes: HashMap<u32, Process>,
    ended: VecDeque<u32>,
    indices: HashMap<FileKey, FileIndex>,
    /// Files are opened when the first sample is in them.
    looked_for: Vec<Option<u64>>,
    open: usize,
    found: Samples,
}

impl Book {
    fn new() -> Self {
        let names = ["[kernel]", "[made while running]", "[unknown]"];
        Self {
            looked_for: vec![None; names.len()],
            found: Samples {
                interval_ns: INTERVAL_NS,
                files: names.map(|name| CodeFile { path: name.into(), file: None }).into(),
                ..Samples::default()
            },
            ..Self::default()
        }
    }

    /// Notes what a record says; those that are of no interest are left.
    fn add(&mut self, record: &perf_event::Record<'_>) {
        /// Behind all records but samples stand the thread and the time.
        const TIME_BYTES: usize = 8;
        let misc = u32::from(record.misc());
        let in_kernel = misc & 7 == 1;
        let Ok(parsed) = record.parse_record() else { return };
        let time = || {
            let bytes = record.to_contiguous();
            let time = bytes.last_chunk::<TIME_BYTES>();
            time.map_or(0, |time| u64::from_ne_bytes(*time))
        };
        let what = match &parsed {
            data::Record::Sample(sample) => {
                let (Some(pid), Some(ip)) = (sample.pid(), sample.ip()) else { return };
                let what = What::At { pid, ip, in_kernel };
                self.waiting.push((sample.time().unwrap_or(0), what));
                return;
            }
            data::Record::Mmap2(map) if !in_kernel => {
                let key = FileKey {
                    path: PathBuf::from(map.filename_os()),
                    inode: map.ino().unwrap_or_default(),
                };
                let end = map.addr.saturating_add(map.len);
                let mapping = Mapping { end, offset: map.pgoff, file: self.file(key) };
                What::Mapped { pid: map.pid, start: map.addr, mapping }
            }
            data::Record::Comm(comm) if comm.pid == comm.tid => {
                /// `PERF_RECORD_MISC_COMM_EXEC`
                const EXEC: u32 = 1 << 13;
                let name = comm.comm_os().to_string_lossy().into_owned();
                What::Named { pid: comm.pid, name, by_exec: misc & EXEC != 0 }
            }
            data::Record::Fork(fork) if fork.pid != fork.ppid => {
                What::Forked { pid: fork.pid, parent: fork.ppid }
            }
            data::Record::Exit(exit) if exit.pid == exit.tid => What::Ended { pid: exit.pid },
            data::Record::Lost(data::Lost { lost, .. })
            | data::Record::LostSamples(data::LostSamples { lost, .. }) => {
                self.found.lost += lost;
                return;
            }
            data::Record::Throttle(_) => {
                self.found.throttled += 1;
                return;
            }
            _ => return,
        };
        self.waiting.push((time(), what));
    }

    /// Counts what happened up to a time, in order.
    fn settle(&mut self, until: u64) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|(time, _)| *time);
        let due = waiting.partition_point(|(time, _)| *time <= until);
        self.waiting = waiting.split_off(due);
        waiting.into_iter().for_each(|(_, what)| self.apply(what));
    }

    fn apply(&mut self, what: What) {
        match what {
            What::At { pid, ip, in_kernel } => self.count(pid, ip, in_kernel),
            What::Mapped { pid, start, mapping } => {
                self.processes.entry(pid).or_default().map(start, mapping);
            }
            What::Named { pid, name, by_exec } => {
                let process = self.processes.entry(pid).or_default();
                if by_exec {
                    process.maps.clear();
                }
                if process.name != name {
                    (process.name, process.program) = (name, None);
                }
            }
            What::Forked { pid, parent } => {
                let parent = self.processes.get(&parent).cloned().unwrap_or_default();
                self.processes.insert(pid, Process { program: None, ..parent });
            }
            What::Ended { pid } => {
                // Its other threads may run on for a moment.
                self.ended.push_back(pid);
                if self.ended.len() > MOST_ENDED
                    && let Some(pid) = self.ended.pop_front()
                    && !Path::new(&format!("/proc/{pid}")).exists()
                {
                    self.processes.remove(&pid);
                }
            }
        }
    }

    fn count(&mut self, pid: u32, ip: u64, in_kernel: bool) {
        let process = self.processes.entry(pid).or_default();
        let (file, offset) = match process.at(ip) {
            _ if in_kernel => (KERNEL, ip),
            Some((file, offset)) if file > UNKNOWN => (file, offset),
            Some((file, _)) => (file, 0),
            None => (UNKNOWN, 0),
        };
        let program = *process.program.get_or_insert_with(|| {
            if self.found.programs.len() < MOST_NAMES {
                self.found.programs.push(Program { pid, name: process.name.clone() });
            }
            self.found.programs.len() as u32 - 1
        });
        self.open(pid, file);
        let mut place = Place { file, offset, program };
        if self.found.places.len() >= MOST_PLACES && !self.found.places.contains_key(&place) {
            place.offset = 0;
            self.found.merged += 1;
        }
        *self.found.places.entry(place).or_default() += 1;
    }

    fn file(&mut self, key: FileKey) -> FileIndex {
        // `//anon`, `[heap]` and `/dev/zero` have no file behind them; the kernel's `[vdso]` is none of the program's.
        let is_kernels = key.path.as_os_str().as_encoded_bytes().starts_with(b"[v");
        if key.inode == 0 && !is_kernels || key.path.starts_with("/dev/zero") {
            return MADE;
        }
        if let Some(index) = self.indices.get(&key) {
            return *index;
        }
        if self.found.files.len() >= MOST_FILES {
            return UNKNOWN;
        }
        let index = self.found.files.len() as FileIndex;
        self.found.files.push(CodeFile { path: key.path.clone(), file: None });
        self.looked_for.push(Some(key.inode));
        self.indices.insert(key, index);
        index
    }

    /// Opens the file that a process has mapped, seen as the process sees it, while it lives.
    fn open(&mut self, pid: u32, index: FileIndex) {
        let at = index as usize;
        let Some(inode) = self.looked_for[at].take() else { return };
        if self.open >= MOST_OPEN {
            return;
        }
        let path = &self.found.files[at].path;
        let within =
            Path::new(&format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path));
        let is_it = |file: &File| {
            file.metadata().is_ok_and(|about| about.is_file() && about.ino() == inode)
        };
        let opened = [within, path.clone()].into_iter().find_map(|path| open(&path).filter(is_it));
        let opened = opened.or_else(|| {
            // Without a name any more, or below layers that number their files anew; for root.
            let process = self.processes.get(&pid)?;
            let (start, mapping) =
                process.maps.iter().find(|(_, mapping)| mapping.file == index)?;
            let link = format!("/proc/{pid}/map_files/{start:x}-{:x}", mapping.end);
            open(Path::new(&link)).filter(|file| file.metadata().is_ok_and(|about| about.is_file()))
        });
        self.open += usize::from(opened.is_some());
        self.found.files[at].file = opened;
    }

    /// Takes up a process that runs: its name, its mappings.
    fn adopt(&mut self, pid: u32) {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mut process = Process { name: name.trim_end().to_owned(), ..Process::default() };
        let maps = String::from_utf8_lossy(&maps);
        for mapped in maps.lines().filter_map(Mapped::parse).filter(Mapped::is_code) {
            let file = self.file(FileKey { path: mapped.name.into(), inode: mapped.inode });
            let Range { start, end } = mapped.range;
            process.map(start, Mapping { end, offset: mapped.offset, file });
        }
        self.processes.insert(pid, process);
    }
}

/// Opens a file to read; one that is a pipe does not make it wait.
fn open(path: &Path) -> Option<File> {
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()
}

#[cfg(test)]
mod tests;
