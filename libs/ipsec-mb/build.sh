# shellcheck shell=bash disable=SC2034 # read by the driver
name=ipsec-mb
object=libciphermark_ipsec_mb.so
licence="BSD-3-Clause"
also_name=ipsec-mb-jobs
also_object=libciphermark_ipsec_mb_jobs.so
seconds=5
uses=(attach/ipsec-mb include/ciphermark.h)
source="attach/ipsec-mb and the system's libIPSec_MB"

missing() {
  [ -d "$PROJECT/attach/ipsec-mb" ] || { echo "there is no attach/ipsec-mb"; return; }
  echo '#include <intel-ipsec-mb.h>' | cc -E - >/dev/null 2>&1 || echo "the header intel-ipsec-mb.h is missing (package libipsec-mb-dev)"
}

# The manager's layout is the header's: another version of it asks for another build.
depends() { version; }
version() { echo IMB_VERSION_STR | cc -E -P -include intel-ipsec-mb.h - 2>/dev/null | tail -n1 | tr -d '"'; }

build() {
  compiler cc
  local options=(-O3 -fPIC -DNDEBUG -I "$PROJECT/include")
  note "CFLAGS: ${options[*]}; linked to the system's libIPSec_MB"
  options+=("$PROJECT"/attach/ipsec-mb/*.c -Wl,-Bsymbolic -lIPSec_MB)
  cc -shared -o "$OUT/$object" "${options[@]}"
  note "$also_name: -DJOBS"
  cc -shared -DJOBS -o "$OUT/$also_object" "${options[@]}"
}
