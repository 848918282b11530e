# shellcheck shell=bash disable=SC2034,SC2154 # sourced by recipes, which the driver reads
# How every OpenSSL here is built: as its authors configure it by default (assembler for all CPUs,
# picked at run time), the two libraries only; with `apps=yes` the program `openssl` too, with `fips=yes` the FIPS provider.
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
  [ "${fips-}" != yes ] || fips_provider
}

# The FIPS provider and its settings, as `openssl fipsinstall` writes them (fips_config(5)), beside the library.
fips_provider() {
  local source=$PWD/fips/source modules=$OUT/ossl-modules
  mkdir -p fips "$modules"
  cp -as "$SRC/openssl" "$source"
  # The package leaves out what makes the module's list of symbols, of which there is one: linked with it below.
  sed -i '/^ *IF\[{- defined \$target{shared_defflag} -}\]/,/^ *ENDIF/d' "$source/providers/build.info"
  (
    cd fips
    noted perl source/Configure "linux-$(uname -m)" enable-fips no-shared no-legacy no-tests no-docs no-engine \
      enable-ec_nistp_64_gcc_128
    make build_generated
    make providers/libfips.a providers/fips/fips-dso-fips_entry.o
    noted cc -shared -o "$modules/fips.so" -Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,--exclude-libs,ALL \
      providers/fips/fips-dso-fips_entry.o providers/libfips.a -pthread -ldl
    # FIPSKEY of the source's Configure: a checksum's key, no secret.
    perl -MDigest::SHA=hmac_sha256_hex -we '
      local (@ARGV, $/) = @ARGV;
      my $mac = hmac_sha256_hex(<>, pack "H*", "f4556650ac31d35461610bac4ed81b1a181b2d8a43ea2854cbae22ca74560813");
      print "[fips_sect]\nactivate = 1\nconditional-errors = 1\nsecurity-checks = 1\nmodule-mac = ",
        join(":", uc($mac) =~ /../g), "\n"' "$modules/fips.so" >"$modules/fipsmodule.cnf"
  )
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
