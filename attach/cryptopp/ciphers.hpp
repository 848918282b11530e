// The block ciphers, each under the names that ciphermark gives its key lengths.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cryptopp/aes.h>
#include <cryptopp/aria.h>
#include <cryptopp/blowfish.h>
#include <cryptopp/camellia.h>
#include <cryptopp/cast.h>
#include <cryptopp/des.h>
#include <cryptopp/idea.h>
#include <cryptopp/rc2.h>
#include <cryptopp/seed.h>
#include <cryptopp/serpent.h>
#include <cryptopp/sm4.h>
#include <cryptopp/twofish.h>

// Entries of one mode for the three key lengths of a cipher that has three.
#define THREE_KEYS(cipher, mode, open)                                                             \
  {cipher "-128-" mode, open}, {cipher "-192-" mode, open}, { cipher "-256-" mode, open }

// Entries of one mode for every cipher with blocks of 128 bits; `OPEN` is a template of functions.
#define CIPHERS_128(mode, OPEN)                                                                    \
  THREE_KEYS("aes", mode, OPEN<CryptoPP::AES>), THREE_KEYS("camellia", mode, OPEN<CryptoPP::Camellia>), \
      THREE_KEYS("aria", mode, OPEN<CryptoPP::ARIA>), { "sm4-" mode, OPEN<CryptoPP::SM4> }

// The same, and triple DES.
#define CIPHERS(mode, OPEN)                                                                        \
  CIPHERS_128(mode, OPEN), { "des-ede3-" mode, OPEN<CryptoPP::DES_EDE3> }

// AES's fellow finalists, with the key lengths that a mode is named for.
#define FINALISTS_2(mode, OPEN)                                                                    \
  {"serpent-128-" mode, OPEN<CryptoPP::Serpent>}, {"serpent-256-" mode, OPEN<CryptoPP::Serpent>},  \
      {"twofish-128-" mode, OPEN<CryptoPP::Twofish>}, {                                            \
    "twofish-256-" mode, OPEN<CryptoPP::Twofish>                                                   \
  }
#define FINALISTS(mode, OPEN)                                                                      \
  THREE_KEYS("serpent", mode, OPEN<CryptoPP::Serpent>),                                            \
      THREE_KEYS("twofish", mode, OPEN<CryptoPP::Twofish>)

// Those and the ciphers of old formats, in the modes that all of them have.
#define OLD_CIPHERS(mode, OPEN)                                                                    \
  FINALISTS(mode, OPEN), {"seed-" mode, OPEN<CryptoPP::SEED>},                                     \
      {"bf-" mode, OPEN<CryptoPP::Blowfish>}, {"cast5-" mode, OPEN<CryptoPP::CAST128>},            \
      {"idea-" mode, OPEN<CryptoPP::IDEA>}, {"rc2-" mode, OPEN<CryptoPP::RC2>}, {                  \
    "des-" mode, OPEN<CryptoPP::DES>                                                               \
  }
