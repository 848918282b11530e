// SHA-2, SHA-3, BLAKE2b, CRC-32C, HMAC, Poly1305 and GMAC.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <cryptopp/aes.h>
#include <cryptopp/blake2.h>
#include <cryptopp/crc.h>
#include <cryptopp/gcm.h>
#include <cryptopp/hmac.h>
#include <cryptopp/poly1305.h>
#include <cryptopp/sha.h>
#include <cryptopp/sha3.h>

namespace adapter {
namespace {

template <class Hash> struct Digest {
  static constexpr uint32_t flags = 0;
  static constexpr const char *call = "CalculateDigest";
  Hash hash;

  int32_t message(const cm_message &m) {
    hash.CalculateDigest(m.tag, m.input, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *) {
    hash.Restart();
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *, size_t len) {
    hash.Update(input, len);
    return CM_OK;
  }
  int32_t finish(uint8_t *tag) {
    hash.Final(tag);
    return CM_OK;
  }
};

// A MAC under its key.
template <class Hash> struct Keyed : Digest<Hash> {
  size_t key_len;

  explicit Keyed(const cm_request &request) : key_len(request.key_len) { set_key(request.key); }

  void set_key(const uint8_t *key) { this->hash.SetKey(key, key_len); }
};

// Crypto++ writes the remainder's least significant byte first; the interface wants a number,
// big-endian.
struct Crc32c : Digest<CryptoPP::CRC32C> {
  static void turn(uint8_t *tag) {
    const uint8_t first = tag[0], second = tag[1];
    tag[0] = tag[3], tag[1] = tag[2], tag[2] = second, tag[3] = first;
  }
  int32_t message(const cm_message &m) {
    hash.CalculateDigest(m.tag, m.input, m.len);
    turn(m.tag);
    return CM_OK;
  }
  int32_t finish(uint8_t *tag) {
    hash.Final(tag);
    turn(tag);
    return CM_OK;
  }
};

// GCM of nothing, with the message as associated data.
struct Gmac {
  static constexpr uint32_t flags = 0;
  static constexpr const char *call = "EncryptAndAuthenticate";
  CryptoPP::GCM<CryptoPP::AES>::Encryption cipher;
  size_t key_len, nonce_len, tag_len;

  explicit Gmac(const cm_request &r)
      : key_len(r.key_len), nonce_len(r.nonce_len), tag_len(r.tag_len) {
    set_key(r.key);
  }

  void set_key(const uint8_t *key) {
    const CryptoPP::byte no_nonce[16] = {};
    cipher.SetKeyWithIV(key, key_len, no_nonce, nonce_len);
  }

  int32_t message(const cm_message &m) {
    cipher.EncryptAndAuthenticate(nullptr, m.tag, tag_len, m.nonce, static_cast<int>(nonce_len),
                                  m.input, m.len, nullptr, 0);
    return CM_OK;
  }
};

template <class Hash> cm_session digest(const cm_request &) { return digests(new Digest<Hash>); }

template <class Hash> cm_session mac(const cm_request &request) {
  Keyed<Hash> *state = new Keyed<Hash>(request);
  return keyed(digests(state), state, "SetKey");
}

cm_session crc32c(const cm_request &) { return digests(new Crc32c); }
cm_session gmac(const cm_request &request) {
  Gmac *state = new Gmac(request);
  return keyed(messages(state), state, "SetKeyWithIV");
}

} // namespace

const Algorithm digest_functions[] = {
    {"sha256", digest<CryptoPP::SHA256>},
    {"sha384", digest<CryptoPP::SHA384>},
    {"sha512", digest<CryptoPP::SHA512>},
    {"sha3-256", digest<CryptoPP::SHA3_256>},
    {"sha3-384", digest<CryptoPP::SHA3_384>},
    {"sha3-512", digest<CryptoPP::SHA3_512>},
    {"blake2b512", digest<CryptoPP::BLAKE2b>},
    {"crc32c", crc32c},
    {"hmac-sha256", mac<CryptoPP::HMAC<CryptoPP::SHA256>>},
    {"hmac-sha384", mac<CryptoPP::HMAC<CryptoPP::SHA384>>},
    {"hmac-sha512", mac<CryptoPP::HMAC<CryptoPP::SHA512>>},
    {"poly1305", mac<CryptoPP::Poly1305TLS>},
    {"aes-128-gmac", gmac},
    {"aes-192-gmac", gmac},
    {"aes-256-gmac", gmac},
    end_of_table,
};

} // namespace adapter
