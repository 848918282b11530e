/* Plants success without work: returns CM_OK and leaves output and tag alone
 *   always                                          (as it is),
 *   for messages and updates above so many bytes    (-DABOVE=1024),
 *   after so many calls in one session              (-DAFTER=1000).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

static int skips(fake_state *s, size_t len) {
  s->calls++;
#if defined ABOVE
  return len > ABOVE;
#elif defined AFTER
  (void)len;
  return s->calls > AFTER;
#else
  (void)len;
  return 1;
#endif
}

static int32_t message(void *state, const cm_message *m) {
  return skips(state, m->len) ? CM_OK : right_message(state, m);
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  return skips(state, len) ? CM_OK : right_update(state, input, output, len);
}

LIBRARY("early-return", message, right_start, update)
