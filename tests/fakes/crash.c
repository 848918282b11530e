/* Plants a crash: every message ends in SIGSEGV, after last words on standard error; with
 * -DOPENING=aes-128-gcm only the opening of that algorithm.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stdio.h>

static volatile uintptr_t address_zero = 0;

#ifdef OPENING
#define TEXT_OF(tokens) #tokens
#define TEXT(tokens) TEXT_OF(tokens)

static int32_t crashing_open(const cm_request *r, cm_session *session, char *why, size_t why_len,
                             cm_session functions) {
  if (strcmp(r->algorithm, TEXT(OPENING)) == 0) *(volatile char *)address_zero;
  return fake_open(r, session, why, why_len, functions);
}

#define fake_open crashing_open
LIBRARY("crash", right_message, right_start, right_update)
#else

static int32_t message(void *state, const cm_message *m) {
  fputs("crash: about to read address zero\n", stderr);
  fflush(stderr);
  *(volatile char *)address_zero;
  return right_message(state, m);
}

LIBRARY("crash", message, right_start, right_update)
#endif
