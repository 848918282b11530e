// Stream ciphers. ChaCha20 as RFC 8439 has it is called ChaChaTLS in Crypto++.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <cryptopp/algparam.h>
#include <cryptopp/chacha.h>
#include <cryptopp/salsa.h>

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

} // namespace

const Algorithm streams[] = {
    {"chacha20", stream<CryptoPP::ChaChaTLS>},
    {"xchacha20", stream<CryptoPP::XChaCha20>},
    {"salsa20", stream<CryptoPP::Salsa20>},
    end_of_table,
};

} // namespace adapter
