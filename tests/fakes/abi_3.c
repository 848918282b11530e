/* An object of version 3 of the interface, as it was: its session ends with `rekey_call`, and what lies
 * behind that is not its own to write.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stddef.h>

static int32_t rekey(void *state, const uint8_t *key) {
  aes_set_key(&((fake_state *)state)->key, key);
  return CM_OK;
}

static int32_t open_library(const cm_request *r, cm_session *s, char *why, size_t why_len) {
  cm_session functions = {.message = right_message, .start = right_start, .update = right_update,
                          .close = free, .rekey = r->key_len == 0 ? NULL : rekey};
  cm_session filled = {0};
  const int32_t code = fake_open(r, &filled, why, why_len, functions);
  if (code == CM_OK) memcpy(s, &filled, offsetof(cm_session, drain));
  return code;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {3, "abi-3", "1.0", "a stand-in for tests", open_library};
  return &adapter;
}
