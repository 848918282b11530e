// A program that `watch` is tested with: it knows what it calls.
// watched MODE N: N messages of SHA-256 over 1,000 bytes, after which MODE says what happens.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

// Signs through the digest's context.
static void sign(int n) {
    unsigned char out[512];
    unsigned length;
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *make = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, NULL);
    EVP_PKEY_keygen_init(make);
    EVP_PKEY_keygen(make, &key);
    EVP_PKEY_CTX_free(make);
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    for (int i = 0; i < n; i++) {
        EVP_SignInit(c, EVP_sha512());
        EVP_SignUpdate(c, data, 2000);
        EVP_SignFinal(c, out, &length, key);
    }
    EVP_MD_CTX_free(c);
    EVP_PKEY_free(key);
}

// CCM is told the length ahead of the associated data.
static void encrypt_ccm(int n) {
    unsigned char out[4096], key[16] = {1}, nonce[12] = {2};
    int length;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(c, EVP_aes_128_ccm(), NULL, NULL, NULL);
    EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
    for (int i = 0; i < n; i++) {
        EVP_EncryptInit_ex(c, NULL, NULL, key, nonce);
        EVP_EncryptUpdate(c, NULL, &length, NULL, 1500);
        EVP_EncryptUpdate(c, NULL, &length, (unsigned char *)data, 13);
        EVP_EncryptUpdate(c, out, &length, (unsigned char *)data, 1500);
        EVP_EncryptFinal_ex(c, out + length, &length);
    }
    EVP_CIPHER_CTX_free(c);
}

// Calls from the very top of a stack that nothing lies above.
static void at_the_edge(void) {
#ifdef __x86_64__
    const size_t size = 1 << 20, page = 4096;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack + size - page, page, PROT_NONE);
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    EVP_DigestInit_ex(c, EVP_sha512(), NULL);
    EVP_DigestUpdate(c, data, 1);
    for (size_t below = 0; below <= 128; below += 16) {
        register void *context __asm__("rdi") = c;
        register const void *bytes __asm__("rsi") = data;
        register size_t length __asm__("rdx") = 1;
        __asm__ volatile("mov %%rsp, %%rbx\n mov %3, %%rsp\n call *%4\n mov %%rbx, %%rsp"
                         : "+r"(context), "+r"(bytes), "+r"(length)
                         : "r"(stack + size - page - below), "r"(&EVP_DigestUpdate)
                         : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
    }
    EVP_MD_CTX_free(c);
#endif
}

static volatile int stop;

static void *bind(void *p) {
    for (unsigned i = 0; !stop; i++) dlsym(RTLD_DEFAULT, i & 1 ? "EVP_DigestFinal_ex" : "EVP_EncryptUpdate");
    return p;
}

// From here on, what a program has no need of that hashes and starts threads ends it.
static void confine(void) {
    const unsigned denied[] = {SYS_getpid, SYS_getppid, SYS_gettid, SYS_clock_gettime, SYS_mremap, SYS_munlock, SYS_openat};
    struct sock_filter f[64];
    unsigned n = 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < sizeof denied / sizeof *denied; i++) {
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied[i], 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    // The C library's threads need other advice.
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]));
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 23 /* MADV_POPULATE_WRITE */, 0, 1);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog p = {n, f};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) exit(7);
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
    } else if (!strcmp(mode, "binds")) {
        pthread_t binds;
        pthread_create(&binds, NULL, bind, NULL);
        for (int i = 0; i < n; i++) {
            if (fork() == 0) { alarm(10); dlsym(RTLD_DEFAULT, "EVP_DecryptUpdate"); _exit(0); }
            int status;
            wait(&status);
            if (status) return 3;
        }
        stop = 1;
        pthread_join(binds, NULL);
    } else if (!strcmp(mode, "confines")) {
        // A child that has called nothing yet, and a thread of its own.
        if (fork() == 0) {
            confine();
            hash(EVP_sha512(), n, 2000);
            pthread_t t;
            pthread_create(&t, NULL, thread, &n);
            pthread_join(t, NULL);
            _exit(5);
        }
        int status;
        wait(&status);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
    } else if (!strcmp(mode, "edge")) {
        at_the_edge();
    } else if (!strcmp(mode, "locks")) {
        return mlockall(MCL_CURRENT | MCL_FUTURE) ? 4 : system("du -sm $(dirname $CIPHERMARK_WATCH) | cut -f 1");
    } else if (!strcmp(mode, "vforks")) {
        if (vfork() == 0) _exit(0);
        hash(EVP_sha512(), n, 2000);
        kill(getpid(), SIGKILL);
    } else if (!strcmp(mode, "signs")) {
        sign(n);
    } else if (!strcmp(mode, "ccm")) {
        encrypt_ccm(n);
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
