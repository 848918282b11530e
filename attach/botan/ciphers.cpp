// ECB, which is a block cipher's, and stream ciphers: CTR, OFB, ChaCha and Salsa20. Both work
// where the message lies, in place or not.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <botan/block_cipher.h>
#include <botan/stream_cipher.h>
#include <botan/version.h>

#include <memory>

namespace adapter {
namespace {

struct Block {
  std::unique_ptr<Botan::BlockCipher> cipher;
  size_t key_len;
  bool encrypts;

  void set_key(const uint8_t *key) { cipher->set_key(key, key_len); }

  int32_t message(const cm_message &m) { return update(m.input, m.output, m.len); }
  int32_t start(const uint8_t *) { return CM_OK; }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    const size_t block_len = cipher->block_size();
    if (len % block_len != 0) return CM_FAILED;
    if (encrypts) cipher->encrypt_n(input, output, len / block_len);
    else cipher->decrypt_n(input, output, len / block_len);
    return CM_OK;
  }
};

struct Stream {
  std::unique_ptr<Botan::StreamCipher> cipher;
  size_t key_len, nonce_len;

  void set_key(const uint8_t *key) { cipher->set_key(key, key_len); }

  int32_t message(const cm_message &m) {
    cipher->set_iv(m.nonce, nonce_len);
    cipher->cipher(m.input, m.output, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *nonce) {
    cipher->set_iv(nonce, nonce_len);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    cipher->cipher(input, output, len);
    return CM_OK;
  }
};

template <class T>
cm_session opened(std::unique_ptr<T> state, const cm_request &r, const char *call, uint32_t more = 0) {
  state->set_key(r.key);
  T *raw = state.release();
  return keyed(streaming(messages(raw, CM_IN_PLACE | more, call), raw), raw, "set_key");
}

} // namespace

cm_session open_block(const Wanted &wanted) {
  const cm_request &r = wanted.request;
  auto cipher = Botan::BlockCipher::create_or_throw(wanted.name);
  const char *call = wanted.encrypts() ? "BlockCipher::encrypt_n" : "BlockCipher::decrypt_n";
  return opened(std::make_unique<Block>(Block{std::move(cipher), r.key_len, wanted.encrypts()}), r,
                call);
}

cm_session open_stream(const Wanted &wanted) {
  const cm_request &r = wanted.request;
  auto cipher = Botan::StreamCipher::create_or_throw(wanted.name);
  // XChaCha20's nonce makes a key of its own, in a vector. Botan 2 takes that from its locked pool.
  const uint32_t more = BOTAN_VERSION_MAJOR >= 3 && r.nonce_len == 24 ? CM_ALLOCATES : 0;
  return opened(std::make_unique<Stream>(Stream{std::move(cipher), r.key_len, r.nonce_len}), r,
                "StreamCipher::set_iv, StreamCipher::cipher", more);
}

} // namespace adapter
