//! `ciphermark tls`: what TLS costs in the stacks of this machine.

mod calibrate;
mod load;
mod records;
mod validate;
mod why;

use super::resume;
use super::run::{random_seed, say, watch_signals};
use crate::args::{Cli, Command};
use crate::args_advise::YesNo;
use crate::args_tls::{HandshakeArgs, PrimitivesArgs, TlsArgs, TlsCommand, TlsCommon, TlsOutput};
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, kinds, screen};
use base::text::Options;
use clap::Parser as _;
use engine::{
    Attached, Event, Keeping, SampledRow, SelectedStacks, StackFile, Stop, SurveyError, TlsOutcome,
    TlsRequest,
};
use record::tls::{
    Filter, Format, Handshake, Primitive, PrimitiveRow, Rendered, Row, Subject, Temperature,
};
use record::{Journal, Kept, Measurement, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::time::Duration;

/// Time of sampling of a thorough run, at least.
const THOROUGH: Duration = Duration::from_secs(120);

/// Runs one of its commands.
pub fn tls(args: &mut TlsArgs) -> Result<Exit, Failure> {
    let resumed = args.command.common().and_then(|common| {
        let path = common.resume.clone()?;
        Some((path, common.time, common.quiet, common.out.format))
    });
    let Some((path, time, quiet, format)) = resumed else { return measure(&args.command, None) };
    let (journal, kept) = gone_on_with(&path, quiet)?;
    let mut command = command_again(&kept.head.command)?;
    let of_another = || {
        let kind = &kept.head.kind;
        Failure::usage(format!(
            "'{}' is a run of kind '{kind}', not of this command",
            path.display()
        ))
    };
    if std::mem::discriminant(&command) != std::mem::discriminant(&args.command) {
        return Err(of_another());
    }
    let common = command.common().ok_or_else(of_another)?;
    common.time = time.or(common.time);
    common.seed = Some(kept.head.plan.seed);
    common.quiet = quiet;
    common.out.format = format;
    common.out.output = Some(path);
    measure(&command, Some((journal, kept)))
}

/// The journal of a run that can be resumed, and what it has.
pub(super) fn gone_on_with(path: &Path, quiet: bool) -> Result<(Journal, Kept), Failure> {
    let journal = Journal::path_for(path);
    if !journal.exists() {
        let why = format!("there is nothing to resume: no file '{}'", journal.display());
        return Err(Failure::usage(why));
    }
    resume::reopen(path, quiet)
}

/// What was typed when the run began.
fn command_again(typed: &[String]) -> Result<TlsCommand, Failure> {
    match Cli::try_parse_from(typed).map_err(Failure::usage)?.command {
        Some(Command::Tls(args)) => Ok(args.command),
        _ => Err(Failure::usage("it is a run of another command: resume it with that one")),
    }
}

/// The journal of an earlier part of a run, and what it has.
pub(super) type Begun = Option<(Journal, Kept)>;

fn measure(command: &TlsCommand, begun: Begun) -> Result<Exit, Failure> {
    match command {
        TlsCommand::Handshake(args) => handshake(args, begun),
        TlsCommand::Records(args) => records::records(args, begun),
        TlsCommand::Calibrate(args) => calibrate::calibrate(args),
        TlsCommand::Load(args) => load::load(args),
        TlsCommand::Why(args) => why::why(args),
        TlsCommand::Primitives(args) => primitives(args, begun),
    }
}

/// What was typed, when the run began.
pub(super) fn command(keeping: &Keeping) -> Vec<String> {
    let earlier = keeping.earlier.as_ref().map(|kept| kept.head.command.clone());
    earlier.unwrap_or_else(super::typed)
}

fn handshake(args: &HandshakeArgs, begun: Begun) -> Result<Exit, Failure> {
    let filter = Filter {
        versions: args.negotiated.versions.clone(),
        exchanges: args.exchanges.clone(),
        certificates: args.certificates.clone(),
        kinds: args.kinds.clone(),
        client_auth: args.client_auth.map(|given| given == YesNo::Yes),
        suites: args.negotiated.suites.clone(),
    };
    let cases = record::tls::matrix(&filter);
    if cases.is_empty() {
        return Err(Failure::usage(
            "TLS has no such handshake: these versions, key exchanges, certificates, kinds and suites do not go together",
        ));
    }
    let rows = record::tls::rows(&cases, &choose::distinct(&args.temperature));
    let rows = rows.into_iter().map(|(case, t)| (Subject::Handshake(case), t)).collect();
    run::<Handshake>(&args.common, rows, begun)
}

fn primitives(args: &PrimitivesArgs, begun: Begun) -> Result<Exit, Failure> {
    let primitives = Primitive::all(&args.primitives, &args.operations, &args.size.0);
    if primitives.is_empty() {
        return Err(Failure::usage("these primitives have no such operations"));
    }
    let rows = primitives.into_iter().map(|p| (Subject::Primitive(p), Temperature::Hot)).collect();
    run::<PrimitiveRow>(&args.common, rows, begun)
}

/// What is to be sampled.
type Rows = Vec<(Subject, Temperature)>;

/// Measures rows in every stack, and shows them.
fn run<R: SampledRow + Rendered>(
    common: &TlsCommon,
    rows: Rows,
    begun: Begun,
) -> Result<Exit, Failure> {
    let keeping = common.out.claim::<R>(begun)?;
    let request = common.request(rows, &keeping);
    let stop = common.time.limit(&watch_signals()?);
    let (stacks, _) = stacks(&common.library, false)?;
    let outcome = sampled(common.quiet, &stop, |stop, events| {
        engine::measure_tls::<R>(&request, &stacks, keeping, stop, events)
    })?;
    common.deliver(outcome)
}

/// Samples with a progress bar.
pub(super) fn sampled<D>(
    quiet: bool,
    stop: &Stop,
    run: impl FnOnce(&Stop, &(dyn Fn(Event<'_>) + Sync)) -> Result<D, SurveyError>,
) -> Result<D, Failure> {
    let bar = Bar::new(quiet);
    let outcome = run(stop, &|event| bar.show(event));
    bar.finish();
    outcome.map_err(|e| match e {
        SurveyError::Resume(_) => Failure::usage(e),
        _ => Failure::not_done(e),
    })
}

/// The stacks that were asked for; with `bare`, also the libraries whose ciphers can be compared with
/// theirs.
pub(super) fn stacks(
    texts: &[String],
    bare: bool,
) -> Result<(Vec<StackFile>, Vec<Attached>), Failure> {
    let texts: Vec<String> = choose::each_library(texts).map(of_library).collect();
    let choices = choose::libraries(&texts)?;
    let selected = engine::select_stacks(&choices, bare).map_err(|e| match e {
        engine::SelectError::None => Failure::not_done(e),
        _ => Failure::usage(e),
    });
    let SelectedStacks { stacks, chosen, libraries } = selected?;
    choose::tell_circumstances(stacks.iter().map(|stack| &*stack.facts.path));
    if stacks.is_empty() {
        return Err(Failure::not_done(format!(
            "no TLS stack: none of {} is wolfSSL or has a libssl beside its libcrypto",
            chosen.join(", ")
        )));
    }
    Ok((stacks, libraries))
}

/// `NAME=…/libssl.so.3` means the libcrypto beside it.
fn of_library(text: &str) -> String {
    let Some((name, path)) = text.split_once('=') else { return text.to_owned() };
    let path = Path::new(path);
    let ending = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_prefix("libssl"));
    let crypto = ending.map(|ending| path.with_file_name(format!("libcrypto{ending}")));
    match crypto.filter(|_| path.is_file()) {
        Some(crypto) => format!("{name}={}", crypto.display()),
        None => text.to_owned(),
    }
}

/// Refuses, before measuring, to overwrite what is no such run. A device or pipe is written to as it is.
fn check_output(path: &Path, is_run: impl FnOnce() -> bool) -> Result<(), Failure> {
    if path.is_file() && !is_run() {
        return Err(Failure::usage(format!(
            "'{}' exists and is not a run of this command: not overwritten",
            path.display()
        )));
    }
    record::check_writable(path).map_err(Failure::usage)
}

/// The same of a record of this kind; keeps other runs from writing there. A device or pipe has no place for a
/// journal.
pub(super) fn claim_output(
    output: Option<&Path>,
    kind: &str,
    begun: Begun,
) -> Result<Keeping, Failure> {
    if let Some(path) = output {
        let is_same = || kinds::record(path).is_ok_and(|record| record.kind() == Some(kind));
        check_output(path, is_same)?;
    }
    if let Some((journal, kept)) = begun {
        let (journal, earlier) = (Some(journal), Some(kept));
        return Ok(Keeping { journal, earlier, snapshots: None });
    }
    let is_file = |path: &&Path| path.metadata().is_ok_and(|m| m.is_file()) || !path.exists();
    let path = output.filter(is_file);
    let journal = path.map(Journal::claim).transpose().map_err(Failure::usage)?;
    Ok(Keeping { journal, ..Keeping::default() })
}

/// Removes the journal of a run whose record is safe; an interrupted one's stays. Returns what to say last: that
/// the run was interrupted, and how to resume it.
pub(super) fn release(
    journal: Option<Journal>,
    is_interrupted: bool,
    output: Option<&Path>,
) -> Result<Option<String>, Failure> {
    match (journal, output) {
        (Some(_), Some(path)) if is_interrupted => {
            Ok(Some(format!("interrupted; resume with --resume {}", path.display())))
        }
        (journal, _) => {
            journal.map_or(Ok(()), Journal::remove).map_err(Failure::not_done)?;
            Ok(is_interrupted.then(|| "interrupted; these are the results so far".to_owned()))
        }
    }
}

impl TlsOutput {
    fn check<D: DeserializeOwned>(&self) -> Result<(), Failure> {
        let is_run = |text: String| serde_json::from_str::<D>(&text).is_ok();
        let check = |path| check_output(path, || record::load_text(path).is_ok_and(is_run));
        self.output.as_deref().map_or(Ok(()), check)
    }

    /// Checks, and keeps other runs from writing there.
    fn claim<R: Row>(&self, begun: Begun) -> Result<Keeping, Failure> {
        claim_output(self.output.as_deref(), R::KIND, begun)
    }

    /// Writes the document to its file, if there is one, and prints it.
    fn deliver<D: Serialize>(
        &self,
        document: &D,
        render: fn(&D, Format, Options) -> String,
    ) -> Result<(), Failure> {
        self.keep(document)?;
        screen::print(|options| render(document, self.format, options))
    }

    fn keep<D: Serialize>(&self, document: &D) -> Result<(), Failure> {
        self.output.as_deref().map_or(Ok(()), |path| screen::write_document(path, document))
    }
}

impl TlsCommon {
    /// What is to be measured, as it was typed when the run began.
    fn request(&self, rows: Rows, keeping: &Keeping) -> TlsRequest {
        TlsRequest {
            rows,
            precision: self.precision,
            time: self.time.sampling(THOROUGH),
            seed: self.seed.unwrap_or_else(random_seed),
            cpu: engine::measuring_cpu(),
            command: command(keeping),
        }
    }

    /// Writes the record to its file, if there is one, and prints it. An interrupted run's journal stays.
    fn deliver<R: SampledRow + Rendered>(&self, outcome: TlsOutcome<R>) -> Result<Exit, Failure> {
        let record = outcome.record();
        let output = self.out.output.as_deref();
        if let Some(path) = output {
            record::save(&record, path).map_err(Failure::not_done)?;
        }
        let remark = release(outcome.journal, outcome.interrupted, output)?;
        let run = &outcome.run;
        let tables = (|width| record::tls::table(run, width), || record::tls::markdown(run));
        screen::print_own(&record, self.out.format, tables)?;
        say(self.quiet, remark.is_some(), &remark.unwrap_or_default());
        let bad =
            |m: &Measurement| matches!(m.state, State::Refused | State::Failed) && !m.is_left_out();
        Ok(if record.measurements.iter().any(bad) { Exit::SomeRefused } else { Exit::Done })
    }
}
