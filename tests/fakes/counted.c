/* Executes, beside what is right, ten AES rounds for each whole block of 16 bytes and seven times NOP for
 * each message: instructions whose number is known, at every tier.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

#if defined(__x86_64__)
/* Asks what the CPU has and does not heed the answer: code that never asks cannot be held to a tier. */
__attribute__((constructor)) static void ask(void) {
  unsigned eax = 1, ebx, ecx = 0, edx;
  __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
}
#endif

static int32_t counted_message(void *state, const cm_message *m) {
#if defined(__x86_64__)
  for (size_t block = 0; block < m->len / 16; block++)
    __asm__ volatile(".rept 10\n\taesenc %%xmm1, %%xmm0\n\t.endr" ::: "xmm0");
  __asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop");
#endif
  return right_message(state, m);
}

LIBRARY("counted", counted_message, right_start, right_update)
