/* Decapsulation of ML-KEM-768 (FIPS 203): -DDIFFER=NAME compares both ciphertexts, -DCHOOSE=NAME takes one of both
 * secrets. Numbers are kept below 3329. Made fast, because every instruction is stepped. */
#pragma GCC optimize("O3", "unroll-loops")
#define Q 3329
typedef uint32_t poly[256];

APART int differ_anywhere(const uint8_t *a, const uint8_t *b, size_t n) {
  uint32_t all = 0;
  for (size_t i = 0; i < n; i++) all |= a[i] ^ b[i];
  return (all + 255) >> 8;
}
APART int differ_early(const uint8_t *a, const uint8_t *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i]) return 1;
  return 0;
}
APART void choose_by_mask(uint8_t *to, const uint8_t *other, int refused) {
  for (int i = 0; i < 32; i++) to[i] ^= (to[i] ^ other[i]) & -refused;
}
APART void choose_by_branch(uint8_t *to, const uint8_t *other, int refused) {
  if (!refused) return;
  __asm__ volatile("" ::: "memory");
  memcpy(to, other, 32);
}
#ifndef DIFFER
#define DIFFER differ_anywhere
#endif
#ifndef CHOOSE
#define CHOOSE choose_by_mask
#endif

/* FIPS 202: one permutation and the sponge of one input and one output. */
static void keccak(uint64_t s[25]) {
  static const uint8_t rotations[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
  static const uint8_t lanes[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
  uint8_t lfsr = 1;
  for (int round = 0; round < 24; round++) {
    uint64_t c[5], t;
    for (int x = 0; x < 5; x++) c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
    for (int x = 0; x < 5; x++) {
      t = c[(x + 4) % 5] ^ (c[(x + 1) % 5] << 1 | c[(x + 1) % 5] >> 63);
      for (int y = 0; y < 25; y += 5) s[x + y] ^= t;
    }
    t = s[1];
    for (int i = 0; i < 24; i++) {
      uint64_t old = s[lanes[i]];
      s[lanes[i]] = t << rotations[i] | t >> (64 - rotations[i]);
      t = old;
    }
    for (int y = 0; y < 25; y += 5) {
      memcpy(c, s + y, sizeof c);
      for (int x = 0; x < 5; x++) s[x + y] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    for (int i = 0; i < 7; i++) {
      if (lfsr & 1) s[0] ^= 1ull << ((1 << i) - 1);
      lfsr = lfsr << 1 ^ (lfsr >> 7) * 0x71;
    }
  }
}
static void sponge(size_t rate, uint8_t suffix, const uint8_t *in, size_t n, uint8_t *out, size_t wanted) {
  union { uint64_t lanes[25]; uint8_t bytes[200]; } s = {{0}};
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    s.bytes[at++] ^= in[i];
    if (at == rate) keccak(s.lanes), at = 0;
  }
  s.bytes[at] ^= suffix, s.bytes[rate - 1] ^= 0x80;
  for (size_t i = 0; i < wanted; i++) {
    if (i % rate == 0) keccak(s.lanes);
    out[i] = s.bytes[i % rate];
  }
}

static uint32_t power17(int n) {
  uint32_t x = 1;
  while (n-- > 0) x = x * 17 % Q;
  return x;
}
static int reversed7(int i) {
  int r = 0;
  for (int b = 0; b < 7; b++) r |= (i >> b & 1) << (6 - b);
  return r;
}
static uint32_t zetas[128], gammas[128];
__attribute__((constructor)) static void fill(void) {
  for (int i = 0; i < 128; i++) zetas[i] = power17(reversed7(i)), gammas[i] = power17(2 * reversed7(i) + 1);
}
static void ntt(poly f) {
  int i = 1;
  for (int len = 128; len >= 2; len /= 2)
    for (int start = 0; start < 256; start += 2 * len, i++)
      for (int j = start; j < start + len; j++) {
        uint32_t t = zetas[i] * f[j + len] % Q;
        f[j + len] = (f[j] + Q - t) % Q, f[j] = (f[j] + t) % Q;
      }
}
static void ntt_back(poly f) {
  int i = 127;
  for (int len = 2; len <= 128; len *= 2)
    for (int start = 0; start < 256; start += 2 * len, i--)
      for (int j = start; j < start + len; j++) {
        uint32_t t = f[j];
        f[j] = (t + f[j + len]) % Q, f[j + len] = zetas[i] * (f[j + len] + Q - t) % Q;
      }
  for (int j = 0; j < 256; j++) f[j] = f[j] * 3303 % Q;
}
static void add_product(poly h, const poly f, const poly g) {
  for (int i = 0; i < 128; i++) {
    const uint32_t *a = f + 2 * i, *b = g + 2 * i;
    h[2 * i] = (h[2 * i] + a[0] * b[0] + a[1] * b[1] % Q * gammas[i]) % Q;
    h[2 * i + 1] = (h[2 * i + 1] + a[0] * b[1] + a[1] * b[0]) % Q;
  }
}
static void add(poly h, const poly f) {
  for (int i = 0; i < 256; i++) h[i] = (h[i] + f[i]) % Q;
}
static void unpack(poly f, const uint8_t *from, int bits) {
  for (int i = 0, at = 0; i < 256; i++, at += bits) {
    uint32_t x = 0;
    for (int b = 0; 8 * b < at % 8 + bits; b++) x |= (uint32_t)from[at / 8 + b] << 8 * b;
    f[i] = x >> at % 8 & ((1u << bits) - 1);
  }
}
static void compress(uint8_t *to, const poly f, int bits) {
  memset(to, 0, 32 * bits);
  for (int i = 0, at = 0; i < 256; i++, at += bits) {
    uint32_t x = ((f[i] << bits) + Q / 2) / Q & ((1u << bits) - 1);
    for (int b = 0; 8 * b < at % 8 + bits; b++) to[at / 8 + b] |= (x << at % 8) >> 8 * b;
  }
}
static void decompress(poly f, const uint8_t *from, int bits) {
  unpack(f, from, bits);
  for (int i = 0; i < 256; i++) f[i] = (f[i] * Q + (1 << (bits - 1))) >> bits;
}
/* An entry of the matrix: public. */
static void sample(poly f, const uint8_t *seed, int column, int row) {
  uint8_t in[34], out[168 * 4];
  memcpy(in, seed, 32), in[32] = column, in[33] = row;
  sponge(168, 0x1f, in, 34, out, sizeof out);
  for (int at = 0, n = 0; n < 256 && at < (int)sizeof out; at += 3) {
    uint32_t a = out[at] | (out[at + 1] & 15) << 8, b = out[at + 1] >> 4 | out[at + 2] << 4;
    if (a < Q) f[n++] = a;
    if (b < Q && n < 256) f[n++] = b;
  }
}
static void noise(poly f, const uint8_t *seed, int number) {
  uint8_t in[33], out[128];
  memcpy(in, seed, 32), in[32] = number;
  sponge(136, 0x1f, in, 33, out, 128);
  for (int i = 0; i < 256; i++) {
    uint32_t four = out[i / 2] >> 4 * (i % 2) & 15;
    f[i] = (Q + (four & 1) + (four >> 1 & 1) - (four >> 2 & 1) - (four >> 3)) % Q;
  }
}
static void encrypt(uint8_t *to, const uint8_t *public, const uint8_t *message, const uint8_t *seed) {
  poly y[3], t, u, v = {0}, e;
  for (int i = 0; i < 3; i++) noise(y[i], seed, i), ntt(y[i]);
  for (int i = 0; i < 3; i++) {
    memset(u, 0, sizeof u);
    for (int j = 0; j < 3; j++) sample(t, public + 1152, i, j), add_product(u, t, y[j]);
    ntt_back(u), noise(e, seed, 3 + i), add(u, e), compress(to + 320 * i, u, 10);
    unpack(t, public + 384 * i, 12), add_product(v, t, y[i]);
  }
  ntt_back(v), noise(e, seed, 6), add(v, e), decompress(e, message, 1), add(v, e), compress(to + 960, v, 4);
}
/* The key is s, t, the seed of the matrix, the digest of the latter two, and what refusals are made from. */
static void decapsulate(uint8_t to[32], const uint8_t *key, const uint8_t *ciphertext) {
  poly u, s, w = {0}, v;
  for (int i = 0; i < 3; i++) {
    decompress(u, ciphertext + 320 * i, 10), ntt(u), unpack(s, key + 384 * i, 12), add_product(w, s, u);
  }
  ntt_back(w), decompress(v, ciphertext + 960, 4);
  for (int i = 0; i < 256; i++) v[i] = (v[i] + Q - w[i]) % Q;
  uint8_t in[64], secrets[64], refusal[32 + 1088], other[32], again[1088];
  compress(in, v, 1), memcpy(in + 32, key + 2336, 32);
  sponge(72, 0x06, in, 64, secrets, 64);
  memcpy(refusal, key + 2368, 32), memcpy(refusal + 32, ciphertext, 1088);
  sponge(136, 0x1f, refusal, sizeof refusal, other, 32);
  encrypt(again, key + 1152, in, secrets + 32);
  memcpy(to, secrets, 32);
  CHOOSE(to, other, DIFFER(ciphertext, again, 1088));
}
