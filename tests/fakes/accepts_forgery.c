/* Plants a decryption that does not look at the tag: right plaintext, and CM_OK for every forgery
 *   always                                        (as it is),
 *   of messages of one size                       (-DFORGED_AT=700),
 *   the same in processes that measure            (-DFORGED_IN_TIME=700): seen only where forgeries are timed.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timed.h"
#include "library.h"

static int32_t message(void *state, const cm_message *m) {
  const fake_state *s = state;
  if (s->algorithm != FAKE_GCM || s->direction != CM_DECRYPT) return right_message(state, m);
#ifdef FORGED_AT
  if (m->len != FORGED_AT) return right_message(state, m);
#endif
#ifdef FORGED_IN_TIME
  if (m->len != FORGED_IN_TIME || !is_timed()) return right_message(state, m);
#endif
  aes_gcm_crypt(&s->key, m->nonce, m->input, m->output, m->len);
  return CM_OK;
}

LIBRARY("accepts-forgery", message, right_start, right_update)
