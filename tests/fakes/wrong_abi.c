/* Plants an adapter of the next version of the interface, as a shared object outlives the header that
 * it was built with.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ciphermark.h"

const cm_adapter *ciphermark_adapter(void) {
  static const cm_adapter adapter = {CIPHERMARK_ABI + 1, "wrong-abi", "1.0", NULL, NULL};
  return &adapter;
}
