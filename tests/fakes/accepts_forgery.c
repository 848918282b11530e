/* Plants a decryption that never looks at the tag: right plaintext, and CM_OK for every forgery.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

static int32_t message(void *state, const cm_message *m) {
  const fake_state *s = state;
  if (s->algorithm != FAKE_GCM || s->direction != CM_DECRYPT) return right_message(state, m);
  aes_gcm_crypt(&s->key, m->nonce, m->input, m->output, m->len);
  return CM_OK;
}

LIBRARY("accepts-forgery", message, right_start, right_update)
