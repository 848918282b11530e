//! What a record and its journal are while a run goes on, and after it was cut short.

use super::*;

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
    assert!(words.contains(" {\"found\":{\"case\":1,\"state\":\"refused\""), "{words}");
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
    std::fs::copy(repository("crates/record/tests/sample.json"), &record).unwrap();
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
fn a_record_that_another_run_writes_is_left_to_it() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let running = Background::start_run(&CTR, &record);
    let again = [&["run"], &CTR[..], &["-o", arg(&record)]].concat();
    for line in [refusal(&again), refusal(&["run", "--resume", arg(&record)])] {
        assert!(line.contains("another run is writing to '"), "{line}");
    }
    running.send(Signal::INT);
    running.ends_within(SOON).with_code(INTERRUPTED);
    let line = refusal(&again);
    assert!(line.contains("was cut short: resume it with `--resume"), "{line}");
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
    let line = refusal(&["run", "--resume", arg(&record)]);
    assert!(line.contains("no run to resume") && line.contains("it ends too early"), "{line}");
    std::fs::write(&record, &whole).unwrap();
    let line = refusal(&["run", "--resume", arg(&record)]);
    assert!(line.contains("cannot resume") && line.contains("is missing"), "{line}");
}

/// A journal that was cut short, as lines.
fn cut_short(record: &Path) -> Vec<String> {
    let running = Background::start_run(&CTR, record);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    let text = std::fs::read_to_string(journal(record)).unwrap();
    text.split_inclusive('\n').map(ToOwned::to_owned).collect()
}

/// What a journal begins with.
const MAGIC: &str = "ciphermark journal ";

/// A line with its checksum, bit by bit (ISO 3309, as gzip has it).
fn line(json: &str) -> String {
    let step = |crc: u32, byte: &u8| {
        (0..8)
            .fold(crc ^ u32::from(*byte), |c, _| (c >> 1) ^ (0xedb8_8320 & (c & 1).wrapping_neg()))
    };
    let sum = !json.as_bytes().iter().fold(u32::MAX, step);
    format!("{sum:08x} {json}\n")
}

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
    let done = measure(&["--resume", arg(&record), "--budget", "1s"]).with_code(0);
    assert!(done.only_line_on_stderr().contains("lines after the damage are left out"), "{done:?}");
    measured(&record);
}

#[test]
fn a_run_of_another_machine_or_of_no_sense_is_refused_and_kept() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let lines = cut_short(&record);
    let first = lines[0].strip_prefix(MAGIC).unwrap();
    let head: Value = serde_json::from_str(&first[9..]).unwrap();
    assert_eq!(line(first[9..].trim_end()), first, "the test's checksum is the program's");
    let with = |field: &str, value: Value| {
        let mut head = head.clone();
        head[field] = value;
        format!("{MAGIC}{}", line(&head.to_string()))
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
        std::fs::write(journal(&record), format!("{head}{rest}")).unwrap();
        let before = std::fs::read(journal(&record)).unwrap();
        let refused = refusal(&["run", "--resume", arg(&record)]);
        assert!(refused.contains(words), "{words}: {refused}");
        assert_eq!(std::fs::read(journal(&record)).unwrap(), before, "{words}");
    }
}
