// What every part of the adapter shares: the state behind a session, and the way from Botan's
// exceptions to the interface's codes.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "ciphermark.h"

#include <botan/build.h>
#include <botan/exceptn.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace adapter {

// Nothing that is thrown leaves the interface. A wrong tag, which Botan throws, is a rejection.
template <class F> int32_t guarded(F work) noexcept {
  try {
    return work();
  } catch (const Botan::Invalid_Authentication_Tag &) {
    return CM_REJECTED;
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

// Lets a session take new keys.
template <class T> cm_session keyed(cm_session session, T *) {
  session.rekey = rekey<T>;
  session.rekey_call = "set_key";
  return session;
}

// What is opened: the request, and Botan's name for it.
struct Wanted {
  const cm_request &request;
  const std::string name;

  bool encrypts() const { return request.direction != CM_DECRYPT; }
};

// Each is given a name of its interface. They throw Lookup_Error where the build lacks it.
cm_session open_block(const Wanted &);
cm_session open_stream(const Wanted &);
cm_session open_mode(const Wanted &);
cm_session open_aead(const Wanted &);
cm_session open_gmac(const Wanted &); // GCM of nothing: Botan 2
cm_session open_hash(const Wanted &);
cm_session open_mac(const Wanted &);

} // namespace adapter
