# shellcheck shell=bash disable=SC2034 # read by the driver
name=libsodium
object=libsodium.so
licence="ISC"
licence_texts=LICENSE
seconds=75

version() { tar xzOf "$SRC/LATEST.tar.gz" --wildcards '*/configure.ac' | sed -n 's/^AC_INIT(\[libsodium\],\[\([^]]*\)\].*/\1/p'; }

build() {
  tar xzf "$SRC/LATEST.tar.gz" --strip-components=1
  compiler cc
  noted ./configure --enable-shared --disable-static LDFLAGS=-Wl,-Bsymbolic
  make -C src/libsodium libsodium.la
  cp -L src/libsodium/.libs/libsodium.so "$OUT/"
}
