/* What looks as if it leaked, and does not. */

/* Sets flags of something public, then jumps; only sound analysis of bytes sees that nothing is left of the secret. */
#define PUBLIC(name, before, jump)                                                                                \
  CONTROL(name) {                                                                                                 \
    __asm__ volatile(before "\n\t" jump " 1f\n\tnop\n1:" ::"D"(k)                                                 \
                     : "rax", "rcx", "rdx", "rsi", "xmm0", "xmm1", "xmm2", "cc", "memory");                       \
  }

CONTROL(whole_table) {
  unsigned found = 0;
  for (unsigned i = 0; i < 256; i++) {
    unsigned mask = -(((i ^ k[0]) - 1u) >> 31);
    __asm__("" : "+r"(mask));
    found |= table[i] & mask;
  }
  sink = found;
}
CONTROL(cmov_select) {
  __asm__ volatile("mov eax, 3\n\tmov ecx, 5\n\ttest byte ptr [rdi], 1\n\tcmovne eax, ecx" ::"D"(k) : "rax", "rcx", "cc");
}
CONTROL(mask_select) {
  unsigned mask = -(unsigned)(k[0] & 1);
  __asm__("" : "+r"(mask));
  sink = (mask & 3) | (~mask & 5);
}
CONTROL(multiply) {
  __asm__ volatile("mov rax, [rdi]\n\tmul qword ptr [rdi + 8]\n\timul rax, rdx\n\tmov rdx, rax\n\tmulx rax, rcx, rdx" ::"D"(k)
                   : "rax", "rcx", "rdx", "cc");
}
CONTROL(public_division) {
  __asm__ volatile("mov eax, 12345\n\txor edx, edx\n\tmov ecx, 7\n\tdiv ecx" ::"D"(k) : "rax", "rcx", "rdx", "cc");
}
CONTROL(table_in_register) {
  __asm__ volatile("movdqu xmm0, [rdi]\n\tmovdqa xmm1, [rip + table]\n\tpshufb xmm1, xmm0" ::"D"(k) : "xmm0", "xmm1");
}
CONTROL(table_in_registers) {
  __asm__ volatile("vmovdqu64 zmm0, [rip + table]\n\tvbroadcasti32x4 zmm1, [rdi]\n\tvpermi2b zmm1, zmm0, zmm0\n\tvzeroupper" ::"D"(k)
                   : "xmm0", "xmm1");
}
CONTROL(masked_select) {
  __asm__ volatile("mov eax, [rdi]\n\tkmovw k1, eax\n\tvpxord zmm0, zmm0, zmm0\n\tvpternlogd zmm1, zmm1, zmm1, 0xff\n\t"
                   "vpblendmd zmm0%{k1%}, zmm0, zmm1\n\tvzeroupper" ::"D"(k) : "rax", "xmm0", "xmm1");
}
CONTROL(only_address) {
  __asm__ volatile("movzx eax, byte ptr [rdi]\n\tlea rdx, [rip + table]\n\tlea rax, [rdx + rax]\n\tnop dword ptr [rdx + rax]" ::"D"(k)
                   : "rax", "rdx");
}
CONTROL(public_index) {
  for (unsigned i = 0; i < 64; i++) sink ^= table[i * 5 & 255] ^ k[i & 15];
}
CONTROL(gather_of_secrets) {
  __asm__ volatile("vpxor xmm0, xmm0, xmm0\n\tvpcmpeqd xmm1, xmm1, xmm1\n\tvpxor xmm2, xmm2, xmm2\n\t"
                   "vpgatherdd xmm2, [rdi + xmm0*4], xmm1" ::"D"(k) : "xmm0", "xmm1", "xmm2");
}
CONTROL(copy_and_clear) {
  uint8_t copy[64];
  memcpy(copy, k, 16);
  sink = copy[5];
  explicit_bzero(copy, sizeof copy);
}
CONTROL(public_repeat) {
  __asm__ volatile("mov rsi, rdi\n\tlea rdi, [rip + table]\n\tmov ecx, 16\n\trep movsb\n\txor eax, eax\n\tsub rdi, 16\n\t"
                   "mov ecx, 16\n\trep stosb" : "+D"(k)::"rax", "rcx", "rsi", "memory");
}
CONTROL(public_allocation) {
  uint8_t *room = malloc(100);
  if (room != NULL) memcpy(room, k, 16), sink = room[3];
  free(room);
}
CONTROL(clock_and_random) {
  __asm__ volatile("rdtsc\n\ttest al, 64\n\tjz 1f\n\tnop\n1:\trdrand eax\n\ttest al, 1\n\tjz 2f\n\tnop\n2:" ::"D"(k)
                   : "rax", "rdx", "cc");
}
/* Another way with each call, whatever the key. */
CONTROL(counts_calls) {
  static unsigned calls;
  (void)k;
  if (calls++ & 1) sink += calls;
}
PUBLIC(zeroed_by_xor, "mov eax, [rdi]\n\txor eax, eax\n\ttest eax, eax", "jz")
PUBLIC(zeroed_by_sub, "mov rax, [rdi]\n\tsub rax, rax", "jz")
PUBLIC(zeroed_by_vector_xor, "movdqu xmm0, [rdi]\n\tpxor xmm0, xmm0\n\tptest xmm0, xmm0", "jz")
PUBLIC(ones_by_compare, "movdqu xmm0, [rdi]\n\tpcmpeqd xmm0, xmm0\n\tptest xmm0, xmm0", "jz")
PUBLIC(zeroed_by_and, "mov eax, [rdi]\n\tand eax, 0\n\ttest eax, eax", "jz")
PUBLIC(ones_by_or, "mov eax, [rdi]\n\tor eax, -1\n\ttest eax, eax", "jz")
PUBLIC(overwritten_register, "mov eax, [rdi]\n\tmov eax, 5\n\ttest eax, eax", "jz")
PUBLIC(overwritten_memory, "mov rax, [rdi]\n\tpush rax\n\tmov qword ptr [rsp], 5\n\tpop rax\n\ttest eax, eax", "jz")
PUBLIC(other_byte, "movzx eax, byte ptr [rdi]\n\tmov ah, 3\n\ttest ah, 1", "jz")
PUBLIC(upper_half_cleared, "mov rax, [rdi]\n\tmov ecx, eax\n\tshr rcx, 32\n\tmov rax, rcx\n\tmov eax, 1\n\ttest eax, eax", "jz")
PUBLIC(vector_tail_cleared, "vmovdqu ymm0, [rdi]\n\tvmovdqu xmm0, [rip + table]\n\tvextracti128 xmm0, ymm0, 1\n\t"
                            "vptest xmm0, xmm0", "jz")
PUBLIC(zeroupper, "vmovdqu ymm0, [rdi]\n\tvpxor xmm1, xmm1, xmm1\n\tvinserti128 ymm0, ymm0, [rdi], 1\n\tvzeroupper\n\t"
                  "vextracti128 xmm0, ymm0, 1\n\tvptest xmm0, xmm0", "jz")
PUBLIC(ternary_ones, "vmovdqu xmm0, [rdi]\n\tvpternlogd xmm0, xmm0, xmm0, 0xff\n\tvptest xmm0, xmm0", "jz")
PUBLIC(public_flag_kept, "test rdi, rdi\n\tmovzx eax, byte ptr [rdi]\n\tnot eax\n\tlea ecx, [rax + 1]", "jz")

/* S-boxes for key set-up. */
APART uint32_t substitute_aesni(uint32_t word) {
  __asm__("movd xmm0, %0\n\tpshufd xmm0, xmm0, 0\n\taeskeygenassist xmm0, xmm0, 0\n\tmovd %0, xmm0" : "+r"(word)::"xmm0");
  return word;
}
static inline uint8_t product(uint8_t a, uint8_t b) { /* in GF(2^8) */
  unsigned r = 0, x = a;
  for (int i = 0; i < 8; i++) {
    unsigned bit = -(unsigned)(b >> i & 1), top = -(x >> 7 & 1);
    __asm__("" : "+r"(bit), "+r"(top));
    r ^= x & bit;
    x = (x << 1 ^ (top & 0x11b)) & 0xff;
  }
  return (uint8_t)r;
}
APART uint8_t inverse(uint8_t x) { /* x^254 */
  uint8_t y = product(x, x), z = product(y, x);
  y = product(z, z), y = product(y, y);    /* 12 */
  uint8_t w = product(y, z);               /* 15 */
  for (int i = 0; i < 4; i++) w = product(w, w);
  return product(product(w, y), product(x, x)); /* 240 + 12 + 2 */
}
APART uint32_t substitute_arithmetic(uint32_t word) {
  uint32_t out = 0;
  for (int i = 0; i < 32; i += 8) {
    unsigned y = inverse((uint8_t)(word >> i));
    y |= y << 8;
    out |= (uint32_t)((y ^ y >> 7 ^ y >> 6 ^ y >> 5 ^ y >> 4 ^ 0x63) & 0xff) << i;
  }
  return out;
}
/* Four bytes at once, a plane for each of their bits. */
static inline void square(uint32_t p[8]) { /* linear: bit i goes to bit 2i, reduced */
  uint32_t t[15] = {0};
  for (int i = 0; i < 8; i++) t[2 * i] = p[i];
  for (int i = 14; i > 7; i--) t[i - 4] ^= t[i], t[i - 5] ^= t[i], t[i - 7] ^= t[i], t[i - 8] ^= t[i];
  memcpy(p, t, 32);
}
static inline void multiply_planes(uint32_t p[8], const uint32_t q[8]) {
  uint32_t t[15] = {0};
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) t[i + j] ^= p[i] & q[j];
  for (int i = 14; i > 7; i--) t[i - 4] ^= t[i], t[i - 5] ^= t[i], t[i - 7] ^= t[i], t[i - 8] ^= t[i];
  memcpy(p, t, 32);
}
APART uint32_t substitute_bitsliced(uint32_t word) {
  uint32_t x[8], y[8], out = 0;
  for (int b = 0; b < 8; b++) {
    x[b] = 0;
    for (int i = 0; i < 4; i++) x[b] |= (word >> (8 * i + b) & 1) << i;
  }
  memcpy(y, x, sizeof y);
  for (int i = 0; i < 6; i++) square(y), multiply_planes(y, x); /* x^127 */
  square(y);
  for (int b = 0; b < 8; b++) {
    uint32_t bit = y[b] ^ y[(b + 4) & 7] ^ y[(b + 5) & 7] ^ y[(b + 6) & 7] ^ y[(b + 7) & 7];
    for (int i = 0; i < 4; i++) out |= ((bit >> i & 1) ^ (0x63u >> b & 1)) << (8 * i + b);
  }
  return out;
}
static uint8_t box[256];
APART uint32_t substitute_by_table(uint32_t word) {
  return (uint32_t)box[word & 255] | (uint32_t)box[word >> 8 & 255] << 8 | (uint32_t)box[word >> 16 & 255] << 16 |
         (uint32_t)box[word >> 24] << 24;
}
__attribute__((constructor)) static void fill(void) {
  for (unsigned i = 0; i < 256; i++) box[i] = (uint8_t)substitute_arithmetic(i);
  for (unsigned i = 0; i < sizeof table; i++) table[i] = (uint8_t)(i * 7);
}
