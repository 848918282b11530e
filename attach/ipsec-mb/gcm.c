/* AES-GCM and GMAC by the functions that need no jobs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

struct gcm_state {
  IMB_MGR *mgr;
  struct gcm_context_data context;
  struct gcm_key_data key;
};

/* One key length: the functions have it in their names. */
#define AES_GCM(BITS)                                                                              \
  static int32_t seal_##BITS(void *state, const cm_message *m) {                                   \
    struct gcm_state *s = state;                                                                   \
    IMB_AES##BITS##_GCM_ENC(s->mgr, &s->key, &s->context, m->output, m->input, m->len, m->nonce,   \
                            m->aad, m->aad_len, m->tag, TAG_LEN);                                  \
    return CM_OK;                                                                                  \
  }                                                                                                \
  static int32_t open_##BITS(void *state, const cm_message *m) {                                   \
    struct gcm_state *s = state;                                                                   \
    uint8_t tag[TAG_LEN];                                                                          \
    IMB_AES##BITS##_GCM_DEC(s->mgr, &s->key, &s->context, m->output, m->input, m->len, m->nonce,   \
                            m->aad, m->aad_len, tag, TAG_LEN);                                     \
    return compared(tag, m->tag, TAG_LEN);                                                         \
  }                                                                                                \
  static int32_t gmac_start_##BITS(void *state, const uint8_t *nonce) {                            \
    struct gcm_state *s = state;                                                                   \
    if (nonce == NULL) return CM_FAILED;                                                           \
    IMB_AES##BITS##_GMAC_INIT(s->mgr, &s->key, &s->context, nonce, NONCE_LEN);                     \
    return CM_OK;                                                                                  \
  }                                                                                                \
  static int32_t gmac_update_##BITS(void *state, const uint8_t *input, uint8_t *output,            \
                                    size_t len) {                                                  \
    struct gcm_state *s = state;                                                                   \
    (void)output;                                                                                  \
    IMB_AES##BITS##_GMAC_UPDATE(s->mgr, &s->key, &s->context, input, len);                         \
    return CM_OK;                                                                                  \
  }                                                                                                \
  static int32_t gmac_finish_##BITS(void *state, uint8_t *tag) {                                   \
    struct gcm_state *s = state;                                                                   \
    IMB_AES##BITS##_GMAC_FINALIZE(s->mgr, &s->key, &s->context, tag, TAG_LEN);                     \
    return CM_OK;                                                                                  \
  }                                                                                                \
  static int32_t gmac_##BITS(void *state, const cm_message *m) {                                   \
    gmac_start_##BITS(state, m->nonce);                                                            \
    gmac_update_##BITS(state, m->input, NULL, m->len);                                             \
    return gmac_finish_##BITS(state, m->tag);                                                      \
  }                                                                                                \
  static int32_t rekey_##BITS(void *state, const uint8_t *key) {                                   \
    struct gcm_state *s = state;                                                                   \
    IMB_AES##BITS##_GCM_PRE(s->mgr, key, &s->key);                                                 \
    return CM_OK;                                                                                  \
  }                                                                                                \
  static int32_t open_gcm_##BITS(const cm_request *r, cm_session *session) {                       \
    if (r->key_len != BITS / 8 || r->nonce_len != NONCE_LEN || r->tag_len != TAG_LEN)              \
      return CM_UNSUPPORTED;                                                                       \
    struct gcm_state *s = new_state(sizeof *s);                                                    \
    if (s == NULL) return CM_FAILED;                                                               \
    IMB_AES##BITS##_GCM_PRE(s->mgr, r->key, &s->key);                                              \
    session->state = s;                                                                            \
    session->rekey = rekey_##BITS;                                                                 \
    session->rekey_call = "IMB_AES" #BITS "_GCM_PRE";                                              \
    if (r->direction == CM_DIGEST) {                                                               \
      session->message = gmac_##BITS;                                                              \
      session->start = gmac_start_##BITS;                                                          \
      session->update = gmac_update_##BITS;                                                        \
      session->finish = gmac_finish_##BITS;                                                        \
      session->call = "IMB_AES" #BITS "_GMAC_INIT, IMB_AES" #BITS "_GMAC_UPDATE, IMB_AES" #BITS    \
                      "_GMAC_FINALIZE";                                                            \
      return CM_OK;                                                                                \
    }                                                                                              \
    const int decrypts = r->direction == CM_DECRYPT;                                               \
    session->flags = CM_IN_PLACE;                                                                  \
    session->message = decrypts ? open_##BITS : seal_##BITS;                                       \
    session->call = decrypts ? "IMB_AES" #BITS "_GCM_DEC" : "IMB_AES" #BITS "_GCM_ENC";            \
    return CM_OK;                                                                                  \
  }

AES_GCM(128)
AES_GCM(192)
AES_GCM(256)

const struct algorithm gcm_algorithms[] = {
    {"aes-128-gcm", open_gcm_128, 0},  {"aes-192-gcm", open_gcm_192, 0},
    {"aes-256-gcm", open_gcm_256, 0},  {"aes-128-gmac", open_gcm_128, 0},
    {"aes-192-gmac", open_gcm_192, 0}, {"aes-256-gmac", open_gcm_256, 0},
    {NULL, NULL, 0},
};
