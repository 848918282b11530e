/* What one page costs in SQLCipher's own sequence of calls, with a given libcrypto: the calibrator of
   lab/predict-sqlite.

   usage: calls LIBCRYPTO PAGE RESERVE sha1|sha512
   prints {"encrypt_ns": …, "decrypt_ns": …, "parts": {…}}: medians over batches, in CPU time.

   sha1: SQLCipher 3 (HMAC_CTX_new, HMAC_Init_ex, 2 HMAC_Update, HMAC_Final, HMAC_CTX_free).
   sha512: SQLCipher 4 (EVP_MAC_fetch, EVP_MAC_CTX_new, EVP_MAC_init, 2 EVP_MAC_update, EVP_MAC_final, both freed).
   Each page: a new cipher context, AES-256-CBC without padding, keyed anew; the MAC over ciphertext, IV and page
   number; RAND_bytes for the whole reserve when encrypting. No codec, no page cache: those are SQLite's. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 60, PAGES = 256, IV = 16 };

typedef struct {
  const char *key;
  unsigned type;
  void *data;
  size_t size, written;
} Param; /* OSSL_PARAM, OpenSSL 3's params(7): its layout is documented */

static struct {
  void *(*cipher_ctx_new)(void);
  void (*cipher_ctx_free)(void *);
  int (*set_padding)(void *, int);
  int (*cipher_init)(void *, const void *, void *, const void *, const void *, int);
  int (*cipher_update)(void *, void *, int *, const void *, int);
  int (*cipher_final)(void *, void *, int *);
  const void *(*aes_256_cbc)(void);
  int (*rand_bytes)(void *, int);
  void *(*hmac_ctx_new)(void);
  void (*hmac_ctx_free)(void *);
  int (*hmac_init)(void *, const void *, int, const void *, void *);
  int (*hmac_update)(void *, const void *, size_t);
  int (*hmac_final)(void *, void *, unsigned *);
  const void *(*sha1)(void);
  void *(*mac_fetch)(void *, const char *, const char *);
  void (*mac_free)(void *);
  void *(*mac_ctx_new)(void *);
  void (*mac_ctx_free)(void *);
  int (*mac_init)(void *, const void *, size_t, const Param *);
  int (*mac_update)(void *, const void *, size_t);
  int (*mac_final)(void *, void *, size_t *, size_t);
} f;

/* As in SQLite: each page of the cache is an allocation of its own, the codec has one buffer. Two fixed buffers would
   give the figure of one placement, which can be far off. */
static unsigned char key[32], mac_key[32], tag[64], reserve[256], *pages[PAGES], *in, *out;
static int sha512;

static void fail(const char *what) {
  fprintf(stderr, "calls: %s\n", what);
  exit(1);
}

static void must(int ok, const char *what) {
  if (!ok) fail(what);
}

static void *find(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol) fail(name);
  return symbol;
}

static void load(const char *path) {
  void *l = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!l) fail(dlerror());
  f.cipher_ctx_new = find(l, "EVP_CIPHER_CTX_new");
  f.cipher_ctx_free = find(l, "EVP_CIPHER_CTX_free");
  f.set_padding = find(l, "EVP_CIPHER_CTX_set_padding");
  f.cipher_init = find(l, "EVP_CipherInit_ex");
  f.cipher_update = find(l, "EVP_CipherUpdate");
  f.cipher_final = find(l, "EVP_CipherFinal_ex");
  f.aes_256_cbc = find(l, "EVP_aes_256_cbc");
  f.rand_bytes = find(l, "RAND_bytes");
  if (sha512) {
    f.mac_fetch = find(l, "EVP_MAC_fetch");
    f.mac_free = find(l, "EVP_MAC_free");
    f.mac_ctx_new = find(l, "EVP_MAC_CTX_new");
    f.mac_ctx_free = find(l, "EVP_MAC_CTX_free");
    f.mac_init = find(l, "EVP_MAC_init");
    f.mac_update = find(l, "EVP_MAC_update");
    f.mac_final = find(l, "EVP_MAC_final");
  } else {
    f.hmac_ctx_new = find(l, "HMAC_CTX_new");
    f.hmac_ctx_free = find(l, "HMAC_CTX_free");
    f.hmac_init = find(l, "HMAC_Init_ex");
    f.hmac_update = find(l, "HMAC_Update");
    f.hmac_final = find(l, "HMAC_Final");
    f.sha1 = find(l, "EVP_sha1");
  }
}

static void cipher(const unsigned char *from, unsigned char *to, int len, const unsigned char *iv, int encrypt) {
  int n, rest;
  void *ctx = f.cipher_ctx_new();
  must(f.cipher_init(ctx, f.aes_256_cbc(), NULL, NULL, NULL, encrypt), "cipher");
  must(f.set_padding(ctx, 0), "padding");
  must(f.cipher_init(ctx, NULL, NULL, key, iv, encrypt), "key");
  must(f.cipher_update(ctx, to, &n, from, len), "update");
  must(f.cipher_final(ctx, to + n, &rest) && n + rest == len, "final");
  f.cipher_ctx_free(ctx);
}

static void mac(const unsigned char *data, size_t len, uint32_t page) {
  if (sha512) {
    char name[] = "SHA512";
    size_t n = 0;
    /* 4: OSSL_PARAM_UTF8_STRING */
    Param params[] = {{"digest", 4, name, sizeof name - 1, (size_t)-1}, {NULL, 0, NULL, 0, 0}};
    void *m = f.mac_fetch(NULL, "HMAC", NULL), *ctx = f.mac_ctx_new(m);
    must(f.mac_init(ctx, mac_key, sizeof mac_key, params), "MAC");
    must(f.mac_update(ctx, data, len) && f.mac_update(ctx, &page, sizeof page), "MAC update");
    must(f.mac_final(ctx, NULL, &n, 0) && f.mac_final(ctx, tag, &n, sizeof tag) && n == 64, "MAC final");
    f.mac_ctx_free(ctx);
    f.mac_free(m);
  } else {
    unsigned n = 0;
    void *ctx = f.hmac_ctx_new();
    must(f.hmac_init(ctx, mac_key, sizeof mac_key, f.sha1(), NULL), "HMAC");
    must(f.hmac_update(ctx, data, len) && f.hmac_update(ctx, (unsigned char *)&page, sizeof page), "HMAC update");
    must(f.hmac_final(ctx, tag, &n) && n == 20, "HMAC final");
    f.hmac_ctx_free(ctx);
  }
}

static int data_len, reserve_len;

static void encrypt_page(uint32_t page) {
  in = pages[page % PAGES];
  must(f.rand_bytes(reserve, reserve_len), "random numbers");
  memcpy(out + data_len, reserve, (size_t)reserve_len);
  cipher(in, out, data_len, out + data_len, 1);
  mac(out, (size_t)data_len + IV, page);
  memcpy(out + data_len + IV, tag, sha512 ? 64 : 20);
}

/* What is decrypted is the page that was encrypted last: its MAC is right, its place is any. */
static void decrypt_page(uint32_t page) {
  in = pages[page % PAGES];
  mac(out, (size_t)data_len + IV, page);
  cipher(out, in, data_len, out + data_len, 0);
}

static void only_cipher(uint32_t page) { (void)page, cipher(in, out, data_len, reserve, 1); }
static void only_decipher(uint32_t page) { (void)page, cipher(out, in, data_len, reserve, 0); }
static void only_mac(uint32_t page) { mac(out, (size_t)data_len + IV, page); }
static void only_random(uint32_t page) { (void)page, f.rand_bytes(reserve, reserve_len); }

static int ascending(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return d < 0 ? -1 : d > 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double each(void (*work)(uint32_t)) {
  double batches[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    double begin = now();
    for (uint32_t page = 1; page <= PAGES; page++) work(page);
    batches[i] = (now() - begin) / PAGES;
  }
  qsort(batches, BATCHES, sizeof *batches, ascending);
  return batches[BATCHES / 2];
}

/* A page must come back as it went, and a changed one must have another tag. */
static void prove(void) {
  unsigned char before[65536], good[64];
  in = pages[7];
  memcpy(before, in, (size_t)data_len);
  encrypt_page(7);
  memcpy(good, tag, sizeof good);
  must(memcmp(out, in, (size_t)data_len) != 0, "nothing was encrypted");
  decrypt_page(7);
  must(memcmp(before, in, (size_t)data_len) == 0 && memcmp(good, tag, sizeof good) == 0, "round trip");
  out[1] ^= 1;
  mac(out, (size_t)data_len + IV, 7);
  must(memcmp(good, tag, sizeof good) != 0, "a changed page has the same tag");
  out[1] ^= 1;
}

int main(int argc, char **argv) {
  must(argc == 5, "usage: calls LIBCRYPTO PAGE RESERVE sha1|sha512");
  reserve_len = atoi(argv[3]);
  data_len = atoi(argv[2]) - reserve_len;
  sha512 = strcmp(argv[4], "sha512") == 0;
  must(data_len > 0 && data_len % 16 == 0 && data_len <= 65536 && reserve_len <= 256, "sizes");
  load(argv[1]);
  out = malloc((size_t)data_len + 256);
  for (int i = 0; i < PAGES; i++) {
    pages[i] = malloc((size_t)data_len + (size_t)reserve_len + 200); /* a page with the cache's own fields */
    must(pages[i] && out, "memory");
    for (int j = 0; j < data_len; j++) pages[i][j] = (unsigned char)(i + j * 31);
  }
  in = pages[0];
  for (size_t i = 0; i < sizeof key; i++) key[i] = (unsigned char)i, mac_key[i] = (unsigned char)(99 - i);
  prove();
  each(encrypt_page); /* warms up */
  double e = each(encrypt_page), d = each(decrypt_page);
  printf("{\"encrypt_ns\": %.0f, \"decrypt_ns\": %.0f, \"parts\": {\"cbc_encrypt_ns\": %.0f, \"cbc_decrypt_ns\": %.0f, "
         "\"hmac_ns\": %.0f, \"random_ns\": %.0f}}\n",
         e, d, each(only_cipher), each(only_decipher), each(only_mac), each(only_random));
}
