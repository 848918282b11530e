//! What the doctor found.

use anstyle::Style;
use base::text::{ALARM, ASIDE, CAUTION, HEADING, Options, PLAIN, clean, paint};

/// How a fact bears on measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// It would make figures wrong.
    Problem,
}

impl Grade {
    fn shown(self) -> (&'static str, Style) {
        match self {
            Self::Ok => ("ok", ASIDE),
            Self::Note => ("note", CAUTION),
            Self::Problem => ("PROBLEM", ALARM),
        }
    }
}

/// One line of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What it belongs to.
    pub topic: String,
    /// What was looked at.
    pub name: String,
    /// How it bears on measuring.
    pub grade: Grade,
    /// What was found.
    pub found: String,
    /// What mends it.
    pub mend: Option<String>,
}

/// Columns of the grade, the widest word and a gap.
const GRADE: usize = 9;

/// The findings by topic, each with its grade; below a note or problem what mends it.
#[must_use]
pub fn advice(rows: &[Advice], options: Options) -> String {
    let mut out = String::new();
    let mut topic = "";
    let name_columns = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0) + 2;
    let indent = 2 + GRADE + name_columns;
    for row in rows {
        if row.topic != topic {
            let gap = if topic.is_empty() { "" } else { "\n" };
            out += &format!("{gap}{}\n", paint(&row.topic, HEADING, options.color));
            topic = &row.topic;
        }
        let (word, style) = row.grade.shown();
        let word = paint(&format!("{word:<GRADE$}"), style, options.color);
        let name = clean(&row.name);
        let lead = format!("  {word}{name:<name_columns$}");
        out += &options.behind(&lead, indent, &clean(&row.found), PLAIN);
        if let Some(mend) = &row.mend {
            let lead = " ".repeat(indent);
            out += &options.behind(&lead, indent, &format!("→ {}", clean(mend)), style);
        }
    }
    out += &format!("\n{}\n", summary(rows));
    out
}

fn summary(rows: &[Advice]) -> String {
    let count = |grade| rows.iter().filter(|r| r.grade == grade).count();
    match (count(Grade::Problem), count(Grade::Note)) {
        (0, 0) => "nothing stands in the way of good figures".to_owned(),
        (0, notes) => format!("no problem, {notes} to note"),
        (problems, notes) => {
            format!("{problems} of these would make figures wrong; {notes} to note")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(topic: &str, name: &str, grade: Grade, mend: Option<&str>) -> Advice {
        let (topic, name) = (topic.to_owned(), name.to_owned());
        Advice { topic, name, grade, found: "what was found".into(), mend: mend.map(Into::into) }
    }

    #[test]
    fn findings_stand_under_their_topic_with_what_mends_them() {
        let rows = [
            row("clock", "source", Grade::Ok, None),
            row("clock", "drift", Grade::Problem, Some("run it again")),
            row("noise", "stolen time", Grade::Note, Some("another hour")),
        ];
        let text = advice(&rows, Options { width: 60, color: false });
        let expected = "clock\n  ok       source       what was found\n  PROBLEM  drift        what was found\n                        → run it again\n\n\
            noise\n  note     stolen time  what was found\n                        → another hour\n\n\
            1 of these would make figures wrong; 1 to note\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_findings_keep_to_the_width() {
        let mut long = row("noise", "x", Grade::Note, Some(&"word ".repeat(60)));
        long.found = "found ".repeat(60);
        let text = advice(&[long], Options { width: 80, color: false });
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    }
}
