//! Page stores: files with any content, and `PostgreSQL` directories whose files hold anything; and records
//! of them, any text or with fields that hold anything, shown in every form and asked for advice.

use crate::check::{self, Choices, changed_of};
use base::text::Options;
use jiff::civil::date;
use judge::advise::{Data, Evidence, Question, Surroundings};
use record::at_rest::PagesRecord;
use record::at_rest::store::{PAGE_SIZES, PageHeader, Scan, Store};
use report::page::{Content, Source};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The committed sample of the format.
static VALUE: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../record/tests/at-rest.json");
    serde_json::from_str(text).expect("it is tested")
});

/// The same as a record.
static RECORD: LazyLock<Value> = LazyLock::new(|| {
    let record = record::read(&VALUE.to_string(), "sample").expect("it is tested");
    serde_json::to_value(record).expect("plain data")
});

/// The first byte says whether the others are a file or changes of a record, the second how it is shown.
pub(crate) fn show_pages(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (Some(kind), Some(how)) = (choices.byte(), choices.byte()) else { return };
    if kind % 4 == 0 {
        let Ok(text) = std::str::from_utf8(choices.0) else { return };
        advice(text);
        record(text, how);
    } else {
        let of = if kind < 128 { &VALUE } else { &RECORD };
        record(&changed_of(of, &mut choices).to_string(), how);
    }
}

fn record(text: &str, how: u8) {
    let read = |text: &str| record::read_run(text, "p.json", record::at_rest::of);
    match read(text) {
        Err(why) => check::line(&why),
        Ok(record) => {
            let written = record::at_rest::to_json(&record);
            assert_eq!(read(&written).expect("what was written is read"), record);
            // The same with a harmless letter where markup would begin.
            let harmless = read(&written.replace('<', "x"));
            let harmless = harmless.expect("it differs in texts only");
            shown(&record, &harmless, 20 + usize::from(how));
            asked(&record, &harmless);
        }
    }
}

fn shown(record: &PagesRecord, harmless: &PagesRecord, width: usize) {
    check::for_people("the table", &record::at_rest::table(record, width), false);
    let as_record = record::at_rest::into_record(record);
    check::json("JSON", &record::to_json(&as_record));
    let all: Vec<_> = as_record.measurements.iter().collect();
    let rows = check::spreadsheet("CSV", &report::formats::csv(&as_record, &all));
    assert_eq!(rows, record.cells.len() + 1);
    check::markdown("Markdown", &[record, harmless].map(record::at_rest::markdown));
    check::page([record, harmless].map(Content::Pages));
}

/// What would be advised, read again as a page would.
fn asked(record: &PagesRecord, harmless: &PagesRecord) {
    static DATA: LazyLock<Data> = LazyLock::new(Data::built_in);
    let today = date(2026, 11, 21);
    let used = DATA.find_use("postgres").expect("it is there");
    let ask = |record: &PagesRecord| {
        let mut question = Question::of(used, today);
        question.tier = record.tier;
        question.size = record.store.page_size;
        let around = Surroundings { today, cpu: None, libraries: Vec::new(), judged: Vec::new() };
        judge::advise::advise(&DATA, &question, Evidence::Pages(record), &around)
    };
    let advice = [ask(record), ask(harmless)];
    let options = Options { width: 80, color: false };
    let render = |i: usize, format| judge::advise::render(&advice[i], "record", format, options);
    check::for_people("advice", &render(0, judge::advise::Format::Text), false);
    let marked = [0, 1].map(|i| render(i, judge::advise::Format::Markdown));
    check::markdown("advice in Markdown", &marked);
    let json = render(0, judge::advise::Format::Json);
    let read = judge::advise::from_json(&json, "a.json").expect("what was written is read");
    let source = Source { file: "a.json", content: Content::Advice(&read) };
    report::page::page_without_scripts(&[source]).expect("any advice has a page");
}

fn advice(text: &str) {
    match judge::advise::from_json(text, "a.json") {
        Err(why) => check::line(&why),
        Ok(advised) => {
            let options = Options { width: 80, color: false };
            let render =
                |format| judge::advise::render(&advised.advice, &advised.record, format, options);
            check::for_people("advice", &render(judge::advise::Format::Text), false);
            check::for_people("advice", &render(judge::advise::Format::Markdown), false);
            let source = Source { file: "a.json", content: Content::Advice(&advised) };
            report::page::page_without_scripts(&[source]).expect("any advice has a page");
        }
    }
}

/// The first bytes say what is made of the others, and in which units it is read.
pub(crate) fn read_stores(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (Some(kind), Some(unit)) = (choices.byte(), choices.byte()) else { return };
    let unit = usize::from(unit) % (PAGE_SIZES.len() + 1);
    let unit = unit.checked_sub(1).map(|i| PAGE_SIZES[i]);
    let directory = tempfile::tempdir().expect("a directory of its own");
    let path = match kind % 4 {
        0 => file(directory.path(), "image", &[], choices.0),
        1 => file(directory.path(), "a.db", b"SQLite format 3\0", choices.0),
        2 => database(directory.path(), &mut choices),
        _ => cluster(directory.path(), &mut choices),
    };
    match Store::open(&path, unit) {
        Err(why) => check::shown(&why),
        Ok(store) => opened(&store),
    }
    let header = PageHeader::of(choices.0);
    assert!(header.hole() <= usize::from(u16::MAX));
}

fn opened(store: &Store) {
    store.facts().iter().for_each(check::line);
    let pages = store.pages();
    assert!(pages > 0 && PAGE_SIZES.contains(&store.page_size()));
    let all: Vec<_> = store.all().collect();
    assert_eq!(all.len() as u64, pages);
    assert!(store.spread(8, 2).len() as u64 <= pages.min(9));
    assert!(store.heads(8, 2).len() as u64 <= pages.min(9));
    let mut page = vec![0; store.page_size()];
    for at in &all {
        store.read(*at, &mut page).expect("it has so many pages");
        let (file, offset) = store.place_in_file(*at);
        assert!(store.file_names().any(|name| name == file));
        assert!(offset < pages * store.page_size() as u64);
    }
    let scanned = |keep| store.scan(keep, &mut |_| true).expect("it has so many pages");
    let (kept, again): (Scan, Scan) = (scanned(true), scanned(false));
    assert_eq!((kept.pages, kept.sightings.len() as u64), (pages, pages));
    assert!(kept.zero_pages + kept.without_lsn <= pages);
    assert!(kept.sha256.len() == 64 && kept.sha256 == again.sha256);
}

fn file(directory: &Path, name: &str, head: &[u8], rest: &[u8]) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, [head, rest].concat()).expect("a file of its own");
    path
}

/// A database whose pages are whole, with a header of any content, perhaps with a log beside it.
fn database(directory: &Path, choices: &mut Choices<'_>) -> PathBuf {
    let mut bytes = vec![7; 8192];
    bytes[..16].copy_from_slice(b"SQLite format 3\0");
    // No statement of its size.
    bytes[28..32].fill(0);
    if choices.byte().is_some_and(|b| b % 8 == 0) {
        file(directory, "a.db-wal", &[], &[1]);
    }
    let header = &choices.0[..choices.0.len().min(84)];
    bytes[16..16 + header.len()].copy_from_slice(header);
    file(directory, "a.db", &bytes, choices.0)
}

#[rustfmt::skip]
const NAMES: [&str; 10] = [
    "16384", "16384.1", "16384_fsm", "16384_vm.7", "16384_init", "99999999999", "16384.4294967295",
    "t1_5", "PG_VERSION", ".",
];

/// A directory with a control file whose CRC fits, and some files.
fn cluster(directory: &Path, choices: &mut Choices<'_>) -> PathBuf {
    let made = "a directory of its own";
    for below in ["global", "base/5", "pg_tblspc/9/PG_15_0/5"] {
        fs::create_dir_all(directory.join(below)).expect(made);
    }
    let mut control = control();
    for _ in 0..choices.byte().unwrap_or(0) % 8 {
        let (Some(at), Some(byte)) = (choices.byte(), choices.byte()) else { break };
        control[usize::from(at)] = byte;
    }
    let raw = choices.byte().is_some_and(|b| b % 16 == 0);
    if !raw {
        let crc = crc32c::crc32c(&control[..CRC_AT]);
        control[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
    }
    file(&directory.join("global"), "pg_control", &control, &[]);
    let version = &choices.0[..choices.0.len().min(9)];
    file(directory, "PG_VERSION", b"15", version);
    for (below, pages) in [("base/5", 3), ("global", 1), ("pg_tblspc/9/PG_15_0/5", 2)] {
        let Some(name) = choices.byte().map(|b| NAMES[usize::from(b) % NAMES.len()]) else { break };
        if name == "." {
            continue;
        }
        let mut bytes = vec![0; pages * 8192];
        let head = &choices.0[..choices.0.len().min(64)];
        bytes[..head.len()].copy_from_slice(head);
        bytes.extend(&choices.0[..choices.0.len().min(100)]);
        file(&directory.join(below), name, &bytes, &[]);
    }
    directory.to_owned()
}

/// Where version 15 has the CRC of its control file, as far as the layout below goes.
const CRC_AT: usize = 288;

/// A control file of a cluster that was shut down, as version 15 lays it out.
fn control() -> Vec<u8> {
    let mut bytes = vec![0; 512];
    bytes[8..12].copy_from_slice(&1300_u32.to_le_bytes());
    bytes[16..20].copy_from_slice(&1_u32.to_le_bytes());
    bytes[208..216].copy_from_slice(&1_234_567.0_f64.to_le_bytes());
    bytes[216..220].copy_from_slice(&8192_u32.to_le_bytes());
    bytes[220..224].copy_from_slice(&131_072_u32.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever lies among a cluster's files is left out without being opened, or refused in a line.
    fn traps(cluster: &Path, left_out: u64) {
        let tables = cluster.join("base/5");
        let at = |name: &str| tables.join(name);
        let fifo = std::process::Command::new("mkfifo").arg(at("70")).status();
        assert!(fifo.expect("mkfifo is there").success());
        let victim = cluster.join("victim");
        fs::write(&victim, vec![7; 8192]).expect("a file");
        for (name, to) in [("71", "/dev/zero"), ("72", "72"), ("73", "../../victim")] {
            std::os::unix::fs::symlink(to, at(name)).expect("a link");
        }
        fs::create_dir(at("74")).expect("a directory");
        let _socket = std::os::unix::net::UnixDatagram::bind(at("75")).expect("a socket");
        let before = Store::open(cluster, None).expect("a cluster");
        assert_eq!((before.pages(), before.left_out()), (6, left_out + 6));
        before.scan(true, &mut |_| true).expect("its pages are files");
        let holes = fs::File::create(at("76")).expect("a file");
        holes.set_len(1 << 40).expect("holes take no room");
        let why = Store::open(cluster, None).expect_err("a terabyte").to_string();
        assert!(why.contains("pages, and all would be read, at most 16777216"), "{why}");
        fs::remove_file(at("76")).expect("it is there");
        for (file, named) in
            [("PG_VERSION", "no PG_VERSION"), ("global/pg_control", "no global/pg_control")]
        {
            let (path, kept) = (cluster.join(file), cluster.join("kept"));
            fs::rename(&path, &kept).expect("it is there");
            let fifo = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(fifo.expect("mkfifo is there").success());
            let why = Store::open(cluster, None).expect_err("a pipe").to_string();
            assert!(why.contains(named), "{why}");
            fs::rename(&kept, &path).expect("it was there");
        }
    }

    /// Else nothing behind the control file's CRC would ever be reached.
    #[test]
    fn a_made_cluster_is_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = cluster(directory.path(), &mut Choices(&[0, 1, 0, 0, 2]));
        let store = Store::open(&path, None).expect("a cluster");
        assert_eq!((store.kind(), store.pages()), (record::at_rest::store::Kind::Postgres, 6));
        traps(&path, store.left_out());
        let path = database(directory.path(), &mut Choices(&[1, 0x10, 0, 1, 1, 0]));
        assert_eq!(Store::open(&path, None).expect("a database").page_size(), 4096);
    }
}
