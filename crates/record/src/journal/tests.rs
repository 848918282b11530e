use super::*;
use crate::{State, sample};
use base::model::RawSample;

fn head() -> JournalHead {
    let record = sample::record();
    JournalHead {
        format_version: record.format_version,
        kind: "survey".into(),
        started: record.started,
        command: record.tool.command,
        cpu: "cpu".into(),
        microcode: None,
        machine: None,
        circumstances: Vec::new(),
        plan: record.plan,
        cases: 3,
        libraries: record.libraries.into_iter().map(|l| (None, l)).collect(),
        store: None,
    }
}

fn sample(case: usize) -> JournalSample {
    let sample = RawSample {
        process: 1,
        ops: 2,
        ticks: 3,
        clock_before: 1.4321,
        clock_after: 1.4,
        probe_before: 5.0,
        probe_after: 4.9,
        ..RawSample::default()
    };
    JournalSample { case, sample, settling: None, latency: None, other: None, other_latency: None }
}

fn entry(case: usize) -> JournalEntry {
    JournalEntry::Sample(sample(case))
}

/// A directory with the journal of a record that is not there yet.
fn kept(entries: &[JournalEntry]) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("r.json");
    let mut journal = Journal::claim(&record).unwrap();
    journal.begin(&head()).unwrap();
    journal.append(entries);
    assert!(journal.trouble().is_none());
    drop(journal);
    let bytes = std::fs::read(Journal::path_for(&record)).unwrap();
    (directory, record, bytes)
}

fn why(record: &Path) -> String {
    Journal::reopen(record).unwrap_err().to_string()
}

#[test]
fn what_was_appended_is_read_again_and_added_to() {
    let finding = JournalFinding { case: 2, state: State::Refused, reason: "wrong".into() };
    let (_directory, record, _) =
        kept(&[entry(0), JournalEntry::Found(finding.clone()), JournalEntry::Seconds(1.5)]);
    let (mut journal, first) = Journal::reopen(&record).unwrap();
    assert_eq!((&first.head, &first.samples), (&head(), &vec![sample(0)]));
    assert_eq!((first.findings, first.seconds, first.left_out), (vec![finding], 1.5, 0));
    journal.begin(&head()).unwrap();
    journal.append(&[entry(1)]);
    drop(journal);
    let (journal, second) = Journal::reopen(&record).unwrap();
    assert_eq!(second.samples, [sample(0), sample(1)]);
    journal.remove().unwrap();
    assert!(!Journal::path_for(&record).exists());
}

#[test]
fn whatever_is_cut_off_the_lines_before_it_count_and_can_be_added_to() {
    let (_directory, record, whole) = kept(&[entry(0), entry(1)]);
    let path = Journal::path_for(&record);
    let ends: Vec<usize> = (0..whole.len()).filter(|i| whole[*i] == b'\n').map(|i| i + 1).collect();
    for cut in ends[0]..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (mut journal, kept) = Journal::reopen(&record).unwrap();
        let lines = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!((kept.samples.len(), kept.left_out), (lines, 0), "{cut}");
        assert_eq!(path.metadata().unwrap().len(), cut as u64, "looking changes nothing");
        journal.begin(&head()).unwrap();
        journal.append(&[entry(2)]);
        drop(journal);
        let (_, kept) = Journal::reopen(&record).unwrap();
        assert_eq!((kept.samples.len(), kept.samples.last()), (lines + 1, Some(&sample(2))));
    }
}

#[test]
fn a_head_that_was_torn_off_kept_nothing_and_its_place_can_be_taken() {
    let (_directory, record, whole) = kept(&[]);
    let path = Journal::path_for(&record);
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(why(&record).ends_with("nothing was kept in it"), "{cut}: {}", why(&record));
        assert_eq!(std::fs::read(&path).unwrap(), &whole[..cut], "looking changes nothing");
        drop(Journal::claim(&record).unwrap());
        assert!(!path.exists(), "{cut}");
    }
}

#[test]
fn a_changed_digit_ends_what_counts_and_the_rest_is_counted() {
    let (_directory, record, mut bytes) = kept(&[entry(0), entry(1), entry(2)]);
    let ends: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] == b'\n').collect();
    let digit = (ends[1]..).find(|i| bytes[*i..].starts_with(b"\"ticks\":3")).unwrap() + 8;
    bytes[digit] = b'4';
    std::fs::write(Journal::path_for(&record), &bytes).unwrap();
    let (_, kept) = Journal::reopen(&record).unwrap();
    assert_eq!((kept.samples.len(), kept.left_out), (1, 1));
}

#[test]
fn zeroes_that_a_power_cut_left_are_cut_off() {
    let (_directory, record, mut bytes) = kept(&[entry(0)]);
    let whole = bytes.len();
    bytes.resize(whole + 4096, 0);
    std::fs::write(Journal::path_for(&record), &bytes).unwrap();
    let (mut journal, kept) = Journal::reopen(&record).unwrap();
    assert_eq!((kept.samples.len(), kept.left_out), (1, 0));
    journal.begin(&head()).unwrap();
    assert_eq!(Journal::path_for(&record).metadata().unwrap().len(), whole as u64);
}

#[test]
fn an_entry_of_a_case_that_the_plan_does_not_have_does_not_count() {
    let (_directory, record, _) = kept(&[entry(7), entry(1)]);
    let (_, kept) = Journal::reopen(&record).unwrap();
    assert_eq!((kept.samples.len(), kept.left_out), (0, 1));
}

#[test]
fn two_runs_cannot_have_one_record() {
    let (_directory, record, bytes) = kept(&[entry(0)]);
    let cut_short = Journal::claim(&record).unwrap_err().to_string();
    assert!(cut_short.contains("was cut short") && cut_short.contains("--resume"), "{cut_short}");
    assert_eq!(std::fs::read(Journal::path_for(&record)).unwrap(), bytes);
    let (journal, _) = Journal::reopen(&record).unwrap();
    for held in [why(&record), Journal::claim(&record).unwrap_err().to_string()] {
        assert!(held.contains("another run is writing"), "{held}");
    }
    drop(journal);
    Journal::reopen(&record).unwrap();
}

#[test]
fn a_claim_that_is_given_up_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("r.json");
    let claim = Journal::claim(&record).unwrap();
    assert!(Journal::claim(&record).is_err());
    drop(claim);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_strangers_file_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("r.json");
    for text in ["a novel of mine\nin two parts\n", "cafebabe: without a line's end", "decade"] {
        std::fs::write(Journal::path_for(&record), text).unwrap();
        let refused = Journal::claim(&record).unwrap_err().to_string();
        assert!(refused.contains("it is no journal, and stays as it is"), "{refused}");
        assert!(Journal::reopen(&record).is_err());
        assert_eq!(std::fs::read_to_string(Journal::path_for(&record)).unwrap(), text);
    }
    std::fs::write(Journal::path_for(&record), "a novel of mine\n").unwrap();
    assert!(why(&record).contains("line 1: it is no journal"), "{}", why(&record));
}

#[test]
fn a_link_or_a_pipe_in_the_place_of_a_journal_is_neither_followed_nor_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let (record, victim) = (directory.path().join("r.json"), directory.path().join("victim"));
    let path = Journal::path_for(&record);
    let claimed = || Journal::claim(&record).unwrap_err().to_string();
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    for why in [claimed(), why(&record)] {
        assert!(why.ends_with("r.json.partial': it is a symbolic link"), "{why}");
    }
    assert!(!victim.exists());
    std::fs::write(&victim, "").unwrap();
    assert!(claimed().ends_with("it is a symbolic link"), "{}", claimed());
    std::fs::remove_file(&path).unwrap();
    let (fifo, mode) =
        (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
    for why in [claimed(), why(&record)] {
        assert!(why.ends_with("it is not a regular file"), "{why}");
    }
}

#[test]
fn a_journal_that_vanishes_is_put_back() {
    let (_directory, record, _) = kept(&[entry(0)]);
    let (mut journal, _) = Journal::reopen(&record).unwrap();
    std::fs::remove_file(Journal::path_for(&record)).unwrap();
    journal.append(&[entry(1)]);
    journal.settle();
    assert!(journal.trouble().is_none());
    assert!(why(&record).contains("another run"), "the new one is held too");
    drop(journal);
    assert_eq!(Journal::reopen(&record).unwrap().1.samples, [sample(0), sample(1)]);
}

#[test]
fn a_directory_that_vanishes_is_trouble_until_it_is_back() {
    let (directory, record, _) = kept(&[entry(0)]);
    let (mut journal, _) = Journal::reopen(&record).unwrap();
    std::fs::remove_dir_all(directory.path()).unwrap();
    journal.append(&[entry(1)]);
    journal.settle();
    let why = journal.trouble().unwrap().to_string();
    assert!(why.contains("r.json.partial") && why.contains("No such file"), "{why}");
    std::fs::create_dir(directory.path()).unwrap();
    journal.settle();
    assert!(journal.trouble().is_none());
    drop(journal);
    assert_eq!(Journal::reopen(&record).unwrap().1.samples.len(), 2);
}
