// Botan 2's C++ classes behind ciphermark's adapter interface, called as its own benchmark calls them
// (src/cli/speed.cpp of Botan 2.19: `encipher` on one stream; `start` and `finish` for each buffer).
// The built-in adapter attaches Botan by its C functions. Measuring both shows what those cost, and
// that `botan speed` times the same work as ciphermark does.
//
//     g++ -O2 -std=c++17 -fPIC -shared -I include $(pkg-config --cflags botan-2) scripts/botan-classes.cpp \
//         $(pkg-config --libs botan-2) -o libbotan_classes.so
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ciphermark.h"

#include <botan/cipher_mode.h>
#include <botan/stream_cipher.h>
#include <botan/version.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace {

struct Name {
  const char *algorithm, *botan;
  bool stream;
};

constexpr Name names[] = {
    {"aes-128-ctr", "CTR-BE(AES-128)", true},
    {"aes-256-ctr", "CTR-BE(AES-256)", true},
    {"aes-128-cbc", "AES-128/CBC/NoPadding", false},
    {"aes-256-xts", "AES-256/XTS", false},
};

template <class F> int32_t guarded(F work) noexcept {
  try {
    work();
    return CM_OK;
  } catch (...) {
    return CM_FAILED;
  }
}

// One stream, continued from call to call.
struct Stream {
  std::unique_ptr<Botan::StreamCipher> cipher;
  size_t nonce_len;

  static int32_t start(void *state, const uint8_t *nonce) {
    auto *s = static_cast<Stream *>(state);
    return guarded([=] { s->cipher->set_iv(nonce, s->nonce_len); });
  }
  static int32_t update(void *state, const uint8_t *input, uint8_t *output, size_t len) {
    return guarded([=] { static_cast<Stream *>(state)->cipher->cipher(input, output, len); });
  }
  static int32_t message(void *state, const cm_message *m) {
    const int32_t code = start(state, m->nonce);
    return code == CM_OK ? update(state, m->input, m->output, m->len) : code;
  }
  static void close(void *state) { delete static_cast<Stream *>(state); }
};

// Whole messages in a buffer of the session's own, as the benchmark's buffer is: `finish` wants a
// vector of Botan's. The copies in and out are memcpy's, 1 % of what they stand beside.
struct Mode {
  std::unique_ptr<Botan::Cipher_Mode> mode;
  size_t nonce_len;
  Botan::secure_vector<uint8_t> buffer;

  static int32_t message(void *state, const cm_message *m) {
    auto *s = static_cast<Mode *>(state);
    if (m->len == 0) return CM_OK; // CBC without padding throws for decryption of nothing
    return guarded([=] {
      s->buffer.resize(m->len);
      std::memcpy(s->buffer.data(), m->input, m->len);
      s->mode->start(m->nonce, s->nonce_len);
      s->mode->finish(s->buffer);
      std::memcpy(m->output, s->buffer.data(), m->len);
    });
  }
  static void close(void *state) { delete static_cast<Mode *>(state); }
};

cm_session open_stream(const Name &name, const cm_request &request) {
  auto cipher = Botan::StreamCipher::create_or_throw(name.botan);
  cipher->set_key(request.key, request.key_len);
  cm_session session = {};
  session.state = new Stream{std::move(cipher), request.nonce_len};
  session.flags = CM_IN_PLACE;
  session.message = Stream::message;
  session.start = Stream::start;
  session.update = Stream::update;
  session.call = "StreamCipher::set_iv, StreamCipher::cipher";
  session.close = Stream::close;
  return session;
}

cm_session open_mode(const Name &name, const cm_request &request) {
  const auto direction = request.direction == CM_ENCRYPT ? Botan::ENCRYPTION : Botan::DECRYPTION;
  auto mode = Botan::Cipher_Mode::create_or_throw(name.botan, direction);
  mode->set_key(request.key, request.key_len);
  cm_session session = {};
  session.state = new Mode{std::move(mode), request.nonce_len, {}};
  session.flags = CM_COPIES;
  session.message = Mode::message;
  session.call = "Cipher_Mode::start, Cipher_Mode::finish";
  session.close = Mode::close;
  return session;
}

int32_t open_session(const cm_request *request, cm_session *session, char *why, size_t why_len) {
  for (const Name &name : names) {
    if (std::strcmp(name.algorithm, request->algorithm) != 0) continue;
    const int32_t code = guarded([&] {
      *session = name.stream ? open_stream(name, *request) : open_mode(name, *request);
    });
    if (code != CM_OK) std::snprintf(why, why_len, "Botan threw an exception");
    return code;
  }
  std::snprintf(why, why_len, "not one of those that are compared");
  return CM_UNSUPPORTED;
}

} // namespace

extern "C" const cm_adapter *ciphermark_adapter(void) {
  static const std::string version = Botan::short_version_string();
  static const cm_adapter object = {CIPHERMARK_ABI, "botan-classes", version.c_str(), nullptr,
                                    open_session};
  return &object;
}
