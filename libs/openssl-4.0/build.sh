# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
seconds=260
soname=4
# lab/agree compares with its `openssl speed`.
apps=yes
source "$RECIPES/openssl.sh"
