/* Times libcrypto's EVP calls in a plain loop, to check ciphermark from outside. Shares no code with it; see README.md.
 *
 *   loop LIBCRYPTO                       known answers, through the calls that are timed
 *   loop LIBCRYPTO CPU SECONDS CASE...   the same, then times each CASE, as aes-256-gcm:message:16, after SECONDS of settling
 *
 * Prints a line of JSON for each case. Exit code 2: the library lacks something or answers wrongly.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned char Byte;
typedef void *Ptr;

static void die(const char *form, ...)
{
    va_list args;
    va_start(args, form);
    vfprintf(stderr, form, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

/* ---- libcrypto, by name: none of its headers is needed ---- */

#define FUNCTIONS(F)                                                  \
    F(int, OPENSSL_init_crypto, (uint64_t, Ptr))                      \
    F(Ptr, OSSL_PROVIDER_try_load, (Ptr, const char *, int))          \
    F(Ptr, EVP_MAC_fetch, (Ptr, const char *, const char *))          \
    F(Ptr, EVP_MAC_CTX_new, (Ptr))                                    \
    F(int, EVP_MAC_init, (Ptr, const Byte *, size_t, const void *))   \
    F(int, EVP_MAC_update, (Ptr, const Byte *, size_t))               \
    F(int, EVP_MAC_final, (Ptr, Byte *, size_t *, size_t))            \
    F(Ptr, EVP_CIPHER_fetch, (Ptr, const char *, const char *))       \
    F(Ptr, EVP_CIPHER_CTX_new, (void))                                \
    F(int, EVP_CIPHER_CTX_set_padding, (Ptr, int))                    \
    F(int, EVP_CIPHER_CTX_ctrl, (Ptr, int, int, Ptr))                 \
    F(int, EVP_EncryptInit_ex, (Ptr, Ptr, Ptr, const Byte *, const Byte *)) \
    F(int, EVP_EncryptUpdate, (Ptr, Byte *, int *, const Byte *, int)) \
    F(int, EVP_EncryptFinal_ex, (Ptr, Byte *, int *))                 \
    F(Ptr, EVP_MD_fetch, (Ptr, const char *, const char *))           \
    F(Ptr, EVP_MD_CTX_new, (void))                                    \
    F(int, EVP_DigestInit_ex2, (Ptr, Ptr, Ptr))                       \
    F(int, EVP_DigestUpdate, (Ptr, const void *, size_t))             \
    F(int, EVP_DigestFinal_ex, (Ptr, Byte *, unsigned *))

#define DECLARE(type, name, arguments) static type(*name) arguments;
FUNCTIONS(DECLARE)

static void load(const char *path)
{
    Ptr file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        die("cannot load %s: %s", path, dlerror());
#define FIND(type, name, arguments)             \
    if (!(*(Ptr *)&name = dlsym(file, #name)))  \
        die("%s has no %s: this needs OpenSSL 3 or newer", path, #name);
    FUNCTIONS(FIND)
    OPENSSL_init_crypto(0x80 /* OPENSSL_INIT_NO_LOAD_CONFIG */, NULL);
    OSSL_PROVIDER_try_load(NULL, "legacy", 1);
}

/* ---- one operation: the calls of crates/adapters/src/evp/README.md ---- */

typedef struct Work Work;
struct Work {
    int (*run)(const Work *);
    Ptr ctx, md;
    const Byte *in, *nonce, *aad;
    Byte *out, *tag;
    int bytes, aad_bytes;
};

static int message(const Work *w)
{
    int n;
    return EVP_EncryptInit_ex(w->ctx, NULL, NULL, NULL, w->nonce) == 1
        && EVP_EncryptUpdate(w->ctx, w->out, &n, w->in, w->bytes) == 1
        && EVP_EncryptFinal_ex(w->ctx, w->out + n, &n) == 1;
}

static int sealed(const Work *w)
{
    int n;
    return EVP_EncryptInit_ex(w->ctx, NULL, NULL, NULL, w->nonce) == 1
        && EVP_EncryptUpdate(w->ctx, NULL, &n, w->aad, w->aad_bytes) == 1
        && EVP_EncryptUpdate(w->ctx, w->out, &n, w->in, w->bytes) == 1
        && EVP_EncryptFinal_ex(w->ctx, w->out + n, &n) == 1
        && EVP_CIPHER_CTX_ctrl(w->ctx, 0x10 /* EVP_CTRL_AEAD_GET_TAG */, 16, w->tag) == 1;
}

static int digest(const Work *w)
{
    unsigned n;
    return EVP_DigestInit_ex2(w->ctx, w->md, NULL) == 1 && EVP_DigestUpdate(w->ctx, w->in, w->bytes) == 1
        && EVP_DigestFinal_ex(w->ctx, w->tag, &n) == 1;
}

static int mac(const Work *w)
{
    size_t n;
    return EVP_MAC_init(w->ctx, NULL, 0, NULL) == 1 && EVP_MAC_update(w->ctx, w->in, w->bytes) == 1
        && EVP_MAC_final(w->ctx, w->tag, &n, 64) == 1;
}

static int update(const Work *w)
{
    int n;
    return EVP_EncryptUpdate(w->ctx, w->out, &n, w->in, w->bytes) == 1;
}

/* ---- algorithms, each with a published answer ---- */

typedef struct {
    const char *name;
    int (*whole)(const Work *);
    const char *key, *nonce, *aad, *in, *out, *tag;
    /* A MAC's name, and its one parameter's name and text; `size` is a number. */
    const char *mac, *parameter, *text;
} Algorithm;

/* Only MACs have what comes after the tag. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const Algorithm ALGORITHMS[] = {
    /* SP 800-38A, F.2.1 and F.5.5 */
    {"aes-128-cbc", message, "2b7e151628aed2a6abf7158809cf4f3c", "000102030405060708090a0b0c0d0e0f", "",
     "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51",
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2", ""},
    {"aes-256-ctr", message, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "", "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51",
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5", ""},
    /* McGrew and Viega, The Galois/Counter Mode of Operation, test case 16 */
    {"aes-256-gcm", sealed, "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    /* RFC 8439, 2.8.2 */
    {"chacha20-poly1305", sealed, "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a204966204920636f756c64206f666665722079"
     "6f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b6"
     "7ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
    /* FIPS 180-4's example */
    {"sha256", digest, "", "", "", "616263", "",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    /* The rest: `abc`, by the standard of each digest */
    {"md4", digest, "", "", "", "616263", "", "a448017aaf21d8525fc10ae87aa6729d"},
    {"md5", digest, "", "", "", "616263", "", "900150983cd24fb0d6963f7d28e17f72"},
    {"sha1", digest, "", "", "", "616263", "", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {"sha224", digest, "", "", "", "616263", "", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
    {"sha512-224", digest, "", "", "", "616263", "", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"},
    {"sha512-256", digest, "", "", "", "616263", "", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
    {"sha3-224", digest, "", "", "", "616263", "", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"},
    {"blake2s256", digest, "", "", "", "616263", "", "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"},
    {"sm3", digest, "", "", "", "616263", "", "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"},
    {"rmd160", digest, "", "", "", "616263", "", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"},
    {"whirlpool", digest, "", "", "", "616263", "",
     "4e2448a4c6f486bb16b6562c73b4020bf3043e3a731bce721ae1b303d97e6d4c7181eebdb6c57e277d0e34957114cbd6c797fc9d95d8b582d225292076d4eef5"},
    /* A block under a vector of zeros is ECB's: Eric Young's vectors, RFC 2144 B.1, RFC 4269 B.1, RFC 2268 5, FIPS 81 */
    {"bf-cbc", message, "f0e1d2c3b4a5968778695a4b3c2d1e0f", "0000000000000000", "", "fedcba9876543210", "93142887ee3be15c", ""},
    {"cast5-cbc", message, "0123456712345678234567893456789a", "0000000000000000", "", "0123456789abcdef", "238b4fe5847e44b2", ""},
    {"seed-cbc", message, "00000000000000000000000000000000", "00000000000000000000000000000000", "",
     "000102030405060708090a0b0c0d0e0f", "5ebac6e0054e166819aff1cc6d346cdb", ""},
    {"rc2-cbc", message, "88bca90e90875a7f0f79c384627bafb2", "0000000000000000", "", "0000000000000000", "2269552ab0f85ca6", ""},
    {"des-cbc", message, "0123456789abcdef", "0000000000000000", "", "4e6f772069732074", "3fa40e8a984d4815", ""},
    /* RFC 2202 3, RFC 4493 4, Aumasson and Bernstein's SipHash paper, NIST's KMAC samples */
    {"hmac-sha1", mac, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "", "4869205468657265", "",
     "b617318655057264e28bc0b6fb378c8ef146be00", "HMAC", "digest", "SHA1"},
    {"aes-128-cmac", mac, "2b7e151628aed2a6abf7158809cf4f3c", "", "", "6bc1bee22e409f96e93d7e117393172a", "",
     "070a16b46b4d4144f79bdd9dd04a287c", "CMAC", "cipher", "AES-128-CBC"},
    {"siphash-2-4", mac, "000102030405060708090a0b0c0d0e0f", "", "", "000102030405060708090a0b0c0d0e", "", "e545be4961ca29a1",
     "SIPHASH", "size", "8"},
    {"kmac128", mac, "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f", "", "", "00010203", "",
     "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e", "KMAC-128", "size", "32"},
};
enum { KNOWN = sizeof ALGORITHMS / sizeof *ALGORITHMS };

static int unhex(Byte *out, const char *hex)
{
    int n = 0;
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        out[n++] = byte;
    return n;
}

static Ptr keyed_mac(const Algorithm *a, const Byte *key, int key_bytes)
{
    /* OSSL_PARAM: key, type, data, their size, what was returned. Type 2 is an unsigned number, 4 a text. */
    size_t number = strtoul(a->text, NULL, 10);
    int counted = strcmp(a->parameter, "size") == 0;
    struct {
        const char *key;
        unsigned type;
        const void *data;
        size_t bytes, returned;
    } parameters[2] = {
        {a->parameter, counted ? 2 : 4, counted ? (const void *)&number : a->text, counted ? sizeof number : strlen(a->text), -1},
        {0},
    };
    Ptr fetched = EVP_MAC_fetch(NULL, a->mac, NULL), ctx = fetched ? EVP_MAC_CTX_new(fetched) : NULL;
    if (!ctx || EVP_MAC_init(ctx, key, key_bytes, parameters) != 1)
        die("this libcrypto has no %s", a->name);
    return ctx;
}

/* The key is set, and the nonce as well. Padding is CBC's: turned off elsewhere, it would be turned off again at each nonce. */
static Work begin(const Algorithm *a, int streams)
{
    static Byte key[64], nonce[16], aad[32], tag[64];
    int key_bytes = unhex(key, a->key);
    unhex(nonce, a->nonce);
    Work w = {.run = streams ? update : a->whole, .nonce = nonce, .aad = aad, .tag = tag};
    w.aad_bytes = unhex(aad, a->aad);
    if (a->whole == digest) {
        if (streams)
            die("%s has messages only", a->name);
        w.md = EVP_MD_fetch(NULL, a->name, NULL);
        w.ctx = EVP_MD_CTX_new();
        if (!w.md || !w.ctx)
            die("this libcrypto has no %s", a->name);
        return w;
    }
    if (a->whole == mac) {
        if (streams)
            die("%s has messages only", a->name);
        w.ctx = keyed_mac(a, key, key_bytes);
        return w;
    }
    Ptr cipher = EVP_CIPHER_fetch(NULL, a->name, NULL);
    w.ctx = EVP_CIPHER_CTX_new();
    if (!cipher || !w.ctx)
        die("this libcrypto has no %s", a->name);
    if (EVP_EncryptInit_ex(w.ctx, cipher, NULL, key, nonce) != 1
        || (strstr(a->name, "-cbc") && EVP_CIPHER_CTX_set_padding(w.ctx, 0) != 1))
        die("this libcrypto takes no key of %s", a->name);
    return w;
}

/* The second message must not depend on the first; a stream is not begun again, so it has one. */
static void check(const Algorithm *a, int streams)
{
    Byte in[256], out[256], expected[256], tag[64];
    Work w = begin(a, streams);
    w.in = in;
    w.out = streams ? in : out;
    w.bytes = unhex(in, a->in);
    for (int i = 0; i < 2 - streams; i++) {
        memset(out, 0, sizeof out);
        memset(w.tag, 0, sizeof tag);
        if (!w.run(&w))
            die("%s: a call failed", a->name);
        if (memcmp(w.out, expected, unhex(expected, a->out)) || (!streams && memcmp(w.tag, tag, unhex(tag, a->tag))))
            die("%s: a wrong answer", a->name);
    }
}

/* ---- clocks ---- */

static long chains = 500;

#if defined(__x86_64__)
#define CYCLES_A_CHAIN 60.0
static uint64_t ticks(void)
{
    uint32_t low, high, cpu;
    __asm__ volatile("lfence; rdtscp; lfence" : "=a"(low), "=d"(high), "=c"(cpu)::"memory");
    return (uint64_t)high << 32 | low;
}
/* Twenty multiplications a time, each of the result before: three cycles each on AMD's cores since Zen and Intel's since
 * Nehalem. */
static void chain(void)
{
    uint64_t x = 3, n = chains;
    __asm__ volatile("1: .rept 20; imul %0, %0; .endr; dec %1; jnz 1b" : "+r"(x), "+r"(n)::"cc");
}
/* As many instructions as the core can begin at once: a sibling thread that runs takes some of their slots. */
static void crowd(void)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, n = chains;
    __asm__ volatile("1: .rept 24; add $1, %0; add $1, %1; add $1, %2; add $1, %3; .endr; dec %4; jnz 1b"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(n)::"cc");
}
#else
#define CYCLES_A_CHAIN 0.0
static uint64_t ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static void chain(void) {}
static void crowd(void) {}
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double took(void (*code)(void))
{
    uint64_t from = ticks();
    code();
    return ticks() - from;
}

/* The core beside a window: ticks of the chain, and what the crowd takes as a part of that; huge if the clock moved. */
typedef struct {
    double chain, crowd;
} Core;

static double least_crowd = 1e9;

/* How often something takes the core from this loop, in times a second. It sees no more than that the clock jumps. */
static double taken(double ticks_per_ns)
{
    const double jump_ns = 700;
    double begun = now(), jumps = 0;
    for (uint64_t last = ticks(), next; now() - begun < 0.2; last = next)
        jumps += (next = ticks()) - last > jump_ns * ticks_per_ns;
    return jumps / (now() - begun);
}

static int agree(double a, double b)
{
    return a < 1.01 * b && b < 1.01 * a;
}

static Core core(void)
{
    double first = took(chain), middle = took(crowd), last = took(chain);
    if (!agree(first, last))
        return (Core){first < last ? first : last, 1e9};
    Core seen = {(first + last) / 2, middle * 2 / (first + last)};
    if (seen.crowd < least_crowd)
        least_crowd = seen.crowd;
    return seen;
}

/* Whether the clock stood still and the core was about as free as it ever was. */
static int undisturbed(Core a, Core b)
{
    double most = 1.05 * least_crowd;
    return CYCLES_A_CHAIN == 0 || (agree(a.chain, b.chain) && a.crowd < most && b.crowd < most);
}

/* ---- timing ---- */

enum { PLACES = 16, NONCES = 64, WINDOWS = 64, ROOM = 64 * 4096, LARGEST = 16384 };
static const double PATIENCE = 10;
static double window_ns = 200e3;

static struct {
    Byte in[ROOM + LARGEST], out[ROOM + LARGEST], nonces[NONCES][16];
} memory __attribute__((aligned(4096)));

/* Few stores: some libraries read what they stored in other pieces, and then wait for all stores before. */
static __attribute__((noinline)) int operations(Work *w, long count)
{
    static long at;
    int failed = 0;
    if (w->run == digest || w->run == mac || w->run == update) {
        for (long i = 0; i < count; i++)
            failed |= !w->run(w);
        return failed;
    }
    for (long i = at; i < at + count; i++) {
        Byte *nonce = memory.nonces[i % NONCES];
        w->nonce = nonce;
        failed |= !w->run(w);
        /* After its use, so that no library reads a nonce right after a store to it. */
        ++*(uint64_t *)nonce;
    }
    at += count;
    return failed;
}

/* Each place has other lines for the buffers and another part of a page for the stack. */
static __attribute__((noinline)) void at_place(Work *w, int place, long count)
{
    static unsigned lines[2][PLACES];
    if (!lines[0][place])
        for (int i = 0; i < 2; i++)
            lines[i][place] = 1 + rand() % (ROOM / 64 - 1);
    volatile Byte *shift = __builtin_alloca(16 + place * 256 + place % 4 * 16);
    *shift = 0;
    w->out = memory.out + 64 * lines[1][place];
    w->in = w->run == update ? w->out : memory.in + 64 * lines[0][place];
    if (operations(w, count))
        die("a call failed");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[n / 2];
}

static double mean(const double *places)
{
    double sum = 0;
    for (int p = 0; p < PLACES; p++)
        sum += places[p];
    return sum / PLACES;
}

/* What one operation takes at each place, in ns and cycles: the median of its windows. Returns how many of all windows
 * were disturbed and count because there were too few others. */
static int measure(Work *w, long ops, double ticks_per_ns, double *ns, double *cycles)
{
    int disturbed = 0;
    static double each_ns[PLACES][WINDOWS], each_cycles[PLACES][WINDOWS];
    int kept[PLACES] = {0}, missing = PLACES * WINDOWS;
    double begun = now();
    for (int p = 0; missing > 0; p = (p + 1) % PLACES) {
        if (kept[p] == WINDOWS)
            continue;
        at_place(w, p, 2);
        Core before = core();
        double from = ticks();
        at_place(w, p, ops);
        double each = (ticks() - from) / ops;
        Core after = core();
        if (!undisturbed(before, after)) {
            if (now() - begun < PATIENCE)
                continue;
            disturbed++;
        }
        each_ns[p][kept[p]] = each / ticks_per_ns;
        each_cycles[p][kept[p]++] = each * chains * CYCLES_A_CHAIN / ((before.chain + after.chain) / 2);
        missing--;
    }
    for (int p = 0; p < PLACES; p++) {
        ns[p] = median(each_ns[p], WINDOWS);
        cycles[p] = median(each_cycles[p], WINDOWS);
    }
    qsort(ns, PLACES, sizeof *ns, by_value);
    qsort(cycles, PLACES, sizeof *cycles, by_value);
    return disturbed;
}

static void time_case(const Algorithm *a, int streams, int bytes, double seconds, double ticks_per_ns)
{
    Work w = begin(a, streams);
    w.bytes = bytes;
    w.aad_bytes = w.aad_bytes ? 16 : 0;
    long settling = 0;
    double begun = now(), ns[PLACES], cycles[PLACES];
    for (; now() - begun < seconds; settling += 16)
        at_place(&w, settling / 1024 % PLACES, 16);
    long ops = 1 + (long)(window_ns * settling / ((now() - begun) * 1e9));
    double disturbed = measure(&w, ops, ticks_per_ns, ns, cycles);
    printf("{\"algorithm\": \"%s\", \"model\": \"%s\", \"size\": %d, \"ns\": %.3f, \"cycles\": %.3f, \"places\": [%.3f, %.3f], "
           "\"disturbed\": %.2f}\n",
           a->name, streams ? "stream" : "message", bytes, mean(ns), mean(cycles), cycles[0], cycles[PLACES - 1],
           disturbed / (PLACES * WINDOWS));
    fflush(stdout);
}

/* Where a hypervisor takes the core so often that no long window is free of it: most of short ones are. */
static void shorten(double taken)
{
    if (taken < 5000)
        return;
    window_ns = 12e3;
    chains = 100;
}

/* Meanwhile it sees how free the core can be. */
static double ticks_per_ns(void)
{
    double begun = now();
    uint64_t from = ticks();
    while (now() - begun < 0.5)
        core();
    return (ticks() - from) / ((now() - begun) * 1e9);
}

static void pin(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one))
        die("cannot run on CPU %d", cpu);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc < 5)
        die("usage: loop LIBCRYPTO [CPU SECONDS ALGORITHM:message|stream:BYTES...]");
    load(argv[1]);
    if (argc == 2) {
        for (int i = 0; i < KNOWN; i++)
            for (int streams = 0; streams < 2; streams++)
                if (!streams || ALGORITHMS[i].whole == message || ALGORITHMS[i].whole == sealed)
                    check(&ALGORITHMS[i], streams);
        printf("%d algorithms answer rightly\n", KNOWN);
        return 0;
    }
    pin(atoi(argv[2]));
    srand(time(NULL));
    for (Byte *b = memory.in; b < memory.nonces[NONCES]; b++)
        *b = rand();
    double rate = ticks_per_ns();
    shorten(taken(rate));
    least_crowd = 1e9;
    rate = ticks_per_ns();
    for (int i = 4; i < argc; i++) {
        char name[32], model[8];
        int bytes, known = 0;
        if (sscanf(argv[i], "%31[^:]:%7[^:]:%d", name, model, &bytes) != 3 || bytes < 16 || bytes > LARGEST)
            die("'%s' is not ALGORITHM:message|stream:BYTES", argv[i]);
        while (known < KNOWN && strcmp(name, ALGORITHMS[known].name))
            known++;
        if (known == KNOWN)
            die("no known answer for %s", name);
        int streams = !strcmp(model, "stream");
        check(&ALGORITHMS[known], streams);
        time_case(&ALGORITHMS[known], streams, bytes, atof(argv[3]), rate);
    }
    return 0;
}
