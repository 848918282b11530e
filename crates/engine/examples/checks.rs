//! Every check over libraries, by the program's own scheduler and workers and nothing else of it: small enough to be
//! built under a sanitizer.
//!
//! ```sh
//! checks [-a ALGORITHM]... [NAME=PATH]...    all algorithms without -a; without a path all libraries of this machine
//! ```
#![forbid(unsafe_code)]
use base::model::{Algorithm, Tier};
use engine::{Attached, LibraryChoice, Subject};
use std::process::ExitCode;

use ciphermark_engine as engine;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == engine::SUBCOMMAND) {
        let served = engine::worker::serve();
        return if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let (mut libraries, mut names) = (Vec::new(), Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            _ if word == "-a" => names.extend(words.next()),
            Some((name, path)) => {
                libraries.push(LibraryChoice::Path { name: name.to_owned(), path: path.into() });
            }
            None => {
                eprintln!("'{word}' is neither NAME=PATH nor -a ALGORITHM");
                return ExitCode::from(2);
            }
        }
    }
    let wanted = |a: &&Algorithm| names.is_empty() || names.iter().any(|n| *n == a.name);
    let algorithms: Vec<&'static Algorithm> = Algorithm::all().iter().filter(wanted).collect();
    check(&engine::discover(&libraries), &algorithms)
}

fn check(libraries: &[Attached], algorithms: &[&'static Algorithm]) -> ExitCode {
    let offers = |library: &Attached, algorithm: &Algorithm| {
        let own = |o: &&engine::protocol::Offer| o.algorithm == algorithm.name;
        library.offers.iter().filter(own).any(|o| !o.models.is_empty() || o.failed)
    };
    let subjects: Vec<Subject> = libraries
        .iter()
        .enumerate()
        .flat_map(|(i, l)| algorithms.iter().map(move |a| (i, l, *a)))
        .filter(|(_, library, algorithm)| offers(library, algorithm))
        .map(|(i, _, algorithm)| (i, Tier::Native, algorithm))
        .collect();
    let extra = engine::Extra { seed: 1, sizes: &[], cases: &[], before_a_run: false };
    let verdicts =
        engine::verify_all(libraries, &subjects, extra, &engine::Stop::default(), &|| {});
    let (mut passed, mut comparisons, mut bad) = (0, 0, 0);
    for library in libraries {
        if let Some(why) = &library.facts.error {
            println!("{}: not loaded: {why}", library.facts.path);
        }
    }
    for verdict in &verdicts {
        match &verdict.outcome {
            Ok(checks) => {
                passed += 1;
                comparisons += checks.iter().map(|c| c.count).sum::<u64>();
            }
            Err(finding) => {
                bad += 1;
                let label = libraries[verdict.library].label();
                println!("{label} {}: {:?}: {}", verdict.algorithm, finding.state, finding.why);
            }
        }
    }
    println!("{passed} passed with {comparisons} comparisons, {bad} not");
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
