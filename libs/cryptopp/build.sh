# shellcheck shell=bash disable=SC2034 # read by the driver
name=cryptopp
object=libciphermark_cryptopp.so
licence="BSL-1.0"
seconds=30
uses=(attach/cryptopp attach/session.hpp include/ciphermark.h)
source="attach/cryptopp and the system's libcrypto++"

missing() {
  [ -d "$PROJECT/attach/cryptopp" ] || { echo "there is no attach/cryptopp"; return; }
  echo '#include <cryptopp/aes.h>' | c++ -E -x c++ - >/dev/null 2>&1 || echo "the header cryptopp/aes.h is missing (package libcrypto++-dev)"
}

# The system's library is the one that is measured: another version of it asks for another build.
depends() { packaged; }
packaged() { echo CRYPTOPP_VERSION | c++ -E -P -include cryptopp/config.h -x c++ - 2>/dev/null | tail -n1; }
version() { packaged | sed 's/^\(.*\)\(.\)\(.\)$/\1.\2.\3/'; }

build() {
  compiler c++
  local options=(-std=c++17 -O3 -fPIC -DNDEBUG -I "$PROJECT/include")
  note "CXXFLAGS: ${options[*]}; linked to the system's libcryptopp"
  c++ "${options[@]}" -shared -o "$OUT/$object" "$PROJECT"/attach/cryptopp/*.cpp -Wl,-Bsymbolic-functions -lcryptopp
}
