//! `doctor`: what the machine is like to measure on.

use crate::support::*;

/// This machine's state decides whether it finds a problem, so both codes are right.
fn examined(line: &str) -> Done {
    let done = call(line);
    assert!([0, 1].contains(&done.code), "{done:?}");
    done
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_finding_has_a_verdict_and_what_is_not_ok_says_what_mends_it() {
    let done = examined("doctor --json");
    let findings = done.rows();
    for finding in &findings {
        let verdict = text(finding, "verdict");
        assert!(["ok", "note", "problem"].contains(&verdict), "{finding}");
        assert!(!text(finding, "found").is_empty(), "{finding}");
        assert_eq!(text(finding, "mend").is_empty(), verdict == "ok", "{finding}");
    }
    let problem = findings.iter().any(|f| text(f, "verdict") == "problem");
    assert_eq!(done.code, i32::from(problem), "{findings:#?}");
    for (topic, name) in [
        ("machine", "processor"),
        ("machine", "memory"),
        ("machine", "isolated CPUs"),
        ("clock", "source"),
        ("clock", "drift"),
        ("noise", "interruptions"),
        ("noise", "stolen time"),
        ("noise", "contention"),
        ("noise", "shared core"),
        ("instructions", "extensions"),
        ("instructions", "performance counters"),
        ("libraries", "found"),
    ] {
        where_(&findings, &[("topic", topic), ("name", name)]);
    }
}

#[test]
fn the_page_has_a_line_for_each_finding_under_its_topic() {
    let done = examined("doctor");
    let lines: Vec<&str> = done.stdout.lines().collect();
    for topic in ["machine", "clock", "noise", "instructions", "libraries"] {
        assert!(lines.contains(&topic), "{topic}: {}", done.stdout);
    }
    let graded = |l: &&&str| ["  ok ", "  note ", "  PROBLEM "].iter().any(|g| l.starts_with(g));
    assert!(lines.iter().filter(graded).count() >= 12, "{}", done.stdout);
    assert_eq!(done.stderr, "");
}
