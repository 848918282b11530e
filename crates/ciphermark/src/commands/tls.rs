//! `ciphermark tls`: what TLS costs, in the stacks of this machine.

mod calibrate;
mod load;
mod primitives;
mod records;
mod validate;
mod why;

use super::run::{random_seed, watch_signals};
use crate::args_tls::{ClientAuthArg, HandshakeArgs, TlsArgs, TlsCommand, TlsCommon};
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use engine::{Attached, HandshakeRequest, SelectedStacks, StackFile};
use record::State;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use tls::{Document, Filter, Temperature};

/// Measures what was asked for.
pub fn tls(args: &TlsArgs) -> Result<Exit, Failure> {
    match &args.command {
        TlsCommand::Handshake(args) => handshake(args),
        TlsCommand::Records(args) => records::records(args),
        TlsCommand::Calibrate(args) => calibrate::calibrate(args),
        TlsCommand::Load(args) => load::load(args),
        TlsCommand::Why(args) => why::why(args),
        TlsCommand::Primitives(args) => primitives::primitives(args),
    }
}

fn handshake(args: &HandshakeArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    if let Some(path) = &args.common.output {
        check_output::<Document>(path)?;
    }
    let (stacks, _) = stacks(&args.common.library, false)?;
    let stop = watch_signals()?;
    let bar = Bar::new(args.common.quiet);
    let document =
        engine::handshakes(&request, &stacks, &stop, &mut |progress| bar.sampling(&progress));
    bar.finish();
    keep(&args.common, &document)?;
    screen::print(|options| tls::render(&document, args.common.format.into(), options))?;
    Ok(exit(document.handshakes.iter().map(|row| row.state)))
}

fn request(args: &HandshakeArgs) -> Result<HandshakeRequest, Failure> {
    let filter = Filter {
        versions: read(&args.negotiated.versions, Filter::version)?,
        exchanges: read(&args.exchanges, Filter::exchange)?,
        certificates: read(&args.certificates, Filter::certificate)?,
        kinds: read(&args.kinds, Filter::kind)?,
        client_auth: args.client_auth.map(|typed| typed == ClientAuthArg::Yes),
        suites: read(&args.negotiated.suites, Filter::suite)?,
    };
    let cases = tls::matrix(&filter);
    if cases.is_empty() {
        return Err(Failure::usage(
            "TLS has no such handshake: these versions, key exchanges, certificates, kinds and suites do not go together",
        ));
    }
    let mut temperatures: Vec<Temperature> = Vec::new();
    for typed in &args.temperature {
        let temperature = Temperature::from(*typed);
        if !temperatures.contains(&temperature) {
            temperatures.push(temperature);
        }
    }
    Ok(HandshakeRequest {
        rows: tls::rows(&cases, &temperatures),
        precision: args.common.precision,
        time: args.common.budget,
        seed: args.common.seed.unwrap_or_else(random_seed),
        command: std::env::args().collect(),
    })
}

fn read<T>(
    texts: &[String],
    one: impl Fn(&str) -> Result<T, tls::UnknownName>,
) -> Result<Vec<T>, Failure> {
    texts.iter().map(|text| one(text).map_err(Failure::usage)).collect()
}

/// The stacks that were asked for; with `bare`, the libraries whose ciphers can stand beside them.
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

/// `NAME=…/libssl.so.3` means the library under it, which lies beside it.
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

/// Overwrites no stranger's file; what is no regular file is written to as it stands.
pub fn check_output<D: DeserializeOwned>(path: &Path) -> Result<(), Failure> {
    let is_run = |text: String| serde_json::from_str::<D>(&text).is_ok();
    if path.is_file() && !record::load_text(path).is_ok_and(is_run) {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "'{shown}' exists and is no run of this command: not overwritten"
        )));
    }
    record::check_writable(path).map_err(Failure::usage)
}

/// Writes the run into the file that was named, packed where its name ends in `.gz`.
fn keep<D: Serialize>(common: &TlsCommon, document: &D) -> Result<(), Failure> {
    let Some(path) = &common.output else { return Ok(()) };
    let text = serde_json::to_string(document).map_err(Failure::not_done)?;
    let bytes = record::pack(path, text).map_err(Failure::not_done)?;
    screen::write_file(path, &bytes)
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
