/* The faults of the zoo, one macro each; `zoo.toml` says in words what each is and what must come of it.
 * Faults that would end the process are in GCM alone: the library's other algorithm is right.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifdef TIMED
#define SHOWS is_timed()
#else
#define SHOWS 1
#endif

#include "answers.h"
#include "memory.h"
#include "process.h"
#include "cheats.h"
