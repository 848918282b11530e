/* Jobs: filled in, submitted, and waited for, one at a time or (-DJOBS) several.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

#include <stddef.h>
#include <string.h>

#ifdef JOBS
static int32_t outcome(const IMB_JOB *job) {
  return job->status == IMB_STATUS_COMPLETED ? CM_OK : CM_FAILED;
}

/* Jobs come back in the order in which they were submitted, each once. */
int32_t run(IMB_MGR *mgr, IMB_JOB *job) {
  (void)job;
  int32_t code = CM_OK;
  for (IMB_JOB *done = IMB_SUBMIT_JOB(mgr); done != NULL; done = IMB_GET_COMPLETED_JOB(mgr))
    code |= outcome(done);
  while (IMB_QUEUE_SIZE(mgr) > MOST_UNFINISHED) code |= outcome(IMB_FLUSH_JOB(mgr));
  return code;
}

int32_t drain(void *state) {
  IMB_MGR *mgr;
  memcpy(&mgr, state, sizeof mgr);
  int32_t code = CM_OK;
  for (IMB_JOB *done; (done = IMB_FLUSH_JOB(mgr)) != NULL;) code |= outcome(done);
  return code;
}
#else
int32_t run(IMB_MGR *mgr, IMB_JOB *job) {
  IMB_JOB *done = IMB_SUBMIT_JOB(mgr);
  /* Where several buffers go through the CPU side by side, a single one waits for company. */
  if (done == NULL) done = IMB_FLUSH_JOB(mgr);
  return done == job && done->status == IMB_STATUS_COMPLETED ? CM_OK : CM_FAILED;
}
#endif

IMB_JOB *cipher_job(IMB_MGR *mgr, IMB_CIPHER_MODE mode, uint32_t direction) {
  IMB_JOB *job = IMB_GET_NEXT_JOB(mgr);
  job->cipher_mode = mode;
  job->cipher_direction = direction == CM_DECRYPT ? IMB_DIR_DECRYPT : IMB_DIR_ENCRYPT;
  job->chain_order = direction == CM_DECRYPT ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
  job->hash_alg = IMB_AUTH_NULL;
  job->cipher_start_src_offset_in_bytes = 0;
  return job;
}

IMB_JOB *hash_job(IMB_MGR *mgr, IMB_HASH_ALG hash, const uint8_t *input, size_t len, uint8_t *tag,
                  size_t tag_len) {
  IMB_JOB *job = IMB_GET_NEXT_JOB(mgr);
  job->cipher_mode = IMB_CIPHER_NULL;
  job->cipher_direction = IMB_DIR_ENCRYPT;
  job->chain_order = IMB_ORDER_HASH_CIPHER;
  job->hash_alg = hash;
  job->src = input;
  job->hash_start_src_offset_in_bytes = 0;
  job->msg_len_to_hash_in_bytes = len;
  job->auth_tag_output = tag;
  job->auth_tag_output_len_in_bytes = tag_len;
  return job;
}
