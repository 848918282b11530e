//! What each scheme and library would take of a server's CPU.

use super::Work;
use crate::answer::{Basis, Outcome, advise};
use crate::cost::{Costs, Price};
use crate::data::Data;
use crate::evidence::Evidence;
use crate::fresh::Surroundings;
use crate::question::{KeyPer, Question};
use claims::expression::Interval;
use model::Model;
use serde::{Deserialize, Serialize};

/// What tells a prediction from other documents.
pub const KIND: &str = "postgres-prediction";
/// Version of the format.
pub const FORMAT_VERSION: &str = "1.0";

/// Nanoseconds that a page takes longer when the server's own code has emptied the caches of the cipher's, by a part of
/// the scheme's name, the first that fits: OpenSSL 3.0.19 on Zen 4, `scripts/predict-postgres cold`. AEGIS: none
/// measured; as XTS, the least.
const COLD_NS: [(&str, f64); 7] = [
    ("xts", 1500.0),
    ("ctr", 1950.0),
    ("cbc", 1950.0),
    ("ocb", 2150.0),
    ("chacha", 2450.0),
    ("aegis", 1500.0),
    ("", 2500.0),
];
/// The same of a MAC beside the cipher, and of a sum.
const COLD_CHECK_NS: [(&str, f64); 2] = [("+hmac", 1650.0), ("+", 300.0)];

/// What a page takes beside its price, read or written. From pilots of `none` and three other schemes
/// (docs/AT-REST.md).
struct Beside {
    /// Nanoseconds to copy it, so that what the server holds stays as it is.
    copied: f64,
    /// Nanoseconds to find its nonce.
    nonce: f64,
    /// How much of [`COLD_NS`] a cipher pays, with the time that the server loses because the cipher has emptied its
    /// caches; a cipher alone, and with a tag.
    cipher: f64,
    tagged: f64,
}
const READ: Beside = Beside { copied: 0.0, nonce: 700.0, cipher: 0.7, tagged: 1.3 };
const WRITE: Beside = Beside { copied: 1400.0, nonce: 700.0, cipher: 0.7, tagged: 1.5 };
/// Other CPUs, libraries and queries lie within this.
const SPREAD: Interval = Interval { median: 1.0, low: 0.5, high: 1.5 };

/// A prediction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// [`KIND`]
    pub kind: String,
    /// [`FORMAT_VERSION`]
    pub format_version: String,
    /// What the server did.
    pub work: Work,
    /// Pages for each transaction; none where none ended.
    pub per_transaction: Option<PerTransaction>,
    /// The record that the prices are from.
    pub basis: Basis,
    /// What `advise` chooses at this rate of writing; none where no scheme fulfils the wishes.
    pub choice: Option<String>,
    /// Every scheme in every library, the cheapest first.
    pub rows: Vec<Row>,
}

/// Pages for each transaction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerTransaction {
    /// Read and decrypted.
    pub read: Interval,
    /// Encrypted and written.
    pub written: Interval,
    /// Of the log, encrypted and written.
    pub log: Interval,
}

/// One scheme in one library, or two.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The scheme.
    pub scheme: String,
    /// `openssl@3.0.19`
    pub library: String,
    /// The rules that reject it under the wishes, the decisive one first; none where it fits.
    pub rejected_by: Vec<String>,
    /// Nanoseconds to decrypt a page, from the record.
    pub read_ns: Interval,
    /// Nanoseconds to encrypt one.
    pub write_ns: Interval,
    /// Nanoseconds of a page that is read, beside its price.
    pub beside_read_ns: Interval,
    /// Nanoseconds of a page that is written, beside its price.
    pub beside_write_ns: Interval,
    /// CPU seconds a second, which is CPUs kept busy.
    pub cpus: Interval,
    /// Microseconds of CPU for each transaction; none where none ended.
    pub us_per_transaction: Option<Interval>,
    /// Microseconds that a read miss takes longer.
    pub read_miss_us: Interval,
    /// Microseconds that a write of the log, and so a commit, takes longer.
    pub commit_us: Option<Interval>,
}

/// What encryption would take of a server that did this work, by the prices of a record.
#[must_use]
pub fn predict(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &Surroundings,
    work: Work,
) -> Prediction {
    let advice = advise(data, question, evidence, around);
    let model = match question.wishes.key_per {
        KeyPer::Store | KeyPer::Epoch => Model::Message,
        KeyPer::Write => Model::Rekey,
    };
    let costs = Costs::of(data, evidence, question.size, question.tier, model);
    let mut rows = Vec::new();
    for scheme in &data.schemes {
        let rejected = advice.rejected.iter().find(|r| r.scheme == scheme.id);
        let allowed = |p: &&Price| p.libraries.iter().all(|l| question.wishes.takes(l));
        for price in costs.prices(scheme).unwrap_or_default().iter().filter(allowed) {
            let mut row = row(&work, &scheme.id, price, evidence);
            let rules = rejected.iter().flat_map(|r| std::iter::once(&r.rule).chain(&r.also));
            row.rejected_by = rules.cloned().collect();
            rows.push(row);
        }
    }
    rows.sort_by(|a, b| a.cpus.median.total_cmp(&b.cpus.median));
    let per = |count| work.each(count);
    let each = per(work.read).zip(per(work.written)).zip(per(work.log));
    Prediction {
        kind: KIND.to_owned(),
        format_version: FORMAT_VERSION.to_owned(),
        per_transaction: each.map(|((read, written), log)| PerTransaction { read, written, log }),
        basis: advice.basis,
        choice: match advice.outcome {
            Outcome::Choice(choice) => Some(choice.scheme),
            Outcome::None(_) => None,
        },
        rows,
        work,
    }
}

/// Nanoseconds of a page beside its price. A store's own record has nonces and cold pages in its prices; what of this is
/// left beside them is not known.
fn beside(evidence: Evidence<'_>, scheme: &str, page: &Beside) -> Interval {
    let first = |table: &[(&str, f64)]| {
        table.iter().find(|(part, _)| scheme.contains(part)).map_or(0.0, |(_, ns)| *ns)
    };
    let has_any = |parts: &[&str]| parts.iter().any(|part| scheme.contains(part));
    let nonce = if has_any(&["-xts"]) { 0.0 } else { page.nonce };
    let cipher = if has_any(&["-xts", "-ctr", "-cbc"]) { page.cipher } else { page.tagged };
    let cold = cipher * first(&COLD_NS) + page.tagged * first(&COLD_CHECK_NS);
    let ns = page.copied + nonce + cold;
    match evidence {
        Evidence::Survey(_) => SPREAD.with(Interval::exact(ns), |share, ns| share * ns),
        Evidence::Pages(_) => Interval { median: 0.3 * cold, low: 0.0, high: ns },
    }
}

fn row(work: &Work, scheme: &str, price: &Price, evidence: Evidence<'_>) -> Row {
    let sum = |a: Interval, b: Interval| a.independent(b, |a, b| a + b);
    let times = |count: Interval, ns: Interval| count.with(ns, |n, ns| n * ns);
    let beside_read_ns = beside(evidence, scheme, &READ);
    let beside_write_ns = beside(evidence, scheme, &WRITE);
    let decrypt = sum(price.read_ns, beside_read_ns);
    let encrypt = sum(price.write_ns, beside_write_ns);
    let total = sum(times(work.read, decrypt), times(work.encrypted(), encrypt));
    let scaled = |of: Interval, by: f64| of.with(Interval::exact(by), |ns, by| ns * by);
    // A commit waits for one write of the log.
    let of_commit = |writes: f64| scaled(times(work.log, encrypt), 1e-3 / writes);
    Row {
        scheme: scheme.to_owned(),
        library: price.label(),
        rejected_by: Vec::new(),
        read_ns: price.read_ns,
        write_ns: price.write_ns,
        beside_read_ns,
        beside_write_ns,
        cpus: scaled(work.rate(total), 1e-9),
        us_per_transaction: work.each(scaled(total, 1e-3)),
        read_miss_us: scaled(decrypt, 1e-3),
        commit_us: (work.log_writes.median > 0.0).then(|| of_commit(work.log_writes.median)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::sample::{record, work};
    use jiff::civil::date;

    fn predicted(work: Work) -> Prediction {
        let data = Data::built_in();
        let question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 24));
        let around = Surroundings { today: date(2026, 11, 24), cpu: None, libraries: Vec::new() };
        predict(&data, &question, Evidence::Survey(&record()), &around, work)
    }

    #[test]
    fn a_price_times_the_pages_is_what_encryption_takes() {
        let prediction = predicted(work());
        let [row] = &prediction.rows[..] else { panic!("{:?}", prediction.rows) };
        assert_eq!((row.scheme.as_str(), row.read_ns.median), ("aes-256-gcm", 1000.0));
        // 1900 pages decrypted, 2750 encrypted, in 1000 transactions and 10 s.
        let (read, write) = (row.beside_read_ns.median / 1e3, row.beside_write_ns.median / 1e3);
        let us = 1.9 * (1.0 + read) + 2.75 * (2.0 + write);
        let each = row.us_per_transaction.unwrap();
        assert!((each.median - us).abs() < 1e-9, "{each:?}");
        assert!(each.low < us && each.high > us, "{each:?}");
        assert!((row.cpus.median - us * 1e-4).abs() < 1e-12, "{:?}", row.cpus);
        // Two pages in each write of the log.
        let commit = 2.0 * (2.0 + write);
        assert!((row.commit_us.unwrap().median - commit).abs() < 1e-9);
        assert_eq!(prediction.choice.as_deref(), Some("aes-256-gcm"));
    }

    #[test]
    fn what_lies_beside_a_price_depends_on_cipher_and_check() {
        let record = record();
        let of = |scheme| beside(Evidence::Survey(&record), scheme, &WRITE).median.round();
        let all = ["aes-256-xts", "aes-256-gcm", "aes-256-ctr+hmac-sha256", "aes-256-ctr+xxh3-64"];
        assert_eq!(all.map(of), [2450.0, 5850.0, 5940.0, 3915.0]);
    }

    #[test]
    fn an_idle_server_takes_nothing_and_has_no_transaction() {
        let nothing = Interval::exact(0.0);
        let idle = Work {
            transactions: 0.0,
            read: nothing,
            written: nothing,
            log: nothing,
            log_writes: nothing,
            ..work()
        };
        let prediction = predicted(idle);
        let row = &prediction.rows[0];
        assert_eq!((row.cpus.median, row.us_per_transaction, row.commit_us), (0.0, None, None));
        assert!(prediction.per_transaction.is_none());
    }
}
