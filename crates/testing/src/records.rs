//! Record files and journals.

use crate::check;
use record::Journal;

pub(crate) fn run(bytes: &[u8]) {
    record(bytes);
    journal(bytes);
}

fn record(bytes: &[u8]) {
    match record::from_bytes(bytes.to_vec(), "r.json") {
        Err(why) => check::line(&why),
        Ok(read) => {
            let written = record::to_json(&read);
            let again = record::from_json(&written, "r.json");
            assert_eq!(again.expect("what was written is read"), read);
        }
    }
}

fn journal(bytes: &[u8]) {
    match Journal::read_from(bytes, "r.json.partial") {
        Err(why) => check::line(&why),
        Ok(kept) => assert!(kept.samples.iter().all(|s| s.case < kept.head.cases)),
    }
}
