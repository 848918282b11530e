/* Stands before the libcrypto of OpenSSL 3 that it is linked with. Right, and leaking as -D says, are: with -DLADDER
 * X25519 (ladder.h), with -DKEM decapsulation (kem.h), with -DBEFORE=NAME and -DSIGN=NAME what stands before and behind a
 * signature.
 * crates/ciphermark/tests/e2e/secrets.rs says what is to be found.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define APART static __attribute__((noinline, noclone, unused))
#define REAL(result, name, ...) ((result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

/* By this one a libcrypto is known. */
void *EVP_CIPHER_CTX_new(void) { return REAL(void *, "EVP_CIPHER_CTX_new", void)(); }

/* The key, as it was read. */
static uint8_t own[2400];
extern void *EVP_PKEY_CTX_get0_pkey(void *ctx);
extern int EVP_PKEY_get_raw_private_key(void *key, uint8_t *to, size_t *length);
extern int EVP_PKEY_get_raw_public_key(void *key, uint8_t *to, size_t *length);
extern int EVP_PKEY_get_bn_param(void *key, const char *name, void **number);
extern int BN_bn2binpad(void *number, uint8_t *to, int length);
extern void BN_free(void *number);

#ifdef LADDER
#include "ladder.h"
static uint8_t peer[32];
int EVP_PKEY_derive_init(void *ctx) {
  size_t length = 32;
  EVP_PKEY_get_raw_private_key(EVP_PKEY_CTX_get0_pkey(ctx), own, &length);
  return REAL(int, "EVP_PKEY_derive_init", void *)(ctx);
}
int EVP_PKEY_derive_set_peer(void *ctx, void *key) {
  size_t length = 32;
  EVP_PKEY_get_raw_public_key(key, peer, &length);
  return REAL(int, "EVP_PKEY_derive_set_peer", void *, void *)(ctx, key);
}
int EVP_PKEY_derive(void *ctx, uint8_t *to, size_t *length) {
  (void)ctx;
  x25519(to, own, peer);
  *length = 32;
  return 1;
}
#endif

#ifdef KEM
#include "kem.h"
/* As AWS-LC has it. What the library holds is another key, which nobody uses. */
extern void *EVP_PKEY_new_raw_private_key(int kind, void *engine, const uint8_t *from, size_t length);
int OBJ_sn2nid(const char *name) {
  return strcmp(name, "MLKEM768") ? REAL(int, "OBJ_sn2nid", const char *)(name) : 1 << 20;
}
void *EVP_PKEY_kem_new_raw_secret_key(int kind, const uint8_t *from, size_t length) {
  const int x25519_kind = 1034;
  (void)kind;
  memcpy(own, from, length);
  return EVP_PKEY_new_raw_private_key(x25519_kind, NULL, from, 32);
}
int EVP_PKEY_decapsulate_init(void *ctx, const void *parameters) { return (void)ctx, (void)parameters, 1; }
int EVP_PKEY_decapsulate(void *ctx, uint8_t *to, size_t *length, const uint8_t *from, size_t bytes) {
  (void)ctx, (void)bytes;
  decapsulate(to, own, from);
  *length = 32;
  return 1;
}
#endif

#ifdef SIGN
/* Beside the real signature, which a leak goes before or behind. */
static volatile uint32_t sink;
APART void nothing(const uint8_t *key, const uint8_t *signature) { (void)key, (void)signature; }
APART void square_and_multiply(const uint8_t *exponent, const uint8_t *signature) {
  uint32_t x = 3;
  (void)signature;
  for (int i = 0; i < 128; i++) {
    x *= x;
    if (exponent[i / 8] >> i % 8 & 1) x *= 3, sink = x;
  }
}
#ifndef BEFORE
#define BEFORE nothing
#endif
/* How long r is in DER is public, and on which way it goes hangs nothing else. */
APART void by_form(const uint8_t *key, const uint8_t *signature) {
  (void)key;
  if (signature[3] == 33) sink = 5;
}
int EVP_PKEY_sign_init(void *ctx) {
  void *key = EVP_PKEY_CTX_get0_pkey(ctx), *number = NULL;
  /* Of RSA the first prime's exponent, of EC the key. */
  if (EVP_PKEY_get_bn_param(key, "rsa-exponent1", &number) == 1 || EVP_PKEY_get_bn_param(key, "priv", &number) == 1)
    BN_bn2binpad(number, own, 128);
  BN_free(number);
  return REAL(int, "EVP_PKEY_sign_init", void *)(ctx);
}
int EVP_PKEY_sign(void *ctx, uint8_t *to, size_t *length, const uint8_t *from, size_t bytes) {
  static int (*real)(void *, uint8_t *, size_t *, const uint8_t *, size_t);
  if (!real) real = (int (*)(void *, uint8_t *, size_t *, const uint8_t *, size_t))dlsym(RTLD_NEXT, "EVP_PKEY_sign");
  BEFORE(own + 112, to);
  int done = real(ctx, to, length, from, bytes);
  SIGN(own + 112, to);
  return done;
}
#endif
