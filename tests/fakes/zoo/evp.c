/* The zoo's library behind OpenSSL's EVP interface, as far as the EVP adapter calls it: what it exports has
 * the names and types of OpenSSL 1.1.1's evp.h and crypto.h. `faults.h` has the faults, one macro each.
 *
 *     cc -shared -fPIC -O2 -D FAULT -o libfault.so tests/fakes/zoo/evp.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cipher.h"

#ifndef VERSION_TEXT
#define VERSION_TEXT "OpenSSL 1.1.1w  11 Sep 2023"
#endif
#ifndef VERSION_NUMBER
#define VERSION_NUMBER 0x1010117fUL
#endif

typedef struct evp_cipher {
  const char *name;
  int gcm;
} EVP_CIPHER;
typedef struct evp_ctx {
  zoo c;
  uint8_t tag[AES_TAG];
} EVP_CIPHER_CTX;

static const EVP_CIPHER ciphers[] = {{"aes-128-ctr", 0}, {"aes-128-gcm", 1}};

const char *OpenSSL_version(int type) { return type == 0 ? VERSION_TEXT : "not available"; }
unsigned long OpenSSL_version_num(void) { return VERSION_NUMBER; }

const EVP_CIPHER *EVP_get_cipherbyname(const char *name) {
  for (size_t i = 0; i < sizeof ciphers / sizeof *ciphers; i++)
    if (strcmp(ciphers[i].name, name) == 0) return &ciphers[i];
  return NULL;
}
int EVP_CIPHER_key_length(const EVP_CIPHER *cipher) { return cipher != NULL ? 16 : 0; }
int EVP_CIPHER_iv_length(const EVP_CIPHER *cipher) { return cipher->gcm ? 12 : 16; }

EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void) { return calloc(1, sizeof(EVP_CIPHER_CTX)); }
void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *ctx) { free(ctx); }
int EVP_CIPHER_CTX_set_padding(EVP_CIPHER_CTX *ctx, int pad) { return (void)pad, ctx != NULL; }

#ifndef LACKS_CTRL
int EVP_CIPHER_CTX_ctrl(EVP_CIPHER_CTX *ctx, int type, int arg, void *pointer) {
  enum { SET_IVLEN = 0x9, GET_TAG = 0x10, SET_TAG = 0x11 };
  if (type == GET_TAG && arg == AES_TAG) return memcpy(pointer, ctx->tag, AES_TAG) != NULL;
  if (type == SET_TAG && arg == AES_TAG) return memcpy(ctx->c.expected, pointer, AES_TAG) != NULL;
  return type == SET_IVLEN && arg == 12;
}
#endif

static int set_up(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, const uint8_t *key, const uint8_t *iv,
                  int encrypts) {
  if (cipher != NULL) ctx->c.gcm = cipher->gcm;
  ctx->c.encrypts = encrypts;
  if (key != NULL) zoo_set_key(&ctx->c, key);
  if (iv != NULL) zoo_begin(&ctx->c, iv);
  return 1;
}

static int update(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len, const uint8_t *in, int len) {
  *out_len = len;
  if (out != NULL) return zoo_part(&ctx->c, in, out, (size_t)len);
  zoo_aad(&ctx->c, in, (size_t)len);
  return 1;
}

int EVP_EncryptInit_ex(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, void *engine, const uint8_t *key,
                       const uint8_t *iv) {
  return (void)engine, set_up(ctx, cipher, key, iv, 1);
}
int EVP_DecryptInit_ex(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, void *engine, const uint8_t *key,
                       const uint8_t *iv) {
  return (void)engine, set_up(ctx, cipher, key, iv, 0);
}
int EVP_EncryptUpdate(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len, const uint8_t *in, int len) {
  return update(ctx, out, out_len, in, len);
}
int EVP_DecryptUpdate(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len, const uint8_t *in, int len) {
  return update(ctx, out, out_len, in, len);
}
int EVP_EncryptFinal_ex(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len) {
  (void)out, *out_len = 0;
  if (ctx->c.gcm) zoo_tag(&ctx->c, ctx->tag);
  zoo_end(&ctx->c);
  return 1;
}
int EVP_DecryptFinal_ex(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len) {
  (void)out, *out_len = 0;
  const int code = ctx->c.gcm ? zoo_is_authentic(&ctx->c) : 1;
  zoo_end(&ctx->c);
  return code;
}
