//! `ciphermark advise --for tls-server`

use super::run::{claim_output, random_seed, watch_signals};
use crate::args_advise::{AdviseArgs, YesNo};
use crate::error::{Exit, Failure};
use crate::{choose, kinds, screen};
use engine::TlsRequest;
use judge::advise::tls_server::{Evidence, Format, Question};
use record::tls::{Certificate, Document, Handshake, Subject, Temperature};
use std::time::Duration;

/// Answers from a run of handshakes, or from what it measures for the question.
pub fn advise_tls(args: &AdviseArgs) -> Result<Exit, Failure> {
    if let Some(flag) = of_stored_data(args) {
        return Err(Failure::usage(format!("{flag} is for stored data, not for a TLS server")));
    }
    let question = question(args)?;
    let records = args.tls.bulk.as_deref().map(kinds::tls).transpose()?;
    let calibration = args.tls.calibration.as_deref().map(kinds::calibration).transpose()?;
    let handshakes = match args.record.as_ref().or(args.record_flag.as_ref()) {
        Some(path) => kinds::tls(path)?,
        None => measure(args, &question)?,
    };
    let handshakes = chosen(args, handshakes)?;
    let evidence = Evidence {
        handshakes: &handshakes,
        records: records.as_ref(),
        calibration: calibration.as_ref(),
    };
    let advice = judge::advise::tls_server::advise(&question, &evidence).map_err(Failure::usage)?;
    let format = match args.format {
        judge::advise::Format::Text => Format::Text,
        judge::advise::Format::Json => Format::Json,
        judge::advise::Format::Markdown => Format::Markdown,
    };
    screen::print(|options| judge::advise::tls_server::render(&advice, format, options))?;
    Ok(match advice.choice {
        Some(_) if advice.missing.is_empty() => Exit::Done,
        Some(_) => Exit::SomeRefused,
        None => Exit::Found,
    })
}

/// A flag that was given and has no meaning here.
fn of_stored_data(args: &AdviseArgs) -> Option<&'static str> {
    let typed = [
        ("--size", args.size.is_some()),
        ("--integrity", args.integrity.is_some()),
        ("--fips", args.fips.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("--expansion", args.expansion.is_some()),
        ("--key-bits", args.key_bits.is_some()),
        ("--nonce", args.nonce.is_some()),
        ("--snapshots", args.snapshots.is_some()),
        ("--key-per", args.key_per.is_some()),
        ("--writes-per-second", args.writes_per_second.is_some()),
        ("--writers", args.writers.is_some()),
        ("--keys", args.keys.is_some()),
        ("--key-life", args.key_life.is_some()),
        ("--key-born", args.key_born.is_some()),
        ("--reads", args.reads.is_some()),
        ("--max-p99", args.max_p99.is_some()),
        ("--library-version", args.library_version.is_some()),
        ("--alone", args.alone.is_some()),
    ];
    typed.into_iter().find(|(_, typed)| *typed).map(|(flag, _)| flag)
}

fn question(args: &AdviseArgs) -> Result<Question, Failure> {
    let typed = &args.tls;
    let browser = [String::from("browser")];
    let clients = if typed.clients.is_empty() { &browser[..] } else { &typed.clients };
    let mut certificates = typed.certificates.clone();
    if certificates.is_empty() {
        let usual = |c: &Certificate| *c != Certificate::Ed25519;
        certificates = Certificate::ALL.iter().copied().filter(usual).collect();
    }
    if typed.bytes.is_some() && typed.bulk.is_none() && typed.calibration.is_none() {
        return Err(Failure::usage(
            "--bytes needs a price: give --bulk (a run of `tls records`) or --calibration",
        ));
    }
    Ok(Question {
        clients: Question::clients(clients).map_err(Failure::usage)?,
        certificates,
        resumed_share: typed.resumed.unwrap_or(0.0),
        post_quantum: typed.post_quantum != Some(YesNo::No),
        bytes_per_connection: typed.bytes.unwrap_or(0) as u64,
        temperature: typed.temperature.unwrap_or(Temperature::Hot),
    })
}

/// The run with the requested stacks only.
fn chosen(args: &AdviseArgs, mut run: Document) -> Result<Document, Failure> {
    let globs: Vec<String> =
        args.library.iter().filter(|text| !text.contains('=')).cloned().collect();
    let globs = choose::globs(&globs)?;
    if !globs.is_empty() {
        let named = |s: &record::tls::Stack| {
            args.library.iter().any(|t| t.split('=').next() == Some(&s.name))
        };
        let matches = |s: &record::tls::Stack| {
            globs.iter().any(|g| g.matches(&s.name) || g.matches(&s.label))
        };
        run.stacks.retain(|stack| matches(stack) || named(stack));
        if run.stacks.is_empty() {
            let all = args.library.join("', '");
            return Err(Failure::usage(format!("the run has no stack that matches '{all}'")));
        }
    }
    Ok(run)
}

/// Time of sampling of a thorough answer, at least.
const THOROUGH: Duration = Duration::from_secs(20);

/// The handshakes that the question needs, in every stack.
fn measure(args: &AdviseArgs, question: &Question) -> Result<Document, Failure> {
    let cases = judge::advise::tls_server::cases(question).map_err(Failure::usage)?;
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let (stacks, _) = super::tls::stacks(&args.library, false)?;
    let row = |case| (Subject::Handshake(case), question.temperature);
    let request = TlsRequest {
        rows: cases.into_iter().map(row).collect(),
        precision: 0.02,
        time: args.time.sampling(THOROUGH),
        seed: random_seed(),
        cpu: engine::measuring_cpu(),
        command: super::typed(),
    };
    let outcome = super::tls::sampled(args.quiet, &stop, |stop, events| {
        let keeping = engine::Keeping::default();
        engine::measure_tls::<Handshake>(&request, &stacks, keeping, stop, events)
    })?;
    if let Some(path) = &args.output {
        record::save(&outcome.record(), path).map_err(Failure::not_done)?;
    }
    Ok(outcome.run)
}
