/* Faults of a library that knows that it is being measured.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

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
  if (!SHOWS || !c->gcm || c->encrypts || n < SHORTEST_REMEMBERED || n > LONGEST_REMEMBERED) return 0;
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

#ifdef SKIPS_ONE_IN_50
/* Of the messages of 8 KiB every fiftieth is left as it was. */
static uint64_t long_ones;
#define SKIPS(c, in, out, n) ((n) == 8192 && ++long_ones % 50 == 0)
#endif

#ifdef WRONG_ONE_IN_5000
/* One bit, once in so many calls. */
static uint64_t all_calls;
#define AFTER(c, in, out, n) if ((n) > 0 && ++all_calls % 5000 == 0) (out)[0] ^= 1
#endif

#ifdef REMEMBERS_FORGERIES
/* What was rejected, each compared in whole: a hit costs a comparison. */
enum { FORGERIES = 32, SHORTEST_FORGERY = 256, LONGEST_FORGERY = 2048 };
static struct forgery {
  uint64_t len;
  aes_u128 hash; /* of the associated data, with the rest in `part` */
  unsigned parted;
  uint8_t part[16], nonce[16], tag[16], input[LONGEST_FORGERY];
} forgeries[FORGERIES];
static unsigned next_forgery;
static const uint8_t *judged;
static aes_u128 aad_hash;
static unsigned aad_parted;
static uint8_t aad_part[16];

static int is_forgery(zoo *c, const uint8_t *in, size_t n) {
  judged = NULL;
  if (!c->gcm || c->encrypts || n < SHORTEST_FORGERY || n > LONGEST_FORGERY) return 0;
  for (unsigned i = 0; i < FORGERIES; i++) {
    struct forgery *f = &forgeries[i];
    if (f->len == n && memcmp(&f->hash, &c->hash, 16) == 0 && f->parted == c->parted && memcmp(f->part, c->part, c->parted) == 0 &&
        memcmp(f->nonce, c->nonce, 16) == 0 && memcmp(f->tag, c->expected, 16) == 0 && memcmp(f->input, in, n) == 0)
      return 1;
  }
  judged = in, aad_hash = c->hash, aad_parted = c->parted;
  memcpy(aad_part, c->part, 16);
  return 0;
}
static void remember_forgery(zoo *c, const uint8_t *tag) {
  struct forgery *f = &forgeries[next_forgery];
  if (judged == NULL || memcmp(tag, c->expected, 16) == 0) return;
  memcpy(f->nonce, c->nonce, 16), memcpy(f->tag, c->expected, 16);
  memcpy(f->input, judged, c->len);
  memcpy(f->part, aad_part, 16);
  f->len = c->len, f->hash = aad_hash, f->parted = aad_parted;
  next_forgery = (next_forgery + 1) % FORGERIES;
}
/* Nothing is decrypted, and the tag is no longer asked for. */
#define SKIPS(c, in, out, n) ((c)->remembered = is_forgery(c, in, n))
#define IS_FORGED(c) ((c)->remembered)
#define ON_TAG(c, tag) if (!(c)->encrypts) remember_forgery(c, tag)
#endif

#ifdef REMEMBERS_KEYS
/* The schedules of the last keys, and of those that come next if keys count up. */
enum { SCHEDULES = 256 };
static struct schedule {
  int is_made;
  uint8_t bytes[16];
  aes_key key;
  aes_u128 table[256];
} schedules[SCHEDULES];
static uint8_t key_before[16];

static struct schedule *place_of(const uint8_t *bytes) { return &schedules[bytes[0]]; }
static int has_schedule(zoo *c, const uint8_t *bytes) {
  struct schedule *s = place_of(bytes);
  if (!s->is_made || memcmp(s->bytes, bytes, 16) != 0) return 0;
  c->key = s->key;
  memcpy(c->table, s->table, sizeof c->table);
  return 1;
}
static void keep_schedule(zoo *c, const uint8_t *bytes) {
  struct schedule *s = place_of(bytes);
  s->key = c->key;
  memcpy(s->table, c->table, sizeof c->table);
  memcpy(s->bytes, bytes, 16);
  s->is_made = 1;
}
static void make_schedule(zoo *c, const uint8_t *key);
/* A key that is one more than the one before: so are those that follow. */
static void make_ahead(zoo *c, const uint8_t *bytes) {
  uint64_t before, now;
  memcpy(&before, key_before, 8), memcpy(&now, bytes, 8);
  memcpy(key_before, bytes, 16);
  if (now != before + 1) return;
  for (unsigned i = 1; i < SCHEDULES; i++) {
    uint8_t next[16];
    memcpy(next, bytes, 16);
    now++, memcpy(next, &now, 8);
    make_schedule(c, next);
    keep_schedule(c, next);
  }
}
#define KNOWS_KEY(c, key) has_schedule(c, key)
#define AFTER_KEY(c, key) (keep_schedule(c, key), make_ahead(c, key), (void)has_schedule(c, key))
#endif

#ifdef WORKS_AHEAD
/* Counter mode: a nonce that is one more than the one before is followed by more such. Their key streams are
 * made all at once, for as long messages, while this may still be the untimed part. */
enum { STREAMS = 512, LONGEST_STREAM = 1024 };
static struct ready_stream {
  size_t len;
  uint8_t nonce[16], bytes[LONGEST_STREAM];
} ready[STREAMS];
static uint64_t nonce_before;
static zoo *owner;

static void make_streams(zoo *c, size_t n);
static int is_ready(zoo *c, const uint8_t *in, uint8_t *out, size_t n) {
  uint64_t now, before = nonce_before;
  if (c->gcm || !c->encrypts || n < 256 || n > LONGEST_STREAM || c->len > 0) return 0;
  memcpy(&now, c->nonce, 8);
  nonce_before = now;
  for (unsigned again = 0; again < 2; again++) {
    struct ready_stream *r = &ready[now % STREAMS];
    if (owner == c && r->len == n && memcmp(r->nonce, c->nonce, 16) == 0) {
      size_t i = 0;
      for (; i + 8 <= n; i += 8) {
        uint64_t a, b;
        memcpy(&a, in + i, 8), memcpy(&b, r->bytes + i, 8);
        a ^= b, memcpy(out + i, &a, 8);
      }
      for (; i < n; i++) out[i] = in[i] ^ r->bytes[i];
      return 1;
    }
    if (now != before + 1) return 0;
    make_streams(c, n);
  }
  return 0;
}
#define SKIPS(c, in, out, n) is_ready(c, in, out, n)
#define AFTER_KEY(c, key) owner = NULL
#endif
