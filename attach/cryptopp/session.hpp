// What every part of the adapter shares.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "../session.hpp"

#include <cryptopp/cryptlib.h>

namespace adapter {

// A session for whole messages of a T, which names its flags and calls.
template <class T> cm_session messages(T *state) { return messages(state, T::flags, T::call); }

// A session for messages and streams.
template <class T> cm_session messages_and_streams(T *state) {
  return streaming(messages(state), state);
}

// A digest or MAC, in one piece or in several.
template <class T> cm_session digests(T *state) {
  cm_session session = messages_and_streams(state);
  session.finish = finish<T>;
  return session;
}

// One of the algorithms. `open` throws where Crypto++ does not take the key.
struct Algorithm {
  const char *name;
  cm_session (*open)(const cm_request &request);
};

// Ends each of the tables below.
constexpr Algorithm end_of_table = {nullptr, nullptr};

extern const Algorithm modes[];
extern const Algorithm xts_modes[];
extern const Algorithm authenticated_modes[];
extern const Algorithm streams[];
extern const Algorithm digest_functions[];
extern const Algorithm derivations[];

} // namespace adapter
