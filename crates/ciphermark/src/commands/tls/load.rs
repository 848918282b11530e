//! `ciphermark tls load`: what a server's CPU does, calculated from what was measured.

use super::check_output;
use crate::args_tls_load::{DocumentArgs, LoadArgs, SiteArgs};
use crate::error::{Exit, Failure};
use crate::{files, screen, tls_files};
use serde::Serialize;
use std::path::Path;
use tls::{Filter, RecordsDocument};
use tls_load::{
    Calibration, ClientShare, HandshakeParts, Http, Inputs, Load, Profile, Regime, Response, Spec,
};

pub(super) fn load(args: &LoadArgs) -> Result<Exit, Failure> {
    if args.validate.validate {
        let (regime, output) = (args.site.regime.as_deref(), args.output.as_deref());
        return super::validate::validate(&args.validate, regime, args.format, output);
    }
    let mut spec = args.spec.as_deref().map_or_else(|| Ok(Spec::default()), read_spec)?;
    typed_over(&mut spec, &args.site)?;
    spec.check().map_err(Failure::usage)?;
    if let Some(path) = &args.output {
        check_output::<Load>(path)?;
    }
    let own = || {
        let regimes = spec.server.regime.map_or_else(|| Regime::ALL.to_vec(), |r| vec![r]);
        let course = &args.validate.course;
        super::calibrate::measured(course, &regimes, Some(course.nginx()?), None)
    };
    let documents = Documents::read(&args.documents, own)?;
    let load = tls_load::load(&spec, &documents.inputs(), args.explain).map_err(Failure::usage)?;
    keep(args.output.as_deref(), &load)?;
    screen::print(|options| tls_load::render_load(&load, args.format.into(), options))?;
    Ok(Exit::Done)
}

/// The documents that were named.
pub(super) struct Documents {
    calibration: Calibration,
    records: Option<RecordsDocument>,
    parts: HandshakeParts,
}

impl Documents {
    /// Reads them; without a calibration it is measured, or what is said instead.
    pub(super) fn read(
        args: &DocumentArgs,
        own: impl FnOnce() -> Result<Calibration, Failure>,
    ) -> Result<Self, Failure> {
        let calibration = args.calibration.as_deref().map_or_else(own, tls_files::calibration)?;
        let records = args.records.as_deref().map(tls_files::records);
        let mut parts = HandshakeParts::default();
        if let Some(path) = &args.primitives {
            parts.add_primitives(&tls_files::primitives(path)?, &calibration.stack);
        }
        if let Some(path) = &args.handshakes {
            parts.add_memory(&tls_files::handshakes(path)?, &calibration.stack);
        }
        Ok(Self { calibration, records: records.transpose()?, parts })
    }

    pub(super) fn inputs(&self) -> Inputs<'_> {
        Inputs {
            calibration: &self.calibration,
            records: self.records.as_ref(),
            parts: Some(&self.parts),
        }
    }
}

pub(super) fn read_spec(path: &Path) -> Result<Spec, Failure> {
    let shown = format!("'{}'", path.display());
    let text = files::text(path, &shown)?;
    Spec::parse(&text).map_err(|e| Failure::usage(format!("{shown}: {e}")))
}

pub(super) fn keep<D: Serialize>(path: Option<&Path>, document: &D) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string(document).map_err(Failure::not_done)?;
    let bytes = record::pack(path, text).map_err(Failure::not_done)?;
    screen::write_file(path, &bytes)
}

/// What is typed goes before what the file says.
fn typed_over(spec: &mut Spec, site: &SiteArgs) -> Result<(), Failure> {
    let (traffic, server) = (&mut spec.traffic, &mut spec.server);
    let set = |to: &mut f64, typed: Option<f64>| *to = typed.unwrap_or(*to);
    set(&mut traffic.connections_per_s, site.connections);
    set(&mut traffic.requests_per_connection, site.requests);
    if let Some(bytes) = site.response {
        traffic.responses = vec![Response { bytes: bytes as u64, share: 1.0 }];
    }
    if let Some(http) = &site.http {
        traffic.http = named("version of HTTP", http, Http::ALL, Http::name)?;
    }
    if let Some(share) = site.resumed {
        spec.resumption.share = share;
        spec.clients.iter_mut().for_each(|c| c.resumed_share = None);
    }
    if !site.certificate.is_empty() {
        let read = |text: &String| Filter::certificate(text).map_err(Failure::usage);
        server.certificates = site.certificate.iter().map(read).collect::<Result<_, _>>()?;
    }
    if let Some(profile) = &site.profile {
        server.profile = Some(named("profile", profile, Profile::ALL, Profile::name)?);
    }
    if let Some(regime) = &site.regime {
        server.regime = Some(named("regime", regime, Regime::ALL, Regime::name)?);
    }
    if let Some(dh) = &site.dh {
        server.dh = Some(Filter::exchange(dh).map_err(Failure::usage)?);
    }
    server.ciphers = site.ciphers.clone().or(server.ciphers.take());
    server.groups = site.groups.clone().or(server.groups.take());
    if !site.client.is_empty() {
        let share = 1.0 / site.client.len() as f64;
        spec.clients = site.client.iter().map(|class| ClientShare::of(class, share)).collect();
    }
    Ok(())
}

fn named<T: Copy>(
    what: &str,
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Failure> {
    all.iter().copied().find(|one| name(*one) == text).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|one| name(*one)).collect();
        Failure::usage(format!("unknown {what} '{text}': one of {}", known.join(", ")))
    })
}
