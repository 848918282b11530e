# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
name=wolfssl-noasm
speed=()
source "$RECIPES/wolfssl.sh"
