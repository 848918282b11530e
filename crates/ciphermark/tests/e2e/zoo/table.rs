//! The table in tests/fakes/zoo/README.md.

use super::judge::Caught;
use crate::support::repository;
use std::collections::BTreeMap;

const PAGE: &str = "tests/fakes/zoo/README.md";
const BEGIN: &str = "<!-- zoo: written by `make zoo` -->\n";
const END: &str = "<!-- zoo: end -->\n";

/// The table must be what was caught; or becomes it.
pub fn hold(caught: &[Caught], write: bool) {
    let path = repository(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("a place for the table");
    let (old, after) = rest.split_once(END).expect("the table's place has an end");
    let new = table(caught);
    if write {
        std::fs::write(&path, format!("{before}{BEGIN}{new}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, new, "{PAGE} is not what `make zoo` would write");
    }
}

/// In the order of the file; what stands behind two interfaces is one row.
fn table(caught: &[Caught]) -> String {
    let mut rows: Vec<(String, Vec<&Caught>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for c in caught {
        let key = format!("{} {:?}", c.animal.of.name, c.animal.of.also);
        let place = *at.entry(key).or_insert_with(|| {
            rows.push((c.animal.of.fault.clone(), Vec::new()));
            rows.len() - 1
        });
        rows[place].1.push(c);
    }
    let faults = rows.len();
    let mut out = format!(
        "\n{} planted ({faults} faults), {} caught.\n\n\
         | planted: a library that … | behind | becomes | caught by | in whose words |\n\
         | --- | --- | --- | --- | --- |\n",
        caught.len(),
        caught.iter().filter(|c| c.wrong.is_none()).count()
    );
    for (fault, shapes) in rows {
        let of = &shapes[0].animal.of;
        let behind: Vec<&str> = shapes.iter().map(|c| c.animal.shape.as_str()).collect();
        let cells =
            [&fault, &behind.join(", "), &of.state, &of.check, &of.reason].map(|c| escaped(c));
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out.push('\n');
    out
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
