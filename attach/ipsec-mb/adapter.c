/* Intel's Multi-Buffer Crypto for IPsec behind ciphermark's adapter interface.
 *
 *     cd attach/ipsec-mb
 *     cc -O2 -fPIC -shared *.c -I../../include -lIPSec_MB -o libciphermark_ipsec_mb.so
 *
 * and with -DJOBS for several jobs in flight.
 *
 * The functions are pointers in a struct whose layout differs from version to version, so that the
 * adapter is compiled for one version of the library.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct algorithm *find_algorithm(const char *name) {
  const struct algorithm *tables[] = {gcm_algorithms, cipher_algorithms, aead_algorithms,
                                      digest_algorithms, mac_algorithms};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const struct algorithm *a = tables[t]; a->name != NULL; a++)
      if (strcmp(a->name, name) == 0) return a;
  return NULL;
}

/* What the library has something like, and why it is not that. */
static const char *known_absence(const char *name) {
  if (strcmp(name, "chacha20") == 0) return "its ChaCha20 begins at block 1, not at block 0";
  if (strcmp(name, "crc32c") == 0)
    return "its CRC with the polynomial of CRC-32C begins with zero and is not complemented";
  if (strcmp(name, "hmac-md5") == 0)
    return "its HMAC-MD5 takes no empty message, and it has no MD5 to make one of";
  if (strcmp(name, "aes-192-cfb") == 0 && HAS_2_0) return "its CFB of 192-bit keys takes whole blocks";
  if (strcmp(name, "aes-128-cfb") == 0 || strcmp(name, "aes-256-cfb") == 0)
    return "its CFB takes one block or less";
  return NULL;
}

#ifdef JOBS
/* Why an algorithm has one row, that of one job at a time; NULL for those that have a second one. */
static const char *only_alone(const char *name, size_t tag_len) {
  const int chained = strstr(name, "-cbc") != NULL && strncmp(name, "sm4", 3) != 0;
  const int mac = strncmp(name, "hmac-", 5) == 0 || strstr(name, "-cmac") != NULL;
  if (chained || mac || strncmp(name, "sha", 3) == 0) return NULL;
  if (tag_len != 0 && strstr(name, "ccm") != NULL)
    return "its decryption would not say which of the tags in flight is wrong; see ipsec-mb";
  return "one message keeps the CPU busy: several in flight gain nothing; see ipsec-mb";
}
#endif

/* The code that the library takes on this CPU; none where the CPU shows no AES instructions and the
 * library was built without their emulation: a manager's functions are null then. */
static IMB_ARCH chosen(void) {
  IMB_MGR *mgr = alloc_mb_mgr(0);
  IMB_ARCH arch = IMB_ARCH_NONE;
  if (mgr == NULL) return arch;
  init_mb_mgr_auto(mgr, &arch);
  free_mb_mgr(mgr);
  return arch;
}

static int32_t open_session(const cm_request *request, cm_session *session, char *why,
                            size_t why_len) {
  const struct algorithm *algorithm = find_algorithm(request->algorithm);
  const int digests = request->direction == CM_DIGEST;
  const int ciphers = request->direction == CM_ENCRYPT || request->direction == CM_DECRYPT;
  const char *absence = known_absence(request->algorithm);
  if (algorithm == NULL || (!digests && !ciphers)) {
    if (absence != NULL) snprintf(why, why_len, "%s", absence);
    else snprintf(why, why_len, "ipsec-mb has no %s", request->algorithm);
    return CM_UNSUPPORTED;
  }
#ifdef JOBS
  absence = only_alone(request->algorithm, request->tag_len);
  if (absence != NULL) {
    snprintf(why, why_len, "%s", absence);
    return CM_UNSUPPORTED;
  }
#endif
  if (chosen() == IMB_ARCH_NONE) {
    snprintf(why, why_len, "ipsec-mb has no code for a CPU without AES instructions");
    return CM_UNSUPPORTED;
  }
  if (CMAC_OVERREADS && chosen() == IMB_ARCH_AVX512 && strstr(request->algorithm, "-cmac") != NULL) {
    snprintf(why, why_len, "its CMAC for AVX-512 reads up to 15 bytes beyond a message before 2.0.2");
    return CM_UNSUPPORTED;
  }
  memset(session, 0, sizeof *session);
  session->close = close_state;
  const int32_t code = algorithm->open(request, session);
  if (code == CM_UNSUPPORTED)
    snprintf(why, why_len, "ipsec-mb has no %s of these lengths", request->algorithm);
  else if (code != CM_OK)
    snprintf(why, why_len, "no manager: out of memory, or its self-test fails");
#ifdef JOBS
  /* Jobs in flight read the key schedule that `rekey` would write. */
  session->rekey = NULL;
  session->rekey_call = NULL;
  session->drain = drain;
  session->in_flight = IN_FLIGHT;
#endif
  return code;
}

/* Its self-test asks for an error number that all managers share: an error in another thread ends the
 * test, which leaves a job behind, and the first flush would return that one. Setting up again clears. */
static int set_up(IMB_MGR *mgr) {
  for (int attempt = 0; attempt < 100; attempt++) {
    init_mb_mgr_auto(mgr, NULL);
    if (!(mgr->features & IMB_FEATURE_SELF_TEST)) return 1;
    if (mgr->features & IMB_FEATURE_SELF_TEST_PASS) return 1;
  }
  return 0;
}

void *new_state(size_t size) {
  const size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  void *state = aligned_alloc(ALIGNMENT, rounded);
  IMB_MGR *mgr = alloc_mb_mgr(0);
  if (state == NULL || mgr == NULL || !set_up(mgr)) {
    free(state);
    if (mgr != NULL) free_mb_mgr(mgr);
    return NULL;
  }
  memset(state, 0, rounded);
  memcpy(state, &mgr, sizeof mgr);
  return state;
}

void close_state(void *state) {
  IMB_MGR *mgr;
  memcpy(&mgr, state, sizeof mgr);
  free_mb_mgr(mgr);
  free(state);
}

int32_t compared(const uint8_t *made, const uint8_t *given, size_t len) {
  uint8_t difference = 0;
  for (size_t i = 0; i < len; i++) difference |= made[i] ^ given[i];
  return difference == 0 ? CM_OK : CM_REJECTED;
}

static const char *architecture(void) {
  switch (chosen()) {
#if !HAS_2_0
  case IMB_ARCH_NOAESNI: return "SSE without AES-NI";
  case IMB_ARCH_AVX: return "AVX";
#endif
  case IMB_ARCH_SSE: return "SSE";
  case IMB_ARCH_AVX2: return "AVX2";
  case IMB_ARCH_AVX512: return "AVX-512";
  default: return "unknown";
  }
}

const cm_adapter *ciphermark_adapter(void) {
  static char build[200];
  static cm_adapter adapter = {CIPHERMARK_ABI, NAME, NULL, build, open_session};
  /* The library that is loaded, not the one that this was compiled for. */
  adapter.version = imb_get_version_str();
  snprintf(build, sizeof build, "code for %s\nheaders %s\nadapter compiled by gcc or clang %s",
           architecture(), IMB_VERSION_STR, __VERSION__);
  return &adapter;
}
