//! The entrance `tls` of the crate `inputs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (inputs::entry("tls").run)(bytes));
