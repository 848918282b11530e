//! `scripts/accuracy`: the page of accuracy by kind of CPU, and what measures it.

use crate::support::*;
use std::path::Path;
use std::process::{Command, Output};

/// Answers as ciphermark does, at once: every case takes 100 cycles, ±1, in the second survey one takes 103. It writes a line
/// for each run, and fails at the run whose number `FAIL_AT` has.
const STAND_IN: &str = r#"#!/usr/bin/env python3
import json, os, pathlib, sys
log = pathlib.Path(os.environ["LOG"])
words = sys.argv[1:]
if words[0] == "--version":
    print("ciphermark 9.9")
elif words[0] == "compare":
    print(json.dumps({"tally": {"same": 4, "undecided": 0, "faster": 0, "slower": 0}, "cases": []}))
else:
    with log.open("a") as file:
        file.write(" ".join(words) + "\n")
    number = len(log.read_text().splitlines())
    if str(number) == os.environ.get("FAIL_AT"):
        sys.exit(9)
    rows = []
    for algorithm, direction, size in [("aes-256-cbc", "encrypt", 16), ("aes-256-gcm", "encrypt", 256),
                                       ("aes-256-xts", "decrypt", 8192), ("aes-256-ctr", "encrypt", 16)]:
        c = 103.0 if number == 2 and algorithm == "aes-256-ctr" else 100.0
        rows.append({"library": {"name": "l", "version": "1"}, "algorithm": algorithm, "direction": direction, "size": size,
                     "state": "measured", "contended": False, "cycles_per_op": {"median": c, "low": c - 1, "high": c + 1}})
    if "null" in words:
        rows = [{**rows[0], "state": "failed" if "BUSY" in os.environ else "measured", "ns_per_op": {"median": 1.0}}]
    host = {"cpu": {"vendor": "GenuineIntel", "family": 6, "model": 9999, "name": "X", "cpus_online": 2}, "hypervisor": None,
            "kernel": {"release": "6.1.2"}, "os": "Debian"}
    print(json.dumps({"measurements": rows, "noise": {"samples": 10, "clean": 8}, "host": host}))
"#;

fn accuracy(words: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut script = Command::new("python3");
    script.arg(repository("scripts/accuracy")).args(words).envs(variables.iter().copied());
    script.output().unwrap()
}

#[test]
fn the_page_of_accuracy_is_what_its_data_give() {
    let directory = scratch();
    let page = file(&directory, "page.md");
    let done = accuracy(&["page", "-o", &page], &[]);
    assert!(done.status.success(), "{done:?}");
    let [made, kept] = [Path::new(&page), &repository("docs/ACCURACY.md")]
        .map(|p| std::fs::read_to_string(p).unwrap());
    assert!(made == kept, "scripts/accuracy page writes another docs/ACCURACY.md");
}

#[test]
fn an_interrupted_measurement_of_accuracy_continues_and_its_kind_is_added_to_the_others() {
    let directory = scratch();
    let [program, log, page] = ["ciphermark", "log", "page.md"].map(|name| file(&directory, name));
    std::fs::write(&program, STAND_IN).unwrap();
    Command::new("chmod").args(["+x", &program]).status().unwrap();
    let [results, data] = ["results", "data"].map(|name| file(&directory, name));
    std::fs::create_dir(&data).unwrap();
    for entry in std::fs::read_dir(repository("docs/accuracy")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, Path::new(&data).join(path.file_name().unwrap())).unwrap();
    }
    let parts = [program.as_str(), "repeat", "coverage", "company"];
    let places = ["--results", &results, "--data", &data, "-o", &page];
    let words = [&parts[..], &places].concat();
    let failed = accuracy(&words, &[("LOG", &log), ("FAIL_AT", "5")]);
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(
        said.contains("min") && said.contains("left: survey-1") && said.contains("exit code 9"),
        "{said}"
    );

    let done = accuracy(&words, &[("LOG", &log)]);
    assert!(done.status.success(), "{done:?}");
    // Ten surveys, the long one, 21 cases alone, the machine, and the run that failed.
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 10 + 1 + 21 + 1 + 1);
    let made = std::fs::read_to_string(&page).unwrap();
    for row in [
        "80 % | two surveys | 4 | 0.00 % | 3.00 % | 3.00 % | 3.00 % | 75.0 % |",
        "| **84 of 84** |",
        "| 97.5 % of 40 |",
        "| 180 | **0** | 180 | 0 |",
    ] {
        let kind = "| GenuineIntel family 6 model 9999 | ";
        assert!(made.lines().any(|l| l.starts_with(kind) && l.contains(row)), "{row}\n{made}");
    }
    let published = std::fs::read_to_string(repository("docs/ACCURACY.md")).unwrap();
    for row in published.lines().filter(|l| l.starts_with("| ") && !l.contains("---")) {
        assert!(made.contains(row), "{row} is gone");
    }

    // The next one measures anew.
    let lines = || std::fs::read_to_string(&log).unwrap().lines().count();
    let words = [&[program.as_str(), "repeat", "null"], &places[..]].concat();
    let busy = accuracy(&words, &[("LOG", &log), ("BUSY", "yes")]);
    assert_eq!(lines(), 34 + 4);
    let made = std::fs::read_to_string(&page).unwrap();
    assert!(made.contains("**84 of 84**"), "the other parts stay");

    // On a busy machine a part stays without figures, and the same command measures that one alone.
    let said = String::from_utf8_lossy(&busy.stderr).into_owned();
    assert!(busy.status.code() == Some(1) && said.contains("too busy for null"), "{said}");
    assert!(accuracy(&words, &[("LOG", &log)]).status.success());
    assert_eq!(lines(), 38 + 2);
}
