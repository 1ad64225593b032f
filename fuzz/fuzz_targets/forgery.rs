//! libFuzzer target for [`fairdeal_fuzz::log::forgery`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::log::forgery(data);
});
