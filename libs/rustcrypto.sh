# shellcheck shell=bash disable=SC2034,SC2154 # sourced by recipes, which the driver reads
# How every RustCrypto beside the workspace's own is built: the same crates and versions, with the compiler's options that
# the recipe gives in `flags`.
object=libciphermark_rustcrypto.so
licence="MIT OR Apache-2.0"
seconds=60
uses=(libs/rustcrypto.sh attach/rustcrypto attach/built crates/contract crates/base/src/model Cargo.toml Cargo.lock)
source="attach/rustcrypto"

version() { awk -F'"' '/^name = "aes"$/ { found = 1 } found && /^version/ { print $2; exit }' "$PROJECT/Cargo.lock"; }

build() {
  compiler rustc
  note "RUSTFLAGS: $flags"
  RUSTFLAGS=$flags CARGO_TARGET_DIR=$WORK \
    cargo build --release --locked --manifest-path "$PROJECT/attach/rustcrypto/Cargo.toml"
  cp "${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}release/$object" "$OUT/"
}
