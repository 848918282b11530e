//! A run of `ciphermark tls records`.

use crate::tls::check::Negotiated;
use crate::tls::document::{Cost, Run};
use crate::tls::subject::Protection;
use crate::{Disturbances, Measurement, State, Stopped};
use base::analysis::fit_line;
use base::model::Direction;
use serde::{Deserialize, Serialize};

/// What lies inside the clock, in words.
pub const RECORDS_SPAN: &str = "sending: SSL_write of one record into memory; receiving: SSL_read of one \
    record out of it, in batches of at most 64 KiB and 32 records, over a connection that is open; no \
    socket, no system call";

/// A run of records.
pub type RecordsDocument = Run<RecordRow>;

impl RecordsDocument {
    /// What a record costs, and each of its bytes: one for each stack, version and suite.
    #[must_use]
    pub fn lines(&self) -> Vec<RecordLines> {
        record_lines(&self.rows)
    }
}

/// Records of one size. Numbers are null unless the state is `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordRow {
    /// The stack, by its label.
    pub stack: String,
    /// What was asked for.
    pub protection: Protection,
    /// Bytes of data in a record.
    pub size: u32,
    /// What became of it.
    pub state: State,
    /// Why, when not measured or not precise.
    pub reason: Option<String>,
    /// What the connection negotiated.
    pub negotiated: Option<Negotiated>,
    /// Bytes of a record on the wire beside its data: header, nonce, tag or MAC, padding.
    pub overhead_bytes: Option<u32>,
    /// What sending one costs the server.
    pub send: Option<Cost>,
    /// What receiving one costs the client.
    pub receive: Option<Cost>,
    /// The bare cipher.
    pub bare: Bare,
    /// Clean samples.
    pub samples: u64,
    /// Records in them.
    pub records: u64,
    /// Processes that they come from.
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came.
    pub contended: bool,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
}

/// The suite's cipher in the library under the stack, called directly: the model `message`, with all its
/// checks. Of suites with CBC the cipher without the HMAC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bare {
    /// The algorithm.
    pub algorithm: String,
    /// A message of the record's size, encrypted.
    pub encrypt: Option<BareCost>,
    /// The same, decrypted.
    pub decrypt: Option<BareCost>,
    /// Why one of them is missing.
    pub reason: Option<String>,
}

/// What a message costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BareCost {
    /// Trimmed mean over processes of each one's median.
    pub median_ns: f64,
    /// Lower end of its 95 % interval.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
}

impl RecordRow {
    /// What the stack adds to the bare cipher when it sends, in nanoseconds.
    #[must_use]
    pub fn added_to_sending(&self) -> Option<f64> {
        Some(self.send?.median_ns - self.bare.encrypt?.median_ns)
    }

    /// The same when it receives.
    #[must_use]
    pub fn added_to_receiving(&self) -> Option<f64> {
        Some(self.receive?.median_ns - self.bare.decrypt?.median_ns)
    }
}

/// The lines through the sizes of a suite; null where fewer than three sizes were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordLines {
    /// The stack, by its label.
    pub stack: String,
    /// Version and suite.
    pub protection: Protection,
    /// Sending.
    pub send: Option<FittedLine>,
    /// Receiving.
    pub receive: Option<FittedLine>,
    /// The bare cipher, encrypting.
    pub bare_encrypt: Option<FittedLine>,
    /// The bare cipher, decrypting.
    pub bare_decrypt: Option<FittedLine>,
}

/// Time = fixed + per byte · size, with the least sum of squared relative distances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedLine {
    /// Of a record without data.
    pub fixed_ns: f64,
    /// Of each byte.
    pub ns_per_byte: f64,
    /// Largest distance of a size from the line, as a fraction of its time. Above 0.1 the line describes no
    /// size well.
    pub residual: f64,
}

impl FittedLine {
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let line = fit_line(points)?;
        Some(Self { fixed_ns: line.intercept, ns_per_byte: line.slope, residual: line.residual })
    }

    /// Whether the line describes the sizes.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.residual <= 0.1
    }
}

/// Puts the bare ciphers of a record of the same run beside the records, or why there is none.
pub fn beside(document: &mut RecordsDocument, record: Result<&crate::Record, &String>) {
    let stacks = &document.stacks;
    for row in &mut document.rows {
        let Some(stack) = stacks.iter().find(|s| s.label == row.stack) else { continue };
        let of_it = |m: &&Measurement| {
            m.library.path == stack.bare_path
                && m.algorithm == row.bare.algorithm
                && m.size == row.size as usize
        };
        let cost = |direction: Direction| {
            if stack.bare_path.is_empty() {
                return Err("no library with the stack's primitives was found".to_owned());
            }
            let all = &record.map_err(Clone::clone)?.measurements;
            let found = all.iter().filter(of_it).find(|m| m.direction == direction);
            found.ok_or("it was not measured".to_owned()).and_then(bare_cost)
        };
        let costs = [cost(Direction::Encrypt), cost(Direction::Decrypt)];
        row.bare.reason = costs.iter().find_map(|c| c.as_ref().err().cloned());
        [row.bare.encrypt, row.bare.decrypt] = costs.map(Result::ok);
    }
}

fn bare_cost(m: &Measurement) -> Result<BareCost, String> {
    match (m.state, m.ns_per_op) {
        (State::Measured, Some(ns)) => {
            Ok(BareCost { median_ns: ns.median, low_ns: ns.low, high_ns: ns.high })
        }
        (state, _) => {
            Err(m.reason.clone().unwrap_or_else(|| format!("the case is {}", state.name())))
        }
    }
}

/// The lines through each suite's sizes, in the rows' order.
#[must_use]
pub fn record_lines(rows: &[RecordRow]) -> Vec<RecordLines> {
    let mut keys: Vec<(&str, Protection)> = Vec::new();
    for row in rows {
        let key = (row.stack.as_str(), row.protection);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let lines = keys.into_iter().map(|(stack, protection)| {
        let of_it = || rows.iter().filter(move |r| r.stack == stack && r.protection == protection);
        let through = |time: &dyn Fn(&RecordRow) -> Option<f64>| {
            let points: Vec<_> =
                of_it().filter_map(|row| Some((f64::from(row.size), time(row)?))).collect();
            FittedLine::through(&points)
        };
        RecordLines {
            stack: stack.to_owned(),
            protection,
            send: through(&|r| r.send.map(|c| c.median_ns)),
            receive: through(&|r| r.receive.map(|c| c.median_ns)),
            bare_encrypt: through(&|r| r.bare.encrypt.map(|c| c.median_ns)),
            bare_decrypt: through(&|r| r.bare.decrypt.map(|c| c.median_ns)),
        }
    });
    lines.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tls::fixtures::cost;
    use crate::tls::suite::Suite;
    use crate::tls::words::Version;

    pub(crate) fn row(suite: Suite, size: u32, ns: Option<f64>) -> RecordRow {
        let bare = |ns: f64| BareCost { median_ns: ns, low_ns: ns, high_ns: ns };
        RecordRow {
            stack: "some@1.0".to_owned(),
            protection: Protection { version: Version::Tls13, suite },
            size,
            state: if ns.is_some() { State::Measured } else { State::Unsupported },
            reason: ns.is_none().then(|| "NO_CIPHER|MATCH\u{1b}[31m".to_owned()),
            negotiated: None,
            overhead_bytes: ns.map(|_| 22),
            send: ns.map(cost),
            receive: ns.map(|ns| cost(ns * 1.25)),
            bare: Bare {
                algorithm: suite.cipher().to_owned(),
                encrypt: ns.map(|ns| bare(ns / 2.0)),
                decrypt: ns.map(|ns| bare(ns / 2.0)),
                reason: None,
            },
            samples: 30,
            records: 3000,
            processes: 6,
            disturbed: Disturbances::default(),
            contended: false,
            stopped: None,
        }
    }

    #[test]
    fn a_line_goes_through_each_suites_own_sizes() {
        let time = |size: u32| Some(400.0 + 0.25 * f64::from(size));
        let mut rows: Vec<_> =
            [64, 1024, 4096, 16384].map(|size| row(Suite::Aes128Gcm, size, time(size))).to_vec();
        rows.push(row(Suite::Aes256Gcm, 64, None));
        let lines = record_lines(&rows);
        assert_eq!(lines.len(), 2);
        let send = lines[0].send.unwrap();
        assert!((send.fixed_ns - 400.0).abs() < 1e-6 && (send.ns_per_byte - 0.25).abs() < 1e-9);
        assert!((lines[0].receive.unwrap().fixed_ns - 500.0).abs() < 1e-6 && send.is_linear());
        assert!((lines[0].bare_encrypt.unwrap().fixed_ns - 200.0).abs() < 1e-6);
        assert_eq!(lines[1].send, None);
    }

    #[test]
    fn what_the_stack_adds_is_the_difference_and_nothing_where_one_is_missing() {
        let mut row = row(Suite::Aes128Gcm, 64, Some(400.0));
        assert_eq!(row.added_to_sending(), Some(200.0));
        assert_eq!(row.added_to_receiving(), Some(300.0));
        row.bare.encrypt = None;
        assert_eq!(row.added_to_sending(), None);
    }
}
