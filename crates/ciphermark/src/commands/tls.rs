//! `ciphermark tls`: what TLS costs, in the stacks of this machine.

mod records;

use super::run::{random_seed, watch_signals};
use crate::args_tls::{ClientAuthArg, HandshakeArgs, TlsArgs, TlsCommand};
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use engine::{Attached, HandshakeRequest, StackFile};
use record::State;
use serde::de::DeserializeOwned;
use std::path::Path;
use tls::{Document, Filter, Temperature};

/// Measures what was asked for.
pub fn tls(args: &TlsArgs) -> Result<Exit, Failure> {
    match &args.command {
        TlsCommand::Handshake(args) => handshake(args),
        TlsCommand::Records(args) => records::records(args),
    }
}

fn handshake(args: &HandshakeArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    if let Some(path) = &args.output {
        check_output::<Document>(path)?;
    }
    let (stacks, _) = stacks(&args.library)?;
    let stop = watch_signals()?;
    let bar = Bar::new(args.quiet);
    let document =
        engine::handshakes(&request, &stacks, &stop, &mut |progress| bar.sampling(&progress));
    bar.finish();
    if let Some(path) = &args.output {
        let text = serde_json::to_string(&document).map_err(Failure::not_done)?;
        screen::write_file(path, text.as_bytes())?;
    }
    screen::print(|options| tls::render(&document, args.format.into(), options))?;
    Ok(exit(document.handshakes.iter().map(|row| row.state)))
}

fn request(args: &HandshakeArgs) -> Result<HandshakeRequest, Failure> {
    let filter = Filter {
        versions: read(&args.versions, Filter::version)?,
        exchanges: read(&args.exchanges, Filter::exchange)?,
        certificates: read(&args.certificates, Filter::certificate)?,
        kinds: read(&args.kinds, Filter::kind)?,
        client_auth: args.client_auth.map(|typed| typed == ClientAuthArg::Yes),
        suites: read(&args.suites, Filter::suite)?,
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
        cases,
        temperatures,
        precision: args.precision,
        time: args.budget,
        seed: args.seed.unwrap_or_else(random_seed),
        command: std::env::args().collect(),
    })
}

fn read<T>(
    texts: &[String],
    one: impl Fn(&str) -> Result<T, tls::UnknownName>,
) -> Result<Vec<T>, Failure> {
    texts.iter().map(|text| one(text).map_err(Failure::usage)).collect()
}

/// The stacks of the libraries that were asked for, and all of these.
fn stacks(texts: &[String]) -> Result<(Vec<StackFile>, Vec<Attached>), Failure> {
    let texts: Vec<String> = texts.iter().map(|text| of_library(text)).collect();
    let libraries = choose::attached(&texts)?;
    let stacks = engine::stacks(&libraries);
    if stacks.is_empty() {
        let found: Vec<String> = libraries.iter().map(Attached::label).collect();
        return Err(Failure::not_done(format!(
            "no TLS stack: none of {} has a libssl beside its libcrypto",
            found.join(", ")
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

/// Overwrites no stranger's file.
fn check_output<D: DeserializeOwned>(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let is_run = |text: String| serde_json::from_str::<D>(&text).is_ok();
    if path.exists() && !std::fs::read_to_string(path).is_ok_and(is_run) {
        return Err(Failure::usage(format!(
            "'{shown}' exists and is no run of this command: not overwritten"
        )));
    }
    record::check_writable(path).map_err(Failure::usage)
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
