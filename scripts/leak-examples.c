/* Calls a library of tests/fakes/leaks once, with a key that Valgrind's Memcheck takes for undefined: what ctgrind
 * does. scripts/leak-examples runs it. */
#include <ciphermark.h>
#include <dlfcn.h>
#include <stdio.h>
#include <valgrind/memcheck.h>

int main(int count, char **words) {
  void *object = count == 2 ? dlopen(words[1], RTLD_NOW) : NULL;
  if (object == NULL) return fprintf(stderr, "%s\n", dlerror()), 3;
  const cm_adapter *(*adapter)(void) = (const cm_adapter *(*)(void))dlsym(object, "ciphermark_adapter");
  uint8_t key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, nonce[12] = {0}, aad[13] = {0}, in[37] = {0}, out[37], tag[16];
  const cm_request request = {"aes-128-gcm", CM_ENCRYPT, key, sizeof key, sizeof nonce, sizeof tag};
  const cm_message message = {nonce, aad, sizeof aad, in, sizeof in, out, tag};
  cm_session session;
  char why[100] = "";
  if (adapter()->open(&request, &session, why, sizeof why) != CM_OK) return fprintf(stderr, "%s\n", why), 3;
  VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof key);
  if (session.rekey(session.state, key) != CM_OK) return 3;
  return session.message(session.state, &message) == CM_OK ? 0 : 3;
}
