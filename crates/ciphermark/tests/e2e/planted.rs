//! A library that is fastest and leaks, or cannot decrypt, or makes no tag, is never chosen: by no command, with and
//! without a record, in no tier. `tests/fakes/in_front.c` stands in front of libcrypto: the planted one is as fast as that,
//! the honest one takes microseconds more.

use crate::support::{fakes, *};
use serde_json::Value;

struct Pair {
    directory: tempfile::TempDir,
    /// `-l planted=… -l honest=…`
    libraries: String,
}

/// A library with this fault and an honest one; none where there is no OpenSSL 3 for them to stand in front of.
fn pair(fault: &str) -> Option<Pair> {
    let directory = scratch();
    let mut libraries = Vec::new();
    for (name, define) in [("planted", fault), ("honest", "SLOW")] {
        let object = directory.path().join(format!("{name}.so"));
        let mut cc = fakes::compiler(&object);
        cc.args(["-O2", &format!("-D{define}")]).arg(repository("tests/fakes/in_front.c"));
        cc.args(["-Wl,--no-as-needed", "-l:libcrypto.so.3"]);
        if !cc.output().is_ok_and(|done| done.status.success()) {
            eprintln!("left out: there is no libcrypto.so.3 to stand in front of");
            return None;
        }
        libraries.push(format!("-l {name}={}", arg(&object)));
    }
    Some(Pair { directory, libraries: libraries.join(" ") })
}

impl Pair {
    /// A record of both without verdicts on secrets.
    fn record(&self, what: &str) -> String {
        let path = file(&self.directory, "r.json");
        let _alone = lock("measuring");
        let run = "run -q --no-evidence -d both -s 8K --budget 20s";
        call(&format!("{run} {what} {} -o {path}", self.libraries));
        path
    }

    /// The libraries of the choice of `advise`, measured now.
    fn advised(&self, what: &str) -> Vec<String> {
        let _alone = lock("measuring");
        let asked = format!("advise --for postgres {what} {} -q --format json", self.libraries);
        let advice = with_more_time(|budget| call(&format!("{asked} --budget {budget}"))).json();
        chosen(&advice)
    }
}

fn chosen(advice: &Value) -> Vec<String> {
    let libraries = &advice["outcome"]["choice"]["price"]["libraries"];
    let all = libraries.as_array().unwrap_or_else(|| panic!("no choice: {advice}"));
    all.iter().map(|l| text(l, "name").to_owned()).collect()
}

fn ranking(done: &Done) -> Value {
    done.json()[0].clone()
}

fn first_of(ranking: &Value) -> String {
    text(&ranking["standings"][0]["rows"][0], "library.name").to_owned()
}

/// A tier, and what is constant in time there in libcrypto.
const TIERS: [(&str, &str); 3] =
    [("native", "aes-256-gcm"), ("aesni", "aes-256-gcm"), ("noaes", "chacha20-poly1305")];

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_is_fastest_and_leaks_is_not_advised_in_any_tier() {
    let Some(pair) = pair("LEAKS") else { return };
    let record = pair.record("-a aes-256-gcm,chacha20-poly1305 -t native,aesni,noaes");
    for (tier, scheme) in TIERS {
        let asked = format!("advise {record} --for postgres --only {scheme} -t {tier} -q");
        let advice = call(&format!("{asked} --format json")).json();
        assert_eq!(chosen(&advice), ["honest"], "{tier}: {advice}");
        let avoided = text(&advice, "outcome.choice.avoided.library");
        assert!(avoided.starts_with("planted@"), "{tier}: {advice}");
        assert_eq!(pair.advised(&format!("--only {scheme} -t {tier}")), ["honest"], "{tier}");
        // Where nobody else is on the core, it is.
        let alone = call(&format!("{asked} --alone yes --format json")).json();
        assert_eq!(chosen(&alone), ["planted"], "{tier}: {alone}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_is_fastest_and_leaks_is_ranked_only_where_that_is_asked() {
    let Some(pair) = pair("LEAKS") else { return };
    let record = pair.record("-a aes-256-gcm");
    let first = |from: &str, flags: &str| {
        let line = format!("rank {from} -a aes-256-gcm -s 8K {flags} --format json");
        let answer = ranking(&call(&line).with_code(0));
        (first_of(&answer), answer)
    };
    let (name, answer) = first(&record, "");
    assert_eq!((&*name, &answer["secret"]["depends"]), ("honest", &Value::from(1)), "{answer}");
    assert_eq!(first(&record, "--leaking").0, "planted");
    let _alone = lock("measuring");
    assert_eq!(first("", &pair.libraries).0, "honest", "measured now");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_is_fastest_and_leaks_is_no_price_of_a_page() {
    let Some(pair) = pair("LEAKS") else { return };
    let _alone = lock("measuring");
    let what = format!("pages --synthetic 1M -q {}", pair.libraries);
    let printed = with_more_time(|budget| call(&format!("{what} --budget {budget}"))).stdout;
    assert!(printed.contains("  honest@"), "{printed}");
    // The file's own is libcrypto itself, which neither of them is.
    assert!(!printed.contains("  planted@") && !is_chosen(&printed, "planted@"), "{printed}");
}

/// Whether the last sentences of `pages` have it. What it had no time for it names above them.
fn is_chosen(printed: &str, library: &str) -> bool {
    let (_, advice) = printed.split_once("Cheapest for").expect("some scheme is the cheapest");
    advice.contains(library)
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_is_fastest_and_cannot_decrypt_makes_no_tag_or_is_wrong_is_never_chosen() {
    for fault in ["ENCRYPTS_ONLY", "TAGLESS", "WRONG"] {
        let Some(pair) = pair(fault) else { return };
        let record = pair.record("-a aes-256-gcm");
        let asked = format!("advise {record} --for postgres --only aes-256-gcm -q --format json");
        let advice = call(&asked).json();
        assert_eq!(chosen(&advice), ["honest"], "{fault}: {advice}");
        assert_eq!(pair.advised("--only aes-256-gcm"), ["honest"], "{fault}");
        let answer = call(&format!("rank {record} -a aes-256-gcm -d decrypt --format json"));
        let answer = ranking(&answer.with_code(0));
        let rows = rows(&answer["standings"][0], "rows");
        assert_eq!(rows.len(), 1, "{fault}: {answer}");
        assert_eq!(text(&rows[0], "library.name"), "honest", "{fault}");
        let _alone = lock("measuring");
        // 3 where the planted one was refused.
        let done = call(&format!("pages --synthetic 1M -q {} --budget 30s", pair.libraries));
        assert!([0, 3].contains(&done.code), "{fault}: {done:?}");
        let printed = done.stdout;
        assert!(printed.contains("  honest@"), "{fault}: {printed}");
        // Without a tag or a MAC it is right, and may be the cheapest.
        let is_right = |scheme: &&str| fault == "TAGLESS" && scheme.ends_with("-xts");
        let planted = schemes_of(&printed, "planted@");
        assert!(planted.iter().all(is_right), "{fault}: {planted:?}: {printed}");
    }
}

/// The schemes below which a screen of `pages` has a row of the library.
fn schemes_of<'a>(printed: &'a str, library: &str) -> Vec<&'a str> {
    let (mut scheme, mut found) = ("", Vec::new());
    for line in printed.lines() {
        if let Some((head, _)) = line.split_once(" bytes more") {
            let said = head.rsplit_once(": ").and_then(|(_, said)| said.split_once(','));
            scheme = said.expect("a title names its scheme").0;
        } else if line.starts_with(&format!("  {library}")) {
            found.push(scheme);
        }
    }
    found
}

/// A record without the fastest library's row is completed by that row and nothing else, whether it is advice or a ranking
/// that asks.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_record_that_lacks_the_fastest_is_completed_by_what_it_lacks() {
    let Some(pair) = pair("NOTHING") else { return };
    let path = pair.record("-a aes-256-gcm");
    let whole = read(&path);
    let is_planted = |row: &Value| text(row, "library.name") == "planted";
    let mut less = whole.clone();
    let rows_of_it = less["measurements"].as_array_mut().expect("a record has measurements");
    rows_of_it.retain(|row| !is_planted(row) || text(row, "direction") != "encrypt");
    std::fs::write(&path, less.to_string()).expect("the scratch directory can be written to");
    let json = |line: &str| call(line).json();
    let ranked = |flags: &str| {
        let line = format!("rank {path} -a aes-256-gcm -d encrypt --leaking --format json {flags}");
        ranking(&call(&line).with_code(0))
    };
    let before = ranked("");
    assert_eq!((&*first_of(&before), rows(&before, "missing").len()), ("honest", 1), "{before}");
    let said = call(&format!("rank {path} -a aes-256-gcm -d encrypt --leaking")).with_code(0);
    assert!(said.stdout.contains("--complete"), "{}", said.stdout);
    let _alone = lock("measuring");
    let after = ranked("--complete");
    assert_eq!((&*first_of(&after), rows(&after, "missing").len()), ("planted", 0), "{after}");
    let kept = file(&pair.directory, "kept.json");
    let asked = format!("advise {path} --for postgres --only aes-256-gcm --alone yes -q");
    let advice = json(&format!("{asked} --format json"));
    assert_eq!(chosen(&advice), ["honest"], "{advice}");
    assert_eq!(advice["open"][0]["kind"], "missing", "{advice}");
    let advice = json(&format!("{asked} --format json --complete -o {kept}"));
    assert_eq!(chosen(&advice), ["planted"], "{advice}");
    // What the record had stays as it was, number by number.
    let (kept, before) = (read(&kept), less);
    let had = rows(&before, "measurements").iter();
    for row in had.filter(|row| !is_planted(row) && row["size"] == 8192) {
        let same = |other: &&Value| other["ns_per_op"] == row["ns_per_op"];
        assert!(rows(&kept, "measurements").iter().any(|r| same(&r)), "{row}");
    }
}

#[test]
fn what_cannot_be_completed_is_refused_with_the_reason() {
    let published = repository("records/at-rest-2026-11-23-gnr.json.gz");
    let published = arg(&published);
    refuses(&format!("rank {published} --complete"), &["say for which question"]);
    refuses("rank --authenticated --complete", &["<RECORD>"]);
}
