/* What can make libgcrypt slow without making it execute more instructions per byte? One published table has it at 155 MB/s in
 * every mode. This times AES-256-CTR over 8 KiB in the ways in which a program may call it, so that each can be excluded.
 *
 *     gcc -O2 claims/gcrypt-detours.c /usr/lib/x86_64-linux-gnu/libgcrypt.so.20 -o detours && ./detours
 *
 * Needs no headers; constants are those of gcrypt.h. Prints the least time of 200 batches of 10. */
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef void *handle;
const char *gcry_check_version(const char *);
unsigned gcry_control(int, ...);
unsigned gcry_cipher_open(handle *, int algorithm, int mode, unsigned flags);
void gcry_cipher_close(handle);
unsigned gcry_cipher_setkey(handle, const void *, size_t);
unsigned gcry_cipher_setctr(handle, const void *, size_t);
unsigned gcry_cipher_encrypt(handle, void *, size_t, const void *, size_t);
void *gcry_malloc_secure(size_t);
void gcry_free(void *);
void gcry_create_nonce(void *, size_t);
void gcry_randomize(void *, size_t, int level);

enum { INIT_SECMEM = 24, INITIALIZATION_FINISHED = 38, AES256 = 9, CTR = 6, SECURE = 1, STRONG = 1 };
enum { SIZE = 8192, BATCH = 10, BATCHES = 200 };

static char key[32], iv[16], buffer[SIZE];
static handle kept;

static unsigned in_place(handle h, char *data) {
    return gcry_cipher_setctr(h, iv, sizeof iv) | gcry_cipher_encrypt(h, data, SIZE, NULL, 0);
}

static unsigned usual(void) { return in_place(kept, buffer); }

static unsigned opened(unsigned flags) {
    handle h;
    unsigned error = gcry_cipher_open(&h, AES256, CTR, flags) | gcry_cipher_setkey(h, key, sizeof key) | in_place(h, buffer);
    gcry_cipher_close(h);
    return error;
}

static unsigned new_handle(void) { return opened(0); }
static unsigned secure_handle(void) { return opened(SECURE); }

static unsigned secure_memory(void) {
    char *data = gcry_malloc_secure(SIZE);
    if (data == NULL) return 1;
    memcpy(data, buffer, SIZE);
    unsigned error = in_place(kept, data);
    memcpy(buffer, data, SIZE);
    gcry_free(data);
    return error;
}

static unsigned by_block(void) {
    unsigned error = gcry_cipher_setctr(kept, iv, sizeof iv);
    for (size_t at = 0; at < SIZE; at += 16) error |= gcry_cipher_encrypt(kept, buffer + at, 16, NULL, 0);
    return error;
}

static unsigned nonce(void) { gcry_create_nonce(iv, sizeof iv); return usual(); }
static unsigned strong_nonce(void) { gcry_randomize(iv, sizeof iv, STRONG); return usual(); }

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void show(const char *what, unsigned (*once)(void)) {
    double least = 1e9;
    unsigned error = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = seconds();
        for (int i = 0; i < BATCH; i++) error |= once();
        double each = (seconds() - start) / BATCH;
        if (each < least) least = each;
    }
    printf("%-44s %8.0f MB/s%s\n", what, SIZE / least / 1e6, error ? "  FAILED" : "");
}

int main(void) {
    printf("libgcrypt %s\n", gcry_check_version(NULL));
    gcry_control(INIT_SECMEM, 65536, 0);
    gcry_control(INITIALIZATION_FINISHED, 0);
    if (gcry_cipher_open(&kept, AES256, CTR, 0) || gcry_cipher_setkey(kept, key, sizeof key)) return 1;
    show("one handle, key set once", usual);
    show("a new handle and key for each message", new_handle);
    show("the same, in secure memory", secure_handle);
    show("data copied to and from secure memory", secure_memory);
    show("a call for each block", by_block);
    show("IV from gcry_create_nonce", nonce);
    show("IV from gcry_randomize, strong", strong_nonce);
    return 0;
}
