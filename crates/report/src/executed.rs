//! What an operation executes and what runs inside the clock, in words and counts; and where it depends on secrets.

use crate::labels::{part, size_with_unit};
use base::model::Model;
use base::text::{ALARM, ASIDE, CAUTION, HEADING, Options, PLAIN, clean, paint};
use record::{ClassCount, Executed, FunctionCount, Leak, Leaks, Share};

use crate::leaks::short;
/// Fewest instructions in a message of 4 KiB for which a class is told: below, it is noise between
/// the ones that matter.
const WORTH_TELLING: f64 = 0.005;

/// What one algorithm of one library executes at one tier.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutedRow {
    pub executed: Executed,
    /// Why it would be refused: it contradicts its tier.
    pub refused: Option<String>,
    /// Instructions of operations of sizes that were asked for, or why they are not known.
    pub exact: Vec<(usize, Result<u64, String>)>,
}

/// Lines below a heading of its own.
pub(crate) fn executed_lines(row: &ExecutedRow, options: Options) -> String {
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
    let model = match e.model {
        Model::Message => String::new(),
        model => format!("{model}, "),
    };
    format!(
        "{} instructions a byte + {} a message ({model}{}, {} B)",
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
    let unnamed = || "code that the file, stripped of its symbols, has no name for".to_owned();
    let name = f.function.as_deref().map_or_else(unnamed, clean);
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
pub(crate) fn figure(count: f64) -> String {
    match count {
        c if (c - c.round()).abs() < 1e-9 => format!("{c:.0}"),
        c if c.abs() >= 100.0 => format!("{c:.1}"),
        c if c.abs() >= 10.0 => format!("{c:.2}"),
        c => format!("{c:.4}"),
    }
}

/// One algorithm of one library in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    /// The library as it is to be called: `openssl@3.0.22`.
    pub library: String,
    pub algorithm: String,
    pub direction: String,
    /// The library's functions in order, as its adapter says.
    pub functions: Option<String>,
    /// Whether the library's interface copies every message.
    pub copies: bool,
    /// Whether the library's interface allocates memory for every message.
    pub allocates: bool,
    /// What one message of each size costs, or why that is not known.
    pub costs: Result<Vec<MessageCost>, String>,
    /// What it executes, at each tier that was asked for.
    pub executed: Vec<ExecutedRow>,
    /// What depends on secrets, at each tier that was judged.
    pub leaks: Vec<Leaks>,
}

/// What one message allocates and copies through the C library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageCost {
    /// Bytes of plaintext.
    pub size: usize,
    pub allocations: f64,
    /// Bytes that they were asked for.
    pub allocated_bytes: f64,
    pub copied_bytes: f64,
}

pub fn calls(rows: &[CallRow], options: Options) -> String {
    let mut out = String::new();
    for row in rows {
        let head =
            format!("{} {} {}", clean(&row.library), clean(&row.algorithm), clean(&row.direction));
        out += &format!("{}\n", paint(&head, HEADING, options.color));
        let functions = row.functions.as_deref().unwrap_or("not told by the adapter");
        out += &part("calls", functions, PLAIN, options);
        if let Some(forced) = forced(row) {
            let text = format!("the library's own interface {forced}: measured with it");
            out += &part("interface", &text, CAUTION, options);
        }
        match &row.costs {
            Ok(costs) => {
                let counted = |c: &MessageCost| part("counted", &counted(c), PLAIN, options);
                out += &costs.iter().map(counted).collect::<String>();
            }
            Err(why) => out += &part("counted", &format!("not known: {why}"), ASIDE, options),
        }
        for executed in &row.executed {
            out += &executed_lines(executed, options);
        }
        for leaks in &row.leaks {
            out += &secrets(leaks, &row.direction, options);
        }
        out.push('\n');
    }
    out
}

/// The verdict, then each place that a message in this direction comes past.
fn secrets(leaks: &Leaks, direction: &str, options: Options) -> String {
    let (verdict, style) = short(leaks.verdict);
    let mut head = format!("{verdict} at tier {}, {} secrets", leaks.tier, leaks.secrets);
    if let Some(why) = &leaks.reason {
        head += &format!("; not judged: {why}");
    }
    let mut out = part("secrets", &head, style, options);
    let passes = |f: &&Leak| {
        let elsewhere =
            if direction == "decrypt" { &["encrypt"][..] } else { &["decrypt", "reject"] };
        f.operations.is_empty() || f.operations.iter().any(|o| !elsewhere.contains(&o.as_str()))
    };
    for f in leaks.findings.iter().filter(passes) {
        out += &part("", &format!("{f}: {}", place(f)), PLAIN, options);
    }
    out
}

/// `mov eax,[rcx+rdx*4] at 0x1a2b of libcrypto.so.3 and 15 more instructions, in encrypt of 16 B`
fn place(f: &Leak) -> String {
    let mut text = format!("{} at {:#x} of {}", f.instruction, f.address, f.object);
    if f.places > 1 {
        text += &format!(" and {} more", f.places - 1);
    }
    if !f.operations.is_empty() {
        text += &format!(", in {}", f.operations.join(", "));
    }
    if !f.sizes.is_empty() {
        let sizes: Vec<String> = f.sizes.iter().map(|size| size_with_unit(*size)).collect();
        text += &format!(" of {}", sizes.join(", "));
    }
    text
}

fn forced(row: &CallRow) -> Option<&'static str> {
    match (row.copies, row.allocates) {
        (true, true) => Some("copies every message and allocates memory for it"),
        (true, false) => Some("copies every message"),
        (false, true) => Some("allocates memory for every message"),
        (false, false) => None,
    }
}

/// `8192 B: 2 allocations (8304 B), 16384 B copied (2.0 × the message)`.
fn counted(cost: &MessageCost) -> String {
    let allocations = match cost.allocations {
        0.0 => "no allocation".to_owned(),
        1.0 => format!("1 allocation ({} B)", number(cost.allocated_bytes)),
        n => format!("{} allocations ({} B)", number(n), number(cost.allocated_bytes)),
    };
    let copied = if cost.copied_bytes == 0.0 {
        "nothing copied".to_owned()
    } else {
        let times = cost.copied_bytes / cost.size as f64;
        format!("{} B copied ({times:.1} × the message)", number(cost.copied_bytes))
    };
    format!("{} B: {allocations}, {copied}", cost.size)
}

/// A count over a few messages: whole where it is, else with one digit behind the point.
fn number(count: f64) -> String {
    if count.fract() == 0.0 { format!("{count:.0}") } else { format!("{count:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::text::fixtures::says;

    const OPTIONS: Options = Options { width: 200, color: false };

    fn row() -> ExecutedRow {
        ExecutedRow { executed: sample::executed(), refused: None, exact: Vec::new() }
    }

    #[test]
    fn counts_stand_with_what_they_are_made_of() {
        let mut row = row();
        row.exact = vec![(16, Ok(416)), (1 << 20, Err("too long".into()))];
        let text = executed_lines(&row, OPTIONS);
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
    fn counts_of_another_model_than_messages_say_so() {
        let mut row = row();
        row.executed.model = Model::Rekey;
        says(
            executed_lines(&row, OPTIONS),
            ["400 a message (rekey, single-step, 1024 and 4096 B)"],
        );
    }

    #[test]
    fn what_was_not_counted_and_what_is_refused_say_why() {
        let mut row = row();
        row.executed.per_byte = None;
        row.executed.reason = Some("it runs in the kernel".into());
        row.refused = Some("tier: executed 3 instructions of vaes".into());
        let text = executed_lines(&row, OPTIONS);
        says(&text, ["instructions not counted", "it runs in the kernel", "REFUSED: tier:"]);
    }

    fn call_row(costs: Result<Vec<MessageCost>, String>) -> CallRow {
        CallRow {
            library: "botan@3.13.0".into(),
            algorithm: "aes-256-gcm".into(),
            direction: "encrypt".into(),
            functions: Some("botan_cipher_start, botan_cipher_update".into()),
            copies: true,
            allocates: true,
            costs,
            executed: Vec::new(),
            leaks: Vec::new(),
        }
    }

    #[test]
    fn each_place_that_depends_on_the_secret_says_where_it_is() {
        let mut row =
            CallRow { leaks: vec![crate::sample::leaks().remove(3)], ..call_row(Ok(Vec::new())) };
        row.leaks[0].reason = Some("step limit".to_owned());
        let text = calls(std::slice::from_ref(&row), Options { width: 200, color: false });
        let said = "  secrets    depends at tier baseline, 16 secrets; not judged: step limit\n             \
                    secret-dependent lookups in AES_encrypt (1024 bytes, 16 lines): mov eax,[rcx+rdx*4] at 0x1a2b of \
                    libcrypto.so.3 and 15 more, in encrypt of 16 B\n";
        says(&text, [said]);
        row.direction = "decrypt".to_owned();
        let text = calls(&[row], Options::default());
        assert!(text.contains("secrets ") && !text.contains("AES_encrypt"), "it decrypts: {text}");
    }

    #[test]
    fn calls_and_counts_stand_under_their_row() {
        let cost = |size, allocations, copied_bytes| MessageCost {
            size,
            allocations,
            allocated_bytes: 8304.0,
            copied_bytes,
        };
        let text = calls(
            &[call_row(Ok(vec![cost(16, 0.0, 0.0), cost(8192, 2.0, 16384.0)]))],
            Options { width: 80, color: false },
        );
        assert_eq!(
            text,
            "botan@3.13.0 aes-256-gcm encrypt\n  \
             calls      botan_cipher_start, botan_cipher_update\n  \
             interface  the library's own interface copies every message and allocates\n             \
             memory for it: measured with it\n  \
             counted    16 B: no allocation, nothing copied\n  \
             counted    8192 B: 2 allocations (8304 B), 16384 B copied (2.0 × the message)\n\n"
        );
    }

    #[test]
    fn what_was_not_counted_says_why() {
        let text =
            calls(&[call_row(Err("it crashed".into()))], Options { width: 80, color: false });
        says(&text, ["  counted    not known: it crashed\n"]);
    }
}
