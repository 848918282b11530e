/* Plants wrong ciphertexts in messages of 8192 bytes, from one on in each session: a bit of what was
 * encrypted is flipped
 *   and decryption does not know of it            (-DLATER=40: behind the fortieth),
 *   and flipped back by decryption                (-DAGREED=40): the library agrees with itself.
 * With -DDIES=40 the process dies there.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

enum { PAGE = 8192, BYTE = 4000 };

#ifdef AGREED
#define FROM AGREED
#elif defined DIES
#define FROM DIES
#else
#define FROM LATER
#endif

#ifdef DIES
static volatile uintptr_t nowhere = 0;
#endif

static int32_t message(void *state, const cm_message *m) {
  fake_state *s = state;
  const int wrong = s->algorithm == FAKE_CTR && m->len == PAGE && s->calls++ >= FROM;
#ifdef DIES
  if (wrong) *(volatile char *)nowhere = 0;
#endif
  const int32_t code = right_message(state, m);
#ifdef AGREED
  if (wrong) m->output[BYTE] ^= 1;
#else
  if (wrong && s->direction == CM_ENCRYPT) m->output[BYTE] ^= 1;
#endif
  return code;
}

LIBRARY("later-pages", message, right_start, right_update)
