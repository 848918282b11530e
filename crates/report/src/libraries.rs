//! The list of libraries.

use crate::Options;
use crate::grid::{Align, Cell, Columns};
use crate::text::{ALARM, HEADING, clean, clip, paint, wrap};
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
    let heading =
        ["name", "version", "AES code", "id", "path"].map(|name| Cell::new(name, HEADING));
    let rows: Vec<[Cell; 5]> = libraries.iter().map(row).collect();
    let mut columns = Columns::new([Align::Left; 5]);
    columns.fit(&heading);
    rows.iter().for_each(|row| columns.fit(row));
    let mut out = columns.line(&heading, options.color) + "\n";
    for (library, row) in libraries.iter().zip(&rows) {
        out += &columns.line(row, options.color);
        out.push('\n');
        if let Some(error) = &library.error {
            let text = format!("not usable: {}", clean(error));
            for line in wrap(&text, options.width.saturating_sub(4).max(20)) {
                out += &format!("    {}\n", paint(&line, ALARM, options.color));
            }
        }
    }
    out
}

/// The path comes last and is never cut: it is what one copies.
fn row(library: &Library) -> [Cell; 5] {
    [
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
