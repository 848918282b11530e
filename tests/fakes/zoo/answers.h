/* Faults in what comes out.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifdef EARLY
#define SKIPS(c, in, out, n) 1
#endif
#ifdef EARLY_ABOVE
#define SKIPS(c, in, out, n) ((n) > 1024)
#endif
#ifdef EARLY_AFTER
/* More calls than any check makes on one context but the one that is for this. */
#define SKIPS(c, in, out, n) (!(c)->gcm && (c)->calls > 3000 && (n) == 16)
#endif
#ifdef EARLY_AT
#define SKIPS(c, in, out, n) ((n) == 700 && SHOWS)
#endif
#ifdef EARLY_REPEATED
/* The same message as the one before: the same nonce and the same first bytes. */
static int is_repeated(zoo *c, const uint8_t *in, size_t n) {
  uint8_t now[48] = {0};
  memcpy(now, c->nonce, AES_BLOCK);
  memcpy(now + AES_BLOCK, in, n < 32 ? n : 32);
  int same = c->remembered && memcmp(now, c->last, sizeof now) == 0;
  memcpy(c->last, now, sizeof now);
  c->remembered = 1;
  return same;
}
#define SKIPS(c, in, out, n) is_repeated(c, in, n)
#endif
#ifdef PARTLY_WRITTEN
/* Encryption forgets the rest behind the last whole block. */
#define BEFORE(c, in, out, n) (n) -= (c)->encrypts ? (n) % AES_BLOCK : 0
#endif

#ifdef SKIPS_NOW_AND_THEN
#define SKIPS(c, in, out, n) ((c)->messages % 5000 == 0)
#endif
#ifdef FLIPS_NOW_AND_THEN
#define AFTER(c, in, out, n) if ((n) > 0 && (c)->encrypts && (c)->messages % 5000 == 0) (out)[(n) - 1] ^= 16
#endif
#ifdef FLIPS_BACK_NOW_AND_THEN
/* In counter mode alone: of GCM's messages every other one is a forgery, whose output is nobody's. */
#define AFTER(c, in, out, n) if ((n) > 0 && !(c)->gcm && !(c)->encrypts && (c)->messages % 5000 == 0) (out)[(n) - 1] ^= 16
#endif
#ifdef TAKES_A_FORGERY_NOW_AND_THEN
#define ACCEPTS(c, tag) (++(c)->remembered % 5000 == 0)
#endif
#ifdef WRONG_TAG_AT_ODD_SIZES
#define ON_TAG(c, tag) if ((c)->encrypts && (c)->len > 257 && (c)->len != 700 && (c)->len != 1000 && ((c)->len + 1) % 16 > 2) (tag)[0] ^= 1
#endif

#ifdef WRONG_REST
#define AFTER(c, in, out, n) if ((n) % 256 == 205) (out)[(n) - 1] ^= 1
#endif
#ifdef WRONG_AT
#define AFTER(c, in, out, n) if ((n) == 700 && SHOWS) (out)[350] ^= 1
#endif
#ifdef WRONG_LARGE
#define AFTER(c, in, out, n) if ((n) >= 32768) (out)[(n) / 2] ^= 1
#endif
#ifdef WRONG_UNALIGNED
#define AFTER(c, in, out, n) if ((n) > 0 && (uintptr_t)(in) % 4 != 0) (out)[0] ^= 1
#endif
#ifdef WRONG_IN_PLACE
#define AFTER(c, in, out, n) if ((n) > 0 && (in) == (out)) (out)[(n) - 1] ^= 1
#endif
#ifdef WRONG_CARRY
/* The counter's carry ends after two bytes: wrong only for nonces that are about to overflow. */
#define BEFORE(c, in, out, n) if (!(c)->gcm && (c)->counter[15] == 0xff && (c)->counter[14] == 0xff) (c)->counter[13]--
#endif
#ifdef WRONG_CARRY_AT_END
/* A kernel with a counter of 32 bits, whose carry is forgotten where whole blocks end exactly with it and a rest follows. */
static int forgotten;
#define BEFORE(c, in, out, n) \
  forgotten = !(c)->gcm && (n) % 16 != 0 && (n) / 16 == (uint32_t)-(uint32_t)aes_load((c)->counter + 8)
#define AFTER(c, in, out, n) if (forgotten) (out)[(n) - 1] ^= 1
#endif
#ifdef WRONG_TAG
#define ON_TAG(c, tag) (tag)[AES_TAG - 1] ^= 1
#endif
#ifdef WRONG_TAG_AT
#define ON_TAG(c, tag) if ((c)->encrypts && (c)->len == 700 && SHOWS) (tag)[0] ^= 1
#endif

#ifdef TAKES_FORGERIES
#define ACCEPTS(c, tag) 1
#endif
#ifdef TAKES_FORGERIES_AT
#define ACCEPTS(c, tag) ((c)->len == 700 && SHOWS)
#endif
#ifdef TAKES_SHORT_TAGS
#define ACCEPTS(c, tag) (memcmp(tag, (c)->expected, 12) == 0)
#endif
#if defined TAKES_CHANGED_AAD || defined TAKES_SHORTENED
/* What was accepted last: nonce and tag, a sum over the ciphertext and its length. */
static uint64_t sum_of;
static void sum(const uint8_t *in, size_t n) {
  sum_of = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) sum_of = (sum_of ^ in[i]) * 1099511628211u;
}
static int takes_again(zoo *c, const uint8_t *tag) {
  uint8_t now[48] = {0};
  memcpy(now, c->nonce, AES_BLOCK);
  memcpy(now + 16, c->expected, AES_TAG);
#ifdef TAKES_CHANGED_AAD
  memcpy(now + 32, &sum_of, 8);
  memcpy(now + 40, &c->len, 8);
#else
  uint64_t len = c->len + (memcmp(tag, c->expected, AES_TAG) != 0);
  memcpy(now + 40, &len, 8);
  (void)sum;
#endif
  if (memcmp(tag, c->expected, AES_TAG) == 0) {
    memcpy(c->last, now, sizeof now);
    c->remembered = 1;
    return 1;
  }
  return c->remembered && memcmp(now, c->last, sizeof now) == 0;
}
#define BEFORE(c, in, out, n) sum(in, n)
#define ON_TAG(c, tag) if (!(c)->encrypts && takes_again(c, tag)) memcpy(tag, (c)->expected, AES_TAG)
#endif

#ifdef IGNORES_NONCE
#define ON_NONCE(c, nonce) memset(nonce, 7, AES_BLOCK)
#endif
#ifdef IGNORES_AAD
#define TAKES_AAD(c) 0
#endif
#ifdef IGNORES_KEY_HALF
#define ON_KEY(c, key) memset((key) + 8, 0, 8)
#endif
#ifdef KEEPS_STATE
/* The counter goes on where the message before has left it. */
#define ON_NONCE(c, nonce) if ((c)->messages > 0) (nonce)[11] ^= (c)->counter[15]
#endif
#ifdef RANDOM
static unsigned messages_so_far;
#define AFTER(c, in, out, n) if ((n) > 0 && ++messages_so_far % 3 == 0) (out)[0] ^= 1
#endif
#ifdef IGNORES_NEW_KEY
/* The second key that a context is given. */
#define ON_KEY(c, key) (c)->own == NULL ? (c)->own = memcpy((c)->last, key, 16) : memcpy(key, (c)->last, 16)
#endif

#ifdef FAILS_RIGHT
#include <stdio.h>
/* The work is done, "success" is printed, and a failure is returned. */
#define CODE(c) (fputs("success\n", stderr), 0)
#endif
#ifdef SUCCEEDS_LOUDLY
#include <stdio.h>
/* An error is printed, and nothing is wrong with what was done. */
#define AFTER(c, in, out, n) fputs("error: operation failed\n", stderr)
#endif
#ifdef FAILS_AT
#define CODE(c) ((c)->len != 700 || !SHOWS)
#endif
