//! Everything, for a terminal.

use super::page::Page;
use super::sentences;
use crate::advise::answer::{Advice, Choice, Fitting, Outcome};
use crate::advise::rules::Verdict;
use base::text::{ALARM, BEST, CAUTION, HEADING, Options, PLAIN, clean};

/// Schemes that fit which are shown: the rest is in the JSON.
const FITTING: usize = 8;
/// Changes that are shown.
const CHANGES: usize = 8;

pub(super) fn text(advice: &Advice, origin: &str, options: Options) -> String {
    let mut page = Page::new(options);
    page.line("", &sentences::title(advice), HEADING);
    page.line("from", &sentences::basis(advice, origin), PLAIN);
    page.line("asked", &sentences::terms(advice, true), PLAIN);
    page.line("assumed", &sentences::terms(advice, false), PLAIN);
    for line in &advice.basis.store {
        page.line("store", line, PLAIN);
    }
    for reason in &advice.basis.stale {
        page.line("STALE", reason, CAUTION);
    }
    match &advice.outcome {
        Outcome::Choice(choice) => page.choice(advice, choice),
        Outcome::None(_) => {
            page.gap();
            page.line("choice", &sentences::none(advice).unwrap_or_default(), ALARM);
        }
    }
    page.line("candidates", &sentences::candidates(advice), PLAIN);
    for open in sentences::open(advice) {
        page.line("OPEN", &open, CAUTION);
    }
    page.changes(advice);
    page.fitting(&advice.fitting);
    page.rejected(advice);
    page.out
}

impl Page {
    fn choice(&mut self, advice: &Advice, choice: &Choice) {
        self.gap();
        let label = choice.price.label();
        self.line("choice", &format!("{} in {label}", choice.scheme), BEST);
        for (topic, text) in sentences::choice(choice, &advice.unit) {
            self.line(topic, &text, PLAIN);
        }
        let ids: Vec<&str> = choice.price.libraries.iter().map(|l| l.id.as_str()).collect();
        let until = advice.basis.stale_from.map(|d| format!(", until {d}")).unwrap_or_default();
        self.line("holds for", &format!("{label} ({}){until}", ids.join(", ")), PLAIN);
        self.heading("To respect");
        for remark in &choice.remarks {
            self.line("  -", &format!("{} [{}]", remark.says, remark.source), PLAIN);
        }
    }

    fn changes(&mut self, advice: &Advice) {
        self.heading("What would change the answer, the smallest change first");
        if advice.changes.is_empty() {
            self.line("  -", "no change of one wish or two", PLAIN);
        }
        for change in advice.changes.iter().take(CHANGES) {
            self.line("  -", &sentences::change(change), PLAIN);
        }
    }

    fn fitting(&mut self, fitting: &[Fitting]) {
        if fitting.is_empty() {
            return;
        }
        self.heading("What fits");
        let columns = fitting.iter().map(|f| f.scheme.len()).max().unwrap_or_default();
        for one in fitting.iter().take(FITTING) {
            let tie = sentences::sign(one.tied, one.undecided);
            let text = format!(
                "{:<columns$}  {:>9.0} ns  {:>6.2}×{tie}  {:>3} B  {}",
                one.scheme,
                one.ns.median,
                one.times,
                one.stored_bytes,
                clean(&one.library)
            );
            self.out += &format!("  {text}\n");
            let others: Vec<String> = one.others.iter().map(sentences::other).collect();
            self.line("", &others.join(", "), PLAIN);
        }
        if fitting.len() > FITTING {
            let more = fitting.len() - FITTING;
            self.out += &format!("  and {more} more (--format json)\n");
        }
    }

    fn rejected(&mut self, advice: &Advice) {
        self.heading("What does not, and the rule that decided");
        for (verdict, rule, members) in sentences::by_rule(advice) {
            let (word, style) = match verdict {
                Verdict::Wrong => ("WRONG", ALARM),
                _ => ("no", PLAIN),
            };
            let used = &advice.rules[&rule];
            let says = format!("{rule}: {} [{}]", used.says, used.source);
            self.line(word, &says, style);
            self.line("", &sentences::members(&members), PLAIN);
        }
    }
}
