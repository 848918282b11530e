/* Plants a slowdown of known size: CRC-32C, right and really computed, as one serial chain of steps of
 * three cycles each (CRC32 r64 on Intel's cores since Nehalem and AMD's since Zen), and behind it
 * PLANTED per mille as many steps more of three cycles each that change nothing (IMUL by one). With
 * 16 000 bytes there are 2000 steps, so that each per mille is two. The next message waits for the last
 * one, so that nothing of the chain is hidden behind the neighbouring operation's. With FROM and TO
 * messages of other sizes have nothing planted: a slow path that only some sizes take.
 *
 *     cc -shared -fPIC -O2 -I include -DPLANTED=10 -o libplanted10.so tests/fakes/planted.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ciphermark.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLANTED
#define PLANTED 0
#endif

#ifndef FROM
#define FROM 0
#endif
#ifndef TO
#define TO SIZE_MAX
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* Eight bytes, or one. */
#if defined(__x86_64__)
static inline uint64_t step8(uint64_t crc, uint64_t data) {
  __asm__("crc32q %1, %0" : "+r"(crc) : "r"(data));
  return crc;
}
static inline uint64_t step1(uint64_t crc, uint8_t data) {
  uint32_t c = (uint32_t)crc;
  __asm__("crc32b %1, %0" : "+r"(c) : "r"(data));
  return c;
}
static inline uint64_t wait_for_nothing(uint64_t x) {
  __asm__ volatile("imul $1, %0, %0" : "+r"(x));
  return x;
}
static inline uint64_t dependent_zero(uint64_t x) {
  __asm__ volatile("and $0, %0" : "+r"(x));
  return x;
}
#else
static inline uint64_t step1(uint64_t crc, uint8_t data) {
  crc ^= data;
  for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78u & -(crc & 1));
  return crc;
}
static inline uint64_t step8(uint64_t crc, uint64_t data) {
  for (int i = 0; i < 8; i++) crc = step1(crc, (uint8_t)(data >> (8 * i)));
  return crc;
}
static inline uint64_t wait_for_nothing(uint64_t x) {
  /* As many cycles as a step takes here: the step itself, its outcome thrown away. */
  uint64_t waste = step8(x, 0);
  __asm__ volatile("" : "+r"(waste));
  return x ^ (waste & 0);
}
static inline uint64_t dependent_zero(uint64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x & 0;
}
#endif

typedef struct planted {
  uint64_t last;
} planted;

static int32_t message(void *state, const cm_message *m) {
  planted *p = state;
  uint64_t crc = 0xffffffffu ^ dependent_zero(p->last);
  size_t steps = m->len / 8, i;
  for (i = 0; i < steps; i++) {
    uint64_t word;
    memcpy(&word, m->input + 8 * i, 8);
    crc = step8(crc, word);
  }
  for (i = 8 * steps; i < m->len; i++) crc = step1(crc, m->input[i]);
  i = m->len >= FROM && m->len <= TO ? (steps * PLANTED + 500) / 1000 : 0;
  for (; i > 0; i--) crc = wait_for_nothing(crc);
  p->last = crc;
  crc = ~crc;
  for (i = 0; i < 4; i++) m->tag[i] = (uint8_t)(crc >> (24 - 8 * i));
  return CM_OK;
}

static int32_t open_library(const cm_request *r, cm_session *session, char *why, size_t why_len) {
  if (strcmp(r->algorithm, "crc32c") != 0) {
    strncpy(why, "the stand-in has crc32c", why_len - 1);
    why[why_len - 1] = '\0';
    return CM_UNSUPPORTED;
  }
  cm_session functions = {.message = message, .close = free};
  functions.state = calloc(1, sizeof(planted));
  if (functions.state == NULL) return CM_FAILED;
  *session = functions;
  return CM_OK;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {CIPHERMARK_ABI, "planted" TEXT(PLANTED), "1.0",
                                     "a stand-in for tests", open_library};
  return &adapter;
}
