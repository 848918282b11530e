# shellcheck shell=bash disable=SC2034 # read by the driver
name=botan
object=libciphermark_botan.so
licence="BSD-2-Clause"
seconds=15
uses=(attach/botan attach/session.hpp include/ciphermark.h)
source="attach/botan and the system's libbotan"

# The major version whose headers are installed.
major() {
  local major
  for major in 3 2; do
    if echo '#include <botan/build.h>' | c++ -E -isystem "/usr/include/botan-$major" -x c++ - >/dev/null 2>&1; then
      echo "$major"
      return
    fi
  done
}

missing() {
  [ -d "$PROJECT/attach/botan" ] || { echo "there is no attach/botan"; return; }
  [ -n "$(major)" ] || echo "the header botan/build.h is missing (package libbotan-2-dev or libbotan-3-dev)"
}

# The classes' layout is the headers': another version of them asks for another build.
depends() { version; }
version() {
  echo 'BOTAN_VERSION_MAJOR.BOTAN_VERSION_MINOR.BOTAN_VERSION_PATCH' |
    c++ -E -P -isystem "/usr/include/botan-$(major)" -include botan/build.h -x c++ - 2>/dev/null | tail -n1 | tr -d ' '
}

build() {
  compiler c++
  local major standard=c++17
  major=$(major)
  [ "$major" = 2 ] || standard=c++20
  local options=(-std=$standard -O3 -fPIC -DNDEBUG -I "$PROJECT/include" -isystem "/usr/include/botan-$major")
  note "CXXFLAGS: ${options[*]}; linked to the system's libbotan-$major"
  c++ "${options[@]}" -shared -o "$OUT/$object" "$PROJECT"/attach/botan/*.cpp -Wl,-Bsymbolic-functions -lbotan-"$major"
}
