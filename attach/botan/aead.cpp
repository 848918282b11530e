// Modes with a tag. Botan's message is ciphertext and tag in one piece (SIV: tag, then ciphertext);
// only its end has to be joined, because the rest is processed where it lies.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "modes.hpp"

#include <botan/aead.h>
#include <botan/block_cipher.h>
#if defined(BOTAN_HAS_NIST_KEYWRAP)
#include <botan/nist_keywrap.h>
#endif
#if defined(BOTAN_HAS_SODIUM_API)
#include <botan/sodium.h>
#endif

namespace adapter {
namespace {

using Vector = Botan::secure_vector<uint8_t>;

bool is(const std::string &name, const char *mode) {
  return name.find(std::string("/") + mode) != std::string::npos;
}

bool takes_whole(const std::string &name) {
  return is(name, "CCM") || is(name, "SIV") || is(name, "GCM-SIV");
}

struct Aead {
  std::unique_ptr<Botan::AEAD_Mode> mode;
  // A message that is begun and not ended would be in the way of the next one.
  std::unique_ptr<Botan::AEAD_Mode> stream;
  Split split;
  size_t key_len, nonce_len, tag_len;
  bool tag_first;
  // EAX of Botan 2 keeps its state after a message and refuses the next one's associated data.
  bool resets;
  // The end of the message, and the tag.
  Vector last = {};

  explicit Aead(const Wanted &wanted)
      : mode(created(wanted)), stream(created(wanted)), split(*mode, takes_whole(wanted.name)),
        key_len(wanted.request.key_len), nonce_len(wanted.request.nonce_len),
        tag_len(wanted.request.tag_len), tag_first(is(wanted.name, "SIV")),
        resets(BOTAN_VERSION_MAJOR < 3 && is(wanted.name, "EAX")) {}

  static std::unique_ptr<Botan::AEAD_Mode> created(const Wanted &wanted) {
    auto mode = Botan::AEAD_Mode::create_or_throw(wanted.name, direction(wanted));
    if (!mode->valid_nonce_length(wanted.request.nonce_len))
      throw Botan::Lookup_Error("this version takes no such nonce");
    mode->set_key(wanted.request.key, wanted.request.key_len);
    return mode;
  }

  void set_key(const uint8_t *key) { mode->set_key(key, key_len); }

  // Associated data also when there is none: Botan keeps that of the message before.
  void begin(const cm_message &m) {
    if (resets) mode->reset();
    mode->set_associated_data(m.aad, m.aad_len);
    mode->start(m.nonce, nonce_len);
  }

  int32_t start(const uint8_t *nonce) {
    stream->reset();
    stream->set_associated_data(nullptr, 0);
    stream->start(nonce, nonce_len);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    return process(*stream, input, output, len) ? CM_OK : CM_FAILED;
  }
};

struct Sealing : Aead {
  using Aead::Aead;

  int32_t message(const cm_message &m) {
    begin(m);
    const size_t bulk = split.bulk(m.len), rest = m.len - bulk;
    if (!process(*mode, m.input, m.output, bulk)) return CM_FAILED;
    last.assign(m.input + bulk, m.input + m.len);
    mode->finish(last);
    if (last.size() != rest + tag_len) return CM_FAILED;
    const uint8_t *text = last.data() + (tag_first ? tag_len : 0);
    if (rest > 0) std::memcpy(m.output + bulk, text, rest);
    std::memcpy(m.tag, last.data() + (tag_first ? 0 : rest), tag_len);
    return CM_OK;
  }
};

struct Opening : Aead {
  using Aead::Aead;

  int32_t message(const cm_message &m) {
    begin(m);
    const size_t bulk = split.bulk(m.len), rest = m.len - bulk;
    if (!process(*mode, m.input, m.output, bulk)) return CM_FAILED;
    join(m.input + bulk, rest, m.tag);
    try {
      mode->finish(last);
    } catch (...) {
      mode->reset();
      throw;
    }
    if (last.size() != rest) return CM_FAILED;
    if (rest > 0) std::memcpy(m.output + bulk, last.data(), rest);
    return CM_OK;
  }

  void join(const uint8_t *text, size_t len, const uint8_t *tag) {
    last.resize(len + tag_len);
    if (len > 0) std::memcpy(last.data() + (tag_first ? tag_len : 0), text, len);
    std::memcpy(last.data() + (tag_first ? 0 : len), tag, tag_len);
  }
};

// The class GMAC of Botan 2 forgets its key with each message. NIST SP 800-38D defines it by GCM.
struct Gmac : Aead {
  using Aead::Aead;

  int32_t message(const cm_message &m) {
    mode->set_associated_data(m.input, m.len);
    mode->start(m.nonce, nonce_len);
    last.clear();
    mode->finish(last);
    if (last.size() != tag_len) return CM_FAILED;
    std::memcpy(m.tag, last.data(), tag_len);
    return CM_OK;
  }
};

#if defined(BOTAN_HAS_SODIUM_API)
// NaCl's secretbox, which Botan has in its interface like libsodium's alone: no object keeps the key.
struct Box {
  bool encrypts;
  uint8_t key[Botan::Sodium::crypto_secretbox_KEYBYTES] = {};

  explicit Box(const Wanted &wanted) : encrypts(wanted.encrypts()) { set_key(wanted.request.key); }

  void set_key(const uint8_t *fresh) { std::memcpy(key, fresh, sizeof key); }

  int32_t message(const cm_message &m) {
    using namespace Botan::Sodium;
    if (encrypts)
      return crypto_secretbox_detached(m.output, m.tag, m.input, m.len, m.nonce, key) == 0 ? CM_OK
                                                                                           : CM_FAILED;
    // -1 is a wrong tag, and nothing else.
    return crypto_secretbox_open_detached(m.output, m.input, m.tag, m.len, m.nonce, key) == 0
               ? CM_OK
               : CM_REJECTED;
  }
};
#endif

#if defined(BOTAN_HAS_NIST_KEYWRAP)
// AES key wrap, with padding or without, by functions of a keyed block cipher. What they wrap is one piece, with the tag in
// front.
template <bool PADDED> struct KeyWrap {
  static constexpr size_t CHECK = 8;
  std::unique_ptr<Botan::BlockCipher> cipher;
  size_t key_len;
  bool encrypts;
  std::vector<uint8_t> joined = {};

  explicit KeyWrap(const Wanted &wanted)
      : cipher(Botan::BlockCipher::create_or_throw(wanted.name)), key_len(wanted.request.key_len),
        encrypts(wanted.encrypts()) {
    set_key(wanted.request.key);
  }

  void set_key(const uint8_t *key) { cipher->set_key(key, key_len); }

  int32_t message(const cm_message &m) {
    if (encrypts) {
      const auto wrapped = PADDED ? Botan::nist_key_wrap_padded(m.input, m.len, *cipher)
                                  : Botan::nist_key_wrap(m.input, m.len, *cipher);
      if (wrapped.size() != m.len + CHECK) return CM_FAILED;
      std::memcpy(m.tag, wrapped.data(), CHECK);
      std::memcpy(m.output, wrapped.data() + CHECK, m.len);
      return CM_OK;
    }
    joined.resize(m.len + CHECK);
    std::memcpy(joined.data(), m.tag, CHECK);
    std::memcpy(joined.data() + CHECK, m.input, m.len);
    const auto key = PADDED ? Botan::nist_key_unwrap_padded(joined.data(), joined.size(), *cipher)
                            : Botan::nist_key_unwrap(joined.data(), joined.size(), *cipher);
    if (key.size() != m.len) return CM_FAILED;
    std::memcpy(m.output, key.data(), m.len);
    return CM_OK;
  }
};
#endif

// What allocates for each message (README.md counts it).
bool allocates(const Wanted &wanted) {
  if (is(wanted.name, "CCM") || is(wanted.name, "SIV")) return true;
#if BOTAN_VERSION_MAJOR >= 3
  if (wanted.name == "ChaCha20Poly1305" && wanted.request.nonce_len == 24) return true;
  return is(wanted.name, "GCM-SIV") || is(wanted.name, "OCB") || is(wanted.name, "EAX");
#else
  return false;
#endif
}

template <class T> cm_session opened(const Wanted &wanted) {
  T *state = std::make_unique<T>(wanted).release();
  const char *call = takes_whole(wanted.name)
                         ? "AEAD_Mode::set_associated_data, Cipher_Mode::start, Cipher_Mode::finish"
                     : state->resets ? "Cipher_Mode::reset, AEAD_Mode::set_associated_data, "
                                       "Cipher_Mode::start, Cipher_Mode::process, Cipher_Mode::finish"
                                     : "AEAD_Mode::set_associated_data, Cipher_Mode::start, "
                                       "Cipher_Mode::process, Cipher_Mode::finish";
  const uint32_t flags = CM_IN_PLACE | CM_COPIES | (allocates(wanted) ? CM_ALLOCATES : 0);
  cm_session session = keyed(messages(state, flags, call), state, "set_key");
  // OCB has whole blocks in pieces by definition; the others must take single bytes.
  const size_t most = is(wanted.name, "OCB") ? 16 : 1;
  const bool streams = !state->split.whole && state->mode->update_granularity() <= most;
  return streams ? streaming(session, state) : session;
}

} // namespace

cm_session open_aead(const Wanted &wanted) {
  return wanted.encrypts() ? opened<Sealing>(wanted) : opened<Opening>(wanted);
}

cm_session open_gmac(const Wanted &wanted) {
  Gmac *state = std::make_unique<Gmac>(wanted).release();
  const char *call = "AEAD_Mode::set_associated_data, Cipher_Mode::start, Cipher_Mode::finish";
  return keyed(messages(state, 0, call), state, "set_key");
}

#if defined(BOTAN_HAS_NIST_KEYWRAP)
template <bool PADDED> cm_session opened_wrap(const Wanted &wanted, const char *call) {
  auto *state = std::make_unique<KeyWrap<PADDED>>(wanted).release();
  return keyed(messages(state, CM_IN_PLACE | CM_COPIES | CM_ALLOCATES, call), state, "set_key");
}

cm_session open_key_wrap(const Wanted &wanted) {
  return opened_wrap<false>(wanted, wanted.encrypts() ? "nist_key_wrap, memcpy"
                                                      : "memcpy, nist_key_unwrap, memcpy");
}

cm_session open_key_wrap_padded(const Wanted &wanted) {
  return opened_wrap<true>(wanted, wanted.encrypts() ? "nist_key_wrap_padded, memcpy"
                                                     : "memcpy, nist_key_unwrap_padded, memcpy");
}
#endif

#if defined(BOTAN_HAS_SODIUM_API)
cm_session open_secretbox(const Wanted &wanted) {
  Box *state = std::make_unique<Box>(wanted).release();
  const char *call = wanted.encrypts() ? "Sodium::crypto_secretbox_detached"
                                       : "Sodium::crypto_secretbox_open_detached";
  return keyed(messages(state, CM_IN_PLACE | CM_ALLOCATES, call), state,
               "none: the key is an argument of each message");
}
#endif

} // namespace adapter
