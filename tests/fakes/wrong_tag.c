/* Plants a wrong tag beside right ciphertext: one bit of every tag is flipped, and decryption expects
 * it so. The library agrees with itself; only the known answer, or another library, finds it.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

static int32_t message(void *state, const cm_message *m) {
  const fake_state *s = state;
  uint8_t tag[AES_TAG];
  cm_message copy = *m;
  if (s->algorithm != FAKE_GCM) return right_message(state, m);
  if (s->direction == CM_DECRYPT) memcpy(tag, m->tag, AES_TAG);
  copy.tag = tag;
  tag[AES_TAG - 1] ^= s->direction == CM_DECRYPT;
  int32_t result = right_message(state, &copy);
  if (s->direction == CM_ENCRYPT) {
    tag[AES_TAG - 1] ^= 1;
    memcpy(m->tag, tag, AES_TAG);
  }
  return result;
}

LIBRARY("wrong-tag", message, right_start, right_update)
