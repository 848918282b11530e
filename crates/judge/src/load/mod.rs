//! What TLS costs a server: from what it is asked to do ([`Spec`]) and what was measured ([`Calibration`]) to
//! CPU seconds per second, by part. Here: [`load`], from both to the document. Pure: no I/O, no clock, no
//! unsafe code.

mod calibration;
mod formula;
mod inputs;
mod negotiate;
#[doc(hidden)]
pub mod sample;
mod spec;
mod tables;
mod why;

use calibration::Form;
pub use calibration::{
    CALIBRATION_VERSION, Calibration, ChainBytes, Counted, Interval, Judgement, LARGEST_JUDGED,
    MEDIAN_TOLERANCE, MemoryPoint, PASSING_SHARE, Point, RealServer, Served, Summary, TOLERANCE,
    VALIDATION_VERSION, ValidatedPart, ValidatedRow, Validation, judge, noise_of, of_rounds,
};
pub use formula::{
    Alternative, Calibrated, ClientOutcome, LOAD_VERSION, Load, OpenConnections, Part, PartSum,
    RegimeSum, Source, Term, outcomes,
};
use formula::{Sum, sum};
use inputs::Prices;
pub use inputs::{HandshakeParts, Inputs, resumed};
pub use negotiate::{Agreement, Picked, Picking, Recommended, client_classes};
use record::State;
use record::tls::Run;
pub use spec::{
    ClientShare, Http, Profile, Regime, Response, Resumption, Role, Settings, Spec, Traffic, Unit,
    Work,
};
pub use tables::{render_calibration, render_load, render_validation, render_why};
use why::alternatives;
pub use why::{Amount, Evidence, Explained, Question, Rate, Verdict, WHY_VERSION, Why, why};

// From a specification and measurements to the document.

/// Share of a core up to which connections come singly, with sleep in between.
const LOW: f64 = 0.3;
/// Share up to which they seldom meet.
const STEADY: f64 = 0.7;
/// µs of CPU in a second of one core.
const CORE_US: f64 = 1e6;

/// Calculates a load; with alternatives where `explain` is set.
pub fn load(spec: &Spec, inputs: &Inputs<'_>, explain: bool) -> Result<Load, String> {
    spec.check()?;
    let prices = Prices::of(inputs);
    let regime = regime_of(spec, &prices)?;
    let sum = sum(spec, &prices, regime)?;
    let total = prices.figures.eval(&sum.total());
    let terms = terms(&sum, &prices, total);
    let mut remarks = remarks(&sum, spec, regime, total);
    remarks.extend(whole(inputs));
    let picked = inputs.calibration.picked.iter();
    remarks.extend(picked.filter_map(|picked| picked.against(prices.picking)));
    Ok(Load {
        format_version: LOAD_VERSION.to_owned(),
        kind: "tls-load".to_owned(),
        spec: spec.clone(),
        calibrated: calibrated(inputs),
        regime,
        negotiated: sum.traffic.outcomes.clone(),
        parts: parts(&sum, &prices, total),
        terms,
        cpu_us_per_s: total,
        cpu_percent: total.times(100.0 / CORE_US),
        regimes: regimes(spec, &prices)?,
        memory: memory(spec, inputs, &sum),
        alternatives: if explain { alternatives(spec, &prices, regime, &sum) } else { Vec::new() },
        remarks,
    })
}

pub(crate) fn calibrated(inputs: &Inputs<'_>) -> Calibrated {
    let calibration = inputs.calibration;
    Calibrated {
        started: calibration.started.clone(),
        cpu: calibration.host.cpu.name.clone(),
        server: calibration.server.as_ref().map(|s| format!("{} {}", s.name, s.version)),
        stack: calibration.stack.label.clone(),
    }
}

/// The regime that was asked for, or the one that the load itself amounts to.
pub(crate) fn regime_of(spec: &Spec, prices: &Prices) -> Result<Regime, String> {
    let known = prices.regimes();
    if let Some(wanted) = spec.server.regime {
        if known.contains(&wanted) {
            return Ok(wanted);
        }
        let known: Vec<_> = known.iter().map(|r| r.name()).collect();
        return Err(format!("the calibration has no {wanted} load, only: {}", known.join(", ")));
    }
    let nearest =
        |wanted: Regime| known.iter().copied().min_by_key(|r| (*r as i32 - wanted as i32).abs());
    let missing = || "the calibration has no plain connections of a server".to_owned();
    let low = nearest(Regime::Low).ok_or_else(missing)?;
    let share = |regime| -> Result<f64, String> {
        Ok(prices.figures.eval(&sum(spec, prices, regime)?.total()).value / CORE_US)
    };
    if share(low)? <= LOW {
        return Ok(low);
    }
    let steady = nearest(Regime::Steady).ok_or_else(missing)?;
    if share(steady)? <= STEADY {
        return Ok(steady);
    }
    nearest(Regime::Saturated).ok_or_else(missing)
}

fn share(of: f64, total: f64) -> f64 {
    if total == 0.0 { 0.0 } else { of / total }
}

fn terms(sum: &Sum, prices: &Prices, total: Interval) -> Vec<Term> {
    let one = |raw: &formula::RawTerm| {
        let each = prices.figures.eval(&raw.each);
        let cpu = each.times(raw.per_s);
        Term {
            part: raw.part,
            name: raw.name.clone(),
            per_s: raw.per_s,
            each_cpu_us: each,
            cpu_us_per_s: cpu,
            share: share(cpu.value, total.value),
            source: raw.source,
            note: raw.note.clone(),
        }
    };
    sum.terms.iter().map(one).collect()
}

fn parts(sum: &Sum, prices: &Prices, total: Interval) -> Vec<PartSum> {
    let of = |part: &Part| {
        let raw: Vec<_> = sum.terms.iter().filter(|t| t.part == *part).collect();
        let form = raw.iter().fold(Form::default(), |f, t| f.plus(&t.each, t.per_s));
        let cpu_us_per_s = prices.figures.eval(&form);
        let part =
            PartSum { part: *part, cpu_us_per_s, share: share(cpu_us_per_s.value, total.value) };
        (!raw.is_empty()).then_some(part)
    };
    Part::ALL.iter().filter_map(of).collect()
}

fn regimes(spec: &Spec, prices: &Prices) -> Result<Vec<RegimeSum>, String> {
    let one = |regime: Regime| {
        let sum = sum(spec, prices, regime)?;
        let total = prices.figures.eval(&sum.total());
        let (rate, served) = (spec.traffic.connections_per_s, sum.traffic.served);
        let most = |cpu: f64| rate * CORE_US / cpu;
        let is_load = total.low > 0.0 && rate > 0.0;
        Ok(RegimeSum {
            regime,
            cpu_us_per_s: total,
            cpu_us_per_connection: (served > 0.0).then(|| total.times(1.0 / served)),
            most_connections_per_s: is_load.then(|| Interval {
                value: most(total.value),
                low: most(total.high),
                high: most(total.low),
            }),
        })
    };
    prices.regimes().into_iter().map(one).collect()
}

/// What the library holds for each connection, as calibrated or as another document has it, and what the server
/// holds without TLS, where that is known.
fn memory(spec: &Spec, inputs: &Inputs<'_>, sum: &Sum) -> Option<OpenConnections> {
    let plain = memory_of(inputs, Role::RealPlain, Work::Plain)
        .or_else(|| memory_of(inputs, Role::MinimalPlain, Work::Plain));
    let added = if spec.server.tls { added_memory(inputs, sum)? } else { 0.0 };
    if plain.is_none() && !spec.server.tls {
        return None;
    }
    let connections = sum.traffic.served * spec.traffic.connection_seconds;
    let each = plain.unwrap_or(0.0) + added;
    Some(OpenConnections {
        connections,
        bytes_per_connection: each,
        tls_bytes_per_connection: added,
        bytes: connections * each,
        most_open: spec.server.memory_mib.map(|mib| mib * 1_048_576.0 / each),
    })
}

fn memory_of(inputs: &Inputs<'_>, role: Role, work: Work) -> Option<f64> {
    let mut points = inputs.calibration.memory.iter();
    let is_it =
        |p: &&MemoryPoint| p.role == role && p.work.case().is_some() == work.case().is_some();
    points.find(is_it).map(|p| p.bytes_per_connection)
}

fn added_memory(inputs: &Inputs<'_>, sum: &Sum) -> Option<f64> {
    let (case, _) = sum.traffic.handshakes.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let tls = Work::Handshake { case: *case, tickets: None };
    let pair = |with, without| {
        Some(memory_of(inputs, with, tls)? - memory_of(inputs, without, Work::Plain)?)
    };
    pair(Role::RealTls, Role::RealPlain)
        .or_else(|| pair(Role::MinimalTls, Role::MinimalPlain))
        .or_else(|| inputs.parts?.memory(*case))
}

/// What the calibration lacks itself.
pub(crate) fn whole(inputs: &Inputs<'_>) -> Vec<String> {
    let points = &inputs.calibration.points;
    let mut remarks = Vec::new();
    let failed = points.iter().filter(|p| p.state == State::Failed).count();
    if failed > 0 {
        remarks.push(format!("{failed} of the calibration's {} points failed", points.len()));
    }
    let stack = &inputs.calibration.stack;
    let is_other = |run: &&Run| !run.stacks.iter().any(|s| inputs::is_same(s, stack));
    let records = inputs.records.filter(is_other).map(|_| "records");
    let parts = inputs.parts.iter().flat_map(|parts| parts.left_out.iter().copied());
    remarks.extend(parts.chain(records).map(|what| {
        format!(
            "the {what} given are of another build than the calibrated {}: left out",
            stack.label
        )
    }));
    let measured = points.iter().filter(|p| p.state == State::Measured);
    let rounds = measured.map(|p| p.rounds_cpu_us.iter().flatten().count()).min();
    if let Some(rounds) = rounds.filter(|rounds| *rounds < 3) {
        let were = if rounds == 1 { "once" } else { "twice" };
        remarks.push(format!(
            "some points of the calibration were measured {were} only: their ranges say little"
        ));
    }
    remarks
}

fn remarks(sum: &Sum, spec: &Spec, regime: Regime, total: Interval) -> Vec<String> {
    let mut remarks = sum.remarks.clone();
    remarks.push(
        "calibrated over loopback, where a part of the server's TCP work is charged to the client: the stack part \
         is not that of a network card"
            .to_owned(),
    );
    if spec.server.regime == Some(Regime::Low) && total.value > LOW * CORE_US {
        remarks.push(format!(
            "{regime} load was asked for, but {:.0} % of a core is no low load: see the other regimes",
            total.value * 100.0 / CORE_US
        ));
    }
    if total.value > CORE_US {
        remarks.push("this is more than one core can do".to_owned());
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::calibration::Calibration;
    use crate::load::sample;
    use crate::load::sample::{calibration, connection_us, handshake_us, records_us, request_us};
    use crate::load::spec::{ClientShare, Http, Profile, Response};
    use proptest::prelude::*;
    use record::tls::{Case, Certificate, Exchange, Kind, Suite, Version};

    fn inputs(calibration: &Calibration) -> Inputs<'_> {
        Inputs { calibration, records: None, parts: None }
    }

    fn loaded(spec: &Spec) -> Load {
        loaded_by(spec, &calibration())
    }

    fn loaded_by(spec: &Spec, calibration: &Calibration) -> Load {
        load(spec, &inputs(calibration), false).unwrap()
    }

    /// Connections of one class of clients, which take x25519 and TLS 1.3.
    fn of_go() -> Spec {
        Spec { clients: vec![ClientShare::of("go-1.17", 1.0)], ..Spec::default() }
    }

    fn spec() -> impl Strategy<Value = Spec> {
        let rates = (0.0..200.0, 1.0..20.0, 0.0..1.0, 0.0..5.0, 0.0..5.0);
        let server = (
            prop::sample::select(Certificate::classic().collect::<Vec<_>>()),
            prop::sample::select(&["X25519:P-256", "P-384", "P-256", "X25519MLKEM768:X25519"]),
            prop::sample::select(&[None, Some(Exchange::Ffdhe4096), Some(Exchange::OwnDh2048)]),
            any::<bool>(),
            any::<bool>(),
            prop::sample::select(&[None, Some(Profile::Old), Some(Profile::Intermediate)]),
            prop::sample::select(&[None, Some(0), Some(4)]),
        );
        let clients = prop::sample::select(&[
            "browser",
            "ie-11-win7",
            "android-4.4",
            "openssl-3.0",
            "tls-1.0",
        ]);
        (rates, server, clients, 0_u64..200_000).prop_map(|(rates, server, client, bytes)| {
            let mut spec = Spec::default();
            spec.traffic.connections_per_s = rates.0;
            spec.traffic.requests_per_connection = rates.1;
            spec.resumption.share = rates.2;
            (spec.traffic.refused_per_s, spec.traffic.abandoned_per_s) = (rates.3, rates.4);
            spec.traffic.responses =
                vec![Response { bytes, share: 0.3 }, Response { bytes: 1024, share: 0.7 }];
            spec.server.certificates = vec![server.0];
            spec.server.groups = Some(server.1.to_owned());
            spec.server.dh = server.2;
            (spec.server.tls, spec.server.sendfile) = (server.3, server.4);
            spec.server.profile = server.5;
            spec.server.tickets = server.6;
            spec.clients = vec![ClientShare::of(client, 0.5), ClientShare::of("browser", 0.5)];
            spec
        })
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn terms_and_parts_come_to_the_total_and_shares_to_one(spec in spec()) {
            let load = loaded(&spec);
            let terms: f64 = load.terms.iter().map(|t| t.cpu_us_per_s.value).sum();
            let parts: f64 = load.parts.iter().map(|p| p.cpu_us_per_s.value).sum();
            prop_assert!(close(terms, load.cpu_us_per_s.value) && close(parts, load.cpu_us_per_s.value));
            let shares: f64 = load.terms.iter().map(|t| t.share).sum();
            prop_assert!(close(shares, 1.0), "{shares}");
            prop_assert!(load.cpu_us_per_s.low <= load.cpu_us_per_s.value);
            prop_assert!(load.cpu_us_per_s.high >= load.cpu_us_per_s.value);
        }

        #[test]
        fn more_of_anything_never_costs_less(spec in spec(), more in 0.1_f64..50.0) {
            let mut spec = spec;
            spec.server.regime = Some(Regime::Steady);
            let base = loaded(&spec).cpu_us_per_s.value;
            let edits: [fn(&mut Spec, f64); 5] = [
                |s, more| s.traffic.connections_per_s += more,
                |s, more| s.traffic.requests_per_connection += more,
                |s, more| s.traffic.refused_per_s += more,
                |s, more| s.traffic.abandoned_per_s += more,
                |s, more| s.traffic.responses[0].bytes += (more * 1000.0) as u64,
            ];
            for (at, edit) in edits.into_iter().enumerate() {
                let mut changed = spec.clone();
                edit(&mut changed, more);
                prop_assert!(loaded(&changed).cpu_us_per_s.value >= base - 1e-6, "{at}");
            }
        }

        #[test]
        fn two_loads_together_cost_what_each_costs(spec in spec(), share in 0.0_f64..1.0) {
            let mut spec = spec;
            spec.server.regime = Some(Regime::Low);
            let scaled = |share: f64| {
                let mut part = spec.clone();
                let t = &mut part.traffic;
                t.connections_per_s *= share;
                t.refused_per_s *= share;
                t.abandoned_per_s *= share;
                loaded(&part).cpu_us_per_s.value
            };
            prop_assert!(close(scaled(share) + scaled(1.0 - share), scaled(1.0)));
        }
    }

    #[test]
    fn no_load_costs_nothing() {
        let mut spec = Spec::default();
        spec.traffic.connections_per_s = 0.0;
        let load = loaded(&spec);
        assert_eq!(load.cpu_us_per_s, Interval::default());
        assert!(
            load.terms.is_empty()
                && load.regimes.iter().all(|r| r.most_connections_per_s.is_none())
        );
    }

    #[test]
    fn the_sum_is_that_of_the_server_it_was_calibrated_on() {
        let mut spec = of_go();
        spec.traffic.connections_per_s = 10.0;
        spec.traffic.requests_per_connection = 4.0;
        spec.resumption.share = 0.25;
        spec.server.regime = Some(Regime::Steady);
        spec.server.sendfile = false;
        spec.traffic.responses = vec![Response { bytes: 50_000, share: 1.0 }];
        let full = Case::usual(Version::Tls13, Exchange::X25519, Certificate::Rsa2048, Kind::Full);
        let again = Case { kind: Kind::ResumedPsk, ..full };
        let real = super::Role::RealPlain;
        let request = request_us(real, Http::Http1, false, 50_000)
            + records_us(Suite::Aes128Gcm, 16_384, true, 50_000);
        let first = request_us(real, Http::Http1, false, 1024);
        let connection = connection_us(real, Regime::Steady) - first
            + 0.75 * handshake_us(Regime::Steady, full)
            + 0.25 * handshake_us(Regime::Steady, again)
            + 0.75 * sample::OWN_CODE_US
            + 0.25 * sample::OWN_CODE_RESUMED_US;
        let load = loaded(&spec);
        let expected = 10.0 * (connection + 4.0 * request);
        assert!(close(load.cpu_us_per_s.value, expected), "{} {expected}", load.cpu_us_per_s.value);
        assert!(load.parts.iter().any(|p| p.part == Part::Handshake && p.share > 0.3));
    }

    #[test]
    fn what_was_not_measured_itself_follows_from_differences() {
        let calibration = calibration();
        let prices = Prices::of(&inputs(&calibration));
        let base = records_us(Suite::Aes128Gcm, 16_384, true, 1024);
        let unseen = [
            Case::usual(Version::Tls12, Exchange::Ffdhe4096, Certificate::Rsa4096, Kind::Full),
            Case::usual(Version::Tls12, Exchange::P384, Certificate::P256, Kind::Full),
            Case::usual(Version::Tls13, Exchange::P384, Certificate::Rsa4096, Kind::HelloRetry),
            Case::usual(Version::Tls13, Exchange::P384, Certificate::Rsa4096, Kind::ResumedPsk),
        ];
        for wanted in unseen {
            for regime in Regime::ALL {
                let key = crate::load::inputs::Key {
                    regime: *regime,
                    case: wanted,
                    tickets: None,
                    aes_hardware: true,
                };
                let price =
                    prices.handshakes.price(key).unwrap_or_else(|| panic!("{wanted} {regime}"));
                let found = prices.figures.eval(&price.form).value - base;
                let truth = handshake_us(*regime, wanted);
                assert!(
                    close(found, truth),
                    "{wanted} {regime}: {found} {truth} {}",
                    price.composed
                );
                assert!(!price.composed.is_empty());
            }
        }
    }

    #[test]
    fn what_the_stack_does_not_have_is_not_offered() {
        let mut calibration = calibration();
        for point in &mut calibration.points {
            if point.served.work.case().is_some_and(|c| c.exchange == Exchange::X25519Mlkem768) {
                point.state = record::State::Unsupported;
            }
        }
        let mut spec = Spec::default();
        spec.server.profile = Some(Profile::Intermediate);
        let load = loaded_by(&spec, &calibration);
        assert!(load.terms.iter().any(|t| t.name.contains("x25519 rsa-2048")), "{:?}", load.terms);
        assert!(load.remarks.iter().any(|r| r.contains("x25519mlkem768")));
    }

    #[test]
    fn the_regime_is_what_the_load_amounts_to() {
        let of = |rate: f64| {
            let mut spec = Spec::default();
            spec.traffic.connections_per_s = rate;
            loaded(&spec).regime
        };
        assert_eq!(
            (of(1.0), of(900.0), of(5000.0)),
            (Regime::Low, Regime::Steady, Regime::Saturated)
        );
    }

    #[test]
    fn a_full_core_holds_as_many_connections_as_it_has_time_for() {
        let mut spec = Spec::default();
        spec.traffic.connections_per_s = 100.0;
        spec.traffic.connection_seconds = 3.0;
        spec.server.memory_mib = Some(100.0);
        let load = loaded(&spec);
        for sum in &load.regimes {
            let most = sum.most_connections_per_s.unwrap();
            assert!(close(most.value * sum.cpu_us_per_connection.unwrap().value, 1e6));
            assert!(most.low <= most.value && most.value <= most.high);
        }
        let memory = load.memory.unwrap();
        assert!(close(memory.connections, 300.0) && close(memory.bytes_per_connection, 42_000.0));
        assert!(close(memory.most_open.unwrap(), 104_857_600.0 / 42_000.0));
    }

    #[test]
    fn changes_are_ranked_by_what_they_save_and_what_they_have_in_common_cancels() {
        let mut spec = of_go();
        spec.traffic.connections_per_s = 50.0;
        spec.server.certificates = vec![Certificate::Rsa4096];
        let load = load(&spec, &inputs(&calibration()), true).unwrap();
        let named =
            |text: &str| load.alternatives.iter().find(|a| a.change.contains(text)).unwrap();
        let ecdsa = named("ECDSA certificate");
        let saved = ecdsa.saves_us_per_s.unwrap();
        assert!(close(saved.value, 50.0 * (3700.0 - 25.0)), "{saved:?}");
        assert!(close(ecdsa.cpu_us_per_s.unwrap().value, load.cpu_us_per_s.value - saved.value));
        // Everything but the certificate is the same: its spread is the certificates' alone.
        assert!(saved.high - saved.low < load.cpu_us_per_s.high - load.cpu_us_per_s.low);
        let order: Vec<f64> =
            load.alternatives.iter().filter_map(|a| Some(a.saves_us_per_s?.value)).collect();
        assert!(order.windows(2).all(|w| w[0] >= w[1]));
        assert!(named("resumption working").saves_us_per_s.unwrap().low > 0.0);
        assert!(close(named("no TLS at all").cpu_us_per_s.unwrap().value, {
            let mut plain = spec.clone();
            plain.server.tls = false;
            plain.server.regime = Some(load.regime);
            loaded(&plain).cpu_us_per_s.value
        }));
    }

    #[test]
    fn known_parts_of_a_handshake_are_told_apart_and_the_rest_is_a_difference() {
        let us = |value: f64| Interval { value, low: value * 0.99, high: value * 1.01 };
        let parts = super::HandshakeParts {
            exchange_us: [(Exchange::X25519, us(60.0))].into(),
            sign_us: [(Certificate::Rsa2048, us(250.0))].into(),
            ..super::HandshakeParts::default()
        };
        let calibration = calibration();
        let spec = of_go();
        let whole = loaded_by(&spec, &calibration);
        let inputs = Inputs { parts: Some(&parts), ..inputs(&calibration) };
        let split = load(&spec, &inputs, false).unwrap();
        let part = |part| split.parts.iter().find(|p| p.part == part).unwrap().cpu_us_per_s.value;
        assert!(close(part(Part::KeyExchange), 60.0) && close(part(Part::Signature), 250.0));
        assert!(close(whole.cpu_us_per_s.value, split.cpu_us_per_s.value));
        let rest = split.terms.iter().find(|t| t.source == super::Source::Rest).unwrap();
        assert!(rest.name.contains("the rest"));
    }

    #[test]
    fn a_server_that_decrypts_the_secret_with_its_key_signs_nothing() {
        let us = Interval { value: 250.0, low: 240.0, high: 260.0 };
        let parts = super::HandshakeParts {
            sign_us: [(Certificate::Rsa2048, us)].into(),
            ..super::HandshakeParts::default()
        };
        let mut spec = of_go();
        spec.server.versions = Some(vec![Version::Tls12]);
        let calibration = calibration();
        let inputs = Inputs { parts: Some(&parts), ..inputs(&calibration) };
        let mut signs = |ciphers: &str| {
            spec.server.ciphers = Some(ciphers.to_owned());
            let load = load(&spec, &inputs, false).unwrap();
            assert!(
                load.terms.iter().any(|t| t.name.contains("rsa-2048 full")),
                "{:?}",
                load.terms
            );
            load.parts.iter().any(|p| p.part == Part::Signature)
        };
        assert!(signs("ECDHE-RSA-AES128-GCM-SHA256"));
        assert!(!signs("AES128-GCM-SHA256"));
    }

    #[test]
    fn memory_is_that_of_the_handshake_s_own_run_where_the_calibration_has_none() {
        let mut calibration = calibration();
        calibration.memory.clear();
        let of = |version| Case::usual(version, Exchange::X25519, Certificate::Rsa2048, Kind::Full);
        let memory_bytes = [(of(Version::Tls12), 9000.0), (of(Version::Tls13), 21_000.0)].into();
        let parts = super::HandshakeParts { memory_bytes, ..super::HandshakeParts::default() };
        let mut spec = of_go();
        spec.traffic.connection_seconds = 10.0;
        assert!(loaded_by(&spec, &calibration).memory.is_none());
        let inputs = Inputs { parts: Some(&parts), ..inputs(&calibration) };
        let memory = load(&spec, &inputs, false).unwrap().memory.unwrap();
        assert!(close(memory.bytes, 210_000.0) && memory.most_open.is_none());
    }

    #[test]
    fn a_calibration_of_few_rounds_says_that_its_ranges_say_little() {
        let mut calibration = calibration();
        assert!(loaded(&Spec::default()).remarks.iter().all(|r| !r.contains("say little")));
        calibration.points[0].rounds_cpu_us.truncate(1);
        calibration.points[1].state = record::State::Failed;
        let remarks = loaded_by(&Spec::default(), &calibration).remarks;
        assert!(remarks.iter().any(|r| r.contains("measured once only")), "{remarks:?}");
        assert!(remarks.iter().any(|r| r.starts_with("1 of the calibration's")), "{remarks:?}");
    }

    /// As calibrations were before connections that resume had a share of their own in the server's code.
    #[test]
    fn a_calibration_without_a_resumed_connection_to_the_real_server_says_what_it_lacks() {
        let resumes = |p: &super::Point| {
            p.role == super::Role::RealTls
                && p.served.work.case().is_some_and(|case| case.kind.is_resumed())
        };
        let mut old = calibration();
        old.points.retain(|point| !resumes(point));
        let mut spec = Spec::default();
        spec.resumption.share = 1.0;
        spec.server.regime = Some(Regime::Saturated);
        let of = |calibration: &Calibration| loaded_by(&spec, calibration);
        let (before, now) = (of(&old), of(&calibration()));
        let lacks =
            |load: &Load| load.remarks.iter().any(|r| r.contains("has no resumed connection"));
        assert!(lacks(&before) && !lacks(&now));
        let dearer = before.cpu_us_per_s.value - now.cpu_us_per_s.value;
        assert!(close(dearer, sample::OWN_CODE_US - sample::OWN_CODE_RESUMED_US), "{dearer}");
        let stands_in = |load: &Load| load.terms.iter().any(|t| t.source == super::Source::StandIn);
        assert!(stands_in(&before) && !stands_in(&now));
        // Full connections have what they had.
        spec.resumption.share = 0.0;
        let full = loaded_by(&spec, &old);
        assert!(!lacks(&full) && close(full.cpu_us_per_s.value, loaded(&spec).cpu_us_per_s.value));
    }

    #[test]
    fn a_server_that_picks_groups_otherwise_than_its_stack_is_told_of() {
        let mut calibration = calibration();
        calibration.picked = vec![super::Picked {
            offered: "P-384:X25519".to_owned(),
            group: Some(record::tls::Group::X25519),
            hello_retry: true,
            reason: None,
        }];
        let of = |calibration: &Calibration| loaded_by(&Spec::default(), calibration).remarks;
        assert!(of(&calibration).iter().any(|r| r.contains("picked x25519 (hello-retry)")));
        calibration.stack = record::tls::fixtures::stack("openssl@3.5.5");
        assert!(of(&calibration).iter().all(|r| !r.contains("picked x25519")));
    }
}
