//! GitHub-flavoured Markdown.

use super::sentences;
use crate::advise::answer::{Advice, Choice, Outcome};
use crate::advise::rules::Verdict;
use base::text::{clean, escape_markdown};

pub(super) fn markdown(advice: &Advice, origin: &str) -> String {
    let mut out = format!("### {}\n\n", safe(&sentences::title(advice)));
    out += &format!("From {}.\n", safe(&sentences::basis(advice, origin)));
    for (what, typed) in [("Asked", true), ("Assumed", false)] {
        let terms = sentences::terms(advice, typed);
        if !terms.is_empty() {
            out += &format!("{what}: `{}`.\n", clean(&terms).replace('`', "'"));
        }
    }
    for line in &advice.basis.store {
        out += &format!("\n{}.\n", safe(line));
    }
    for reason in &advice.basis.stale {
        out += &format!("\n> **Stale**: {}\n", safe(reason));
    }
    out += &match &advice.outcome {
        Outcome::Choice(choice) => of_choice(advice, choice),
        Outcome::None(_) => {
            format!("\n**{}**\n", safe(&sentences::none(advice).unwrap_or_default()))
        }
    };
    out += &format!("\nCandidates: {}.\n", safe(&sentences::candidates(advice)));
    for open in sentences::open(advice) {
        out += &format!("\n> **Open**: {}\n", safe(&open));
    }
    out + &changes(advice) + &fitting(advice) + &rejected(advice)
}

fn of_choice(advice: &Advice, choice: &Choice) -> String {
    let label = choice.price.label();
    let mut out =
        format!("\n**{} in {}**\n\n| | |\n| --- | --- |\n", safe(&choice.scheme), safe(&label));
    for (topic, text) in sentences::choice(choice, &advice.unit) {
        out += &format!("| {topic} | {} |\n", safe(&text));
    }
    out += "\nTo respect:\n\n";
    for remark in &choice.remarks {
        out += &format!("- {} ({})\n", safe(&remark.says), safe(&remark.source));
    }
    out
}

fn changes(advice: &Advice) -> String {
    if advice.changes.is_empty() {
        return "\nNo change of one wish or two gives another answer.\n".to_owned();
    }
    let mut out = "\nWhat would change the answer, the smallest change first:\n\n".to_owned();
    for change in &advice.changes {
        out += &format!("- {}\n", safe(&sentences::change(change)));
    }
    out
}

fn fitting(advice: &Advice) -> String {
    if advice.fitting.is_empty() {
        return String::new();
    }
    let mut out = "\n| fits | library | ns | times | bytes |\n| --- | --- | ---: | ---: | ---: |\n"
        .to_owned();
    for one in &advice.fitting {
        let tie = sentences::sign(one.tied, one.undecided);
        out += &format!(
            "| {} | {} | {:.0} | {:.2}{tie} | {} |\n",
            safe(&one.scheme),
            safe(&one.library),
            one.ns.median,
            one.times,
            one.stored_bytes
        );
    }
    out
}

fn rejected(advice: &Advice) -> String {
    let mut out = "\n| does not | rule | source |\n| --- | --- | --- |\n".to_owned();
    for (verdict, rule, members) in sentences::by_rule(advice) {
        let used = &advice.rules[&rule];
        let wrong = if verdict == Verdict::Wrong { "**wrong**: " } else { "" };
        out += &format!(
            "| {} | {wrong}{}: {} | {} |\n",
            safe(&sentences::members(&members)),
            safe(&rule),
            safe(&used.says),
            safe(&used.source)
        );
    }
    out
}

fn safe(text: &str) -> String {
    escape_markdown(&clean(text))
}
