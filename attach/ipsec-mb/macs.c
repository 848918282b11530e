/* HMAC, CMAC and Poly1305, as jobs; GHASH by its function.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

#include <string.h>

enum { MOST_HASH_BLOCK = 128, MOST_DIGEST = 64 };

struct mac_state {
  IMB_MGR *mgr;
  DECLARE_ALIGNED(uint8_t inner[MOST_DIGEST], ALIGNMENT); /* the hash of the key's inner pad */
  DECLARE_ALIGNED(uint8_t outer[MOST_DIGEST], ALIGNMENT);
  DECLARE_ALIGNED(uint8_t key[32], ALIGNMENT);
  DECLARE_ALIGNED(uint8_t round_keys[15 * 16], ALIGNMENT);
  DECLARE_ALIGNED(uint8_t decrypt[15 * 16], ALIGNMENT); /* CMAC needs none, the call does */
  struct gcm_key_data ghash_key;
  uint8_t inner_pad[MOST_HASH_BLOCK], outer_pad[MOST_HASH_BLOCK];
  IMB_HASH_ALG hash;
  size_t key_len, tag_len;
};

static void digest(struct mac_state *s, const uint8_t *input, size_t len, uint8_t *tag) {
  switch (s->hash) {
  case IMB_AUTH_HMAC_SHA_1: IMB_SHA1(s->mgr, input, len, tag); break;
  case IMB_AUTH_HMAC_SHA_224: IMB_SHA224(s->mgr, input, len, tag); break;
  case IMB_AUTH_HMAC_SHA_256: IMB_SHA256(s->mgr, input, len, tag); break;
  case IMB_AUTH_HMAC_SHA_384: IMB_SHA384(s->mgr, input, len, tag); break;
  default: IMB_SHA512(s->mgr, input, len, tag); break;
  }
}

/* The library refuses jobs of no bytes; its hash functions do not. */
static int32_t empty_hmac(struct mac_state *s, uint8_t *tag) {
  const int wide = s->hash == IMB_AUTH_HMAC_SHA_384 || s->hash == IMB_AUTH_HMAC_SHA_512;
  const size_t block_len = wide ? IMB_SHA_512_BLOCK_SIZE : IMB_SHA_256_BLOCK_SIZE;
  uint8_t outer[MOST_HASH_BLOCK + MOST_DIGEST];
  memcpy(outer, s->outer_pad, block_len);
  digest(s, s->inner_pad, block_len, outer + block_len);
  digest(s, outer, block_len + s->tag_len, tag);
  return CM_OK;
}

static int32_t hmac_message(void *state, const cm_message *m) {
  struct mac_state *s = state;
  if (m->len == 0) return empty_hmac(s, m->tag);
  IMB_JOB *job = hash_job(s->mgr, s->hash, m->input, m->len, m->tag, s->tag_len);
  job->u.HMAC._hashed_auth_key_xor_ipad = s->inner;
  job->u.HMAC._hashed_auth_key_xor_opad = s->outer;
  return run(s->mgr, job);
}

static int32_t poly1305_message(void *state, const cm_message *m) {
  struct mac_state *s = state;
  IMB_JOB *job = hash_job(s->mgr, s->hash, m->input, m->len, m->tag, s->tag_len);
  job->u.POLY1305._key = s->key;
  return run(s->mgr, job);
}

/* `inner` and `outer` are the subkeys. */
static int32_t cmac_message(void *state, const cm_message *m) {
  struct mac_state *s = state;
  /* A message of no bytes needs an address, too. */
  const uint8_t *input = m->len != 0 ? m->input : s->inner;
  IMB_JOB *job = hash_job(s->mgr, s->hash, input, m->len, m->tag, s->tag_len);
  job->u.CMAC._key_expanded = s->round_keys;
  job->u.CMAC._skey1 = s->inner;
  job->u.CMAC._skey2 = s->outer;
  return run(s->mgr, job);
}

/* The function begins with what the tag holds. */
static int32_t ghash_message(void *state, const cm_message *m) {
  struct mac_state *s = state;
  memset(m->tag, 0, TAG_LEN);
  if (m->len != 0) IMB_GHASH(s->mgr, &s->ghash_key, m->input, m->len, m->tag, TAG_LEN);
  return CM_OK;
}

static void one_block(struct mac_state *s, const uint8_t *block, uint8_t *digest) {
  switch (s->hash) {
  case IMB_AUTH_HMAC_SHA_1: IMB_SHA1_ONE_BLOCK(s->mgr, block, digest); break;
  case IMB_AUTH_HMAC_SHA_224: IMB_SHA224_ONE_BLOCK(s->mgr, block, digest); break;
  case IMB_AUTH_HMAC_SHA_256: IMB_SHA256_ONE_BLOCK(s->mgr, block, digest); break;
  case IMB_AUTH_HMAC_SHA_384: IMB_SHA384_ONE_BLOCK(s->mgr, block, digest); break;
  default: IMB_SHA512_ONE_BLOCK(s->mgr, block, digest); break;
  }
}

/* Keys are never longer than a block here. */
static int32_t expand(void *state, const uint8_t *key) {
  struct mac_state *s = state;
  memset(s->inner_pad, 0x36, sizeof s->inner_pad);
  memset(s->outer_pad, 0x5c, sizeof s->outer_pad);
  for (size_t i = 0; i < s->key_len; i++) {
    s->inner_pad[i] ^= key[i];
    s->outer_pad[i] ^= key[i];
  }
  one_block(s, s->inner_pad, s->inner);
  one_block(s, s->outer_pad, s->outer);
  return CM_OK;
}

static int32_t take_key(void *state, const uint8_t *key) {
  struct mac_state *s = state;
  memcpy(s->key, key, sizeof s->key);
  return CM_OK;
}

static int32_t expand_cmac(void *state, const uint8_t *key) {
  struct mac_state *s = state;
  if (s->key_len == 16) {
    IMB_AES_KEYEXP_128(s->mgr, key, s->round_keys, s->decrypt);
    IMB_AES_CMAC_SUBKEY_GEN_128(s->mgr, s->round_keys, s->inner, s->outer);
  } else {
    IMB_AES_KEYEXP_256(s->mgr, key, s->round_keys, s->decrypt);
    IMB_AES_CMAC_SUBKEY_GEN_256(s->mgr, s->round_keys, s->inner, s->outer);
  }
  return CM_OK;
}

static int32_t expand_ghash(void *state, const uint8_t *key) {
  struct mac_state *s = state;
  IMB_GHASH_PRE(s->mgr, key, &s->ghash_key);
  return CM_OK;
}

static int32_t open_mac(const cm_request *r, cm_session *session) {
  struct mac_state *s = new_state(sizeof *s);
  if (s == NULL) return CM_FAILED;
  s->hash = (IMB_HASH_ALG)find_algorithm(r->algorithm)->number;
  s->key_len = r->key_len;
  s->tag_len = r->tag_len;
  session->state = s;
  session->call = JOB_CALLS;
  switch (s->hash) {
  case IMB_AUTH_POLY1305:
    session->rekey = take_key;
    session->rekey_call = "none: the key is an argument of each message";
    session->message = poly1305_message;
    break;
  case IMB_AUTH_GHASH:
    session->rekey = expand_ghash;
    session->rekey_call = "IMB_GHASH_PRE";
    session->message = ghash_message;
    session->call = "IMB_GHASH";
    break;
  case IMB_AUTH_AES_CMAC:
  case IMB_AUTH_AES_CMAC_256:
    session->rekey = expand_cmac;
    session->rekey_call = s->key_len == 16 ? "IMB_AES_KEYEXP_128, IMB_AES_CMAC_SUBKEY_GEN_128"
                                           : "IMB_AES_KEYEXP_256, IMB_AES_CMAC_SUBKEY_GEN_256";
    session->message = cmac_message;
    break;
  default:
    session->rekey = expand;
    session->rekey_call = "the hash's one-block function, twice";
    session->message = hmac_message;
  }
  return session->rekey(s, r->key);
}

const struct algorithm mac_algorithms[] = {
    {"hmac-sha1", open_mac, IMB_AUTH_HMAC_SHA_1},
    {"hmac-sha224", open_mac, IMB_AUTH_HMAC_SHA_224},
    {"hmac-sha256", open_mac, IMB_AUTH_HMAC_SHA_256},
    {"hmac-sha384", open_mac, IMB_AUTH_HMAC_SHA_384},
    {"hmac-sha512", open_mac, IMB_AUTH_HMAC_SHA_512},
    {"aes-128-cmac", open_mac, IMB_AUTH_AES_CMAC},
    {"aes-256-cmac", open_mac, IMB_AUTH_AES_CMAC_256},
    {"poly1305", open_mac, IMB_AUTH_POLY1305},
    {"ghash", open_mac, IMB_AUTH_GHASH},
    {NULL, NULL, 0},
};
