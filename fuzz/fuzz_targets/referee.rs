//! libFuzzer target for [`fairdeal_fuzz::texts::referee`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::texts::referee(data);
});
