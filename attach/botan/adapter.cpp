// Botan's C++ classes behind ciphermark's adapter interface: who it is, and what is opened. With the
// system's Botan 2:
//
//     g++ -O2 -std=c++17 -fPIC -shared attach/botan/*.cpp -Iinclude -isystem /usr/include/botan-2 -lbotan-2 -o libciphermark_botan.so
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "names.hpp"

#include <botan/block_cipher.h>
#include <botan/hash.h>
#include <botan/stream_cipher.h>
#include <botan/version.h>

#include <string>

namespace adapter {
namespace {

// The library that is loaded, not the headers that this was compiled with.
const std::string &version() {
  static const std::string text = std::to_string(Botan::version_major()) + "." +
                                  std::to_string(Botan::version_minor()) + "." +
                                  std::to_string(Botan::version_patch());
  return text;
}

bool has_direction(const cm_request &request, const Name &name) {
  if (name.open == open_hash || name.open == open_mac || name.open == open_gmac)
    return request.direction == CM_DIGEST;
  return request.direction == CM_ENCRYPT || request.direction == CM_DECRYPT;
}

int32_t open_session(const cm_request *request, cm_session *session, char *why, size_t why_len) {
  try {
    const Name name = name_of(request->algorithm);
    if (name.open == nullptr || !has_direction(*request, name)) {
      std::snprintf(why, why_len, "Botan has no %s", request->algorithm);
      return CM_UNSUPPORTED;
    }
    *session = name.open({*request, name.botan});
    return CM_OK;
  } catch (const Botan::Lookup_Error &) {
    std::snprintf(why, why_len, "Botan %s has no %s", version().c_str(), request->algorithm);
    return CM_UNSUPPORTED;
  } catch (...) {
    return not_opened(why, why_len);
  }
}

template <class T> std::string provider(const char *name) {
  const auto object = T::create(name);
  return object ? std::string("\n") + name + " " + object->provider() : "";
}

// Which of its implementations Botan has chosen on this CPU, and what the adapter is made of.
std::string build_facts() {
  return Botan::version_string() + provider<Botan::BlockCipher>("AES-256") +
         provider<Botan::StreamCipher>("ChaCha(20)") + provider<Botan::HashFunction>("SHA-256") +
         made_of(std::to_string(BOTAN_VERSION_MAJOR) + "." + std::to_string(BOTAN_VERSION_MINOR) +
                 "." + std::to_string(BOTAN_VERSION_PATCH));
}

} // namespace

// A wrong tag, which Botan throws, is a rejection.
int32_t thrown() noexcept {
  try {
    throw;
  } catch (const Botan::Invalid_Authentication_Tag &) {
    return CM_REJECTED;
  } catch (...) {
    return CM_FAILED;
  }
}

} // namespace adapter

extern "C" __attribute__((visibility("default"))) const cm_adapter *ciphermark_adapter(void) {
  try {
    static const std::string build = adapter::build_facts();
    static const cm_adapter object = {CIPHERMARK_ABI, "botan", adapter::version().c_str(),
                                      build.c_str(), adapter::open_session};
    return &object;
  } catch (...) {
    return nullptr;
  }
}
