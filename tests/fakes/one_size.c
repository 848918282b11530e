/* Plants a fault at one size, messages and updates of 700 bytes, in processes that measure: only what the
 * timed loop itself left, or returned, can find it. Everything else is right.
 *   -DSKIP   success without work
 *   -DTAG    one bit of the tag is flipped on encryption
 *   -DCODE   right bytes and an error code
 *   -DCRASH  SIGSEGV
 *   -DHANG   never returns
 *   -DEAT    takes memory, and writes it, until there is none
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timed.h"
#include "library.h"
#include <stdlib.h>
#include <string.h>

enum { EATEN_BYTES = 16 << 20, FAULTY_SIZE = 700, LIBRARYS_OWN_CODE = 1042 };

static volatile uintptr_t address_zero = 0;
static volatile int for_ever = 1;

static int is_faulty(size_t len) { return len == FAULTY_SIZE && is_timed(); }

/* Whether the call is to return success without its work. */
static int skips(size_t len) {
  if (!is_faulty(len)) return 0;
#if defined CRASH
  *(volatile char *)address_zero;
#elif defined HANG
  while (for_ever) {}
#elif defined EAT
  for (void *eaten; (eaten = malloc(EATEN_BYTES)) != NULL;) memset(eaten, for_ever, EATEN_BYTES);
#elif defined SKIP
  return 1;
#endif
  return 0;
}

static int32_t code(size_t len, int32_t result) {
#ifdef CODE
  if (is_faulty(len) && result == CM_OK) return LIBRARYS_OWN_CODE;
#endif
  (void)len;
  return result;
}

static int32_t message(void *state, const cm_message *m) {
  if (skips(m->len)) return CM_OK;
  int32_t result = right_message(state, m);
#ifdef TAG
  const fake_state *s = state;
  if (is_faulty(m->len) && s->algorithm == FAKE_GCM && s->direction == CM_ENCRYPT) m->tag[0] ^= 1;
#endif
  return code(m->len, result);
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  if (skips(len)) return CM_OK;
  return code(len, right_update(state, input, output, len));
}

LIBRARY("one-size", message, right_start, update)
