/* The zoo's library behind libgcrypt's interface, as far as the adapter calls it: what it exports has the
 * names, types and numbers of libgcrypt 1.10's gcrypt.h. `faults.h` has the faults, one macro each.
 *
 *     cc -shared -fPIC -O2 -D FAULT -o libfault.so tests/fakes/zoo/gcrypt.c
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cipher.h"

#ifndef VERSION_TEXT
#define VERSION_TEXT "1.10.3"
#endif

typedef zoo *gcry_cipher_hd_t;
typedef unsigned int gcry_error_t;

/* gpg_err_code_t; an error says in its highest byte whose it is: 1 is libgcrypt. */
enum { CHECKSUM = 10, CIPHER_ALGO = 12, GENERAL = 1, INV_ARG = 45, INV_CIPHER_MODE = 71 };
enum { AES128 = 7, CTR = 6, GCM = 9 };
static gcry_error_t failed(unsigned int code) { return 1u << 24 | code; }

const char *gcry_check_version(const char *least) { return (void)least, VERSION_TEXT; }
const char *gcry_strerror(gcry_error_t error) { return error == 0 ? "Success" : "an error of the stand-in"; }
/* A command that asks whether a state is reached answers with an error when it is: none is. */
gcry_error_t gcry_control(int command, ...) { return (void)command, 0; }

gcry_error_t gcry_cipher_open(gcry_cipher_hd_t *handle, int cipher, int mode, unsigned int flags) {
  (void)flags;
  if (cipher != AES128) return failed(CIPHER_ALGO);
  if (mode != CTR && mode != GCM) return failed(INV_CIPHER_MODE);
  zoo *c = calloc(1, sizeof *c);
  if (c == NULL) return failed(GENERAL);
  c->gcm = mode == GCM;
  *handle = c;
  return 0;
}
void gcry_cipher_close(gcry_cipher_hd_t c) { free(c); }

gcry_error_t gcry_cipher_setkey(gcry_cipher_hd_t c, const void *key, size_t len) {
  if (len != AES_BLOCK) return failed(INV_ARG);
  zoo_set_key(c, key);
  return 0;
}
gcry_error_t gcry_cipher_setiv(gcry_cipher_hd_t c, const void *nonce, size_t len) {
  if (!c->gcm || len != 12) return failed(INV_ARG);
  zoo_begin(c, nonce);
  return 0;
}
gcry_error_t gcry_cipher_setctr(gcry_cipher_hd_t c, const void *counter, size_t len) {
  if (c->gcm || len != AES_BLOCK) return failed(INV_ARG);
  zoo_begin(c, counter);
  return 0;
}
gcry_error_t gcry_cipher_authenticate(gcry_cipher_hd_t c, const void *aad, size_t len) {
  zoo_aad(c, aad, len);
  return 0;
}

/* Without an input the output is worked on in place. */
static gcry_error_t go_on(zoo *c, uint8_t *out, size_t room, const uint8_t *in, size_t len) {
  if (in == NULL) in = out, len = room;
  if (room < len) return failed(INV_ARG);
  if (zoo_part(c, in, out, len) != 1) return failed(GENERAL);
  /* Counter mode ends with its bytes, the other with its tag. */
  if (!c->gcm) zoo_end(c);
  return 0;
}
gcry_error_t gcry_cipher_encrypt(gcry_cipher_hd_t c, void *out, size_t room, const void *in, size_t len) {
  c->encrypts = 1;
  return go_on(c, out, room, in, len);
}
gcry_error_t gcry_cipher_decrypt(gcry_cipher_hd_t c, void *out, size_t room, const void *in, size_t len) {
  c->encrypts = 0;
  return go_on(c, out, room, in, len);
}

gcry_error_t gcry_cipher_gettag(gcry_cipher_hd_t c, void *tag, size_t len) {
  if (!c->gcm || len != AES_TAG) return failed(INV_ARG);
  zoo_tag(c, tag);
  zoo_end(c);
  return 0;
}
gcry_error_t gcry_cipher_checktag(gcry_cipher_hd_t c, const void *tag, size_t len) {
  if (!c->gcm || len != AES_TAG) return failed(INV_ARG);
  memcpy(c->expected, tag, AES_TAG);
  const int authentic = zoo_is_authentic(c);
  zoo_end(c);
  return authentic ? 0 : failed(CHECKSUM);
}

#ifndef LACKS_CTRL
gcry_error_t gcry_cipher_ctl(gcry_cipher_hd_t c, int command, void *buffer, size_t len) {
  (void)c, (void)command, (void)buffer, (void)len;
  return failed(INV_ARG);
}
#endif
