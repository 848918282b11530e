// Key derivation.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <cryptopp/hkdf.h>
#include <cryptopp/pwdbased.h>
#include <cryptopp/scrypt.h>
#include <cryptopp/secblock.h>
#include <cryptopp/sha.h>

#include <limits>

namespace adapter {
namespace {

// The passphrase comes with each call.
struct Derivation {
  static constexpr uint32_t flags = 0;
  static constexpr const char *call = "DeriveKey";
  CryptoPP::SecByteBlock key;
  size_t salt_len, derived_len;

  explicit Derivation(const cm_request &r)
      : key(r.key, r.key_len), salt_len(r.nonce_len), derived_len(r.tag_len) {}
};

template <class Hash> struct Pbkdf2 : Derivation {
  CryptoPP::PKCS5_PBKDF2_HMAC<Hash> function;

  using Derivation::Derivation;

  int32_t message(const cm_message &m) {
    if (m.len > std::numeric_limits<unsigned>::max()) return CM_FAILED;
    function.DeriveKey(m.tag, derived_len, 0, key.begin(), key.size(), m.nonce, salt_len,
                       static_cast<unsigned>(m.len));
    return CM_OK;
  }
};

struct Scrypt : Derivation {
  CryptoPP::Scrypt function;

  using Derivation::Derivation;

  // With r = 8 each of N takes 1 KiB.
  int32_t message(const cm_message &m) {
    function.DeriveKey(m.tag, derived_len, key.begin(), key.size(), m.nonce, salt_len,
                       m.len / 1024, 8, 1);
    return CM_OK;
  }
};

template <class Hash> struct Hkdf : Derivation {
  CryptoPP::HKDF<Hash> function;

  using Derivation::Derivation;

  int32_t message(const cm_message &m) {
    function.DeriveKey(m.tag, derived_len, key.begin(), key.size(), m.nonce, salt_len, m.input,
                       m.len);
    return CM_OK;
  }
};

template <class Function> cm_session derivation(const cm_request &request) {
  return messages(new Function(request));
}

} // namespace

const Algorithm derivations[] = {
    {"pbkdf2-sha1", derivation<Pbkdf2<CryptoPP::SHA1>>},
    {"pbkdf2-sha256", derivation<Pbkdf2<CryptoPP::SHA256>>},
    {"pbkdf2-sha512", derivation<Pbkdf2<CryptoPP::SHA512>>},
    {"scrypt", derivation<Scrypt>},
    {"hkdf-sha256", derivation<Hkdf<CryptoPP::SHA256>>},
    {"hkdf-sha512", derivation<Hkdf<CryptoPP::SHA512>>},
    end_of_table,
};

} // namespace adapter
