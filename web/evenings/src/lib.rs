//! Evenings of whole programs as a module: the same sessions in a browser have to give the same bytes as elsewhere
//! (`web/tests/evenings.rs`).

// An export is unsafe by its name alone: two with one name would clash.
#![allow(unsafe_code)]

use std::cell::RefCell;

use fairdeal_session::testing::evening::Evening;

thread_local! {
    static DIGEST: RefCell<[u8; 32]> = RefCell::default();
}

/// Plays the evening of a seed. Returns the place of the 32 bytes of its digest.
#[unsafe(no_mangle)]
pub extern "C" fn evening(seed: u32) -> *const u8 {
    let mut evening = Evening::new(seed.into());
    evening.run();
    DIGEST.with_borrow_mut(|digest| {
        *digest = evening.digest();
        digest.as_ptr()
    })
}
