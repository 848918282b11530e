# shellcheck shell=bash disable=SC2034 # read by the driver
name=aws-lc
object=libcrypto.so
seconds=60

version() { sed -n 's/^#define AWSLC_VERSION_NUMBER_STRING "\(.*\)"/\1/p' "$SRC/aws-lc/include/openssl/base.h"; }

build() {
  compiler cc
  noted cmake -S "$SRC/aws-lc" -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DBUILD_TOOL=OFF \
    -DBUILD_LIBSSL=OFF -DDISABLE_GO=ON -DDISABLE_PERL=ON -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic
  make -C build crypto
  cp -L build/crypto/libcrypto.so "$OUT/"
}
