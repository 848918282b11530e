//! What an operation executes, in words and counts.

use crate::labels::part;
use base::text::{ALARM, ASIDE, Options, PLAIN, clean};
use record::{ClassCount, Executed, FunctionCount, Share};

/// Fewest instructions in a message of 4 KiB for which a class is told: below, it is noise between
/// the ones that matter.
const WORTH_TELLING: f64 = 0.005;

/// What one algorithm of one library executes at one tier.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutedRow {
    /// As the record has it.
    pub executed: Executed,
    /// Why it would be refused: it contradicts its tier.
    pub refused: Option<String>,
    /// Instructions of operations of sizes that were asked for, or why they are not known.
    pub exact: Vec<(usize, Result<u64, String>)>,
}

/// Lines below a heading of its own.
pub(crate) fn lines(row: &ExecutedRow, options: Options) -> String {
    let e = &row.executed;
    let part = |name: &str, text: &str, style| part(name, text, style, options);
    let mut out = part(e.tier.name(), &total(e), PLAIN);
    if let Some(why) = &row.refused {
        out += &part("", &format!("REFUSED: {why}"), ALARM);
    }
    if let Some(why) = &e.reason {
        out += &part("", &format!("not all counted: {why}"), ASIDE);
    }
    for (size, count) in &row.exact {
        let text = match count {
            Ok(count) => format!(
                "{size} B: {count} instructions, {} a byte",
                figure(*count as f64 / *size as f64)
            ),
            Err(why) => format!("{size} B: not known: {}", clean(why)),
        };
        out += &part("exactly", &text, PLAIN);
    }
    if e.per_byte.is_some() {
        out += &part("each byte", &classes(e, |c| c.per_byte), PLAIN);
        out += &part("a message", &classes(e, |c| c.per_message), PLAIN);
        out += &part("memory", &memory(e), PLAIN);
        out += &part("needs", &needs(e), PLAIN);
        for f in e
            .functions
            .iter()
            .filter(|f| size_of_share(f.per_byte, f.per_message) > WORTH_TELLING * size_of(e))
        {
            out += &part("in", &function(f, e), PLAIN);
        }
    }
    if let Some(excepted) = &e.excepted {
        let text = format!("beside the tier, in code that it is not applied to: {excepted}");
        out += &part("and", &text, ASIDE);
    }
    out
}

/// `1.435 instructions a byte + 512 a message (single-step, 1024 and 4096 B)`.
fn total(e: &Executed) -> String {
    let Some((per_byte, per_message)) = e.per_byte.zip(e.per_message) else {
        return "instructions not counted".to_owned();
    };
    let mut between = e.slope_sizes.clone();
    if between.is_empty() {
        between.extend(e.sizes.iter().rev().take(2).rev().map(|s| s.size));
    }
    let sizes: Vec<String> = between.iter().map(usize::to_string).collect();
    format!(
        "{} instructions a byte + {} a message ({}, {} B)",
        figure(per_byte),
        figure(per_message),
        clean(e.source.as_deref().unwrap_or("?")),
        sizes.join(" and ")
    )
}

/// `0.625 aes-round 128, 0.317 vector-logic 512, …`, the most first.
fn classes(e: &Executed, share: impl Fn(&ClassCount) -> f64) -> String {
    let all: f64 = e.classes.iter().map(|c| share(c).abs()).sum();
    let mut told: Vec<&ClassCount> = e
        .classes
        .iter()
        .filter(|c| share(c).abs() > WORTH_TELLING * all && share(c) != 0.0)
        .collect();
    told.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let texts = told.iter().map(|c| {
        let width = c.width.map(|w| format!(" {w}")).unwrap_or_default();
        format!("{} {}{width}", figure(share(c)), clean(&c.class))
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
}

fn needs(e: &Executed) -> String {
    let sets: Vec<String> = e.instruction_sets.iter().map(|s| clean(s)).collect();
    if sets.is_empty() {
        "what every CPU of its architecture has".to_owned()
    } else {
        sets.join(", ")
    }
}

fn memory(e: &Executed) -> String {
    let text = |share: Option<Share>, verb: &str| {
        share.map(|s| format!("{} a byte + {} {verb}", figure(s.per_byte), figure(s.per_message)))
    };
    let both = [text(e.memory_reads, "read"), text(e.memory_writes, "write")];
    both.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn function(f: &FunctionCount, of: &Executed) -> String {
    let share = 100.0 * size_of_share(f.per_byte, f.per_message) / size_of(of);
    let name = f.function.as_deref().map_or_else(|| "code without a symbol".to_owned(), clean);
    format!(
        "{share:.0} % of 4 KiB: {} a byte + {} in {name} of {}",
        figure(f.per_byte),
        figure(f.per_message),
        clean(&f.object)
    )
}

/// Instructions in a message of 4 KiB.
fn size_of_share(per_byte: f64, per_message: f64) -> f64 {
    per_byte * 4096.0 + per_message
}

fn size_of(e: &Executed) -> f64 {
    size_of_share(e.per_byte.unwrap_or_default(), e.per_message.unwrap_or_default())
}

/// Whole where it is, else with as many digits as tell it.
fn figure(count: f64) -> String {
    match count {
        c if (c - c.round()).abs() < 1e-9 => format!("{c:.0}"),
        c if c.abs() >= 100.0 => format!("{c:.1}"),
        c if c.abs() >= 10.0 => format!("{c:.2}"),
        c => format!("{c:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    const OPTIONS: Options = Options { width: 200, color: false };

    fn row() -> ExecutedRow {
        ExecutedRow { executed: sample::executed(), refused: None, exact: Vec::new() }
    }

    #[test]
    fn counts_stand_with_what_they_are_made_of() {
        let mut row = row();
        row.exact = vec![(16, Ok(416)), (1 << 20, Err("too long".into()))];
        let text = lines(&row, OPTIONS);
        assert_eq!(
            text,
            "  native     0.2500 instructions a byte + 400 a message (single-step, 1024 and 4096 B)\n  \
             exactly    16 B: 416 instructions, 26 a byte\n  \
             exactly    1048576 B: not known: too long\n  \
             each byte  0.1562 aes-round 512, 0.0938 scalar\n  \
             a message  360 scalar, 40 aes-round 512\n  \
             memory     0.0625 a byte + 120 read, 0.0312 a byte + 60 write\n  \
             needs      avx512f, vaes\n  \
             in         93 % of 4 KiB: 0.2500 a byte + 300 in aes_gcm_encrypt of libcrypto.so.3\n"
        );
    }

    #[test]
    fn what_was_not_counted_and_what_is_refused_say_why() {
        let mut row = row();
        row.executed.per_byte = None;
        row.executed.reason = Some("it runs in the kernel".into());
        row.refused = Some("tier: executed 3 instructions of vaes".into());
        let text = lines(&row, OPTIONS);
        assert!(text.contains("instructions not counted"), "{text}");
        assert!(
            text.contains("it runs in the kernel") && text.contains("REFUSED: tier:"),
            "{text}"
        );
    }
}
