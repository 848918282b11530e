/* Ways to compare tags. */

APART int all_bytes(const uint8_t *a, const uint8_t *b) {
  unsigned d = 0;
  for (int i = 0; i < 16; i++) d |= a[i] ^ b[i];
  return d != 0;
}
APART int all_words(const uint8_t *a, const uint8_t *b) {
  uint64_t x[2], y[2];
  memcpy(x, a, 16), memcpy(y, b, 16);
  return ((x[0] ^ y[0]) | (x[1] ^ y[1])) != 0;
}
APART int one_vector(const uint8_t *a, const uint8_t *b) {
  int equal;
  __asm__ volatile("movdqu xmm0, [%1]\n\tmovdqu xmm1, [%2]\n\tpcmpeqb xmm0, xmm1\n\tpmovmskb %0, xmm0"
                   : "=r"(equal) : "r"(a), "r"(b) : "xmm0", "xmm1", "memory");
  return equal != 0xffff;
}
APART int early_exit(const uint8_t *a, const uint8_t *b) {
  for (int i = 0; i < 16; i++)
    if (*(volatile const uint8_t *)(a + i) != b[i]) return 1;
  return 0;
}
APART int word_by_word(const uint8_t *a, const uint8_t *b) {
  uint64_t x, y;
  memcpy(&x, a, 8), memcpy(&y, b, 8);
  if (x != y) return 1;
  __asm__ volatile("" ::: "memory");
  memcpy(&x, a + 8, 8), memcpy(&y, b + 8, 8);
  return x != y;
}
APART int libc_memcmp(const uint8_t *a, const uint8_t *b) {
  size_t n = 16;
  __asm__ volatile("" : "+r"(n));
  return memcmp(a, b, n) != 0;
}
APART int libc_strncmp(const uint8_t *a, const uint8_t *b) {
  size_t n = 16;
  __asm__ volatile("" : "+r"(n));
  return strncmp((const char *)a, (const char *)b, n) != 0 || memcmp(a, b, n) != 0;
}
APART int repeated_compare(const uint8_t *a, const uint8_t *b) {
  uint8_t equal;
  __asm__ volatile("mov ecx, 16\n\trepe cmpsb\n\tsete %0" : "=r"(equal), "+S"(a), "+D"(b)::"rcx", "cc", "memory");
  return !equal;
}
/* Constant as a comparison; then it looks up by the place of the first byte that differs. */
APART int place_of_difference(const uint8_t *a, const uint8_t *b) {
  unsigned bits = 0x10000;
  for (unsigned i = 0; i < 16; i++) bits |= (unsigned)(a[i] != b[i]) << i;
  sink = table[(unsigned)__builtin_ctz(bits) * 64];
  return bits != 0x10000;
}
