/* What `linked.c` is linked to: does nothing WORK times. The adapter's own file says nothing of it.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef WORK
#define WORK 1
#endif

void core_work(void) {
  /* In a register: a variable in memory takes one cycle or five on some CPUs, as it comes. */
  for (unsigned i = 0; i < WORK; i++) {
    __asm__ volatile("" : "+r"(i));
  }
}
