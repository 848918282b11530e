//! The entrance `stores` of the crate `inputs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (inputs::entry("stores").run)(bytes));
