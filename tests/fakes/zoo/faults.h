/* The faults of the zoo, one macro each; `zoo.toml` says in words what each is and what must come of it.
 * Faults that would end the process are in GCM alone: the library's other algorithm is right.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "answers.h"
#include "memory.h"
#include "process.h"
#include "cheats.h"
