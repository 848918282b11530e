/* XXH3 for one vector width: the compiler's flags choose it, XXH_NAMESPACE tells the copies apart.
 * Compiled with hidden visibility: the copies stay inside the library. */
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include "xxhash.h"
