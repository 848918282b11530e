# shellcheck shell=bash disable=SC2034 # read by the driver
name=botan
object=libciphermark_botan.so
licence="BSD-2-Clause"
licence_texts=license.txt
also_name=botan-c
also_object=libbotan-3.so
seconds=95
uses=(attach/botan include/ciphermark.h)

version() { archive | sed 's/.*Botan-\(.*\)\.tar\.xz/\1/'; }
archive() { echo "$SRC"/vendor/Botan-*.tar.xz; }

# The C interface, the symmetric ciphers, digests and MACs, each with all its variants for x86.
modules=(
  ffi system_rng cpuid_x86 mode_pad stream block aead modes hash mac
  aes aes_ni aes_vaes aes_vperm
  gcm gmac ghash ghash_cpu ghash_vperm ghash_avx512_clmul gcm_siv polyval ccm eax ocb siv cmac
  cbc cfb ofb ctr ctr_avx2 ctr_simd32 xts xts_avx512_clmul
  chacha chacha_simd32 chacha_avx2 chacha_avx512 chacha20poly1305 poly1305 poly1305_avx2 poly1305_avx512
  salsa20 salsa20_simd32 salsa20_avx2 salsa20_avx512
  camellia camellia_avx2_gfni camellia_avx512_gfni camellia_hwaes
  aria aria_avx512_gfni aria_hwaes sm4 sm4_gfni sm4_avx512 sm4_hwaes sm4_x86
  des serpent serpent_simd serpent_avx2 serpent_avx512 twofish twofish_avx512 blowfish cast128
  idea idea_sse2 idea_avx2 seed seed_avx512_gfni seed_hwaes kuznyechik ascon_aead128 ascon_hash256
  sha2_32 sha2_32_simd sha2_32_avx2 sha2_32_x86 sha2_64 sha2_64_avx2 sha2_64_avx512 sha2_64_x86
  sha3 shake keccak_perm keccak_perm_bmi2 keccak_perm_avx512 blake2 blake2mac blake2s sha1 sha1_simd sha1_avx2 sha1_x86
  md4 md5 rmd160 sm3 sm3_x86 sm3_avx2_bmi2 whirlpool whirlpool_avx2 whirlpool_avx512 streebog streebog_avx512_gfni
  crc32 adler32 hmac kmac siphash
)

build() {
  tar xJf "$(archive)" --strip-components=1
  local list cxx=(c++ -std=c++20) how=() link="-Wl,-Bsymbolic-functions"
  # Botan 3 needs GCC 11. An old system, such as packages are built in, has Clang beside an older one; its C++ library
  # is linked in, because few systems have it.
  if [ "$(c++ -dumpversion | cut -d. -f1)" -lt 11 ]; then
    cxx=("$(compgen -c clang++- | sort -V | tail -n1)" -std=c++20 -stdlib=libc++)
    how=(--cc=clang --cc-bin="${cxx[0]}" --extra-cxxflags=-stdlib=libc++)
    link+=" -static-libstdc++ -pthread"
  fi
  compiler "${cxx[0]}"
  list=$(IFS=,; echo "${modules[*]}")
  noted python3 configure.py --minimized-build --amalgamation --build-targets=shared --without-documentation \
    --enable-modules="$list" --ldflags="$link" "${how[@]}"
  note "$(sed -n 's/^LANG_FLAGS *= */CXXFLAGS: /p; s/^CXXFLAGS *= */CXXFLAGS: /p' Makefile | xargs)"
  make libs
  cp -L libbotan-3.so "$OUT/"
  # The same code behind the C++ classes: one object, so that nothing has to be found beside it.
  # shellcheck disable=SC2086 # options
  noted "${cxx[@]}" -O3 -fPIC -DNDEBUG -I "$PROJECT/include" -isystem build/include/public -shared -o "$OUT/$object" \
    "$PROJECT"/attach/botan/*.cpp build/obj/lib/*.o $link
}
