/* Right in everything, and does a part of its work in another object, which the dynamic loader finds as the linker
 * was told: `libcore.so` without a name of its own (SONAME), from `core.c`.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

void core_work(void);

static int32_t linked_message(void *state, const cm_message *m) {
  core_work();
  return right_message(state, m);
}

LIBRARY("linked", linked_message, right_start, right_update)
