//! The entrance `protocol` of the crate `inputs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (inputs::entry("protocol").run)(bytes));
