// SPDX-License-Identifier: MIT OR Apache-2.0
#include "names.hpp"

#include <botan/version.h>

namespace adapter {
namespace {

struct Entry {
  const char *ours, *botan;
  cm_session (*open)(const Wanted &);
};

constexpr Entry whole_names[] = {
    {"chacha20", "ChaCha(20)", open_stream},
    {"chacha20-poly1305", "ChaCha20Poly1305", open_aead},
    // Told from it by its nonce of 24 bytes.
    {"xchacha20-poly1305", "ChaCha20Poly1305", open_aead},
    {"sha256", "SHA-256", open_hash},
    {"sha384", "SHA-384", open_hash},
    {"sha512", "SHA-512", open_hash},
    {"sha3-256", "SHA-3(256)", open_hash},
    {"sha3-384", "SHA-3(384)", open_hash},
    {"sha3-512", "SHA-3(512)", open_hash},
    {"blake2b512", "BLAKE2b(512)", open_hash},
    {"hmac-sha256", "HMAC(SHA-256)", open_mac},
    {"hmac-sha384", "HMAC(SHA-384)", open_mac},
    {"hmac-sha512", "HMAC(SHA-512)", open_mac},
    {"poly1305", "Poly1305", open_mac},
};

constexpr struct {
  const char *ours, *botan;
} block_ciphers[] = {
    {"aes-128-", "AES-128"},           {"aes-192-", "AES-192"},
    {"aes-256-", "AES-256"},           {"camellia-128-", "Camellia-128"},
    {"camellia-192-", "Camellia-192"}, {"camellia-256-", "Camellia-256"},
    {"aria-128-", "ARIA-128"},         {"aria-192-", "ARIA-192"},
    {"aria-256-", "ARIA-256"},         {"sm4-", "SM4"},
    {"des-ede3-", "TripleDES"},
};

// `*` stands for the block cipher.
constexpr Entry modes[] = {
    {"ecb", "*", open_block},
    {"cbc", "*/CBC/NoPadding", open_mode},
    {"cfb", "*/CFB", open_mode},
    {"cfb8", "*/CFB(8)", open_mode},
    {"xts", "*/XTS", open_mode},
    {"ofb", "OFB(*)", open_stream},
    {"ctr", "CTR-BE(*)", open_stream},
    {"gcm", "*/GCM", open_aead},
    // Tag length, and length of the length: 3 bytes go with a nonce of 12.
    {"ccm", "*/CCM(16,3)", open_aead},
    {"ocb", "*/OCB", open_aead},
    {"eax", "*/EAX", open_aead},
    {"siv", "*/SIV", open_aead},
    {"gcm-siv", "*/GCM-SIV", open_aead},
#if BOTAN_VERSION_MAJOR >= 3
    {"gmac", "GMAC(*)", open_mac},
#else
    {"gmac", "*/GCM", open_gmac},
#endif
};

} // namespace

Name name_of(const std::string &algorithm) {
  for (const Entry &entry : whole_names)
    if (algorithm == entry.ours) return {entry.botan, entry.open};
  for (const auto &cipher : block_ciphers)
    for (const Entry &mode : modes) {
      if (algorithm != std::string(cipher.ours) + mode.ours) continue;
      std::string name = mode.botan;
      name.replace(name.find('*'), 1, cipher.botan);
      return {name, mode.open};
    }
  return {"", nullptr};
}

} // namespace adapter
