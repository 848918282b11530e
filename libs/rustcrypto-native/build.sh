# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
name=rustcrypto-native
flags="-C target-cpu=native -C codegen-units=1"
source "$RECIPES/rustcrypto.sh"

# Compiled for one CPU: another one asks for another build.
depends() { sed -n '/^\(model name\|flags\|Features\)/{p;/^\(flags\|Features\)/q}' /proc/cpuinfo; }
