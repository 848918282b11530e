//! Advice as text, JSON or Markdown.

use crate::advise::tls_server::answer::{Advice, Choice, Cost};
use base::text::{Options, clean, escape_markdown, wrap};

/// How it is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text,
    /// The advice.
    Json,
    /// GitHub-flavoured Markdown.
    Markdown,
}

/// Renders advice.
#[must_use]
pub fn render(advice: &Advice, format: Format, options: Options) -> String {
    match format {
        Format::Json => serde_json::to_string_pretty(advice).expect("advice is plain data") + "\n",
        Format::Text => {
            let wrapped = |line: &String| wrap(line, options.width).join("\n") + "\n";
            lines(advice).iter().map(wrapped).collect()
        }
        Format::Markdown => {
            let item = |line: &String| match line.strip_prefix("  ") {
                Some(item) => format!("- {}\n", escape_markdown(item.trim())),
                None => format!("\n{}\n\n", escape_markdown(line)),
            };
            lines(advice).iter().filter(|line| !line.is_empty()).map(item).collect()
        }
    }
}

fn us(cost: &Cost) -> String {
    let half = (cost.high_us - cost.low_us) / 2.0 / cost.us.max(f64::MIN_POSITIVE) * 100.0;
    let digits = usize::from(cost.us < 100.0);
    format!("{:.digits$} µs ±{half:.1} %", cost.us)
}

fn lines(advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    match &advice.choice {
        Some(choice) => lines.extend(chosen(choice)),
        None if advice.missing.is_empty() => {
            lines.push("None: no setting serves all of these clients.".to_owned());
        }
        None => lines.push("Not enough measured: nothing that would do has a price.".to_owned()),
    }
    lines.extend(missing(advice));
    if !advice.changes.is_empty() {
        lines.extend([String::new(), "What would change the answer:".to_owned()]);
    }
    for change in &advice.changes {
        let times = change.times.map_or(String::new(), |t| format!(", {t:.2} times the cost"));
        let then = clean(&change.candidate.to_string());
        lines.push(format!("  {}: {then}: {}{times}", change.wish, us(&change.cost)));
    }
    if !advice.fitting.is_empty() {
        lines.extend([String::new(), "Serve these clients too:".to_owned()]);
    }
    for one in advice.fitting.iter().take(SHOWN) {
        let what = clean(&one.candidate.to_string());
        lines.push(format!("  {what}: {}, {:.2} times", us(&one.cost), one.times));
    }
    lines.extend(more(advice.fitting.len()));
    lines.extend(rejected(advice));
    lines.push(String::new());
    lines.push(format!(
        "Priced by {}; measured {} on {}.",
        clean(&advice.basis.priced_by),
        clean(&advice.basis.started),
        clean(&advice.basis.cpu)
    ));
    lines
}

/// Settings that are shown of each kind; JSON has all.
const SHOWN: usize = 8;

fn more(all: usize) -> Option<String> {
    (all > SHOWN).then(|| format!("  and {} more (--format json)", all - SHOWN))
}

/// What could be chosen and has no price.
fn missing(advice: &Advice) -> Option<String> {
    let all = &advice.missing;
    let first = all.iter().take(3).map(|c| clean(&c.to_string())).collect::<Vec<_>>().join("; ");
    let others =
        if all.len() > 3 { format!("; and {} more", all.len() - 3) } else { String::new() };
    (!all.is_empty()).then(|| {
        format!(
            "OPEN: {} settings that could cost less have no price, or not all of it: {first}{others}. \
             --thorough measures all.",
            all.len()
        )
    })
}

fn chosen(choice: &Choice) -> Vec<String> {
    let mut lines = vec![
        clean(&choice.candidate.to_string()),
        format!(
            "  {} of the server's CPU for a connection; {:.0} connections a second fill a core",
            us(&choice.cost),
            choice.connections_per_core_second
        ),
    ];
    for client in &choice.clients {
        let resumed =
            client.resumed.as_ref().map_or(String::new(), |r| format!(", resumed {}", us(r)));
        lines.push(format!(
            "  {} ({:.0} %): {}: {}{resumed}",
            client.class,
            client.share * 100.0,
            client.negotiated,
            us(&client.full)
        ));
    }
    lines.extend(choice.remarks.iter().map(|remark| format!("  {}", clean(remark))));
    if !choice.ties_with.is_empty() {
        lines.push(format!("  costs the same within 5 %: {}", clean(&choice.ties_with.join("; "))));
    }
    if !choice.undecided.is_empty() {
        lines
            .push(format!("  undecided, could cost less: {}", clean(&choice.undecided.join("; "))));
    }
    if !choice.nginx.is_empty() {
        lines.extend([String::new(), "Settings of nginx:".to_owned()]);
        lines.extend(choice.nginx.iter().map(|line| format!("  {line}")));
    }
    lines
}

/// Each rule with what it rejects.
fn rejected(advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    for rule in &advice.rules {
        lines.push(String::new());
        lines.push(format!("Rejected, {}: {} [{}]", rule.id, rule.says, rule.source));
        let all: Vec<_> = advice.rejected.iter().filter(|r| r.rule == rule.id).collect();
        let line = |r: &&crate::advise::tls_server::answer::Rejected| {
            format!("  {}: {}", clean(&r.candidate.to_string()), clean(&r.detail))
        };
        lines.extend(all.iter().take(SHOWN).map(line));
        lines.extend(more(all.len()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::tls_server::price::Evidence;
    use crate::advise::tls_server::sample::{document, question};

    fn printed(clients: &[&str], format: Format) -> String {
        let handshakes = document();
        let evidence = Evidence { handshakes: &handshakes, records: None, calibration: None };
        let advice = crate::advise::tls_server::advise(&question(clients), &evidence).unwrap();
        render(&advice, format, Options { width: 120, color: false })
    }

    #[test]
    fn the_choice_stands_first_and_each_rule_with_its_source() {
        let text = printed(&["browser", "firefox-45"], Format::Text);
        assert!(text.starts_with("intermediate, p256, fast@1.0\n"), "{text}");
        assert!(text.contains("80.0 µs ±1.0 %"), "{text}");
        assert!(text.contains("ssl_protocols TLSv1.2 TLSv1.3;"), "{text}");
        assert!(text.contains("Rejected, client-refused:") && text.contains("[RFC 8446 4.1.1"));
        assert!(text.contains("without the clients firefox-45: modern, p256, fast@1.0"), "{text}");
        assert!(text.contains("hot handshakes in memory"), "{text}");
    }

    #[test]
    fn json_is_the_advice_and_markdown_lists() {
        let json: serde_json::Value =
            serde_json::from_str(&printed(&["browser"], Format::Json)).unwrap();
        assert_eq!(json["kind"], "tls-advice");
        assert_eq!(json["choice"]["candidate"]["profile"], "modern");
        assert!(printed(&["browser"], Format::Markdown).contains("\n- "));
    }
}
