# shellcheck shell=bash disable=SC2034 # read by the driver
name=libressl
object=libcrypto.so
seconds=100

version() { tarball | sed 's/.*libressl-\(.*\)\.tar\.gz/\1/'; }
tarball() { echo "$SRC"/libressl-*.tar.gz; }

build() {
  tar xzf "$(tarball)" --strip-components=1
  compiler cc
  noted ./configure --enable-shared --disable-static --disable-tests CFLAGS=-O2 LDFLAGS=-Wl,-Bsymbolic
  make -C crypto
  cp -L crypto/.libs/libcrypto.so "$OUT/"
}
