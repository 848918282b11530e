//! Why an imported figure is not to be believed: no core can be so fast, or not the one beside which it stands.

use crate::{Measurement, Record};
use base::analysis::bound::{Core, Operation, limit};
use base::model::{Algorithm, Model};

/// No core that was ever sold runs at this clock.
const FASTEST_GHZ: f64 = 7.0;

/// How far the clock of another run may lie above every clock that the record saw.
const CLOCK_TOLERANCE: f64 = 1.05;

/// Why no core reaches the figure of a row.
pub(super) fn beyond_any_core(m: &Measurement) -> Option<String> {
    let most = most(&Core::faster_than_any(), m, FASTEST_GHZ)?;
    let own = own(m)?;
    (own > most).then(|| {
        format!("no core can reach {own:.0} MB/s: the bound is {most:.0} at {FASTEST_GHZ} GHz")
    })
}

/// Why the core of a record does not reach it.
pub(super) fn beyond_this_core(m: &Measurement, record: &Record) -> Option<String> {
    let (core, clock) = (record.limits.core.as_ref()?, &record.host.clock);
    let ghz = clock.core_ghz_range.map(|(_, high)| high).or(clock.core_ghz_median)?;
    let most = most(core, m, ghz)?;
    let own = own(m)?;
    (own > most * CLOCK_TOLERANCE).then(|| {
        format!(
            "this machine cannot reach {own:.0} MB/s: its limit is {most:.0} at {ghz:.2} GHz, so it is another \
             machine's figure or a wrong one"
        )
    })
}

/// MB/s of one thread.
fn own(m: &Measurement) -> Option<f64> {
    m.mb_per_s.map(|all| all / f64::from(m.threads.max(1)))
}

/// The most MB/s that a core can reach at a clock, where a bound is known.
fn most(core: &Core, m: &Measurement, ghz: f64) -> Option<f64> {
    // `openssl speed` has names of its own for a cipher with HMAC: the cipher alone bounds both.
    let cipher = m.algorithm.split_once("-hmac-").map_or(&*m.algorithm, |(cipher, _)| cipher);
    let found = Algorithm::find(&m.algorithm).or_else(|_| Algorithm::find(cipher));
    let operation = Operation {
        // What nobody knows is at least read.
        algorithm: found.or_else(|_| Algorithm::find("memcpy")).ok()?,
        direction: m.direction,
        model: m.model,
        tier: m.tier,
        size: m.size,
        footprint: m.footprint,
        in_place: m.in_place || m.model == Model::Stream,
        several: false,
    };
    let cycles = limit(core, &operation).ok()?.cycles;
    Some(m.size as f64 / cycles * ghz * 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::beside;
    use super::*;
    use crate::{LibraryId, State, sample};
    use base::analysis::bound::Instruction;
    use base::model::{Direction, Tier};

    fn figure(algorithm: &str, direction: Direction, mb_per_s: f64) -> Measurement {
        let library = LibraryId {
            name: "openssl".to_owned(),
            version: String::new(),
            path: String::new(),
            id: String::new(),
        };
        Measurement {
            direction,
            model: Model::Stream,
            size: 16384,
            tier: Tier::Native,
            mb_per_s: Some(mb_per_s),
            ..Measurement::blank(library, algorithm, State::Imported)
        }
    }

    /// A round of AES takes four cycles.
    fn core() -> Core {
        let aesenc = Instruction {
            name: "aesenc".to_owned(),
            width_bits: 128,
            per_cycle: 2.0,
            latency_cycles: Some(4.0),
            spread: 0.0,
            samples: 15,
        };
        Core { instructions: vec![aesenc], window: Some(60.0), ..Core::default() }
    }

    #[test]
    fn what_no_core_can_reach_is_doubted_whatever_the_algorithm_is_called() {
        let why = |name, direction, speed| beyond_any_core(&figure(name, direction, speed));
        let (encrypt, decrypt) = (Direction::Encrypt, Direction::Decrypt);
        let said = why("aes-256-cbc-hmac-sha256", encrypt, 130_000.0).unwrap();
        assert_eq!(said, "no core can reach 130000 MB/s: the bound is 4000 at 7 GHz");
        assert!(why("aes-256-cbc-hmac-sha1", encrypt, 7000.0).is_some());
        assert!(why("nobody-knows-it", encrypt, 3e6).is_some());
        // The fastest that was ever seen of each.
        for (name, direction, speed) in [
            ("aes-256-cbc-hmac-sha256", encrypt, 1500.0),
            ("aes-128-cbc", decrypt, 70_000.0),
            ("aes-128-gcm", encrypt, 45_000.0),
            ("aegis-128x4", encrypt, 180_000.0),
            ("chacha20-poly1305", encrypt, 9000.0),
            ("sha256", Direction::Digest, 3500.0),
            ("xxh3-64", Direction::Digest, 120_000.0),
            ("nobody-knows-it", encrypt, 200_000.0),
        ] {
            assert_eq!(why(name, direction, speed), None, "{name}");
        }
    }

    #[test]
    fn what_the_core_beside_cannot_reach_is_doubted_with_its_limit() {
        let mut record = sample::record();
        record.limits.core = Some(core());
        record.host.clock.core_ghz_range = Some((3.0, 3.5));
        // 14 rounds of 4 cycles for 16 bytes.
        let why =
            |speed| beyond_this_core(&figure("aes-256-cbc", Direction::Encrypt, speed), &record);
        assert_eq!(why(1000.0), None);
        let said = why(1652.0).unwrap();
        let expected = "this machine cannot reach 1652 MB/s: its limit is 1000 at 3.50 GHz";
        assert!(said.starts_with(expected), "{said}");
        let two = Measurement { threads: 2, ..figure("aes-256-cbc", Direction::Encrypt, 1652.0) };
        assert_eq!(beyond_this_core(&two, &record), None, "826 MB/s of each");
        record.limits.core = None;
        assert_eq!(beyond_this_core(&two, &record), None);
    }

    #[test]
    fn a_figure_of_a_named_machine_is_not_measured_by_the_core_beside_it() {
        let mut own = sample::record();
        own.limits.core = Some(core());
        let doubted = |machine: Option<&str>| {
            let m = figure("aes-256-cbc", Direction::Encrypt, 3900.0);
            let machine = machine.map(str::to_owned);
            let from = crate::Imported { source: "a blog".to_owned(), machine };
            let imported = Record {
                measurements: vec![Measurement { imported: Some(from), ..m }],
                ..Record::default()
            };
            beside(own.clone(), imported).measurements.pop().unwrap().reason.is_some()
        };
        assert!(doubted(None) && !doubted(Some("another")));
    }
}
