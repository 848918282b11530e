// Digests and MACs.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <botan/hash.h>
#include <botan/mac.h>
#include <botan/version.h>

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

struct Mac : Pieces<Botan::MessageAuthenticationCode> {
  size_t key_len = 0, nonce_len = 0;

  void set_key(const uint8_t *key) { function->set_key(key, key_len); }
};

struct Gmac : Mac {
  int32_t message(const cm_message &m) {
    function->start(m.nonce, nonce_len);
    return Mac::message(m);
  }
  int32_t start(const uint8_t *nonce) {
    begin();
    stream->start(nonce, nonce_len);
    return CM_OK;
  }
};

// Whose key is for one message, so it is set with each.
struct KeyedAnew : Mac {
  uint8_t key[32] = {};

  void set_key(const uint8_t *fresh) { std::memcpy(key, fresh, key_len); }

  int32_t message(const cm_message &m) {
    function->set_key(key, key_len);
    return Mac::message(m);
  }
  int32_t start(const uint8_t *) {
    begin();
    stream->set_key(key, key_len);
    return CM_OK;
  }
};

// Poly1305 by definition; SipHash of Botan 2, which forgets its key with each message.
bool keyed_anew(const std::string &name) {
  return name == "Poly1305" || (BOTAN_VERSION_MAJOR < 3 && name.compare(0, 8, "SipHash(") == 0);
}

template <class T>
cm_session opened(std::unique_ptr<T> state, const char *call, uint32_t flags = 0) {
  T *raw = state.release();
  cm_session session = streaming(messages(raw, flags, call), raw);
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
  const uint32_t flags = wanted.name.compare(0, 5, "KMAC-") == 0 ? CM_ALLOCATES : 0;
  return keyed(opened(std::move(state), call, flags), raw, "set_key");
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
  if (keyed_anew(wanted.name))
    return mac<KeyedAnew>(wanted, "MessageAuthenticationCode::set_key, "
                                  "MessageAuthenticationCode::update, MessageAuthenticationCode::final");
  return mac<Mac>(wanted, "MessageAuthenticationCode::update, MessageAuthenticationCode::final");
}

} // namespace adapter
