//! libFuzzer target for [`fairdeal_fuzz::actions::action`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fairdeal_fuzz::actions::action(data);
});
