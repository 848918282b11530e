use super::*;
use crate::tls::fixtures;
use crate::tls::primitive::{Operation, Scheme};
use crate::tls::primitives::PRIMITIVES_SPAN;
use crate::tls::primitives::tests::row;

fn document() -> PrimitivesDocument {
    let rows = vec![
        row("some", Scheme::X25519, Operation::Agree, Some(20.0)),
        row("some", Scheme::Sha256, Operation::Digest, None),
    ];
    fixtures::run(&["some"], PRIMITIVES_SPAN, rows)
}

#[test]
fn what_was_written_is_read_again_and_nothing_else_is() {
    let text = crate::to_json(&into_record(&document(), &[]));
    assert_eq!(from_json(&text, "x").unwrap(), TlsFile::Primitives(document()));
    let why = |text: &str| from_json(text, "x.json").unwrap_err().to_string();
    let slow = text.replace("\"mean_ns\":20000.0", "\"mean_ns\":1e300");
    assert!(why(&slow).contains("which no run has"), "{}", why(&slow));
    let other = text.replace("\"operation\":\"agree\"", "\"operation\":\"generate\"");
    assert!(why(&other).contains("its details are of another case"), "{}", why(&other));
    let half = text.replace("\"direction\":\"call\"", "\"direction\":\"whole\"");
    assert!(why(&half).contains("measurements[0]: it and the next are not"), "{}", why(&half));
    assert!(why("{}").starts_with("'x.json' is not a ciphermark record"), "{}", why("{}"));
}

/// Some fields of a run's record follow from others: a record that is read must give one that is read.
#[test]
fn a_record_whose_run_could_not_be_written_is_refused() {
    let text = crate::to_json(&into_record(&document(), &[]));
    let why = |change: &dyn Fn(&mut Value)| {
        let mut record: Value = serde_json::from_str(&text).unwrap();
        record["measurements"].as_array_mut().unwrap()[..2].iter_mut().for_each(change);
        crate::from_json(&record.to_string(), "x")
            .map(|_| ())
            .and_then(|()| from_json(&record.to_string(), "x").map(|_| ()))
    };
    assert!(why(&|_| ()).is_ok());
    let imported = why(&|m| {
        m["state"] = "imported".into();
        m["imported"] = json!({"source": "a blog", "machine": null});
    });
    let imported = imported.unwrap_err().to_string();
    assert!(imported.contains("'imported' but it lacks `imported`"), "{imported}");
    let most = 1_u64 << 53;
    let disturbed = why(&|m| m["disturbed"] = json!({"stolen": most, "switched": 1}));
    let disturbed = disturbed.unwrap_err().to_string();
    assert!(disturbed.contains("more than can be"), "{disturbed}");
    let model = why(&|m| m["model"] = "handshake".into()).unwrap_err().to_string();
    assert!(model.contains("not the parts of one case"), "{model}");
}

/// The documents that these commands wrote until format 1.4.
const OLDER: [&str; 3] = [
    include_str!("../../../../testing/samples/handshakes.json"),
    include_str!("../../../../testing/samples/records.json"),
    include_str!("../../../../testing/samples/primitives.json"),
];

#[test]
fn documents_of_older_versions_become_records_and_lose_nothing() {
    let published =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/tls-handshake-2026-11-22-spr.json.gz");
    let published = crate::load_text(std::path::Path::new(published)).unwrap();
    for older in OLDER.into_iter().chain([&*published]) {
        let record = read(older, "x").unwrap();
        let text = crate::to_json(&record);
        assert_eq!(crate::from_json(&text, "x").unwrap(), record);
        let run = TlsFile::of(&record).unwrap();
        assert_eq!(crate::to_json(&run.record()), text);
        assert_eq!(from_json(&format!("\u{feff}{text}"), "x").unwrap(), run);
        assert_eq!(run, from_json(older, "x").unwrap());
        let again = from_json(&text, "x").unwrap();
        let both = |run: &TlsFile| (run.table(100), run.markdown());
        assert_eq!(both(&again), both(&run));
    }
    let newer = OLDER[0].replace("\"1.0\"", "\"2.0\"");
    let why = from_json(&newer, "x").unwrap_err().to_string();
    assert!(why.contains("its format is 2.0"), "{why}");
}

#[test]
fn each_end_of_a_handshake_is_a_measurement_with_its_own_numbers() {
    let record = read(OLDER[0], "x").unwrap();
    let [server, client] = &record.measurements[..2] else { panic!("a row has two parts") };
    assert_eq!((server.direction.name(), client.direction.name()), ("server", "client"));
    assert_eq!((&server.algorithm, server.setting.as_str()), (&client.algorithm, "hot"));
    assert!(server.ns_per_op.is_some() && server.mb_per_s.is_none());
    let details = server.details.as_ref().unwrap();
    assert!(details.get("case").is_some() && details.get("server").is_none());
    assert!(client.details.as_ref().unwrap().get("case").is_none());
}
