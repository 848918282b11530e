use super::*;
use crate::tls::case::Case;
use crate::tls::fixtures;
use crate::tls::shared::{markdown, table};
use crate::tls::words::{Certificate, Exchange, Kind, Version};

fn document() -> Document {
    let row = |stack: &str, exchange, us| {
        let case = Case::usual(Version::Tls13, exchange, Certificate::P256, Kind::Full);
        fixtures::handshake(stack, case, us)
    };
    let rows = vec![
        row("fast@1.0", Exchange::X25519, Some(71.25)),
        row("slow@1.0", Exchange::X25519, Some(1234.0)),
        row("slow@1.0", Exchange::P256, None),
    ];
    fixtures::document(&["fast@1.0", "slow@1.0"], rows)
}

#[test]
fn stacks_stand_side_by_side_and_what_is_not_offered_says_why() {
    let text = table(&document(), 100);
    let line = text.lines().find(|l| l.starts_with("x25519")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["x25519", "p256", "71.2", "71.2", "1.0", "1234", "1234", "1.0"], "{text}");
    let line = text.lines().find(|l| l.starts_with("p256")).unwrap();
    assert!(line.trim_end().ends_with("unsupported"), "{text}");
    assert!(text.contains("slow@1.0 1.3 p256 p256 full: unsupported: NO_CIPHER|MATCH"), "{text}");
    assert!(!text.contains('\u{1b}'), "a stack's words are no commands to the terminal");
    assert!(text.contains("60 of 70 samples clean"), "{text}");
}

#[test]
fn a_narrow_terminal_gets_one_stack_after_the_other() {
    let text = table(&document(), 60);
    assert_eq!(text.matches("TLS 1.3 full, aes-128-gcm, hot").count(), 2, "{text}");
}

#[test]
fn markdown_escapes() {
    let text = markdown(&document());
    assert!(text.contains("| x25519 | p256 | 71.2 | 71.2 | 1234 | 1234 |"), "{text}");
    assert!(text.contains("NO\\_CIPHER\\|MATCH"), "{text}");
}

#[test]
fn what_a_server_picks_by_itself_is_told_once_for_each_stack() {
    let mut document = document();
    let unset = |group, hello_retry| Some(crate::tls::Unset { group, hello_retry });
    document.rows[0].unset = unset(crate::tls::Group::X25519Mlkem768, true);
    document.rows.push(document.rows[0].clone());
    document.rows[1].unset = unset(crate::tls::Group::X25519, false);
    let text = table(&document, 200);
    let line = "fast@1.0 with its groups unset, by the client's key share: x25519 → x25519mlkem768 (asked again)\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("by the client's key share: x25519 → x25519\n"), "{text}");
    let read: Document = crate::tls::from_record(&crate::tls::into_record(&document, &[])).unwrap();
    assert_eq!(read.rows[0].unset, document.rows[0].unset);
}
