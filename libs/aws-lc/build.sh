# shellcheck shell=bash disable=SC2034 # read by the driver
name=aws-lc
object=libcrypto.so
licence="ISC AND Apache-2.0 AND MIT AND BSD-3-Clause"
licence_texts=aws-lc/LICENSE
seconds=85

version() { sed -n 's/^#define AWSLC_VERSION_NUMBER_STRING "\(.*\)"/\1/p' "$SRC/aws-lc/include/openssl/base.h"; }

build() {
  compiler cc
  # shellcheck disable=SC2016 # the loader's word
  noted cmake -S "$SRC/aws-lc" -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DBUILD_TOOL=OFF \
    -DBUILD_LIBSSL=ON -DDISABLE_GO=ON -DDISABLE_PERL=ON \
    -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON '-DCMAKE_INSTALL_RPATH=$ORIGIN' -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic
  make -C build crypto ssl
  cp -L build/crypto/libcrypto.so build/ssl/libssl.so "$OUT/"
}
