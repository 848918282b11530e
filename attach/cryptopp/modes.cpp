// ECB, CBC, CFB, OFB and CTR.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ciphers.hpp"
#include "session.hpp"

#include <cryptopp/algparam.h>
#include <cryptopp/modes.h>

#include <memory>
#include <string>

namespace adapter {
namespace {

// Crypto++ wants an IV with the key; every message and stream brings its own.
const CryptoPP::byte no_iv[16] = {};

// RC2 takes the key's number of effective bits apart, and has 1024 without it.
int effective_bits(const cm_request &request) {
  const bool rc2 = std::string(request.algorithm).compare(0, 4, "rc2-") == 0;
  return rc2 ? static_cast<int>(request.key_len) * 8 : 0;
}

// Modes whose key stream or feedback takes any length.
enum class Lengths { any, whole_blocks };

template <class Cipher, Lengths lengths> struct Keyed {
  Cipher cipher;

  bool takes(size_t len) const {
    return lengths == Lengths::any || len % cipher.MandatoryBlockSize() == 0;
  }

  int32_t process(const uint8_t *input, uint8_t *output, size_t len) {
    if (!takes(len)) return CM_FAILED;
    cipher.ProcessData(output, input, len);
    return CM_OK;
  }
};

// ECB, which has no IV.
template <class Cipher> struct Codebook : Keyed<Cipher, Lengths::whole_blocks> {
  static constexpr uint32_t flags = CM_IN_PLACE;
  static constexpr const char *call = "ProcessData";

  size_t key_len;
  int bits;

  explicit Codebook(const cm_request &request)
      : key_len(request.key_len), bits(effective_bits(request)) {
    set_key(request.key);
  }

  void set_key(const uint8_t *key) {
    using namespace CryptoPP;
    if (bits == 0) return this->cipher.SetKey(key, key_len);
    this->cipher.SetKey(key, key_len, MakeParameters(Name::EffectiveKeyLength(), bits));
  }

  int32_t message(const cm_message &m) { return this->process(m.input, m.output, m.len); }
  int32_t start(const uint8_t *) { return CM_OK; }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    return this->process(input, output, len);
  }
};

template <class Cipher, Lengths lengths, int segment_len = 0>
struct Chained : Keyed<Cipher, lengths> {
  static constexpr uint32_t flags = CM_IN_PLACE;
  static constexpr const char *call = "Resynchronize, ProcessData";

  size_t key_len, nonce_len;
  int bits;

  explicit Chained(const cm_request &request)
      : key_len(request.key_len), nonce_len(request.nonce_len), bits(effective_bits(request)) {
    set_key(request.key);
  }

  void set_key(const uint8_t *key) {
    using namespace CryptoPP;
    const ConstByteArrayParameter iv(no_iv, nonce_len);
    auto parameters = MakeParameters(Name::IV(), iv);
    if (segment_len != 0) parameters(Name::FeedbackSize(), segment_len);
    if (bits != 0) parameters(Name::EffectiveKeyLength(), bits);
    this->cipher.SetKey(key, key_len, parameters);
  }

  int32_t message(const cm_message &m) {
    this->cipher.Resynchronize(m.nonce);
    return this->process(m.input, m.output, m.len);
  }
  int32_t start(const uint8_t *nonce) {
    this->cipher.Resynchronize(nonce);
    return CM_OK;
  }
  int32_t update(const uint8_t *input, uint8_t *output, size_t len) {
    return this->process(input, output, len);
  }
};

template <class T> cm_session whole(T *state) {
  return keyed(messages_and_streams(state), state, "SetKey");
}

template <class Encryption, class Decryption> cm_session opened(const cm_request &request) {
  if (request.direction == CM_ENCRYPT) return whole(new Encryption(request));
  return whole(new Decryption(request));
}

template <class C> cm_session ecb(const cm_request &request) {
  using Mode = CryptoPP::ECB_Mode<C>;
  return opened<Codebook<typename Mode::Encryption>, Codebook<typename Mode::Decryption>>(request);
}

// A mode with an IV, in both directions.
template <class Mode, Lengths lengths, int segment_len = 0>
cm_session chained(const cm_request &request) {
  return opened<Chained<typename Mode::Encryption, lengths, segment_len>,
                Chained<typename Mode::Decryption, lengths, segment_len>>(request);
}

template <class C> cm_session cbc(const cm_request &request) {
  return chained<CryptoPP::CBC_Mode<C>, Lengths::whole_blocks>(request);
}
template <class C> cm_session cfb(const cm_request &request) {
  return chained<CryptoPP::CFB_Mode<C>, Lengths::any>(request);
}
template <class C> cm_session cfb8(const cm_request &request) {
  return chained<CryptoPP::CFB_Mode<C>, Lengths::any, 1>(request);
}
template <class C> cm_session ofb(const cm_request &request) {
  return chained<CryptoPP::OFB_Mode<C>, Lengths::any>(request);
}
template <class C> cm_session ctr(const cm_request &request) {
  return chained<CryptoPP::CTR_Mode<C>, Lengths::any>(request);
}

} // namespace

const Algorithm modes[] = {
    CIPHERS("ecb", ecb),     CIPHERS("cbc", cbc),     CIPHERS("cfb", cfb),
    CIPHERS("cfb8", cfb8),   CIPHERS("ofb", ofb),     CIPHERS("ctr", ctr),
    OLD_CIPHERS("ecb", ecb), OLD_CIPHERS("cbc", cbc), OLD_CIPHERS("cfb", cfb),
    OLD_CIPHERS("ofb", ofb), OLD_CIPHERS("ctr", ctr), end_of_table,
};

} // namespace adapter
