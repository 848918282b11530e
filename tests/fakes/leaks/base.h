/* What base.c asks of controls.c, and what both share.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FAKES_LEAKS_BASE_H
#define FAKES_LEAKS_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Where a control may be called; -DPLACE is one or several. */
enum place { KEY_SET_UP = 1, ENCRYPT = 2, DECRYPT = 4, REJECT = 8, WIDE = 16, REMAINDER = 32, FIRST = 64 };

/* Called at each place with the session's key. */
void at(enum place place, const uint8_t key[16]);
/* Whether two tags differ. */
int differs(const uint8_t a[16], const uint8_t b[16]);
/* The S-box over each byte of a word, for key set-up. */
uint32_t substitute(uint32_t word);
/* Whether blocks are encrypted and hashed by tables. */
int by_tables(void);

#endif
