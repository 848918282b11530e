//! Vectors, gathers and masks.

use crate::leaks::tests::*;

#[test]
fn legacy_vector_instructions_keep_upper_halves_and_others_clear_them() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    snippet!(
        kept,
        "vmovdqu ymm1, [rdi]; pxor xmm1, xmm1; vextracti128 xmm1, ymm1, 1; vmovd eax, xmm1",
        "movzx eax, al; mov al, [rdx + rax]; vzeroupper"
    );
    assert_eq!(kinds(&judged(kept)), [(Lookup, true, true)]);
    snippet!(
        cleared,
        "vmovdqu ymm1, [rdi]; vpxor xmm1, xmm1, xmm1; vextracti128 xmm1, ymm1, 1",
        "vmovd eax, xmm1; movzx eax, al; mov al, [rdx + rax]; vzeroupper"
    );
    assert_eq!(kinds(&judged(cleared)), []);
    snippet!(
        zeroed,
        "vmovdqu ymm1, [rdi]; vzeroupper; vextracti128 xmm1, ymm1, 1; vmovd eax, xmm1",
        "movzx eax, al; mov al, [rdx + rax]"
    );
    assert_eq!(kinds(&judged(zeroed)), []);
}

#[test]
fn gathers_show_the_key_in_their_indices_only() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    snippet!(
        secret,
        "vmovdqu xmm1, [rdi]; vpsrld xmm1, xmm1, 24; vpcmpeqd xmm2, xmm2, xmm2",
        "vpgatherdd xmm3, [rdx + xmm1 * 4], xmm2"
    );
    assert_eq!(
        kinds(&judged(secret)),
        [(Lookup, false, true)],
        "which lanes differ is not recorded"
    );
    snippet!(
        public,
        "vpxor xmm1, xmm1, xmm1; vpcmpeqd xmm2, xmm2, xmm2",
        "vpgatherdd xmm3, [rdx + xmm1 * 4], xmm2"
    );
    assert_eq!(kinds(&judged(public)), []);
}

#[test]
fn masks_carry_the_key_on() {
    if !std::arch::is_x86_feature_detected!("avx512bw") {
        return;
    }
    snippet!(
        chosen,
        "kmovd k1, [rdi]; vpxord zmm1, zmm1, zmm1; vpternlogd zmm2, zmm2, zmm2, 0xff",
        "vmovdqu32 zmm1{{k1}}, zmm2; vmovd eax, xmm1; and eax, 4; mov al, [rdx + rax]",
        "vzeroupper"
    );
    assert_eq!(kinds(&judged(chosen)), [(Lookup, true, true)]);
    snippet!(tested, "kmovd k1, [rdi]; kortestd k1, k1; jz 2f; nop; 2:; vzeroupper");
    assert_eq!(kinds(&judged(tested)), [(Branch, false, true)]);
    snippet!(loaded, "kmovd k1, [rdi]; vmovdqu32 zmm1{{k1}}{{z}}, [rdx]; vzeroupper");
    assert_eq!(kinds(&judged(loaded)), [(Lookup, false, true)], "which elements are touched");
    snippet!(
        public,
        "mov eax, 3; kmovd k1, eax; vmovdqu32 zmm1{{k1}}{{z}}, [rdi]; vpaddd zmm1, zmm1, zmm1",
        "vzeroupper"
    );
    assert_eq!(kinds(&judged(public)), []);
}
