//! The sum: who connects how often and what comes of it, times prices, term by term (docs/TLS-LOAD.md has it
//! as a formula); and the file of `ciphermark tls load` (`docs/tls-load.schema.json`) that it is written in.

use crate::load::calibration::{Form, Interval};
use crate::load::inputs::{
    Key, LARGEST_RESPONSE, OwnCode, Price, Prices, RecordKey, RequestKey, RequestPrice, resumed,
};
use crate::load::negotiate::{Agreement, ClientOffer, Picking, ServerOffer, negotiate};
use crate::load::spec::{ClientShare, Regime, Role, Spec};
use record::tls::{Case, Exchange, Kind, Suite, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawTerm {
    pub(crate) part: Part,
    pub(crate) name: String,
    pub(crate) per_s: f64,
    pub(crate) each: Form,
    pub(crate) source: Source,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<RawTerm>,
    pub(crate) traffic: Traffic,
    pub(crate) remarks: Vec<String>,
    /// What nothing that is calibrated prices: why, and how much of it there is a second.
    left_out: Vec<(String, f64)>,
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

    fn leave_out(&mut self, why: String, per_s: f64) {
        match self.left_out.iter_mut().find(|(text, _)| *text == why) {
            Some((_, sum)) => *sum += per_s,
            None => self.left_out.push((why.clone(), per_s)),
        }
        self.remark(why);
    }

    /// Why the difference from another sum is not known: there is not as much left out of both.
    pub(crate) fn lacks_beside(&self, other: &Self) -> Option<String> {
        let of = |sum: &Self, why: &str| {
            sum.left_out.iter().find(|(text, _)| text == why).map_or(0.0, |(_, per_s)| *per_s)
        };
        let differs = |(why, _): &&(String, f64)| {
            let (here, there) = (of(self, why), of(other, why));
            (here - there).abs() > 1e-9 * here.abs().max(there.abs())
        };
        let mut all = self.left_out.iter().chain(&other.left_out);
        all.find(differs).map(|(why, _)| why.clone())
    }

    /// Whether other requests stand in for those of one of the sums only.
    pub(crate) fn stands_in_beside(&self, other: &Self) -> bool {
        let new = |of: &Self, beside: &Self| {
            let mut remarks = of.remarks.iter().filter(|r| !beside.remarks.contains(r));
            remarks.any(|r| r.contains("priced as those"))
        };
        new(self, other) || new(other, self)
    }
}

pub(crate) fn sum(spec: &Spec, prices: &Prices, regime: Regime) -> Result<Sum, String> {
    let traffic = traffic(spec, prices)?;
    let remarks = traffic.remarks.clone();
    let sum = Sum { terms: Vec::new(), traffic, remarks, left_out: Vec::new() };
    let mut builder = Builder { spec, prices, regime, sum };
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

    fn connection(&self, role: Role) -> Result<Connection, String> {
        let found = self.prices.requests.connection(role, self.regime, self.spec.traffic.http);
        let (first_response, form) = found.ok_or_else(|| {
            format!("the calibration has no plain connections at {} load", self.regime)
        })?;
        Ok(Connection { first_response, form })
    }

    /// A plain request of the server, over all sizes of responses.
    fn plain_request(&mut self, sendfile: bool, sizes: &[(u64, f64)]) -> Result<Form, String> {
        let key = RequestKey {
            role: self.prices.server,
            regime: self.regime,
            http: self.spec.traffic.http,
            sendfile,
            tls: None,
        };
        let one = |bytes| self.prices.requests.price(key, bytes);
        let form = over(sizes, one, &mut self.sum.remarks);
        form.ok_or_else(|| "the calibration has no plain requests".to_owned())
    }

    fn sizes(&self) -> Vec<(u64, f64)> {
        self.spec.traffic.responses.iter().map(|r| (r.bytes, r.share)).collect()
    }

    fn without_tls(&mut self) -> Result<(), String> {
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
                "responses of {} bytes are beyond what the model is held to ({LARGEST_RESPONSE}): the kernel's copies and full \
                 socket buffers are not in it",
                large.0
            ));
        }
        Ok(())
    }

    fn handshake(&self, case: Case) -> Result<Price, String> {
        let aes_hardware = self.spec.server.aes_hardware;
        let key = Key { regime: self.regime, case, tickets: None, aes_hardware };
        self.prices
            .handshakes
            .price(key)
            .ok_or_else(|| format!("the calibration has nothing that leads to the price of {case}"))
    }

    /// Records of the calibrated connection's one response, which its price holds.
    fn first_records(&mut self, case: Case) -> Result<Form, String> {
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

    fn handshakes(&mut self) -> Result<(), String> {
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
        let exchange = self.prices.exchange.get(&case.exchange).filter(|_| has_exchange).cloned();
        let sign = self.prices.sign.get(&case.certificate);
        // A key exchange by RSA is the server's one operation with its key: it decrypts, and signs nothing.
        let signs = !case.kind.is_resumed() && case.exchange != Exchange::Rsa;
        let sign = sign.filter(|_| signs).cloned();
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
            _ => self.sum.leave_out(
                "clients' certificates are not calibrated: they are left out of the sum".to_owned(),
                per_s,
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
            None => self.sum.leave_out(
                "tickets are not calibrated: priced as the usual two".to_owned(),
                per_s * (tickets - 2.0),
            ),
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
            _ => self.sum.leave_out(
                format!("the length of chains of {} is not calibrated: left out", case.certificate),
                per_s * bytes,
            ),
        }
    }

    fn failures(&mut self) -> Result<(), String> {
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
            let note = "not told apart: no document is given that has it of a quiet core";
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

/// Connections per second, by what becomes of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    /// Handshakes and how many of each a second; the same case may stand here twice.
    pub(crate) handshakes: Vec<(Case, f64)>,
    /// Connections that bring requests.
    pub(crate) served: f64,
    /// Connections that the server refuses at the first message.
    pub(crate) refused: f64,
    /// Those that the client ends after the server's flight, by what would have been negotiated.
    pub(crate) abandoned: Vec<(Case, f64)>,
    pub(crate) outcomes: Vec<ClientOutcome>,
    pub(crate) remarks: Vec<String>,
}

pub(crate) fn traffic(spec: &Spec, prices: &Prices) -> Result<Traffic, String> {
    let rate = spec.traffic.connections_per_s;
    let mut found = Traffic { refused: spec.traffic.refused_per_s, ..Traffic::default() };
    if !spec.server.tls {
        found.served = rate;
        found.refused = 0.0;
        return Ok(found);
    }
    let server = server(spec, prices, &mut found.remarks)?;
    for (client, offer) in spec.client_offers()? {
        let outcome = outcome(spec, &server, client, &offer);
        let (share, resumed_share) = (outcome.share, outcome.resumed_share);
        let per_s = rate * share;
        match &outcome.agreement {
            Agreement::Agreed { case, .. } => {
                found.served += per_s;
                found.handshakes.push((*case, per_s * (1.0 - resumed_share)));
                let again = resumed(*case, spec.resumption.tls12);
                found.handshakes.push((again, per_s * resumed_share));
                found.abandoned.push((*case, spec.traffic.abandoned_per_s * share));
            }
            Agreement::Refused { .. } => found.refused += per_s,
            Agreement::Unpriced { what } => {
                return Err(format!(
                    "class '{}' negotiates {what}, which is not measured: there is no price for it",
                    outcome.class
                ));
            }
        }
        found.outcomes.push(outcome);
    }
    Ok(found)
}

/// What the server offers, as far as its stack has it.
fn server(spec: &Spec, prices: &Prices, remarks: &mut Vec<String>) -> Result<ServerOffer, String> {
    let mut server = ServerOffer::of(&spec.server, prices.picking)?;
    let offered = server.groups();
    let offered = |x: &&Exchange| x.group().is_some_and(|g| offered.contains(&g));
    let lacking = Exchange::ALL.iter().filter(offered).filter(|x| prices.handshakes.lacks(**x));
    for exchange in lacking {
        server.drop_groups(|group| Some(group) == exchange.group());
        remarks
            .push(format!("the calibrated stack has no {exchange}: the server does not offer it"));
    }
    if !server.passed_over.is_empty() {
        let words = server.passed_over.join(", ");
        remarks.push(format!("the server's cipher string: passed over, as nothing is to be negotiated with it: {words}"));
    }
    Ok(server)
}

/// What each class of clients negotiates with the server of a specification, whose stack picks groups so and lacks
/// some key exchanges.
pub fn outcomes(
    spec: &Spec,
    picking: Picking,
    lacking: &[Exchange],
) -> Result<Vec<ClientOutcome>, String> {
    spec.check()?;
    let mut server = ServerOffer::of(&spec.server, picking)?;
    server.drop_groups(|group| lacking.iter().any(|x| x.group() == Some(group)));
    let offers = spec.client_offers()?.into_iter();
    Ok(offers.map(|(client, offer)| outcome(spec, &server, client, &offer)).collect())
}

pub(crate) fn outcome(
    spec: &Spec,
    server: &ServerOffer,
    client: ClientShare,
    offer: &ClientOffer,
) -> ClientOutcome {
    ClientOutcome {
        agreement: negotiate(server, offer),
        resumed_share: client.resumed_share.unwrap_or(spec.resumption.share),
        share: client.share,
        class: client.class,
    }
}

/// `TLS 1.3 x25519 rsa-2048 full`, without what makes no difference.
pub(crate) fn named(case: Case) -> String {
    let Case { version, exchange, certificate, kind, .. } = case;
    match kind {
        Kind::ResumedPsk => format!("TLS {version} {exchange} {kind}"),
        kind if kind.is_resumed() => format!("TLS {version} {kind}"),
        kind => format!("TLS {version} {exchange} {certificate} {kind}"),
    }
}

/// The same handshakes once, those that never happen left out.
pub(crate) fn merged(of: &[(Case, f64)]) -> Vec<(Case, f64)> {
    let mut out: Vec<(Case, f64)> = Vec::new();
    for (case, per_s) in of.iter().filter(|(_, per_s)| *per_s > 0.0) {
        match out.iter_mut().find(|(c, _)| c == case) {
            Some((_, sum)) => *sum += per_s,
            None => out.push((*case, *per_s)),
        }
    }
    out
}

pub const LOAD_VERSION: &str = "1.0";

/// What a server's CPU does, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// [`LOAD_VERSION`].
    pub format_version: String,
    /// `tls-load`.
    pub kind: String,
    /// What was asked for.
    pub spec: Spec,
    /// What it was calculated from.
    pub calibrated: Calibrated,
    /// The regime of the terms.
    pub regime: Regime,
    /// What each class of clients negotiates.
    pub negotiated: Vec<ClientOutcome>,
    /// The terms, whose sum is the total.
    pub terms: Vec<Term>,
    /// The terms by part.
    pub parts: Vec<PartSum>,
    /// CPU time in µs per second of wall time; 10,000 are one percent of a core.
    pub cpu_us_per_s: Interval,
    /// The same as a percentage of one core.
    pub cpu_percent: Interval,
    /// The same server and clients in each regime that is calibrated.
    pub regimes: Vec<RegimeSum>,
    /// Memory of open connections; null where none was measured.
    pub memory: Option<OpenConnections>,
    /// What other configurations would save, the most first; empty unless asked for.
    pub alternatives: Vec<Alternative>,
    /// What must be known to read these figures.
    pub remarks: Vec<String>,
}

/// What a load was calculated from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Calibrated {
    /// When the calibration began.
    pub started: String,
    /// The CPU.
    pub cpu: String,
    /// The real server whose plain costs are in it; null where the minimal server stands in.
    pub server: Option<String>,
    /// The stack.
    pub stack: String,
}

/// What a class of clients negotiates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientOutcome {
    /// The class.
    pub class: String,
    /// Its share of the connections.
    pub share: f64,
    /// What comes of it.
    pub agreement: Agreement,
    /// Share of its connections that resume.
    pub resumed_share: f64,
}

record::named! {
    /// What CPU time is spent on.
    Part {
        /// Agreeing on a secret.
        KeyExchange = "key exchange",
        /// The server's signature, and verifying the client's.
        Signature = "signature",
        /// The rest of the handshake, or all of it where it is not told apart.
        Handshake = "handshake",
        /// The cipher of the records.
        Bulk = "bulk",
        /// The HMAC of suites with CBC; AEAD suites have none.
        Hash = "hash",
        /// System calls, kernel, HTTP, the TLS library around the cipher.
        Stack = "stack",
    }
}

record::named! {
    /// Where a term's figure comes from.
    Source {
        /// A point of the calibration, or the difference of two.
        Calibrated = "calibrated",
        /// Put together from differences of measured points.
        Composed = "composed",
        /// Another document of this tool: records or primitives.
        Document = "document",
        /// What is left of a measured whole when measured parts are taken away.
        Rest = "rest",
        /// Another figure stands in, as the note says.
        StandIn = "stand-in",
    }
}

/// One term of the sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Term {
    /// What it belongs to.
    pub part: Part,
    /// What it is.
    pub name: String,
    /// How often a second.
    pub per_s: f64,
    /// What each costs, in µs.
    pub each_cpu_us: Interval,
    /// Both multiplied.
    pub cpu_us_per_s: Interval,
    /// Its share of the total; all shares come to 1, or to 0 without load.
    pub share: f64,
    /// Where the figure comes from.
    pub source: Source,
    /// What to know of it.
    pub note: Option<String>,
}

/// The sum of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartSum {
    /// The part.
    pub part: Part,
    /// CPU time in µs per second.
    pub cpu_us_per_s: Interval,
    /// Its share of the total.
    pub share: f64,
}

/// The same load in one regime.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegimeSum {
    /// The regime.
    pub regime: Regime,
    /// CPU time in µs per second.
    pub cpu_us_per_s: Interval,
    /// CPU time in µs for each connection that succeeds, its requests and everything else in the sum with it; null
    /// without connections.
    pub cpu_us_per_connection: Option<Interval>,
    /// Connections per second that would fill one core, everything else in proportion; null without load.
    pub most_connections_per_s: Option<Interval>,
}

/// Memory of connections that are open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenConnections {
    /// Open at a time: rate times lifetime.
    pub connections: f64,
    /// Bytes of each, in the server's process.
    pub bytes_per_connection: f64,
    /// Of these, what TLS adds.
    pub tls_bytes_per_connection: f64,
    /// All of them, in bytes.
    pub bytes: f64,
    /// As many as the specification's memory holds; null where it names none.
    pub most_open: Option<f64>,
}

/// Another configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// What is changed.
    pub change: String,
    /// What it would cost then, in µs per second; null where it cannot be priced.
    pub cpu_us_per_s: Option<Interval>,
    /// What that saves; below zero where it costs more.
    pub saves_us_per_s: Option<Interval>,
    /// The saving as a share of the present total.
    pub saves_share: Option<f64>,
    /// What it assumes, or why it cannot be priced.
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::spec::Profile;

    #[test]
    fn a_stack_without_a_group_negotiates_the_next() {
        let mut spec = Spec::default();
        spec.server.profile = Some(Profile::Intermediate);
        let exchange = |lacking: &[Exchange]| match &outcomes(&spec, Picking::ByShare, lacking)
            .unwrap()[0]
            .agreement
        {
            Agreement::Agreed { case, .. } => case.exchange,
            other => panic!("{other:?}"),
        };
        assert_eq!(exchange(&[]), Exchange::X25519Mlkem768);
        assert_eq!(exchange(&[Exchange::X25519Mlkem768]), Exchange::X25519);
    }
}
