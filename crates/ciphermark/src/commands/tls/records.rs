//! `ciphermark tls records`

use super::super::run::{plain_request, survey, watch_signals};
use super::{Begun, sampled, stacks};
use crate::args_tls::RecordsArgs;
use crate::error::{Exit, Failure};
use base::model::Algorithm;
use engine::{Attached, Budget, Request, StackFile, Stop, TlsRequest};
use record::tls::{Protection, RecordRow, Subject, Temperature};

pub(super) fn records(args: &RecordsArgs, begun: Begun) -> Result<Exit, Failure> {
    let protections = Protection::all(&args.negotiated.versions, &args.negotiated.suites);
    if protections.is_empty() {
        return Err(Failure::usage(
            "TLS has no such records: these versions and suites do not go together",
        ));
    }
    let of_one = |protection: &Protection| {
        let protection = *protection;
        let of_size = move |size: &u32| Subject::Records { protection, size: *size };
        args.size.0.iter().map(move |size| (of_size(size), Temperature::Hot))
    };
    let rows = protections.iter().flat_map(of_one).collect();
    let keeping = args.common.out.claim::<RecordRow>(begun)?;
    let request = args.common.request(rows, &keeping);
    let stop = args.common.time.limit(&watch_signals()?);
    let (stacks, libraries) = stacks(&args.common.library, true)?;
    let third = stop.left().map_or_else(|| stop.clone(), |left| stop.within(left / 3));
    // First, because it is shorter: an interrupt of the other still leaves something to compare.
    let bare = bare(args, (&request, &protections), &stacks, &libraries, &third);
    let mut outcome = sampled(args.common.quiet, &stop, |stop, events| {
        engine::measure_tls::<RecordRow>(&request, &stacks, keeping, stop, events)
    })?;
    let bare = bare.map_err(|failure| failure.message);
    record::tls::beside(&mut outcome.run, bare.as_ref());
    args.common.deliver(outcome)
}

/// The ciphers of the suites, called directly in the libraries under the stacks.
fn bare(
    args: &RecordsArgs,
    (request, protections): (&TlsRequest, &[Protection]),
    stacks: &[StackFile],
    libraries: &[Attached],
    stop: &Stop,
) -> Result<record::Record, Failure> {
    let is_wanted = |a: &&Algorithm| protections.iter().any(|p| p.suite.cipher() == a.name);
    let has_stack = |l: &&Attached| stacks.iter().any(|s| s.facts.bare_path == l.facts.path);
    let libraries: Vec<Attached> = libraries.iter().filter(has_stack).cloned().collect();
    let budget = Budget { precision: request.precision, time: request.time / 3 };
    let request = Request {
        sizes: args.size.0.iter().map(|size| *size as usize).collect(),
        seed: request.seed,
        ..plain_request(Algorithm::all().iter().filter(is_wanted).collect(), budget)
    };
    survey(args.common.quiet, &request, &libraries, stop)
}
