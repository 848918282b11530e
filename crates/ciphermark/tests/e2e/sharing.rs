//! What is made to be shared says nothing of who made it.

use crate::support::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// No name of a file or of a word in any other text.
const PERSON: &str = "zoe-canary";

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.flat_map(of).collect()
}

fn has_person(bytes: &[u8]) -> bool {
    bytes.windows(PERSON.len()).any(|window| window == PERSON.as_bytes())
}

#[test]
fn records_pages_tables_and_archives_name_the_home_directory_by_a_tilde_and_are_read_again() {
    let directory = scratch();
    let home = directory.path().join(PERSON);
    std::fs::create_dir_all(home.join("lib")).unwrap();
    std::fs::create_dir(home.join("shared")).unwrap();
    let library = home.join("lib/libcrypto.so.3");
    std::fs::copy(system_libraries().join("libcrypto.so.3"), &library).unwrap();
    let home = arg(&home);
    let ended = |line: &str, code: i32| {
        let line = line.replace("~/", &format!("{home}/"));
        let words: Vec<&str> = line.split_whitespace().collect();
        ciphermark_with(&words, &[("HOME", home), ("CIPHERMARK_CACHE", "")]).with_code(code)
    };
    let at_home = |line: &str| ended(line, 0);
    let run = "run -l openssl=~/lib/libcrypto.so.3 -a aes-256-gcm -s 512,8K,32K --no-evidence -q";
    at_home(&format!("{run} --precision 50% --budget 200s -o ~/shared/r.json"));
    let image: Vec<u8> = (0..64_u32 << 10).map(|i| ((i * i) >> 3) as u8).collect();
    std::fs::write(format!("{home}/image"), image).unwrap();
    for line in [
        "pages ~/image -l openssl=~/lib/libcrypto.so.3 -s aes-256-gcm --media none --probes 0 -o ~/shared/p.json",
        "pages ~/shared/p.json --format markdown",
        "report ~/shared/r.json -o ~/shared/r.html",
        "export ~/shared/r.json --format csv -o ~/shared/r.csv",
        "export ~/shared/r.json --format parquet -o ~/shared/r.parquet",
        "archive add ~/shared/a.db ~/shared/r.json --machine m7i",
        "report --from ~/shared/a.db -o ~/shared/site",
    ] {
        at_home(line);
    }
    let record = format!("{home}/shared/r.json");
    let told = [
        at_home("compare ~/shared/r.json ~/shared/r.json --format json"),
        at_home("show ~/shared/r.json --format markdown"),
        at_home("explain -l openssl=~/lib/libcrypto.so.3 -a aes-256-gcm --json"),
    ];
    for done in &told {
        assert!(!has_person(&done.bytes), "{}", done.stdout);
    }
    let all = files_below(Path::new(home));
    let named: Vec<&PathBuf> =
        all.iter().filter(|f| has_person(&std::fs::read(f).unwrap())).collect();
    assert!(named.is_empty() && all.len() > 6, "{named:?}");
    let whole = read(Path::new(&record));
    assert_eq!(whole["libraries"][0]["path"], "~/lib/libcrypto.so.3");
    assert!(whole["tool"]["command"].as_array().unwrap().contains(&json!("~/shared/r.json")));

    // The file is found again, and its build is the same.
    let stale = |code: &str| {
        // Of one algorithm: most candidates are missing.
        let done = ended("advise ~/shared/r.json --for backup -s 8K --format json", 3);
        let stale = done.json()["basis"]["stale"].clone();
        assert_eq!(stale != Value::Array(Vec::new()), !code.is_empty(), "{stale}");
        assert!(stale.to_string().contains(code), "{stale}");
    };
    stale("");
    std::fs::remove_file(&library).unwrap();
    stale("there is no ~/lib/libcrypto.so.3 here");
}
