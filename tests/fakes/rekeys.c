/* A library whose sessions take new keys, right in everything (as it is), or with a fault in it:
 *   the new key is ignored                                  (-DIGNORES_KEY),
 *   the new key is ignored before messages of one size      (-DIGNORED_AT=700): seen only where it is timed,
 *   setting a key is an error                               (-DREFUSES_KEY).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timed.h"
#include "library.h"

/* The key that was set before the last one, which a session of this library may go on with. */
static struct {
  const fake_state *of;
  aes_key key;
} before;

static int32_t rekey(void *state, const uint8_t *key) {
  fake_state *s = state;
#if defined REFUSES_KEY
  (void)s, (void)key;
  return CM_FAILED;
#elif defined IGNORES_KEY
  (void)s, (void)key;
  return CM_OK;
#else
  before.of = s;
  before.key = s->key;
  aes_set_key(&s->key, key);
  return CM_OK;
#endif
}

static int32_t message(void *state, const cm_message *m) {
#ifdef IGNORED_AT
  fake_state *s = state;
  if (is_timed() && m->len == IGNORED_AT && before.of == s) {
    const aes_key right = s->key;
    s->key = before.key;
    const int32_t code = right_message(state, m);
    s->key = right;
    /* A wrong tag would show as a rejection; this is about a key that nobody notices. */
    return code == CM_REJECTED ? CM_OK : code;
  }
#endif
  return right_message(state, m);
}

static int32_t open_library(const cm_request *r, cm_session *s, char *why, size_t why_len) {
  cm_session functions = {.message = message, .start = right_start, .update = right_update,
                          .close = free, .rekey = rekey, .rekey_call = "aes_set_key"};
  const int32_t code = fake_open(r, s, why, why_len, functions);
  if (code == CM_OK && r->key_len == 0) s->rekey = NULL;
  return code;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {CIPHERMARK_ABI, "rekeys", "1.0", "a stand-in for tests",
                                     open_library};
  return &adapter;
}
