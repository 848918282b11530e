/* Reaches for power that no cipher needs: does one deed, either while it is loaded (in an initialiser) or with each
 * message, and is right in everything else. Where a deed succeeds the stand-in says so and aborts, so that no
 * test can take silence for refusal.
 *
 *     cc -shared -fPIC -O2 -I include -DLOAD=EXEC -o libgrab.so tests/fakes/grab_power.c
 *
 * GRAB_PATH names the file to read, write or make.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "library.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Deeds, for -DLOAD=DEED or -DWORK=DEED. */
#define CONNECT 1
#define SERVICE 2
#define EXEC 3
#define SYSTEM 4
#define FORKS 5
#define KILL 6
#define KILL_ALL 7
#define PTRACE 8
#define PEEK 9
#define WRITE 10
#define REMOVE 11
#define READ 12
#define MEMORY 13
#define LIMITS 14
#define OUTLIVE 15
#define SIGNAL_OWNER 16
#define HIDE 17
#define RING 18
#define SEARCH 19
#define MEMORY_FILE 20

#ifdef LOAD
#define DEED LOAD
#else
#define DEED WORK
#endif

static inline int open_path(int flags) {
  const char *path = getenv("GRAB_PATH");
  return path != NULL && open(path, flags, 0600) >= 0;
}

#if DEED == SEARCH
/* Tries every word of this process's memory as the secret that would let it signal its parent. */
static int searched(void) {
  static int tried;
  char line[512];
  if (tried++) return 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  int found = 0;
  while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
    unsigned long from, to;
    char read, write;
    if (sscanf(line, "%lx-%lx %c%c", &from, &to, &read, &write) != 4 || write != 'w' ||
        strstr(line, "[stack") != NULL)
      continue;
    for (unsigned long at = from; at < to && !found; at += sizeof(long)) {
      unsigned long word = *(volatile unsigned long *)at;
      /* Addresses and small numbers are no secrets. */
      if (word >> 48 != 0 && word >> 48 != 0xffff)
        found = syscall(SYS_kill, getppid(), 0, 0, 0, 0, word) == 0;
    }
  }
  return found;
}
#endif

/* Whether the deed succeeded. */
static int deed(void) {
#if DEED == CONNECT
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd >= 0 && (connect(fd, (void *)&to, sizeof to) == 0 || errno == ECONNREFUSED);
#elif DEED == SERVICE
  return socket(AF_UNIX, SOCK_DGRAM, 0) >= 0;
#elif DEED == EXEC
  char *arguments[] = {"sh", "-c", "echo the deed succeeded >&2", NULL};
  execv("/bin/sh", arguments);
  return 0;
#elif DEED == SYSTEM
  return system("true") == 0;
#elif DEED == FORKS
  int born = 0;
  for (int i = 0; i < 64; i++) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) born++, waitpid(child, NULL, 0);
  }
  return born > 0;
#elif DEED == KILL
  return kill(getppid(), SIGTERM) == 0;
#elif DEED == KILL_ALL
  return kill(-1, SIGURG) == 0;
#elif DEED == PTRACE
  return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0;
#elif DEED == PEEK
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
  return open(path, O_RDONLY) >= 0;
#elif DEED == WRITE
  return open_path(O_WRONLY | O_CREAT);
#elif DEED == REMOVE
  const char *path = getenv("GRAB_PATH");
  return path != NULL && unlink(path) == 0;
#elif DEED == READ
  return open_path(O_RDONLY) || open("/etc/passwd", O_RDONLY) >= 0;
#elif DEED == MEMORY
  size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 8 * 7;
  int flags = MAP_ANONYMOUS | MAP_NORESERVE;
  void *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_PRIVATE, -1, 0);
  void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_SHARED, -1, 0);
  return own != MAP_FAILED || shared != MAP_FAILED;
#elif DEED == LIMITS
  struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &none) == 0;
#elif DEED == OUTLIVE
  return prctl(PR_SET_PDEATHSIG, 0) == 0;
#elif DEED == SIGNAL_OWNER
  return fcntl(0, F_SETOWN, getppid()) == 0;
#elif DEED == HIDE
  return signal(SIGSYS, SIG_IGN) != SIG_ERR;
#elif DEED == RING
  char parameters[256] = {0};
  return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
#elif DEED == MEMORY_FILE
  return syscall(SYS_memfd_create, "x", 0) >= 0;
#elif DEED == SEARCH
  return searched();
#else
#error "no deed is named"
#endif
}

static void try(void) {
  if (deed()) {
    fputs("the deed succeeded\n", stderr);
    abort();
  }
}

#ifdef LOAD
__attribute__((constructor)) static void while_loaded(void) { try(); }
LIBRARY("grab_power", right_message, right_start, right_update)
#else
static int32_t message(void *state, const cm_message *m) {
  try();
  return right_message(state, m);
}
LIBRARY("grab_power", message, right_start, right_update)
#endif
