/* A library with several messages in flight, right in everything (as it is): nothing is done before eight messages
 * (-DAT=8) were handed over, or `drain`. Or with a fault in it:
 *   draining forgets the last message                       (-DFORGETS),
 *   only where others are in flight with it                 (-DFORGETS_AMONG): what is timed, and no check before,
 *   such a last message fails, and its error is lost        (-DLOSES_ERROR): it has written half,
 *   draining several reports an error                       (-DREPORTS_ERROR),
 *   sessions have `rekey` as well                           (-DREKEYS), or so many in flight (-DIN_FLIGHT=17).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

#ifndef AT
#define AT 8
#endif
#ifndef IN_FLIGHT
#define IN_FLIGHT AT
#endif

typedef struct late_state {
  fake_state state;
  cm_message waiting[AT];
  unsigned count;
} late_state;

static int32_t complete(late_state *s) {
  int32_t code = CM_OK;
  for (unsigned i = 0; i < s->count; i++) code |= right_message(&s->state, &s->waiting[i]);
  s->count = 0;
  return code;
}

static int32_t message(void *state, const cm_message *m) {
  late_state *s = state;
  s->waiting[s->count++] = *m;
  return s->count == AT ? complete(s) : CM_OK;
}

static int32_t drain(void *state) {
  late_state *s = state;
#if defined FORGETS
  if (s->count > 0) s->count--;
#elif defined FORGETS_AMONG
  if (s->count > 1) s->count--;
#elif defined LOSES_ERROR
  if (s->count > 1) {
    const cm_message *last = &s->waiting[--s->count];
    memcpy(last->output, last->input, last->len / 2);
  }
#elif defined REPORTS_ERROR
  if (s->count > 1) return complete(s) | CM_FAILED;
#endif
  return complete(s);
}

#ifdef REKEYS
static int32_t rekey(void *state, const uint8_t *key) {
  aes_set_key(&((late_state *)state)->state.key, key);
  return CM_OK;
}
#endif

static int32_t open_library(const cm_request *r, cm_session *s, char *why, size_t why_len) {
  const int tells = r->direction == CM_DECRYPT && r->tag_len > 0;
  cm_session functions = {.message = tells ? right_message : message, .close = free,
                          .call = "message, drain"};
  const int32_t code = fake_open(r, s, why, why_len, functions);
  if (code != CM_OK || tells) return code;
  late_state *late = calloc(1, sizeof *late);
  if (late == NULL) return CM_FAILED;
  late->state = *(fake_state *)s->state;
  free(s->state);
  s->state = late;
  s->drain = drain;
  s->in_flight = IN_FLIGHT;
#ifdef REKEYS
  s->rekey = rekey;
#endif
  return CM_OK;
}

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {CIPHERMARK_ABI, "defers", "1.0", "a stand-in for tests",
                                     open_library};
  return &adapter;
}
