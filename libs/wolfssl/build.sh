# shellcheck shell=bash disable=SC1091,SC2034 # read by the driver
name=wolfssl
speed=(--enable-intelasm --enable-sp --enable-sp-asm)
source "$RECIPES/wolfssl.sh"
