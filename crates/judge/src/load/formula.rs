//! The sum: CPU time per second from rates and prices, term by term. docs/TLS-LOAD.md has it as a formula.

use crate::load::document::{Part, Source};
use crate::load::form::Form;
use crate::load::handshakes::{Key, Price};
use crate::load::inputs::{OwnCode, Prices};
use crate::load::requests::{LARGEST_RESPONSE, RecordKey, RequestKey, RequestPrice};
use crate::load::spec::{Spec, SpecError};
use crate::load::traffic::{Traffic, merged, named, traffic};
use crate::load::words::{Regime, Role};
use record::tls::{Case, Kind, Suite, Version};

/// One term before its figures are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawTerm {
    pub(crate) part: Part,
    pub(crate) name: String,
    pub(crate) per_s: f64,
    pub(crate) each: Form,
    pub(crate) source: Source,
    pub(crate) note: Option<String>,
}

/// All terms of a specification in one regime.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<RawTerm>,
    pub(crate) traffic: Traffic,
    pub(crate) remarks: Vec<String>,
}

impl Sum {
    pub(crate) fn total(&self) -> Form {
        let add = |sum: Form, t: &RawTerm| sum.plus(&t.each, t.per_s);
        self.terms.iter().fold(Form::default(), add)
    }

    fn push(&mut self, part: Part, name: &str, per_s: f64, each: Form, source: Source, note: &str) {
        if per_s > 0.0 {
            let note = (!note.is_empty()).then(|| note.to_owned());
            self.terms.push(RawTerm { part, name: name.to_owned(), per_s, each, source, note });
        }
    }

    /// A term of the calibration that needs no words.
    fn push_calibrated(&mut self, part: Part, name: &str, per_s: f64, each: Form) {
        self.push(part, name, per_s, each, Source::Calibrated, "");
    }

    fn remark(&mut self, text: String) {
        if !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }
}

/// Adds everything up.
pub(crate) fn sum(spec: &Spec, prices: &Prices, regime: Regime) -> Result<Sum, SpecError> {
    let traffic = traffic(spec, prices)?;
    let remarks = traffic.remarks.clone();
    let mut builder =
        Builder { spec, prices, regime, sum: Sum { terms: Vec::new(), traffic, remarks } };
    builder.without_tls()?;
    if spec.server.tls {
        builder.handshakes()?;
        builder.settings();
        builder.failures()?;
        builder.own_code();
        builder.records();
    }
    Ok(builder.sum)
}

struct Builder<'a> {
    spec: &'a Spec,
    prices: &'a Prices,
    regime: Regime,
    sum: Sum,
}

/// What a connection's one request is in the calibration, and what the connection costs.
struct Connection {
    first_response: u64,
    form: Form,
}

impl Builder<'_> {
    fn requests_per_s(&self) -> f64 {
        self.sum.traffic.served * self.spec.traffic.requests_per_connection
    }

    fn connection(&self, role: Role) -> Result<Connection, SpecError> {
        let found = self.prices.requests.connection(role, self.regime, self.spec.traffic.http);
        let (first_response, form) = found.ok_or_else(|| {
            SpecError(format!("the calibration has no plain connections at {} load", self.regime))
        })?;
        Ok(Connection { first_response, form })
    }

    /// A plain request of the server, over all sizes of responses.
    fn plain_request(&mut self, sendfile: bool, sizes: &[(u64, f64)]) -> Result<Form, SpecError> {
        let key = RequestKey {
            role: self.prices.server,
            regime: self.regime,
            http: self.spec.traffic.http,
            sendfile,
            tls: None,
        };
        let one = |bytes| self.prices.requests.price(key, bytes);
        let form = over(sizes, one, &mut self.sum.remarks);
        form.ok_or_else(|| SpecError("the calibration has no plain requests".to_owned()))
    }

    fn sizes(&self) -> Vec<(u64, f64)> {
        self.spec.traffic.responses.iter().map(|r| (r.bytes, r.share)).collect()
    }

    fn without_tls(&mut self) -> Result<(), SpecError> {
        let Connection { first_response, form } = self.connection(self.prices.server)?;
        let first = self.plain_request(false, &[(first_response, 1.0)])?;
        let (sizes, sendfile) = (self.sizes(), self.spec.server.sendfile);
        let (served, requests) = (self.sum.traffic.served, self.requests_per_s());
        let each = form.plus(&first, -1.0);
        self.sum.push_calibrated(Part::Stack, "connections, as without TLS", served, each);
        let with = self.plain_request(sendfile, &sizes)?;
        self.sum.push_calibrated(Part::Stack, "requests, as without TLS", requests, with.clone());
        if self.spec.server.tls && sendfile {
            let lost = self.plain_request(false, &sizes)?.plus(&with, -1.0);
            let (name, note) = ("sendfile, lost to TLS", "records must be written from memory");
            self.sum.push(Part::Stack, name, requests, lost, Source::Calibrated, note);
        }
        if let Some(large) = sizes.iter().find(|(bytes, _)| *bytes > LARGEST_RESPONSE) {
            self.sum.remark(format!(
                "responses of {} bytes are beyond what the model is held to (100 KB): the kernel's copies and full \
                 socket buffers are not in it",
                large.0
            ));
        }
        Ok(())
    }

    fn handshake(&self, case: Case) -> Result<Price, SpecError> {
        let aes_hardware = self.spec.server.aes_hardware;
        let key = Key { regime: self.regime, case, tickets: None, aes_hardware };
        self.prices.handshakes.price(key).ok_or_else(|| {
            SpecError(format!("the calibration has nothing that leads to the price of {case}"))
        })
    }

    /// Records of the calibrated connection's one response, which its price holds.
    fn first_records(&mut self, case: Case) -> Result<Form, SpecError> {
        let Connection { first_response, .. } = self.connection(Role::MinimalPlain)?;
        Ok(self.records_of(case, 16_384, &[(first_response, 1.0)]))
    }

    fn records_of(&mut self, case: Case, record_bytes: u32, sizes: &[(u64, f64)]) -> Form {
        let key = self.record_key(case, record_bytes);
        let one = |bytes| self.prices.requests.tls(self.regime, key, bytes);
        over(sizes, one, &mut self.sum.remarks).unwrap_or_default()
    }

    fn record_key(&self, case: Case, record_bytes: u32) -> RecordKey {
        let aes_hardware = self.spec.server.aes_hardware;
        RecordKey { version: case.version, suite: case.suite, record_bytes, aes_hardware }
    }

    fn handshakes(&mut self) -> Result<(), SpecError> {
        for (case, per_s) in merged(&self.sum.traffic.handshakes) {
            let Price { form, composed } = self.handshake(case)?;
            let whole = form.plus(&self.first_records(case)?, -1.0);
            let source = if composed.is_empty() { Source::Calibrated } else { Source::Composed };
            self.split(case, per_s, whole, source, &composed);
        }
        Ok(())
    }

    /// Key exchange and signature as far as they are known by themselves, and the rest by difference.
    fn split(&mut self, case: Case, per_s: f64, whole: Form, source: Source, note: &str) {
        let name = named(case);
        let has_exchange = !case.kind.is_resumed() || case.kind == Kind::ResumedPsk;
        let exchange = self.prices.exchange(case.exchange).filter(|_| has_exchange).cloned();
        let sign = self.prices.sign(case.certificate).filter(|_| !case.kind.is_resumed()).cloned();
        let mut rest = whole;
        if let Some(each) = &exchange {
            let name = format!("{name}: {}", case.exchange);
            rest = rest.plus(each, -1.0);
            self.sum.push(Part::KeyExchange, &name, per_s, each.clone(), Source::Document, "");
        }
        if let Some(each) = &sign {
            let name = format!("{name}: {} signature", case.certificate);
            rest = rest.plus(each, -1.0);
            self.sum.push(Part::Signature, &name, per_s, each.clone(), Source::Document, "");
        }
        let (name, source) = match (&exchange, &sign) {
            (None, None) => (name, source),
            _ => (format!("{name}: the rest"), Source::Rest),
        };
        self.sum.push(Part::Handshake, &name, per_s, rest, source, note);
    }

    /// What is set apart from the handshake itself: client certificates, tickets, the chain's length.
    fn settings(&mut self) {
        let full: Vec<_> = merged(&self.sum.traffic.handshakes)
            .into_iter()
            .filter(|(case, _)| !case.kind.is_resumed())
            .collect();
        for (case, per_s) in full {
            self.client_certificates(case, per_s * self.spec.server.client_auth_share);
            if let Some(tickets) =
                self.spec.server.tickets.filter(|_| case.version == Version::Tls13)
            {
                self.tickets(per_s, f64::from(tickets));
            }
            if let Some(bytes) = self.spec.server.chain_bytes {
                self.chain(case, per_s, f64::from(bytes));
            }
        }
    }

    fn client_certificates(&mut self, case: Case, per_s: f64) {
        if per_s == 0.0 {
            return;
        }
        let with = self.handshake(Case { client_auth: true, ..case });
        match (with, self.handshake(case)) {
            (Ok(with), Ok(without)) => {
                let each = with.form.plus(&without.form, -1.0);
                let (name, note) = ("clients' certificates", &with.composed);
                self.sum.push(Part::Signature, name, per_s, each, Source::Calibrated, note);
            }
            _ => self.sum.remark(
                "clients' certificates are not calibrated: they are left out of the sum".to_owned(),
            ),
        }
    }

    fn tickets(&mut self, per_s: f64, tickets: f64) {
        match self.prices.handshakes.ticket(self.regime) {
            // Two are in the handshake as it is calibrated.
            Some(each) => {
                let (name, each) = ("tickets beside the usual two", each.times(tickets - 2.0));
                self.sum.push_calibrated(Part::Handshake, name, per_s, each);
            }
            None => {
                self.sum.remark("tickets are not calibrated: priced as the usual two".to_owned())
            }
        }
    }

    fn chain(&mut self, case: Case, per_s: f64, bytes: f64) {
        let key = self.record_key(case, 16_384);
        let known = self.prices.chain_bytes(case.certificate);
        match (self.prices.requests.per_byte(self.regime, key), known) {
            (Some(each), Some(known)) => {
                let each = each.times(bytes - f64::from(known));
                let note = "priced as the same bytes of a response";
                let name = "the chain's length";
                self.sum.push(Part::Handshake, name, per_s, each, Source::StandIn, note);
            }
            _ => self.sum.remark("the length of chains is not calibrated: left out".to_owned()),
        }
    }

    fn failures(&mut self) -> Result<(), SpecError> {
        let refused = self.sum.traffic.refused;
        if refused > 0.0 {
            let (each, source, note) = match self.prices.refused(self.regime) {
                Some(form) => (form, Source::Calibrated, ""),
                None => (
                    self.connection(self.prices.server)?.form,
                    Source::StandIn,
                    "priced as a plain connection",
                ),
            };
            let name = "connections refused at the first message";
            self.sum.push(Part::Stack, name, refused, each, source, note);
        }
        for (case, per_s) in merged(&self.sum.traffic.abandoned) {
            if per_s == 0.0 {
                continue;
            }
            let (each, source, note) = match self.prices.abandoned(self.regime, case) {
                Some(form) => (form, Source::Calibrated, ""),
                None => {
                    let plain = self.connection(self.prices.server)?.form;
                    let whole = self.handshake(case)?.form.plus(&plain, 1.0);
                    (whole, Source::StandIn, "priced as a whole connection: an upper bound")
                }
            };
            let name = format!("{}, ended by the client", named(case));
            self.sum.push(Part::Handshake, &name, per_s, each, source, note);
        }
        Ok(())
    }

    /// What the real server's own code adds to each connection with TLS, by the two configurations that calibrate it:
    /// one that resumes takes less of it.
    fn own_code(&mut self) {
        for (resumed, name) in [
            (false, "the server's own code for TLS"),
            (true, "the server's own code for TLS, resumed"),
        ] {
            let all = self.sum.traffic.handshakes.iter();
            let all = all.filter(|(case, _)| case.kind.is_resumed() == resumed);
            let per_s: f64 = all.map(|(_, per_s)| per_s).sum();
            if per_s == 0.0 {
                continue;
            }
            match self.prices.own_code(self.regime, resumed) {
                Some(OwnCode { form, note, stands_in }) => {
                    let source = if stands_in { Source::StandIn } else { Source::Calibrated };
                    self.sum.push(Part::Stack, name, per_s, form, source, &note);
                    if stands_in && resumed {
                        self.sum.remark(OwnCode::LACKS_RESUMED.to_owned());
                    }
                }
                None if self.prices.server == Role::RealPlain => self.sum.remark(
                    "the server's own code for TLS is not calibrated: the sum is low by some tens of µs a connection".to_owned(),
                ),
                None => {}
            }
        }
    }

    fn records(&mut self) {
        let requests = self.spec.traffic.requests_per_connection;
        let (record_bytes, sizes) = (self.spec.server.record_bytes, self.sizes());
        let mut by_suite: Vec<(Case, f64)> = Vec::new();
        for (case, per_s) in merged(&self.sum.traffic.handshakes) {
            let same = |c: &Case| (c.version, c.suite) == (case.version, case.suite);
            match by_suite.iter_mut().find(|(c, _)| same(c)) {
                Some((_, sum)) => *sum += per_s,
                None => by_suite.push((case, per_s)),
            }
        }
        for (case, per_s) in by_suite {
            let whole = self.records_of(case, record_bytes, &sizes);
            self.split_records(case, per_s * requests, whole, &sizes);
        }
    }

    fn split_records(&mut self, case: Case, per_s: f64, whole: Form, sizes: &[(u64, f64)]) {
        let (suite, version) = (case.suite, case.version);
        let record = self.spec.server.record_bytes;
        let mut cipher = Some((Form::default(), Form::default()));
        for (bytes, share) in sizes {
            let one = self.prices.cipher(version, suite, record, *bytes);
            cipher = cipher
                .zip(one)
                .map(|((c, h), (cipher, hash))| (c.plus(&cipher, *share), h.plus(&hash, *share)));
        }
        let aes = self.spec.server.aes_hardware || suite == Suite::Chacha20Poly1305;
        let Some((cipher, hash)) = cipher.filter(|_| aes) else {
            let name = format!("{version} {suite}: records, cipher and sending");
            let note = "not told apart: no document of records is given for it";
            self.sum.push(Part::Bulk, &name, per_s, whole, Source::Calibrated, note);
            return;
        };
        let rest = whole.plus(&cipher, -1.0).plus(&hash, -1.0);
        let name = format!("{version} {suite}: cipher");
        self.sum.push(Part::Bulk, &name, per_s, cipher, Source::Document, "");
        if !suite.is_aead() {
            let name = format!("{version} {suite}: HMAC");
            let note = "what the stack adds to the cipher beyond what it adds to AES-128-GCM";
            self.sum.push(Part::Hash, &name, per_s, hash, Source::Document, note);
        }
        let name = format!("{version} {suite}: records, the rest");
        self.sum.push(Part::Stack, &name, per_s, rest, Source::Rest, "");
    }
}

/// The mean over sizes; remarks are kept once.
fn over(
    sizes: &[(u64, f64)],
    one: impl Fn(u64) -> Option<RequestPrice>,
    remarks: &mut Vec<String>,
) -> Option<Form> {
    let mut mean = Form::default();
    for (bytes, share) in sizes {
        let price = one(*bytes)?;
        mean = mean.plus(&price.form, *share);
        for remark in price.remarks {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    Some(mean)
}
