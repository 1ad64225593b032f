//! The page in a real browser: headless Chromium, or Firefox with `FAIRDEAL_BROWSER=firefox`, driven by WebDriver. It
//! opens the page that `just page` has built, from its file.
//!
//! Skipped where there is no page or no browser with its driver (chromedriver, geckodriver), unless `FAIRDEAL_REQUIRE`
//! names `browser`. The times that it prints (`-- --nocapture`) are those of docs/performance.md.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use browser::{Browser, ENTER};
use fairdeal_session::replay::page::page_with;
use fantoccini::Locator;
use serde_json::json;
use tokio::time::timeout;

#[path = "../../tests/fixture/browser.rs"]
mod browser;
#[path = "../../tests/fixture/built.rs"]
mod built;
#[path = "../../tests/fixture/record.rs"]
mod record;
#[path = "../../tests/fixture/require.rs"]
mod require;

/// The page, as `just page` has built it.
const PAGE: &str = "page/fairdeal.html";
/// Keys as WebDriver names them.
const ESCAPE: char = '\u{e00c}';
const RIGHT: char = '\u{e014}';
const END: char = '\u{e010}';

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Things that only these tests do with a page.
trait Checks {
    async fn check(&self, file: &Path, words: &str) -> Duration;
    async fn click_on(&self, words: &str);
}

impl Checks for Browser {
    /// Gives the page a file; how long the whole check took.
    async fn check(&self, file: &Path, words: &str) -> Duration {
        let chooser = self.client.find(Locator::Id("file")).await.unwrap();
        let began = Instant::now();
        chooser.send_keys(file.to_str().unwrap()).await.unwrap();
        self.until("audit", "").await;
        let took = began.elapsed();
        self.until("audit", words).await;
        took
    }

    async fn click_on(&self, words: &str) {
        let script = "const found = [...document.querySelectorAll('#table text')]
            .find((text) => text.textContent.trim() === arguments[0]);
            const box = found.getBoundingClientRect();
            const [clientX, clientY] = [box.left + box.width / 2, box.top + box.height / 2];
            found.dispatchEvent(new MouseEvent('click', { clientX, clientY, bubbles: true }))";
        self.client.execute(script, vec![json!(words)]).await.unwrap();
    }
}

/// Opens the page; the reason if there is no page or no browser.
async fn opened() -> Result<Browser, String> {
    let page = built::built(PAGE);
    if !page.exists() {
        return Err("no page: just page builds it".to_owned());
    }
    let browser = Browser::start().await?;
    browser.client.goto(&format!("file://{}", page.display())).await.unwrap();
    browser.until("home", "").await;
    Ok(browser)
}

/// Opens the page; `None` if the test is to be skipped.
async fn open() -> Option<Browser> {
    match opened().await {
        Ok(browser) => Some(browser),
        Err(why) => {
            require::skip("browser", why);
            None
        }
    }
}

fn transcript(game: &str) -> PathBuf {
    root().join(format!("tests/it/transcripts/{game}.fairdeal"))
}

#[tokio::test]
async fn games_are_checked_and_replayed_in_a_browser() {
    let Some(browser) = open().await else { return };
    let games = ["loot", "ivory-tower", "plutonian-poker", "sphinxs-paw", "houses-of-thoth"];
    for game in games {
        let verdict = if game == "ivory-tower" { "✓ rules followed" } else { "✓ fair" };
        let took = browser.check(&transcript(game), verdict).await;
        println!("{game}: checked in {} ms", took.as_millis());
        browser.keys(&[ENTER]).await;
        browser.until("replay", "Step 1 of").await;
        browser.keys(&[END, 'e', RIGHT]).await;
        browser.until("replay", "as player 1 saw it").await;
        browser.keys(&[ESCAPE, ESCAPE]).await;
        browser.until("home", "Loot").await;
    }
    // A changed file, and one that is none.
    let folder = tempfile::tempdir().unwrap();
    let mut changed = std::fs::read(transcript("loot")).unwrap();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let path = folder.path().join("changed.fairdeal");
    std::fs::write(&path, &changed).unwrap();
    browser.check(&path, "NOT FAIR").await;
    std::fs::write(&path, b"no game").unwrap();
    let chooser = browser.client.find(Locator::Id("file")).await.unwrap();
    chooser.send_keys(path.to_str().unwrap()).await.unwrap();
    browser.until("audit", "This file cannot be checked").await;
    // The policy has refused nothing that the page wants, and the page has asked for nothing.
    let loaded = browser.script("return performance.getEntriesByType('resource').length").await;
    assert_eq!(loaded, json!(0));
    browser.client.clone().close().await.unwrap();
}

/// A page that was saved with a game checks it at once, and replays it.
#[tokio::test]
async fn a_game_comes_with_its_page() {
    let Some(browser) = open().await else { return };
    let page = std::fs::read_to_string(built::built(PAGE)).unwrap();
    let game = std::fs::read(transcript("loot")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("game.html");
    std::fs::write(&path, page_with(&page, &game, "Ada & \"Ben\" <b>.fairdeal").unwrap()).unwrap();
    browser.client.goto(&format!("file://{}", path.display())).await.unwrap();
    browser.until("audit", "✓ fair").await;
    browser.keys(&[END]).await;
    browser.until("audit", "Ada & \"Ben\" <b>.fairdeal").await;
    browser.keys(&[ENTER]).await;
    browser.until("replay", "Step 1 of").await;
    // Another file is checked as in a page without a game.
    browser.keys(&[ESCAPE, ESCAPE]).await;
    browser.until("home", "Loot").await;
    browser.check(&transcript("sphinxs-paw"), "✓ fair").await;
    browser.client.clone().close().await.unwrap();
}

/// Keys and pastes by accident do not end the page, and a check continues under a moving mouse.
#[tokio::test]
async fn odd_input_does_no_harm() {
    let Some(browser) = open().await else { return };
    let script = "const paste = (text) => {
            const data = new DataTransfer();
            data.setData('text', text);
            dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
        };
        paste('\\ud800'); paste('x'.repeat(70_000_000));
        dispatchEvent(new KeyboardEvent('keydown', { key: '\\udfff' }))";
    browser.script(script).await;
    browser.keys(&['?']).await;
    browser.until("home", "verify a game file").await;
    browser.keys(&[ESCAPE]).await;
    let moves = "window.moves = setInterval(() => document.getElementById('table').dispatchEvent(
        new PointerEvent('pointermove',
            { clientX: 100 + Math.random() * 500, clientY: 300, bubbles: true, isPrimary: true })), 10)";
    browser.script(moves).await;
    browser.check(&transcript("loot"), "✓ fair").await;
    browser.script("clearInterval(window.moves)").await;
    // The screen and the line in focus can be heard.
    let said = browser.script("return document.getElementById('status').textContent").await;
    let said = said.as_str().unwrap();
    assert!(said.starts_with("audit. ") && said.contains("✓ fair"), "{said}");
    // Two files at once are none, and the verdict does not stay.
    let drop = "const data = new DataTransfer();
        for (const name of ['a', 'b']) data.items.add(new File([name], name));
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))";
    browser.script(drop).await;
    browser.until("audit", "open one file at a time").await;
    // A long press is no click of the right button.
    let press = "document.getElementById('table').dispatchEvent(
        new MouseEvent('contextmenu', { clientX: 300, clientY: 300, bubbles: true, cancelable: true }))";
    browser.script(press).await;
    browser.until("audit", "open one file at a time").await;
    browser.client.clone().close().await.unwrap();
}

/// A long game: a file of three megabytes.
#[tokio::test]
async fn a_long_game_is_checked_in_a_browser() {
    let Some(browser) = open().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.fairdeal");
    let game = record::record("houses-of-thoth", 5, &[("target", "50")], 3);
    std::fs::write(&path, &game).unwrap();
    let took = browser.check(&path, "✓ fair").await;
    println!("{} bytes: checked in {} ms", game.len(), took.as_millis());
    assert!(game.len() > 2 << 20, "{}", game.len());
    browser.client.clone().close().await.unwrap();
}

#[tokio::test]
async fn a_game_is_played_in_a_browser() {
    let Some(browser) = open().await else { return };
    browser.click_on("Loot").await;
    browser.until("Loot", "seats").await;
    browser.keys(&[ENTER]).await;
    browser.until("Loot", "practice").await;
    // The bots act one after another until it is the player's turn.
    browser.until("Loot", "YOUR TURN").await;
    browser.keys(&['q']).await;
    browser.until("Loot", "Leave the game?").await;
    browser.keys(&['y']).await;
    browser.until("home", "verify a game file").await;
    browser.keys(&['p']).await;
    browser.until("Loot: puzzle", "Find the action that wins").await;
    browser.client.clone().close().await.unwrap();
}

/// The policy blocks requests and pictures, whatever a script on the page tries.
#[tokio::test]
async fn requests_are_blocked() {
    let Some(browser) = open().await else { return };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let tried = browser
        .client
        .execute_async(
            "const done = arguments[arguments.length - 1];
             addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), { once: true });
             fetch(arguments[0]).then(() => done('open'), () => {})",
            vec![json!(address)],
        )
        .await
        .unwrap();
    assert_eq!(tried, json!("connect-src"));
    let broken = browser
        .client
        .execute_async(
            "const done = arguments[arguments.length - 1];
             addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), { once: true });
             new Image().src = arguments[0]",
            vec![json!(address)],
        )
        .await
        .unwrap();
    assert_eq!(broken, json!("img-src"));
    assert!(timeout(Duration::from_millis(200), listener.accept()).await.is_err(), "a connection was opened");
    browser.client.clone().close().await.unwrap();
}
