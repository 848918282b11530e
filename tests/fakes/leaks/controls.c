/* One control of secret-dependent execution in the library of base.c: -DLEAK=NAME is a function of lookups.h,
 * branches.h, rare.h or clean.h that gets the key, called at -DPLACE (encryption and decryption unless said);
 * -DCOMPARE=NAME compares tags, -DSUBSTITUTE=NAME is the S-box of key set-up, -DTABLES says when blocks go by tables.
 * crates/ciphermark/tests/e2e/secrets.rs says what is to be found of each.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A function of its own under its own name, whether a control uses it or not. */
#define APART static __attribute__((noinline, noclone, unused))
#define CONTROL(name) APART void name(const uint8_t *k)

static volatile uint32_t sink;
static uint8_t table[4096] __attribute__((aligned(4096), used));

CONTROL(nothing) { (void)k; }

#include "branches.h"
#include "clean.h"
#include "example.h"
#include "lookups.h"
#include "rare.h"
#include "tags.h"

#ifndef LEAK
#define LEAK nothing
#endif
#ifndef PLACE
#define PLACE ENCRYPT | DECRYPT
#endif
#ifndef COMPARE
#define COMPARE all_bytes
#endif
#ifndef SUBSTITUTE
#define SUBSTITUTE substitute_aesni
#endif
#ifndef TABLES
#define TABLES 0
#endif

void at(enum place place, const uint8_t key[16]) {
  if (place & (PLACE)) LEAK(key);
}
int differs(const uint8_t a[16], const uint8_t b[16]) { return COMPARE(a, b); }
uint32_t substitute(uint32_t word) { return SUBSTITUTE(word); }
int by_tables(void) { return TABLES; }
