// Modes of Cipher_Mode without a tag: CBC, CFB, CFB8, XTS.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "modes.hpp"

namespace adapter {
namespace {

struct Mode {
  std::unique_ptr<Botan::Cipher_Mode> mode;
  Split split;
  size_t key_len, nonce_len;
  Botan::secure_vector<uint8_t> last = {};

  Mode(std::unique_ptr<Botan::Cipher_Mode> m, const cm_request &r)
      : mode(std::move(m)), split(*mode, false), key_len(r.key_len), nonce_len(r.nonce_len) {}

  void set_key(const uint8_t *key) { mode->set_key(key, key_len); }

  // `finish` on what `process` was not given. Both continue the message that was started.
  int32_t end(const uint8_t *input, uint8_t *output, size_t len) {
    last.assign(input, input + len);
    mode->finish(last);
    if (last.size() != len) return CM_FAILED;
    if (len > 0) std::memcpy(output, last.data(), len);
    return CM_OK;
  }

  int32_t whole(const uint8_t *nonce, const uint8_t *input, uint8_t *output, size_t len) {
    // CBC decryption takes no bytes for a broken message: with padding it would be one.
    if (len == 0) return CM_OK;
    mode->start(nonce, nonce_len);
    const size_t bulk = split.bulk(len);
    if (!process(*mode, input, output, bulk)) return CM_FAILED;
    return end(input + bulk, output + bulk, len - bulk);
  }

  int32_t message(const cm_message &m) { return whole(m.nonce, m.input, m.output, m.len); }

  int32_t start(const uint8_t *nonce) {
    mode->reset();
    mode->start(nonce, nonce_len);
    return CM_OK;
  }
  // Only what is no multiple of the mode's step goes to `finish`, after which these modes go on.
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    const size_t bulk = len / mode->update_granularity() * mode->update_granularity();
    if (!process(*mode, input, output, bulk)) return CM_FAILED;
    return bulk == len ? CM_OK : end(input + bulk, output + bulk, len - bulk);
  }
};

// XTS: each update is a data unit under the one tweak.
struct Units : Mode {
  uint8_t tweak[16] = {};
  using Mode::Mode;

  int32_t start(const uint8_t *nonce) {
    std::memcpy(tweak, nonce, sizeof tweak);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    return whole(tweak, input, output, len);
  }
};

template <class T> cm_session opened(const Wanted &wanted) {
  auto mode = Botan::Cipher_Mode::create_or_throw(wanted.name, direction(wanted));
  auto state = std::make_unique<T>(std::move(mode), wanted.request);
  state->set_key(wanted.request.key);
  T *raw = state.release();
  const char *call = "Cipher_Mode::start, Cipher_Mode::process, Cipher_Mode::finish";
  return keyed(streaming(messages(raw, CM_IN_PLACE | CM_COPIES, call), raw), raw,
               "set_key");
}

} // namespace

cm_session open_mode(const Wanted &wanted) {
  const std::string &name = wanted.name;
  const bool units = name.compare(name.size() - 4, 4, "/XTS") == 0;
  return units ? opened<Units>(wanted) : opened<Mode>(wanted);
}

} // namespace adapter
