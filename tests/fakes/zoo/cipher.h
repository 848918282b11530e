/* What the zoo's libraries share, whatever interface they stand behind: AES-128 in counter mode and in
 * Galois/counter mode with 12-byte nonces and 16-byte tags, message by message, in parts. It is right in
 * everything but for the one fault that `faults.h` plants when its macro is defined, at these places:
 *
 *   ON_LOAD              a statement, when the object is loaded
 *   ON_KEY(c, key)       the key's copy, before it is used
 *   KNOWS_KEY(c, key)    whether its schedule is there already
 *   AFTER_KEY(c, key)    a statement, once its schedule is made
 *   ON_NONCE(c, nonce)   the nonce's copy (16 bytes), before it is used
 *   SKIPS(c, in, out, n) whether a part of the message is left undone, and called done
 *   BEFORE, AFTER(c, in, out, n)  statements around the work on a part
 *   CODE(c)              what a part returns that was done: 1, or another number for a failure
 *   TAKES_AAD(c)         whether associated data is looked at
 *   ON_TAG(c, tag)       the tag that was computed
 *   IS_KNOWN(c)          whether no tag is computed, because it is known to be right
 *   IS_FORGED(c)         likewise, because it is known to be wrong
 *   ACCEPTS(c, tag)      whether a tag is taken though it is wrong
 *   RETURNING(c)         a statement, last of all before a message's last call returns
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ZOO_CIPHER_H
#define ZOO_CIPHER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../timed.h"
#include "../aes.h"
#include <stdlib.h>
#if defined(__x86_64__)
#include <wmmintrin.h>
#endif

typedef struct zoo {
  int gcm, encrypts;
  aes_key key;
  aes_u128 table[256], hash; /* multiples of the hash key; the hash so far */
  uint8_t first[AES_BLOCK], counter[AES_BLOCK], stream[AES_BLOCK];
  uint8_t nonce[AES_BLOCK], part[AES_BLOCK];
  unsigned used, parted; /* bytes spent of `stream`, waiting in `part` */
  uint64_t aad_len, len;
  uint8_t expected[AES_TAG]; /* of a decryption */
  /* For the faults: calls on this context, and what it keeps from one message to the next. */
  uint64_t calls, messages;
  int remembered;
  uint8_t last[64];
  void *own;
} zoo;

#include "faults.h"

#ifndef ON_LOAD
#define ON_LOAD (void)0
#endif
#ifndef ON_KEY
#define ON_KEY(c, key) (void)0
#endif
#ifndef KNOWS_KEY
#define KNOWS_KEY(c, key) 0
#endif
#ifndef AFTER_KEY
#define AFTER_KEY(c, key) (void)0
#endif
#ifndef ON_NONCE
#define ON_NONCE(c, nonce) (void)0
#endif
#ifndef SKIPS
#define SKIPS(c, in, out, n) 0
#endif
#ifndef BEFORE
#define BEFORE(c, in, out, n) (void)0
#endif
#ifndef AFTER
#define AFTER(c, in, out, n) (void)0
#endif
#ifndef CODE
#define CODE(c) 1
#endif
#ifndef TAKES_AAD
#define TAKES_AAD(c) 1
#endif
#ifndef ON_TAG
#define ON_TAG(c, tag) (void)0
#endif
#ifndef IS_KNOWN
#define IS_KNOWN(c) 0
#endif
#ifndef IS_FORGED
#define IS_FORGED(c) 0
#endif
#ifndef RETURNING
#define RETURNING(c) (void)0
#endif
#ifndef ACCEPTS
#define ACCEPTS(c, tag) 0
#endif

__attribute__((constructor)) static void zoo_loaded(void) { ON_LOAD; }

#if defined(__x86_64__)
__attribute__((target("aes,sse2"))) static void zoo_encrypt_fast(const aes_key *key, const uint8_t in[16],
                                                                 uint8_t out[16]) {
  __m128i s = _mm_xor_si128(_mm_loadu_si128((const __m128i *)in),
                            _mm_loadu_si128((const __m128i *)key->round[0]));
  for (int r = 1; r < AES_ROUNDS; r++)
    s = _mm_aesenc_si128(s, _mm_loadu_si128((const __m128i *)key->round[r]));
  s = _mm_aesenclast_si128(s, _mm_loadu_si128((const __m128i *)key->round[AES_ROUNDS]));
  _mm_storeu_si128((__m128i *)out, s);
}
#endif

static void zoo_encrypt(const aes_key *key, const uint8_t in[16], uint8_t out[16]) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("aes")) {
    zoo_encrypt_fast(key, in, out);
    return;
  }
#endif
  aes_encrypt(key, in, out);
}

/* Times x, with the field's reduction (NIST SP 800-38D §6.3). */
static aes_u128 zoo_times_x(aes_u128 v) {
  uint64_t carry = 0 - (v.low & 1);
  v.low = v.low >> 1 | v.high << 63;
  v.high = v.high >> 1 ^ (carry & (uint64_t)0xe1 << 56);
  return v;
}

/* What the lowest byte becomes when everything moves on by x^8. */
static const uint64_t *zoo_reductions(void) {
  static uint64_t reductions[256];
  if (reductions[1] == 0)
    for (unsigned n = 0; n < 256; n++) {
      aes_u128 v = {0, n};
      for (int i = 0; i < 8; i++) v = zoo_times_x(v);
      reductions[n] = v.high;
    }
  return reductions;
}

static void zoo_schedule(zoo *c, const uint8_t key[16]) {
  uint8_t h[AES_BLOCK] = {0};
  aes_set_key(&c->key, key);
  zoo_encrypt(&c->key, h, h);
  c->table[0x80] = (aes_u128){aes_load(h), aes_load(h + 8)};
  for (unsigned bit = 0x40; bit > 0; bit >>= 1) c->table[bit] = zoo_times_x(c->table[bit << 1]);
  for (unsigned bit = 2; bit < 256; bit <<= 1)
    for (unsigned low = 1; low < bit; low++)
      c->table[bit + low] = (aes_u128){c->table[bit].high ^ c->table[low].high,
                                       c->table[bit].low ^ c->table[low].low};
}

static void zoo_set_key(zoo *c, const uint8_t *bytes) {
  uint8_t key[AES_BLOCK];
  memcpy(key, bytes, AES_BLOCK);
  ON_KEY(c, key);
  if (KNOWS_KEY(c, key)) return;
  zoo_schedule(c, key);
  AFTER_KEY(c, key);
}
#ifdef REMEMBERS_KEYS
static void make_schedule(zoo *c, const uint8_t *key) { zoo_schedule(c, key); }
#endif

static void zoo_hash_block(zoo *c, const uint8_t block[16]) {
  const uint64_t *reductions = zoo_reductions();
  uint8_t y[AES_BLOCK];
  aes_u128 z = {0, 0};
  aes_store(y, c->hash.high);
  aes_store(y + 8, c->hash.low);
  for (int i = AES_BLOCK - 1; i >= 0; i--) {
    uint64_t over = reductions[z.low & 0xff];
    aes_u128 t = c->table[y[i] ^ block[i]];
    z.low = (z.low >> 8 | z.high << 56) ^ t.low;
    z.high = z.high >> 8 ^ over ^ t.high;
  }
  c->hash = z;
}

/* The rest of a block, filled up with zeroes. */
static void zoo_hash_rest(zoo *c) {
  if (c->parted == 0) return;
  memset(c->part + c->parted, 0, AES_BLOCK - c->parted);
  zoo_hash_block(c, c->part);
  c->parted = 0;
}

static void zoo_hash(zoo *c, const uint8_t *bytes, size_t n) {
  for (; n > 0 && c->parted > 0; n--) {
    c->part[c->parted++] = *bytes++;
    if (c->parted == AES_BLOCK) zoo_hash_rest(c);
  }
  for (; n >= AES_BLOCK; n -= AES_BLOCK, bytes += AES_BLOCK) zoo_hash_block(c, bytes);
  memcpy(c->part, bytes, n);
  c->parted = (unsigned)n;
}

/* A new message. */
static void zoo_begin(zoo *c, const uint8_t *nonce) {
  memset(c->nonce, 0, AES_BLOCK);
  memcpy(c->nonce, nonce, c->gcm ? 12 : AES_BLOCK);
  ON_NONCE(c, c->nonce);
  memcpy(c->first, c->nonce, AES_BLOCK);
  if (c->gcm) memcpy(c->first + 12, "\0\0\0\1", 4);
  memcpy(c->counter, c->first, AES_BLOCK);
  if (c->gcm) c->counter[15] = 2;
  c->hash = (aes_u128){0, 0};
  c->used = AES_BLOCK;
  c->parted = 0;
  c->aad_len = c->len = 0;
  c->messages++;
}

static void zoo_aad(zoo *c, const uint8_t *aad, size_t n) {
  if (!TAKES_AAD(c)) return;
  zoo_hash(c, aad, n);
  c->aad_len += n;
}

static void zoo_crypt(zoo *c, const uint8_t *in, uint8_t *out, size_t n) {
  for (size_t i = 0; i < n;) {
    if (c->used == AES_BLOCK) {
      zoo_encrypt(&c->key, c->counter, c->stream);
      for (int b = AES_BLOCK - 1; b >= 0 && ++c->counter[b] == 0; b--) {}
      c->used = 0;
    }
    if (c->used == 0 && n - i >= AES_BLOCK) {
      uint64_t a[2], s[2];
      memcpy(a, in + i, AES_BLOCK), memcpy(s, c->stream, AES_BLOCK);
      a[0] ^= s[0], a[1] ^= s[1];
      memcpy(out + i, a, AES_BLOCK);
      c->used = AES_BLOCK, i += AES_BLOCK;
    } else {
      out[i] = in[i] ^ c->stream[c->used++], i++;
    }
  }
}

#ifdef WORKS_AHEAD
static void make_streams(zoo *c, size_t n) {
  static const uint8_t nothing[LONGEST_STREAM];
  zoo ahead = *c;
  uint64_t number;
  memcpy(&number, c->nonce, 8);
  for (unsigned i = 0; i < STREAMS; i++, number++) {
    struct ready_stream *r = &ready[number % STREAMS];
    memcpy(ahead.counter, c->nonce, AES_BLOCK), memcpy(ahead.counter, &number, 8);
    memcpy(r->nonce, ahead.counter, AES_BLOCK);
    ahead.used = AES_BLOCK;
    zoo_crypt(&ahead, nothing, r->bytes, n);
    r->len = n;
  }
  owner = c;
}
#endif

/* A part of the message; 1 when it is done. */
static int zoo_part(zoo *c, const uint8_t *in, uint8_t *out, size_t n) {
  c->calls++;
  if (SKIPS(c, in, out, n)) {
    c->len += n;
    return 1;
  }
  BEFORE(c, in, out, n);
  if (c->len == 0) zoo_hash_rest(c);
  if (c->gcm && !c->encrypts) zoo_hash(c, in, n);
  zoo_crypt(c, in, out, n);
  AFTER(c, in, out, n);
  if (c->gcm && c->encrypts) zoo_hash(c, out, n);
  c->len += n;
  return CODE(c);
}

/* The message is done, but for a tag. */
static void zoo_end(zoo *c) {
  (void)c;
  RETURNING(c);
}

static void zoo_tag(zoo *c, uint8_t tag[16]) {
  uint8_t block[AES_BLOCK];
  zoo_hash_rest(c);
  aes_store(block, c->aad_len * 8);
  aes_store(block + 8, c->len * 8);
  zoo_hash_block(c, block);
  zoo_encrypt(&c->key, c->first, block);
  aes_store(tag, c->hash.high ^ aes_load(block));
  aes_store(tag + 8, c->hash.low ^ aes_load(block + 8));
  ON_TAG(c, tag);
}

/* Whether the expected tag is the message's. */
static int zoo_is_authentic(zoo *c) {
  uint8_t tag[AES_TAG];
  if (IS_KNOWN(c)) return 1;
  if (IS_FORGED(c)) return 0;
  zoo_tag(c, tag);
  return memcmp(tag, c->expected, AES_TAG) == 0 || ACCEPTS(c, tag);
}

#endif
