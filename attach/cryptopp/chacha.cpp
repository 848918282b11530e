// ChaCha20 as RFC 8439 has it, which Crypto++ calls ChaChaTLS.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <cryptopp/chacha.h>

namespace adapter {
namespace {

enum { NONCE_LEN = 12 };

struct ChaCha20 {
  static constexpr uint32_t flags = CM_IN_PLACE;
  static constexpr const char *call = "Resynchronize, ProcessData";
  // Its own inverse; block 0 is the default.
  CryptoPP::ChaChaTLS::Encryption cipher;

  explicit ChaCha20(const cm_request &request) : key_len(request.key_len) { set_key(request.key); }

  size_t key_len;

  void set_key(const uint8_t *key) {
    const CryptoPP::byte no_nonce[NONCE_LEN] = {};
    cipher.SetKeyWithIV(key, key_len, no_nonce, NONCE_LEN);
  }

  int32_t message(const cm_message &m) {
    cipher.Resynchronize(m.nonce, NONCE_LEN);
    cipher.ProcessData(m.output, m.input, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *nonce) {
    cipher.Resynchronize(nonce, NONCE_LEN);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    cipher.ProcessData(output, input, len);
    return CM_OK;
  }
};

cm_session chacha20(const cm_request &request) {
  ChaCha20 *state = new ChaCha20(request);
  return keyed(messages_and_streams(state), state, "SetKeyWithIV");
}

} // namespace

const Algorithm streams[] = {{"chacha20", chacha20}, end_of_table};

} // namespace adapter
