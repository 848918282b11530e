//! One sample of handshakes, records or operations, with two ends.

use base::model::{OtherEnd, RawSample};
use serde::{Deserialize, Serialize};

/// Some handshakes, or some records, in a row. What the probes and the kernel said holds for both ends, which take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HandshakeSample {
    /// The server's ticks.
    #[serde(flatten)]
    pub server: RawSample,
    /// The client's.
    pub client_ticks: u64,
    /// Of the server's, those that made and freed the connection.
    pub server_setup_ticks: u64,
    /// Of the client's.
    pub client_setup_ticks: u64,
}

/// Core cycles of both ends from which on a sample is a long one: half a millisecond or so.
const LONG_CYCLES: f64 = 1e6;

/// How far the core's clock may move within a long sample. Neighbours in a hypervisor move it by 5 % at a
/// time, and some milliseconds hardly pass without (docs/TLS.md): the tight bound of short samples would leave
/// nothing. Cycles by the mean of both readings are then off by half of that at the most, to either
/// side, which the interval over processes has in it.
const LONG_MOVED: f64 = 0.10;

impl HandshakeSample {
    /// From what a journal keeps of it.
    #[must_use]
    pub fn of(server: RawSample, other: OtherEnd) -> Self {
        Self {
            server,
            client_ticks: other.ticks,
            server_setup_ticks: other.own_setup_ticks,
            client_setup_ticks: other.setup_ticks,
        }
    }

    /// What a journal keeps beside the server's sample.
    #[must_use]
    pub fn other(&self) -> OtherEnd {
        OtherEnd {
            ticks: self.client_ticks,
            setup_ticks: self.client_setup_ticks,
            own_setup_ticks: self.server_setup_ticks,
        }
    }

    /// The server's part, as a sample to be judged and summed up.
    #[must_use]
    pub fn server_sample(&self) -> RawSample {
        self.part(self.server.ticks)
    }

    /// The client's.
    #[must_use]
    pub fn client_sample(&self) -> RawSample {
        self.part(self.client_ticks)
    }

    fn part(&self, ticks: u64) -> RawSample {
        let whole = self.server;
        let clock = whole.clock();
        let is_long = (whole.ticks + self.client_ticks) as f64 * clock > LONG_CYCLES;
        let moved = (whole.clock_after / whole.clock_before - 1.0).abs();
        if is_long && moved <= LONG_MOVED {
            RawSample { ticks, clock_before: clock, clock_after: clock, ..whole }
        } else {
            RawSample { ticks, ..whole }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::Disturbance;

    fn moved(server: u64, client: u64, by: f64) -> HandshakeSample {
        let server = RawSample {
            ops: 1,
            ticks: server,
            clock_before: 1.0,
            clock_after: 1.0 + by,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        HandshakeSample { server, client_ticks: client, ..HandshakeSample::default() }
    }

    #[test]
    fn a_clock_that_moves_a_little_disturbs_short_samples_and_not_long_ones() {
        let judged = |s: HandshakeSample| {
            [s.server_sample().disturbance(5.0), s.client_sample().disturbance(5.0)]
        };
        assert_eq!(judged(moved(90_000, 90_000, 0.05)), [Some(Disturbance::ClockMoved); 2]);
        assert_eq!(judged(moved(90_000, 990_000, 0.05)), [None; 2]);
        assert_eq!(judged(moved(90_000, 990_000, 0.15)), [Some(Disturbance::ClockMoved); 2]);
    }

    #[test]
    fn the_parts_share_all_but_the_ticks() {
        let sample = moved(10, 7, 0.01);
        assert_eq!(sample.server_sample(), sample.server);
        assert_eq!(sample.client_sample(), RawSample { ticks: 7, ..sample.server });
    }

    #[test]
    fn a_long_sample_has_the_cycles_that_the_mean_of_both_readings_gives() {
        let sample = moved(1_000_000, 2_000_000, 0.08);
        assert!((sample.server_sample().cycles_per_op() - 1_040_000.0).abs() < 1e-3);
        assert!((sample.client_sample().cycles_per_op() - 2_080_000.0).abs() < 1e-3);
    }
}
