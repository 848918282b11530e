# shellcheck shell=bash disable=SC2034 # read by the driver
name=rustcrypto-cgu1
object=libciphermark_rustcrypto.so
seconds=60
uses=(attach/rustcrypto crates/export crates/built crates/contract crates/model Cargo.toml Cargo.lock)
source="attach/rustcrypto"

# Another compiler inlines otherwise: it asks for another build.
depends() { rustc -vV; }

version() { awk -F'"' '/^name = "aes"$/ { found = 1 } found && /^version/ { print $2; exit }' "$PROJECT/Cargo.lock"; }

build() {
  compiler rustc
  note "RUSTFLAGS: -C codegen-units=1"
  RUSTFLAGS="-C codegen-units=1" CARGO_TARGET_DIR=$WORK \
    cargo build --release --locked --manifest-path "$PROJECT/attach/rustcrypto/Cargo.toml"
  cp "release/$object" "$OUT/"
}
