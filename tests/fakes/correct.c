/* Plants nothing: a library that is right, if slow.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"

LIBRARY("correct", right_message, right_start, right_update)
