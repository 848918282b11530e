//! `ciphermark tls records`

use super::super::run::{plain_request, random_seed, survey, watch_signals};
use super::{Begun, command, exit, sampled, stacks};
use crate::args_tls::RecordsArgs;
use crate::error::{Exit, Failure};
use engine::{Attached, Budget, RecordsRequest, Request, StackFile};
use model::Algorithm;
use record::State;
use std::sync::atomic::AtomicBool;
use tls::{Protection, RecordsDocument};

pub(super) fn records(args: &RecordsArgs, begun: Begun) -> Result<Exit, Failure> {
    let mut request = request(args)?;
    let keeping = args.common.out.claim::<RecordsDocument>(begun)?;
    request.command = command(&keeping);
    let (stacks, libraries) = stacks(&args.common.library, true)?;
    let stop = watch_signals()?;
    // First, because it is shorter: an interrupt of the other still leaves something to compare.
    let bare = bare(args, &request, &stacks, &libraries, &stop);
    let mut outcome = sampled(args.common.quiet, &stop, |stop, events| {
        engine::records(&request, &stacks, keeping, stop, events)
    })?;
    let bare = bare.map_err(|failure| failure.message);
    tls::beside(&mut outcome.document, bare.as_ref());
    let states: Vec<State> = outcome.document.records.iter().map(|row| row.state).collect();
    args.common.deliver(outcome, tls::render_records)?;
    Ok(exit(states.into_iter()))
}

fn request(args: &RecordsArgs) -> Result<RecordsRequest, Failure> {
    let protections = Protection::all(&args.negotiated.versions, &args.negotiated.suites);
    if protections.is_empty() {
        return Err(Failure::usage(
            "TLS has no such records: these versions and suites do not go together",
        ));
    }
    Ok(RecordsRequest {
        protections,
        sizes: args.size.0.clone(),
        precision: args.common.precision,
        time: args.common.time().mul_f64(2.0 / 3.0),
        seed: args.common.seed.unwrap_or_else(random_seed),
        cpu: engine::measuring_cpu(),
        command: Vec::new(),
    })
}

/// The ciphers of the suites, called directly in the libraries under the stacks.
fn bare(
    args: &RecordsArgs,
    request: &RecordsRequest,
    stacks: &[StackFile],
    libraries: &[Attached],
    stop: &AtomicBool,
) -> Result<record::Record, Failure> {
    let is_wanted = |a: &&Algorithm| request.protections.iter().any(|p| p.suite.cipher() == a.name);
    let has_stack = |l: &&Attached| stacks.iter().any(|s| s.facts.bare_path == l.facts.path);
    let libraries: Vec<Attached> = libraries.iter().filter(has_stack).cloned().collect();
    let budget = Budget { precision: request.precision, time: args.common.time() / 3 };
    let request = Request {
        sizes: request.sizes.iter().map(|size| *size as usize).collect(),
        seed: request.seed,
        ..plain_request(Algorithm::all().iter().filter(is_wanted).collect(), budget)
    };
    survey(args.common.quiet, &request, &libraries, stop)
}
