//! `ciphermark tls records`

use super::super::run::{random_seed, survey, watch_signals};
use super::{check_output, exit, keep, read, stacks};
use crate::args_tls::RecordsArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::screen;
use engine::{Attached, Budget, RecordsRequest, Request, StackFile};
use model::{Algorithm, Direction, Footprint, Model, Tier};
use std::sync::atomic::AtomicBool;
use tls::{Filter, LARGEST_RECORD, Protection, RecordsDocument};

pub(super) fn records(args: &RecordsArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    if let Some(path) = &args.common.output {
        check_output::<RecordsDocument>(path)?;
    }
    let (stacks, libraries) = stacks(&args.common.library, true)?;
    let stop = watch_signals()?;
    // First, because it is the shorter part: who interrupts the other still has something to compare.
    let bare = bare(args, &request, &stacks, &libraries, &stop);
    let bar = Bar::new(args.common.quiet);
    let mut document =
        engine::records(&request, &stacks, &stop, &mut |progress| bar.sampling(&progress));
    bar.finish();
    let bare = bare.map_err(|failure| failure.message);
    tls::beside(&mut document, bare.as_ref());
    keep(&args.common, &document)?;
    screen::print(|options| tls::render_records(&document, args.common.format.into(), options))?;
    Ok(exit(document.records.iter().map(|row| row.state)))
}

fn request(args: &RecordsArgs) -> Result<RecordsRequest, Failure> {
    let versions = read(&args.negotiated.versions, Filter::version)?;
    let suites = read(&args.negotiated.suites, Filter::suite)?;
    let protections = Protection::all(&versions, &suites);
    if protections.is_empty() {
        return Err(Failure::usage(
            "TLS has no such records: these versions and suites do not go together",
        ));
    }
    let sizes = model::parse_sizes(&args.size).map_err(Failure::usage)?;
    if let Some(size) = sizes.iter().find(|size| !(1..=LARGEST_RECORD).contains(*size)) {
        return Err(Failure::usage(format!(
            "a record has 1 to {LARGEST_RECORD} bytes of data (RFC 8446 5.1), not {size}"
        )));
    }
    Ok(RecordsRequest {
        protections,
        sizes: sizes.into_iter().map(|size| size as u32).collect(),
        precision: args.common.precision,
        time: args.common.budget.mul_f64(2.0 / 3.0),
        seed: args.common.seed.unwrap_or_else(random_seed),
        cpu: engine::measuring_cpu(),
        command: std::env::args().collect(),
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
    let request = Request {
        suite: None,
        algorithms: Algorithm::all().iter().filter(is_wanted).collect(),
        directions: vec![Direction::Encrypt, Direction::Decrypt],
        models: vec![Model::Message],
        sizes: request.sizes.iter().map(|size| *size as usize).collect(),
        tiers: vec![Tier::Native],
        footprints: vec![Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        latency: false,
        budget: Budget { precision: request.precision, time: args.common.budget / 3 },
        evidence: false,
        seed: request.seed,
        command: request.command.clone(),
    };
    survey(args.common.quiet, &request, &libraries, stop)
}
