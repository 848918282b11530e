//! `ciphermark tls calibrate`: what connections and requests cost servers of this machine.

use super::super::run::{random_seed, watch_signals};
use super::load::keep;
use super::{check_output, stacks};
use crate::args_tls_server::{CalibrateArgs, CourseArgs};
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::screen;
use record::State;
use tls_load::{Calibration, Regime};
use tls_server::{Calibrating, Course, Libraries, Setting, Trouble};

pub(super) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    let regimes = regimes(args.regime.iter().map(String::as_str))?;
    if let Some(path) = &args.output {
        check_output::<Calibration>(path)?;
    }
    let nginx = if args.no_nginx { None } else { Some(args.course.nginx()?) };
    let libraries = args.library.as_deref().map(library).transpose()?;
    let document = measured(&args.course, &regimes, nginx, libraries)?;
    keep(args.output.as_deref(), &document)?;
    screen::print(|options| tls_load::render_calibration(&document, args.format.into(), options))?;
    let failed = document.points.iter().any(|p| p.state == State::Failed);
    Ok(if failed { Exit::SomeRefused } else { Exit::Done })
}

/// Measures a calibration, with a bar.
pub(super) fn measured(
    course: &CourseArgs,
    regimes: &[Regime],
    nginx: Option<tls_server::NginxFacts>,
    libraries: Option<Libraries>,
) -> Result<Calibration, Failure> {
    let cells = tls_server::calibration_cells(regimes, nginx.is_some());
    let wanted = course.calibrating(nginx, libraries)?;
    let (stop, bar) = (watch_signals()?, Bar::new(course.quiet));
    let document =
        tls_server::calibrate(&cells, &wanted, &stop, &mut |done, of| bar.visits(done, of));
    bar.finish();
    document.map_err(not_done)
}

impl CourseArgs {
    pub(super) fn nginx(&self) -> Result<tls_server::NginxFacts, Failure> {
        tls_server::find_nginx(self.nginx.as_deref()).map_err(Failure::not_done)
    }

    pub(super) fn calibrating(
        &self,
        nginx: Option<tls_server::NginxFacts>,
        libraries: Option<Libraries>,
    ) -> Result<Calibrating, Failure> {
        let server_cpu = engine::measuring_cpu();
        let client_cpu = tls_server::client_cpu(server_cpu).ok_or_else(|| {
            Failure::not_done("servers and the client need a CPU each, and there is only one")
        })?;
        let course = Course {
            rounds: self.rounds,
            visit_seconds: self.visit.as_secs_f64(),
            budget: self.budget,
            seed: self.seed.unwrap_or_else(random_seed),
        };
        let setting = Setting { nginx, libraries, server_cpu, client_cpu };
        Ok(Calibrating { setting, course, command: std::env::args().collect() })
    }
}

pub(super) fn regimes<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<Regime>, Failure> {
    let mut all = Vec::new();
    for text in texts {
        let regime = Regime::ALL.iter().copied().find(|regime| regime.name() == text.trim());
        let regime = regime.ok_or_else(|| {
            Failure::usage(format!("unknown regime '{text}': one of low, steady, saturated"))
        })?;
        if !all.contains(&regime) {
            all.push(regime);
        }
    }
    Ok(all)
}

/// The files of one stack.
fn library(text: &str) -> Result<Libraries, Failure> {
    let (stacks, _) = stacks(&[text.to_owned()], false)?;
    match stacks.as_slice() {
        [one] => Ok(Libraries {
            ssl: one.path.clone(),
            crypto: one.crypto.clone().unwrap_or_else(|| one.path.clone()),
        }),
        several => {
            let labels: Vec<&str> = several.iter().map(|s| s.facts.label.as_str()).collect();
            let labels = labels.join(", ");
            Err(Failure::usage(format!("'{text}' names several stacks: {labels}; one is needed")))
        }
    }
}

pub(super) fn not_done(trouble: Trouble) -> Failure {
    Failure::not_done(trouble)
}
