// What Botan calls the algorithms, and which of its classes has them.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "session.hpp"

namespace adapter {

struct Name {
  std::string botan;
  cm_session (*open)(const Wanted &); // null: Botan has no name for it
};

// `algorithm` is ciphermark's name.
Name name_of(const std::string &algorithm);

} // namespace adapter
