/* CCM, ChaCha20-Poly1305 and SM4-GCM, as jobs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

#include <string.h>

struct aead_state {
  IMB_MGR *mgr;
  DECLARE_ALIGNED(uint8_t encrypt[15 * 16], ALIGNMENT);
  DECLARE_ALIGNED(uint8_t decrypt[15 * 16], ALIGNMENT); /* CCM needs none, the call does */
  DECLARE_ALIGNED(uint8_t key[32], ALIGNMENT);
#if HAS_2_0
  struct gcm_key_data gcm_key;
#endif
  uint32_t direction;
  size_t key_len, tag_len;
};

static IMB_JOB *filled(struct aead_state *s, const cm_message *m, IMB_CIPHER_MODE mode,
                       IMB_HASH_ALG hash, uint8_t *tag) {
  IMB_JOB *job = cipher_job(s->mgr, mode, s->direction);
  job->hash_alg = hash;
  job->key_len_in_bytes = s->key_len;
  job->src = m->input;
  job->dst = m->output;
  job->msg_len_to_cipher_in_bytes = m->len;
  job->hash_start_src_offset_in_bytes = 0;
  job->msg_len_to_hash_in_bytes = m->len;
  job->iv = m->nonce;
  job->iv_len_in_bytes = NONCE_LEN;
  job->auth_tag_output = tag;
  job->auth_tag_output_len_in_bytes = s->tag_len;
  return job;
}

/* Runs the job and, decrypting, compares the tag that it made with the one that came. */
static int32_t finished(struct aead_state *s, const cm_message *m, IMB_JOB *job,
                        const uint8_t *made) {
  const int32_t code = run(s->mgr, job);
  if (code != CM_OK || s->direction == CM_ENCRYPT) return code;
  return compared(made, m->tag, s->tag_len);
}

static int32_t ccm_message(void *state, const cm_message *m) {
  struct aead_state *s = state;
  uint8_t made[TAG_LEN];
  uint8_t *tag = s->direction == CM_ENCRYPT ? m->tag : made;
  IMB_JOB *job = filled(s, m, IMB_CIPHER_CCM, IMB_AUTH_AES_CCM, tag);
  /* The tag is over the plaintext: CCM's order is the other way round. */
  job->chain_order =
      s->direction == CM_ENCRYPT ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
  job->enc_keys = s->encrypt;
  job->dec_keys = s->encrypt;
  job->u.CCM.aad = m->aad;
  job->u.CCM.aad_len_in_bytes = m->aad_len;
  return finished(s, m, job, made);
}

static int32_t chacha_message(void *state, const cm_message *m) {
  struct aead_state *s = state;
  uint8_t made[TAG_LEN];
  uint8_t *tag = s->direction == CM_ENCRYPT ? m->tag : made;
  IMB_JOB *job =
      filled(s, m, IMB_CIPHER_CHACHA20_POLY1305, IMB_AUTH_CHACHA20_POLY1305, tag);
  job->enc_keys = s->key;
  job->dec_keys = s->key;
  job->u.CHACHA20_POLY1305.aad = m->aad;
  job->u.CHACHA20_POLY1305.aad_len_in_bytes = m->aad_len;
  return finished(s, m, job, made);
}

#if HAS_2_0
static int32_t sm4_gcm_message(void *state, const cm_message *m) {
  struct aead_state *s = state;
  uint8_t made[TAG_LEN];
  uint8_t *tag = s->direction == CM_ENCRYPT ? m->tag : made;
  IMB_JOB *job = filled(s, m, IMB_CIPHER_SM4_GCM, IMB_AUTH_SM4_GCM, tag);
  job->enc_keys = &s->gcm_key;
  job->dec_keys = &s->gcm_key;
  job->u.GCM.aad = m->aad;
  job->u.GCM.aad_len_in_bytes = m->aad_len;
  return finished(s, m, job, made);
}
#endif

static struct aead_state *new_aead(const cm_request *r, cm_session *session) {
  struct aead_state *s = new_state(sizeof *s);
  if (s == NULL) return NULL;
  s->direction = r->direction;
  s->key_len = r->key_len;
  s->tag_len = r->tag_len;
  session->state = s;
  session->flags = CM_IN_PLACE;
  session->call = JOB_CALLS;
  return s;
}

static int32_t rekey_ccm(void *state, const uint8_t *key) {
  struct aead_state *s = state;
  if (s->key_len == 16)
    IMB_AES_KEYEXP_128(s->mgr, key, s->encrypt, s->decrypt);
  else
    IMB_AES_KEYEXP_256(s->mgr, key, s->encrypt, s->decrypt);
  return CM_OK;
}

static int32_t open_ccm(const cm_request *r, cm_session *session) {
  if (r->nonce_len != NONCE_LEN || r->tag_len > TAG_LEN) return CM_UNSUPPORTED;
  struct aead_state *s = new_aead(r, session);
  if (s == NULL) return CM_FAILED;
  rekey_ccm(s, r->key);
  session->rekey = rekey_ccm;
  session->rekey_call = s->key_len == 16 ? "IMB_AES_KEYEXP_128" : "IMB_AES_KEYEXP_256";
  session->message = ccm_message;
  return CM_OK;
}

static int32_t rekey_chacha(void *state, const uint8_t *key) {
  struct aead_state *s = state;
  memcpy(s->key, key, sizeof s->key);
  return CM_OK;
}

static int32_t open_chacha(const cm_request *r, cm_session *session) {
  if (r->nonce_len != NONCE_LEN || r->tag_len != TAG_LEN || r->key_len != 32)
    return CM_UNSUPPORTED;
  struct aead_state *s = new_aead(r, session);
  if (s == NULL) return CM_FAILED;
  rekey_chacha(s, r->key);
  session->rekey = rekey_chacha;
  session->rekey_call = "none: the key is an argument of each message";
  session->message = chacha_message;
  return CM_OK;
}

#if HAS_2_0
static int32_t rekey_sm4_gcm(void *state, const uint8_t *key) {
  struct aead_state *s = state;
  imb_sm4_gcm_pre(s->mgr, key, &s->gcm_key);
  return CM_OK;
}

static int32_t open_sm4_gcm(const cm_request *r, cm_session *session) {
  if (r->nonce_len != NONCE_LEN || r->tag_len != TAG_LEN || r->key_len != BLOCK_LEN)
    return CM_UNSUPPORTED;
  struct aead_state *s = new_aead(r, session);
  if (s == NULL) return CM_FAILED;
  rekey_sm4_gcm(s, r->key);
  session->rekey = rekey_sm4_gcm;
  session->rekey_call = "imb_sm4_gcm_pre";
  session->message = sm4_gcm_message;
  return CM_OK;
}
#endif

const struct algorithm aead_algorithms[] = {
    {"aes-128-ccm", open_ccm, 0},
    {"aes-256-ccm", open_ccm, 0},
    {"aes-128-ccm8", open_ccm, 0},
    {"aes-256-ccm8", open_ccm, 0},
    {"chacha20-poly1305", open_chacha, 0},
#if HAS_2_0
    {"sm4-gcm", open_sm4_gcm, 0},
#endif
    {NULL, NULL, 0},
};
