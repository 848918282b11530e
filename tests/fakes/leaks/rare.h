/* A branch taken once in about 2^32, of a secret that came here by one kind of instruction: keys that are tried do not
 * show it, and taint must not lose it on the way. All 32 bits depend on the key, so that the branch can be taken. */

#define RARE(name, path)                                                                                          \
  CONTROL(name) {                                                                                                 \
    __asm__ volatile(path "\n\tcmp eax, 0x5eed1234\n\tjne 1f\n\tnop\n1:" ::"D"(k)                                 \
                     : "rax", "rcx", "rdx", "rsi", "r8", "r9", "xmm0", "xmm1", "xmm2", "cc", "memory");           \
  }
/* With 64 bytes of stack, aligned, below the red zone. */
#define RARE_IN_MEMORY(name, path)                                                                                \
  RARE(name, "mov r9, rsp\n\tsub rsp, 256\n\tand rsp, -64\n\t" path "\n\tmov rsp, r9")

RARE(by_aes, "movdqu xmm0, [rdi]\n\tpxor xmm1, xmm1\n\taesenc xmm1, xmm0\n\tmovd eax, xmm1")
RARE(by_carry_less_product, "movdqu xmm0, [rdi]\n\tpclmulqdq xmm0, xmm0, 0x10\n\tmovd eax, xmm0")
RARE(by_shuffle, "movdqu xmm0, [rdi]\n\tmov eax, 0x5eed1234\n\tmovd xmm1, eax\n\tpshufb xmm1, xmm0\n\tmovd eax, xmm1")
RARE(by_palignr, "movdqu xmm0, [rdi]\n\tpxor xmm1, xmm1\n\tpalignr xmm1, xmm0, 12\n\tmovd eax, xmm1")
RARE(by_unpack, "movdqu xmm0, [rdi]\n\tpxor xmm1, xmm1\n\tpunpckhdq xmm1, xmm0\n\tpshufd xmm1, xmm1, 1\n\tmovd eax, xmm1")
RARE(by_byte_mask, "movdqu xmm0, [rdi]\n\tpmovmskb eax, xmm0\n\tshl eax, 16\n\tpsllw xmm0, 1\n\tpmovmskb ecx, xmm0\n\tor eax, ecx")
RARE(by_upper_lane, "vpxor xmm0, xmm0, xmm0\n\tvinserti128 ymm0, ymm0, [rdi], 1\n\tvextracti128 xmm1, ymm0, 1\n\t"
                    "vmovd eax, xmm1\n\tvzeroupper")
RARE(by_broadcast, "vpbroadcastd ymm0, [rdi]\n\tvpermq ymm0, ymm0, 0x4e\n\tvmovd eax, xmm0\n\tvzeroupper")
RARE(by_gathered_value, "vpxor xmm0, xmm0, xmm0\n\tvpcmpeqd xmm1, xmm1, xmm1\n\tvpxor xmm2, xmm2, xmm2\n\t"
                        "vpgatherdd xmm2, [rdi + xmm0*4], xmm1\n\tvmovd eax, xmm2")
RARE(by_blend, "movdqu xmm0, [rdi]\n\tpxor xmm1, xmm1\n\tpblendw xmm1, xmm0, 0x0f\n\tmovd eax, xmm1")
RARE(by_packed_double, "cvtsi2sd xmm0, dword ptr [rdi]\n\tcvttsd2si eax, xmm0")
RARE(by_multiply_vector, "movdqu xmm0, [rdi]\n\tpcmpeqd xmm1, xmm1\n\tpmuludq xmm0, xmm1\n\tmovd eax, xmm0")
RARE(by_multiply, "mov rdx, [rdi]\n\tmov ecx, 0x10001\n\tmulx rax, rcx, rcx")
RARE(by_carry, "xor eax, eax\n\tmov rcx, [rdi]\n\t.rept 32\n\tadd rcx, rcx\n\tadc eax, eax\n\t.endr")
RARE(by_adx, "xor eax, eax\n\tmov rcx, [rdi]\n\t.rept 32\n\tadcx rcx, rcx\n\tadcx rax, rax\n\t.endr")
RARE(by_flags_word, "xor eax, eax\n\tmov esi, 1\n\tmov rdx, [rdi]\n\t.rept 32\n\tshl rdx, 1\n\tpushfq\n\tpop rcx\n\tand ecx, 1\n\tlea eax, [rcx + rax*2]\n\t.endr")
RARE(by_cmov, "xor eax, eax\n\tmov esi, 1\n\tmov rdx, [rdi]\n\t.rept 32\n\tshl rdx, 1\n\tmov ecx, 0\n\tcmovc ecx, esi\n\tlea eax, [rcx + rax*2]\n\t.endr")
RARE(by_kept_cmov, "mov eax, [rdi]\n\tmov ecx, 2\n\tcmp rdi, 0\n\tcmove eax, ecx")
RARE(by_setcc, "xor eax, eax\n\tmov esi, 1\n\tmov rdx, [rdi]\n\t.rept 32\n\tshl rdx, 1\n\tsetc cl\n\tmovzx ecx, cl\n\tlea eax, [rcx + rax*2]\n\t.endr")
RARE(by_byte_order, "movbe eax, [rdi]\n\tbswap eax")
RARE(by_checksum, "xor eax, eax\n\tcrc32 eax, dword ptr [rdi]")
RARE(by_partial_register, "xor eax, eax\n\tmov ah, [rdi]\n\tmov al, [rdi + 1]\n\tshl eax, 16\n\tmov ah, [rdi + 2]\n\tmov al, [rdi + 3]")
RARE(by_leal, "mov ecx, [rdi]\n\tlea eax, [rcx + rcx*4 + 1]")
RARE(by_x87, "push 0\n\tfild qword ptr [rdi]\n\tfistp qword ptr [rsp]\n\tpop rax")
RARE_IN_MEMORY(by_repeated_move, "mov rsi, rdi\n\tmov rdi, rsp\n\tmov ecx, 16\n\trep movsb\n\tmov eax, [rsp]\n\tlea rdi, [rsi - 16]")
RARE_IN_MEMORY(by_lods_stos, "mov rsi, rdi\n\tlodsd\n\tmov r8, rdi\n\tmov rdi, rsp\n\tstosd\n\tmov rdi, r8\n\tmov eax, [rsp]")
RARE_IN_MEMORY(by_exchange, "mov eax, [rdi]\n\tmov dword ptr [rsp], 0\n\txchg [rsp], eax\n\tmov eax, [rsp]")
RARE_IN_MEMORY(by_locked_add, "mov eax, [rdi]\n\tmov dword ptr [rsp], 0\n\tlock xadd [rsp], eax\n\tmov eax, [rsp]")
RARE_IN_MEMORY(by_compare_exchange, "xor eax, eax\n\tmov dword ptr [rsp], 0\n\tmov ecx, [rdi]\n\tlock cmpxchg [rsp], ecx\n\tmov eax, [rsp]")
RARE_IN_MEMORY(by_bytes_in_memory, "mov qword ptr [rsp], 0\n\tmov al, [rdi]\n\tmov [rsp + 3], al\n\tmov ax, [rdi + 1]\n\tmov [rsp], ax\n\t"
                                   "mov al, [rdi + 3]\n\tmov [rsp + 2], al\n\tmov eax, [rsp]")
RARE_IN_MEMORY(by_memory_and, "mov dword ptr [rsp], -1\n\tmov eax, [rdi]\n\tand [rsp], eax\n\tmov eax, [rsp]")
RARE_IN_MEMORY(by_saved_state, "movdqu xmm0, [rdi]\n\tmov r8, rsp\n\tsub rsp, 512\n\tfxsave64 [rsp]\n\tmov eax, [rsp + 160]\n\tmov rsp, r8")

/* AVX-512, GFNI, SHA. */
RARE(by_mask_register, "mov eax, [rdi]\n\tkmovd k1, eax\n\tkshiftrd k2, k1, 1\n\tkxord k1, k1, k2\n\tkmovd eax, k1")
RARE(by_mask_of_compare, "vmovdqu xmm0, [rdi]\n\tvpxor xmm1, xmm1, xmm1\n\tvpcmpb k1, xmm0, xmm1, 1\n\tkmovd eax, k1\n\tshl eax, 16\n\t"
                         "vpsllw xmm0, xmm0, 1\n\tvpcmpb k1, xmm0, xmm1, 1\n\tkmovd ecx, k1\n\tor eax, ecx")
RARE(by_masked_move, "mov eax, 1\n\tkmovw k1, eax\n\tvpxor xmm0, xmm0, xmm0\n\tvmovdqu32 zmm0%{k1%}, [rdi]\n\tvmovd eax, xmm0\n\tvzeroupper")
RARE(by_compress, "mov eax, 8\n\tkmovw k1, eax\n\tvmovdqu64 xmm0, [rdi]\n\tvpcompressd xmm1%{k1%}%{z%}, xmm0\n\tvmovd eax, xmm1")
RARE(by_permute, "vbroadcasti32x4 zmm0, [rdi]\n\tvpxor xmm1, xmm1, xmm1\n\tvpermd zmm0, zmm1, zmm0\n\tvmovd eax, xmm0\n\tvzeroupper")
RARE(by_ternary_logic, "vpxor xmm0, xmm0, xmm0\n\tvpxor xmm1, xmm1, xmm1\n\tvpternlogd xmm0, xmm1, [rdi], 0x96\n\tvmovd eax, xmm0")
RARE(by_ifma, "vpxor xmm0, xmm0, xmm0\n\tvmovdqu64 xmm1, [rdi]\n\tvpcmpeqd xmm2, xmm2, xmm2\n\tvpmadd52luq xmm0, xmm1, xmm2\n\tvmovd eax, xmm0")
RARE(by_upper_zmm, "vpxor xmm0, xmm0, xmm0\n\tvinserti32x4 zmm0, zmm0, [rdi], 3\n\tvshufi32x4 zmm0, zmm0, zmm0, 0xff\n\tvmovd eax, xmm0\n\tvzeroupper")
RARE(by_register_above_15, "vmovdqu32 xmm16, [rdi]\n\tvmovdqa32 xmm0, xmm16\n\tvmovd eax, xmm0\n\tvpxord xmm16, xmm16, xmm16")
RARE(by_galois_field, "movdqu xmm0, [rdi]\n\tgf2p8mulb xmm0, xmm0\n\tmovd eax, xmm0")
RARE(by_sha, "movdqu xmm1, [rdi]\n\tpxor xmm0, xmm0\n\tpxor xmm2, xmm2\n\tsha256msg1 xmm2, xmm1\n\tsha256rnds2 xmm2, xmm2\n\tmovd eax, xmm2")
