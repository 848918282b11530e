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
  # Called as its file is, so that libssl finds it.
  make -C crypto libcrypto_la_LDFLAGS="-avoid-version -no-undefined -export-symbols crypto_portable.sym"
  make -C ssl
  cp -L crypto/.libs/libcrypto.so "$OUT/"
  # Linked again: libtool's looks for libcrypto in this directory.
  # shellcheck disable=SC2016 # the loader's word
  noted cc -shared -Wl,-soname,libssl.so -Wl,-Bsymbolic -o "$OUT/libssl.so" ssl/.libs/*.o -L"$OUT" -lcrypto '-Wl,-rpath,$ORIGIN'
}
