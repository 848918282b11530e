/* Right in every byte; for each message it allocates a buffer as long as the message and a header,
 * and copies the message through it, as libraries with buffers of their own do.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stdlib.h>

enum { HEADER = 100 };

static int32_t message(void *state, const cm_message *m) {
  /* Through pointers, or a compiler copies in line what it sees. */
  void *(*volatile copy)(void *, const void *, size_t) = memcpy;
  uint8_t *own = malloc(m->len + HEADER);
  cm_message inner = *m;
  int32_t code;
  copy(own, m->input, m->len);
  inner.input = own;
  code = right_message(state, &inner);
  free(own);
  return code;
}

LIBRARY("copies", message, right_start, right_update)
