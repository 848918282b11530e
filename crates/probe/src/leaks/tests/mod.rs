//! Both judges on functions whose instructions are known one by one, because they are written here.

#[cfg(test)]
mod scene;
#[cfg(test)]
mod vectors;
use super::*;
use record::LeakKind::{self, Branch, Division, Lookup};
use scene::{judged, judged_showing, judged_with, kinds};
use std::arch::naked_asm;

/// A function that reads the key with `movdqu xmm0, [rdi]`, does something and writes `xmm0` to the output.
macro_rules! snippet {
    ($name:ident, $($line:literal),+ $(,)?) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_key: *const u8, _output: *mut u8, _table: *const u8) -> i32 {
            naked_asm!(
                "movdqu xmm0, [rdi]",
                $($line,)+
                "movdqu [rsi], xmm0",
                "xor eax, eax",
                "ret",
            )
        }
    };
}

pub(crate) use snippet;

macro_rules! finds {
    ($($name:ident [$($found:expr),*] $($line:literal)+)+) => {$(
        #[test]
        fn $name() {
            snippet!(code, $($line),+);
            let judgement = judged(code);
            assert_eq!(kinds(&judgement), [$($found),*], "{judgement:#?}");
            assert_eq!(judgement.reason, None);
            for leak in &judgement.findings {
                let name = leak.function.as_deref().unwrap();
                assert!(name.contains(concat!(stringify!($name), "::code")), "{name}");
            }
        }
    )+};
}

finds! {
    a_branch_on_the_key_is_found [(Branch, true, true)]
        "movzx eax, byte ptr [rdi]; test al, 1; jz 2f; nop; 2:"
    a_branch_that_no_key_took_is_tainted_only [(Branch, false, true)]
        "mov eax, [rdi]; cmp eax, 0x12345678; je 2f; nop; 2:"
    a_bit_test_and_branch_is_found [(Branch, true, true)]
        "mov rax, [rdi]; bt rax, 1; jc 2f; nop; 2:"
    an_indirect_jump_is_found [(Branch, true, true)]
        "movzx eax, byte ptr [rdi]; and eax, 1; lea rcx, [rip + 2f]; add rcx, rax; jmp rcx"
        "2: nop; nop"
    a_lookup_is_found [(Lookup, true, true)]
        "movzx eax, byte ptr [rdi]; movzx ecx, byte ptr [rdx + rax * 4]"
    a_store_by_the_key_is_found [(Lookup, true, true)]
        "sub rsp, 256; movzx eax, byte ptr [rdi]; mov byte ptr [rsp + rax], 0; add rsp, 256"
    a_division_is_found [(Division, true, true)]
        "mov r8, rdx; mov eax, [rdi]; xor edx, edx; mov ecx, 7; div ecx"
    a_division_by_the_key_in_memory_is_found [(Division, true, true)]
        "mov eax, -1; xor edx, edx; div dword ptr [rdi]"
    how_often_an_instruction_repeats_is_found [(Branch, true, true)]
        "movzx ecx, byte ptr [rdi]; mov r8, rsi; mov rsi, rdx; sub rsp, 256; mov rdi, rsp"
        "rep movsb; add rsp, 256; mov rsi, r8"
    a_comparison_that_ends_early_is_found [(Branch, false, true)]
        "mov r8, rsi; mov rsi, rdx; mov ecx, 16; repe cmpsb; mov rsi, r8"
    a_flag_carries_the_key_on [(Branch, true, true)]
        "mov rax, [rdi]; add rax, rax; setc cl; movzx ecx, cl; neg ecx; js 2f; nop; 2:"
    a_carry_taken_from_itself_carries_the_key_on [(Lookup, true, true)]
        "mov rax, [rdi]; shr rax, 2; sbb ecx, ecx; and ecx, 64; mov eax, [rdx + rcx]"
    what_is_chosen_by_the_key_carries_it_on [(Lookup, true, true)]
        "xor ecx, ecx; mov r8d, 64; test byte ptr [rdi], 1; cmovz ecx, r8d; mov eax, [rdx + rcx]"
    the_key_passes_through_the_stack [(Lookup, true, true)]
        "movzx eax, byte ptr [rdi]; push rax; xor eax, eax; pop rcx; mov al, [rdx + rcx]"
    the_key_passes_through_a_string_instruction [(Lookup, true, true)]
        "mov r8, rsi; sub rsp, 64; mov rsi, rdi; mov rdi, rsp; mov ecx, 16; rep movsb"
        "movzx eax, byte ptr [rsp + 15]; mov al, [rdx + rax]; add rsp, 64; mov rsi, r8"
    the_key_passes_through_vectors_and_back [(Lookup, true, true)]
        "pshufd xmm1, xmm0, 0x4e; pxor xmm2, xmm2; pxor xmm2, xmm1; movd eax, xmm2; movzx eax, al"
        "mov al, [rdx + rax]"
    a_test_of_a_vector_shows_the_key [(Branch, false, true)]
        "pxor xmm1, xmm1; pcmpeqb xmm1, xmm0; pmovmskb eax, xmm1; test eax, eax; jnz 2f; nop; 2:"
    arithmetic_and_logic_show_nothing []
        "mov rax, [rdi]; imul rax, rax; rol rax, 7; xor rax, [rdi + 8]; add rax, 9; mul rax"
        "mov rdx, rax"
    a_choice_by_the_key_shows_nothing []
        "mov eax, [rdi]; mov ecx, [rdi + 4]; test eax, 1; cmovz eax, ecx; setz cl"
    what_is_combined_with_itself_is_public []
        "mov rax, [rdi]; xor rax, rax; mov al, [rdx + rax]; sub ecx, ecx; jnz 2f; nop; 2:"
        "movdqa xmm1, xmm0; pxor xmm1, xmm1; movd eax, xmm1; mov al, [rdx + rax]"
    a_byte_that_is_masked_away_is_public []
        "movzx eax, byte ptr [rdi]; mov ah, 3; and eax, 0xff00; mov al, [rdx + rax]"
    a_register_that_is_written_over_is_public []
        "mov rax, [rdi]; mov eax, 5; mov al, [rdx + rax]; mov rcx, [rdi]; xor ecx, ecx; mov cl, 3"
        "mov al, [rdx + rcx]"
    memory_that_is_written_over_is_public []
        "mov rax, [rdi]; push rax; mov qword ptr [rsp], 3; pop rax; mov al, [rdx + rax]"
    a_public_loop_shows_nothing []
        "mov ecx, 4; 2: movzx eax, byte ptr [rdx + rcx]; dec ecx; jnz 2b"
    what_is_written_to_the_output_is_public []
        "movdqu [rsi], xmm0; movzx eax, byte ptr [rsi]; test al, 1; mov ecx, 0"
        "mov al, [rdx + rcx]"
}

#[test]
fn by_which_of_the_bytes_of_a_table_a_lookup_was_seen_is_told() {
    snippet!(code, "movzx eax, byte ptr [rdi]; mov ecx, [rdx + rax * 4]");
    let (mut low, mut high) = ([7; 64], [7; 64]);
    (low[0], high[0]) = (0, 255);
    let leak = &judged_with(code, low, high).findings[0];
    assert_eq!((leak.bytes, leak.lines, leak.places), (Some(1024), Some(2), 1));
    assert_eq!(leak.instruction, "mov ecx,[rdx+rax*4]");
    assert_eq!(
        (leak.operations.as_slice(), leak.sizes.as_slice()),
        (&["encrypt".to_owned()][..], &[16][..])
    );
    let (mut near, mut far) = ([7; 64], [7; 64]);
    (near[0], far[0]) = (1, 2);
    let leak = &judged_with(code, near, far).findings[0];
    assert_eq!((leak.bytes, leak.lines), (Some(8), Some(1)), "within a line");
}

#[test]
fn a_key_that_does_not_reach_the_output_is_lost() {
    snippet!(code, "pxor xmm0, xmm0");
    let judgement = judged(code);
    let why = "taint lost: it did not reach all of the output: encrypt at 16 bytes";
    assert_eq!((judgement.reason.as_deref(), judgement.findings.len()), (Some(why), 0));
}

#[test]
fn what_follows_from_a_branch_is_not_told_as_well() {
    // The addresses behind it differ because another constant was loaded.
    snippet!(
        code,
        "xor ecx, ecx; test byte ptr [rdi], 2; jz 2f; mov ecx, 64; 2:; mov eax, [rdx + rcx]"
    );
    assert_eq!(kinds(&judged(code)), [(Branch, true, true)]);
}

#[test]
fn both_traces_are_shown_around_the_first_difference_of_a_function() {
    snippet!(code, "movzx eax, byte ptr [rdi]; mov ecx, [rdx + rax * 4]");
    let name = judged(code).findings[0].function.clone().unwrap();
    let shown = judged_showing(code, Some(&name)).shown;
    assert!(shown[0].starts_with("encrypt at 16 bytes, keys 1 and 2, step "), "{shown:#?}");
    let marked = shown.iter().find(|line| line.starts_with('>')).unwrap();
    assert!(marked.contains("mov ecx,[rdx+rax*4]"), "{marked}");
    assert!(marked.contains(" rax 0x35 | 0xf2"), "{marked}");
    let other = judged_showing(code, Some("other")).shown;
    assert_eq!(other, ["no two traces differ in other first"]);
}
