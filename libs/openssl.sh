# shellcheck shell=bash disable=SC2034,SC2154 # sourced by recipes, which the driver reads
# How every OpenSSL here is built: as its authors configure it by default (assembler for all CPUs,
# picked at run time), the two libraries only; with `apps=yes` the program `openssl` too.
name=openssl
object=libcrypto.so.$soname
licence="Apache-2.0"
licence_texts=openssl/LICENSE.txt
uses=(libs/openssl.sh)

build() {
  local options=(
    "linux-$(uname -m)"
    # The package leaves out what makes the shared objects' lists of symbols: linked below instead.
    no-shared
    no-tests no-docs
    # The legacy provider (SEED, IDEA, Blowfish, CAST5) inside libcrypto: no file to look for.
    no-module
    # Measures the library, not the machine's openssl.cnf.
    no-autoload-config
    enable-ec_nistp_64_gcc_128
    --prefix=/usr/local --libdir=lib --openssldir=/usr/local/ssl
  )
  [ "${apps-}" = yes ] || options+=(no-apps)
  compiler cc
  noted perl "$SRC/openssl/Configure" "${options[@]}"
  note "CFLAGS: -fPIC $(sed -n 's/^\(CNF_CFLAGS\|CFLAGS\)=//p' Makefile | xargs)"
  make build_generated
  make libcrypto.a libssl.a
  link crypto
  # shellcheck disable=SC2016 # the loader's word
  link ssl -L"$OUT" -l:"libcrypto.so.$soname" '-Wl,-rpath,$ORIGIN'
  [ "${apps-}" != yes ] || program
}

# The program on the shared objects above, so that `openssl speed` times the very code that is measured.
program() {
  make apps/openssl
  # shellcheck disable=SC2016 # the loader's word
  cc -o "$OUT/openssl" apps/openssl-bin-*.o apps/lib/openssl-bin-*.o apps/libapps.a -L"$OUT" -l:"libssl.so.$soname" -l:"libcrypto.so.$soname" \
    '-Wl,-rpath,$ORIGIN' -pthread -ldl
}

# The whole of a static library as a shared object whose own symbols stay its own.
link() {
  local stem=$1 file=lib$1.so.$soname; shift
  noted cc -shared -o "$OUT/$file" -Wl,-soname,"$file" -Wl,-Bsymbolic -Wl,-z,noexecstack \
    -Wl,--whole-archive "lib$stem.a" -Wl,--no-whole-archive "$@" -pthread -ldl
}
