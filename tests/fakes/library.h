/* What the stand-in libraries share: a library with `memcpy`, `aes-128-ctr` (message and stream) and
 * `aes-128-gcm` (message) that is right in everything. A stand-in wraps one of the functions below in the
 * fault that it plants and ends with LIBRARY(name, message, start, update).
 *
 *     cc -shared -fPIC -O2 -I include -o libfake.so tests/fakes/NAME.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FAKES_LIBRARY_H
#define FAKES_LIBRARY_H

#include "aes.h"
#include "ciphermark.h"
#include <stdlib.h>
#include <string.h>

enum fake_algorithm { FAKE_COPY, FAKE_CTR, FAKE_GCM };

typedef struct fake_state {
  enum fake_algorithm algorithm;
  uint32_t direction;
  aes_key key;
  aes_ctr ctr;
  uint64_t calls; /* of `message` and `update`, for the stand-in's use */
} fake_state;

static inline int32_t right_message(void *state, const cm_message *m) {
  fake_state *s = state;
  uint8_t tag[AES_TAG];
  switch (s->algorithm) {
  case FAKE_COPY:
    memcpy(m->output, m->input, m->len);
    return CM_OK;
  case FAKE_CTR:
    aes_ctr_start(&s->ctr, m->nonce);
    aes_ctr_update(&s->key, &s->ctr, m->input, m->output, m->len);
    return CM_OK;
  default:
    if (s->direction == CM_DECRYPT) {
      aes_gcm_tag(&s->key, m->nonce, m->aad, m->aad_len, m->input, m->len, tag);
      if (memcmp(tag, m->tag, AES_TAG) != 0) return CM_REJECTED;
    }
    aes_gcm_crypt(&s->key, m->nonce, m->input, m->output, m->len);
    if (s->direction == CM_ENCRYPT)
      aes_gcm_tag(&s->key, m->nonce, m->aad, m->aad_len, m->output, m->len, m->tag);
    return CM_OK;
  }
}

static inline int32_t right_start(void *state, const uint8_t *nonce) {
  aes_ctr_start(&((fake_state *)state)->ctr, nonce);
  return CM_OK;
}

static inline int32_t right_update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  fake_state *s = state;
  aes_ctr_update(&s->key, &s->ctr, input, output, len);
  return CM_OK;
}

/* Opens what the library has; the caller says with which functions. */
static inline int32_t fake_open(const cm_request *r, cm_session *session, char *why, size_t why_len,
                                cm_session functions) {
  static const struct {
    const char *name;
    enum fake_algorithm algorithm;
  } known[] = {{"memcpy", FAKE_COPY}, {"aes-128-ctr", FAKE_CTR}, {"aes-128-gcm", FAKE_GCM}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(r->algorithm, known[i].name) != 0) continue;
    fake_state *s = calloc(1, sizeof *s);
    if (s == NULL) return CM_FAILED;
    s->algorithm = known[i].algorithm;
    s->direction = r->direction;
    if (s->algorithm != FAKE_COPY) {
      aes_set_key(&s->key, r->key);
      functions.flags = CM_IN_PLACE; /* a copy onto itself would be no work */
    }
    if (s->algorithm != FAKE_CTR) functions.start = NULL, functions.update = NULL;
    functions.state = s;
    *session = functions;
    return CM_OK;
  }
  strncpy(why, "the stand-in has memcpy, aes-128-ctr and aes-128-gcm", why_len - 1);
  why[why_len - 1] = '\0';
  return CM_UNSUPPORTED;
}

#define LIBRARY(name, message_function, start_function, update_function)                           \
  static int32_t open_library(const cm_request *r, cm_session *s, char *why, size_t why_len) {    \
    cm_session functions = {.message = message_function, .start = start_function,                  \
                            .update = update_function, .close = free};                             \
    return fake_open(r, s, why, why_len, functions);                                               \
  }                                                                                                \
  const cm_adapter *ciphermark_adapter(void) {                                                     \
    static const cm_adapter adapter = {CIPHERMARK_ABI, name, "1.0", "a stand-in for tests",        \
                                       open_library};                                              \
    return &adapter;                                                                               \
  }

#endif
