/* Encrypts the pages of a stock PostgreSQL 15: the truth that lab/predict-postgres measures. An instrument, no
   product: its key is fixed, nonces and tags lie beside the data in shared memory.

   cc -shared -fPIC -o preload.so predict-postgres.c -lcrypto        LD_PRELOAD for the server
   cc -DCONVERT -o convert predict-postgres.c -lcrypto               convert encrypt|decrypt DATA: a stopped cluster
                                                                     convert pace: for each byte read, how long a page takes

   PAGES_SCHEME: OpenSSL's name of a cipher (aes-256-xts, aes-256-gcm, chacha20-poly1305), for one without a tag also with a
   MAC (aes-256-ctr+hmac-sha256). PAGES_META: the file with nonces, tags and counts. PAGES_TIMED: if
   set, the file also says how long encrypting and decrypting took.

   Encrypted: every 8 KiB page of files in base/ and global/ whose name begins with a digit, and of WAL segments, at
   pread, pwrite and pwritev. Not: temporary files, pg_control, commit status. A page's place (hash of the path, number
   of the page) is XTS's tweak, an AEAD's associated data, and under the MAC. Nonces are random (RAND_bytes), new at each
   write. A page of a table that fails its check ends the process; one of the log is passed on and counted, because the
   server finds the log's end by reading past it. Keys and contexts are set once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* LOG_SLOTS: those of 128 segments of 16 MiB; a segment's are used again 128 segments later. */
enum { PAGE = 8192, FILES = 65536, SLOTS = 1 << 19, LOG_SLOTS = 128 * 2048, RANDOM = 4096 };

typedef struct {
  uint64_t place;
  uint8_t nonce[16], tag[32], rest[8];
} Slot; /* a cache line; a place of 0 is free */

typedef struct {
  uint64_t read, written, log_read, log_written, read_ns, written_ns, log_read_ns, log_written_ns, log_unproven;
  uint8_t rest[184];
  Slot slots[SLOTS], log_slots[LOG_SLOTS];
} Meta;

static Meta *meta;
static EVP_CIPHER_CTX *encrypting, *decrypting;
static EVP_MAC_CTX *mac;
static int aead, tweaked, iv_len, tag_len, timed;
static uint8_t drawn[RANDOM], *buffer;
static int left;
static size_t capacity;

static void fail(const char *what) {
  fprintf(stderr, "predict-postgres: %s\n", what);
  abort();
}

static void must(int ok, const char *what) {
  if (!ok) fail(what);
}

/* A child must not draw what its parent draws. */
static void forked(void) { left = 0; }

static void draw(uint8_t *to, int n) {
  if (left < n) {
    must(RAND_bytes(drawn, RANDOM) == 1, "random numbers");
    left = RANDOM;
  }
  memcpy(to, drawn + RANDOM - left, (size_t)n);
  left -= n;
}

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return (x ^ (x >> 29)) | 1;
}

static Slot *slot(uint64_t file, uint64_t page, int make) {
  if (file & 1) return &meta->log_slots[(file / 2 * 2048 + page) % LOG_SLOTS];
  uint64_t place = mixed(file + page * 0xd6e8feb86659fd93u);
  for (uint64_t i = place >> 20;; i++) {
    Slot *s = &meta->slots[i % SLOTS];
    uint64_t seen = __atomic_load_n(&s->place, __ATOMIC_ACQUIRE);
    if (seen == place) return s;
    if (seen == 0 && !make) return NULL;
    if (seen == 0 && __atomic_compare_exchange_n(&s->place, &seen, place, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return s;
    if (seen == place) return s;
    if (i > (place >> 20) + SLOTS / 2) fail("no room for more tags");
  }
}

static void macked(const uint8_t *nonce, const uint8_t *place, const uint8_t *page, uint8_t *to) {
  size_t n;
  must(EVP_MAC_init(mac, NULL, 0, NULL) && EVP_MAC_update(mac, nonce, 16) && EVP_MAC_update(mac, place, 16) &&
           EVP_MAC_update(mac, page, PAGE) && EVP_MAC_final(mac, to, &n, 32),
       "MAC");
}

static void encrypt(uint64_t file, uint64_t page, const uint8_t *from, uint8_t *to) {
  uint64_t place[2] = {file, page};
  uint8_t *at = (uint8_t *)place;
  int n;
  if (tweaked) {
    must(EVP_EncryptInit_ex2(encrypting, NULL, NULL, at, NULL) && EVP_EncryptUpdate(encrypting, to, &n, from, PAGE), "XTS");
    return;
  }
  Slot *s = slot(file, page, 1);
  draw(s->nonce, iv_len);
  must(EVP_EncryptInit_ex2(encrypting, NULL, NULL, s->nonce, NULL), "nonce");
  if (aead) must(EVP_EncryptUpdate(encrypting, NULL, &n, at, 16), "place");
  must(EVP_EncryptUpdate(encrypting, to, &n, from, PAGE) && n == PAGE && EVP_EncryptFinal_ex(encrypting, to + n, &n), "page");
  if (aead) must(EVP_CIPHER_CTX_ctrl(encrypting, EVP_CTRL_AEAD_GET_TAG, tag_len, s->tag), "tag");
  if (mac) macked(s->nonce, at, to, s->tag);
}

/* In place; whether it passed its check. */
static int decrypt(uint64_t file, uint64_t page, uint8_t *data) {
  uint64_t place[2] = {file, page};
  uint8_t *at = (uint8_t *)place, tag[32];
  int n;
  if (tweaked) return EVP_DecryptInit_ex2(decrypting, NULL, NULL, at, NULL) && EVP_DecryptUpdate(decrypting, data, &n, data, PAGE);
  Slot *s = slot(file, page, 0);
  if (!s) return 0;
  if (mac) {
    macked(s->nonce, at, data, tag);
    if (memcmp(tag, s->tag, 32) != 0) return 0;
  }
  must(EVP_DecryptInit_ex2(decrypting, NULL, NULL, s->nonce, NULL), "nonce");
  if (aead) must(EVP_CIPHER_CTX_ctrl(decrypting, EVP_CTRL_AEAD_SET_TAG, tag_len, s->tag), "tag");
  if (aead) must(EVP_DecryptUpdate(decrypting, NULL, &n, at, 16), "place");
  return EVP_DecryptUpdate(decrypting, data, &n, data, PAGE) && n == PAGE && EVP_DecryptFinal_ex(decrypting, data + n, &n);
}

static void keyed(const char *name, int hmac) {
  uint8_t key[64], mac_key[32];
  for (int i = 0; i < 64; i++) key[i] = (uint8_t)(3 * i + 1);
  for (int i = 0; i < 32; i++) mac_key[i] = (uint8_t)(99 - i);
  iv_len = 16;
  EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
  must(cipher != NULL, "no such cipher");
  encrypting = EVP_CIPHER_CTX_new(), decrypting = EVP_CIPHER_CTX_new();
  must(EVP_EncryptInit_ex2(encrypting, cipher, key, NULL, NULL) && EVP_DecryptInit_ex2(decrypting, cipher, key, NULL, NULL), "key");
  must(EVP_CIPHER_CTX_set_padding(encrypting, 0) && EVP_CIPHER_CTX_set_padding(decrypting, 0), "padding");
  aead = (EVP_CIPHER_get_flags(cipher) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0, tag_len = 16;
  tweaked = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_XTS_MODE, iv_len = EVP_CIPHER_get_iv_length(cipher);
  if (hmac) {
    char digest[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    mac = EVP_MAC_CTX_new(EVP_MAC_fetch(NULL, "HMAC", NULL));
    must(EVP_MAC_init(mac, mac_key, sizeof mac_key, params), "MAC's key");
  }
}

static void set_up(void) {
  const char *scheme = getenv("PAGES_SCHEME"), *path = getenv("PAGES_META");
  char name[64];
  if (!scheme || !path) fail("PAGES_SCHEME and PAGES_META must be set");
  const char *plus = strstr(scheme, "+hmac-sha256");
  snprintf(name, sizeof name, "%.*s", (int)(plus ? plus - scheme : (long)strlen(scheme)), scheme);
  keyed(name, plus != NULL);
  timed = getenv("PAGES_TIMED") != NULL;
  int fd = open(path, O_RDWR | O_CREAT, 0666);
  must(fd >= 0 && ftruncate(fd, sizeof *meta) == 0, path);
  meta = mmap(NULL, sizeof *meta, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(meta != MAP_FAILED, "no memory for tags");
  pthread_atfork(NULL, NULL, forked);
}

/* Even: the hash of a table's path. Odd: the number of a log's segment, twice, and one. 0: not encrypted. */
static uint64_t of_path(const char *path) {
  const char *all[] = {"base/", "global/", "pg_wal/"}, *begin = NULL;
  for (int i = 0; i < 3 && !begin; i++) {
    const char *found = strstr(path, all[i]);
    if (found && (found == path || found[-1] == '/')) begin = found;
  }
  const char *last = strrchr(path, '/');
  if (!begin || !last || last[1] < '0' || last[1] > '9') return 0;
  unsigned high, low;
  if (begin[0] == 'p') return strlen(last + 1) == 24 && sscanf(last + 9, "%8X%8X", &high, &low) == 2 ? (high * 256ull + low) * 2 + 1 : 0;
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = begin; *c; c++) hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
  return hash & ~(uint64_t)1;
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Pages, and four further on in the counts their nanoseconds. */
static void count(uint64_t *what, uint64_t n, uint64_t begin) {
  __atomic_fetch_add(what, n, __ATOMIC_RELAXED);
  if (timed) __atomic_fetch_add(what + 4, now() - begin, __ATOMIC_RELAXED);
}

static void aligned(size_t n, off_t at) {
  if (n % PAGE || at % PAGE) fail("not whole pages");
}

static const uint8_t *encrypted(uint64_t file, const void *from, size_t n, off_t at) {
  aligned(n, at);
  uint64_t begin = timed ? now() : 0;
  if (n > capacity) must((buffer = realloc(buffer, n)) != NULL, "memory"), capacity = n;
  for (size_t i = 0; i < n; i += PAGE) encrypt(file, ((uint64_t)at + i) / PAGE, (const uint8_t *)from + i, buffer + i);
  count(file & 1 ? &meta->log_written : &meta->written, n / PAGE, begin);
  return buffer;
}

static void decrypted(uint64_t file, uint8_t *data, size_t n, off_t at) {
  aligned(n, at);
  uint64_t begin = timed ? now() : 0;
  for (size_t i = 0; i < n; i += PAGE) {
    if (decrypt(file, ((uint64_t)at + i) / PAGE, data + i)) continue;
    if (!(file & 1)) fail("a page does not pass its check");
    __atomic_fetch_add(&meta->log_unproven, 1, __ATOMIC_RELAXED);
  }
  count(file & 1 ? &meta->log_read : &meta->read, n / PAGE, begin);
}

#ifdef CONVERT
#include <ftw.h>
#include <sys/stat.h>
static int back;

static int convert(const char *path, const struct stat *facts, int kind, struct FTW *at) {
  (void)at;
  uint64_t file = kind == FTW_F ? of_path(path) : 0;
  if (!file) return 0;
  int fd = open(path, O_RDWR);
  size_t size = (size_t)facts->st_size;
  uint8_t *all = malloc(size + 1);
  must(fd >= 0 && all && pread(fd, all, size, 0) == (ssize_t)size, path);
  if (back) decrypted(file, all, size, 0);
  const uint8_t *out = back ? all : encrypted(file, all, size, 0);
  must(pwrite(fd, out, size, 0) == (ssize_t)size && close(fd) == 0, path);
  free(all);
  return 0;
}

/* How fast the core is just now: a neighbour on its other hardware thread shows here. */
static int pace(void) {
  static uint8_t page[PAGE], out[PAGE];
  enum { WARM_UP = 4, TIMED = 30 };
  set_up();
  for (char c; read(0, &c, 1) == 1;) {
    uint64_t begin = 0;
    for (int i = 0; i < WARM_UP + TIMED; i++) {
      if (i == WARM_UP) begin = now();
      encrypt(2, 1, page, out);
    }
    printf("%lu\n", (now() - begin) / TIMED), fflush(stdout);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "pace") == 0) return pace();
  must(argc == 3, "usage: convert encrypt|decrypt DATA, convert pace");
  back = strcmp(argv[1], "decrypt") == 0;
  must(chdir(argv[2]) == 0, argv[2]);
  set_up();
  const char *all[] = {"base", "global", "pg_wal"};
  for (int i = 0; i < 3; i++) must(nftw(all[i], convert, 20, FTW_PHYS) == 0, all[i]);
  printf("{\"pages\": %lu, \"log_pages\": %lu, \"log_unproven\": %lu}\n", back ? meta->read : meta->written,
         back ? meta->log_read : meta->log_written, meta->log_unproven);
  return 0;
}
#else
static int (*real_open)(const char *, int, ...), (*real_close)(int);
static ssize_t (*real_pread)(int, void *, size_t, off_t), (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);

static uint64_t files[FILES]; /* by descriptor */

static void find_real(void) {
  *(void **)&real_open = dlsym(RTLD_NEXT, "open");
  *(void **)&real_close = dlsym(RTLD_NEXT, "close");
  *(void **)&real_pread = dlsym(RTLD_NEXT, "pread");
  *(void **)&real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  *(void **)&real_pwritev = dlsym(RTLD_NEXT, "pwritev");
}

__attribute__((constructor)) static void begin(void) { set_up(); }

static uint64_t file_of(int fd) { return fd >= 0 && fd < FILES ? files[fd] : 0; }

int open(const char *path, int flags, ...) {
  if (!real_open) find_real();
  va_list rest;
  va_start(rest, flags);
  int fd = real_open(path, flags, va_arg(rest, int));
  va_end(rest);
  uint64_t file = fd >= 0 ? of_path(path) : 0;
  if (file && fd >= FILES) fail("too many files");
  if (fd >= 0 && fd < FILES) files[fd] = file;
  return fd;
}

int close(int fd) {
  if (fd >= 0 && fd < FILES) files[fd] = 0;
  if (!real_close) find_real();
  return real_close(fd);
}

ssize_t pread(int fd, void *to, size_t n, off_t at) {
  if (!real_pread) find_real();
  ssize_t got = real_pread(fd, to, n, at);
  uint64_t file = file_of(fd);
  if (file && got > 0) decrypted(file, to, (size_t)got, at);
  return got;
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
  if (!real_pwrite) find_real();
  uint64_t file = file_of(fd);
  return real_pwrite(fd, file ? encrypted(file, from, n, at) : from, n, at);
}

ssize_t pwritev(int fd, const struct iovec *from, int n, off_t at) {
  if (!real_pwritev) find_real();
  if (file_of(fd)) fail("pwritev of pages: PostgreSQL 15 does not");
  return real_pwritev(fd, from, n, at);
}
#endif
