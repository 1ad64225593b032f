//! libFuzzer target for [`fairdeal_fuzz::decoders::record`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::decoders::record(data);
});
