// ECB, which is a block cipher's, and stream ciphers: CTR, OFB, ChaCha, Salsa20 and RC4. All work
// where the message lies, in place or not.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <botan/block_cipher.h>
#include <botan/stream_cipher.h>
#include <botan/version.h>

#include <cstring>
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

// RC4 begins with the key, and has no nonce: each message sets the key again.
struct Rc4 {
  // A message in between must not touch the stream.
  std::unique_ptr<Botan::StreamCipher> cipher, stream;
  uint8_t key[16] = {};

  void set_key(const uint8_t *fresh) { std::memcpy(key, fresh, sizeof key); }

  int32_t message(const cm_message &m) {
    cipher->set_key(key, sizeof key);
    cipher->cipher(m.input, m.output, m.len);
    return CM_OK;
  }
  int32_t start(const uint8_t *) {
    stream->set_key(key, sizeof key);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    stream->cipher(input, output, len);
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

cm_session open_rc4(const Wanted &wanted) {
  auto cipher = [&] { return Botan::StreamCipher::create_or_throw(wanted.name); };
  auto state = std::make_unique<Rc4>(Rc4{cipher(), cipher()});
  cm_session session =
      opened(std::move(state), wanted.request, "StreamCipher::set_key, StreamCipher::cipher");
  session.rekey_call = "none: the key is set in each message";
  return session;
}

} // namespace adapter
