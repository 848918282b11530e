/* ciphermark adapter interface, version 4.
 *
 * A shared object that exports `ciphermark_adapter` is a library that ciphermark can measure and
 * verify: `ciphermark run --library NAME=/path/to/object.so`. Any language that can make a shared
 * object with C functions will do. docs/ADAPTERS.md walks through a whole one.
 *
 * Rules
 *  - Only the work that a caller of your library would have to pay for belongs into `message`,
 *    `start` and `update`: they run inside the clock. Key schedules belong into `open`.
 *  - Never two functions at once on one session. Several sessions may be open at a time and be used
 *    in several threads at once; one may be opened in one thread and used in another.
 *  - Nothing may be written outside `output[0..len]` and `tag[0..tag_len]`, nothing read outside
 *    the input; ciphermark checks that with guard pages.
 *  - Pointers have no alignment. `output` may be the same as `input` (in place) when
 *    CM_IN_PLACE is set in the session's flags; otherwise the two never overlap.
 *  - Standard output and standard error may be written at any time; they are not the protocol.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CIPHERMARK_H
#define CIPHERMARK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a struct or a rule below changes. Objects built for version 3 still load: they have no
 * `drain`. So do those built for version 2: they have no `rekey` either and are measured with one
 * thread. Any other version is refused by name. */
#define CIPHERMARK_ABI 4u

/* What the functions below return. Any other value is an error of the library, shown as its code. */
#define CM_OK 0          /* done */
#define CM_REJECTED 1    /* decryption: the tag is wrong; the output is unspecified */
#define CM_UNSUPPORTED 2 /* `open` only: the library does not have this */
#define CM_FAILED 3      /* the library reported an error */

enum cm_direction { CM_ENCRYPT = 0, CM_DECRYPT = 1, CM_DIGEST = 2, CM_COPY = 3, CM_GENERATE = 4 };

/* Flags of a session. */
#define CM_IN_PLACE 1u /* output == input is allowed */
/* What an update call does with the tweak of a mode that works in data units (XTS): without a flag
 * the units of one stream all use the nonce given to `start`; with this flag the nonce, as a
 * little-endian number, is raised by one after each update. */
#define CM_NEXT_UNIT 2u
/* What the library's own interface forces on every caller, and what is therefore inside the clock:
 * the message is copied; memory is allocated for each message. */
#define CM_COPIES 4u
#define CM_ALLOCATES 8u

/* The most messages that a session with `drain` may have in work at once. */
#define CM_MOST_IN_FLIGHT 16u

/* What is to be opened. `algorithm` is ciphermark's name (`aes-256-gcm`); lengths are in bytes and
 * fixed for the session, and may differ from one to the next where a derivation is held to published
 * vectors: what cannot be served is CM_UNSUPPORTED. The key of aes-256-xts is 64 bytes: data key, then tweak key; that of a
 * composite (aes-256-ctr+hmac-sha256) is the cipher's, then the MAC's. Digests have no key, MACs
 * have one; both have the direction CM_DIGEST. */
typedef struct cm_request {
  const char *algorithm;
  uint32_t direction;
  const uint8_t *key;
  size_t key_len;
  size_t nonce_len;
  size_t tag_len;
} cm_request;

/* One whole message. Encryption reads input[0..len], writes output[0..len] and tag[0..tag_len];
 * decryption reads the tag and returns CM_REJECTED when it is wrong; a digest or MAC writes only the
 * tag.
 * `nonce` has nonce_len bytes: IV, initial counter block (CTR, big-endian), tweak (XTS) or nonce.
 * Modes without authentication get aad_len 0 and a tag_len of 0.
 *
 * A derivation has the direction CM_DIGEST. The key that was opened is the passphrase, `nonce` the salt, and
 * tag[0..tag_len] what is derived. `len` is what it is to cost, by the algorithm's name: iterations of pbkdf2-*,
 * bytes of memory of scrypt (r = 8, p = 1) and argon2* (one lane), rounds of bcrypt (2 to the cost), octets of s2k-*;
 * input and output are not there. hkdf-* derives from a key, and input[0..len] is its info.
 *
 * `random` and `random-nonce` have the direction CM_GENERATE: output[0..len] is filled with random bytes, as the
 * library's own generator makes them, also in a process that is forked after `open`. There is no input. */
typedef struct cm_message {
  const uint8_t *nonce;
  const uint8_t *aad;
  size_t aad_len;
  const uint8_t *input;
  size_t len;
  uint8_t *output;
  uint8_t *tag;
} cm_message;

/* An opened algorithm in one direction with its key schedule done. */
typedef struct cm_session {
  void *state;
  uint32_t flags;
  /* Model `message`: one call is one operation. Its work is done when it returns, unless there is a
   * `drain`. NULL: not offered. */
  int32_t (*message)(void *state, const cm_message *message);
  /* Model `stream`: `start` sets the nonce (outside the clock), each `update` continues the same
   * stream (inside the clock); no tag is made or checked. Both NULL: not offered.
   * Digests and MACs: `start` (nonce may be NULL) begins a message, `update` (output is NULL) takes
   * a part of it, `finish` writes the tag; composites are built from them. */
  int32_t (*start)(void *state, const uint8_t *nonce);
  int32_t (*update)(void *state, const uint8_t *input, uint8_t *output, size_t len);
  int32_t (*finish)(void *state, uint8_t *tag); /* ciphers: NULL */
  /* The library's functions that `message` calls, in order, for readers:
   * "EVP_EncryptInit_ex, EVP_EncryptUpdate". Lives as long as the object. May be NULL. */
  const char *call;
  /* Frees the state; called once. May be NULL. */
  void (*close)(void *state);
  /* Model `rekey`: a new key, of the length that was opened, for the messages that follow; called
   * before each message, inside the clock. What an application does that uses one context for many
   * keys. A stream that was started keeps the old key; after `rekey` none is started. NULL: the
   * algorithm is opened anew for each key, which is priced. Since version 3. */
  int32_t (*rekey)(void *state, const uint8_t *key);
  /* The library's functions that `rekey` calls, as `call`. May be NULL. Since version 3. */
  const char *rekey_call;
  /* For libraries that work on several messages at once. With it, `message` may return before its
   * output and tag are written. `drain` completes everything that was handed over, and returns CM_OK
   * or the first error that no `message` has returned. It runs inside the clock.
   *  - The input, output, nonce, associated data and tag of a message stay valid and untouched until
   *    `drain` returns or 15 further messages were handed over. So at most 15 may be unfinished when
   *    `message` returns: complete the oldest first. The cm_message itself is gone by then.
   *  - What is in work at once never overlaps, but inputs may be the same.
   *  - Not with `rekey` (messages in flight share a key), and not for decryption with a tag, where
   *    each message has an outcome of its own.
   * NULL: every message is done when `message` returns. Since version 4. */
  int32_t (*drain)(void *state);
  /* With `drain`: the most messages in work at once, the one being handed over among them; 2 to
   * CM_MOST_IN_FLIGHT. Latencies of one message then are no limit of a row. Since version 4. */
  uint32_t in_flight;
} cm_session;

/* A library. Strings live as long as the shared object is loaded. */
typedef struct cm_adapter {
  uint32_t abi;        /* CIPHERMARK_ABI */
  const char *library; /* lower case, as in `--library`: "rustcrypto" */
  const char *version; /* as the library itself reports it, at run time where it can */
  const char *build;   /* how it was built, one fact a line: compiler, flags, options; may be NULL */
  /* Fills *session and returns CM_OK, or returns CM_UNSUPPORTED or CM_FAILED with the reason in
   * why[0..why_len] (NUL-terminated). Called for every algorithm that ciphermark knows: what is
   * not unsupported is offered. */
  int32_t (*open)(const cm_request *request, cm_session *session, char *why, size_t why_len);
} cm_adapter;

/* The one symbol that a shared object has to export. */
const cm_adapter *ciphermark_adapter(void);

/* Algorithms that ciphermark does not know: a cipher of your own, a variant of one. An object that brings some also
 * exports `ciphermark_algorithms_1`; `open` is then asked for these as for all others. They are measured, ranked and
 * judged, and marked "checked against its own vectors only". */
enum cm_kind { CM_CIPHER = 0, CM_AEAD = 1, CM_HASH = 2, CM_MAC = 3 };

/* A message and what must come out of it. Pointers may be NULL where there are no bytes. */
typedef struct cm_vector {
  const void *key;   /* key_len bytes */
  const void *nonce; /* nonce_len bytes */
  const void *aad;   /* AEADs only */
  size_t aad_len;
  const void *input; /* the message */
  size_t len;
  const void *output; /* the ciphertext, len bytes; NULL for digests and MACs */
  const void *tag;    /* tag_len bytes: tag or digest */
} cm_vector;

/* Lengths are in bytes. Keys have 1 to 128 (digests: 0), nonces up to 64; tags of AEADs 8 to 64, of digests and MACs
 * 4 to 64, of ciphers 0. Every byte of key, nonce, associated data and message has to matter. Where `start` and
 * `update` are offered, what they write is what one message writes. */
typedef struct cm_algorithm {
  const char *name;   /* lower-case letters, digits and dashes, no name that ciphermark knows: "house-aead" */
  const char *family; /* what lists show it below: "house ciphers" */
  uint32_t kind;      /* enum cm_kind */
  size_t key_len, nonce_len, tag_len;
  /* Which messages ciphers and AEADs take: whole multiples of so many bytes, or at least so many. 0: any. */
  size_t size_multiple, size_least;
  const cm_vector *vectors; /* 1 to 256, of at most 64 KiB */
  size_t vector_count;
} cm_algorithm;

/* Writes how many there are, at most 32, and returns them; they live as long as the object. */
const cm_algorithm *ciphermark_algorithms_1(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
