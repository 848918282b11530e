/* Stands before a libssl: all functions are that library's but the one or two below, which lie. Linked with
 * the real one, so that whoever looks a function up here finds the real one behind these. */
#define _GNU_SOURCE
#include <dlfcn.h>

#ifdef FORGETS
/* The client never hears of a session, so every handshake is a full one; both ends say that it was resumed. */
void SSL_CTX_sess_set_new_cb(void *ctx, void *callback) { (void)ctx; (void)callback; }
int SSL_session_reused(void *ssl) { (void)ssl; return 1; }
#endif

#ifdef NEVER_HEARS
/* The same, honestly. */
void SSL_CTX_sess_set_new_cb(void *ctx, void *callback) { (void)ctx; (void)callback; }
#endif

#ifdef FORGETS_LATER
/* Resumes as long as somebody may be looking, and then makes full handshakes. */
int SSL_set_session(void *ssl, void *session) {
  static int calls;
  int (*real)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_NEXT, "SSL_set_session");
  return ++calls > 10 ? 1 : real(ssl, session);
}
#endif

#ifdef MISNAMES
/* The ends say AES-256, and use what was asked for. */
unsigned int SSL_CIPHER_get_id(const void *cipher) { (void)cipher; return 0x03001302; }
#endif

/* The real function behind one of these. */
#define REAL(result, name, ...) ((result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

#ifdef SPLITS
/* Two records for each write. */
int SSL_write(void *ssl, const void *from, int bytes) {
  int (*real)(void *, const void *, int) = REAL(int, "SSL_write", void *, const void *, int);
  int half = bytes / 2;
  if (half == 0) return real(ssl, from, bytes);
  return real(ssl, from, half) + real(ssl, (const char *)from + half, bytes - half);
}
#endif

#ifdef TAKES_ALL
/* Whatever is wrong with a record: it was read. */
int SSL_read(void *ssl, void *to, int bytes) {
  int read = REAL(int, "SSL_read", void *, void *, int)(ssl, to, bytes);
  return read > 0 ? read : bytes;
}
#endif

#ifdef GARBLES
/* Decrypts wrongly, where more than a byte is read. */
int SSL_read(void *ssl, void *to, int bytes) {
  int read = REAL(int, "SSL_read", void *, void *, int)(ssl, to, bytes);
  if (read > 1) *(unsigned char *)to ^= 1;
  return read;
}
#endif
