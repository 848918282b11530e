//! The archive on SQLite. What PostgreSQL must do alike is tested through the program.

use super::{Added, Archive, ArchiveError, Chosen, Entry, Listed, Problem, Selection, Trust};
use crate::archive::database::MIGRATIONS;
use crate::sample::{archived, run};
use crate::{Executed, Measurement, Record, State, UncountedSize};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::path::Path;
use tempfile::TempDir;

fn archive() -> (TempDir, Archive) {
    let (directory, path) = store();
    let archive = Archive::open(&path, true).unwrap();
    (directory, archive)
}

/// With one record, which is its list.
fn archive_of_one() -> (TempDir, Archive, Listed) {
    let (directory, mut archive) = archive();
    add(&mut archive, &archived(), "type-a", Trust::Own);
    let listed = all(&mut archive).remove(0);
    (directory, archive, listed)
}

/// An empty directory, and a store's place in it.
fn store() -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db").display().to_string();
    (directory, path)
}

fn open(directory: &Path) -> Archive {
    Archive::open(&directory.join("a.db").display().to_string(), true).unwrap()
}

fn add(archive: &mut Archive, record: &Record, machine: &str, trust: Trust) -> (String, Added) {
    let text = crate::to_json(record);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let sha256 = hex::encode(Sha256::digest(&text));
    let added = archive.add(&Entry {
        record,
        packed: &packed.finish().unwrap(),
        sha256: &sha256,
        samples: Some(&sha256),
        machine,
        region: None,
        trust,
        signer: None,
        doubts: &[],
        known: Some("{}"),
        added: 0,
    });
    (sha256, added.unwrap())
}

fn read(text: &[u8]) -> Result<Record, String> {
    let text = std::str::from_utf8(text).map_err(|e| e.to_string())?;
    crate::from_json(text, "object").map_err(|e| e.to_string())
}

fn problems(archive: &mut Archive) -> Vec<Problem> {
    archive.check(&read, &mut |_| ()).unwrap()
}

fn all(archive: &mut Archive) -> Vec<Listed> {
    archive.list(&Selection::default(), true).unwrap()
}

#[test]
fn a_record_is_added_once_and_comes_back_without_its_samples() {
    let (_directory, mut archive) = archive();
    let own = archived();
    let (sha256, added) = add(&mut archive, &own, "type-a", Trust::Own);
    assert_eq!(added, Added::New(34));
    assert_eq!(add(&mut archive, &own, "type-a", Trust::Own).1, Added::Known);
    let listed = all(&mut archive);
    assert_eq!(
        (listed.len(), &*listed[0].sha256, listed[0].day().as_str()),
        (1, &*sha256, "2026-11-20")
    );
    let kept = archive.load(&listed[0], &Chosen::default()).unwrap();
    assert_eq!(kept.measurements.len(), own.measurements.len());
    assert_eq!((&kept.host, &kept.leaks), (&own.host, &own.leaks));
    assert!(kept.measurements.iter().all(|m| m.raw.is_empty()));
    assert_eq!(problems(&mut archive), []);
}

#[test]
fn a_strangers_store_names_no_file_but_by_its_hash() {
    let (directory, mut archive, _) = archive_of_one();
    let victim = directory.path().join("victim.json.gz");
    std::fs::write(&victim, "precious").unwrap();
    let digits = "A".repeat(64);
    for sha256 in ["aa/../../../victim", "../victim", "", "aa", &*digits] {
        archive.run("UPDATE record SET sha256 = $1", &[sha256.into()]).unwrap();
        let why = archive.list(&Selection::default(), true).unwrap_err().to_string();
        assert!(why.contains("is damaged") && why.contains("is no SHA-256"), "{why}");
    }
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn an_object_is_no_more_open_than_the_processs_mask_allows() {
    use std::os::unix::fs::PermissionsExt as _;
    let (directory, archive, Listed { sha256, .. }) = archive_of_one();
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&archive.objects.path(&sha256).unwrap()), mode(&plain));
}

#[test]
fn only_the_chosen_cases_are_read() {
    let (_directory, mut archive, listed) = archive_of_one();
    let chosen = archive.choose(Some(&|m| m.size == 64), Some(&|l| l.name == "a")).unwrap();
    let kept = archive.load(&listed, &chosen).unwrap();
    assert!(kept.measurements.iter().all(|m| m.size == 64 && m.library.name == "a"));
    assert_eq!(kept.measurements.len(), 5);
    let none = archive.choose(Some(&|_| false), None).unwrap();
    assert!(archive.load(&listed, &none).unwrap().measurements.is_empty());
}

#[test]
fn strangers_and_doubtful_records_are_listed_only_when_asked_for() {
    let (_directory, mut archive) = archive();
    for (day, trust) in
        [(1, Trust::Own), (2, Trust::Signed), (3, Trust::Unsigned), (4, Trust::Doubtful)]
    {
        add(&mut archive, &run(&format!("2026-11-0{day}T00:00:00Z"), "1", 1.0), "type-a", trust);
    }
    let listed = archive.list(&Selection::default(), false).unwrap();
    assert_eq!(listed.iter().map(|l| l.trust).collect::<Vec<_>>(), [Trust::Own, Trust::Signed]);
    assert_eq!(all(&mut archive).len(), 4);
}

#[test]
fn records_are_selected_by_machine_library_time_and_digest() {
    let (_directory, mut archive) = archive();
    let (first, _) =
        add(&mut archive, &run("2026-11-01T00:00:00Z", "1.0", 1.0), "type-a", Trust::Own);
    add(&mut archive, &run("2026-11-05T00:00:00Z", "2.0", 1.0), "type-a", Trust::Own);
    add(&mut archive, &run("2026-11-09T00:00:00Z", "2.0", 1.0), "type-b", Trust::Own);
    let mut count = |text: &str| {
        let selection: Selection = text.parse().unwrap();
        archive.list(&selection, false).unwrap().len()
    };
    assert_eq!((count(""), count("machine=type-a"), count("library=a@2*")), (3, 2, 2));
    assert_eq!(
        (count("since=2026-11-05"), count("until=2026-11-05"), count("library=c")),
        (2, 1, 0)
    );
    assert_eq!(count(&format!("record={}", &first[..12])), 1);
    assert_eq!(archive.find(&first[..12]).unwrap().sha256, first);
    let why = archive.find("zz").unwrap_err().to_string();
    assert!(why.contains("no record whose SHA-256 begins with 'zz'"), "{why}");
    assert!(archive.find("").unwrap_err().to_string().contains("3 records"));
}

#[test]
fn a_removed_record_is_gone_with_its_file_and_can_be_added_again() {
    let (directory, mut archive, Listed { sha256, .. }) = archive_of_one();
    let listed = archive.find(&sha256).unwrap();
    archive.remove(&listed).unwrap();
    assert!(all(&mut archive).is_empty() && !archive.objects.path(&sha256).unwrap().exists());
    assert!(matches!(archive.load(&listed, &Chosen::default()), Err(ArchiveError::Damaged { .. })));
    assert_eq!(
        add(&mut open(directory.path()), &archived(), "type-a", Trust::Own).1,
        Added::New(34)
    );
    assert_eq!(problems(&mut archive), []);
}

#[test]
fn damage_is_found_and_leftovers_are_told_from_it() {
    let (directory, mut archive, Listed { sha256, .. }) = archive_of_one();
    let leftover = directory.path().join("a.db.objects/00");
    std::fs::create_dir(&leftover).unwrap();
    std::fs::write(leftover.join(".adding-x"), "half").unwrap();
    assert_eq!(problems(&mut archive), [Problem::Leftover(leftover.join(".adding-x"))]);
    let what = |archive: &mut Archive| match problems(archive).remove(0) {
        Problem::Damaged { what, .. } => what,
        Problem::Leftover(_) => String::new(),
    };
    archive
        .run("UPDATE measurement SET ns = ns * 0.9 WHERE (id >> 20) & 1048575 = 1", &[])
        .unwrap();
    assert!(what(&mut archive).contains("is not the record's"));
    archive.run("DELETE FROM measurement WHERE (id >> 20) & 1048575 = 1", &[]).unwrap();
    assert!(what(&mut archive).contains("cases, and"));
    std::fs::write(archive.objects.path(&sha256).unwrap(), "other").unwrap();
    assert!(what(&mut archive).contains("cannot be unpacked"));
    std::fs::remove_file(archive.objects.path(&sha256).unwrap()).unwrap();
    assert!(what(&mut archive).contains("lost"));
}

#[test]
fn what_is_no_archive_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    let why =
        |create| Archive::open(&path.display().to_string(), create).err().unwrap().to_string();
    assert!(why(false).contains("there is no archive"));
    std::fs::write(&path, "some text that is no database at all, long enough to be one").unwrap();
    assert!(why(true).contains("is no ciphermark archive"));
    std::fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (x)").unwrap();
    drop(other);
    let before = std::fs::read(&path).unwrap();
    assert!(why(true).contains("is no ciphermark archive"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn an_older_archive_becomes_a_newer_one_and_a_newer_one_is_refused() {
    let (_directory, path) = store();
    let newer = [MIGRATIONS, &["ALTER TABLE record ADD COLUMN more TEXT"]].concat();
    add(&mut Archive::with(&path, true, MIGRATIONS).unwrap(), &archived(), "type-a", Trust::Own);
    let mut archive = Archive::with(&path, false, &newer).unwrap();
    assert_eq!(archive.rows("SELECT more FROM record", &[]).unwrap().len(), 1);
    let why = Archive::with(&path, false, MIGRATIONS).err().unwrap().to_string();
    assert!(why.contains("has version 5; this program knows 4"), "{why}");
}

#[test]
fn an_older_store_gets_its_index_and_shapes_once_when_it_is_opened() {
    let (directory, path) = store();
    let sha256 = add(&mut open(directory.path()), &archived(), "type-a", Trust::Own).0;
    let shape = all(&mut open(directory.path())).remove(0).shape;
    let mut old = open(directory.path());
    let undone = "DROP INDEX record_by_cpu; DROP INDEX record_listed; \
                  ALTER TABLE record DROP COLUMN shape; UPDATE meta SET version = 3";
    old.db.batch(undone).unwrap();
    drop(old);
    let listed = all(&mut Archive::open(&path, false).unwrap()).remove(0);
    assert_eq!((&listed.sha256, &listed.shape), (&sha256, &shape));
    assert!(shape.is_some());
    // Another version of a library, and what is asked otherwise, is another shape; another time is none.
    let mut archive = open(directory.path());
    for record in [
        run("2026-11-20T00:00:00Z", "1", 1.0),
        run("2026-11-21T00:00:00Z", "1", 1.0),
        run("2026-11-22T00:00:00Z", "2", 1.0),
    ] {
        add(&mut archive, &record, "type-b", Trust::Own);
    }
    let of: Vec<_> =
        all(&mut archive).into_iter().filter(|r| r.machine == "type-b").map(|r| r.shape).collect();
    assert!(of[0] == of[1] && of[1] != of[2], "{of:?}");
}

#[test]
fn lists_and_peers_of_a_new_record_are_read_from_indexes_alone() {
    let (_directory, mut archive, _) = archive_of_one();
    for (sql, index) in [
        (format!("{} ORDER BY m.name, r.started, r.id", super::LISTED), "COVERING INDEX record_listed"),
        ("SELECT id, known FROM record WHERE cpu = 'x' AND known IS NOT NULL ORDER BY started DESC LIMIT 8".to_owned(), "INDEX record_by_cpu"),
        ("SELECT id, known FROM record WHERE samples = 'x' AND known IS NOT NULL".to_owned(), "INDEX record_by_samples"),
    ] {
        let plan = archive.rows(&format!("EXPLAIN QUERY PLAN {sql}"), &[]).unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.text(3).unwrap()).collect();
        assert!(plan.iter().any(|step| step.contains(index)), "{sql}: {plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("SCAN r")), "{plan:?}");
    }
}

#[test]
fn an_archive_of_an_unreleased_build_is_refused_with_what_to_do() {
    let (_directory, path) = store();
    let mut archive = Archive::open(&path, true).unwrap();
    archive.run("UPDATE meta SET version = 2", &[]).unwrap();
    let why = Archive::open(&path, true).err().unwrap().to_string();
    assert!(why.contains("a.db.objects' to a new one"), "{why}");
}

#[test]
fn counts_of_the_chosen_cases_come_back() {
    let (_directory, mut archive) = archive();
    let mut own = archived();
    let sample = own.executed[0].clone();
    let counted = |m: &Measurement, per_byte: f64| Executed {
        library: m.library.clone(),
        algorithm: m.algorithm.clone(),
        direction: m.direction,
        model: m.model,
        tier: m.tier,
        per_byte: Some(per_byte),
        uncounted: vec![UncountedSize { size: 8192, reason: "too many".to_owned() }],
        ..sample.clone()
    };
    let of = |name: &str| own.measurements.iter().find(|m| m.algorithm == name).unwrap();
    own.executed = vec![counted(of("aes-128-gcm"), 2.0), counted(of("aes-256-ctr"), 1.1)];
    add(&mut archive, &own, "type-a", Trust::Own);
    let listed = all(&mut archive).remove(0);
    let chosen = archive.choose(Some(&|m| m.algorithm == "aes-256-ctr"), None).unwrap();
    let kept = archive.load(&listed, &chosen).unwrap().executed;
    let (kept, own) = (&kept[..], &own.executed[1]);
    assert_eq!((kept.len(), &kept[0].library, &kept[0].sizes), (1, &own.library, &own.sizes));
    assert_eq!((kept[0].per_byte, kept[0].per_message), (Some(1.1), own.per_message));
    assert_eq!((&kept[0].uncounted, kept[0].functions.len()), (&own.uncounted, 0));
    assert_eq!(archive.load(&listed, &Chosen::default()).unwrap().executed.len(), 2);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let (_directory, path) = store();
    drop(Archive::with(&path, true, MIGRATIONS).unwrap());
    let broken = [MIGRATIONS, &["CREATE TABLE more (x BIGINT); SELECT nonsense"]].concat();
    assert!(Archive::with(&path, false, &broken).is_err());
    let mut archive = Archive::with(&path, false, MIGRATIONS).unwrap();
    assert!(!archive.db.has_table("more").unwrap());
}

#[test]
fn programs_that_add_at_once_lose_nothing_and_add_nothing_twice() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut archive = open(directory.path());
                for day in 10..20 {
                    let record = run(&format!("2026-11-{day}T00:00:00Z"), "1", 1.0);
                    add(&mut archive, &record, "type-a", Trust::Own);
                }
            });
        }
    });
    let mut archive = open(directory.path());
    assert_eq!(all(&mut archive).len(), 10);
    assert_eq!(problems(&mut archive), []);
}

#[test]
fn refused_cases_keep_their_reason_and_what_is_not_offered_has_no_row() {
    let (_directory, mut archive, listed) = archive_of_one();
    let kept = archive.load(&listed, &Chosen::default()).unwrap();
    let of = |state| kept.measurements.iter().filter(move |m| m.state == state);
    assert_eq!((of(State::Refused).count(), of(State::Unsupported).count()), (2, 2));
    assert!(
        of(State::Refused).all(|m| m.reason.as_deref() == Some("round trip: differs at byte 3"))
    );
    assert_eq!(archive.rows("SELECT 1 FROM measurement", &[]).unwrap().len(), 34);
}
