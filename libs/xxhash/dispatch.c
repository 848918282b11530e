/* Chooses XXH3's vector width at run time. The release does that in xxh_x86dispatch.c, which the
 * crate does not carry: these are its functions' names and its order of preference, so that a
 * program finds the same ones as in a system's libxxhash. The state's layout is the same for all
 * widths. */
#define XXH_STATIC_LINKING_ONLY
#include "xxhash.h"

#define VARIANT(width)                                                                             \
    __attribute__((visibility("hidden"))) XXH64_hash_t width##_XXH3_64bits(const void*, size_t);   \
    __attribute__((visibility("hidden"))) XXH64_hash_t width##_XXH3_64bits_withSeed(               \
        const void*, size_t, XXH64_hash_t);                                                        \
    __attribute__((visibility("hidden"))) XXH_errorcode width##_XXH3_64bits_update(                \
        XXH3_state_t*, const void*, size_t);                                                       \
    __attribute__((visibility("hidden"))) XXH128_hash_t width##_XXH3_128bits(const void*, size_t); \
    __attribute__((visibility("hidden"))) XXH_errorcode width##_XXH3_128bits_update(               \
        XXH3_state_t*, const void*, size_t);
VARIANT(avx2)
VARIANT(avx512)

static struct {
    XXH64_hash_t (*hash)(const void*, size_t);
    XXH64_hash_t (*seeded)(const void*, size_t, XXH64_hash_t);
    XXH_errorcode (*update)(XXH3_state_t*, const void*, size_t);
    XXH128_hash_t (*hash128)(const void*, size_t);
    XXH_errorcode (*update128)(XXH3_state_t*, const void*, size_t);
} chosen = {XXH3_64bits, XXH3_64bits_withSeed, XXH3_64bits_update, XXH3_128bits, XXH3_128bits_update};

__attribute__((constructor)) static void choose(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) {
        chosen.hash = avx512_XXH3_64bits;
        chosen.seeded = avx512_XXH3_64bits_withSeed;
        chosen.update = avx512_XXH3_64bits_update;
        chosen.hash128 = avx512_XXH3_128bits;
        chosen.update128 = avx512_XXH3_128bits_update;
    } else if (__builtin_cpu_supports("avx2")) {
        chosen.hash = avx2_XXH3_64bits;
        chosen.seeded = avx2_XXH3_64bits_withSeed;
        chosen.update = avx2_XXH3_64bits_update;
        chosen.hash128 = avx2_XXH3_128bits;
        chosen.update128 = avx2_XXH3_128bits_update;
    }
}

XXH64_hash_t XXH3_64bits_dispatch(const void* input, size_t length)
{
    return chosen.hash(input, length);
}

XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void* input, size_t length, XXH64_hash_t seed)
{
    return chosen.seeded(input, length, seed);
}

XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t* state, const void* input, size_t length)
{
    return chosen.update(state, input, length);
}

XXH128_hash_t XXH3_128bits_dispatch(const void* input, size_t length)
{
    return chosen.hash128(input, length);
}

XXH_errorcode XXH3_128bits_update_dispatch(XXH3_state_t* state, const void* input, size_t length)
{
    return chosen.update128(state, input, length);
}
