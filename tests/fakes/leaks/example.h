/* An example of another project, called with secrets that follow from the key byte by byte: scripts/leak-examples
 * compiles it with its `main` renamed, and what it marks secrets with is here. */
#ifdef EXAMPLE
int EXAMPLE(void);

#ifndef SECRET_BITS
#define SECRET_BITS 0xff
#endif
static const uint8_t *secret_key;
static size_t secrets_made;

static void make_secret(void *to, size_t len) {
  uint8_t *bytes = to;
  for (size_t i = 0; i < len; i++, secrets_made++)
    bytes[i] = (uint8_t)(secret_key[secrets_made % 16] ^ (secrets_made / 16 * 29)) & SECRET_BITS;
}

/* binsec/rel_bench: secret and public inputs by their length. */
#define INPUTS(len)                                                                                               \
  void high_input_##len(void *to) { make_secret(to, len); }                                                       \
  void low_input_##len(void *to) { memset(to, 5, len); }
INPUTS(1) INPUTS(2) INPUTS(4) INPUTS(8) INPUTS(12) INPUTS(16) INPUTS(32) INPUTS(40) INPUTS(48) INPUTS(63) INPUTS(64)
INPUTS(80) INPUTS(160) INPUTS(200)

/* ageimer/sok-detection, as Abacus has it. */
int abacus_make_symbolic(uint32_t count, void **buffers, uint32_t *lengths) {
  for (uint32_t i = 0; i < count; i++) make_secret(buffers[i], lengths[i]);
  return 0;
}
void printhex(unsigned char *bytes, int len) { (void)bytes, (void)len; }

#ifdef DATA
/* oreparaz/dudect: one computation over bytes. */
uint8_t do_one_computation(uint8_t *data);
int one_computation(void) {
  uint8_t data[DATA];
  make_secret(data, sizeof data);
  return do_one_computation(data);
}
#endif

CONTROL(example) {
  secret_key = k, secrets_made = 0;
  sink = (uint32_t)EXAMPLE();
}
#endif
