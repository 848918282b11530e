/* What every part of the adapter shares.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SESSION_H
#define SESSION_H

#include "ciphermark.h"

#include <intel-ipsec-mb.h>

/* Version 2.0 added CFB and SM4. */
#define HAS_2_0 (IMB_VERSION_NUM >= IMB_VERSION(2, 0, 0))

/* "avx512_t2: [aes-cmac] fix out of bound read for partial blocks" is in 2.0.2. */
#define CMAC_OVERREADS (IMB_VERSION_NUM < IMB_VERSION(2, 0, 2))

/* The library `ipsec-mb-jobs`: several jobs in flight. */
#ifdef JOBS
#define NAME "ipsec-mb-jobs"
#define JOB_CALLS                                                                                  \
  "IMB_GET_NEXT_JOB, IMB_SUBMIT_JOB, IMB_GET_COMPLETED_JOB, then IMB_FLUSH_JOB (16 jobs in flight)"
#else
#define NAME "ipsec-mb"
#define JOB_CALLS "IMB_GET_NEXT_JOB, IMB_SUBMIT_JOB, IMB_FLUSH_JOB (1 job in flight)"
#endif

enum { IN_FLIGHT = CM_MOST_IN_FLIGHT, MOST_UNFINISHED = IN_FLIGHT - 1 };
enum { ALIGNMENT = 64, BLOCK_LEN = 16, NONCE_LEN = 12, TAG_LEN = 16 };

/* One of the algorithms. `open` fills the session in and returns CM_OK, or says why not. */
struct algorithm {
  const char *name;
  int32_t (*open)(const cm_request *request, cm_session *session);
  int number; /* what `open` makes of it */
};

/* Each ends with an entry without a name. */
extern const struct algorithm gcm_algorithms[], cipher_algorithms[], aead_algorithms[],
    digest_algorithms[], mac_algorithms[];

/* The entry that is being opened, by its name. */
const struct algorithm *find_algorithm(const char *name);

/* A zeroed state of `size` bytes whose first member is an IMB_MGR *: a manager of its own, set up
 * for this CPU. NULL when there is no memory, or its self-test fails. */
void *new_state(size_t size);
void close_state(void *state);

/* Submits the job that is filled in, and waits for it; compiled with -DJOBS it waits for older ones
 * only, where more than MOST_UNFINISHED would be left, and `drain` for all. A message is one job then. */
int32_t run(IMB_MGR *mgr, IMB_JOB *job);
#ifdef JOBS
int32_t drain(void *state);
#endif
/* A job that enciphers with `mode` and makes no tag; keys, IV and buffers are left to fill in. */
IMB_JOB *cipher_job(IMB_MGR *mgr, IMB_CIPHER_MODE mode, uint32_t direction);
/* A job that makes a tag over `len` bytes and enciphers nothing. */
IMB_JOB *hash_job(IMB_MGR *mgr, IMB_HASH_ALG hash, const uint8_t *input, size_t len, uint8_t *tag,
                  size_t tag_len);

/* The library makes tags and leaves comparing them to its callers. */
int32_t compared(const uint8_t *made, const uint8_t *given, size_t len);

#endif
