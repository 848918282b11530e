/* GNU Nettle behind ciphermark's adapter interface: AES-CBC, AES-GCM and ChaCha20-Poly1305.
 *
 *     cc -shared -fPIC -O2 -I include -o libnettle-adapter.so docs/examples/adapter.c -l:libnettle.so.8
 *     ciphermark verify -l nettle=./libnettle-adapter.so
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ciphermark.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What we use of Nettle, as nettle-meta.h, cbc.h, memops.h and version.h declare it: with nettle-dev
 * installed, include those instead. */
typedef void set_bytes(void *ctx, const uint8_t *bytes);
typedef void crypt_bytes(void *ctx, size_t len, uint8_t *dst, const uint8_t *src);
typedef void block_function(const void *ctx, size_t len, uint8_t *dst, const uint8_t *src);
struct nettle_cipher {
  const char *name;
  unsigned context_size, block_size, key_size;
  set_bytes *set_encrypt_key, *set_decrypt_key;
  block_function *encrypt, *decrypt;
};
struct nettle_aead {
  const char *name;
  unsigned context_size, block_size, key_size, nonce_size, digest_size;
  set_bytes *set_encrypt_key, *set_decrypt_key, *set_nonce;
  void (*update)(void *ctx, size_t len, const uint8_t *aad);
  crypt_bytes *encrypt, *decrypt;
  void (*digest)(void *ctx, size_t len, uint8_t *tag);
};
typedef void cbc_function(const void *ctx, block_function *f, size_t block_size, uint8_t *iv,
                          size_t len, uint8_t *dst, const uint8_t *src);
extern const struct nettle_cipher nettle_aes128, nettle_aes192, nettle_aes256;
extern const struct nettle_aead nettle_gcm_aes128, nettle_gcm_aes192, nettle_gcm_aes256,
    nettle_chacha_poly1305;
extern cbc_function nettle_cbc_encrypt, nettle_cbc_decrypt;
extern int nettle_memeql_sec(const void *a, const void *b, size_t len);
extern int nettle_version_major(void), nettle_version_minor(void);

static const struct algorithm {
  const char *name;
  const struct nettle_cipher *cipher; /* in CBC */
  const struct nettle_aead *aead;
} algorithms[] = {
    {"aes-128-cbc", &nettle_aes128, NULL},
    {"aes-192-cbc", &nettle_aes192, NULL},
    {"aes-256-cbc", &nettle_aes256, NULL},
    {"aes-128-gcm", NULL, &nettle_gcm_aes128},
    {"aes-192-gcm", NULL, &nettle_gcm_aes192},
    {"aes-256-gcm", NULL, &nettle_gcm_aes256},
    {"chacha20-poly1305", NULL, &nettle_chacha_poly1305},
};

/* A session. What can be decided before the first message is decided in `open`. */
enum { IV_LEN = 16, MOST_TAG_LEN = 16 };
struct state {
  const struct nettle_aead *aead;
  crypt_bytes *aead_crypt;
  cbc_function *cbc;
  block_function *block;
  int decrypts;
  size_t tag_len;
  uint8_t iv[IV_LEN]; /* of CBC: Nettle keeps it up to date from call to call */
  void *ctx;          /* Nettle's, with the key schedule */
};

/* The CBC stream: the IV outside the clock, then whole blocks. */
static int32_t cbc_start(void *state, const uint8_t *nonce) {
  memcpy(((struct state *)state)->iv, nonce, IV_LEN);
  return CM_OK;
}

static int32_t cbc_update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  struct state *s = state;
  if (len % IV_LEN != 0) return CM_FAILED; /* Nettle would abort() */
  s->cbc(s->ctx, s->block, IV_LEN, s->iv, len, output, input);
  return CM_OK;
}

static int32_t cbc_message(void *state, const cm_message *m) {
  cbc_start(state, m->nonce);
  return cbc_update(state, m->input, m->output, m->len);
}

/* The authenticated modes. Nettle makes tags and leaves comparing them to its callers. */
static int32_t aead_message(void *state, const cm_message *m) {
  struct state *s = state;
  s->aead->set_nonce(s->ctx, m->nonce);
  s->aead->update(s->ctx, m->aad_len, m->aad);
  s->aead_crypt(s->ctx, m->len, m->output, m->input);
  if (!s->decrypts) {
    s->aead->digest(s->ctx, s->tag_len, m->tag);
    return CM_OK;
  }
  uint8_t tag[MOST_TAG_LEN];
  s->aead->digest(s->ctx, s->tag_len, tag);
  return nettle_memeql_sec(tag, m->tag, s->tag_len) ? CM_OK : CM_REJECTED;
}

static void close_session(void *state) {
  free(((struct state *)state)->ctx);
  free(state);
}

static int32_t open_session(const cm_request *r, cm_session *session, char *why, size_t why_len) {
  const struct algorithm *a = NULL;
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
    if (strcmp(r->algorithm, algorithms[i].name) == 0) a = &algorithms[i];
  if (a == NULL) {
    snprintf(why, why_len, "this adapter has no %s", r->algorithm);
    return CM_UNSUPPORTED;
  }

  struct state *s = calloc(1, sizeof *s);
  void *ctx = calloc(1, a->aead != NULL ? a->aead->context_size : a->cipher->context_size);
  if (s == NULL || ctx == NULL) {
    free(s), free(ctx);
    snprintf(why, why_len, "out of memory");
    return CM_FAILED;
  }
  s->ctx = ctx;
  s->decrypts = r->direction == CM_DECRYPT;
  s->tag_len = r->tag_len;
  *session = (cm_session){.state = s, .flags = CM_IN_PLACE, .close = close_session};
  if (a->aead != NULL) {
    s->aead = a->aead;
    s->aead_crypt = s->decrypts ? a->aead->decrypt : a->aead->encrypt;
    (s->decrypts ? a->aead->set_decrypt_key : a->aead->set_encrypt_key)(ctx, r->key);
    session->message = aead_message;
    session->call = "set_nonce, update, encrypt or decrypt, digest of a struct nettle_aead";
  } else {
    s->cbc = s->decrypts ? nettle_cbc_decrypt : nettle_cbc_encrypt;
    s->block = s->decrypts ? a->cipher->decrypt : a->cipher->encrypt;
    (s->decrypts ? a->cipher->set_decrypt_key : a->cipher->set_encrypt_key)(ctx, r->key);
    session->message = cbc_message;
    session->call = s->decrypts ? "nettle_cbc_decrypt" : "nettle_cbc_encrypt";
    session->start = cbc_start;
    session->update = cbc_update;
  }
  return CM_OK;
}

const cm_adapter *ciphermark_adapter(void) {
  static char version[32];
  /* The version that is loaded, not the one that this file was compiled with. */
  snprintf(version, sizeof version, "%d.%d", nettle_version_major(), nettle_version_minor());
  static const cm_adapter adapter = {CIPHERMARK_ABI, "nettle", version,
                                     "adapter compiled by " __VERSION__, open_session};
  return &adapter;
}
