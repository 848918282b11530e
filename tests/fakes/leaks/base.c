/* The library that the controls of secret-dependent execution are planted in: AES-128-CTR and AES-128-GCM by AES-NI
 * and PCLMULQDQ, right in everything, without a table, branch or length that depends on the key. What leaks, or looks
 * as if it did, comes from controls.c.
 *
 *     cc -c -fPIC -O2 -maes -mpclmul -mssse3 -I include -o base.o tests/fakes/leaks/base.c
 *     cc -shared -fPIC -O2 -masm=intel -DLEAK=sbox_table -o libleak.so base.o tests/fakes/leaks/controls.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../aes.h"
#include "base.h"
#include "ciphermark.h"
#include <stdlib.h>
#include <string.h>
#include <tmmintrin.h>
#include <wmmintrin.h>

#define APART __attribute__((noinline, noclone))

typedef struct state {
  aes_key key; /* the first round's is the key itself */
  aes_products products;
  __m128i h;
  int gcm, decrypts, tables, used;
} state;

/* FIPS 197 §5.2, words little-endian. */
APART static void expand(aes_key *key, const uint8_t bytes[16]) {
  uint32_t w[44], constant = 1;
  memcpy(w, bytes, 16);
  for (int i = 4; i < 44; i++) {
    uint32_t last = w[i - 1];
    if (i % 4 == 0) {
      last = substitute(last >> 8 | last << 24) ^ constant;
      constant = (constant << 1 ^ (constant >> 7) * 0x11b) & 0xff;
    }
    w[i] = w[i - 4] ^ last;
  }
  memcpy(key, w, sizeof w);
}

APART static void tables_encrypt(const aes_key *key, const uint8_t in[16], uint8_t out[16]) {
  aes_encrypt(key, in, out);
}

APART static void tables_ghash(aes_u128 *y, const aes_products *h, const uint8_t block[16]) {
  aes_ghash_block(y, h, block);
}

static __m128i load(const void *from) { return _mm_loadu_si128(from); }

APART static void encrypt(const state *s, const uint8_t in[16], uint8_t out[16]) {
  if (s->tables) {
    tables_encrypt(&s->key, in, out);
    return;
  }
  __m128i x = _mm_xor_si128(load(in), load(s->key.round[0]));
  for (int r = 1; r < AES_ROUNDS; r++) x = _mm_aesenc_si128(x, load(s->key.round[r]));
  _mm_storeu_si128((void *)out, _mm_aesenclast_si128(x, load(s->key.round[AES_ROUNDS])));
}

/* a * b in GHASH's field: NIST SP 800-38D §6.3; product of reflected numbers, shifted by one, then reduced. */
static __m128i times(__m128i a, __m128i b) {
  __m128i low = _mm_clmulepi64_si128(a, b, 0x00), high = _mm_clmulepi64_si128(a, b, 0x11);
  __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x10), _mm_clmulepi64_si128(a, b, 0x01));
  low = _mm_xor_si128(low, _mm_slli_si128(middle, 8));
  high = _mm_xor_si128(high, _mm_srli_si128(middle, 8));
  __m128i low_carry = _mm_srli_epi32(low, 31), high_carry = _mm_srli_epi32(high, 31);
  low = _mm_or_si128(_mm_slli_epi32(low, 1), _mm_slli_si128(low_carry, 4));
  high = _mm_or_si128(_mm_slli_epi32(high, 1), _mm_slli_si128(high_carry, 4));
  high = _mm_or_si128(high, _mm_srli_si128(low_carry, 12));
  __m128i t = _mm_xor_si128(_mm_xor_si128(_mm_slli_epi32(low, 31), _mm_slli_epi32(low, 30)), _mm_slli_epi32(low, 25));
  low = _mm_xor_si128(low, _mm_slli_si128(t, 12));
  __m128i u = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi32(low, 1), _mm_srli_epi32(low, 2)), _mm_srli_epi32(low, 7));
  return _mm_xor_si128(high, _mm_xor_si128(low, _mm_xor_si128(u, _mm_srli_si128(t, 4))));
}

static __m128i turned(__m128i x) {
  return _mm_shuffle_epi8(x, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* One block into the sum, which both ways keep as bytes. */
APART static void hash(const state *s, uint8_t sum[16], const uint8_t block[16]) {
  if (s->tables) {
    aes_u128 y = {aes_load(sum), aes_load(sum + 8)};
    tables_ghash(&y, &s->products, block);
    aes_store(sum, y.high), aes_store(sum + 8, y.low);
    return;
  }
  __m128i x = turned(_mm_xor_si128(load(sum), load(block)));
  _mm_storeu_si128((void *)sum, turned(times(x, s->h)));
}

static void hash_all(const state *s, uint8_t sum[16], const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i += AES_BLOCK) {
    uint8_t block[AES_BLOCK] = {0};
    memcpy(block, bytes + i, len - i < AES_BLOCK ? len - i : AES_BLOCK);
    hash(s, sum, block);
  }
}

static void set_key(state *s, const uint8_t *key) {
  uint8_t h[AES_BLOCK] = {0};
  expand(&s->key, key);
  encrypt(s, h, h);
  s->h = turned(load(h));
  if (s->tables) aes_multiples(&s->products, (aes_u128){aes_load(h), aes_load(h + 8)});
  s->used = 0;
  at(KEY_SET_UP, s->key.round[0]);
}

static void crypt(const state *s, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t len) {
  for (size_t i = 0; i < len; i += AES_BLOCK) {
    uint8_t stream[AES_BLOCK];
    encrypt(s, counter, stream);
    for (int b = AES_BLOCK - 1; b >= 0 && ++counter[b] == 0; b--) {}
    if (len - i >= AES_BLOCK) _mm_storeu_si128((void *)(out + i), _mm_xor_si128(load(in + i), load(stream)));
    else
      for (size_t k = 0; k < len - i; k++) out[i + k] = in[i + k] ^ stream[k];
  }
}

static void make_tag(const state *s, const cm_message *m, const uint8_t *ciphertext, uint8_t tag[16]) {
  uint8_t block[AES_BLOCK] = {0}, counter[AES_BLOCK] = {0};
  memset(tag, 0, AES_TAG);
  hash_all(s, tag, m->aad, m->aad_len);
  hash_all(s, tag, ciphertext, m->len);
  aes_store(block, (uint64_t)m->aad_len * 8), aes_store(block + 8, (uint64_t)m->len * 8);
  hash(s, tag, block);
  memcpy(counter, m->nonce, 12), counter[15] = 1;
  encrypt(s, counter, block);
  for (int i = 0; i < AES_TAG; i++) tag[i] ^= block[i];
}

static int32_t message(void *of, const cm_message *m) {
  state *s = of;
  const uint8_t *key = s->key.round[0];
  uint8_t counter[AES_BLOCK] = {0}, tag[AES_TAG];
  memcpy(counter, m->nonce, s->gcm ? 12 : 16);
  if (s->gcm) counter[15] = 2;
  if (s->used++ == 0) at(FIRST, key);
  if (m->len >= 128) at(WIDE, key);
  if (m->len % AES_BLOCK == 5) at(REMAINDER, key);
  at(s->decrypts ? DECRYPT : ENCRYPT, key);
  if (s->gcm && s->decrypts) {
    make_tag(s, m, m->input, tag);
    if (differs(tag, m->tag)) {
      at(REJECT, key);
      return CM_REJECTED;
    }
  }
  crypt(s, counter, m->input, m->output, m->len);
  if (s->gcm && !s->decrypts) make_tag(s, m, m->output, m->tag);
  return CM_OK;
}

static int32_t rekey(void *s, const uint8_t *key) {
  set_key(s, key);
  return CM_OK;
}

static int32_t open_session(const cm_request *r, cm_session *session, char *why, size_t why_len) {
  const int gcm = strcmp(r->algorithm, "aes-128-gcm") == 0;
  if (!gcm && strcmp(r->algorithm, "aes-128-ctr") != 0) {
    strncpy(why, "this library has aes-128-ctr and aes-128-gcm", why_len - 1);
    return CM_UNSUPPORTED;
  }
  state *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
  if (s == NULL) return CM_FAILED;
  memset(s, 0, sizeof *s);
  s->gcm = gcm, s->decrypts = r->direction == CM_DECRYPT, s->tables = by_tables();
  set_key(s, r->key);
  *session = (cm_session){.state = s, .flags = CM_IN_PLACE, .message = message, .close = free, .rekey = rekey};
  return CM_OK;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {CIPHERMARK_ABI, "control", "1", "a control of secret-dependent execution",
                                     open_session};
  return &adapter;
}
