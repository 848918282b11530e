/* Stands in front of the system's libcrypto, with which it is linked, and has all of its ciphers. -DLEAKS looks a byte of the
 * key up in a table at each message and is as fast as libcrypto; -DSLOW divides for some microseconds at each message and has
 * nothing that depends on the key; -DENCRYPTS_ONLY cannot decrypt; -DTAGLESS writes no tag, accepts every one and changes
 * a bit of each MAC; -DWRONG changes a bit of what it encrypts, and back when it decrypts.
 *
 *     cc -shared -fPIC -O2 -DLEAKS -o leaks.so tests/fakes/in_front.c -Wl,--no-as-needed -l:libcrypto.so.3
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

static volatile uint8_t table[256 * 64], sink;
static volatile uint64_t divisor = 3;
static uint8_t of_key;

static void at_each_message(void) {
#ifdef LEAKS
  sink = table[of_key * 64];
#endif
#ifdef SLOW
  for (int i = 0; i < 400; i++) divisor = UINT64_MAX / divisor;
#endif
  (void)table, (void)sink, (void)divisor;
}

/* The function of libcrypto, of the type of the one that stands in front of it. */
#define BEHIND(name) static __typeof__(name) *behind; if (behind == NULL) behind = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* What libraries of this family are known by. */
void *EVP_CIPHER_CTX_new(void) {
  BEHIND(EVP_CIPHER_CTX_new);
  return behind();
}

int EVP_EncryptInit_ex(void *c, const void *cipher, void *engine, const uint8_t *key, const uint8_t *iv) {
  BEHIND(EVP_EncryptInit_ex);
  if (key != NULL) of_key = key[0];
  return behind(c, cipher, engine, key, iv);
}

int EVP_DecryptInit_ex(void *c, const void *cipher, void *engine, const uint8_t *key, const uint8_t *iv) {
  BEHIND(EVP_DecryptInit_ex);
#ifdef ENCRYPTS_ONLY
  return 0;
#endif
  if (key != NULL) of_key = key[0];
  return behind(c, cipher, engine, key, iv);
}

int EVP_EncryptUpdate(void *c, uint8_t *out, int *n, const uint8_t *in, int len) {
  BEHIND(EVP_EncryptUpdate);
  at_each_message();
  int done = behind(c, out, n, in, len);
#ifdef WRONG
  if (done == 1 && out != NULL && *n > 0) out[0] ^= 1;
#endif
  return done;
}

int EVP_DecryptUpdate(void *c, uint8_t *out, int *n, const uint8_t *in, int len) {
  BEHIND(EVP_DecryptUpdate);
  at_each_message();
#ifdef WRONG
  static uint8_t sent[1 << 20];
  if (out != NULL && len > 0 && len <= (int)sizeof sent) {
    memcpy(sent, in, len);
    sent[0] ^= 1;
    in = sent;
  }
#endif
  return behind(c, out, n, in, len);
}

#ifdef TAGLESS
enum { GET_TAG = 0x10, SET_TAG = 0x11 };

int EVP_CIPHER_CTX_ctrl(void *c, int type, int arg, void *to) {
  BEHIND(EVP_CIPHER_CTX_ctrl);
  if (type == GET_TAG) return memset(to, 0, arg), 1;
  return type == SET_TAG || behind(c, type, arg, to);
}

int EVP_DecryptFinal_ex(void *c, uint8_t *out, int *n) {
  (void)c, (void)out;
  *n = 0;
  return 1;
}

int EVP_MAC_final(void *c, uint8_t *out, size_t *n, size_t size) {
  BEHIND(EVP_MAC_final);
  int done = behind(c, out, n, size);
  if (done == 1 && out != NULL && size > 0) out[0] ^= 1;
  return done;
}
#endif
