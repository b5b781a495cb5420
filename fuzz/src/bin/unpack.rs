//! Any bytes as a stream.
#![no_main]
libfuzzer_sys::fuzz_target!(init: cloister_fuzz::seed(Ok), |bytes: &[u8]| cloister_fuzz::check(bytes));
