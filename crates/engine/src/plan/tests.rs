use super::*;
use crate::attached::AtTier;

pub(super) fn attached(offers: Vec<Offer>) -> Attached {
    let facts = record::Library {
        name: "lib".into(),
        version: "1".into(),
        path: "lib.so".into(),
        id: "sha256:0".into(),
        ..record::Library::default()
    };
    Attached { facts, offers, ..Attached::default() }
}

pub(super) fn offer(algorithm: &str, direction: Direction, reason: Option<&str>) -> Offer {
    Offer {
        algorithm: algorithm.into(),
        direction,
        models: if reason.is_none() { vec![Model::Message] } else { Vec::new() },
        reason: reason.map(ToOwned::to_owned),
        failed: false,
        functions: None,
        copies: false,
        allocates: false,
        rekeying: None,
        rekey_functions: None,
        in_place: false,
        in_flight: None,
    }
}

pub(super) fn request(algorithms: &[&str]) -> Request {
    Request {
        suite: None,
        algorithms: algorithms.iter().map(|a| Algorithm::find(a).unwrap()).collect(),
        directions: vec![Direction::Encrypt],
        models: vec![Model::Message],
        sizes: vec![16, 100],
        tiers: vec![Tier::Native],
        footprints: vec![Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        latency: false,
        budget: Budget { precision: 0.01, time: Duration::from_secs(1) },
        evidence: true,
        screened: Screened::default(),
        seed: 1,
        command: Vec::new(),
    }
}

pub(super) fn machine() -> Machine {
    let cache = |level, size_bytes| record::Cache {
        level,
        kind: "Data".into(),
        size_bytes,
        line_bytes: 64,
        shared_by: "0".into(),
    };
    let mut host = record::Host::default();
    host.cpu.caches = vec![cache(1, 32 << 10), cache(2, 1 << 20)];
    host.memory.total_bytes = 1 << 30;
    Machine::new(&host, vec![0])
}

fn of(library: Attached, change: impl FnOnce(&mut Request)) -> Vec<Planned> {
    let mut request = request(&["aes-128-gcm"]);
    request.sizes = vec![1024];
    change(&mut request);
    cases(&request, &[library], &machine())
}

fn gcm() -> Attached {
    let both = [Direction::Encrypt, Direction::Decrypt].map(|direction| Offer {
        models: vec![Model::Message, Model::Rekey, Model::Forgery],
        ..offer("aes-128-gcm", direction, None)
    });
    let mut library = attached(both.to_vec());
    library.offers[0].models.pop();
    library
}

#[test]
fn a_footprint_that_cannot_hold_an_operation_is_unsupported() {
    let planned = of(gcm(), |r| {
        r.footprints = vec![Footprint::L1, Footprint::L2, Footprint::L3];
        r.sizes = vec![1024, 16 << 10];
    });
    let reason = |i: usize| planned[i].verdict.as_ref().map(|v| v.why.clone());
    assert_eq!((reason(0), reason(2), reason(3)), (None, None, None));
    assert!(reason(1).unwrap().contains("are more than the 24576 of the footprint l1"));
    assert!(reason(4).unwrap().contains("no level 3 cache"));
}

#[test]
fn in_place_and_forgeries_are_there_where_they_can_be() {
    let planned = of(gcm(), |r| r.in_place = vec![false, true]);
    assert_eq!(planned[0].verdict, None);
    assert!(planned[1].verdict.as_ref().unwrap().why.contains("does not work in place"));
    let planned = of(gcm(), |r| {
        r.models = vec![Model::Forgery];
        r.directions = vec![Direction::Encrypt, Direction::Decrypt];
    });
    assert!(planned[0].verdict.as_ref().unwrap().why.contains("only decryption"));
    assert_eq!(planned[1].verdict, None);
}

#[test]
fn a_library_of_one_thread_is_not_measured_with_two() {
    let mut library = gcm();
    library.ready = Some(crate::protocol::Ready {
        one_thread_only: Some("one thread".into()),
        ..Default::default()
    });
    let planned = of(library, |r| r.threads = vec![1, 2]);
    assert_eq!(planned[0].verdict, None);
    assert_eq!(planned[1].verdict, Some(Finding::unsupported("one thread")));
}

#[test]
fn what_is_not_offered_is_a_row_with_its_reason() {
    let library = attached(vec![offer("aes-128-ocb", Direction::Encrypt, Some("no OCB here"))]);
    let planned = cases(&request(&["aes-128-ocb"]), &[library], &machine());
    assert_eq!(planned.len(), 2);
    assert_eq!(planned[0].verdict, Some(Finding::unsupported("no OCB here")));
}

#[test]
fn a_size_that_the_mode_does_not_define_is_unsupported() {
    let library = attached(vec![offer("aes-128-ecb", Direction::Encrypt, None)]);
    let planned = cases(&request(&["aes-128-ecb"]), &[library], &machine());
    assert_eq!(planned[0].verdict, None);
    let why = &planned[1].verdict.as_ref().unwrap().why;
    assert!(why.contains("whole blocks of 16 bytes"), "{why}");
}

#[test]
fn each_tier_has_its_own_offers_and_one_that_cannot_be_applied_its_reason() {
    let mut library = attached(vec![offer("aes-128-ocb", Direction::Encrypt, None)]);
    let without = vec![offer("aes-128-ocb", Direction::Encrypt, Some("needs AES-NI"))];
    library.tiers = vec![
        AtTier { tier: Tier::Noaes, offers: Ok(without) },
        AtTier { tier: Tier::Baseline, offers: Err(Finding::unsupported("no way")) },
    ];
    let tiers = vec![Tier::Native, Tier::Noaes, Tier::Baseline];
    let request = Request { tiers, sizes: vec![16], ..request(&["aes-128-ocb"]) };
    let planned = cases(&request, &[library], &machine());
    let verdicts: Vec<_> =
        planned.iter().map(|p| p.verdict.as_ref().map(|f| f.why.as_str())).collect();
    assert_eq!(verdicts, [None, Some("needs AES-NI"), Some("no way")]);
}

#[test]
fn baselines_are_rows_only_where_they_are_offered() {
    let with = attached(vec![offer("memcpy", Direction::Copy, None)]);
    let without = attached(vec![offer("memcpy", Direction::Copy, Some("no"))]);
    let planned = cases(&request(&["memcpy"]), &[with, without], &machine());
    assert_eq!(planned.len(), 2);
    assert!(planned.iter().all(|p| p.case.library == 0 && p.verdict.is_none()));
}

#[test]
fn what_a_look_rules_out_is_not_measured_and_bounded_at_its_size_and_above() {
    let key = (0, "aes-128-gcm", Direction::Encrypt);
    let looked = Screened { size: 1024, least_ns: BTreeMap::from([(key, 250)]), only: None };
    // A look alone rules nothing out.
    let all = of(gcm(), |request| request.screened = looked.clone());
    assert!(all.iter().all(|p| p.verdict.is_none()));
    let rest = of(gcm(), |request| {
        request.sizes = vec![64, 1024, 4096];
        request.screened = looked.but(BTreeSet::new());
    });
    let findings: Vec<&Finding> = rest.iter().filter_map(|p| p.verdict.as_ref()).collect();
    let bounds: Vec<Option<u64>> = findings.iter().map(|f| f.at_least_ns).collect();
    assert_eq!(bounds, [None, Some(250), Some(250)]);
    assert!(findings.iter().all(|f| f.stopped == Some(record::Stopped::Screened)));
    let wanted = looked.but(BTreeSet::from([(0, "aes-128-gcm")]));
    let measured = of(gcm(), |request| request.screened = wanted);
    assert!(measured.iter().all(|p| p.verdict.is_none()));
}
