//! Whether a core is quiet: the throughput probe (docs/METHOD.md, Contention) on the servers' CPU, before
//! and after each slice of a visit.

use crate::Trouble;
use analysis::{quiet_rate, watched_rate};
use host::Remembered;
use model::QUIET_PROBE_FRACTION;
use probe::Clock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A thread on the servers' CPU that reads the probe when it is asked.
#[derive(Debug)]
pub(crate) struct Prober {
    ask: Sender<()>,
    answers: Receiver<f64>,
    readings: Vec<f64>,
    watched: f64,
}

impl Prober {
    /// Starts it and watches the core.
    ///
    /// # Errors
    /// In one line, where it may not run on that CPU.
    pub(crate) fn start(cpu: u32) -> Result<Self, Trouble> {
        let ((ask, asked), (tell, answers)) = (channel::<()>(), channel());
        std::thread::spawn(move || {
            if probe::pin_to(&[cpu]).is_err() {
                return;
            }
            let clock = Clock::calibrate();
            let mut watched = clock.watch();
            let remembered = Remembered::here(cpu).of(cpu);
            let mut reading = watched_rate(&mut watched).max(remembered);
            // Who waits no longer ends it.
            while tell.send(reading).is_ok() && asked.recv().is_ok() {
                // One reading: its first look at the time is earlier, its second later.
                let readings = clock.probe_for(Duration::from_micros(10), Duration::ZERO);
                reading = readings.last().copied().unwrap_or(0.0);
            }
        });
        let watched = heard(&answers)?;
        Ok(Self { ask, answers, readings: Vec::new(), watched })
    }

    /// Independent instructions per core cycle right now; 0 where that cannot be known.
    pub(crate) fn read(&mut self) -> Result<f64, Trouble> {
        // A thread that is gone is told of by the answer.
        let _ = self.ask.send(());
        let reading = heard(&self.answers)?;
        self.readings.push(reading);
        Ok(reading)
    }

    /// The least reading of a quiet core, by all that is known of it.
    pub(crate) fn least(&mut self) -> f64 {
        quiet_rate(&mut self.readings).max(self.watched) * QUIET_PROBE_FRACTION
    }
}

fn heard(answers: &Receiver<f64>) -> Result<f64, Trouble> {
    answers.recv().map_err(|e| Trouble::of("cannot run on the servers' CPU", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_highest_readings() {
        let cpu = probe::allowed_cpus()[0];
        let mut prober = Prober::start(cpu).unwrap();
        assert!(prober.read().unwrap() >= 0.0);
        prober.watched = 2.0;
        prober.readings = vec![1.0; 10];
        assert!((prober.least() - 1.86).abs() < 1e-9);
        prober.readings.extend([6.0; 100]);
        assert!((prober.least() - 5.58).abs() < 1e-9);
    }

    #[test]
    fn a_cpu_that_there_is_not_is_told() {
        assert!(Prober::start(1 << 15).is_err());
    }
}
