# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
seconds=220
soname=4
source "$RECIPES/openssl.sh"
