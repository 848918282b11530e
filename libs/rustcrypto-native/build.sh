# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
name=rustcrypto-native
flags="-C target-cpu=native -C codegen-units=1"
source "$RECIPES/rustcrypto.sh"

# Compiled for one CPU by one compiler: another of either asks for another build.
depends() { rustc -vV; sed -n '/^\(model name\|flags\|Features\)/{p;/^\(flags\|Features\)/q}' /proc/cpuinfo; }
