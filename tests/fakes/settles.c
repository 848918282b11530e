/* Takes three times as long, or longer, for the first calls in its process, 0.8 ms at the least: what is timed before is not
 * what a program that goes on pays. Counted in calls: time passes while others have the core, too.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <time.h>

#define SLOW_CALLS 2000
#define MORE_NS 400

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int32_t slow_at_first(void *state, const cm_message *m) {
  static uint32_t calls;
  uint64_t begun_ns = now_ns();
  int32_t code = right_message(state, m);
  if (calls < SLOW_CALLS) {
    calls++;
    uint64_t until_ns = now_ns() + 2 * (now_ns() - begun_ns) + MORE_NS;
    while (now_ns() < until_ns) {
    }
  }
  return code;
}

LIBRARY("settles", slow_at_first, right_start, right_update)
