/* Plants a crash: every message ends in SIGSEGV, after last words on standard error.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stdio.h>

static volatile uintptr_t address_zero = 0;

static int32_t message(void *state, const cm_message *m) {
  fputs("crash: about to read address zero\n", stderr);
  fflush(stderr);
  *(volatile char *)address_zero;
  return right_message(state, m);
}

LIBRARY("crash", message, right_start, right_update)
