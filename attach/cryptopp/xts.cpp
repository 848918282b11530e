// XTS, where each message and each update of a stream is one data unit.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ciphers.hpp"
#include "session.hpp"

#include <cryptopp/xts.h>

#include <cstring>

namespace adapter {
namespace {

enum { BLOCK_LEN = 16 };

template <class Cipher> struct DataUnits {
  static constexpr uint32_t flags = CM_IN_PLACE;
  static constexpr const char *call = "Resynchronize, ProcessData, ProcessLastBlock";
  Cipher cipher;
  uint8_t tweak[BLOCK_LEN] = {};

  size_t key_len;

  explicit DataUnits(const cm_request &request) : key_len(request.key_len) { set_key(request.key); }

  void set_key(const uint8_t *key) { cipher.SetKeyWithIV(key, key_len, tweak, BLOCK_LEN); }

  // ProcessData takes whole blocks; what is left of a block goes with the last whole one into
  // ProcessLastBlock, as CryptoPP::StreamTransformationFilter does it.
  int32_t unit(const uint8_t *nonce, const uint8_t *input, uint8_t *output, size_t len) {
    if (len < BLOCK_LEN) return CM_FAILED;
    cipher.Resynchronize(nonce, BLOCK_LEN);
    const size_t rest = len % BLOCK_LEN;
    const size_t last = rest == 0 ? 0 : BLOCK_LEN + rest;
    cipher.ProcessData(output, input, len - last);
    if (last == 0) return CM_OK;
    const size_t done = len - last;
    return cipher.ProcessLastBlock(output + done, last, input + done, last) == last ? CM_OK
                                                                                    : CM_FAILED;
  }

  int32_t message(const cm_message &m) { return unit(m.nonce, m.input, m.output, m.len); }
  int32_t start(const uint8_t *nonce) {
    std::memcpy(tweak, nonce, BLOCK_LEN);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    return unit(tweak, input, output, len);
  }
};

template <class T> cm_session whole(T *state) {
  return keyed(messages_and_streams(state), state, "SetKeyWithIV");
}

template <class C> cm_session xts(const cm_request &request) {
  using Mode = CryptoPP::XTS<C>;
  if (request.direction == CM_ENCRYPT)
    return whole(new DataUnits<typename Mode::Encryption>(request));
  return whole(new DataUnits<typename Mode::Decryption>(request));
}

} // namespace

const Algorithm xts_modes[] = {
    {"aes-128-xts", xts<CryptoPP::AES>},
    {"aes-256-xts", xts<CryptoPP::AES>},
    {"camellia-128-xts", xts<CryptoPP::Camellia>},
    {"camellia-256-xts", xts<CryptoPP::Camellia>},
    {"aria-128-xts", xts<CryptoPP::ARIA>},
    {"aria-256-xts", xts<CryptoPP::ARIA>},
    {"sm4-xts", xts<CryptoPP::SM4>},
    FINALISTS_2("xts", xts),
    end_of_table,
};

} // namespace adapter
