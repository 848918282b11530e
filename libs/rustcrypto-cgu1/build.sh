# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
name=rustcrypto-cgu1
flags="-C codegen-units=1"
source "$RECIPES/rustcrypto.sh"
