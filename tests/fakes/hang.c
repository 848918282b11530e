/* Plants a message that never ends, after a line on standard error.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stdio.h>

static volatile int for_ever = 1;

static int32_t message(void *state, const cm_message *m) {
  fputs("hang: waiting for ever\n", stderr);
  while (for_ever) {}
  return right_message(state, m);
}

LIBRARY("hang", message, right_start, right_update)
