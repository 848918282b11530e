use super::*;
use crate::compare::Class;
use crate::compare::sample::{case, executed, library, record, without_number};

const STEADY: [f64; 6] = [1000.0, 1004.0, 1008.0, 996.0, 992.0, 1000.0];

fn row(name: &str, algorithm: &str, size: usize, factor: f64) -> Measurement {
    let mut m = case(algorithm, size, &STEADY.map(|c| c * factor));
    m.library = library(name, "1", name);
    m
}

fn places(ranking: &Ranking) -> Vec<(usize, usize, &str, &str)> {
    let rows = ranking.standings.iter().flat_map(|s| &s.rows);
    rows.map(|r| (r.place, r.last_place, r.library.name.as_str(), r.case.algorithm.as_str()))
        .collect()
}

fn authenticated() -> Question {
    Question { class: Some(Class::Authenticated), ..Question::default() }
}

fn asked(record: &Record, question: &Question) -> Ranking {
    rank(record, question, 10).unwrap()
}

fn some() -> Record {
    record(
        "a",
        vec![
            row("a", "aes-128-gcm", 8192, 1.001),
            row("b", "aes-128-gcm", 8192, 1.0),
            row("c", "aes-256-gcm", 8192, 1.2),
            row("d", "aes-128-ctr", 8192, 0.5),
            row("a", "aes-128-gcm", 64, 0.1),
            row("c", "aes-256-ctr+xxh3", 8192, 2.0),
            without_number(row("e", "aes-128-gcm", 8192, 1.0), State::Refused, "wrong tag"),
            row("f", "sha256", 8192, 0.1),
        ],
    )
}

#[test]
fn each_case_has_the_places_that_it_may_have() {
    let ranking = asked(&some(), &Question { size: Some(8192), ..authenticated() });
    assert_eq!(
        places(&ranking),
        [(1, 2, "b", "aes-128-gcm"), (1, 2, "a", "aes-128-gcm"), (3, 3, "c", "aes-256-gcm"),]
    );
    let standing = &ranking.standings[0];
    assert_eq!((standing.contenders, standing.may_be_first), (3, 2));
    let behind = standing.rows[2].behind.unwrap();
    assert!((behind.estimate - 1.2).abs() < 1e-3 && behind.low < 1.2 && behind.high > 1.2);
    assert_eq!(standing.rows[0].behind, None);
}

#[test]
fn refused_cases_are_named_and_not_ranked() {
    let ranking = asked(&some(), &authenticated());
    assert_eq!(ranking.absent[0].reason.as_deref(), Some("wrong tag"));
    assert_eq!(ranking.absent[0].library.name, "e");
}

#[test]
fn what_is_not_said_is_decided_and_told() {
    let ranking = asked(&some(), &Question::default());
    assert_eq!(places(&ranking)[0].3, "aes-128-ctr", "8 KiB, and no digest");
    assert_eq!(ranking.terms.size, Some(8192));
    assert_eq!(
        ranking.terms.sentence,
        "fastest on encrypt at 8192 bytes (model message, tier native)"
    );
    let labels: Vec<_> = ranking.standings[0].rows.iter().map(|r| r.label.as_deref()).collect();
    assert_eq!(labels[0], Some("no-integrity"));
    assert_eq!(*labels.last().unwrap(), Some("composite, accident-only"));
}

#[test]
fn each_group_has_its_own_best() {
    let per = |per, of| Question { per: Some(per), ..of };
    let ranking = asked(&some(), &per(Per::Library, Question::default()));
    let groups: Vec<_> = ranking.standings.iter().map(|s| s.group.as_deref().unwrap()).collect();
    assert_eq!(groups, ["d@1", "b@1", "a@1", "c@1"], "the fastest first");
    let ranking = asked(&some(), &per(Per::Size, authenticated()));
    let groups: Vec<_> = ranking.standings.iter().map(|s| s.group.as_deref().unwrap()).collect();
    assert_eq!(groups, ["64 B", "8192 B"]);
    assert_eq!(ranking.standings[0].rows[0].place, 1);
}

#[test]
fn few_rows_leave_no_tie_out() {
    let ranking = rank(&some(), &authenticated(), 1).unwrap();
    assert_eq!(ranking.standings[0].rows.len(), 2);
}

#[test]
fn instructions_are_exact_so_only_equal_counts_tie() {
    let mut record = some();
    record.executed = record.measurements[..3]
        .iter()
        .zip([(2.0, 100.0), (2.0, 100.0), (1.0, 50.0)])
        .map(|(m, (byte, message))| executed(m, byte, message))
        .collect();
    for (m, e) in record.measurements[..3].iter_mut().zip(&record.executed) {
        (m.instructions_per_byte, m.instructions_per_message) = (e.per_byte, e.per_message);
    }
    let fewest = Question { by: By::Instructions, ..authenticated() };
    let ranking = asked(&record, &fewest);
    let found: Vec<_> = places(&ranking).iter().map(|p| (p.0, p.1, p.2)).collect();
    assert_eq!(found, [(1, 1, "c"), (2, 3, "a"), (2, 3, "b")]);
    assert_eq!(ranking.standings[0].rows[0].instructions_per_op, Some(8242.0));
    assert_eq!(ranking.terms.unit, None);
    let none = rank(&some(), &fewest, 10).unwrap_err();
    assert!(none.contains("no case has what it takes"), "{none}");
}

#[test]
fn what_the_record_lacks_is_named_with_what_measures_it() {
    let any = Question::default;
    let libraries = vec![base::model::NameGlob::parse("nobody").unwrap()];
    for (question, lacks, command) in [
        (Question { tier: Some(Tier::Noaes), ..any() }, "tier noaes, only native", "run -t noaes"),
        (
            Question { direction: Some(Direction::Decrypt), ..any() },
            "direction decrypt",
            "run -d decrypt",
        ),
        (Question { model: Some(Model::Rekey), ..any() }, "model rekey", "run -m rekey"),
        (Question { threads: Some(2), ..any() }, "case of 2 threads", "run --threads 2"),
        (
            Question { footprint: Some(Footprint::Memory), ..any() },
            "footprint memory",
            "run --footprint memory",
        ),
        (Question { size: Some(16), ..any() }, "size of 16 bytes, only 64, 8192", "run -s 16"),
        (
            Question { class: Some(Class::Mac), ..any() },
            "no measured case of such an algorithm",
            "",
        ),
        (Question { libraries, ..any() }, "no measured case of such an algorithm and library", ""),
    ] {
        let why = rank(&some(), &question, 10).unwrap_err();
        assert!(why.contains(lacks) && why.contains(command), "{question:?}: {why}");
    }
}

#[test]
fn cases_without_raw_samples_are_counted_and_not_ranked() {
    let mut record = some();
    record.measurements[1].raw = record::Samples::default();
    let ranking = asked(&record, &authenticated());
    assert_eq!((ranking.unranked, ranking.standings[0].contenders), (1, 2));
}

#[test]
fn handshakes_are_ranked_by_their_own_model_part_and_setting() {
    let of = |name: &str, direction, setting: &str, factor| Measurement {
        model: Model::Handshake,
        direction,
        setting: setting.to_owned(),
        size: 0,
        ..row(name, "1.3 x25519 p256 full", 1, factor)
    };
    let (server, client) = (Direction::Server, Direction::Client);
    let mut tls = record(
        "a",
        vec![
            of("slow", server, "hot", 2.0),
            of("slow", client, "hot", 0.1),
            of("fast", server, "hot", 1.0),
            of("fast", server, "cold", 0.5),
        ],
    );
    let case = "1.3 x25519 p256 full";
    let first = asked(&tls, &Question::default());
    assert_eq!(places(&first), [(1, 1, "fast", case), (2, 2, "slow", case)]);
    assert_eq!(first.terms.sentence, "fastest on server (model handshake, tier native, hot)");
    let cold = Question { setting: Some("cold".to_owned()), ..Question::default() };
    assert_eq!(places(&asked(&tls, &cold)), [(1, 1, "fast", case)]);
    let idle = Question { setting: Some("idle".to_owned()), ..Question::default() };
    let why = rank(&tls, &idle, 10).unwrap_err();
    assert_eq!(why, "the record has no setting 'idle', only cold, hot");
    tls.details = Some(serde_json::json!({"kind": "tls-handshakes"}));
    let directions: Vec<_> = Question::usual(&tls).iter().map(|q| q.direction).collect();
    assert_eq!(directions, [Some(server), Some(client)]);
}

#[test]
fn a_headline_names_what_takes_part_as_a_sentence_does() {
    let globs = |text: &str| text.split(' ').map(|t| NameGlob::parse(t).unwrap()).collect();
    let question = Question {
        algorithms: globs("x aes-128-gcm aes-256-gcm"),
        libraries: globs("mine@1 b c d e"),
        ..Question::default()
    };
    let record = record("a", vec![case("aes-128-gcm", 8192, &[1.0; 6])]);
    let title = asked(&record, &question).terms.sentence;
    let begin = "fastest of x, aes-128-gcm or aes-256-gcm in mine@1, b, c or 2 others on encrypt";
    assert!(title.starts_with(begin), "{title}");
    let mut old = case("aes-128-gcm", 8192, &[1.0; 6]);
    old.tier = Tier::Core2;
    let tier = Question { tier: Some(Tier::Core2), ..Question::default() };
    let title = asked(&crate::compare::sample::record("a", vec![old]), &tier).terms.sentence;
    assert!(
        title.ends_with(
            "tier core2, an emulated feature set on this CPU is not an old core's speed)"
        ),
        "{title}"
    );
}
