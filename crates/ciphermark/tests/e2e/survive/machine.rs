//! Clocks, CPUs and memory that are set, taken or wanting.

use super::*;

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

#[test]
#[ignore = "long: takes CPUs, memory and the clock away"]
fn workers_that_are_moved_to_another_cpu_go_on() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let mut running = Background::start(&for_seconds(&CTR, "4s", &record));
    for _ in 0..3 {
        let worker = sampling_worker(&mut running, &record).to_string();
        let _ = Command::new("taskset").args(["-a", "-p", "-c", "0", &worker]).output();
    }
    running.ends_within(LATER).with_code(0);
    measured(&record);
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
    let why = text(&rows[1], "reason");
    assert!(why.contains("memory"), "{why}");
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
