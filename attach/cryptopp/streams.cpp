// Stream ciphers. ChaCha20 as RFC 8439 has it is called ChaChaTLS in Crypto++, RC4 ARC4.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

// What it asks of those who use ARC4.
#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1
#include <cryptopp/algparam.h>
#include <cryptopp/arc4.h>
#include <cryptopp/chacha.h>
#include <cryptopp/salsa.h>

#include <cstring>
#include <type_traits>

namespace adapter {
namespace {

template <class Cipher> struct Stream {
  static constexpr uint32_t flags = CM_IN_PLACE;
  static constexpr const char *call = "Resynchronize, ProcessData";
  // Its own inverse.
  typename Cipher::Encryption cipher;
  size_t key_len;
  int nonce_len;

  explicit Stream(const cm_request &request)
      : key_len(request.key_len), nonce_len(static_cast<int>(request.nonce_len)) {
    set_key(request.key);
  }

  void set_key(const uint8_t *key) {
    using namespace CryptoPP;
    const byte no_nonce[24] = {};
    const ConstByteArrayParameter iv(no_nonce, static_cast<size_t>(nonce_len));
    auto parameters = MakeParameters(Name::IV(), iv);
    // XChaCha20 alone begins with block 1 unless it is told another.
    if (std::is_same<Cipher, XChaCha20>::value) parameters("InitialBlock", word64(0));
    cipher.SetKey(key, key_len, parameters);
  }

  int32_t message(const cm_message &m) {
    cipher.Resynchronize(m.nonce, nonce_len);
    cipher.ProcessData(m.output, m.input, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *nonce) {
    cipher.Resynchronize(nonce, nonce_len);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    cipher.ProcessData(output, input, len);
    return CM_OK;
  }
};

template <class Cipher> cm_session stream(const cm_request &request) {
  Stream<Cipher> *state = new Stream<Cipher>(request);
  return keyed(messages_and_streams(state), state, "SetKey");
}

// RC4 begins with the key, and has no nonce: each message sets the key again.
struct Arc4 {
  static constexpr uint32_t flags = CM_IN_PLACE;
  static constexpr const char *call = "SetKey, ProcessData";
  // A message in between must not touch the stream.
  CryptoPP::Weak::ARC4 cipher, stream;
  uint8_t key[16] = {};

  explicit Arc4(const cm_request &request) { set_key(request.key); }

  void set_key(const uint8_t *fresh) { std::memcpy(key, fresh, sizeof key); }

  int32_t message(const cm_message &m) {
    cipher.SetKey(key, sizeof key);
    cipher.ProcessData(m.output, m.input, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *) {
    stream.SetKey(key, sizeof key);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    stream.ProcessData(output, input, len);
    return CM_OK;
  }
};

cm_session arc4(const cm_request &request) {
  Arc4 *state = new Arc4(request);
  return keyed(messages_and_streams(state), state, "none: the key is set in each message");
}

} // namespace

const Algorithm streams[] = {
    {"chacha20", stream<CryptoPP::ChaChaTLS>},
    {"xchacha20", stream<CryptoPP::XChaCha20>},
    {"salsa20", stream<CryptoPP::Salsa20>},
    {"rc4", arc4},
    end_of_table,
};

} // namespace adapter
