/* Algorithms that ciphermark does not know, behind its adapter interface: an AEAD and a digest.
 * TOYS: they protect nothing. They show how an algorithm of your own is measured.
 *
 *     cc -shared -fPIC -O2 -I include -o libtoys.so docs/examples/own-algorithms.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ciphermark.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two words that every byte goes through: the digest; after a key the AEAD's MAC and key stream. */
typedef struct { uint64_t a, b; } toy;
static uint8_t mix(toy *t, uint8_t byte) {
  t->a = (t->a ^ byte) * 0x9e3779b97f4a7c15u;
  t->b = (t->b + (t->a ^ t->a >> 29)) * 0xc2b2ae3d27d4eb4fu;
  t->a ^= t->b >> 31;
  return (uint8_t)(t->a ^ t->b >> 32);
}
static void mix_all(toy *t, const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) mix(t, bytes[i]);
  for (int i = 0; i < 8; i++) mix(t, (uint8_t)((uint64_t)len >> 8 * i));
}
static void end(toy t, uint8_t tag[16]) { for (int i = 0; i < 16; i++) tag[i] = mix(&t, (uint8_t)i); }

static int32_t digest(void *state, const cm_message *m) {
  (void)state;
  toy t = {1, 2};
  mix_all(&t, m->input, m->len);
  end(t, m->tag);
  return CM_OK;
}

/* Encrypt, then MAC over associated data and ciphertext. */
struct state { toy keyed; int decrypts; };
static int32_t aead(void *state, const cm_message *m) {
  const struct state *s = state;
  uint8_t tag[16], wrong = 0;
  toy stream = s->keyed;
  mix_all(&stream, m->nonce, 12);
  toy mac = stream;
  mix_all(&mac, m->aad, m->aad_len);
  if (s->decrypts) mix_all(&mac, m->input, m->len);
  for (size_t i = 0; i < m->len; i++) m->output[i] = m->input[i] ^ mix(&stream, 0);
  if (!s->decrypts) mix_all(&mac, m->output, m->len);
  end(mac, s->decrypts ? tag : m->tag);
  for (size_t i = 0; s->decrypts && i < sizeof tag; i++) wrong |= tag[i] ^ m->tag[i];
  return wrong ? CM_REJECTED : CM_OK;
}

static int32_t open(const cm_request *r, cm_session *session, char *why, size_t why_len) {
  int is_digest = !strcmp(r->algorithm, "toy-digest");
  if (!is_digest && strcmp(r->algorithm, "toy-aead")) return snprintf(why, why_len, "no toy"), CM_UNSUPPORTED;
  struct state *s = malloc(sizeof *s);
  if (!s) return CM_FAILED;
  *s = (struct state){{3, 4}, r->direction == CM_DECRYPT};
  mix_all(&s->keyed, r->key, r->key_len);
  *session = (cm_session){
      .state = s, .flags = CM_IN_PLACE, .message = is_digest ? digest : aead, .close = free};
  return CM_OK;
}

static const cm_vector aead_vector = {
    .key = "0123456789abcdef", .nonce = "nonce of 12.", .aad = "seen", .aad_len = 4, .input = "hidden", .len = 6,
    .output = "\223\205\204\207\026\010", .tag = "\061\172\112\066\327\233\112\257\361\352\144\035\101\251\032\117"};
static const cm_vector digest_vector = {
    .input = "abc", .len = 3, .tag = "\314\061\060\340\261\264\034\124\120\303\336\030\224\107\230\074"};
const cm_algorithm *ciphermark_algorithms_1(size_t *count) {
  static const cm_algorithm brought[] = {
      {"toy-aead", "toys", CM_AEAD, 16, 12, 16, .vectors = &aead_vector, .vector_count = 1},
      {"toy-digest", "toys", CM_HASH, 0, 0, 16, .vectors = &digest_vector, .vector_count = 1}};
  *count = 2;
  return brought;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter toys = {CIPHERMARK_ABI, "toys", "1.0", NULL, open};
  return &toys;
}
