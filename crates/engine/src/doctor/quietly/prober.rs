//! Whether a core is quiet, and how fast it runs: the throughput probe (docs/METHOD.md, Contention) on a CPU that
//! the caller is not on.

use crate::doctor::quietly::GateError;
use base::analysis::{median, quiet_rate, watched_rate};
use base::model::QUIET_PROBE_FRACTION;
use host::Remembered;
use probe::Clock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A thread on a CPU that reads the probe when it is asked.
#[derive(Debug)]
pub struct Prober {
    /// For how long to look.
    ask: Sender<Duration>,
    answers: Receiver<Seen>,
    readings: Vec<f64>,
    watched: f64,
    /// The quiet rate, and how many readings it is of.
    quiet: (f64, usize),
}

/// Between two looks at a core that is not quiet: neighbours come and go in milliseconds.
const PAUSE: Duration = Duration::from_millis(1);
/// The quiet rate is worked out again when there are so many times more readings than the last time.
const GROWTH: f64 = 1.05;

/// Readings of the core clock of which the median counts: an interrupt falls into one.
const CHAINS: usize = 5;

/// What a core showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Independent instructions per core cycle; 0 where that cannot be known.
    pub rate: f64,
    /// Core cycles per nanosecond; 0 where that cannot be known.
    pub ghz: f64,
}

impl Prober {
    /// Starts it and watches the core.
    ///
    /// # Errors
    /// In one line, where it may not run on that CPU.
    pub fn start(cpu: u32) -> Result<Self, GateError> {
        let ((ask, asked), (tell, answers)) = (channel::<Duration>(), channel());
        std::thread::spawn(move || {
            if probe::pin_to(&[cpu]).is_err() {
                return;
            }
            let clock = Clock::calibrate();
            let begun = clock.anchor();
            let mut watched = clock.watch();
            let remembered = Remembered::here(cpu).of(cpu);
            let mut rate = watched_rate(&mut watched).max(remembered);
            let ghz = || {
                let mut chains = [0.0; CHAINS].map(|_: f64| clock.core_cycles_per_tick());
                let ticks_per_ns = begun.ticks_per_second(clock.anchor()) / 1e9;
                median(&mut chains).unwrap_or(0.0) * ticks_per_ns
            };
            // Who waits no longer ends it.
            while tell.send(Seen { rate, ghz: ghz() }).is_ok() {
                let Ok(time) = asked.recv() else { return };
                let readings = clock.probe_for(time, Duration::ZERO);
                rate = readings.iter().sum::<f64>() / readings.len().max(1) as f64;
            }
        });
        let watched = heard(&answers)?.rate;
        Ok(Self { ask, answers, readings: Vec::new(), watched, quiet: (watched, 0) })
    }

    /// The core right now, by one reading.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn read(&mut self) -> Result<Seen, GateError> {
        // Its first look at the time is earlier, its second later.
        self.read_for(Duration::from_micros(10))
    }

    /// The mean over a time.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn read_for(&mut self, time: Duration) -> Result<Seen, GateError> {
        // A thread that is gone is told of by the answer.
        let _ = self.ask.send(time);
        let seen = heard(&self.answers)?;
        self.readings.push(seen.rate);
        Ok(seen)
    }

    /// The rate of a quiet core, by all that is known of it.
    pub fn quiet(&mut self) -> f64 {
        if self.readings.len() as f64 > self.quiet.1 as f64 * GROWTH {
            let rate = quiet_rate(&mut self.readings).max(self.watched);
            self.quiet = (rate, self.readings.len());
        }
        self.quiet.0
    }

    /// The least reading of a quiet core.
    pub fn least(&mut self) -> f64 {
        self.quiet() * QUIET_PROBE_FRACTION
    }

    /// Looks again and again, from a reading that there is, until the core is quiet, for so long at most, but once at the
    /// least. The last reading, quiet or not.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn quiet_moment(&mut self, mut seen: Seen, within: Duration) -> Result<Seen, GateError> {
        let begun = Instant::now();
        while seen.rate < self.least() {
            std::thread::sleep(PAUSE);
            seen = self.read()?;
            if begun.elapsed() >= within {
                break;
            }
        }
        Ok(seen)
    }
}

fn heard(answers: &Receiver<Seen>) -> Result<Seen, GateError> {
    answers.recv().map_err(|e| GateError::of("cannot run on the CPU to be watched", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_highest_readings() {
        let cpu = probe::allowed_cpus()[0];
        let mut prober = Prober::start(cpu).unwrap();
        let seen = prober.read().unwrap();
        assert!(seen.rate >= 0.0 && (0.0..10.0).contains(&seen.ghz), "{seen:?}");
        prober.watched = 2.0;
        prober.readings = vec![1.0; 10];
        assert!((prober.least() - 1.86).abs() < 1e-9);
        prober.readings.extend([6.0; 100]);
        assert!((prober.least() - 5.58).abs() < 1e-9);
    }

    #[test]
    fn waiting_ends_with_a_quiet_reading_or_with_its_time() {
        let mut prober = Prober::start(probe::allowed_cpus()[0]).unwrap();
        let (quiet, busy) = (Seen { rate: 7.0, ghz: 2.0 }, Seen { rate: 1.0, ghz: 2.0 });
        prober.watched = 7.0;
        prober.readings = vec![7.0];
        assert_eq!(prober.quiet_moment(quiet, Duration::from_secs(60)).unwrap(), quiet);
        // No core is as quiet as this.
        prober.watched = 15.0;
        prober.readings.extend([1.0; 9]);
        let last = prober.quiet_moment(busy, Duration::from_millis(5)).unwrap();
        assert!(last.rate < 15.0 && prober.readings.len() > 10, "{last:?}");
    }

    #[test]
    fn a_cpu_that_there_is_not_is_told() {
        assert!(Prober::start(1 << 15).is_err());
    }
}
