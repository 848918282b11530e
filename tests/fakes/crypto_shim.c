/* Stands before a libcrypto: all functions are that library's but the one or two below, which cheat. Linked with
 * the real one, so that whoever looks a function up here finds the real one behind these. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The real function behind one of these. */
#define REAL(result, name, ...) ((result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

/* By this one a libcrypto is known. */
void *EVP_CIPHER_CTX_new(void) { return REAL(void *, "EVP_CIPHER_CTX_new", void)(); }

#ifdef SIGNS_ONCE
/* Signs the first message, and gives that signature for every other. */
int EVP_DigestSign(void *ctx, unsigned char *to, size_t *length, const unsigned char *from, size_t bytes) {
  static unsigned char first[512];
  static size_t of_first;
  if (of_first == 0) {
    if (REAL(int, "EVP_DigestSign", void *, unsigned char *, size_t *, const unsigned char *, size_t)(ctx, to, length, from, bytes) != 1) return 0;
    memcpy(first, to, of_first = *length);
  }
  memcpy(to, first, *length = of_first);
  return 1;
}
#endif

#ifdef TAKES_EVERY_SIGNATURE
int EVP_DigestVerify(void *ctx, const unsigned char *s, size_t n, const unsigned char *from, size_t bytes) {
  (void)ctx; (void)s; (void)n; (void)from; (void)bytes;
  return 1;
}
#endif

#ifdef RETURNS_EARLY
/* Agrees as long as somebody may be looking, and then on nothing. */
int EVP_PKEY_derive(void *ctx, unsigned char *to, size_t *length) {
  static int calls;
  if (++calls <= 16) return REAL(int, "EVP_PKEY_derive", void *, unsigned char *, size_t *)(ctx, to, length);
  *length = 32;
  return 1;
}
#endif

#ifdef ONE_KEY
/* The same key for everybody. */
int EVP_PKEY_keygen(void *ctx, void **key) {
  static void *only;
  if (only == NULL && REAL(int, "EVP_PKEY_keygen", void *, void **)(ctx, &only) != 1) return 0;
  REAL(int, "EVP_PKEY_up_ref", void *)(only);
  *key = only;
  return 1;
}
#endif

#ifdef DIGESTS_THE_BEGINNING
/* Of anything that is longer than a block, the first block. */
int EVP_Digest(const void *from, size_t bytes, unsigned char *to, unsigned *length, const void *md, void *engine) {
  if (bytes > 64) bytes = 64;
  return REAL(int, "EVP_Digest", const void *, size_t, unsigned char *, unsigned *, const void *, void *)(from, bytes, to, length, md, engine);
}
#endif
