/* Faults in memory, and in the time that is spent.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifdef WRITES_PAST
#define AFTER(c, in, out, n) *(volatile uint8_t *)&(out)[n] = 0x55
#endif
#ifdef WRITES_BEFORE
#define AFTER(c, in, out, n) *(volatile uint8_t *)((out) - 1) = 0x55
#endif
#ifdef READS_PAST
#define AFTER(c, in, out, n) (void)*(const volatile uint8_t *)&(in)[n]
#endif
#ifdef READS_BEFORE
#define AFTER(c, in, out, n) (void)*(const volatile uint8_t *)((in) - 1)
#endif
#ifdef WRITES_INPUT
#define AFTER(c, in, out, n) if ((n) > 0 && (in) != (out)) *(volatile uint8_t *)(uintptr_t)(in) ^= 1
#endif
#ifdef BORROWS_INPUT
/* The input is changed and put back: what runs beside it would see that, and constants cannot be. */
static void borrow(volatile uint8_t *in) { *in ^= 1, *in ^= 1; }
#define AFTER(c, in, out, n) if ((n) > 0 && (in) != (out)) borrow((volatile uint8_t *)(uintptr_t)(in))
#endif
#ifdef LEAKS
#define AFTER(c, in, out, n) *(char *volatile *)&(c)->own = calloc(1, 64)
#endif
#ifdef ALLOCATES
static void allocate(zoo *c, size_t n) {
  void *volatile own = malloc(n + 100);
  c->own = own, free(own), c->own = NULL;
}
#define AFTER(c, in, out, n) allocate(c, n)
#endif
#ifdef DOUBLE_FREE
static void free_twice(void) {
  char *volatile own = malloc(64);
  free(own), free(own);
}
#define AFTER(c, in, out, n) if ((c)->gcm) free_twice()
#endif
#ifdef SLOW_EVERY
#include <time.h>
/* Every 64th call waits as long as some hundred others take. */
static void wait_a_while(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 50000);
}
#define AFTER(c, in, out, n) if ((c)->calls % 64 == 0) wait_a_while()
#endif
