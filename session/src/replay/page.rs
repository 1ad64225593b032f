//! The two variants of the page for browsers that are made from its one file: with a game inside, which it checks and
//! replays as soon as it is opened, and with leave to join tables.

use data_encoding::BASE64;

/// The comment of the page that the game replaces.
const PLACE: &str = "<!--game-->";

/// The part of the page's policy that forbids every connection, and what stands there on a page that may join tables.
const NO_CONNECTION: &str = "connect-src 'none'";
const SOCKETS: &str = "connect-src ws: wss:";

/// The page with leave to open WebSockets; `None` if its policy is another one.
pub fn for_tables(page: &str) -> Option<String> {
    let (before, after) = page.split_once(NO_CONNECTION)?;
    Some(format!("{before}{SOCKETS}{after}"))
}

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
    fn page_for_tables_differs_in_its_policy() {
        assert_eq!(for_tables("a; connect-src 'none'; b").as_deref(), Some("a; connect-src ws: wss:; b"));
        assert_eq!(for_tables("a; connect-src *; b"), None);
    }

    #[test]
    fn a_game_takes_its_place_in_the_page() {
        let page = page_with("<b><!--game--></b>", b"abc", "a\"><script>&.fairdeal").unwrap();
        let name = "a&quot;>&lt;script>&amp;.fairdeal";
        assert_eq!(page, format!("<b><script type=\"text/plain\" id=\"game\" data-name=\"{name}\">YWJj</script></b>"));
        assert_eq!(page_with("<b></b>", b"abc", "a"), None);
    }
}
