use super::*;
use crate::load::sample::calibration;
use crate::load::spec::{ClientShare, Response};
use record::tls::{Certificate, Exchange, Version};

fn question() -> Question {
    Question {
        from_percent: (0.5, 0.5),
        to_percent: (2.0, 3.0),
        slower: (1.0, 1.0),
        spec: None,
        spec_is_before: false,
        most_mbit_per_s: None,
    }
}

fn answer(question: &Question) -> Why {
    let calibration = calibration();
    why(question, &Inputs { calibration: &calibration, records: None, parts: None }).unwrap()
}

/// A small site with large keys, seen after the rise.
fn site() -> Spec {
    let mut spec = Spec::default();
    spec.traffic.connections_per_s = 4.4;
    spec.traffic.requests_per_connection = 5.0;
    spec.traffic.responses = vec![Response { bytes: 20_000, share: 1.0 }];
    spec.server.versions = Some(vec![Version::Tls12]);
    spec.server.certificates = vec![Certificate::Rsa4096];
    spec.server.groups = Some("P-384".to_owned());
    spec.clients = vec![ClientShare::of("chrome-49", 1.0)];
    spec
}

#[test]
fn the_rate_that_is_needed_times_its_price_is_the_rise() {
    let found = answer(&question());
    assert_eq!(found.rise_percent, Interval { value: 2.0, low: 1.5, high: 2.5 });
    for rate in &found.rates {
        let Some(needed) = rate.needed_per_s else { continue };
        let product = needed.value * rate.each_cpu_us.value;
        assert!((product - 20_000.0).abs() < 1e-6, "{}", rate.what);
        assert!(needed.low <= needed.value && needed.value <= needed.high);
    }
}

#[test]
fn without_rates_nothing_is_excluded_and_cpu_alone_decides_nothing() {
    let found = answer(&question());
    assert!(found.verdict.starts_with("cannot decide from CPU % alone"), "{}", found.verdict);
    assert!(found.rates.iter().filter(|r| r.verdict == Verdict::Possible).count() > 10);
    assert!(found.evidence.iter().any(|e| e.look_at == "$ssl_session_reused"));
}

#[test]
fn bulk_is_excluded_by_the_bytes_that_there_are() {
    let found = answer(&Question { most_mbit_per_s: Some(10.0), ..question() });
    let bulk = found.rates.iter().find(|r| r.what.starts_with("aes-256-gcm:")).unwrap();
    assert_eq!((bulk.verdict, bulk.counted), (Verdict::Cannot, Amount::Bytes));
    assert!(bulk.reason.contains("times what there is"), "{}", bulk.reason);
}

#[test]
fn a_site_s_own_rates_exclude_what_is_too_cheap_and_keep_what_is_dear_enough() {
    let found = answer(&Question { spec: Some(site()), ..question() });
    let rate = |text: &str| found.rates.iter().find(|r| r.what.contains(text)).unwrap();
    assert_eq!(rate("p384 rsa-4096").verdict, Verdict::Fits);
    assert_eq!(rate("1.3 x25519 p256").verdict, Verdict::Cannot);
    assert_eq!(rate("ffdhe4096 rsa-4096").verdict, Verdict::More);
    let change = |text: &str| found.changes.iter().find(|c| c.change.contains(text)).unwrap();
    assert_eq!(change("no TLS at all").verdict, Verdict::Fits);
    assert_eq!(change("rsa-2048 instead of rsa-4096").verdict, Verdict::Fits);
    assert_eq!(change("X25519 and P-256").verdict, Verdict::Part);
    assert_eq!(change("AES-128-GCM before").verdict, Verdict::Cannot);
    assert!(found.verdict.starts_with("cannot decide"), "{}", found.verdict);
    assert!(change("X25519 and P-256").decided_by.contains(&"$ssl_curve".to_owned()));
}

#[test]
fn seen_from_before_what_made_it_dearer_is_ranked() {
    let mut spec = site();
    spec.server.certificates = vec![Certificate::Rsa2048];
    spec.server.groups = Some("P-256".to_owned());
    spec.resumption.share = 0.6;
    let found = answer(&Question { spec: Some(spec), spec_is_before: true, ..question() });
    let change = |text: &str| found.changes.iter().find(|c| c.change.contains(text)).unwrap();
    assert_eq!(change("AES-256-GCM before").verdict, Verdict::Cannot);
    assert!(change("no AES instructions").share > change("AES-256-GCM before").share);
    assert!(change("rsa-4096").share > 0.2);
    let order: Vec<Verdict> = found.changes.iter().map(|c| c.verdict).collect();
    assert!(order.is_sorted());
}

#[test]
fn dhe_explains_nothing_where_no_client_negotiates_it() {
    let mut spec = site();
    spec.server.dh = Some(Exchange::Ffdhe4096);
    let share = |class: &str| {
        let spec = Spec { clients: vec![ClientShare::of(class, 1.0)], ..spec.clone() };
        let mut spec = spec;
        spec.server.ciphers = Some("EECDH+AESGCM:EDH+AESGCM:AES256+EECDH".to_owned());
        spec.server.prefer_server_ciphers = Some(true);
        let found = answer(&Question { spec: Some(spec), ..question() });
        found.changes.iter().find(|c| c.change.contains("no DHE")).map(|c| c.share).unwrap()
    };
    assert!(share("chrome-49").abs() < 1e-9);
    assert!(share("ie-11-win7") > 1.0);
}

#[test]
fn a_slower_core_needs_fewer() {
    let here = answer(&question());
    let there = answer(&Question { slower: (1.5, 2.5), ..question() });
    for (a, b) in here
        .rates
        .iter()
        .filter(|r| r.needed_per_s.is_some())
        .map(|a| (a, there.rates.iter().find(|b| b.what == a.what).unwrap()))
    {
        assert!(b.needed_per_s.unwrap().value < a.needed_per_s.unwrap().value, "{}", a.what);
    }
}

#[test]
fn what_is_no_rise_is_refused() {
    let calibration = calibration();
    let inputs = Inputs { calibration: &calibration, records: None, parts: None };
    let question = Question { from_percent: (2.0, 2.5), to_percent: (2.4, 3.0), ..question() };
    assert!(why(&question, &inputs).unwrap_err().to_string().contains("no rise"));
}
