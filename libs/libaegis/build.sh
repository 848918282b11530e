# shellcheck shell=bash disable=SC2034 # read by the driver
name=libaegis
object=libaegis.so
licence="MIT"
licence_texts=LICENSE
seconds=20

# The C source carries no version of its own.
version() { echo "$CRATE_VERSION"; }

build() {
  local c=$SRC/src/c/libaegis/src file objects=()
  local options=(-O3 -fPIC -DNDEBUG -Wno-unknown-pragmas -I "$c/include")
  compiler cc
  note "CFLAGS: ${options[*]}"
  # Compiled by make, to share the driver's job slots.
  for file in "$c"/aegis*/*.c "$c"/common/{common,cpu,softaes}.c; do
    objects+=("$(basename "$file" .c).o")
    printf '%s: ; cc %s -c -o $@ %s\n' "${objects[-1]}" "${options[*]}" "$file"
  done >plan
  make -f plan "${objects[@]}"
  cc -shared -Wl,-soname,libaegis.so -Wl,-Bsymbolic -o "$OUT/libaegis.so" "${objects[@]}"
}
