//! `ciphermark tls load`: what a server's CPU does, calculated from what was measured.

use crate::args_tls_load::{DocumentArgs, LoadArgs, SiteArgs};
use crate::error::{Exit, Failure};
use crate::{files, kinds};
use judge::load::{Calibration, ClientShare, HandshakeParts, Inputs, Load, Regime, Response, Spec};
use record::tls::RecordsDocument;
use std::path::Path;

pub(super) fn load(args: &LoadArgs) -> Result<Exit, Failure> {
    if args.validate.validate {
        return super::validate::validate(&args.validate, &args.site.regime, &args.out);
    }
    let mut spec = args.spec.as_deref().map_or_else(|| Ok(Spec::default()), read_spec)?;
    override_spec(&mut spec, &args.site)?;
    spec.check().map_err(Failure::usage)?;
    args.out.check::<Load>()?;
    let own = || {
        let regimes = spec.server.regime.map_or_else(|| Regime::ALL.to_vec(), |r| vec![r]);
        let course = &args.validate.course;
        super::calibrate::measured(course, &regimes, Some(course.nginx()?), None)
    };
    let documents = Documents::read(&args.documents, own)?;
    let load =
        judge::load::load(&spec, &documents.inputs(), args.explain).map_err(Failure::usage)?;
    args.out.deliver(&load, judge::load::render_load)?;
    Ok(Exit::Done)
}

/// The documents that were named.
pub(super) struct Documents {
    calibration: Calibration,
    records: Option<RecordsDocument>,
    parts: HandshakeParts,
}

impl Documents {
    /// Reads them; `own` measures a missing calibration or says that it is needed.
    pub(super) fn read(
        args: &DocumentArgs,
        own: impl FnOnce() -> Result<Calibration, Failure>,
    ) -> Result<Self, Failure> {
        let calibration = args.calibration.as_deref().map_or_else(own, kinds::calibration)?;
        let records = args.records.as_deref().map(kinds::tls);
        let mut parts = HandshakeParts::default();
        if let Some(path) = &args.primitives {
            parts.add_primitives(&kinds::tls(path)?, &calibration.stack);
        }
        if let Some(path) = &args.handshakes {
            parts.add_memory(&kinds::tls(path)?, &calibration.stack);
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

/// Options override the file.
fn override_spec(spec: &mut Spec, site: &SiteArgs) -> Result<(), Failure> {
    let (traffic, server) = (&mut spec.traffic, &mut spec.server);
    let set = |to: &mut f64, given: Option<f64>| *to = given.unwrap_or(*to);
    set(&mut traffic.connections_per_s, site.connections);
    set(&mut traffic.requests_per_connection, site.requests);
    if let Some(bytes) = site.response {
        traffic.responses = vec![Response { bytes: bytes as u64, share: 1.0 }];
    }
    traffic.http = site.http.unwrap_or(traffic.http);
    if let Some(share) = site.resumed {
        spec.resumption.share = share;
        spec.clients.iter_mut().for_each(|c| c.resumed_share = None);
    }
    if !site.certificate.is_empty() {
        server.certificates.clone_from(&site.certificate);
    }
    server.profile = site.profile.or(server.profile);
    server.regime = match site.regime[..] {
        [] => server.regime,
        [regime] => Some(regime),
        _ => return Err(Failure::usage("--regime: give one, except with --validate")),
    };
    server.dh = site.dh.or(server.dh);
    server.ciphers = site.ciphers.clone().or(server.ciphers.take());
    server.groups = site.groups.clone().or(server.groups.take());
    if !site.client.is_empty() {
        let share = 1.0 / site.client.len() as f64;
        spec.clients = site.client.iter().map(|class| ClientShare::of(class, share)).collect();
    }
    Ok(())
}
