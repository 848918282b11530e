/* Plants chatter: when it is loaded and with every message it writes to standard output what could pass
 * for a message of some protocol, a line without an end, and bytes that are no text. Its work is right.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stdio.h>

static void chatter(void) {
  fputs("{\"ok\":true}\nhalf a line \xff\xfe", stdout);
  fflush(stdout);
}

__attribute__((constructor)) static void loaded(void) { chatter(); }

static int32_t message(void *state, const cm_message *m) {
  chatter();
  return right_message(state, m);
}

LIBRARY("noisy", message, right_start, right_update)
