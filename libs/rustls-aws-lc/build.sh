# shellcheck shell=bash disable=SC2034 # read by the driver
name=rustls-aws-lc
object=libciphermarktls_rustls_aws_lc.so
licence="(Apache-2.0 OR ISC OR MIT) AND ISC AND Apache-2.0 AND MIT AND BSD-3-Clause"
seconds=150
uses=(attach/rustls-aws-lc crates/contract attach/built Cargo.toml)
source="attach/rustls-aws-lc"

version() { awk -F'"' '/^name = "rustls"$/ { found = 1 } found && /^version/ { print $2; exit }' "$PROJECT/attach/rustls-aws-lc/Cargo.lock"; }

build() {
  compiler rustc
  compiler cc
  CARGO_TARGET_DIR=$WORK cargo build --release --locked --manifest-path "$PROJECT/attach/rustls-aws-lc/Cargo.toml"
  cp "${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}release/$object" "$OUT/"
}
