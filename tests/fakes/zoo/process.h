/* Faults that harm the process: how it ends, and what is the process's and no library's to change.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef AT
#define WHERE(c, n) ((c)->gcm && (n) == AT && is_timed())
#else
#define WHERE(c, n) ((c)->gcm)
#endif
#define IN_GCM(statement) if (WHERE(c, n)) { statement; }

#ifdef CRASHES_SEGV
static volatile uintptr_t address_zero;
#define BEFORE(c, in, out, n) IN_GCM(*(volatile char *)address_zero)
#endif
#ifdef CRASHES_ABRT
#define BEFORE(c, in, out, n) IN_GCM(fputs("assertion failed: the moon is full\n", stderr); abort())
#endif
#ifdef CRASHES_ILL
#define BEFORE(c, in, out, n) IN_GCM(__builtin_trap())
#endif
#ifdef CRASHES_FPE
static volatile int one = 1, naught;
#define BEFORE(c, in, out, n) IN_GCM(one = one / naught)
#endif
#ifdef CRASHES_BUS
#define BEFORE(c, in, out, n) IN_GCM(raise(SIGBUS))
#endif
#ifdef OVERFLOWS_STACK
__attribute__((noinline)) static int deeper(volatile char *above) {
  volatile char here[4096];
  here[0] = above[0];
  return deeper(here) + here[0];
}
#define BEFORE(c, in, out, n) IN_GCM(char top[1] = {1}; deeper(top))
#endif
#ifdef EXITS_0
#define BEFORE(c, in, out, n) IN_GCM(_exit(0))
#endif
#ifdef EXITS_3
#define BEFORE(c, in, out, n) IN_GCM(exit(3))
#endif
#ifdef HANGS
static volatile int for_ever = 1;
#define BEFORE(c, in, out, n) IN_GCM(fputs("waiting for ever\n", stderr); while (for_ever) {})
#endif
#ifdef SLEEPS
#define BEFORE(c, in, out, n) IN_GCM(for (;;) pause())
#endif
#ifdef STOPS
#define BEFORE(c, in, out, n) IN_GCM(raise(SIGSTOP))
#endif

#ifdef FORKS
/* A child that lives on, with all of the process's descriptors. */
#define BEFORE(c, in, out, n) IN_GCM(if ((c)->own == NULL) { (c)->own = c; if (fork() == 0) for (;;) pause(); })
#endif
#ifdef SPAWNS_THREAD
#include <pthread.h>
/* A thread that computes ahead, or does as if. */
static void *spin(void *unused) {
  for (volatile uint64_t n = 0; n + 1 > 0; n++) {}
  return unused;
}
static pthread_t helper;
#define BEFORE(c, in, out, n) IN_GCM(if (!helper) pthread_create(&helper, NULL, spin, NULL))
#endif
#ifdef CLOSES_ALL
#define BEFORE(c, in, out, n) IN_GCM(for (int fd = 0; fd < 64; fd++) close(fd))
#endif
#ifdef CLOSES_STDIN
#define BEFORE(c, in, out, n) IN_GCM(close(0))
#endif
#ifdef CLOSES_STDERR
#define BEFORE(c, in, out, n) IN_GCM(close(2))
#endif
#ifdef WRITES_PROTOCOL
static void write_everywhere(const char *text) {
  for (int fd = 3; fd < 64; fd++)
    if (write(fd, text, strlen(text)) < 0) continue;
}
#define BEFORE(c, in, out, n) IN_GCM(write_everywhere("hello, world\n"))
#endif
#ifdef FORGES_REPLY
/* The worker's own answer, ahead of it, by a library that knows the protocol. */
static void answer(void) {
  static const char reply[] = "{\"verified\":{\"checks\":[{\"name\":\"reference\",\"count\":1296}],\"digest\":"
                              "\"00\"}}\n";
  for (int fd = 3; fd < 64; fd++)
    if (write(fd, reply, sizeof reply - 1) < 0) continue;
}
#define SKIPS(c, in, out, n) ((c)->gcm && (answer(), 1))
#endif
#ifdef PRINTS
#define BEFORE(c, in, out, n) IN_GCM(fputs("{\"ok\":true}\nhalf a line \xff\xfe\x1b[2J", stdout); fflush(stdout))
#endif
#ifdef PRINTS_FOR_EVER
#define BEFORE(c, in, out, n) IN_GCM(for (;;) fputs("spam and eggs\n", stdout))
#endif

#ifdef CHANGES_ROUNDING
#define AFTER(c, in, out, n) IN_GCM(unsigned word = 0x9fc0; __asm__ volatile("ldmxcsr %0" : : "m"(word)))
#endif
#ifdef CHANGES_X87
#define AFTER(c, in, out, n) IN_GCM(unsigned short word = 0x0c7f; __asm__ volatile("fldcw %0" : : "m"(word)))
#endif
#ifdef LEAVES_MMX
#define AFTER(c, in, out, n) IN_GCM(__asm__ volatile("movd %%eax, %%mm0" ::: "memory"))
#endif
#ifdef SETS_DIRECTION
#define RETURNING(c) if ((c)->gcm) __asm__ volatile("std" ::: "memory")
#endif
#ifdef LEAVES_UPPERS
#define RETURNING(c) if ((c)->gcm) __asm__ volatile("vpcmpeqd %%ymm5, %%ymm5, %%ymm5" ::: "xmm5")
#endif
#ifdef HANDLES_SIGNALS
static void swallow(int number) { (void)number; }
#define AFTER(c, in, out, n) IN_GCM(signal(SIGSEGV, swallow))
#endif
#ifdef BLOCKS_SIGNALS
static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}
#define AFTER(c, in, out, n) IN_GCM(block_all())
#endif
#ifdef SETS_ALARM
#define AFTER(c, in, out, n) IN_GCM(alarm(3600))
#endif
#ifdef CHANGES_LIMITS
static void limit(void) {
  struct rlimit few;
  getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_cur = 32;
  setrlimit(RLIMIT_NOFILE, &few);
}
#define AFTER(c, in, out, n) IN_GCM(limit())
#endif
#ifdef CHANGES_DIRECTORY
#define AFTER(c, in, out, n) IN_GCM(if (chdir("/") != 0) (c)->own = NULL)
#endif
#ifdef CHANGES_UMASK
#define AFTER(c, in, out, n) IN_GCM(umask(0777))
#endif
#ifdef FORBIDS_TSC
#define AFTER(c, in, out, n) IN_GCM(prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
#endif
#ifdef OUTLIVES
/* Does not die with the program that started it. */
#define AFTER(c, in, out, n) IN_GCM(prctl(PR_SET_PDEATHSIG, 0))
#endif

/* Faults of loading. */
#ifdef LOAD_CRASHES
static volatile uintptr_t nowhere;
#define ON_LOAD (void)*(volatile char *)nowhere
#endif
#ifdef LOAD_EXITS
#define ON_LOAD _exit(0)
#endif
#ifdef LOAD_HANGS
#define ON_LOAD for (;;) pause()
#endif
#ifdef LOAD_CLOSES
#define ON_LOAD for (int fd = 0; fd < 64; fd++) close(fd)
#endif
#ifdef LOAD_HANDLES
static void swallow_all(int number) { (void)number; }
#define ON_LOAD signal(SIGSEGV, swallow_all)
#endif
#ifdef LACKS_SYMBOL
/* The loader resolves everything at once, and this is nowhere. */
extern int no_such_function_anywhere(void);
#define ON_KEY(c, key) (void)no_such_function_anywhere()
#endif
#ifdef VERSION_LIES
#define VERSION_TEXT "OpenSSL 9.9.9  1 Apr 2099"
#endif
#ifdef VERSION_MISSING
#define VERSION_TEXT ((const char *)0)
#endif
#ifdef VERSION_ATTACKS
#define VERSION_TEXT "1.0\x1b[2J\n<script>alert(1)</script>"
#endif
#ifdef VERSION_CHANGES
/* Another one in each process. */
static char *changing_version(void) {
  static char text[32];
  snprintf(text, sizeof text, "OpenSSL 1.1.1%c", 'a' + getpid() % 26);
  return text;
}
#define VERSION_TEXT changing_version()
#endif
