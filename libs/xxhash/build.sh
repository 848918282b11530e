# shellcheck shell=bash disable=SC2034 # read by the driver
name=xxhash
object=libxxhash.so
licence="BSD-2-Clause"
licence_texts=src/c/LICENSE
seconds=5

version() { sed -n 's/^#define XXH_VERSION_\(MAJOR\|MINOR\|RELEASE\)  *\([0-9]*\)$/\2/p' "$SRC/src/c/xxhash.h" | paste -sd.; }

build() {
  local here=$RECIPES/xxhash options=(-O3 -fPIC -I "$SRC/src/c")
  compiler cc
  note "CFLAGS: ${options[*]}; XXH3 once more with -mavx2 and once with -mavx512f, chosen at run time"
  cc "${options[@]}" -c -o xxhash.o "$SRC/src/c/xxhash.c"
  cc "${options[@]}" -mavx2 -fvisibility=hidden -DXXH_VECTOR=XXH_AVX2 -DXXH_NAMESPACE=avx2_ -c -o avx2.o "$here/variant.c"
  cc "${options[@]}" -mavx512f -fvisibility=hidden -DXXH_VECTOR=XXH_AVX512 -DXXH_NAMESPACE=avx512_ -c -o avx512.o "$here/variant.c"
  cc "${options[@]}" -c -o dispatch.o "$here/dispatch.c"
  cc -shared -Wl,-soname,libxxhash.so -Wl,-Bsymbolic -o "$OUT/libxxhash.so" ./*.o
}
