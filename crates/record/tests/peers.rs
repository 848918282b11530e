//! `docs/PEERS.md`: every row of six other benchmarks is an algorithm here, or has a reason.

use base::model::{Algorithm, NameGlob};
use ciphermark_record::tls::Scheme;

const PAGE: &str = include_str!("../../../docs/PEERS.md");

#[test]
fn the_readme_counts_the_algorithms_rightly() {
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&format!("- **Algorithms**: {}, ", Algorithm::all().len())));
}

/// The alternatives of each pair of braces, from the left.
fn expanded(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let (inside, after) = rest.split_once('}').expect("braces come in pairs");
    inside.split(',').flat_map(|one| expanded(&format!("{before}{one}{after}"))).collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn is_here(name: &str) -> bool {
    if let Some(scheme) = name.strip_prefix("tls primitives: ") {
        return Scheme::ALL.iter().any(|s| s.name() == scheme);
    }
    let glob = NameGlob::parse(name).expect("a glob");
    Algorithm::all().iter().any(|a| glob.matches(a.name))
}

#[test]
fn every_row_of_the_six_peers_is_an_algorithm_here_or_carries_a_reason() {
    let sections: Vec<&str> = PAGE.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), 6);
    for section in sections {
        let peer = section.lines().next().unwrap();
        let rows: Vec<&str> = section.lines().filter(|l| l.starts_with("| `")).collect();
        assert!(rows.len() >= 5, "{peer}");
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [there, here] = cells[..] else { panic!("{peer}: two cells: {row}") };
            assert!(!quoted(there).is_empty(), "{peer}: {row}");
            let names: Vec<String> = quoted(here).into_iter().flat_map(expanded).collect();
            let missing: Vec<&String> = names.iter().filter(|name| !is_here(name)).collect();
            assert!(missing.is_empty(), "{peer}: {missing:?} is not here");
            let reasoned = here.strip_prefix("not: ").is_some_and(|why| !why.is_empty());
            assert!(names.is_empty() == reasoned, "{peer}: names or a reason: {row}");
        }
    }
}
