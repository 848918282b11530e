/* Takes twice as long and longer in two of five processes, as if memory lay badly there.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <time.h>

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int32_t slow_here(void *state, const cm_message *m) {
  static int kind; /* 1: fast, 2: slow */
  uint64_t begun_ns = now_ns();
  /* The digits of a nanosecond clock below a microsecond are as good as drawn. */
  if (kind == 0) kind = (begun_ns * 0x9e3779b97f4a7c15ULL >> 32) % 5 < 2 ? 2 : 1;
  int32_t code = right_message(state, m);
  if (kind == 2) {
    uint64_t until_ns = now_ns() + (now_ns() - begun_ns) + 400;
    while (now_ns() < until_ns) {
    }
  }
  return code;
}

LIBRARY("two_kinds", slow_here, right_start, right_update)
