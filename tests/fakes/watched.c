// A program that `watch` is tested with: it knows what it calls.
// watched MODE N: N messages of SHA-256 over 1,000 bytes, after which MODE says what happens.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char data[4096];

static void hash(const EVP_MD *md, int n, int bytes) {
    unsigned char out[64];
    unsigned length;
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    for (int i = 0; i < n; i++) {
        EVP_DigestInit_ex(c, md, NULL);
        EVP_DigestUpdate(c, data, bytes);
        EVP_DigestFinal_ex(c, out, &length);
    }
    EVP_MD_CTX_free(c);
}

// Encrypts, and looks the cipher up by name for each message, which need not be.
static void encrypt(int n, int bytes) {
    unsigned char out[4096 + 16], key[32] = {1}, nonce[12] = {2}, tag[16];
    int length;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce);
    for (int i = 0; i < n; i++) {
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
        EVP_CIPHER_free(EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL));
#endif
        EVP_EncryptInit_ex(c, NULL, NULL, NULL, nonce);
        EVP_EncryptUpdate(c, out, &length, (unsigned char *)data, bytes);
        EVP_EncryptFinal_ex(c, out + length, &length);
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, tag);
    }
    EVP_CIPHER_CTX_free(c);
}

static void *thread(void *n) {
    hash(EVP_sha512(), *(int *)n, 2000);
    return NULL;
}

// The same calls through one library of several, all with the same names.
static void through(const char *path, int n) {
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!h) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    int (*whole)(const void *, size_t, unsigned char *, unsigned *, const void *, void *) = dlsym(h, "EVP_Digest");
    const void *(*md)(void) = dlsym(h, "EVP_sha256");
    unsigned char out[64];
    unsigned length;
    for (int i = 0; i < n; i++) whole(data, 3000, out, &length, md(), NULL);
}

int main(int argc, char **argv) {
    const char *mode = argv[1];
    int n = atoi(argv[2]);
    hash(EVP_sha256(), n, 1000);
    if (!strcmp(mode, "threads")) {
        pthread_t all[64];
        for (int i = 0; i < 64; i++) pthread_create(&all[i], NULL, thread, &n);
        for (int i = 0; i < 64; i++) pthread_join(all[i], NULL);
    } else if (!strcmp(mode, "forks")) {
        for (int i = 0; i < 3; i++) {
            if (fork() == 0) { hash(EVP_sha512(), n, 2000); _exit(0); }
            wait(NULL);
        }
        // Not by the C library's function.
        if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) { hash(EVP_sha512(), n, 2000); _exit(0); }
        wait(NULL);
    } else if (!strcmp(mode, "killed")) {
        kill(getpid(), SIGKILL);
    } else if (!strcmp(mode, "closes")) {
        close_range(0, ~0U, 0);
        hash(EVP_sha512(), n, 2000);
        return 5;
    } else if (!strcmp(mode, "execs")) {
        execl("/proc/self/exe", argv[0], "plain", argv[2], NULL);
    } else if (!strcmp(mode, "encrypts")) {
        encrypt(n, 1500);
    } else if (!strcmp(mode, "libraries")) {
        for (int i = 3; i < argc; i++) through(argv[i], n * (i - 1));
    }
    return 0;
}
