# shellcheck shell=bash disable=SC2034 # read by the driver
name=boringssl
object=libcrypto.so
seconds=210

# BoringSSL has no releases; this number counts its interface's changes.
version() { sed -n 's/^#define BORINGSSL_API_VERSION \([0-9]*\)/\1/p' "$SRC/deps/boringssl/include/openssl/base.h"; }

build() {
  compiler cc
  compiler c++
  noted cmake -S "$SRC/deps/boringssl" -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
    -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic-functions
  make -C build crypto
  cp build/libcrypto.so "$OUT/"
}
