/* A stranger's library: right in what it computes, and reaching outside at every moment at which its code runs: while it
 * is resolved (ifunc), in an initialiser, in a thread that it leaves running, when that thread ends, in each operation, in
 * a destructor. It goes on whatever comes of it: the test looks from outside.
 *
 *     cc -shared -fPIC -I include -DPLACE='"/some/directory"' -DPORT=9 -DPID=42 [-DLOUD] [-DFORKING] [-DHANGING=n] ...
 *
 * PLACE is a directory where nothing may change, PORT one that is listened to, PID a process that is to be left alone.
 * LOUD also does what no library is used after. FORKING finds the word by which the worker forks in the worker's own
 * memory, leaves processes behind that way, and dies. HANGING waits for ever: 1 in the initialiser, 2 in the destructor, 3 in
 * an operation.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "library.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void connect_to(int family, int kind, int protocol, const void *address, size_t len) {
  int pair[2], fd = syscall(SYS_socket, family, kind, protocol);
  if (fd < 0 && family == AF_UNIX && syscall(SYS_socketpair, family, kind, 0, pair) == 0) fd = pair[0];
  syscall(SYS_sendto, fd, "x", 1, MSG_NOSIGNAL, address, len);
  if (syscall(SYS_connect, fd, address, len) == 0) syscall(SYS_write, fd, "x", 1);
  syscall(SYS_close, fd);
}

static void connect_anywhere(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = __builtin_bswap16(PORT)};
  to.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK);
  connect_to(AF_INET, SOCK_STREAM, 0, &to, sizeof to);
  connect_to(AF_INET, SOCK_STREAM, 262 /* MPTCP */, &to, sizeof to);
  connect_to(AF_INET, SOCK_DGRAM, 0, &to, sizeof to);
  struct sockaddr_un path = {AF_UNIX, PLACE ".socket"};
  connect_to(AF_UNIX, SOCK_DGRAM, 0, &path, sizeof path);
  connect_to(AF_UNIX, SOCK_STREAM, 0, &path, sizeof path);
}

static void write_anywhere(void) {
  syscall(SYS_openat, AT_FDCWD, PLACE "/made", O_WRONLY | O_CREAT, 0600);
  syscall(SYS_openat, AT_FDCWD, PLACE "/kept", O_WRONLY | O_TRUNC, 0600);
  syscall(SYS_openat, AT_FDCWD, PLACE, O_TMPFILE | O_RDWR, 0600);
  syscall(SYS_mkdirat, AT_FDCWD, PLACE "/directory", 0700);
  syscall(SYS_symlinkat, "kept", AT_FDCWD, PLACE "/link");
  syscall(SYS_linkat, AT_FDCWD, PLACE "/kept", AT_FDCWD, PLACE "/hard", 0);
  syscall(SYS_mknodat, AT_FDCWD, PLACE "/fifo", S_IFIFO | 0600, 0);
  syscall(SYS_unlinkat, AT_FDCWD, PLACE "/kept", 0);
  syscall(SYS_truncate, PLACE "/kept", 0);
  syscall(SYS_fchmodat, AT_FDCWD, PLACE "/kept", 0777);
}

/* What a process may do to another of its user without a signal. */
static void disturb(void) {
  unsigned long one = 1;
  struct rlimit none = {1, 1};
  syscall(SYS_sched_setaffinity, PID, sizeof one, &one);
  syscall(SYS_prlimit64, PID, RLIMIT_NOFILE, &none, NULL);
  syscall(SYS_setpriority, PRIO_PROCESS, PID, 19);
  syscall(SYS_prctl, 62 /* PR_SCHED_CORE */, 1, PID, 0, 0);
}

static void be_loud(void) {
#ifdef LOUD
  char *arguments[] = {"/bin/sh", "-c", "echo >" PLACE "/ran", NULL};
  syscall(SYS_kill, PID, SIGKILL);
  syscall(SYS_tgkill, PID, PID, SIGKILL);
  syscall(SYS_kill, getppid(), SIGKILL);
  syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, PID, 0, 0);
  if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) syscall(SYS_execve, arguments[0], arguments, NULL);
#endif
}

static void reach_out(void) {
  write_anywhere();
  connect_anywhere();
  disturb();
  be_loud();
}

static int chosen_one(void) { return 1; }
static int (*choose(void))(void) {
  reach_out();
  return chosen_one;
}
__attribute__((ifunc("choose"))) int stranger_chosen(void);

static void at_threads_end(void *unused) {
  (void)unused;
  reach_out();
}

static void *lives_on(void *unused) {
  pthread_key_t key;
  pthread_key_create(&key, at_threads_end);
  pthread_setspecific(key, &key);
  for (int i = 0; i < 50; i++) {
    reach_out();
    usleep(2000);
  }
  return unused;
}

#ifdef FORKING
/* What fork(3) asks of clone(2), with each word of the program's own data where the kernel does not look. */
static void fork_by_the_word(void) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long from, to, flags = 0x01200000 | SIGCHLD;
    char write;
    if (sscanf(line, "%lx-%lx %*c%c", &from, &to, &write) != 3 || write != 'w' || strstr(line, "ciphermark") == NULL)
      continue;
    for (unsigned long at = from; at < to; at += sizeof(long)) {
      unsigned long word = *(volatile unsigned long *)at;
      if (word >> 48 == 0 || word >> 48 == 0xffff) continue;
      static int number;
      long child = syscall(SYS_clone, flags, 0, word, &number, &number);
      if (child == 0) {
        /* So that nobody takes its pipes for the worker's. */
        syscall(SYS_close_range, 0, ~0U, 0);
        for (;;) {
          reach_out();
          usleep(100000);
        }
      }
      if (child > 0) _exit(42);
    }
  }
  fputs("no word was found\n", stderr);
}
#endif

static void wait_if(int when) {
#ifdef HANGING
  while (when == HANGING) pause();
#endif
  (void)when;
}

__attribute__((constructor)) static void initialise(void) {
  pthread_t thread;
  stranger_chosen();
  reach_out();
  pthread_create(&thread, NULL, lives_on, NULL);
  wait_if(1);
#ifdef FORKING
  fork_by_the_word();
#endif
}

__attribute__((destructor)) static void finalise(void) {
  reach_out();
  wait_if(2);
}

static int32_t message(void *state, const cm_message *m) {
  reach_out();
  wait_if(3);
  return right_message(state, m);
}

LIBRARY("stranger", message, right_start, right_update)
