//! libFuzzer target for [`fairdeal_fuzz::decoders::header`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::decoders::header(data);
});
