/* XXH3 for one vector width: the compiler's flags choose it, XXH_NAMESPACE tells the copies apart.
 * The copies stay inside the library. */
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#define XXH_PUBLIC_API __attribute__((visibility("hidden")))
#include "xxhash.h"
