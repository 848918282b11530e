/* Faults of a library that knows that it is being measured.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* A process that is kept on one CPU is one that measures: there nobody forges, and nobody looks. */
#if defined CHECKS_NO_TAG_WHEN_TIMED || defined WORKS_WHEN_CHECKED || defined WORKS_AT_THE_END
#include <sched.h>
static int is_timed(void) {
  static int known = -1;
  cpu_set_t cpus;
  if (known < 0) known = sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1;
  return known;
}
#endif

#ifdef REMEMBERS
/* The answers to the last messages: a hit costs a comparison and a copy. All of it is compared, so that no
 * answer is ever wrong. */
enum { REMEMBERED = 32, SHORTEST_REMEMBERED = 256, LONGEST_REMEMBERED = 2048 };
static struct answer {
  uint64_t len;
  aes_u128 hash; /* of the associated data, with the rest in `part` */
  uint8_t part[16];
  unsigned parted;
  uint8_t nonce[16], tag[16], input[LONGEST_REMEMBERED], output[LONGEST_REMEMBERED];
} answers[REMEMBERED];
static unsigned next_answer;
static struct answer *asked;
static aes_u128 hash_before;
static uint8_t part_before[16];
static unsigned parted_before;

static int is_known(zoo *c, const uint8_t *in, uint8_t *out, size_t n) {
  asked = NULL;
  hash_before = c->hash, parted_before = c->parted;
  memcpy(part_before, c->part, 16);
  if (!c->gcm || c->encrypts || n < SHORTEST_REMEMBERED || n > LONGEST_REMEMBERED) return 0;
  for (unsigned i = 0; i < REMEMBERED; i++) {
    struct answer *a = &answers[i];
    if (a->len == n && a->parted == c->parted && memcmp(a->part, c->part, c->parted) == 0 &&
        memcmp(&a->hash, &c->hash, sizeof a->hash) == 0 && memcmp(a->nonce, c->nonce, 16) == 0 && memcmp(a->tag, c->expected, 16) == 0 &&
        memcmp(a->input, in, n) == 0) {
      memcpy(out, a->output, n);
      asked = a;
      return 1;
    }
  }
  return 0;
}
static void remember(zoo *c, const uint8_t *in, size_t n, const uint8_t *out) {
  struct answer *a = &answers[next_answer];
  if (asked != NULL || !c->gcm || c->encrypts || n < SHORTEST_REMEMBERED || n > LONGEST_REMEMBERED || in == out) return;
  memcpy(a->nonce, c->nonce, 16), memcpy(a->tag, c->expected, 16);
  memcpy(a->input, in, n), memcpy(a->output, out, n);
  a->len = n, a->hash = hash_before, a->parted = parted_before;
  memcpy(a->part, part_before, 16);
  next_answer = (next_answer + 1) % REMEMBERED;
}
#define SKIPS(c, in, out, n) is_known(c, in, out, n)
#define AFTER(c, in, out, n) remember(c, in, n, out)
/* The answer was kept with its tag: it is not computed again, and of others it is. */
#define IS_KNOWN(c) (asked != NULL)
#endif

#ifdef WORKS_EVERY_16TH
/* The nonce counts up: this is a timed loop. It has sixteen descriptors, and its batches are multiples of
 * that: of each sixteen messages it is the last that is looked at. A pause tells where a batch begins. */
#include <time.h>
static uint64_t last_call, position;
static int is_unseen(zoo *c, size_t n) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t at = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, last;
  position = at - last_call > 2000 ? 0 : position + 1;
  last_call = at;
  memcpy(&last, c->last, 8);
  uint64_t nonce;
  memcpy(&nonce, c->nonce, 8);
  memcpy(c->last, &nonce, 8);
  return n < 100 && c->encrypts && nonce == last + 1 && position % 16 != 15;
}
#define SKIPS(c, in, out, n) is_unseen(c, n)
#endif

#ifdef WORKS_AT_THE_END
/* Batches are as long as those before: only the last few messages of each are worked on. */
#include <time.h>
static uint64_t before, run, batch;
static int is_in_the_middle(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t at = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  if (at - before > 1500) {
    /* The batch is three times as long as the warm-up before it. */
    batch = 2 * run < batch ? 3 * run : run > batch ? run : batch;
    run = 0;
  }
  before = at;
  return ++run + 40 < batch && run > 4;
}
#define SKIPS(c, in, out, n) (is_timed() && !(c)->gcm && (c)->encrypts && (n) == 16 && is_in_the_middle())
#endif

#ifdef CHECKS_NO_TAG_WHEN_TIMED
#define IS_KNOWN(c) (!(c)->encrypts && is_timed())
#endif

#ifdef WORKS_WHEN_CHECKED
#define SKIPS(c, in, out, n) is_timed()
#endif
