/* X25519 (RFC 7748) by the standard's ladder: -DSWAP=NAME exchanges the two points, -DBIT=NAME takes a bit of the
 * scalar. Numbers modulo 2^255 - 19 are five words of 51 bits. */
typedef uint64_t fe[5];
#define LOW51 ((1ull << 51) - 1)

APART void swap_by_mask(fe a, fe b, uint64_t bit) {
  for (int i = 0; i < 5; i++) {
    uint64_t t = (a[i] ^ b[i]) & -bit;
    a[i] ^= t, b[i] ^= t;
  }
}
APART void swap_by_branch(fe a, fe b, uint64_t bit) {
  if (bit == 0) return;
  __asm__ volatile("" ::: "memory");
  for (int i = 0; i < 5; i++) {
    uint64_t t = a[i];
    a[i] = b[i], b[i] = t;
  }
}
APART uint64_t bit_by_shift(const uint8_t *k, int t) { return k[t >> 3] >> (t & 7) & 1; }
APART uint64_t bit_by_digit(const uint8_t *k, int t) {
  static const uint8_t digits[16][4] = {
    {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0},
    {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
  return digits[k[t >> 3] >> (t & 4) & 15][t & 3];
}
#ifndef SWAP
#define SWAP swap_by_mask
#endif
#ifndef BIT
#define BIT bit_by_shift
#endif

APART void fe_mul(fe h, const fe f, const fe g) {
  unsigned __int128 t[5] = {0};
  /* Else a step-by-step recording takes minutes. */
  _Pragma("GCC unroll 5") for (int i = 0; i < 5; i++)
    _Pragma("GCC unroll 5") for (int j = 0; j < 5; j++) t[(i + j) % 5] += (unsigned __int128)f[i] * (i + j < 5 ? g[j] : 19 * g[j]);
  uint64_t carry = 0;
  _Pragma("GCC unroll 5") for (int i = 0; i < 5; i++) {
    t[i] += carry;
    h[i] = (uint64_t)t[i] & LOW51;
    carry = (uint64_t)(t[i] >> 51);
  }
  h[0] += 19 * carry;
  h[1] += h[0] >> 51;
  h[0] &= LOW51;
}
static void fe_add(fe h, const fe f, const fe g) {
  _Pragma("GCC unroll 5") for (int i = 0; i < 5; i++) h[i] = f[i] + g[i];
}
static void fe_sub(fe h, const fe f, const fe g) {
  _Pragma("GCC unroll 5") for (int i = 0; i < 5; i++) h[i] = f[i] + (i ? 0xffffffffffffe : 0xfffffffffffda) - g[i];
}
/* To the power of 2^255 - 21. */
static void fe_invert(fe h, const fe f) {
  fe x;
  memcpy(x, f, sizeof x);
  for (int i = 253; i >= 0; i--) {
    fe_mul(x, x, x);
    if (i > 4 || (11 >> i & 1)) fe_mul(x, x, f);
  }
  memcpy(h, x, sizeof x);
}
static void fe_write(uint8_t to[32], fe f) {
  for (int round = 0; round < 2; round++) {
    uint64_t carry = 0;
    for (int i = 0; i < 5; i++) f[i] += carry, carry = f[i] >> 51, f[i] &= LOW51;
    f[0] += 19 * carry;
  }
  uint64_t above = (f[0] + 19) >> 51;
  for (int i = 1; i < 5; i++) above = (f[i] + above) >> 51;
  f[0] += 19 * above;
  for (int i = 0; i < 4; i++) f[i + 1] += f[i] >> 51, f[i] &= LOW51;
  f[4] &= LOW51;
  memset(to, 0, 32);
  for (int bit = 0; bit < 255; bit++) to[bit / 8] |= (f[bit / 51] >> (bit % 51) & 1) << (bit % 8);
}
static void fe_read(fe f, const uint8_t from[32]) {
  memset(f, 0, sizeof(fe));
  for (int bit = 0; bit < 255; bit++) f[bit / 51] |= (uint64_t)(from[bit / 8] >> (bit % 8) & 1) << (bit % 51);
}

static void x25519(uint8_t to[32], const uint8_t scalar[32], const uint8_t point[32]) {
  static const fe a24 = {121665};
  uint8_t k[32];
  memcpy(k, scalar, 32);
  k[0] &= 248, k[31] &= 127, k[31] |= 64;
  fe x1, x2 = {1}, z2 = {0}, x3, z3 = {1}, a, aa, b, bb, e, c, d;
  fe_read(x1, point);
  memcpy(x3, x1, sizeof x1);
  uint64_t swap = 0;
  for (int t = 254; t >= 0; t--) {
    uint64_t bit = BIT(k, t);
    SWAP(x2, x3, swap ^ bit), SWAP(z2, z3, swap ^ bit);
    swap = bit;
    fe_add(a, x2, z2), fe_sub(b, x2, z2), fe_add(c, x3, z3), fe_sub(d, x3, z3);
    fe_mul(aa, a, a), fe_mul(bb, b, b), fe_mul(d, d, a), fe_mul(c, c, b);
    fe_sub(e, aa, bb);
    fe_add(x3, d, c), fe_mul(x3, x3, x3);
    fe_sub(z3, d, c), fe_mul(z3, z3, z3), fe_mul(z3, z3, x1);
    fe_mul(x2, aa, bb);
    fe_mul(c, e, a24), fe_add(c, c, aa), fe_mul(z2, e, c);
  }
  SWAP(x2, x3, swap), SWAP(z2, z3, swap);
  fe_invert(z2, z2), fe_mul(x2, x2, z2), fe_write(to, x2);
}
