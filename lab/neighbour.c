// Reads the two parts of the throughput probe, alone and together, and a walk through resident lines,
// around batches of the system's OpenSSL and memcpy. Prints a line a sample:
// case, core cycles an operation, then the lower of before and after: front end, both parts
// (instructions a cycle); and cycles a line of the walk behind the batch.
// Build: cc -O2 -o neighbour neighbour.c -ldl. Run: ./neighbour CPU SAMPLES, or ./neighbour CPU KIND to be a
// neighbour: c chases pointers through memory, w writes through memory, a adds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <x86intrin.h>

static double overhead;

static uint64_t now(void) {
  unsigned aux;
  _mm_lfence();
  uint64_t t = __rdtscp(&aux);
  _mm_lfence();
  return t;
}

static double took(uint64_t begin) { return (double)(now() - begin) - overhead; }

// Core cycles a tick, as clock.rs reads them.
static double clock_over(uint64_t rounds) {
  uint64_t x = 3, n = rounds, t = now();
  __asm__ volatile("2:\n.rept 100\nimul %0,%0\n.endr\ndec %1\njnz 2b" : "+r"(x), "+r"(n)::"cc");
  return 300.0 * (double)rounds / took(t);
}

// The blocks of arch/x86_64.rs; the faster of two.
static double block(double clock, uint64_t windows) {
  double best = 0;
  for (int k = 0; k < 2; k++) {
    uint64_t a = 1, b = 2, c = 3, n = 16, m = windows, t = now();
    __asm__ volatile(
        "2:\n.rept 100\nror $7,%0\nxor %k2,%k2\nror $9,%1\nnop\nnop\nnop\n.endr\ndec %3\njnz 2b\n"
        "test %4,%4\njz 4f\n"
        "3:\n.rept 2\nmov $3,%k0\n.rept 24\nimul %0,%0\n.endr\n.rept 140\nxor %k2,%k2\n.endr\n.endr\n"
        "dec %4\njnz 3b\n4:"
        : "+r"(a), "+r"(b), "+r"(c), "+r"(n), "+r"(m)::"cc");
    double rate = (9600.0 + 330.0 * (double)windows) / (took(t) * clock);
    if (rate > best) best = rate;
  }
  return best;
}

struct reading { double clock, front, both; };

static struct reading read_core(void) {
  struct reading r = {.clock = clock_over(40)};
  r.front = block(r.clock, 0);
  r.both = block(r.clock, 8);
  double behind = clock_over(10);
  if (behind > r.clock) r.front *= r.clock / behind, r.both *= r.clock / behind;
  return r;
}

enum { LINES = 256 };
static uint64_t *ring;

static void make_ring(void) {
  int order[LINES];
  ring = aligned_alloc(4096, LINES * 64);
  for (int i = 0; i < LINES; i++) order[i] = i;
  for (int i = LINES - 1; i > 0; i--) {
    int j = rand() % i, held = order[i];
    order[i] = order[j], order[j] = held;
  }
  for (int i = 0; i < LINES; i++) ring[order[i] * 8] = (uint64_t)&ring[order[(i + 1) % LINES] * 8];
}

static double walk(double clock) {
  uint64_t at = (uint64_t)ring, n = LINES / 16, t = now();
  __asm__ volatile("2:\n.rept 16\nmov (%0),%0\n.endr\ndec %1\njnz 2b" : "+r"(at), "+r"(n)::"cc", "memory");
  return took(t) * clock / LINES;
}

static int (*init)(void *, const void *, void *, const uint8_t *, const uint8_t *);
static int (*update)(void *, uint8_t *, int *, const uint8_t *, int);
static int (*final)(void *, uint8_t *, int *);
static int (*control)(void *, int, int, void *);
static uint8_t key[64], iv[16], input[16384], output[16384 + 64], tag[16];

struct subject { const char *name, *cipher; int size, tagged; void *context; int ops; };

static void run(struct subject *s) {
  for (int i = 0, len; i < s->ops; i++) {
    if (!s->cipher) {
      memcpy(output, input, s->size);
      __asm__ volatile("" ::"r"(output) : "memory");
      continue;
    }
    iv[0]++;
    init(s->context, 0, 0, 0, iv);
    update(s->context, output, &len, input, s->size);
    final(s->context, output + s->size, &len);
    if (s->tagged) control(s->context, 0x10, 16, tag);
  }
}

static void open_all(struct subject *all, int count) {
  void *lib = dlopen("libcrypto.so.3", RTLD_NOW);
  if (!lib) fprintf(stderr, "%s\n", dlerror()), exit(1);
  void *(*create)(void) = dlsym(lib, "EVP_CIPHER_CTX_new");
  const void *(*find)(const char *) = dlsym(lib, "EVP_get_cipherbyname");
  init = dlsym(lib, "EVP_EncryptInit_ex"), update = dlsym(lib, "EVP_EncryptUpdate");
  final = dlsym(lib, "EVP_EncryptFinal_ex"), control = dlsym(lib, "EVP_CIPHER_CTX_ctrl");
  for (struct subject *s = all; s < all + count; s++) {
    if (s->cipher) s->context = create(), init(s->context, find(s->cipher), 0, key, iv);
    double best = 1e18;
    s->ops = 1;
    for (int i = 0; i < 20; i++) {
      uint64_t t = now();
      run(s);
      double ticks = took(t);
      if (ticks < best) best = ticks;
    }
    s->ops = (int)(78e3 / best) + 1; // 30 µs at 2.6 GHz
  }
}

static void be_neighbour(char kind) {
  size_t bytes = (size_t)128 << 20, lines = bytes / 64;
  char *memory = aligned_alloc(4096, bytes);
  size_t *order = malloc(lines * sizeof *order);
  for (size_t i = 0; i < lines; i++) order[i] = i;
  for (size_t i = lines - 1; i > 0; i--) {
    size_t j = (((size_t)rand() << 16) ^ (size_t)rand()) % i, held = order[i];
    order[i] = order[j], order[j] = held;
  }
  for (size_t i = 0; i < lines; i++)
    *(uint64_t *)(memory + 64 * order[i]) = (uint64_t)(memory + 64 * order[(i + 1) % lines]);
  for (uint64_t at = (uint64_t)memory, a = 1;;) {
    if (kind == 'c') __asm__ volatile(".rept 64\nmov (%0),%0\n.endr" : "+r"(at)::"memory");
    else if (kind == 'w') memset(memory, 1, bytes);
    else __asm__ volatile(".rept 1000\nadd $1,%0\n.endr" : "+r"(a)::"cc");
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(atoi(argv[1]), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  if (strchr("cwa", *argv[2])) be_neighbour(*argv[2]);
  overhead = 1e9;
  for (int i = 0; i < 2000; i++) {
    uint64_t t = now();
    double empty = (double)(now() - t);
    if (empty < overhead) overhead = empty;
  }
  make_ring();
  struct subject all[] = {
      {"aes-256-gcm-16", "aes-256-gcm", 16, 1}, {"aes-256-gcm-1024", "aes-256-gcm", 1024, 1},
      {"aes-256-gcm-16384", "aes-256-gcm", 16384, 1}, {"memcpy-16384", 0, 16384, 0},
      {"chacha20-poly1305-1024", "chacha20-poly1305", 1024, 1},
      {"chacha20-poly1305-16384", "chacha20-poly1305", 16384, 1}, {"aes-256-cbc-1024", "aes-256-cbc", 1024, 0}};
  int count = sizeof all / sizeof *all;
  open_all(all, count);
  for (int sample = 0; sample < atoi(argv[2]) * count; sample++) {
    struct subject *s = &all[sample % count];
    struct rusage before, after;
    run(s);
    getrusage(RUSAGE_THREAD, &before);
    struct reading one = read_core();
    uint64_t t = now();
    run(s);
    double ticks = took(t);
    walk(1), walk(1);
    struct reading other = read_core();
    double line = walk(other.clock), moved = other.clock / one.clock;
    getrusage(RUSAGE_THREAD, &after);
    if (after.ru_nivcsw != before.ru_nivcsw || moved > 1.02 || moved < 0.98) continue;
    printf("%s %.6g %.4f %.4f %.3f\n", s->name, ticks * (one.clock + other.clock) / 2 / s->ops,
           one.front < other.front ? one.front : other.front, one.both < other.both ? one.both : other.both, line);
  }
}
