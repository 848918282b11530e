// What the adapters in C++ share: the state behind a session, and the way from a library's exceptions to the
// interface's codes.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "ciphermark.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace adapter {

// The code of the exception that is being handled: each library's own.
int32_t thrown() noexcept;

// Runs a part of the interface. Nothing that is thrown leaves it: not what the library throws, and not what the C++
// library throws.
template <class F> int32_t guarded(F work) noexcept {
  try {
    return work();
  } catch (...) {
    return thrown();
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
template <class T> cm_session messages(T *state, uint32_t flags, const char *call) {
  cm_session session = {};
  session.state = state;
  session.flags = flags;
  session.message = message<T>;
  session.call = call;
  session.close = close<T>;
  return session;
}

// Lets a session stream.
template <class T> cm_session streaming(cm_session session, T *) {
  session.start = start<T>;
  session.update = update<T>;
  return session;
}

// Lets a session take new keys: T::set_key, by the functions that `call` names.
template <class T> cm_session keyed(cm_session session, T *, const char *call) {
  session.rekey = rekey<T>;
  session.rekey_call = call;
  return session;
}

// Says what is being thrown while a session is opened.
inline int32_t not_opened(char *why, size_t why_len) {
  try {
    throw;
  } catch (const std::exception &e) {
    std::snprintf(why, why_len, "%s", e.what());
  } catch (...) {
    std::snprintf(why, why_len, "an exception of unknown type");
  }
  return CM_FAILED;
}

// What the adapter is made of: the headers' version, and the compiler.
inline std::string made_of(const std::string &headers) {
  return "\nheaders " + headers + "\nadapter compiled by " +
#ifdef __clang__
         "clang "
#else
         "gcc "
#endif
         __VERSION__;
}

} // namespace adapter
