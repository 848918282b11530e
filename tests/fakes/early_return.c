/* Plants success without work: returns CM_OK and leaves output and tag alone
 *   always                                (as it is),
 *   after so many calls in one session    (-DAFTER=1000).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

#ifndef AFTER
#define AFTER 0
#endif

static int skips(fake_state *s) { return ++s->calls > AFTER; }

static int32_t message(void *state, const cm_message *m) {
  return skips(state) ? CM_OK : right_message(state, m);
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  return skips(state) ? CM_OK : right_update(state, input, output, len);
}

LIBRARY("early-return", message, right_start, update)
