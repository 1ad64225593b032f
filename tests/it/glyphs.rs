//! The table of fonts in `docs/settings.md` lists every character that the interface draws.

use super::python;

#[test]
fn table_of_fonts_lists_every_character_that_is_drawn() {
    if !python::is_there() {
        return;
    }
    let (code, told) = python::run(&["packaging/glyphs.py", "--listed"]);
    assert_eq!(code, Some(0), "{told}");
}
