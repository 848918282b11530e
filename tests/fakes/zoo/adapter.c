/* The zoo's library behind ciphermark's own interface. `faults.h` has the faults, one macro each.
 *
 *     cc -shared -fPIC -O2 -I include -D FAULT -o libfault.so tests/fakes/zoo/adapter.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cipher.h"
#include "ciphermark.h"

#ifndef VERSION_TEXT
#define VERSION_TEXT "1.0"
#endif
enum { LIBRARYS_OWN_CODE = 1042 };

static int32_t message(void *state, const cm_message *m) {
  zoo *c = state;
  zoo_begin(c, m->nonce);
  if (c->gcm && !c->encrypts) memcpy(c->expected, m->tag, AES_TAG);
  if (c->gcm && m->aad_len > 0) zoo_aad(c, m->aad, m->aad_len);
  if (zoo_part(c, m->input, m->output, m->len) != 1) return LIBRARYS_OWN_CODE;
  if (c->gcm && c->encrypts) zoo_tag(c, m->tag);
  const int32_t code = c->gcm && !c->encrypts && !zoo_is_authentic(c) ? CM_REJECTED : CM_OK;
  zoo_end(c);
  return code;
}

static int32_t start(void *state, const uint8_t *nonce) {
  zoo_begin(state, nonce);
  return CM_OK;
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  return zoo_part(state, input, output, len) == 1 ? CM_OK : LIBRARYS_OWN_CODE;
}

static int32_t open_library(const cm_request *r, cm_session *session, char *why, size_t why_len) {
  int gcm = strcmp(r->algorithm, "aes-128-gcm") == 0;
  if (!gcm && strcmp(r->algorithm, "aes-128-ctr") != 0) {
    strncpy(why, "the stand-in has aes-128-ctr and aes-128-gcm", why_len - 1);
    why[why_len - 1] = '\0';
    return CM_UNSUPPORTED;
  }
  zoo *c = calloc(1, sizeof *c);
  if (c == NULL) return CM_FAILED;
  c->gcm = gcm;
  c->encrypts = r->direction == CM_ENCRYPT;
  zoo_set_key(c, r->key);
  cm_session functions = {.state = c, .flags = CM_IN_PLACE, .message = message, .close = free};
  functions.start = gcm ? NULL : start;
  functions.update = gcm ? NULL : update;
  functions.call = "message";
  *session = functions;
  return CM_OK;
}

const cm_adapter *ciphermark_adapter(void) {
  static cm_adapter adapter = {CIPHERMARK_ABI, "zoo", NULL, "a stand-in for tests", open_library};
  adapter.version = VERSION_TEXT;
  return &adapter;
}
