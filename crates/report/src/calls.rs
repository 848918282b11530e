//! What runs inside the clock, in words and counts.

use crate::executed::{self, ExecutedRow};
use crate::labels::{part, size_with_unit};
use crate::leaks;
use base::text::{ASIDE, CAUTION, HEADING, Options, PLAIN, clean, paint};
use record::{Leak, Leaks};

/// One algorithm of one library in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    /// The library as it is to be called: `openssl@3.0.22`.
    pub library: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
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
    /// Calls that gave memory.
    pub allocations: f64,
    /// Bytes that they were asked for.
    pub allocated_bytes: f64,
    /// Bytes that were copied.
    pub copied_bytes: f64,
}

/// A paragraph for each row.
#[must_use]
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
            out += &executed::lines(executed, options);
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
    let (verdict, style) = leaks::short(leaks.verdict);
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

    fn row(costs: Result<Vec<MessageCost>, String>) -> CallRow {
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
            CallRow { leaks: vec![crate::sample::leaks().remove(3)], ..row(Ok(Vec::new())) };
        row.leaks[0].reason = Some("step limit".to_owned());
        let text = calls(std::slice::from_ref(&row), Options { width: 200, color: false });
        let said = "  secrets    depends at tier baseline, 16 secrets; not judged: step limit\n             \
                    secret-dependent lookups in AES_encrypt (1024 bytes, 16 lines): mov eax,[rcx+rdx*4] at 0x1a2b of \
                    libcrypto.so.3 and 15 more, in encrypt of 16 B\n";
        assert!(text.contains(said), "{text}");
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
            &[row(Ok(vec![cost(16, 0.0, 0.0), cost(8192, 2.0, 16384.0)]))],
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
        let text = calls(&[row(Err("it crashed".into()))], Options { width: 80, color: false });
        assert!(text.contains("  counted    not known: it crashed\n"), "{text}");
    }
}
