// What every part of the adapter shares: the state behind a session, and the way from Crypto++'s
// exceptions to the interface's codes.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "ciphermark.h"

#include <cryptopp/cryptlib.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace adapter {

// Runs a part of the interface. Nothing that is thrown leaves it: not what Crypto++ throws for a
// length that it does not take, and not what the C++ library throws.
template <class F> int32_t guarded(F work) noexcept {
  try {
    return work();
  } catch (...) {
    return CM_FAILED;
  }
}

// The functions of a session whose state is a T: T::message, T::start and so on.
template <class T> int32_t message(void *state, const cm_message *m) {
  return guarded([=] { return static_cast<T *>(state)->message(*m); });
}

template <class T> int32_t start(void *state, const uint8_t *nonce) {
  return guarded([=] { return static_cast<T *>(state)->start(nonce); });
}

template <class T>
int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
  return guarded([=] { return static_cast<T *>(state)->update(input, output, len); });
}

template <class T> int32_t finish(void *state, uint8_t *tag) {
  return guarded([=] { return static_cast<T *>(state)->finish(tag); });
}

template <class T> int32_t rekey(void *state, const uint8_t *key) {
  return guarded([=] {
    static_cast<T *>(state)->set_key(key);
    return CM_OK;
  });
}

template <class T> void close(void *state) { delete static_cast<T *>(state); }

// A session for whole messages.
template <class T> cm_session messages(T *state) {
  cm_session session = {};
  session.state = state;
  session.flags = T::flags;
  session.message = message<T>;
  session.call = T::call;
  session.close = close<T>;
  return session;
}

// A session for messages and streams.
template <class T> cm_session messages_and_streams(T *state) {
  cm_session session = messages(state);
  session.start = start<T>;
  session.update = update<T>;
  return session;
}

// A digest or MAC, in one piece or in several.
template <class T> cm_session digests(T *state) {
  cm_session session = messages_and_streams(state);
  session.finish = finish<T>;
  return session;
}

// Lets a session take new keys: T::set_key, by the functions that `call` names.
template <class T> cm_session keyed(cm_session session, T *, const char *call) {
  session.rekey = rekey<T>;
  session.rekey_call = call;
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

} // namespace adapter
