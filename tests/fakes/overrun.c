/* Plants one byte written past the end of every output, messages and updates alike.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

static int32_t message(void *state, const cm_message *m) {
  int32_t result = right_message(state, m);
  *(volatile uint8_t *)&m->output[m->len] = 0x55;
  return result;
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  int32_t result = right_update(state, input, output, len);
  *(volatile uint8_t *)&output[len] = 0x55;
  return result;
}

LIBRARY("overrun", message, right_start, update)
