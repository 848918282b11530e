// Digests, checksums and MACs.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

// MD4 and MD5 come with a warning unless they are named as weak.
#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1
#include <cryptopp/adler32.h>
#include <cryptopp/aes.h>
#include <cryptopp/blake2.h>
#include <cryptopp/camellia.h>
#include <cryptopp/cmac.h>
#include <cryptopp/crc.h>
#include <cryptopp/des.h>
#include <cryptopp/gcm.h>
#include <cryptopp/hmac.h>
#include <cryptopp/keccak.h>
#include <cryptopp/md4.h>
#include <cryptopp/md5.h>
#include <cryptopp/poly1305.h>
#include <cryptopp/ripemd.h>
#include <cryptopp/sha.h>
#include <cryptopp/sha3.h>
#include <cryptopp/shake.h>
#include <cryptopp/siphash.h>
#include <cryptopp/sm3.h>
#include <cryptopp/sm4.h>
#include <cryptopp/whrlpool.h>

namespace adapter {
namespace {

template <class Hash> struct Digest {
  static constexpr uint32_t flags = 0;
  static constexpr const char *call = "CalculateDigest";
  Hash hash;

  template <class... Arguments> explicit Digest(Arguments... arguments) : hash(arguments...) {}

  int32_t message(const cm_message &m) {
    hash.CalculateDigest(m.tag, m.input, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *) {
    // SipHash hides its own.
    static_cast<CryptoPP::HashTransformation &>(hash).Restart();
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
template <class Hash> struct Crc : Digest<Hash> {
  static void turn(uint8_t *tag) {
    const uint8_t first = tag[0], second = tag[1];
    tag[0] = tag[3], tag[1] = tag[2], tag[2] = second, tag[3] = first;
  }
  int32_t message(const cm_message &m) {
    this->hash.CalculateDigest(m.tag, m.input, m.len);
    turn(m.tag);
    return CM_OK;
  }
  int32_t finish(uint8_t *tag) {
    this->hash.Final(tag);
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

// BLAKE2 with another length of output than its longest.
cm_session blake2b256(const cm_request &request) {
  return digests(new Digest<CryptoPP::BLAKE2b>(false, static_cast<unsigned>(request.tag_len)));
}

template <class Hash> cm_session mac(const cm_request &request) {
  Keyed<Hash> *state = new Keyed<Hash>(request);
  return keyed(digests(state), state, "SetKey");
}

template <class Hash> cm_session crc(const cm_request &) { return digests(new Crc<Hash>); }
cm_session gmac(const cm_request &request) {
  Gmac *state = new Gmac(request);
  return keyed(messages(state), state, "SetKeyWithIV");
}

template <class Hash> cm_session hmac(const cm_request &request) {
  return mac<CryptoPP::HMAC<Hash>>(request);
}
template <class Cipher> cm_session cmac(const cm_request &request) {
  return mac<CryptoPP::CMAC<Cipher>>(request);
}

} // namespace

const Algorithm digest_functions[] = {
    {"md4", digest<CryptoPP::Weak::MD4>},
    {"md5", digest<CryptoPP::Weak::MD5>},
    {"sha1", digest<CryptoPP::SHA1>},
    {"sha224", digest<CryptoPP::SHA224>},
    {"sha256", digest<CryptoPP::SHA256>},
    {"sha384", digest<CryptoPP::SHA384>},
    {"sha512", digest<CryptoPP::SHA512>},
    {"sha3-224", digest<CryptoPP::SHA3_224>},
    {"sha3-256", digest<CryptoPP::SHA3_256>},
    {"sha3-384", digest<CryptoPP::SHA3_384>},
    {"sha3-512", digest<CryptoPP::SHA3_512>},
    {"keccak-256", digest<CryptoPP::Keccak_256>},
    {"shake128", digest<CryptoPP::SHAKE128>},
    {"shake256", digest<CryptoPP::SHAKE256>},
    {"blake2b512", digest<CryptoPP::BLAKE2b>},
    {"blake2b256", blake2b256},
    {"blake2s256", digest<CryptoPP::BLAKE2s>},
    {"sm3", digest<CryptoPP::SM3>},
    {"rmd160", digest<CryptoPP::RIPEMD160>},
    {"whirlpool", digest<CryptoPP::Whirlpool>},
    {"crc32c", crc<CryptoPP::CRC32C>},
    {"crc32", crc<CryptoPP::CRC32>},
    {"adler32", digest<CryptoPP::Adler32>},
    {"hmac-md5", hmac<CryptoPP::Weak::MD5>},
    {"hmac-sha1", hmac<CryptoPP::SHA1>},
    {"hmac-sha224", hmac<CryptoPP::SHA224>},
    {"hmac-sha256", hmac<CryptoPP::SHA256>},
    {"hmac-sha384", hmac<CryptoPP::SHA384>},
    {"hmac-sha512", hmac<CryptoPP::SHA512>},
    {"hmac-sha3-256", hmac<CryptoPP::SHA3_256>},
    {"hmac-sha3-512", hmac<CryptoPP::SHA3_512>},
    {"hmac-sm3", hmac<CryptoPP::SM3>},
    {"hmac-rmd160", hmac<CryptoPP::RIPEMD160>},
    {"aes-128-cmac", cmac<CryptoPP::AES>},
    {"aes-192-cmac", cmac<CryptoPP::AES>},
    {"aes-256-cmac", cmac<CryptoPP::AES>},
    {"camellia-128-cmac", cmac<CryptoPP::Camellia>},
    {"camellia-256-cmac", cmac<CryptoPP::Camellia>},
    {"sm4-cmac", cmac<CryptoPP::SM4>},
    {"des-ede3-cmac", cmac<CryptoPP::DES_EDE3>},
    {"siphash-2-4", mac<CryptoPP::SipHash<2, 4>>},
    {"siphash-1-3", mac<CryptoPP::SipHash<1, 3>>},
    {"blake2b512-mac", mac<CryptoPP::BLAKE2b>},
    {"blake2s256-mac", mac<CryptoPP::BLAKE2s>},
    {"poly1305", mac<CryptoPP::Poly1305TLS>},
    {"aes-128-gmac", gmac},
    {"aes-192-gmac", gmac},
    {"aes-256-gmac", gmac},
    end_of_table,
};

} // namespace adapter
