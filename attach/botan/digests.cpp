// Digests, HMAC, GMAC and Poly1305.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <botan/hash.h>
#include <botan/mac.h>

#include <cstring>
#include <memory>

namespace adapter {
namespace {

enum { LONGEST = 64 };

// Messages and streams have an object each: a stream may be left unfinished.
template <class Function> struct Pieces {
  std::unique_ptr<Function> function, stream;
  bool begun = false;

  // Ends what an earlier stream left.
  void begin() {
    uint8_t unwanted[LONGEST];
    if (begun) stream->final(unwanted);
    begun = true;
  }
  int32_t message(const cm_message &m) {
    function->update(m.input, m.len);
    function->final(m.tag);
    return CM_OK;
  }
  int32_t start(const uint8_t *) {
    begin();
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *, size_t len) {
    stream->update(input, len);
    return CM_OK;
  }
  int32_t finish(uint8_t *tag) {
    stream->final(tag);
    begun = false;
    return CM_OK;
  }
};

struct Hash : Pieces<Botan::HashFunction> {};

struct Hmac : Pieces<Botan::MessageAuthenticationCode> {
  size_t key_len = 0, nonce_len = 0;

  void set_key(const uint8_t *key) { function->set_key(key, key_len); }
};

struct Gmac : Hmac {
  int32_t message(const cm_message &m) {
    function->start(m.nonce, nonce_len);
    return Hmac::message(m);
  }
  int32_t start(const uint8_t *nonce) {
    begin();
    stream->start(nonce, nonce_len);
    return CM_OK;
  }
};

// Its key is for one message, so it is set with each.
struct Poly1305 : Hmac {
  uint8_t key[32] = {};

  void set_key(const uint8_t *fresh) { std::memcpy(key, fresh, sizeof key); }

  int32_t message(const cm_message &m) {
    function->set_key(key, sizeof key);
    return Hmac::message(m);
  }
  int32_t start(const uint8_t *) {
    stream->set_key(key, sizeof key);
    begun = true;
    return CM_OK;
  }
};

template <class T> cm_session opened(std::unique_ptr<T> state, const char *call) {
  T *raw = state.release();
  cm_session session = streaming(messages(raw, 0, call), raw);
  session.finish = finish<T>;
  return session;
}

template <class T> cm_session mac(const Wanted &wanted, const char *call) {
  const cm_request &r = wanted.request;
  auto state = std::make_unique<T>();
  state->function = Botan::MessageAuthenticationCode::create_or_throw(wanted.name);
  state->stream = Botan::MessageAuthenticationCode::create_or_throw(wanted.name);
  state->key_len = r.key_len, state->nonce_len = r.nonce_len;
  state->stream->set_key(r.key, r.key_len);
  state->set_key(r.key);
  T *raw = state.get();
  return keyed(opened(std::move(state), call), raw, "set_key");
}

} // namespace

cm_session open_hash(const Wanted &wanted) {
  auto state = std::make_unique<Hash>();
  state->function = Botan::HashFunction::create_or_throw(wanted.name);
  state->stream = Botan::HashFunction::create_or_throw(wanted.name);
  return opened(std::move(state), "HashFunction::update, HashFunction::final");
}

cm_session open_mac(const Wanted &wanted) {
  if (wanted.name.compare(0, 5, "GMAC(") == 0)
    return mac<Gmac>(wanted, "MessageAuthenticationCode::start, MessageAuthenticationCode::update, "
                             "MessageAuthenticationCode::final");
  if (wanted.name == "Poly1305")
    return mac<Poly1305>(wanted, "MessageAuthenticationCode::set_key, "
                                 "MessageAuthenticationCode::update, MessageAuthenticationCode::final");
  return mac<Hmac>(wanted, "MessageAuthenticationCode::update, MessageAuthenticationCode::final");
}

} // namespace adapter
