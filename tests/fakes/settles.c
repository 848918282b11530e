/* Takes three times as long, or longer, until it has been used for five milliseconds in its process: what is timed before
 * is not what a program that goes on pays.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <time.h>

#define SETTLED_NS 5000000ULL

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int32_t slow_at_first(void *state, const cm_message *m) {
  static uint64_t first_ns;
  uint64_t begun_ns = now_ns();
  if (first_ns == 0) first_ns = begun_ns;
  int32_t code = right_message(state, m);
  if (begun_ns - first_ns < SETTLED_NS) {
    uint64_t until_ns = now_ns() + 2 * (now_ns() - begun_ns) + 400;
    while (now_ns() < until_ns) {
    }
  }
  return code;
}

LIBRARY("settles", slow_at_first, right_start, right_update)
