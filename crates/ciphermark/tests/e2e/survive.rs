//! Runs that survive: whatever is killed, full, gone or put to sleep in the middle of one, at most the case
//! in flight is lost, and `--resume` goes on. What a machine does not let a test do (mounts, control groups)
//! is left out with a word why.

use crate::support::{fakes, *};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Far more than ending takes, far less than a run without an end.
const SOON: Duration = Duration::from_secs(20);
/// For runs that end by themselves, on a busy machine.
const LATER: Duration = Duration::from_secs(120);
/// What most of these runs measure.
const CTR: [&str; 6] = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16,1K"];

fn journal_bytes(record: &Path) -> u64 {
    std::fs::metadata(journal(record)).map_or(0, |m| m.len())
}

/// Its first line says what is measured, each other one is a sample or a finding.
fn journal_lines(record: &Path) -> usize {
    let bytes = std::fs::read(journal(record)).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The rows of a record, all of which were measured.
fn measured(record: &Path) -> Vec<Value> {
    let rows = rows(&read(record), "measurements").clone();
    all_are(&rows, "measured");
    rows
}

/// Resumes a run for a moment; all of its rows are measured then.
fn resumed(record: &Path) -> Vec<Value> {
    measure(&["--resume", arg(record), "--budget", "1s"]).with_code(0);
    measured(record)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The program, with the environment of the tests.
fn command(arguments: &[&str]) -> Command {
    behind(&["env"], arguments)
}

/// The same behind another program that sets something up and becomes it.
fn behind(wrapper: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(program()).args(arguments);
    command.env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
    command
}

/// `run -o record` that ends by its budget, because its precision cannot be reached.
fn for_seconds<'a>(what: &[&'a str], seconds: &'a str, record: &'a Path) -> Vec<&'a str> {
    let rest = ["--precision", "0.0001%", "--budget", seconds, "-o", arg(record)];
    [&["run"], what, &rest].concat()
}

/// A worker of a run that is taking samples.
fn sampling_worker(running: &mut Background, record: &Path) -> u32 {
    let (before, id) = (journal_lines(record).max(1), running.id());
    running.wait_until("more is sampled", || journal_lines(record) > before + 10);
    let mut worker = None;
    // Between one pass and the next there is none for a moment.
    running.wait_until("a worker runs", || {
        worker = processes_below(id).first().map(|(pid, _)| *pid);
        worker.is_some()
    });
    worker.unwrap()
}

fn send(pid: u32, signal: Signal) {
    // It may have ended by itself in between.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

// Whatever is killed or stopped.

#[test]
#[ignore = "long: kills and stops runs"]
fn a_few_kills_at_random_moments_lose_nothing() {
    let script = repository("scripts/kill-test");
    let mut kills = Command::new("python3");
    // Times are for a machine that does nothing else; here everything but them is looked at.
    kills.arg(script).arg(program()).args(["--kills", "6", "--tolerance", "1000"]);
    let output = kills.output().expect("Python is installed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    says(&said, ["0 torn records", "0 broken promises"]);
}

#[test]
#[ignore = "long: kills and stops runs"]
fn workers_that_are_killed_or_moved_to_another_cpu_cost_no_case() {
    let deeds: [fn(u32); 2] = [
        |worker| send(worker, Signal::KILL),
        |worker| {
            let moved = ["-a", "-p", "-c", "0", &worker.to_string()];
            let _ = Command::new("taskset").args(moved).output();
        },
    ];
    for deed in deeds {
        let directory = scratch();
        let record = directory.path().join("r.json");
        let mut running = Background::start(&for_seconds(&CTR, "4s", &record));
        for _ in 0..3 {
            deed(sampling_worker(&mut running, &record));
        }
        running.ends_within(LATER).with_code(0);
        measured(&record);
        assert_eq!(names(directory.path()), ["r.json"]);
    }
}

#[test]
#[ignore = "long: kills and stops runs"]
fn samples_of_a_worker_that_stood_still_are_marked() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let mut running = Background::start(&for_seconds(&CTR, "4s", &record));
    // A worker also starts, checks and waits to be asked, where standing still marks nothing: of so many some
    // fall within a sample.
    let mut worker = sampling_worker(&mut running, &record);
    for _ in 0..20 {
        send(worker, Signal::STOP);
        std::thread::sleep(Duration::from_millis(30));
        send(worker, Signal::CONT);
        std::thread::sleep(Duration::from_millis(30));
        worker = processes_below(running.id()).first().map_or(worker, |(pid, _)| *pid);
    }
    running.ends_within(LATER).with_code(0);
    let rows = measured(&record);
    let marked = |row: &Value| row["raw"]["stolen"].as_array().is_some_and(|m| !m.is_empty());
    assert!(rows.iter().any(marked), "{rows:?}");
}

#[test]
#[ignore = "long: kills and stops runs"]
fn a_run_that_stands_still_hits_no_deadline() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    // A single case: its deadline is three seconds.
    let one = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16", "-d", "encrypt"];
    let mut running = Background::start(&for_seconds(&one, "8s", &record));
    let worker = sampling_worker(&mut running, &record);
    // As it does nearly all the time; where the kernel does not say, it is taken to.
    let place = format!("/proc/{}/wchan", running.id());
    running.wait_until("it waits for a worker", || {
        let waits = std::fs::read_to_string(&place).unwrap_or_default();
        waits.contains("poll") || ["", "0"].contains(&waits.as_str())
    });
    running.send(Signal::STOP);
    send(worker, Signal::STOP);
    std::thread::sleep(Duration::from_secs(5));
    running.send(Signal::CONT);
    send(worker, Signal::CONT);
    running.ends_within(LATER).with_code(0);
    assert_eq!(text(&measured(&record)[0], "stopped"), "budget");
}

#[test]
#[ignore = "long: kills and stops runs"]
fn an_interrupt_does_not_wait_for_a_library_that_hangs_while_it_is_measured() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    // Right in everything but what the timed loop asks for; together these may take half a minute.
    let library = fakes::variant("one_size", "HANG");
    let what = ["-l", &library, "-a", "aes-128-*", "-s", "700", "-m", "message", "-m", "rekey"];
    let mut running = Background::start(&for_seconds(&what, "10m", &record));
    let id = running.id();
    let old = |pid: u32| {
        // Ticks of 10 ms in user mode: a visit's process that spins, where others take some milliseconds.
        stat(pid).and_then(|fields| fields.get(11)?.parse::<u64>().ok()).unwrap_or(0) > 50
    };
    running.wait_until("a worker hangs", || {
        journal_bytes(&record) > 0 && descendants(id).into_iter().any(old)
    });
    running.send(Signal::INT);
    running.ends_within(SOON);
}

// Disks that are full, directories that are gone.

/// A file system of some size of its own, as only a privileged user may have it.
struct Mount(tempfile::TempDir);

impl Mount {
    fn of(size: &str) -> Option<Self> {
        let place = scratch();
        let option = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &option, "ciphermark-test", arg(place.path())])
            .output();
        if mounted.is_ok_and(|m| m.status.success()) {
            return Some(Self(place));
        }
        eprintln!("left out: only a privileged user can mount a small file system");
        None
    }

    fn resize(&self, size: &str) {
        let option = format!("remount,size={size}");
        let done = Command::new("mount").args(["-o", &option, arg(self.0.path())]).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l", arg(self.0.path())]).status();
    }
}

/// What a run says whose record cannot be written; its table is printed all the same.
fn with_table(ended: Done) -> String {
    let ended = ended.with_code(4);
    says(&ended.stdout, ["aes-128-ctr"]);
    ended.stderr
}

/// The same of a run that is interrupted.
fn interrupted(running: Background) -> String {
    running.send(Signal::INT);
    with_table(running.ends_within(SOON))
}

/// Demands that the record was written into another directory, and that the program says so.
fn is_elsewhere(said: &str, directory: &Path) {
    says(said, ["the record is in '"]);
    let [name] = &names(directory)[..] else { panic!("{:?}", names(directory)) };
    measured(&directory.join(name));
}

/// Waits until a journal has not grown for a while.
fn wait_until_full(running: &mut Background, record: &Path) {
    let (mut last, mut since) = (0, Instant::now());
    running.wait_until("the disk is full", || {
        let now = journal_bytes(record);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        now > 10_000 && since.elapsed() > Duration::from_secs(2)
    });
}

#[test]
#[ignore = "long: fills disks and takes directories away"]
fn a_disk_that_is_full_for_a_while_costs_nothing() {
    let Some(mount) = Mount::of("64k") else { return };
    let record = mount.0.path().join("r.json");
    let mut running = Background::start(&for_seconds(&CTR, "10m", &record));
    wait_until_full(&mut running, &record);
    let full = journal_bytes(&record);
    mount.resize("64m");
    running.wait_until("the journal grows again", || journal_bytes(&record) > full + 100_000);
    running.send(Signal::INT);
    let said = running.ends_within(SOON).with_code(INTERRUPTED).stderr;
    says(said, ["cannot be kept for now", "No space left on device", "is kept again"]);
    measured(&record);
}

#[test]
#[ignore = "long: fills disks and takes directories away"]
fn a_disk_that_stays_full_costs_neither_table_nor_record() {
    let Some(mount) = Mount::of("64k") else { return };
    let (record, temporary) = (mount.0.path().join("r.json"), scratch());
    let mut run = command(&for_seconds(&CTR, "10m", &record));
    run.env("TMPDIR", temporary.path());
    let mut running = Background::of(run);
    wait_until_full(&mut running, &record);
    let said = interrupted(running);
    let last = said.lines().last().unwrap();
    says(last, ["No space left on device"]);
    is_elsewhere(last, temporary.path());
    assert_eq!(names(mount.0.path()), ["r.json.partial"], "the room that was left is free again");
    // With room again, the part that the journal has is gone on from.
    mount.resize("64m");
    resumed(&record);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_limit_on_the_size_of_files_is_told_and_ends_nothing() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let run = for_seconds(&CTR, "2s", &record);
    let limited = behind(&["prlimit", "--fsize=16000"], &run);
    let said = with_table(Background::of(limited).ends_within(LATER));
    says(said, ["cannot be kept for now", "File too large"]);
    resumed(&record);
    assert_eq!(names(directory.path()), ["r.json"]);
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_record_for_a_full_device_is_not_lost() {
    let temporary = scratch();
    let mut run = command(&["run", "-a", "aes-128-ctr", "-l", "openssl", "-s", "16"]);
    run.args(QUICK).args(["-o", "/dev/full"]).env("TMPDIR", temporary.path());
    let done = Background::of(run).ends_within(LATER);
    done.ends(4, ["No space left on device"]).says(["aes-128-ctr"]);
    assert_eq!(names(temporary.path()).len(), 1, "the record is not lost");
}

#[test]
fn full_devices_are_told_in_one_line() {
    let record = published();
    for (what, more) in [("show", &[][..]), ("rank", &[]), ("export", &["-o", "/dev/full"])] {
        let words = [&[what, &record], more].concat();
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\" > /dev/full"]).arg(program()).args(words);
        Background::of(shell).ends_within(SOON).ends(4, ["No space left"]);
    }
}

#[test]
fn an_export_that_finds_no_room_leaves_the_old_one_and_nothing_else() {
    let Some(mount) = Mount::of("8k") else { return };
    let exported = mount.0.path().join("r.json");
    std::fs::write(&exported, "old").unwrap();
    let export = format!("export {SAMPLE} --format json -o {}", arg(&exported));
    call(&export).ends(4, ["No space left on device"]);
    assert_eq!(std::fs::read_to_string(&exported).unwrap(), "old");
    assert_eq!(names(mount.0.path()), ["r.json"]);
}

#[test]
#[ignore = "long: fills disks and takes directories away"]
fn a_directory_that_vanishes_and_comes_back_has_the_run_again() {
    let directory = scratch();
    let place = directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let record = place.join("r.json");
    let mut running = Background::start_run(&CTR, &record);
    std::fs::remove_dir_all(&place).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    std::fs::create_dir(&place).unwrap();
    running.wait_until("the journal is put back", || journal_bytes(&record) > 50_000);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    resumed(&record);
}

#[test]
#[ignore = "long: fills disks and takes directories away"]
fn a_directory_that_stays_away_costs_neither_table_nor_record() {
    let (directory, temporary) = (scratch(), scratch());
    let place = directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let record = place.join("r.json");
    let mut run = command(&for_seconds(&CTR, "10m", &record));
    run.env("TMPDIR", temporary.path());
    let mut running = Background::of(run);
    running.wait_until("it is sampled", || journal_bytes(&record) > 50_000);
    std::fs::remove_dir_all(&place).unwrap();
    let said = interrupted(running);
    says(&said, ["No such file"]);
    is_elsewhere(&said, temporary.path());
}

#[test]
#[ignore = "long: fills disks and takes directories away"]
fn a_directory_that_becomes_read_only_costs_nothing_that_was_measured() {
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let tried = behind(&nobody, &["--version"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "left out: only a privileged user can run the program as one whom permissions bind"
        );
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let directory = scratch();
    let allow = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(directory.path(), mode).unwrap();
    };
    allow(0o777);
    let record = directory.path().join("r.json");
    let mut running = Background::of(behind(&nobody, &for_seconds(&CTR, "10m", &record)));
    running.wait_until("it is sampled", || journal_bytes(&record) > 50_000);
    allow(0o555);
    let said = interrupted(running);
    allow(0o777);
    assert!(said.to_lowercase().contains("permission denied"), "{said}");
    says(&said, ["nothing is lost", "--resume"]);
    resumed(&record);
}

// Clocks, CPUs and memory that are set, taken or wanting.

/// An object before the C library whose calendar clock jumps by a month with each reading, to and fro.
fn jumping_clock(directory: &Path) -> PathBuf {
    let (source, object) = (directory.join("clock.c"), directory.join("clock.so"));
    std::fs::write(
        &source,
        "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n\
         int clock_gettime(clockid_t clock, struct timespec *t) {\n\
           static volatile int turn;\n\
           int result = (int)syscall(SYS_clock_gettime, clock, t);\n\
           if (clock == CLOCK_REALTIME) t->tv_sec = 1000000000 + 2592000 * (turn++ % 2);\n\
           return result;\n\
         }\n",
    )
    .unwrap();
    fakes::succeed(fakes::compiler(&object).arg(&source));
    object
}

#[test]
#[ignore = "long: takes CPUs, memory and the clock away"]
fn a_clock_that_is_set_changes_no_number() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let mut run = command(&for_seconds(&CTR, "2s", &record));
    run.env("LD_PRELOAD", jumping_clock(directory.path()));
    let begun = Instant::now();
    Background::of(run).ends_within(LATER).with_code(0);
    measured(&record);
    let whole = read(&record);
    // The shim was there, and what it moved is nothing but the date.
    assert!(text(&whole, "started").starts_with("2001-"), "{}", whole["started"]);
    let seconds = number(&whole, "measuring_seconds");
    assert!((1.0..begun.elapsed().as_secs_f64()).contains(&seconds), "{seconds}");
    let rate = number(&whole, "host.clock.ticks_per_second");
    assert!((1e8..1e10).contains(&rate), "{rate}");
}

/// A control group of a controller, with no process in it, where that can be had.
struct Group(PathBuf);

impl Group {
    fn of(controller: &str, file: &str) -> Option<Self> {
        let name = format!("ciphermark-test-{}", std::process::id());
        // Version 1 has a tree for each controller, version 2 one for all.
        let trees = [format!("/sys/fs/cgroup/{controller}"), "/sys/fs/cgroup".to_owned()];
        for tree in trees {
            let group = Path::new(&tree).join(&name);
            if std::fs::create_dir(&group).is_ok() {
                let group = Self(group);
                if group.0.join(file).exists() {
                    return Some(group);
                }
            }
        }
        eprintln!("left out: there are no control groups with '{controller}' to be had");
        None
    }

    fn set(&self, file: &str, value: &str) -> std::io::Result<()> {
        std::fs::write(self.0.join(file), value)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last of its processes may just be going.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
#[ignore = "long: takes CPUs, memory and the clock away"]
fn a_cpu_that_is_taken_away_is_followed_by_another() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    if cpus < 2 {
        eprintln!("left out: there is one CPU only");
        return;
    }
    let Some(group) = Group::of("cpuset", "cpuset.cpus") else { return };
    let directory = scratch();
    let record = directory.path().join("r.json");
    group.set("cpuset.cpus", &format!("0-{}", cpus - 1)).unwrap();
    group.set("cpuset.mems", "0").unwrap();
    let mut running = Background::start(&for_seconds(&CTR, "5s", &record));
    if group.set("cgroup.procs", &running.id().to_string()).is_err() {
        eprintln!("left out: no process can be put into the control group");
        return;
    }
    let worker = sampling_worker(&mut running, &record);
    let _ = group.set("cgroup.procs", &worker.to_string());
    // It measures on the last, unless another test measures there; the scheduler keeps off.
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
    let on_first = !status.lines().any(|line| line.starts_with("Cpus_allowed_list:\t0"));
    let other = if on_first { cpus - 1 } else { 0 };
    group.set("cpuset.cpus", &other.to_string()).unwrap();
    running.ends_within(LATER).with_code(0);
    for row in &measured(&record) {
        let cpu = row["raw"]["cpu"].as_array().expect("not all were taken on CPU 0");
        assert!(cpu.iter().any(|c| c == 0) && cpu.iter().any(|c| c != 0), "{cpu:?}");
    }
}

/// Much less than a message of 16 MiB needs more than a small one.
const STEP_BYTES: usize = 4 << 20;

/// A small and a large message under a limit of address space: the rows, unless no record came.
fn small_and_large(limit_bytes: u64) -> Option<Vec<Value>> {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let run = ["run", "-a", "aes-128-ctr", "-l", "openssl", "-d", "encrypt", "-s", "1K,16M"];
    let run = [&run[..], &QUICK, &["-o", arg(&record)]].concat();
    // Without a backtrace: where there is no memory for one, the runtime waits for itself.
    let limits = ["env", "RUST_BACKTRACE=0", "prlimit", &format!("--as={limit_bytes}")];
    let limited = behind(&limits, &run);
    // Where there is no memory for a thread, it ends by a panic.
    Background::of(limited).output_within(LATER);
    Some(measurements(&std::fs::read_to_string(&record).ok()?))
}

#[test]
#[ignore = "long: takes CPUs, memory and the clock away"]
fn what_finds_no_memory_fails_alone() {
    // What a process needs to begin with differs from machine to machine, and on a busy one from run to run: a limit is
    // looked for under which the small message is measured and the large one is not.
    let rows = (64 << 20..640 << 20).step_by(STEP_BYTES).find_map(|limit_bytes| {
        let rows = small_and_large(limit_bytes)?;
        let states: Vec<&str> = rows.iter().map(|row| text(row, "state")).collect();
        (states == ["measured", "failed"]).then_some(rows)
    });
    let rows = rows.expect("the small one alone is measured under some limit");
    says(text(&rows[1], "reason"), ["memory"]);
}

/// More than a run takes whose library takes nothing beside (design: 500 MB), less than half of a machine's,
/// which is what a worker may have.
const GROUP_BYTES: u64 = 1 << 30;

#[test]
#[ignore = "long: takes CPUs, memory and the clock away"]
fn a_worker_that_the_kernel_kills_for_its_memory_costs_its_case() {
    let Some(group) = Group::of("memory", "memory.limit_in_bytes") else { return };
    if group.set("memory.limit_in_bytes", &GROUP_BYTES.to_string()).is_err() {
        eprintln!("left out: the control group takes no limit");
        return;
    }
    // Else it is written out where there is swap space, and goes on for long.
    let _ = group.set("memory.swappiness", "0");
    let directory = scratch();
    let record = directory.path().join("r.json");
    let library = fakes::variant("one_size", "EAT");
    let run = ["run", "-l", &library, "-a", "aes-128-ctr", "-d", "encrypt", "-s", "64,700"];
    let run = [&run[..], &QUICK, &["-o", arg(&record)]].concat();
    // Becomes a member before it becomes the program.
    let enter = format!("echo $$ > '{}' && exec \"$0\" \"$@\"", arg(&group.0.join("cgroup.procs")));
    Background::of(behind(&["sh", "-c", &enter], &run)).ends_within(LATER).with_code(3);
    let record = read(&record);
    let [small, large] = &rows(&record, "measurements")[..] else { panic!("{record}") };
    assert_eq!((text(small, "state"), text(large, "state")), ("measured", "failed"), "{large}");
    assert!(text(large, "reason").contains("SIGKILL"), "{large}");
}

// What a record and its journal are while a run goes on, and after it was cut short.

#[test]
#[ignore = "long: takes ten seconds or more"]
fn while_a_run_goes_on_its_record_can_be_read_after_the_first_case() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    // One size is refused as soon as it is timed, and the other never precise enough.
    let library = fakes::variant("one_size", "SKIP");
    let what = ["-l", &library, "-a", "aes-128-ctr", "-s", "64,700", "-d", "encrypt"];
    let mut running = Background::start(&for_seconds(&what, "10m", &record));
    running.wait_until("a record is there", || record.exists());
    running.send(Signal::KILL);
    running.ends_within(SOON);
    let whole = read(&record);
    let shown = call(&format!("show {} --format json", arg(&record))).with_code(0).json();
    assert_eq!(shown, whole);
    let found = rows(&whole, "measurements");
    assert_eq!(text(&found[1], "state"), "refused", "{found:?}");
    assert_eq!(text(&found[0], "stopped"), "interrupted");
    // What was found stays found.
    let words = std::fs::read_to_string(journal(&record)).unwrap();
    says(&words, [" {\"found\":{\"case\":1,\"state\":\"refused\""]);
    measure(&["--resume", arg(&record), "--budget", "1s"]).with_code(3);
    let after = read(&record);
    let found = rows(&after, "measurements");
    assert_eq!((text(&found[0], "state"), text(&found[1], "state")), ("measured", "refused"));
    assert_eq!(after["started"], whole["started"]);
    assert_eq!(names(directory.path()), ["r.json"]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn an_older_record_stays_until_the_new_one_is_whole() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    std::fs::copy(SAMPLE, &record).unwrap();
    let old = std::fs::read(&record).unwrap();
    let library = fakes::variant("one_size", "SKIP");
    let what = ["-l", &library, "-a", "aes-128-ctr", "-s", "64,700", "-d", "encrypt"];
    let mut running = Background::start(&for_seconds(&what, "10m", &record));
    running.wait_until("passes went by", || journal_bytes(&record) > 100_000);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    assert_eq!(std::fs::read(&record).unwrap(), old);
    measure(&["--resume", arg(&record), "--budget", "1s"]).with_code(3);
    assert_ne!(std::fs::read(&record).unwrap(), old);
}

#[test]
#[ignore = "long: seconds"]
fn what_another_run_writes_or_wrote_elsewhere_is_left_as_it_is() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let running = Background::start_run(&CTR, &record);
    let again = [&["run"], &CTR[..], &["-o", arg(&record)]].concat();
    for line in [refusal(&again), refusal(&["run", "--resume", arg(&record)])] {
        says(&line, ["another run is writing to '"]);
    }
    running.send(Signal::INT);
    running.ends_within(SOON).with_code(INTERRUPTED);
    says(refusal(&again), ["was cut short: resume it with `--resume"]);
    of_another_machine_or_of_no_sense_it_is_refused_and_kept(&record);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_torn_record_is_mended_from_its_journal_and_refused_without() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let running = Background::start_run(&CTR, &record);
    running.send(Signal::INT);
    running.ends_within(SOON);
    let whole = std::fs::read(&record).unwrap();
    std::fs::write(&record, &whole[..whole.len() / 2]).unwrap();
    measure(&["--resume", arg(&record), "--budget", "10s"]).with_code(0);
    measured(&record);
    // No journal any more.
    std::fs::write(&record, &whole[..whole.len() / 2]).unwrap();
    let resume = format!("run --resume {}", arg(&record));
    refuses(&resume, &["no run to resume", "it ends too early"]);
    std::fs::write(&record, &whole).unwrap();
    refuses(&resume, &["cannot resume", "is missing"]);
}

/// A journal that was cut short, as lines.
fn cut_short(record: &Path) -> Vec<String> {
    let running = Background::start_run(&CTR, record);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    lines_of_journal(record)
}

fn lines_of_journal(record: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(journal(record)).unwrap();
    text.split_inclusive('\n').map(ToOwned::to_owned).collect()
}

const MAGIC: &str = "ciphermark journal ";

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_damaged_journal_is_resumed_up_to_the_damage() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let mut lines = cut_short(&record);
    // Among the samples, with some behind it however many there were when the run was cut short.
    let samples: Vec<usize> =
        (0..lines.len()).filter(|i| lines[*i].contains("\"ticks\":")).collect();
    let damaged = &mut lines[samples[samples.len() / 2]];
    *damaged = damaged.replacen("\"ticks\":", "\"ticks\":1", 1);
    std::fs::write(journal(&record), lines.concat()).unwrap();
    let done = measure(&["--resume", arg(&record), "--budget", "1s"]);
    done.ends(0, ["lines after the damage are left out"]);
    measured(&record);
}

fn of_another_machine_or_of_no_sense_it_is_refused_and_kept(record: &Path) {
    let lines = lines_of_journal(record);
    let first = lines[0].strip_prefix(MAGIC).unwrap();
    let head: Value = serde_json::from_str(&first[9..]).unwrap();
    assert_eq!(journal_line(first[9..].trim_end()), first, "the test's checksum is the program's");
    let with = |field: &str, value: Value| {
        let mut head = head.clone();
        head[field] = value;
        format!("{MAGIC}{}", journal_line(&head.to_string()))
    };
    let cases = [
        (with("cpu", "Another CPU".into()), "it ran on 'Another CPU', this is '"),
        (with("machine", "0".into()), "another machine with the same CPU"),
        (with("format_version", "1.0".into()), "record format 1.0"),
        (lines[0].replacen("cpu", "gpu", 1), "its checksum is wrong"),
        (String::new(), "nothing was kept in it"),
    ];
    for (head, words) in cases {
        let rest = if head.is_empty() { String::new() } else { lines[1..].concat() };
        std::fs::write(journal(record), format!("{head}{rest}")).unwrap();
        let before = std::fs::read(journal(record)).unwrap();
        let refused = refusal(&["run", "--resume", arg(record)]);
        assert!(refused.contains(words), "{words}: {refused}");
        assert_eq!(std::fs::read(journal(record)).unwrap(), before, "{words}");
    }
}
