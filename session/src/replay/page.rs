//! A game inside the page for browsers, which checks and replays it as soon as it is opened.

use data_encoding::BASE64;

/// The comment of the page that the game replaces.
const PLACE: &str = "<!--game-->";

/// Puts a transcript, as base64 under its file name, into a page; `None` if the page has no place for one. Browsers do
/// not run the element: its type is that of plain text.
pub fn page_with(page: &str, transcript: &[u8], name: &str) -> Option<String> {
    let (before, after) = page.split_once(PLACE)?;
    let name = name.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let game = BASE64.encode(transcript);
    Some(format!("{before}<script type=\"text/plain\" id=\"game\" data-name=\"{name}\">{game}</script>{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_takes_its_place_in_the_page() {
        let page = page_with("<b><!--game--></b>", b"abc", "a\"><script>&.fairdeal").unwrap();
        let name = "a&quot;>&lt;script>&amp;.fairdeal";
        assert_eq!(page, format!("<b><script type=\"text/plain\" id=\"game\" data-name=\"{name}\">YWJj</script></b>"));
        assert_eq!(page_with("<b></b>", b"abc", "a"), None);
    }
}
