/* AES-128 (FIPS 197), counter mode (NIST SP 800-38A §6.5) and Galois/counter mode with 12-byte nonces and
 * 16-byte tags (NIST SP 800-38D), for the stand-in libraries: short, portable, right; neither fast nor
 * constant in time, and for nothing but tests.
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
  uint8_t s[AES_BLOCK], t[AES_BLOCK];
  for (int i = 0; i < AES_BLOCK; i++) s[i] = in[i] ^ key->round[0][i];
  for (int r = 1; r <= AES_ROUNDS; r++) {
    for (int i = 0; i < AES_BLOCK; i++) t[i] = box[s[(i + 4 * (i % 4)) % AES_BLOCK]];
    for (int c = 0; c < AES_BLOCK; c += 4) {
      uint8_t *column = t + c, first = column[0];
      uint8_t all = column[0] ^ column[1] ^ column[2] ^ column[3];
      for (int i = 0; r < AES_ROUNDS && i < 4; i++)
        column[i] ^= all ^ aes_double(column[i] ^ (i < 3 ? column[i + 1] : first));
    }
    for (int i = 0; i < AES_BLOCK; i++) s[i] = t[i] ^ key->round[r][i];
  }
  memcpy(out, s, AES_BLOCK);
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

/* One block into GHASH: (y ^ block) * h, bit by bit, NIST SP 800-38D §6.3. */
static void aes_ghash_block(aes_u128 *y, aes_u128 h, const uint8_t block[16]) {
  uint64_t x[2] = {y->high ^ aes_load(block), y->low ^ aes_load(block + 8)};
  aes_u128 z = {0, 0};
  for (int i = 0; i < 128; i++) {
    uint64_t bit = 0 - (x[i / 64] >> (63 - i % 64) & 1), carry = 0 - (h.low & 1);
    z.high ^= h.high & bit;
    z.low ^= h.low & bit;
    h.low = h.low >> 1 | h.high << 63;
    h.high = h.high >> 1 ^ (carry & (uint64_t)0xe1 << 56);
  }
  *y = z;
}

static void aes_ghash(aes_u128 *y, aes_u128 h, const uint8_t *bytes, size_t len) {
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
  aes_u128 h = {aes_load(block), aes_load(block + 8)}, y = {0, 0};
  aes_ghash(&y, h, aad, aad_len);
  aes_ghash(&y, h, ciphertext, len);
  aes_store(block, (uint64_t)aad_len * 8);
  aes_store(block + 8, (uint64_t)len * 8);
  aes_ghash_block(&y, h, block);
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
