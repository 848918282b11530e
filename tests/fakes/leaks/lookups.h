/* Addresses that depend on the key. */

static volatile uint32_t wide[256] __attribute__((aligned(64)));
static const uint8_t *const rows[4] = {table, table + 256, table + 512, table + 768};
static __thread volatile uint8_t of_thread[256] __attribute__((tls_model("initial-exec")));

/* Loads table[rax] in assembly: what comes before leaves the secret in RAX. */
#define LOOK_UP "lea rdx, [rip + table]\n\tmovzx eax, byte ptr [rdx + rax]\n\t"
#define LOOKING_UP(name, before)                                                                                  \
  CONTROL(name) {                                                                                                 \
    __asm__ volatile(before "\n\t" LOOK_UP::"D"(k)                                                                \
                     : "rax", "rcx", "rdx", "rsi", "r8", "xmm0", "xmm1", "xmm2", "cc", "memory");                 \
  }

CONTROL(sbox_table) { sink = table[k[0]]; }
CONTROL(one_line) { sink = table[k[0] & 15]; }
CONTROL(wide_table) { sink = wide[k[0]]; }
CONTROL(store_at) { ((volatile uint8_t *)table)[1024 + k[0]] = 1; }
CONTROL(signed_index) { sink = (table + 2048)[(int8_t)k[0]]; }
CONTROL(pointer_of_row) { sink = *(volatile const uint8_t *)rows[k[0] & 3]; }
CONTROL(thread_local_table) { sink = of_thread[k[0]]; }

LOOKING_UP(high_byte, "movzx ecx, byte ptr [rdi]\n\tshl ecx, 8\n\tmovzx eax, ch")
LOOKING_UP(cmov_then_load, "mov ecx, 64\n\txor eax, eax\n\ttest byte ptr [rdi], 1\n\tcmovne eax, ecx")
LOOKING_UP(setcc_then_load, "xor eax, eax\n\tcmp byte ptr [rdi], 0x80\n\tsetae al\n\tshl eax, 7")
LOOKING_UP(borrow_then_load, "mov eax, 0x7f\n\tcmp al, byte ptr [rdi]\n\tsbb eax, eax\n\tand eax, 64")
LOOKING_UP(product_then_load, "mov rax, [rdi]\n\tmov rcx, 0x123456789abcdef1\n\tmul rcx\n\tmovzx eax, dl")
LOOKING_UP(rotate_then_load, "mov rcx, [rdi]\n\txor eax, eax\n\tshld rax, rcx, 8")
LOOKING_UP(vector_then_load, "movdqu xmm0, [rdi]\n\tpshufd xmm0, xmm0, 0x4e\n\tpextrb eax, xmm0, 3")
LOOKING_UP(lahf_then_load, "test byte ptr [rdi], 1\n\tlahf\n\tmovzx eax, ah")
LOOKING_UP(exchange_then_load, "push 0\n\tmovzx ecx, byte ptr [rdi]\n\txchg [rsp], rcx\n\tpop rax")
LOOKING_UP(pext_then_load, "mov rcx, [rdi]\n\tmov eax, 0x01010101\n\tpext rax, rcx, rax")
LOOKING_UP(pdep_then_load, "mov rcx, [rdi]\n\tmov eax, 0x88\n\tpdep rax, rcx, rax")
LOOKING_UP(aes_then_load, "movdqu xmm0, [rdi]\n\taesenc xmm0, xmm0\n\tpextrb eax, xmm0, 5")

/* AL is an index that no operand names. */
CONTROL(translate) {
  __asm__ volatile("lea rbx, [rip + table]\n\tmov al, [rdi]\n\txlatb" ::"D"(k) : "rax", "rbx");
}
/* A bit's number reaches beyond the operand that the instruction names. */
CONTROL(bit_in_memory) {
  __asm__ volatile("movzx eax, byte ptr [rdi]\n\tshl eax, 3\n\tlea rdx, [rip + table]\n\tbt dword ptr [rdx], eax" ::"D"(k)
                   : "rax", "rdx", "cc");
}
/* No value is read, and the line is in the cache then, or out of it. */
CONTROL(prefetch) {
  __asm__ volatile("movzx eax, byte ptr [rdi]\n\tlea rdx, [rip + table]\n\tprefetcht0 [rdx + rax]" ::"D"(k)
                   : "rax", "rdx");
}
CONTROL(flush_line) {
  __asm__ volatile("movzx eax, byte ptr [rdi]\n\tlea rdx, [rip + table]\n\tclflush [rdx + rax]" ::"D"(k) : "rax", "rdx");
}
CONTROL(alloca_size) {
  volatile uint8_t *room = alloca(16 + 64 * (k[0] & 7));
  room[0] = 1;
}
CONTROL(malloc_size) {
  /* Never of the size of a session, whose place the freed piece would then be. */
  void *volatile room = malloc(32 + 64 * (k[0] & 5));
  free(room);
}
CONTROL(memcpy_to) { memcpy(table + 2048 + k[0], table, 32 + (sink & 0)); }

/* Indices in vectors: no register of the general ones has them. */
CONTROL(gather_avx2) {
  __asm__ volatile("vpmovzxbd ymm0, [rdi]\n\tvpcmpeqd ymm1, ymm1, ymm1\n\tlea rdx, [rip + table]\n\t"
                   "vpgatherdd ymm2, [rdx + ymm0*4], ymm1\n\tvzeroupper" ::"D"(k) : "rdx", "xmm0", "xmm1", "xmm2");
}
CONTROL(gather_quadwords) {
  __asm__ volatile("vpmovzxbq ymm0, [rdi]\n\tvpcmpeqd ymm1, ymm1, ymm1\n\tlea rdx, [rip + table]\n\t"
                   "vpgatherqq ymm2, [rdx + ymm0*8], ymm1\n\tvzeroupper" ::"D"(k) : "rdx", "xmm0", "xmm1", "xmm2");
}
CONTROL(gather_avx512) {
  __asm__ volatile("vpmovzxbd zmm0, [rdi]\n\tkxnorw k1, k1, k1\n\tlea rdx, [rip + table]\n\t"
                   "vpgatherdd zmm2%{k1%}, [rdx + zmm0*4]\n\tvzeroupper" ::"D"(k) : "rdx", "xmm0", "xmm2", "memory");
}
CONTROL(scatter_avx512) {
  __asm__ volatile("vpmovzxbd zmm0, [rdi]\n\tkxnorw k1, k1, k1\n\tlea rdx, [rip + table]\n\tvpxord zmm2, zmm2, zmm2\n\t"
                   "vpscatterdd [rdx + zmm0*4]%{k1%}, zmm2\n\tvzeroupper" ::"D"(k) : "rdx", "xmm0", "xmm2", "memory");
}

/* Which elements are touched depends on a mask: only taint sees masks. */
#define MASKED(name, instruction)                                                                                 \
  CONTROL(name) {                                                                                                 \
    __asm__ volatile("movzx eax, word ptr [rdi]\n\tkmovw k1, eax\n\tlea rdx, [rip + table]\n\tvpxord zmm0, zmm0, zmm0\n\t" \
                     instruction "\n\tvzeroupper" ::"D"(k) : "rax", "rdx", "xmm0", "memory");                     \
  }
MASKED(masked_load, "vmovdqu32 zmm0%{k1%}%{z%}, [rdx]")
MASKED(masked_store, "vmovdqu32 [rdx]%{k1%}, zmm0")
MASKED(expand_load, "vpexpandd zmm0%{k1%}%{z%}, [rdx]")
MASKED(compress_store, "vpcompressd [rdx]%{k1%}, zmm0")
CONTROL(masked_store_avx2) {
  __asm__ volatile("vpmovsxbd ymm0, [rdi]\n\tlea rdx, [rip + table]\n\tvpmaskmovd [rdx], ymm0, ymm0\n\tvzeroupper" ::"D"(k)
                   : "rdx", "xmm0", "memory");
}
CONTROL(masked_store_sse2) {
  __asm__ volatile("movdqu xmm0, [rdi]\n\tlea rdi, [rip + table]\n\tmaskmovdqu xmm0, xmm0" : "+D"(k)::"xmm0", "memory");
}
