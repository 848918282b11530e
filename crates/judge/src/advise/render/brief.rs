//! The first screen: choice, cost, limit and day, three things to respect, the nearest other answer.

use super::page::Page;
use super::sentences;
use crate::advise::answer::{Advice, Choice, Fitting, Outcome};
use base::text::{ALARM, BEST, CAUTION, HEADING, Options, PLAIN};

/// Things to respect that are shown.
const REMARKS: usize = 3;
/// Other answers that are shown where there is none.
const WAYS_OUT: usize = 4;
/// Libraries beside the cheapest.
const LIBRARIES: usize = 3;

pub(super) fn brief(advice: &Advice, origin: &str, options: Options) -> String {
    let mut page = Page::new(options);
    page.line("", &sentences::title(advice), HEADING);
    page.line("from", &sentences::basis(advice, origin), PLAIN);
    page.line("asked", &sentences::terms(advice, true), PLAIN);
    for reason in &advice.basis.stale {
        page.line("STALE", reason, CAUTION);
    }
    page.gap();
    match &advice.outcome {
        Outcome::Choice(choice) => of_choice(&mut page, advice, choice),
        Outcome::None(_) => {
            page.line("choice", &sentences::none(advice).unwrap_or_default(), ALARM);
            for (i, change) in advice.changes.iter().take(WAYS_OUT).enumerate() {
                page.line(if i == 0 { "instead" } else { "" }, &sentences::change(change), PLAIN);
            }
        }
    }
    page.line("candidates", &sentences::candidates(advice), PLAIN);
    for open in sentences::open(advice) {
        page.line("OPEN", &open, CAUTION);
    }
    page.line("more", &more(advice), PLAIN);
    page.out
}

fn of_choice(page: &mut Page, advice: &Advice, choice: &Choice) {
    let price = &choice.price;
    page.line("choice", &format!("{} in {}", choice.scheme, price.label()), BEST);
    let cost = format!(
        "write {}, read {} a {}; {} bytes stored with each",
        sentences::nanoseconds(&price.write_ns),
        sentences::nanoseconds(&price.read_ns),
        advice.unit,
        choice.stored_bytes
    );
    page.line("cost", &cost, PLAIN);
    if let Some(libraries) = advice.fitting.first().and_then(libraries) {
        page.line("beside", &libraries, PLAIN);
    }
    if let Some(secrets) = sentences::secrets(choice) {
        page.line("secrets", &secrets, PLAIN);
    }
    let (limit, reached) = sentences::limit(choice, &advice.unit);
    page.line("limit", &format!("{limit}, {reached}"), PLAIN);
    if let Some(day) = sentences::rotate_by(choice) {
        page.line("rotate by", &day, PLAIN);
    }
    if let Some(longer) = sentences::longer(choice) {
        page.line("or later", &longer, PLAIN);
    }
    for (i, remark) in choice.remarks.iter().take(REMARKS).enumerate() {
        page.line(if i == 0 { "respect" } else { "" }, &remark.says, PLAIN);
    }
    if let Some(change) = advice.changes.first() {
        page.line("else", &sentences::change(change), PLAIN);
    }
}

/// `libgcrypt@1.10.1 884 ns (=), openssl@4.0.3 901 ns`: who else has the choice.
fn libraries(chosen: &Fitting) -> Option<String> {
    let shown: Vec<String> = chosen.others.iter().take(LIBRARIES).map(sentences::other).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn more(advice: &Advice) -> String {
    let remarks = match &advice.outcome {
        Outcome::Choice(choice) => choice.remarks.len().saturating_sub(REMARKS),
        Outcome::None(_) => 0,
    };
    let respect = if remarks > 0 { format!("{remarks} more to respect, ") } else { String::new() };
    format!(
        "--why: what was assumed, {respect}schemes ({} fit, {} do not), rules and sources",
        advice.fitting.len(),
        advice.rejected.len()
    )
}
