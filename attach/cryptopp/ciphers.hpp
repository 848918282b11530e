// The block ciphers, each under the names that ciphermark gives its key lengths.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cryptopp/aes.h>
#include <cryptopp/aria.h>
#include <cryptopp/camellia.h>
#include <cryptopp/des.h>
#include <cryptopp/sm4.h>

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
