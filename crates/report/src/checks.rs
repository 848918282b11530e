//! What verification found, and other short lists.

use base::model::Tier;
use base::text::{ALARM, ASIDE, Align, Cell, Column, Options, PLAIN, Table, clean};
use record::{Check, State};

/// What became of one algorithm in one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow {
    /// Library as it is to be called: `openssl@3.0.22`.
    pub library: String,
    /// Tier that it was verified at.
    pub tier: Tier,
    /// Name of the algorithm.
    pub algorithm: String,
    /// The checks that passed, or what was found.
    pub outcome: Result<Vec<Check>, (State, String)>,
}

/// The rows as a table, each finding with its reason below it, and the totals.
#[must_use]
pub fn checks(rows: &[CheckRow], options: Options) -> String {
    // A column that says `native` all the way down says nothing.
    let tiers = rows.iter().any(|r| r.tier != Tier::Native);
    let table = Table::new(COLUMNS, rows.iter().map(|row| cells(row, tiers)).collect());
    let lines = table.lines(options.color);
    let mut out = lines[0].clone();
    for (row, line) in rows.iter().zip(&lines[1..]) {
        out += line;
        if let Err((state, why)) = &row.outcome {
            let style = if *state == State::Unsupported { ASIDE } else { ALARM };
            out += &options.behind("    ", 4, &clean(why), style);
        }
    }
    out.push('\n');
    out += &totals(rows);
    out
}

const COLUMNS: [Column; 5] = [
    Column::new("library", Align::Left),
    Column::new("tier", Align::Left),
    Column::new("algorithm", Align::Left),
    Column::new("verdict", Align::Left),
    Column::new("comparisons", Align::Right),
];

fn cells(row: &CheckRow, tiers: bool) -> Vec<Cell> {
    let (verdict, count) = match &row.outcome {
        Ok(checks) => (Cell::plain("passed"), comparisons(checks).to_string()),
        Err((State::Unsupported, _)) => (Cell::new("unsupported", ASIDE), String::new()),
        Err((state, _)) => (Cell::new(state.name().to_uppercase(), ALARM), String::new()),
    };
    vec![
        Cell::plain(clean(&row.library)),
        Cell::plain(if tiers { row.tier.name() } else { "" }),
        Cell::plain(clean(&row.algorithm)),
        verdict,
        Cell::plain(count),
    ]
}

fn comparisons(checks: &[Check]) -> u64 {
    checks.iter().map(|c| c.count).sum()
}

fn totals(rows: &[CheckRow]) -> String {
    let passed: Vec<&Vec<Check>> = rows.iter().filter_map(|r| r.outcome.as_ref().ok()).collect();
    let count = |wanted: State| {
        rows.iter().filter(|r| matches!(&r.outcome, Err((s, _)) if *s == wanted)).count()
    };
    let comparisons: u64 = passed.iter().map(|checks| comparisons(checks)).sum();
    format!(
        "{} passed with {comparisons} comparisons, {} refused, {} failed, {} unsupported\n",
        passed.len(),
        count(State::Refused),
        count(State::Failed),
        count(State::Unsupported),
    )
}

/// Names with what they mean, the meanings wrapped to the width.
#[must_use]
pub fn pairs(rows: &[(String, String)], options: Options) -> String {
    let indent = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    let line = |(name, meaning): &(String, String)| {
        options.behind(&format!("{:<indent$}", clean(name)), indent, &clean(meaning), PLAIN)
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options { width: 60, color: false };

    fn row(outcome: Result<Vec<Check>, (State, String)>) -> CheckRow {
        CheckRow {
            library: "lib@1".into(),
            tier: Tier::Native,
            algorithm: "aes-128-gcm".into(),
            outcome,
        }
    }

    #[test]
    fn findings_stand_under_their_row_and_totals_at_the_end() {
        let check = Check { name: "tamper".into(), count: 7 };
        let bad = (State::Refused, "tamper: a changed tag was\u{1b}[31m accepted".to_owned());
        let text = checks(&[row(Ok(vec![check])), row(Err(bad))], OPTIONS);
        insta::assert_snapshot!(text, @r"
        library  algorithm    verdict  comparisons
        lib@1    aes-128-gcm  passed             7
        lib@1    aes-128-gcm  REFUSED
            tamper: a changed tag was[31m accepted

        1 passed with 7 comparisons, 1 refused, 0 failed, 0 unsupported
        ");
    }

    #[test]
    fn the_tier_is_a_column_where_there_is_another_than_native() {
        let rows = [row(Ok(Vec::new())), CheckRow { tier: Tier::Noaes, ..row(Ok(Vec::new())) }];
        let text = checks(&rows, OPTIONS);
        assert!(text.contains("lib@1    noaes   aes-128-gcm  passed"), "{text}");
        assert!(!checks(&rows[..1], OPTIONS).contains("native"));
    }

    #[test]
    fn meanings_are_wrapped_under_each_other() {
        let rows = vec![("a".to_owned(), "one two three four five six seven".to_owned())];
        let text = pairs(&rows, Options { width: 25, color: false });
        assert_eq!(text, "a  one two three four\n   five six seven\n");
    }
}
