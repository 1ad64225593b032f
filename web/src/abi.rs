//! The exports of the module. All data goes through buffers whose places the worker asks for; the module writes to no
//! other memory, and calls nothing.

// An export is unsafe by its name alone: two with one name would clash.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::num::NonZero;

use fairdeal_protocol::table::clocks::Now;

use crate::check;
use crate::message::{Answer, Ask, Message};
use crate::page::{MAX_FILE, MAX_MESSAGE, Page};

#[derive(Default)]
struct Module {
    page: Option<Page>,
    message: Vec<u8>,
    file: Vec<u8>,
    answer: Vec<u8>,
    /// The file that the answer hands to other workers.
    split: Vec<u8>,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
    /// The message of a panic.
    static FAULT: RefCell<String> = RefCell::default();
}

/// A place for a message of so many bytes; null if that is too long.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn message_room(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| room(&mut module.message, length, MAX_MESSAGE))
}

/// A place for a file of so many bytes; null if that is too long.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn file_room(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| room(&mut module.file, length, MAX_FILE))
}

fn room(buffer: &mut Vec<u8>, length: usize, most: usize) -> *mut u8 {
    buffer.clear();
    if length > most {
        return std::ptr::null_mut();
    }
    // Also of an empty file there is a place.
    buffer.resize(length.max(1), 0);
    buffer.truncate(length);
    buffer.as_mut_ptr()
}

/// Handles the message; the length of the answer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn handle() -> usize {
    std::panic::set_hook(Box::new(|info| FAULT.with_borrow_mut(|fault| *fault = info.to_string())));
    MODULE.with_borrow_mut(|module| {
        let mut answer = answer(module);
        let split = answer.as_mut().ok().and_then(|answer| answer.split.as_mut());
        module.split = split.map(|split| std::mem::take(&mut split.file)).unwrap_or_default();
        module.answer = serde_json::to_vec(&answer).unwrap_or_default();
        module.file = Vec::new();
        module.answer.len()
    })
}

fn answer(module: &mut Module) -> Result<Answer, String> {
    let Message { up, wall, ask } = serde_json::from_slice(&module.message).map_err(|why| why.to_string())?;
    let page = match (&mut module.page, &ask) {
        (Some(page), _) => page,
        (none, Ask::Start(start)) => none.insert(Page::new(start)?),
        (None, _) => return Err("the page has not started".to_owned()),
    };
    page.set_time(Now { up, wall });
    Ok(page.handle(ask, &module.file))
}

/// Audits one of so many slices of the file. Whether all of it holds.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn slice_holds(number: usize, of: usize) -> bool {
    let file = MODULE.with_borrow_mut(|module| std::mem::take(&mut module.file));
    NonZero::new(of).is_some_and(|of| check::holds(&file, number, of))
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer_place() -> *const u8 {
    MODULE.with_borrow(|module| module.answer.as_ptr())
}

/// Where the file is that the answer hands to other workers.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn split_place() -> *const u8 {
    MODULE.with_borrow(|module| module.split.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn split_length() -> usize {
    MODULE.with_borrow(|module| module.split.len())
}

/// The length of the message of a panic.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn fault_length() -> usize {
    FAULT.with_borrow(String::len)
}

/// Where it is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn fault_place() -> *const u8 {
    FAULT.with_borrow(|fault| fault.as_ptr())
}
