/* SHA-2 by the functions that need no jobs, or (-DJOBS) as jobs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

struct digest_state {
  IMB_MGR *mgr;
};

#ifdef JOBS
#define SHA(BITS)                                                                                  \
  static int32_t sha##BITS(void *state, const cm_message *m) {                                     \
    struct digest_state *s = state;                                                                \
    return run(s->mgr, hash_job(s->mgr, IMB_AUTH_SHA_##BITS, m->input, m->len, m->tag, BITS / 8)); \
  }                                                                                                \
  OPEN_SHA(BITS, JOB_CALLS)
#else
#define SHA(BITS)                                                                                  \
  static int32_t sha##BITS(void *state, const cm_message *m) {                                     \
    struct digest_state *s = state;                                                                \
    IMB_SHA##BITS(s->mgr, m->input, m->len, m->tag);                                               \
    return CM_OK;                                                                                  \
  }                                                                                                \
  OPEN_SHA(BITS, "IMB_SHA" #BITS)
#endif

#define OPEN_SHA(BITS, CALLS)                                                                      \
  static int32_t open_sha##BITS(const cm_request *r, cm_session *session) {                        \
    if (r->tag_len != BITS / 8) return CM_UNSUPPORTED;                                             \
    session->state = new_state(sizeof(struct digest_state));                                       \
    session->message = sha##BITS;                                                                  \
    session->call = CALLS;                                                                         \
    return session->state != NULL ? CM_OK : CM_FAILED;                                             \
  }

SHA(256)
SHA(384)
SHA(512)

const struct algorithm digest_algorithms[] = {
    {"sha256", open_sha256, 0},
    {"sha384", open_sha384, 0},
    {"sha512", open_sha512, 0},
    {NULL, NULL, 0},
};
