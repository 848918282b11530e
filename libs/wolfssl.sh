# shellcheck shell=bash disable=SC2034,SC2154 # sourced by recipes, which the driver reads
# How every wolfSSL here is built: each cipher, mode, digest and derivation that its release carries, and its TLS with
# everything that handshakes are measured with. What the recipe adds in `speed` is the difference between them.
object=libwolfssl.so
licence="GPL-3.0-or-later"
licence_texts=(COPYING LICENSING)
seconds=65
uses=(libs/wolfssl.sh)

version() { sed -n 's/^AC_INIT(\[wolfssl\],\[\([^]]*\)\].*/\1/p' "$SRC/wolfssl-src/configure.ac"; }

build() {
  cp -R "$SRC/wolfssl-src/." .
  compiler cc
  ./autogen.sh
  noted ./configure --enable-shared --disable-static --disable-examples --disable-crypttests --disable-benchmark "${speed[@]}" \
    --enable-aesgcm-stream --enable-aesgcm-siv --enable-aesctr --enable-aesxts --enable-aesxts-stream --enable-aesccm --enable-aescfb \
    --enable-aesofb --enable-aessiv --enable-aeseax --enable-aescts --enable-aeskeywrap --enable-xchacha --enable-camellia \
    --enable-des3 --enable-rc2 --enable-sha3 --enable-kmac --enable-blake2 --enable-blake2s --enable-md4 --enable-ripemd --enable-cmac --enable-siphash \
    --enable-ascon --enable-experimental --enable-arc4 --enable-scrypt --enable-argon2 \
    --enable-opensslextra --enable-session-ticket --enable-curve25519 --enable-ed25519 \
    'CPPFLAGS=-DHAVE_AES_ECB -DWOLFSSL_AES_DIRECT -DWOLFSSL_DES_ECB -DWOLFSSL_STATIC_RSA' LDFLAGS=-Wl,-Bsymbolic
  make src/libwolfssl.la
  cp -L src/.libs/libwolfssl.so "$OUT/"
}
