# shellcheck shell=bash disable=SC2034 # read by the driver
name=mbedtls
object=libmbedcrypto.so
licence="Apache-2.0 OR GPL-2.0-or-later"
licence_texts=mbedtls/LICENSE
seconds=20

version() { sed -n 's/^#define MBEDTLS_VERSION_STRING  *"\(.*\)"/\1/p' "$SRC/mbedtls/include/mbedtls/build_info.h"; }

build() {
  compiler cc
  noted cmake -S "$SRC/mbedtls" -B build -DCMAKE_BUILD_TYPE=Release -DUSE_SHARED_MBEDTLS_LIBRARY=ON -DUSE_STATIC_MBEDTLS_LIBRARY=OFF \
    -DENABLE_TESTING=OFF -DENABLE_PROGRAMS=OFF -DGEN_FILES=OFF -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic
  make -C build mbedcrypto
  cp -L build/library/libmbedcrypto.so "$OUT/"
}
