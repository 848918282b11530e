//! The list of libraries.

use base::text::{ALARM, Align, Cell, Column, Options, Table, clean, clip};
use record::Library;

/// As much of a build's id as tells builds apart at a glance; JSON has all of it.
const ID_COLUMNS: usize = 24;
/// Longest name or version: what is longer is neither.
const LONGEST_WORD: usize = 28;

/// The libraries as a table: name, version, the widest AES instructions in the code, id and path; below each that could not be loaded, why.
#[must_use]
pub fn libraries(libraries: &[Library], options: Options) -> String {
    if libraries.is_empty() {
        return "no library was found\n".to_owned();
    }
    let columns = ["name", "version", "AES code", "id", "path"];
    let columns = columns.map(|name| Column::new(name, Align::Left));
    let lines = Table::new(columns, libraries.iter().map(row).collect()).lines(options.color);
    let mut out = lines[0].clone();
    for (library, line) in libraries.iter().zip(&lines[1..]) {
        out += line;
        if let Some(error) = &library.error {
            let text = format!("not usable: {}", clean(error));
            out += &options.behind("    ", 4, &text, ALARM);
        }
    }
    out
}

/// The path comes last and is never cut: it is what one copies.
fn row(library: &Library) -> Vec<Cell> {
    vec![
        Cell::plain(clip(&clean(&library.name), LONGEST_WORD)),
        Cell::plain(clip(&clean(&library.version), LONGEST_WORD)),
        Cell::plain(aes_code(library)),
        Cell::plain(clip(&clean(&library.id), ID_COLUMNS)),
        Cell::plain(clean(&library.path)),
    ]
}

/// `vaes`, `aes` or `–`; nothing where it is not known.
fn aes_code(library: &Library) -> &'static str {
    let Some(instructions) = &library.instructions else { return "" };
    let has = |name: &str| instructions.iter().any(|i| i == name);
    if has("vaes") {
        "vaes"
    } else if has("aes") {
        "aes"
    } else {
        "–"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn libraries_are_listed_with_what_is_wrong_with_them() {
        insta::assert_snapshot!(libraries(&sample::record().libraries, Options::default()));
        assert_eq!(libraries(&[], Options::default()), "no library was found\n");
    }
}
