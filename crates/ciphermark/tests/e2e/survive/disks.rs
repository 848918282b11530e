//! Disks that are full, directories that are gone.

use super::*;

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
    assert!(ended.stdout.contains("aes-128-ctr"), "{ended:?}");
    ended.stderr
}

/// The same of a run that is interrupted.
fn interrupted(running: Background) -> String {
    running.send(Signal::INT);
    with_table(running.ends_within(SOON))
}

/// Demands that the record was written into another directory, and that the program says so.
fn is_elsewhere(said: &str, directory: &Path) {
    assert!(said.contains("the record is in '"), "{said}");
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
    for words in ["cannot be kept for now", "No space left on device", "is kept again"] {
        assert!(said.contains(words), "{words}: {said}");
    }
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
    assert!(last.contains("No space left on device"), "{last}");
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
    assert!(said.contains("cannot be kept for now") && said.contains("File too large"), "{said}");
    resumed(&record);
    assert_eq!(names(directory.path()), ["r.json"]);
}

#[test]
fn full_devices_are_told_in_one_line() {
    let temporary = scratch();
    let mut run = command(&["run", "-a", "aes-128-ctr", "-l", "openssl", "-s", "16"]);
    run.args(QUICK).args(["-o", "/dev/full"]).env("TMPDIR", temporary.path());
    let output = Background::of(run).ends_within(LATER).with_code(4);
    assert!(output.stdout.contains("aes-128-ctr"));
    let said = output.only_line_on_stderr();
    assert!(said.contains("No space left on device"), "{said}");
    assert_eq!(names(temporary.path()).len(), 1, "the record is not lost");

    let record = repository("crates/record/tests/sample.json");
    for what in ["show", "rank", "export"] {
        let words = [what, arg(&record), "-o", "/dev/full"];
        let words = if what == "export" { &words[..] } else { &words[..2] };
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\" > /dev/full"]).arg(program()).args(words);
        let output = Background::of(shell).ends_within(SOON).with_code(4);
        assert!(output.only_line_on_stderr().contains("No space left"), "{what}: {output:?}");
    }
}

#[test]
fn an_export_that_finds_no_room_leaves_the_old_one_and_nothing_else() {
    let Some(mount) = Mount::of("8k") else { return };
    let exported = mount.0.path().join("r.json");
    std::fs::write(&exported, "old").unwrap();
    let record = repository("crates/record/tests/sample.json");
    let (record, to) = (arg(&record), arg(&exported));
    let done = call(&format!("export {record} --format json -o {to}")).with_code(4);
    assert!(done.only_line_on_stderr().contains("No space left on device"), "{done:?}");
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
    assert!(said.contains("No such file"), "{said}");
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
    assert!(said.contains("nothing is lost") && said.contains("--resume"), "{said}");
    resumed(&record);
}
