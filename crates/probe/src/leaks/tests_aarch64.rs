//! Functions that depend on their key in one way or in none, by comparison alone.

#[path = "tests/scene.rs"]
mod scene;

use crate::leaks::*;
use record::LeakKind;
use scene::{Function, judged, judged_showing, judged_with, kinds};
use std::arch::naked_asm;

macro_rules! functions {
    ($($name:ident: $($line:literal),+;)+) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_: *const u8, _: *mut u8, _: *const u8) -> i32 {
            naked_asm!($($line),+)
        }
    )+};
}

// X0 is the key, X1 the output, X2 the table.
functions! {
    looks_up: "ldrb w3, [x0]", "ldrb w3, [x2, x3]", "strb w3, [x1]", "mov w0, #0", "ret";
    stores: "ldrb w3, [x0]", "and x3, x3, #15", "strb w3, [x1, x3]", "mov w0, #0", "ret";
    branches: "ldrb w3, [x0]", "tbz w3, #0, 2f", "nop", "2: strb w3, [x1]", "mov w0, #0", "ret";
    divides: "ldrb w3, [x0]", "mov w4, #1000", "udiv w3, w4, w3", "strb w3, [x1]", "mov w0, #0", "ret";
    reads_all: "ldr q0, [x0]", "ldr q1, [x2]", "eor v0.16b, v0.16b, v1.16b", "str q0, [x1]", "mov w0, #0", "ret";
    selects: "ldrb w3, [x0]", "tst w3, #1", "csel w4, w3, wzr, ne", "mul w4, w4, w3", "strb w4, [x1]", "mov w0, #0", "ret";
    counts: "mrs x3, cntvct_el0", "tbz x3, #4, 2f", "nop", "2: strb w3, [x1]", "mov w0, #0", "ret";
}

fn found(function: Function) -> Vec<(LeakKind, bool, bool)> {
    kinds(&judged_with(function, [0x35; 64], std::array::from_fn(|i| 0xf2 ^ i as u8)))
}

#[test]
fn what_differs_with_the_key_is_found_with_its_kind() {
    for (function, kind) in [
        (looks_up as Function, LeakKind::Lookup),
        (stores, LeakKind::Lookup),
        (branches, LeakKind::Branch),
        (divides, LeakKind::Division),
    ] {
        assert_eq!(found(function), [(kind, true, false)], "{kind:?}");
    }
}

#[test]
fn what_only_computes_is_clean_and_is_not_called_judged() {
    for function in [reads_all as Function, selects, counts] {
        let judgement = judged(function);
        assert_eq!(kinds(&judgement), []);
        let reason = judgement.reason.unwrap_or_default();
        assert!(reason.contains("taint") && !reason.contains("the same secret"), "{reason}");
    }
}

#[test]
fn both_traces_are_shown_around_the_first_difference() {
    let judgement = judged_showing(looks_up, Some("looks_up"));
    let finding = &judgement.findings[0];
    assert!(finding.instruction.starts_with("ldrb w3, [x2"), "{finding:?}");
    assert!(finding.function.as_ref().is_some_and(|f| f.contains("looks_up")), "{finding:?}");
    let name = finding.function.clone().unwrap_or_default();
    let shown = judged_showing(looks_up, Some(&name)).shown;
    assert!(shown.iter().any(|line| line.starts_with('>') && line.contains(" x3 0x")), "{shown:?}");
}
