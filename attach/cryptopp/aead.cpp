// GCM, CCM and EAX over every block cipher, ChaCha20-Poly1305 and XChaCha20-Poly1305.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ciphers.hpp"
#include "session.hpp"

#include <cryptopp/ccm.h>
#include <cryptopp/chachapoly.h>
#include <cryptopp/eax.h>
#include <cryptopp/gcm.h>

#include <type_traits>

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
template <class C> cm_session ccm(const cm_request &request) {
  return opened<CryptoPP::CCM<C, 16>>(request);
}
template <class C> cm_session eax(const cm_request &request) {
  using Mode = CryptoPP::EAX<C>;
  if (request.direction == CM_ENCRYPT)
    return whole(new Ended<Sealing<typename Mode::Encryption>>(request));
  return whole(new Ended<Opening<typename Mode::Decryption>>(request));
}

} // namespace

const Algorithm authenticated_modes[] = {
    CIPHERS_128("gcm", gcm),
    CIPHERS_128("ccm", ccm),
    CIPHERS_128("eax", eax),
    {"chacha20-poly1305", opened<CryptoPP::ChaCha20Poly1305>},
    {"xchacha20-poly1305", opened<CryptoPP::XChaCha20Poly1305>},
    end_of_table,
};

} // namespace adapter
