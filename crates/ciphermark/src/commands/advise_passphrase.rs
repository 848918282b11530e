//! `ciphermark advise --for passphrase`: what makes a key of a passphrase, from a record or from what is measured for the
//! question. All libraries are looked at with cheap parameters; those that seem fastest are verified and measured, with
//! the answer's own parameters.

use crate::commands::advise::{AdviseArgs, knows_libraries, look, measured_now, no_output};
use crate::commands::advise_server::of_stored_data;
use crate::commands::choose;
use crate::commands::run::survey;
use crate::files::Kind;
use crate::{Exit, Failure, files, screen};
use base::model::{Algorithm, Direction, Footprint, Model};
use base::text::flags::{parse_bytes, parse_duration};
use clap::Args;
use engine::{Budget, Request, Screened};
use judge::advise::Fips;
use judge::advise::passphrase::{Question, Wanted, advise, only, render, wanted};
use record::{PlannedCase, Record};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// For passphrases only.
#[derive(Debug, Args)]
#[command(next_help_heading = "For passphrase")]
pub struct PassphraseArgs {
    /// Most time that a call may take: 500ms.
    #[arg(long = "time", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub within: Option<Duration>,
    /// Most memory that a call may take: 64M.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_hyphen_values = true)]
    pub memory: Option<usize>,
}

impl PassphraseArgs {
    /// The first of these flags that was given.
    pub fn typed(&self) -> Option<&'static str> {
        self.within.map(|_| "--time").or(self.memory.map(|_| "--memory"))
    }
}

/// Half-width of each interval that is wanted.
const PRECISION: f64 = 0.02;
/// Time of sampling of a thorough answer: some seconds for each process of a case with 64 MiB or more.
const THOROUGH: Duration = Duration::from_secs(1200);
/// The share of what is left of the time that the look at all libraries may take.
const LOOK: f64 = 0.25;

/// Answers from a record, or from what it measures for the question.
pub fn advise_passphrase(args: &AdviseArgs) -> Result<Exit, Failure> {
    let from = args.postgres.from.as_ref().map(|_| "--from");
    let complete = args.complete.then_some("--complete");
    let other = of_stored_data(args).filter(|flag| *flag != "--fips");
    if let Some(flag) = args.tls.typed().or(from).or(complete).or(other) {
        return Err(Failure::usage(format!("{flag} has no meaning for --for passphrase")));
    }
    let question = question(args)?;
    let (record, origin) = match args.path() {
        Some(path) => {
            if args.output.is_some() {
                return Err(Failure::usage(
                    "-o keeps what is measured, and from a record nothing is",
                ));
            }
            let record = kept(path)?;
            knows_libraries(&record.libraries, &question.libraries, path)?;
            (record, record::shown(&format!("record {},", path.display())))
        }
        None => (measured(args, &question)?, "measured now,".to_owned()),
    };
    let advice = advise(&question, &record);
    screen::print(|options| render(&advice, &origin, args.format, args.why, options))?;
    Ok(match advice.choice {
        _ if advice.open => Exit::SomeRefused,
        Some(_) => Exit::Done,
        None => Exit::Found,
    })
}

fn question(args: &AdviseArgs) -> Result<Question, Failure> {
    let fips = args.fips.unwrap_or(Fips::None);
    if fips == Fips::Validated {
        return Err(Failure::usage(
            "--fips validated: of derivations only the algorithm is judged here: --fips algorithm",
        ));
    }
    let only = args.only.as_deref().map(only).transpose().map_err(Failure::usage)?;
    Ok(Question {
        time_ns: args.passphrase.within.map(|time| time.as_secs_f64() * 1e9),
        memory: args.passphrase.memory,
        fips,
        only,
        libraries: choose::library_globs(&args.library)?,
        tier: args.tier,
    })
}

fn kept(path: &Path) -> Result<Record, Failure> {
    match files::load(path)? {
        Kind::Survey(record) => Ok(*record),
        _ => Err(Failure::usage(format!(
            "'{}' has no derivations of keys: `ciphermark advise --for passphrase -o FILE` takes such a record",
            path.display()
        ))),
    }
}

fn measured(args: &AdviseArgs, question: &Question) -> Result<Record, Failure> {
    let wanted = wanted(question, args.time.thorough);
    if wanted.is_empty() {
        no_output(args)?;
        return Ok(Record::default());
    }
    measured_now(args, question.only.as_ref(), |libraries, stop| {
        let quick = request(args, &wanted, |w| w.look);
        let ignored = engine::Looks::Ignored;
        let screened = look(args.quiet, &quick, &libraries, ignored, stop, LOOK).screened;
        let only = wanted.iter().flat_map(|w| fastest(args, w, &screened)).collect();
        let request =
            Request { screened: screened.but(only), ..request(args, &wanted, |w| w.cost) };
        survey(args.quiet, &request, &libraries, stop)
    })
}

/// The libraries that seem fastest, as many as are wanted.
fn fastest(args: &AdviseArgs, wanted: &Wanted, look: &Screened) -> Vec<(usize, &'static str)> {
    let own = look.least_ns.iter().filter(|((_, algorithm, _), _)| *algorithm == wanted.algorithm);
    let mut own: Vec<(u64, usize)> = own.map(|((library, ..), ns)| (*ns, *library)).collect();
    own.sort_unstable();
    let most = if args.time.thorough { usize::MAX } else { wanted.libraries };
    own.into_iter().take(most).map(|(_, library)| (library, wanted.algorithm)).collect()
}

fn request(args: &AdviseArgs, wanted: &[Wanted], cost: impl Fn(&Wanted) -> usize) -> Request {
    let known =
        |w: &Wanted| Algorithm::find(w.algorithm).expect("rules name algorithms of the table");
    let case = |w: &Wanted| PlannedCase {
        algorithm: w.algorithm.to_owned(),
        direction: Direction::of(known(w).kind)[0],
        model: Model::Message,
        size: cost(w),
        tier: None,
        libraries: None,
        footprint: Footprint::Hot,
    };
    let sizes: BTreeSet<usize> = wanted.iter().map(&cost).collect();
    let budget = Budget { precision: PRECISION, time: args.time.sampling(THOROUGH) };
    Request {
        sizes: sizes.into_iter().collect(),
        tiers: vec![args.tier],
        cases: wanted.iter().map(case).collect(),
        ..choose::plain_request(wanted.iter().map(known).collect(), budget)
    }
}
