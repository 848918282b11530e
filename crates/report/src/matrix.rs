//! Which library offers which algorithm.

use base::model::Algorithm;
use base::text::{ASIDE, Align, CAUTION, Cell, Column, Options, PLAIN, Table, clean, clip, width};

/// Longest name of an algorithm or library: what is longer is no name.
const LONGEST_NAME: usize = 34;

/// Algorithms against libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Libraries as they are to be called: `openssl@3.0.22`.
    pub libraries: Vec<String>,
    /// Algorithms, in the order in which they are shown.
    pub rows: Vec<MatrixRow>,
}

/// One algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// Its name.
    pub algorithm: String,
    /// Whether each library offers it, in the order of [`Matrix::libraries`].
    pub offered: Vec<bool>,
}

/// The matrix as a table, with each algorithm's lengths in bytes and what a reader must be told of it. Libraries are numbered,
/// with a key below, where their names do not fit.
#[must_use]
pub fn matrix(matrix: &Matrix, options: Options) -> String {
    let names: Vec<String> =
        matrix.libraries.iter().map(|name| clip(&clean(name), LONGEST_NAME)).collect();
    let named = table(matrix, &names).lines(options.color);
    let plain = table(matrix, &names).lines(false);
    if plain.iter().all(|line| width(line.trim_end()) <= options.width) {
        return named.concat();
    }
    let numbers: Vec<String> = (1..=names.len()).map(|n| n.to_string()).collect();
    let key = numbers.iter().zip(&names).map(|(number, name)| format!("{number}: {name}\n"));
    table(matrix, &numbers).lines(options.color).concat() + "\n" + &key.collect::<String>()
}

fn table(matrix: &Matrix, heads: &[String]) -> Table {
    let mut columns =
        vec![Column::new("algorithm", Align::Left), Column::new("key/nonce/tag", Align::Left)];
    columns.extend(heads.iter().map(|head| Column::named(head.clone(), Align::Left)));
    columns.push(Column::new("", Align::Left));
    let row = |row: &MatrixRow| {
        let known = Algorithm::find(&row.algorithm).ok();
        let bytes = known.map(|a| format!("{}/{}/{}", a.key_len, a.nonce_len, a.tag_len));
        let name = clip(&clean(&row.algorithm), LONGEST_NAME);
        let mut cells = vec![Cell::plain(name), Cell::new(bytes.unwrap_or_default(), ASIDE)];
        let offered = (0..heads.len()).map(|i| row.offered.get(i).copied().unwrap_or(false));
        cells
            .extend(offered.map(|o| if o { Cell::new("✓", PLAIN) } else { Cell::new("–", ASIDE) }));
        let warning = known.and_then(Algorithm::warning_label);
        cells.push(Cell::new(warning.unwrap_or_default(), CAUTION));
        cells
    };
    Table::new(columns, matrix.rows.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Matrix {
        let row = |algorithm: &str, offered: [bool; 2]| MatrixRow {
            algorithm: algorithm.to_owned(),
            offered: offered.to_vec(),
        };
        Matrix {
            libraries: vec!["openssl@3.0.22".to_owned(), "libgcrypt@1.10.1".to_owned()],
            rows: vec![
                row("aes-128-ecb", [true, true]),
                row("aes-128-gcm", [true, false]),
                row("aes-128-ctr", [false, true]),
            ],
        }
    }

    #[test]
    fn each_algorithm_has_a_mark_for_each_library_and_its_warning() {
        insta::assert_snapshot!(matrix(&example(), Options::default()));
    }

    #[test]
    fn libraries_get_numbers_where_their_names_do_not_fit() {
        insta::assert_snapshot!(matrix(&example(), Options { width: 50, color: false }));
    }
}
