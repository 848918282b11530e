# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
seconds=250
soname=3
source "$RECIPES/openssl.sh"
