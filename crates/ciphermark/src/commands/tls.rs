//! `ciphermark tls`: what TLS costs in the stacks of this machine.

mod calibrate;
mod load;
mod records;
mod validate;
mod why;

use super::run::{random_seed, watch_signals};
use crate::args_advise::YesNo;
use crate::args_tls::{HandshakeArgs, PrimitivesArgs, TlsArgs, TlsCommand, TlsCommon, TlsOutput};
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use engine::{Attached, HandshakeRequest, PrimitivesRequest, Progress, SelectedStacks, StackFile};
use record::State;
use report::Options;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tls::{Document, Filter, Format, Primitive, PrimitivesDocument};

/// Runs one of its commands.
pub fn tls(args: &TlsArgs) -> Result<Exit, Failure> {
    match &args.command {
        TlsCommand::Handshake(args) => handshake(args),
        TlsCommand::Records(args) => records::records(args),
        TlsCommand::Calibrate(args) => calibrate::calibrate(args),
        TlsCommand::Load(args) => load::load(args),
        TlsCommand::Why(args) => why::why(args),
        TlsCommand::Primitives(args) => primitives(args),
    }
}

fn handshake(args: &HandshakeArgs) -> Result<Exit, Failure> {
    let filter = Filter {
        versions: args.negotiated.versions.clone(),
        exchanges: args.exchanges.clone(),
        certificates: args.certificates.clone(),
        kinds: args.kinds.clone(),
        client_auth: args.client_auth.map(|given| given == YesNo::Yes),
        suites: args.negotiated.suites.clone(),
    };
    let cases = tls::matrix(&filter);
    if cases.is_empty() {
        return Err(Failure::usage(
            "TLS has no such handshake: these versions, key exchanges, certificates, kinds and suites do not go together",
        ));
    }
    let request = HandshakeRequest {
        rows: tls::rows(&cases, &choose::distinct(&args.temperature)),
        precision: args.common.precision,
        time: args.common.budget,
        seed: args.common.seed.unwrap_or_else(random_seed),
        command: std::env::args().collect(),
    };
    args.common.out.check::<Document>()?;
    let (stacks, _) = stacks(&args.common.library, false)?;
    let document = sampled(args.common.quiet, &*watch_signals()?, |stop, progress| {
        engine::handshakes(&request, &stacks, stop, progress)
    });
    args.common.out.deliver(&document, tls::render)?;
    Ok(exit(document.handshakes.iter().map(|row| row.state)))
}

fn primitives(args: &PrimitivesArgs) -> Result<Exit, Failure> {
    let primitives = Primitive::all(&args.primitives, &args.operations, &args.size.0);
    if primitives.is_empty() {
        return Err(Failure::usage("these primitives have no such operations"));
    }
    let TlsCommon { precision, budget, seed, .. } = args.common;
    let request = PrimitivesRequest {
        primitives,
        precision,
        time: budget,
        seed: seed.unwrap_or_else(random_seed),
        command: std::env::args().collect(),
    };
    args.common.out.check::<PrimitivesDocument>()?;
    let (stacks, _) = stacks(&args.common.library, false)?;
    let document = sampled(args.common.quiet, &*watch_signals()?, |stop, progress| {
        engine::primitives(&request, &stacks, stop, progress)
    });
    args.common.out.deliver(&document, tls::render_primitives)?;
    Ok(exit(document.primitives.iter().map(|row| row.state)))
}

/// Samples with a progress bar.
pub(super) fn sampled<D>(
    quiet: bool,
    stop: &AtomicBool,
    run: impl FnOnce(&AtomicBool, &mut dyn FnMut(Progress)) -> D,
) -> D {
    let bar = Bar::new(quiet);
    let document = run(stop, &mut |progress| bar.sampling(&progress));
    bar.finish();
    document
}

/// The stacks that were asked for; with `bare`, also the libraries whose ciphers can be compared with
/// theirs.
pub(super) fn stacks(
    texts: &[String],
    bare: bool,
) -> Result<(Vec<StackFile>, Vec<Attached>), Failure> {
    let texts: Vec<String> = texts.iter().map(|text| of_library(text)).collect();
    let choices = choose::libraries(&texts)?;
    let selected = engine::select_stacks(&choices, bare).map_err(|e| match e {
        engine::SelectError::None => Failure::not_done(e),
        _ => Failure::usage(e),
    });
    let SelectedStacks { stacks, chosen, libraries } = selected?;
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

impl TlsOutput {
    /// Refuses, before measuring, to overwrite what this command did not write. A device or pipe is
    /// written to as it is.
    fn check<D: DeserializeOwned>(&self) -> Result<(), Failure> {
        let Some(path) = &self.output else { return Ok(()) };
        let is_run = |text: String| serde_json::from_str::<D>(&text).is_ok();
        if path.is_file() && !record::load_text(path).is_ok_and(is_run) {
            return Err(Failure::usage(format!(
                "'{}' exists and is not a run of this command: not overwritten",
                path.display()
            )));
        }
        record::check_writable(path).map_err(Failure::usage)
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

/// Whether something was refused or failed.
fn exit(states: impl Iterator<Item = State>) -> Exit {
    let mut states = states;
    if states.any(|state| matches!(state, State::Refused | State::Failed)) {
        Exit::SomeRefused
    } else {
        Exit::Done
    }
}
