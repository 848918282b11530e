// How a message goes through a Cipher_Mode: in place, the end of it in a vector of Botan's.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "session.hpp"

#include <botan/cipher_mode.h>
#include <botan/version.h>

#include <cstring>
#include <memory>

namespace adapter {

inline Botan::Cipher_Dir direction(const Wanted &wanted) {
#if BOTAN_VERSION_MAJOR >= 3
  return wanted.encrypts() ? Botan::Cipher_Dir::Encryption : Botan::Cipher_Dir::Decryption;
#else
  return wanted.encrypts() ? Botan::ENCRYPTION : Botan::DECRYPTION;
#endif
}

// How much of a message `process` takes; the rest is left for `finish`.
struct Split {
  size_t step;  // `process` is given multiples of this
  size_t least; // `finish` wants so many bytes of text
  bool whole;   // the mode gives nothing out before the end: all of it is for `finish`

  Split(const Botan::Cipher_Mode &mode, bool takes_whole)
      : step(mode.update_granularity()), least(mode.minimum_final_size()), whole(takes_whole) {
    const bool opens = least >= mode.tag_size() && mode.tag_size() > 0;
    if (opens) least -= mode.tag_size();
#if BOTAN_VERSION_MAJOR >= 3
    // Something is left over in any case: rather a whole round of the parallel code than a block.
    if (least > 0) step = mode.ideal_granularity();
#endif
  }

  size_t bulk(size_t len) const { return whole || len < least ? 0 : (len - least) / step * step; }
};

// Processes the first part of a message in `output`, in place. Out of place it has to be copied
// there first: Botan's modes have no other way.
inline bool process(Botan::Cipher_Mode &mode, const uint8_t *input, uint8_t *output, size_t len) {
  if (len == 0) return true;
  if (input != output) std::memcpy(output, input, len);
  return mode.process(output, len) == len;
}

} // namespace adapter
