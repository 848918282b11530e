# shellcheck shell=bash disable=SC2034 # read by the driver
name=libressl
object=libcrypto.so
licence="OpenSSL AND ISC"
licence_texts=COPYING
seconds=115

version() { tarball | sed 's/.*libressl-\(.*\)\.tar\.gz/\1/'; }
tarball() { echo "$SRC"/libressl-*.tar.gz; }

build() {
  tar xzf "$(tarball)" --strip-components=1
  compiler cc
  noted ./configure --enable-shared --disable-static --disable-tests CFLAGS=-O2 LDFLAGS=-Wl,-Bsymbolic
  make -C crypto
  make -C ssl
  cp -L crypto/.libs/libcrypto.so ssl/.libs/libssl.so "$OUT/"
}
