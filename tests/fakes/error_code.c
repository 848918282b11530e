/* Plants an error beside right bytes: every message and update does its work and returns 1042, as a
 * library does whose caller forgets to look.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

enum { LIBRARYS_OWN_CODE = 1042 };

static int32_t message(void *state, const cm_message *m) {
  int32_t result = right_message(state, m);
  return result == CM_OK ? LIBRARYS_OWN_CODE : result;
}

static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  right_update(state, input, output, len);
  return LIBRARYS_OWN_CODE;
}

LIBRARY("error-code", message, right_start, update)
