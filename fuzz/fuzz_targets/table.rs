//! libFuzzer target for [`fairdeal_fuzz::table::table`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::table::table(data);
});
