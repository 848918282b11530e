use super::*;
use crate::attached::Attached;
use crate::kinds::{Message, PILOT, Subject, Tls};
use crate::setting::Setting;
use base::model::{Case, Direction, Footprint, Model};

fn track_at(library: usize, size: usize, tier: Tier) -> CaseProgress {
    let case = Case {
        library,
        algorithm: "aes-128-ctr".into(),
        direction: Direction::Encrypt,
        model: Model::Message,
        size,
        tier,
        threads: 1,
        footprint: Footprint::Hot,
        in_place: false,
    };
    CaseProgress::new(0, Subject::Message(Message::new(case, Setting::default())))
}

fn progress(library: usize, size: usize) -> CaseProgress {
    track_at(library, size, Tier::Native)
}

fn schedule(libraries: &[Attached], all_progress: Vec<CaseProgress>, seed: u64) -> Schedule<'_> {
    let source = |library: usize, tier| Source::Library(&libraries[library], tier);
    Schedule::new(&source, all_progress, BUDGET, &start(seed))
}

fn attached() -> Attached {
    let facts = record::Library {
        name: "l".into(),
        version: "1".into(),
        path: String::new(),
        id: String::new(),
        ..record::Library::default()
    };
    Attached { facts, ..Attached::default() }
}

fn start(seed: u64) -> Start {
    Start { cpus: Vec::new(), seed, ticks_per_ns: None, quiet: QuietRates::default() }
}

const BUDGET: Budget = Budget { precision: 0.01, time: Duration::from_secs(1) };

#[test]
fn a_round_visits_every_case_once_that_the_pass_wants_samples_of() {
    let libraries = [attached(), attached()];
    let mut all_progress: Vec<CaseProgress> = (0..100).map(|i| progress(i % 2, i + 1)).collect();
    all_progress[7].end = Some(End::Stopped(Stopped::Precision));
    all_progress[8].pass.clean = MIN_PER_PROCESS;
    all_progress[9].pass.taken = 2 * MIN_PER_PROCESS as u32;
    let mut schedule = schedule(&libraries, all_progress, 1);
    let blocks = schedule.blocks();
    let mut seen: Vec<usize> = blocks.iter().flat_map(|b| b.all_progress.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..100).filter(|i| ![7, 8, 9].contains(i)).collect::<Vec<_>>());
    assert!(blocks.iter().all(|b| b.all_progress.iter().all(|i| i % 2 == b.pool)));
    assert!(blocks.iter().all(|b| b.all_progress.len() <= BLOCK));
}

#[test]
fn no_worker_samples_cases_of_two_tiers() {
    let tier = |i| if i < 5 { Tier::Native } else { Tier::Noaes };
    let all_progress: Vec<CaseProgress> = (0..8).map(|i| track_at(0, i + 1, tier(i))).collect();
    let libraries = [attached()];
    let mut schedule = schedule(&libraries, all_progress, 1);
    assert_eq!(schedule.pools.len(), 2);
    for Block { pool, all_progress, .. } in schedule.blocks() {
        assert!(all_progress.iter().all(|i| (*i >= 5) == (pool == 1)), "{pool} {all_progress:?}");
    }
}

#[test]
fn the_order_comes_from_the_seed() {
    let libraries = [attached()];
    let order = |seed| {
        let all_progress = (0..50).map(|i| progress(0, i + 1)).collect();
        let blocks = schedule(&libraries, all_progress, seed).blocks();
        blocks.into_iter().map(|block| block.all_progress).collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

/// Two clean samples of each process, of so many ticks.
fn sampled(progress: CaseProgress, ticks: impl Fn(u32) -> u64, processes: u32) -> CaseProgress {
    let sample = |process| RawSample {
        process,
        ops: 10,
        ticks: ticks(process),
        clock_before: 1.0,
        clock_after: 1.0,
        probe_before: 4.0,
        probe_after: 4.0,
        ..RawSample::default()
    };
    let twice = |process| [sample(process), sample(process)];
    (0..processes).flat_map(twice).fold(progress, |mut progress, sample| {
        progress.take(&[sample], None);
        progress
    })
}

#[test]
fn after_nine_processes_the_imprecise_go_first_and_after_twelve_the_precise_end() {
    let libraries = [attached()];
    let scattered = |process: u32| 10_000 + 500 * u64::from(process % 3);
    let after = |processes| {
        let precise = sampled(progress(0, 1), |_| 10_000, processes);
        let imprecise = sampled(progress(0, 2), scattered, processes);
        let mut schedule = schedule(&libraries, vec![precise, imprecise], 1);
        schedule.judge();
        schedule.wave = schedule.next_wave(&Stop::default());
        let has_ended = schedule.all_progress.iter().any(|t| t.end.is_some());
        (schedule.in_turn().collect::<Vec<_>>(), has_ended)
    };
    assert_eq!(after(8), (vec![0, 1], false));
    assert_eq!(after(9), (vec![1], false));
    assert_eq!(after(12), (vec![1], true));
}

#[test]
fn a_sample_that_does_not_count_is_no_progress() {
    let libraries = [attached()];
    let disturbed = sampled(progress(0, 1), |_| 10_000, 12);
    let mut clean = disturbed.clone();
    (0..12).for_each(|_| clean.count_clean());
    let schedule = schedule(&libraries, vec![disturbed, clean], 1);
    assert!((schedule.progress().fraction - 0.5 * 0.9 * 0.5).abs() < 1e-9);
}

#[test]
fn where_no_sample_counts_later_waves_have_their_turn_all_the_same() {
    let libraries = [attached()];
    let handshake = |exchange| {
        let case = record::tls::Case {
            version: record::tls::Version::Tls13,
            exchange,
            certificate: record::tls::Certificate::P256,
            kind: record::tls::Kind::Full,
            client_auth: false,
            suite: record::tls::Suite::Aes128Gcm,
        };
        let subject = record::tls::Subject::Handshake(case);
        let temperature = record::tls::Temperature::Hot;
        CaseProgress::new(0, Subject::Tls(Tls { stack: 0, subject, temperature }))
    };
    let in_turn = |processes: u32| {
        let [usual, other] =
            [record::tls::Exchange::X25519, record::tls::Exchange::P256].map(handshake);
        let usual = sampled(usual, |_| 10_000, processes);
        let mut schedule = schedule(&libraries, vec![usual, other], 1);
        schedule.wave = schedule.next_wave(&Stop::default().within(Duration::from_secs(3600)));
        schedule.in_turn().count()
    };
    let enough = 2 * PILOT as u32;
    assert_eq!((in_turn(enough - 1), in_turn(enough)), (1, 2));
}

#[test]
fn cases_that_wait_have_their_turn_when_nobody_else_is_left() {
    let libraries = [attached()];
    let both = [1, 2].map(|size| sampled(progress(0, size), |_| 10_000, 9));
    let mut schedule = schedule(&libraries, both.to_vec(), 1);
    schedule.judge();
    schedule.wave = schedule.next_wave(&Stop::default());
    assert!(schedule.all_progress.iter().all(|t| t.waits && t.end.is_none()));
    assert_eq!(schedule.in_turn().count(), 2);
}

#[test]
fn a_case_that_longer_settling_made_cheaper_is_sampled_again_and_one_with_a_finding_is_not() {
    let libraries = [attached()];
    let is_longer = |process: u32| process % 2 == 1;
    let mut precise =
        sampled(progress(0, 1), |process| if is_longer(process) { 9_000 } else { 10_000 }, 14);
    for sample in &mut precise.samples {
        sample.settled_us = if is_longer(sample.process) { 400 } else { 100 };
    }
    precise.end = Some(End::Stopped(Stopped::Precision));
    let refused = End::Found(Finding::refused("a wrong byte"));
    let mut without = precise.clone();
    without.end = Some(refused.clone());
    let mut schedule = schedule(&libraries, vec![precise, without], 1);
    schedule.judge();
    let [precise, without] = &schedule.all_progress[..] else { panic!("two cases") };
    assert_eq!(precise.end, None);
    assert!(precise.settling.needed_us() > 100);
    let unsettled = precise.samples.iter().filter(|s| s.unsettled).map(|s| s.process);
    assert!(unsettled.clone().count() > 0 && unsettled.clone().all(|process| !is_longer(process)));
    assert_eq!(without.end, Some(refused));
}
