/* ECB, CBC, CFB and CTR, as jobs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

#include <string.h>

enum {
  MOST_ROUND_KEY_BYTES = 15 * 16,
  DES_KEY_LEN = 8,
  DES_KEYS = 3,
  /* Most jobs count bytes in 16 bits, less two: the last multiple of a block below that. */
  MOST_JOB_LEN = 65520,
};

struct cipher_state {
  IMB_MGR *mgr;
  DECLARE_ALIGNED(uint8_t encrypt[MOST_ROUND_KEY_BYTES], ALIGNMENT);
  DECLARE_ALIGNED(uint8_t decrypt[MOST_ROUND_KEY_BYTES], ALIGNMENT);
  DECLARE_ALIGNED(uint64_t schedules[DES_KEYS][IMB_DES_KEY_SCHED_SIZE / 8], ALIGNMENT);
  const void *schedule[DES_KEYS];
  const void *enc_keys, *dec_keys;
  IMB_CIPHER_MODE mode;
  uint32_t direction;
  size_t key_len, iv_len;
};

static int32_t part(struct cipher_state *s, const uint8_t *iv, const uint8_t *input,
                    uint8_t *output, size_t len) {
  IMB_JOB *job = cipher_job(s->mgr, s->mode, s->direction);
  job->enc_keys = s->enc_keys;
  job->dec_keys = s->dec_keys;
  job->key_len_in_bytes = s->key_len;
  job->src = input;
  job->dst = output;
  job->msg_len_to_cipher_in_bytes = len;
  job->iv = iv;
  job->iv_len_in_bytes = s->iv_len;
  return run(s->mgr, job);
}

/* The library refuses empty jobs: for an empty message there is nothing to call. A message that is
 * too long for one job is cut, and its last block of ciphertext becomes the next job's IV. */
static int32_t chained_message(void *state, const cm_message *m) {
  struct cipher_state *s = state;
  const uint8_t *iv = m->nonce;
  uint8_t blocks[2][BLOCK_LEN]; /* the IV in use and the next one */
  size_t done = 0;
#ifdef JOBS
  /* Each part of a longer message would have to wait for the one before. */
  if (m->len > MOST_JOB_LEN) return CM_FAILED;
#endif
  for (unsigned turn = 0; m->len - done > MOST_JOB_LEN; turn ^= 1) {
    const uint8_t *ciphertext = s->direction == CM_DECRYPT ? m->input : m->output;
    const size_t end = done + MOST_JOB_LEN;
    /* In place, decryption writes over it. */
    if (s->direction == CM_DECRYPT) memcpy(blocks[turn], ciphertext + end - s->iv_len, s->iv_len);
    const int32_t code = part(s, iv, m->input + done, m->output + done, MOST_JOB_LEN);
    if (code != CM_OK) return code;
    if (s->direction == CM_ENCRYPT) memcpy(blocks[turn], ciphertext + end - s->iv_len, s->iv_len);
    iv = blocks[turn];
    done = end;
  }
  return m->len == done ? CM_OK : part(s, iv, m->input + done, m->output + done, m->len - done);
}

#if HAS_2_0
/* A job of CFB takes whole blocks; another function takes what is left, in either direction. */
static int32_t cfb_message(void *state, const cm_message *m) {
  struct cipher_state *s = state;
  const size_t rest = m->len % BLOCK_LEN, whole = m->len - rest;
  uint8_t iv[BLOCK_LEN];
  memcpy(iv, m->nonce, BLOCK_LEN);
  /* In place, decryption writes over it. */
  if (rest != 0 && whole != 0 && s->direction == CM_DECRYPT)
    memcpy(iv, m->input + whole - BLOCK_LEN, BLOCK_LEN);
  cm_message blocks = *m;
  blocks.len = whole;
  const int32_t code = chained_message(state, &blocks);
  if (code != CM_OK || rest == 0) return code;
  if (whole != 0 && s->direction == CM_ENCRYPT)
    memcpy(iv, m->output + whole - BLOCK_LEN, BLOCK_LEN);
  uint8_t *output = m->output + whole;
  const uint8_t *input = m->input + whole;
  if (s->key_len == 16)
    IMB_AES128_CFB_ONE(s->mgr, output, input, iv, s->encrypt, rest);
  else
    IMB_AES256_CFB_ONE(s->mgr, output, input, iv, s->encrypt, rest);
  return CM_OK;
}
#endif

/* Raises the first twelve bytes of a counter block, a big-endian number, and clears the rest. */
static void carry(uint8_t *counter) {
  memset(counter + NONCE_LEN, 0, BLOCK_LEN - NONCE_LEN);
  for (int i = NONCE_LEN - 1; i >= 0 && ++counter[i] == 0; i--) {}
}

/* The library counts in the last 32 bits of the block alone, as RFC 3686 has it. A message that
 * would carry out of them is cut there. */
static int32_t ctr_message(void *state, const cm_message *m) {
  struct cipher_state *s = state;
  if (m->len == 0) return CM_OK;
  const uint8_t *low = m->nonce + NONCE_LEN;
  const uint32_t counter =
      (uint32_t)low[0] << 24 | (uint32_t)low[1] << 16 | (uint32_t)low[2] << 8 | low[3];
  const uint64_t before_carry = ((UINT64_C(1) << 32) - counter) * BLOCK_LEN;
  if (m->len <= before_carry) return part(s, m->nonce, m->input, m->output, m->len);
  if (m->len - before_carry > UINT64_C(1) << 36) return CM_FAILED; /* and out of them again */
  const int32_t code = part(s, m->nonce, m->input, m->output, before_carry);
  if (code != CM_OK) return code;
  uint8_t iv[BLOCK_LEN];
  memcpy(iv, m->nonce, BLOCK_LEN);
  carry(iv);
  return part(s, iv, m->input + before_carry, m->output + before_carry, m->len - before_carry);
}

static void expand_des(struct cipher_state *s, const uint8_t *key) {
  for (size_t i = 0; i < s->key_len / DES_KEY_LEN; i++) {
    IMB_DES_KEYSCHED(s->mgr, s->schedules[i], key + i * DES_KEY_LEN);
    s->schedule[i] = s->schedules[i];
  }
  /* Of one key the schedule itself, of three a list. */
  s->enc_keys = s->dec_keys = s->mode == IMB_CIPHER_DES ? s->schedule[0] : s->schedule;
}

static int expand(struct cipher_state *s, const uint8_t *key) {
  s->enc_keys = s->encrypt;
  s->dec_keys = s->decrypt;
#if HAS_2_0
  if (s->mode >= IMB_CIPHER_SM4_ECB && s->mode != IMB_CIPHER_CFB) {
    IMB_SM4_KEYEXP(s->mgr, key, s->encrypt, s->decrypt);
    return s->key_len == BLOCK_LEN;
  }
  /* CFB goes through the cipher in one direction only. */
  if (s->mode == IMB_CIPHER_CFB) s->dec_keys = s->encrypt;
#endif
  if (s->mode == IMB_CIPHER_DES3 || s->mode == IMB_CIPHER_DES) {
    if (s->key_len != (s->mode == IMB_CIPHER_DES ? 1 : DES_KEYS) * DES_KEY_LEN) return 0;
    expand_des(s, key);
    return 1;
  }
  switch (s->key_len) {
  case 16: IMB_AES_KEYEXP_128(s->mgr, key, s->encrypt, s->decrypt); return 1;
  case 24: IMB_AES_KEYEXP_192(s->mgr, key, s->encrypt, s->decrypt); return 1;
  case 32: IMB_AES_KEYEXP_256(s->mgr, key, s->encrypt, s->decrypt); return 1;
  default: return 0;
  }
}

/* The length was taken when the session was opened. */
static int32_t rekey(void *state, const uint8_t *key) {
  return expand(state, key) ? CM_OK : CM_FAILED;
}

static int32_t open_cipher(const cm_request *r, cm_session *session) {
  struct cipher_state *s = new_state(sizeof *s);
  if (s == NULL) return CM_FAILED;
  const struct algorithm *algorithm = find_algorithm(r->algorithm);
  s->mode = (IMB_CIPHER_MODE)algorithm->number;
  s->direction = r->direction;
  s->key_len = r->key_len;
  s->iv_len = r->nonce_len;
  if (!expand(s, r->key)) {
    close_state(s);
    return CM_UNSUPPORTED;
  }
  session->state = s;
  session->flags = CM_IN_PLACE;
  session->rekey = rekey;
  session->rekey_call = "the key expansion of the cipher (IMB_AES_KEYEXP_*, IMB_DES_KEYSCHED, IMB_SM4_KEYEXP)";
  session->call = JOB_CALLS;
#if HAS_2_0
  if (s->mode == IMB_CIPHER_CFB) {
    session->message = cfb_message;
    return CM_OK;
  }
#endif
  session->message = strstr(algorithm->name, "-ctr") != NULL ? ctr_message : chained_message;
  return CM_OK;
}

#define THREE_KEYS(mode, number)                                                                   \
  {"aes-128-" mode, open_cipher, number}, {"aes-192-" mode, open_cipher, number}, {                \
    "aes-256-" mode, open_cipher, number                                                           \
  }

const struct algorithm cipher_algorithms[] = {
    THREE_KEYS("ecb", IMB_CIPHER_ECB),
    THREE_KEYS("cbc", IMB_CIPHER_CBC),
    THREE_KEYS("ctr", IMB_CIPHER_CNTR),
    {"des-ede3-cbc", open_cipher, IMB_CIPHER_DES3},
    {"des-cbc", open_cipher, IMB_CIPHER_DES},
#if HAS_2_0
    {"aes-128-cfb", open_cipher, IMB_CIPHER_CFB},
    {"aes-256-cfb", open_cipher, IMB_CIPHER_CFB},
    {"sm4-ecb", open_cipher, IMB_CIPHER_SM4_ECB},
    {"sm4-cbc", open_cipher, IMB_CIPHER_SM4_CBC},
    {"sm4-ctr", open_cipher, IMB_CIPHER_SM4_CNTR},
#endif
    {NULL, NULL, 0},
};
