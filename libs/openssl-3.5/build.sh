# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
seconds=310
soname=3
fips=yes
source "$RECIPES/openssl.sh"
