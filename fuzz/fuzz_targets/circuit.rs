//! libFuzzer target for [`fairdeal_fuzz::links::circuit`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::links::circuit(data);
});
