/* Plants a fault at one size, messages and updates of 700 bytes, in processes that measure: only what the
 * timed loop itself left, or returned, can find it. Everything else is right.
 *   -DSKIP   success without work
 *   -DHANG   never returns
 *   -DEAT    takes memory, and writes it, until there is none
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timed.h"
#include "library.h"
#include <stdlib.h>
#include <string.h>

enum { EATEN_BYTES = 16 << 20, FAULTY_SIZE = 700 };

static volatile int for_ever = 1;

static int is_faulty(size_t len) { return len == FAULTY_SIZE && is_timed(); }

/* Whether the call is to return success without its work. */
static int skips(size_t len) {
  if (!is_faulty(len)) return 0;
#if defined HANG
  while (for_ever) {}
#elif defined EAT
  for (void *eaten; (eaten = malloc(EATEN_BYTES)) != NULL;) memset(eaten, for_ever, EATEN_BYTES);
#elif defined SKIP
  return 1;
#endif
  return 0;
}

static int32_t message(void *state, const cm_message *m) {
  return skips(m->len) ? CM_OK : right_message(state, m);
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  return skips(len) ? CM_OK : right_update(state, input, output, len);
}

LIBRARY("one-size", message, right_start, update)
