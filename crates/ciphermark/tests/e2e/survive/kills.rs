//! Whatever is killed or stopped.

use super::*;

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
    assert!(said.contains("0 torn records") && said.contains("0 broken promises"), "{said}");
}

#[test]
#[ignore = "long: kills and stops runs"]
fn a_worker_that_is_killed_costs_no_case() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let mut running = Background::start(&for_seconds(&CTR, "4s", &record));
    for _ in 0..3 {
        send(sampling_worker(&mut running, &record), Signal::KILL);
    }
    running.ends_within(LATER).with_code(0);
    measured(&record);
    assert_eq!(names(directory.path()), ["r.json"]);
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
