/* Plants nothing, and says in its version what CPUID told it: to its initialiser, to the resolver of
 * an indirect function, and when it was called. With FIXED it asks nothing and has AES instructions.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "library.h"
#include <stdio.h>

#ifdef FIXED
__attribute__((used)) static void fixed(void) {
  __asm__ volatile("aesenc %xmm0, %xmm0\n aesenc %xmm0, %xmm0\n aesenc %xmm0, %xmm0\n"
                   "aesenc %xmm0, %xmm0\n aesenc %xmm0, %xmm0\n aesenc %xmm0, %xmm0");
}
#define SAY_VERSION(to, size) snprintf(to, size, "fixed")
#else
#include <cpuid.h>

/* Bits of SSSE3, PCLMULQDQ, AES; AVX2; VAES; AVX512F; as letters. */
static void ask(char *to) {
  unsigned a, b, c, d, b7 = 0, c7 = 0;
  __cpuid_count(1, 0, a, b, c, d);
  if (__get_cpuid_max(0, NULL) >= 7) __cpuid_count(7, 0, a, b7, c7, d);
  *to++ = c & 1u << 9 ? 'S' : '-';
  *to++ = c & 1u << 1 ? 'P' : '-';
  *to++ = c & 1u << 25 ? 'A' : '-';
  *to++ = b7 & 1u << 5 ? '2' : '-';
  *to++ = c7 & 1u << 9 ? 'V' : '-';
  *to++ = b7 & 1u << 16 ? '5' : '-';
  *to = '\0';
}

static char at_start[8], at_link[8];
#ifdef __cplusplus
static struct First { First() { ask(at_start); } } first_of_all;
#else
__attribute__((constructor)) static void first_of_all(void) { ask(at_start); }
#endif

static int one(void) { return 1; }
#ifdef __cplusplus
extern "C"
#endif
int (*resolve(void))(void) {
  ask(at_link);
  return one;
}
int indirect(void) __attribute__((ifunc("resolve")));

static void say_version(char *to, size_t size) {
  char now[8];
  ask(now);
  snprintf(to, size, "start=%s link=%s now=%s %d", at_start, at_link, now, indirect());
}
#define SAY_VERSION(to, size) say_version(to, size)
#endif

static int32_t open_library(const cm_request *r, cm_session *s, char *why, size_t why_len) {
  cm_session functions;
  memset(&functions, 0, sizeof functions);
  functions.message = right_message;
  functions.start = right_start;
  functions.update = right_update;
  functions.close = free;
  return fake_open(r, s, why, why_len, functions);
}

const cm_adapter *ciphermark_adapter(void) {
  static char version[64];
  static const cm_adapter adapter = {CIPHERMARK_ABI, "asks", version, "a stand-in for tests",
                                     open_library};
  SAY_VERSION(version, sizeof version);
  return &adapter;
}
