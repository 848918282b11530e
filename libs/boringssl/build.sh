# shellcheck shell=bash disable=SC2034 # read by the driver
name=boringssl
object=libcrypto.so
licence="Apache-2.0"
licence_texts=deps/boringssl/LICENSE
seconds=240

# BoringSSL has no releases; this number counts its interface's changes.
version() { sed -n 's/^#define BORINGSSL_API_VERSION \([0-9]*\)/\1/p' "$SRC/deps/boringssl/include/openssl/base.h"; }

build() {
  compiler cc
  compiler c++
  # shellcheck disable=SC2016 # the loader's word
  noted cmake -S "$SRC/deps/boringssl" -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
    -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON '-DCMAKE_INSTALL_RPATH=$ORIGIN' -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic-functions
  make -C build crypto ssl
  cp build/libcrypto.so build/libssl.so "$OUT/"
}
