//! The entrance `stores` of the crate `testing`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (testing::entry("stores").run)(bytes));
