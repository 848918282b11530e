// GCM, CCM and EAX over block ciphers, ChaCha20-Poly1305, XChaCha20-Poly1305 and NaCl's secretbox.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ciphers.hpp"
#include "session.hpp"

#include <cryptopp/ccm.h>
#include <cryptopp/chachapoly.h>
#include <cryptopp/eax.h>
#include <cryptopp/gcm.h>
#include <cryptopp/naclite.h>

#include <cstring>
#include <type_traits>
#include <vector>

namespace adapter {
namespace {

const CryptoPP::byte no_nonce[24] = {};

template <class Cipher> struct Authenticated {
  Cipher cipher;
  size_t key_len, nonce_len, tag_len;

  explicit Authenticated(const cm_request &r)
      : key_len(r.key_len), nonce_len(r.nonce_len), tag_len(r.tag_len) {
    set_key(r.key);
  }

  void set_key(const uint8_t *key) { cipher.SetKeyWithIV(key, key_len, no_nonce, nonce_len); }
};

// What ChaCha20-Poly1305 allocates for each message in both directions, the other modes only to
// compare tags (README.md).
template <class Cipher> struct Sealing : Authenticated<Cipher> {
  static constexpr bool is_chacha =
      std::is_base_of<CryptoPP::ChaCha20Poly1305_Base, Cipher>::value ||
      std::is_base_of<CryptoPP::XChaCha20Poly1305_Base, Cipher>::value;
  static constexpr uint32_t flags = is_chacha ? CM_IN_PLACE | CM_ALLOCATES : CM_IN_PLACE;
  static constexpr const char *call = "EncryptAndAuthenticate";
  using Authenticated<Cipher>::Authenticated;

  int32_t message(const cm_message &m) {
    this->cipher.EncryptAndAuthenticate(m.output, m.tag, this->tag_len, m.nonce,
                                        static_cast<int>(this->nonce_len), m.aad, m.aad_len, m.input,
                                        m.len);
    return CM_OK;
  }
};

template <class Cipher> struct Opening : Authenticated<Cipher> {
  static constexpr uint32_t flags = CM_IN_PLACE | CM_ALLOCATES;
  static constexpr const char *call = "DecryptAndVerify";
  using Authenticated<Cipher>::Authenticated;

  int32_t message(const cm_message &m) {
    const bool right = this->cipher.DecryptAndVerify(
        m.output, m.tag, this->tag_len, m.nonce, static_cast<int>(this->nonce_len), m.aad, m.aad_len,
        m.input, m.len);
    return right ? CM_OK : CM_REJECTED;
  }
};

// SetKeyWithIV begins a message, and in EAX, Resynchronize does not give up one that was begun: the
// next message would be authenticated as the end of it. So that one is ended.
template <class Cipher> struct Ended : Cipher {
  explicit Ended(const cm_request &request) : Cipher(request) { end(); }

  void set_key(const uint8_t *key) {
    Cipher::set_key(key);
    end();
  }

  void end() {
    CryptoPP::byte tag[16];
    this->cipher.Final(tag);
  }
};

template <class T> cm_session whole(T *state) {
  return keyed(messages(state), state, "SetKeyWithIV");
}

template <class Mode> cm_session opened(const cm_request &request) {
  if (request.direction == CM_ENCRYPT) return whole(new Sealing<typename Mode::Encryption>(request));
  return whole(new Opening<typename Mode::Decryption>(request));
}

template <class C> cm_session gcm(const cm_request &request) {
  return opened<CryptoPP::GCM<C>>(request);
}
// The tag's length is part of CCM's first block and therefore of the type.
template <class C, int tag_len = 16> cm_session ccm(const cm_request &request) {
  return opened<CryptoPP::CCM<C, tag_len>>(request);
}
template <class C> cm_session eax(const cm_request &request) {
  using Mode = CryptoPP::EAX<C>;
  if (request.direction == CM_ENCRYPT)
    return whole(new Ended<Sealing<typename Mode::Encryption>>(request));
  return whole(new Ended<Opening<typename Mode::Decryption>>(request));
}

#ifndef CRYPTOPP_DISABLE_NACL
// TweetNaCl, as Crypto++ has it: the message lies behind 32 zeroes and comes out behind 16 and its tag, and no object
// keeps the key.
struct Box {
  static constexpr uint32_t flags = CM_IN_PLACE | CM_COPIES;
  enum { ZEROES = CryptoPP::NaCl::crypto_secretbox_ZEROBYTES, TAG_AT = CryptoPP::NaCl::crypto_secretbox_BOXZEROBYTES };

  uint8_t key[CryptoPP::NaCl::crypto_secretbox_KEYBYTES] = {};
  // Both grow with the first message of a size, which is a warm-up's.
  std::vector<uint8_t> plain, sealed;

  explicit Box(const cm_request &request) { set_key(request.key); }

  void set_key(const uint8_t *fresh) { std::memcpy(key, fresh, sizeof key); }

  void grow(size_t len) {
    if (plain.size() < len) plain.resize(len), sealed.resize(len);
  }
};

struct SealingBox : Box {
  static constexpr const char *call = "NaCl::crypto_secretbox";
  using Box::Box;

  int32_t message(const cm_message &m) {
    const size_t len = ZEROES + m.len;
    grow(len);
    std::memset(plain.data(), 0, ZEROES);
    if (m.len > 0) std::memcpy(plain.data() + ZEROES, m.input, m.len);
    if (CryptoPP::NaCl::crypto_secretbox(sealed.data(), plain.data(), len, m.nonce, key) != 0)
      return CM_FAILED;
    std::memcpy(m.tag, sealed.data() + TAG_AT, ZEROES - TAG_AT);
    if (m.len > 0) std::memcpy(m.output, sealed.data() + ZEROES, m.len);
    return CM_OK;
  }
};

struct OpeningBox : Box {
  static constexpr const char *call = "NaCl::crypto_secretbox_open";
  using Box::Box;

  int32_t message(const cm_message &m) {
    const size_t len = ZEROES + m.len;
    grow(len);
    std::memset(sealed.data(), 0, TAG_AT);
    std::memcpy(sealed.data() + TAG_AT, m.tag, ZEROES - TAG_AT);
    if (m.len > 0) std::memcpy(sealed.data() + ZEROES, m.input, m.len);
    // -1 is a wrong tag: nothing else can be wrong with a message that long.
    if (CryptoPP::NaCl::crypto_secretbox_open(plain.data(), sealed.data(), len, m.nonce, key) != 0)
      return CM_REJECTED;
    if (m.len > 0) std::memcpy(m.output, plain.data() + ZEROES, m.len);
    return CM_OK;
  }
};

template <class T> cm_session boxed(const cm_request &request) {
  T *state = new T(request);
  return keyed(messages(state), state, "none: the key is an argument of each message");
}

cm_session secretbox(const cm_request &request) {
  return request.direction == CM_ENCRYPT ? boxed<SealingBox>(request) : boxed<OpeningBox>(request);
}
#endif

} // namespace

const Algorithm authenticated_modes[] = {
    CIPHERS_128("gcm", gcm),
    CIPHERS_128("ccm", ccm),
    CIPHERS_128("eax", eax),
    FINALISTS_2("gcm", gcm),
    FINALISTS_2("eax", eax),
    {"aes-128-ccm8", ccm<CryptoPP::AES, 8>},
    {"aes-256-ccm8", ccm<CryptoPP::AES, 8>},
    {"chacha20-poly1305", opened<CryptoPP::ChaCha20Poly1305>},
    {"xchacha20-poly1305", opened<CryptoPP::XChaCha20Poly1305>},
#ifndef CRYPTOPP_DISABLE_NACL
    {"xsalsa20-poly1305", secretbox},
#endif
    end_of_table,
};

} // namespace adapter
