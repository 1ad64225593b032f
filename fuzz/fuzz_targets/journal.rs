//! libFuzzer target for [`fairdeal_fuzz::journals::journal`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::journals::journal(data);
});
