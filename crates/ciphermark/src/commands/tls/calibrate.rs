//! `ciphermark tls calibrate`: what connections and requests cost servers of this machine.

use super::super::run::{random_seed, watch_signals};
use super::stacks;
use crate::args_tls_server::{CalibrateArgs, CourseArgs};
use crate::choose;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::server::{Calibrating, Course, Libraries, Setting};
use judge::load::{Calibration, Regime};
use record::State;

pub(super) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    args.out.check::<Calibration>()?;
    let nginx = if args.no_nginx { None } else { Some(args.course.nginx()?) };
    let libraries = args.library.as_deref().map(library).transpose()?;
    let regimes = choose::distinct(&args.regime);
    let document = measured(&args.course, &regimes, nginx, libraries)?;
    args.out.deliver(&document, judge::load::render_calibration)?;
    let failed = document.points.iter().any(|p| p.state == State::Failed);
    Ok(if failed { Exit::SomeRefused } else { Exit::Done })
}

/// Measures a calibration with a progress bar.
pub(super) fn measured(
    course: &CourseArgs,
    regimes: &[Regime],
    nginx: Option<crate::server::NginxFacts>,
    libraries: Option<Libraries>,
) -> Result<Calibration, Failure> {
    let cells = crate::server::calibration_cells(regimes, nginx.is_some());
    let wanted = course.calibrating(nginx, libraries)?;
    let (stop, bar) = (watch_signals()?, Bar::new(course.quiet));
    let document = crate::server::calibrate(&cells, &wanted, stop.flag(), &mut |done, of| {
        bar.visits(done, of)
    });
    bar.finish();
    document.map_err(Failure::not_done)
}

impl CourseArgs {
    pub(super) fn nginx(&self) -> Result<crate::server::NginxFacts, Failure> {
        crate::server::find_nginx(self.nginx.as_deref()).map_err(Failure::not_done)
    }

    pub(super) fn calibrating(
        &self,
        nginx: Option<crate::server::NginxFacts>,
        libraries: Option<Libraries>,
    ) -> Result<Calibrating, Failure> {
        let server_cpu = engine::measuring_cpu();
        let client_cpu = crate::server::client_cpu(server_cpu).ok_or_else(|| {
            Failure::not_done("servers and client need a CPU each, and there is only one")
        })?;
        let course = Course {
            rounds: self.rounds,
            visit_seconds: self.visit.as_secs_f64(),
            budget: self.budget,
            seed: self.seed.unwrap_or_else(random_seed),
        };
        let setting = Setting { nginx, libraries, server_cpu, client_cpu };
        Ok(Calibrating { setting, course, command: super::super::typed() })
    }
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
