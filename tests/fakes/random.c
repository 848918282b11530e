/* A generator of random bytes, seeded when the library is loaded. Right by itself: it is shared by all sessions, and seeded
 * anew in a process that is forked. What is defined plants one fault:
 *
 *     cc -shared -fPIC -I include -D[COPIED | AT_FORK | OF_A_SESSION | BIASED]=1 -o libfake.so tests/fakes/random.c
 *
 * COPIED: a forked process goes on from its parent's state. AT_FORK: it does by clone(2), and not by fork(3). OF_A_SESSION: each session begins at the same state.
 * BIASED: one bit of 64 is always set.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "ciphermark.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t shared, first;
static pid_t seeded_in;

__attribute__((constructor)) static void seed(void) {
  if (getrandom(&shared, sizeof shared, 0) != sizeof shared) abort();
  first = shared;
  seeded_in = getpid();
#ifdef AT_FORK
  static int registered;
  if (!registered++) pthread_atfork(NULL, NULL, seed);
#endif
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int32_t message(void *state, const cm_message *m) {
  pthread_mutex_lock(&lock);
#if !defined COPIED && !defined AT_FORK
  if (getpid() != seeded_in) seed();
#endif
  uint64_t *from = &shared;
#ifdef OF_A_SESSION
  from = state;
#endif
  for (size_t at = 0; at < m->len; at += sizeof(uint64_t)) {
    uint64_t word = next(from);
#ifdef BIASED
    word |= 1;
#endif
    memcpy(m->output + at, &word, m->len - at < sizeof word ? m->len - at : sizeof word);
  }
  pthread_mutex_unlock(&lock);
  (void)state;
  return CM_OK;
}

static int32_t open_one(const cm_request *r, cm_session *session, char *why, size_t why_len) {
  if (r->direction != CM_GENERATE || strcmp(r->algorithm, "random") != 0) {
    strncpy(why, "there is nothing but random", why_len - 1);
    return CM_UNSUPPORTED;
  }
  uint64_t *state = malloc(sizeof *state);
  if (state == NULL) return CM_FAILED;
  *state = first;
  *session = (cm_session){.state = state, .message = message, .call = "message", .close = free};
  return CM_OK;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {CIPHERMARK_ABI, "random", "1", "", open_one};
  return &adapter;
}
