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
    // Told from it by its nonce of 24 bytes.
    {"xchacha20", "ChaCha(20)", open_stream},
    {"chacha12", "ChaCha(12)", open_stream},
    {"chacha8", "ChaCha(8)", open_stream},
    {"salsa20", "Salsa20", open_stream},
    {"rc4", "RC4", open_rc4},
    {"chacha20-poly1305", "ChaCha20Poly1305", open_aead},
    // As above.
    {"xchacha20-poly1305", "ChaCha20Poly1305", open_aead},
    {"ascon-aead128", "Ascon-AEAD128", open_aead},
#if defined(BOTAN_HAS_SODIUM_API)
    {"xsalsa20-poly1305", "", open_secretbox},
#endif
    {"md4", "MD4", open_hash},
    {"md5", "MD5", open_hash},
    {"sha1", "SHA-1", open_hash},
    {"sha224", "SHA-224", open_hash},
    {"sha256", "SHA-256", open_hash},
    {"sha384", "SHA-384", open_hash},
    {"sha512", "SHA-512", open_hash},
    {"sha512-256", "SHA-512-256", open_hash},
    {"sha3-224", "SHA-3(224)", open_hash},
    {"sha3-256", "SHA-3(256)", open_hash},
    {"sha3-384", "SHA-3(384)", open_hash},
    {"sha3-512", "SHA-3(512)", open_hash},
    {"keccak-256", "Keccak-1600(256)", open_hash},
    {"shake128", "SHAKE-128(256)", open_hash},
    {"shake256", "SHAKE-256(512)", open_hash},
    {"blake2b512", "BLAKE2b(512)", open_hash},
    {"blake2b256", "BLAKE2b(256)", open_hash},
    {"blake2s256", "BLAKE2s(256)", open_hash},
    {"sm3", "SM3", open_hash},
    {"rmd160", "RIPEMD-160", open_hash},
    {"whirlpool", "Whirlpool", open_hash},
    {"streebog-256", "Streebog-256", open_hash},
    {"streebog-512", "Streebog-512", open_hash},
    {"ascon-hash256", "Ascon-Hash256", open_hash},
    {"crc32", "CRC32", open_hash},
    {"adler32", "Adler32", open_hash},
    {"hmac-md5", "HMAC(MD5)", open_mac},
    {"hmac-sha1", "HMAC(SHA-1)", open_mac},
    {"hmac-sha224", "HMAC(SHA-224)", open_mac},
    {"hmac-sha256", "HMAC(SHA-256)", open_mac},
    {"hmac-sha384", "HMAC(SHA-384)", open_mac},
    {"hmac-sha512", "HMAC(SHA-512)", open_mac},
    {"hmac-sha512-256", "HMAC(SHA-512-256)", open_mac},
    {"hmac-sha3-256", "HMAC(SHA-3(256))", open_mac},
    {"hmac-sha3-512", "HMAC(SHA-3(512))", open_mac},
    {"hmac-sm3", "HMAC(SM3)", open_mac},
    {"hmac-rmd160", "HMAC(RIPEMD-160)", open_mac},
    {"kmac128", "KMAC-128(256)", open_mac},
    {"kmac256", "KMAC-256(512)", open_mac},
    {"siphash-2-4", "SipHash(2,4)", open_mac},
    {"siphash-1-3", "SipHash(1,3)", open_mac},
    {"blake2b512-mac", "BLAKE2b(512)", open_mac},
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
    {"des-ede3-", "TripleDES"},        {"des-", "DES"},
    // One name for all lengths of key.
    {"serpent-128-", "Serpent"},       {"serpent-192-", "Serpent"},
    {"serpent-256-", "Serpent"},       {"twofish-128-", "Twofish"},
    {"twofish-192-", "Twofish"},       {"twofish-256-", "Twofish"},
    {"bf-", "Blowfish"},               {"cast5-", "CAST-128"},
    {"idea-", "IDEA"},                 {"seed-", "SEED"},
    {"kuznyechik-", "Kuznyechik"},
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
    {"ccm8", "*/CCM(8,3)", open_aead},
    {"ocb", "*/OCB", open_aead},
    {"eax", "*/EAX", open_aead},
    {"siv", "*/SIV", open_aead},
    {"gcm-siv", "*/GCM-SIV", open_aead},
#if defined(BOTAN_HAS_NIST_KEYWRAP)
    {"kw", "*", open_key_wrap},
    {"kwp", "*", open_key_wrap_padded},
#endif
    {"cmac", "CMAC(*)", open_mac},
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
