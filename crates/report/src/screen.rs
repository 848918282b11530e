//! A screen that answers: at most 40 lines of 100 columns. A title, tables whose rows stand in groups, the best of
//! each and yours, a sentence, what was left out, what to type next. Any kind of row can fill it.

use base::text::{
    ALARM, ASIDE, CAUTION, Cell, Column, HEADING, Held, Options, PLAIN, Table, clean, clip, paint,
    width,
};
use record::Host;

pub(crate) const LINES: usize = 40;
/// Most columns: what every terminal has.
pub(crate) const WIDTH: usize = 100;
/// Most lines on what not to use.
pub(crate) const WARNINGS: usize = 6;

/// The first line: the machine, and what was measured on it.
pub(crate) fn headline(host: &Host, measured: Vec<String>) -> String {
    let clock = host.clock.core_ghz_median.map(|ghz| format!("core at {ghz:.2} GHz"));
    let parts = [clean(&host.cpu.name)].into_iter().chain(clock).chain(measured);
    parts.collect::<Vec<_>>().join(", ")
}

#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub(crate) options: Options,
}

impl Screen {
    /// As wide as the terminal, and no wider than a screen.
    pub(crate) fn of(options: Options) -> Self {
        Self { options: Options { width: options.width.min(WIDTH), ..options } }
    }

    /// One line, clipped: what is longer would push another off the screen.
    pub(crate) fn line(&self, text: &str, style: anstyle::Style) -> String {
        paint(&clip(text, self.options.width), style, self.options.color) + "\n"
    }

    /// A sentence over as many lines as it takes.
    pub(crate) fn sentence(&self, text: &str) -> String {
        self.options.hang(text, 2, PLAIN)
    }

    /// A table without groups.
    pub(crate) fn plain<R>(
        &self,
        rows: impl IntoIterator<Item = R>,
        columns: &[(Column, Held<'_, R, Cell>)],
    ) -> String {
        Table::of(rows, columns).text(self.options)
    }

    /// Groups of rows under the same columns, each with a title, if it has one.
    pub(crate) fn table(
        &self,
        columns: Vec<Column>,
        groups: Vec<(String, Vec<Vec<Cell>>)>,
    ) -> String {
        let mut titles = Vec::new();
        let mut rows = Vec::new();
        let mut place = 1;
        for (title, own) in groups {
            if !title.is_empty() {
                titles.push((place, title));
                place += 1;
            }
            place += own.len();
            rows.extend(own);
        }
        let text = Table::new(columns, rows).text(self.options);
        let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        for (place, title) in titles {
            lines.insert(place, self.line(&title, HEADING));
        }
        lines.concat()
    }

    pub(crate) fn avoid(&self, found: &[String]) -> String {
        if found.is_empty() {
            return String::new();
        }
        let heading = match found.len().saturating_sub(WARNINGS) {
            0 => "Do not use".to_owned(),
            more => format!("Do not use (and {more} more: ciphermark show)"),
        };
        let lines =
            found.iter().take(WARNINGS).map(|line| self.line(&format!("  {line}"), CAUTION));
        format!("\n{}{}", self.line(&heading, ALARM), lines.collect::<String>())
    }

    pub(crate) fn next(&self, commands: &[(String, String)]) -> String {
        let widest = commands.iter().map(|(what, _)| width(what)).max().unwrap_or(0);
        let line = |(what, command): &(String, String)| {
            let gap = " ".repeat(widest - width(what) + 3);
            self.line(&format!("{what}{gap}{command}"), PLAIN)
        };
        format!("\n{}", commands.iter().map(line).collect::<String>())
    }
}

/// Parts of a text from its beginning in so many lines, and a line that says how many there are besides.
pub(crate) fn cut(text: &str, room: usize, options: Options) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= room {
        return text.to_owned();
    }
    let shown = room.saturating_sub(1);
    let more = format!("… and {} lines more", lines.len() - shown);
    lines[..shown].iter().map(|line| format!("{line}\n")).collect::<String>()
        + &paint(&more, ASIDE, options.color)
        + "\n"
}
