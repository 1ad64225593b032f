//! libFuzzer target for [`fairdeal_fuzz::log::restore`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::log::restore(data);
});
