/* What `linked.c` is linked to: does nothing WORK times. The adapter's own file says nothing of it.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef WORK
#define WORK 1
#endif

void core_work(void) {
  for (volatile unsigned i = 0; i < WORK; i++) {
  }
}
