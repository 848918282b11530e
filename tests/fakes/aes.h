/* AES-128 (FIPS 197), counter mode (NIST SP 800-38A §6.5) and Galois/counter mode with 12-byte nonces and
 * 16-byte tags (NIST SP 800-38D), for the stand-in libraries: short, portable, right, by tables, so that tests do
 * not wait for it; not constant in time, and for nothing but tests.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FAKES_AES_H
#define FAKES_AES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AES_BLOCK = 16, AES_ROUNDS = 10, AES_TAG = 16 };

typedef struct aes_key {
  uint8_t round[AES_ROUNDS + 1][AES_BLOCK];
} aes_key;

/* Counter, and the key stream of the block that it is in. */
typedef struct aes_ctr {
  uint8_t counter[AES_BLOCK], stream[AES_BLOCK];
  unsigned used; /* bytes of `stream` that are spent */
} aes_ctr;

/* Times x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, FIPS 197 §4.2.1. */
static inline uint8_t aes_double(uint8_t a) { return (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0)); }

/* The S-box, FIPS 197 §5.1.1, by walking the powers of 3 and of its inverse side by side. */
static const uint8_t *aes_sbox(void) {
  static uint8_t box[256];
  if (box[0] != 0x63) {
    uint8_t p = 1, q = 1;
    do {
      p ^= aes_double(p);
      q ^= (uint8_t)(q << 1);
      q ^= (uint8_t)(q << 2);
      q ^= (uint8_t)(q << 4);
      if (q & 0x80) q ^= 0x09;
      unsigned twice = q | (unsigned)q << 8;
      box[p] = (uint8_t)(0x63 ^ q ^ twice >> 7 ^ twice >> 6 ^ twice >> 5 ^ twice >> 4);
    } while (p != 1);
    box[0] = 0x63;
  }
  return box;
}

/* What a byte of the state's first row adds to its column: substituted, times (2, 1, 1, 3), FIPS 197 §5.1.3. Other
 * rows add the same, turned. */
static const uint32_t *aes_columns(void) {
  static uint32_t columns[256];
  if (columns[0] != 0xc66363a5) {
    const uint8_t *box = aes_sbox();
    for (int i = 255; i >= 0; i--) {
      uint8_t once = box[i], twice = aes_double(once);
      columns[i] = (uint32_t)twice << 24 | (uint32_t)once << 16 | (uint32_t)once << 8 | (uint32_t)(once ^ twice);
    }
  }
  return columns;
}

static inline uint32_t aes_turn(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static inline uint32_t aes_load32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void aes_store32(uint8_t *p, uint32_t n) {
  for (int i = 3; i >= 0; i--, n >>= 8) p[i] = (uint8_t)n;
}

/* Each byte of a word through the S-box. */
static inline uint32_t aes_substitute(const uint8_t *box, uint32_t n) {
  return (uint32_t)box[n >> 24] << 24 | (uint32_t)box[n >> 16 & 255] << 16 | (uint32_t)box[n >> 8 & 255] << 8 |
         box[n & 255];
}

static void aes_set_key(aes_key *key, const uint8_t bytes[16]) {
  const uint8_t *box = aes_sbox();
  uint8_t constant = 1;
  memcpy(key->round[0], bytes, AES_BLOCK);
  for (int r = 1; r <= AES_ROUNDS; r++, constant = aes_double(constant)) {
    const uint8_t *last = key->round[r - 1];
    uint8_t *next = key->round[r];
    for (int i = 0; i < 4; i++) next[i] = last[i] ^ box[last[12 + (i + 1) % 4]];
    next[0] ^= constant;
    for (int i = 4; i < AES_BLOCK; i++) next[i] = last[i] ^ next[i - 4];
  }
}

static void aes_encrypt(const aes_key *key, const uint8_t in[16], uint8_t out[16]) {
  const uint8_t *box = aes_sbox();
  const uint32_t *columns = aes_columns();
  uint32_t s[4], t[4];
  for (int c = 0; c < 4; c++) s[c] = aes_load32(in + 4 * c) ^ aes_load32(key->round[0] + 4 * c);
  for (int r = 1; r < AES_ROUNDS; r++) {
    for (int c = 0; c < 4; c++)
      t[c] = columns[s[c] >> 24] ^ aes_turn(columns[s[(c + 1) % 4] >> 16 & 255], 8) ^
             aes_turn(columns[s[(c + 2) % 4] >> 8 & 255], 16) ^ aes_turn(columns[s[(c + 3) % 4] & 255], 24) ^
             aes_load32(key->round[r] + 4 * c);
    memcpy(s, t, sizeof s);
  }
  for (int c = 0; c < 4; c++) {
    uint32_t shifted = (s[c] & 0xff000000) | (s[(c + 1) % 4] & 0xff0000) | (s[(c + 2) % 4] & 0xff00) |
                       (s[(c + 3) % 4] & 0xff);
    aes_store32(out + 4 * c, aes_substitute(box, shifted) ^ aes_load32(key->round[AES_ROUNDS] + 4 * c));
  }
}

static void aes_ctr_start(aes_ctr *ctr, const uint8_t counter[16]) {
  memcpy(ctr->counter, counter, AES_BLOCK);
  ctr->used = AES_BLOCK;
}

/* The whole block counts, big-endian; GCM counts the last 32 bits only, which is the same up to
 * 2^32 blocks from its start at 1. */
static void aes_ctr_update(const aes_key *key, aes_ctr *ctr, const uint8_t *in, uint8_t *out, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (ctr->used == AES_BLOCK) {
      aes_encrypt(key, ctr->counter, ctr->stream);
      for (int b = AES_BLOCK - 1; b >= 0 && ++ctr->counter[b] == 0; b--) {}
      ctr->used = 0;
    }
    out[i] = in[i] ^ ctr->stream[ctr->used++];
  }
}

typedef struct aes_u128 {
  uint64_t high, low;
} aes_u128;

static inline uint64_t aes_load(const uint8_t *p) {
  uint64_t n = 0;
  for (int i = 0; i < 8; i++) n = n << 8 | p[i];
  return n;
}

static inline void aes_store(uint8_t *p, uint64_t n) {
  for (int i = 7; i >= 0; i--, n >>= 8) p[i] = (uint8_t)n;
}

/* Times x in GHASH's field, whose bits are reflected: NIST SP 800-38D §6.3. */
static inline aes_u128 aes_times_x(aes_u128 n) {
  uint64_t carry = 0 - (n.low & 1);
  return (aes_u128){n.high >> 1 ^ (carry & (uint64_t)0xe1 << 56), n.low >> 1 | n.high << 63};
}

/* The products of h and every four bits, of which the highest is the lowest power. */
typedef struct aes_products {
  aes_u128 of[16];
} aes_products;

static void aes_multiples(aes_products *products, aes_u128 h) {
  memset(products, 0, sizeof *products);
  for (int bit = 8; bit > 0; bit >>= 1, h = aes_times_x(h))
    for (int i = 0; i < 16; i++)
      if (i & bit) {
        products->of[i].high ^= h.high;
        products->of[i].low ^= h.low;
      }
}

/* What the four bits that a shift by four loses come back as. */
static const uint64_t *aes_remainders(void) {
  static uint64_t remainders[16];
  if (remainders[1] == 0)
    for (int i = 15; i >= 0; i--) {
      aes_u128 n = {0, (uint64_t)i};
      for (int bit = 0; bit < 4; bit++) n = aes_times_x(n);
      remainders[i] = n.high;
    }
  return remainders;
}

/* One block into GHASH: (y ^ block) * h, four bits at a time. */
static void aes_ghash_block(aes_u128 *y, const aes_products *h, const uint8_t block[16]) {
  const uint64_t *remainders = aes_remainders();
  uint64_t x[2] = {y->high ^ aes_load(block), y->low ^ aes_load(block + 8)};
  aes_u128 z = {0, 0};
  for (int i = 31; i >= 0; i--) {
    const aes_u128 *product = &h->of[x[i / 16] >> (60 - i % 16 * 4) & 15];
    uint64_t lost = remainders[z.low & 15];
    z.low = (z.low >> 4 | z.high << 60) ^ product->low;
    z.high = z.high >> 4 ^ lost ^ product->high;
  }
  *y = z;
}

static void aes_ghash(aes_u128 *y, const aes_products *h, const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i += AES_BLOCK) {
    uint8_t block[AES_BLOCK] = {0};
    memcpy(block, bytes + i, len - i < AES_BLOCK ? len - i : AES_BLOCK);
    aes_ghash_block(y, h, block);
  }
}

/* The tag over associated data and ciphertext. */
static void aes_gcm_tag(const aes_key *key, const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
                        const uint8_t *ciphertext, size_t len, uint8_t tag[16]) {
  uint8_t block[AES_BLOCK] = {0};
  aes_encrypt(key, block, block);
  aes_u128 y = {0, 0};
  aes_products h;
  aes_multiples(&h, (aes_u128){aes_load(block), aes_load(block + 8)});
  aes_ghash(&y, &h, aad, aad_len);
  aes_ghash(&y, &h, ciphertext, len);
  aes_store(block, (uint64_t)aad_len * 8);
  aes_store(block + 8, (uint64_t)len * 8);
  aes_ghash_block(&y, &h, block);
  memcpy(block, nonce, 12);
  memcpy(block + 12, "\0\0\0\1", 4);
  aes_encrypt(key, block, block);
  aes_store(tag, y.high ^ aes_load(block));
  aes_store(tag + 8, y.low ^ aes_load(block + 8));
}

/* Encryption and decryption are the same: the counter begins at 2. */
static void aes_gcm_crypt(const aes_key *key, const uint8_t nonce[12], const uint8_t *in, uint8_t *out,
                          size_t len) {
  aes_ctr ctr;
  uint8_t counter[AES_BLOCK];
  memcpy(counter, nonce, 12);
  memcpy(counter + 12, "\0\0\0\2", 4);
  aes_ctr_start(&ctr, counter);
  aes_ctr_update(key, &ctr, in, out, len);
}

#endif
