/* SHA-1, SHA-2 and CRC-32 by the functions that need no jobs; with -DJOBS the hashes as jobs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

struct digest_state {
  IMB_MGR *mgr;
};

static int32_t opened(const cm_request *r, cm_session *session, size_t len,
                      int32_t (*message)(void *, const cm_message *), const char *call) {
  if (r->tag_len != len) return CM_UNSUPPORTED;
  session->state = new_state(sizeof(struct digest_state));
  session->message = message;
  session->call = call;
  return session->state != NULL ? CM_OK : CM_FAILED;
}

#ifdef JOBS
#define SHA(NUMBER, LEN)                                                                           \
  static int32_t sha##NUMBER(void *state, const cm_message *m) {                                   \
    struct digest_state *s = state;                                                                \
    return run(s->mgr, hash_job(s->mgr, IMB_AUTH_SHA_##NUMBER, m->input, m->len, m->tag, LEN));    \
  }                                                                                                \
  OPEN_SHA(NUMBER, LEN, JOB_CALLS)
#else
#define SHA(NUMBER, LEN)                                                                           \
  static int32_t sha##NUMBER(void *state, const cm_message *m) {                                   \
    struct digest_state *s = state;                                                                \
    IMB_SHA##NUMBER(s->mgr, m->input, m->len, m->tag);                                             \
    return CM_OK;                                                                                  \
  }                                                                                                \
  OPEN_SHA(NUMBER, LEN, "IMB_SHA" #NUMBER)
#endif

#define OPEN_SHA(NUMBER, LEN, CALLS)                                                               \
  static int32_t open_sha##NUMBER(const cm_request *r, cm_session *session) {                      \
    return opened(r, session, LEN, sha##NUMBER, CALLS);                                            \
  }

SHA(1, 20)
SHA(224, 28)
SHA(256, 32)
SHA(384, 48)
SHA(512, 64)

/* The check sequence of Ethernet's frames is the CRC-32 of zlib. */
static int32_t crc32(void *state, const cm_message *m) {
  struct digest_state *s = state;
  const uint32_t crc = IMB_CRC32_ETHERNET_FCS(s->mgr, m->input, m->len);
  for (int i = 0; i < 4; i++) m->tag[i] = (uint8_t)(crc >> (24 - 8 * i));
  return CM_OK;
}

static int32_t open_crc32(const cm_request *r, cm_session *session) {
  return opened(r, session, 4, crc32, "IMB_CRC32_ETHERNET_FCS");
}

const struct algorithm digest_algorithms[] = {
    {"sha1", open_sha1, 0},     {"sha224", open_sha224, 0}, {"sha256", open_sha256, 0},
    {"sha384", open_sha384, 0}, {"sha512", open_sha512, 0}, {"crc32", open_crc32, 0},
    {NULL, NULL, 0},
};
