// Crypto++ behind ciphermark's adapter interface: who it is, and what is opened by which name.
//
//     g++ -O2 -std=c++17 -fPIC -shared attach/cryptopp/*.cpp -Iinclude -lcryptopp -o libciphermark_cryptopp.so
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "session.hpp"

#include <cryptopp/aes.h>
#include <cryptopp/blake2.h>
#include <cryptopp/config.h>
#include <cryptopp/crc.h>
#include <cryptopp/sha.h>

#include <cstring>
#include <string>

namespace adapter {
namespace {

const Algorithm *find(const char *name) {
  for (const Algorithm *table :
       {modes, xts_modes, authenticated_modes, streams, digest_functions, derivations})
    for (const Algorithm *a = table; a->name != nullptr; a++)
      if (std::strcmp(a->name, name) == 0) return a;
  return nullptr;
}

bool has_direction(const cm_request &request, const Algorithm &algorithm) {
  for (const Algorithm *table : {digest_functions, derivations})
    for (const Algorithm *a = table; a->name != nullptr; a++)
      if (a == &algorithm) return request.direction == CM_DIGEST;
  return request.direction == CM_ENCRYPT || request.direction == CM_DECRYPT;
}

int32_t open_session(const cm_request *request, cm_session *session, char *why, size_t why_len) {
  const Algorithm *algorithm = find(request->algorithm);
  if (algorithm == nullptr || !has_direction(*request, *algorithm)) {
    std::snprintf(why, why_len, "Crypto++ has no %s", request->algorithm);
    return CM_UNSUPPORTED;
  }
  try {
    *session = algorithm->open(*request);
    return CM_OK;
  } catch (const CryptoPP::InvalidKeyLength &e) {
    std::snprintf(why, why_len, "%s", e.what());
    return CM_UNSUPPORTED;
  } catch (...) {
    return not_opened(why, why_len);
  }
}

// 870 is 8.7.0.
std::string dotted(int version) {
  return std::to_string(version / 100) + "." + std::to_string(version / 10 % 10) + "." +
         std::to_string(version % 10);
}

// Which of its implementations Crypto++ has chosen on this CPU, and what the adapter is made of.
std::string build_facts() {
  return "AES " + CryptoPP::AES::Encryption().AlgorithmProvider() + "\nSHA-256 " +
         CryptoPP::SHA256().AlgorithmProvider() + "\nBLAKE2b " +
         CryptoPP::BLAKE2b().AlgorithmProvider() + "\nCRC-32C " +
         CryptoPP::CRC32C().AlgorithmProvider() + made_of(dotted(CRYPTOPP_VERSION));
}

} // namespace

// What Crypto++ throws is a length that it does not take.
int32_t thrown() noexcept { return CM_FAILED; }

} // namespace adapter

extern "C" const cm_adapter *ciphermark_adapter(void) {
  try {
    // The library that is loaded, not the headers that this was compiled with.
    static const std::string version = adapter::dotted(CryptoPP::LibraryVersion());
    static const std::string build = adapter::build_facts();
    static const cm_adapter object = {CIPHERMARK_ABI, "cryptopp", version.c_str(), build.c_str(),
                                      adapter::open_session};
    return &object;
  } catch (...) {
    return nullptr;
  }
}
