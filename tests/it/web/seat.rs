//! A player at a real page: sits down, plays by the hints, saves the game, takes the seat elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use tokio::time::sleep;

use crate::browser::{Browser, ENTER, PATIENCE};

impl Browser {
    /// Opens a link, says a name, and is ready.
    pub(crate) async fn sits_down(&self, link: &str, name: &str) {
        self.client.goto(link).await.unwrap();
        self.says(name).await;
    }

    /// Opens the page that lies beside `page` on the disk, pastes a ticket, says a name, and is ready.
    pub(crate) async fn sits_down_from_disk(&self, page: &Path, ticket: &str, name: &str) {
        self.client.goto(&format!("file://{}", page.with_file_name("table.html").display())).await.unwrap();
        self.until("home", "join with a ticket").await;
        self.keys(&['j']).await;
        self.until("join", "icket").await;
        self.pastes(ticket).await;
        self.keys(&[ENTER]).await;
        self.says(name).await;
    }

    pub(crate) async fn pastes(&self, text: &str) {
        let paste = "const data = new DataTransfer();
            data.setData('text', arguments[0]);
            // Firefox makes no such event with data.
            dispatchEvent(Object.assign(new Event('paste'), { clipboardData: data }))";
        self.client.execute(paste, vec![text.into()]).await.unwrap();
    }

    pub(crate) async fn says(&self, name: &str) {
        self.until("welcome", "Your name at the table?").await;
        let name: Vec<char> = name.chars().collect();
        self.keys(&[&name[..], &[ENTER]].concat()).await;
        self.shows(|text| text.contains("not ready yet")).await;
        self.keys(&['r']).await;
    }

    /// Waits until the page shows something.
    pub(crate) async fn shows(&self, wanted: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let text = self.text().await;
            if wanted(&text) {
                return text;
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain: {text}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Takes one own action by the hint, in a turn that the title tells too; `None` if the game is over.
    pub(crate) async fn acts(&self) -> Option<()> {
        let next = ["YOUR TURN", "Now choose", "Sure?", "save as a web page", "Enter continue"];
        let began = Instant::now();
        loop {
            let text = self.shows(|text| next.iter().any(|words| text.contains(words))).await;
            if text.contains("save as a web page") {
                return None;
            } else if text.contains("Sure?") {
                self.keys(&['y']).await;
            } else if text.contains("YOUR TURN") && !text.contains("Enter continue") {
                // What others do meanwhile may have ended a turn before the screen says so.
                if !self.client.title().await.unwrap().contains("Your turn") {
                    assert!(began.elapsed() < PATIENCE, "the title tells no turn: {text}");
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
                self.keys(&['h']).await;
                self.keys(&[ENTER]).await;
                return Some(());
            } else {
                self.keys(&[ENTER]).await;
            }
        }
    }

    /// Plays by the hints until the game is over, and saves it. Reloads the page after so many own actions.
    pub(crate) async fn plays(&self, mut reload_after: Option<u32>) -> Vec<u8> {
        let mut acted = 0;
        while self.acts().await.is_some() {
            acted += 1;
            if reload_after.take_if(|after| *after == acted).is_some() {
                self.client.refresh().await.unwrap();
                self.shows(is_back).await;
            }
        }
        self.saves(false).await
    }

    /// Touches the button with these words, or the first one that acts: the turn may have ended meanwhile.
    pub(crate) async fn presses(&self, words: Option<&str>) -> bool {
        let all = "[...document.querySelectorAll('#buttons button')]";
        match words {
            Some(words) => {
                self.touches(&format!("return {all}.find((button) => button.textContent === '{words}')")).await
            }
            None => {
                let reads = "['hint', 'seal', 'chat', 'rule', 'scores', 'log', 'leave', 'rules', 'audit', 'copy']";
                self.touches(&format!("return {all}.find((button) => !{reads}.includes(button.textContent))")).await
            }
        }
    }

    /// Plays by the hints with a finger alone until the game is over, and saves it.
    pub(crate) async fn plays_by_touch(&self) -> Vec<u8> {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "no touch leads on: {}", self.text().await);
            let is_next = |text: &str| {
                ["YOUR TURN", "Sure?", "The game is over", "Enter continue"].iter().any(|words| text.contains(words))
            };
            let text = self.shows(is_next).await;
            // The row of keys may have no room for all that the buttons offer.
            if text.contains("The game is over") && !text.contains("Enter continue") {
                return self.saves(true).await;
            }
            if text.contains("YOUR TURN") && !text.contains("Sure?") && !text.contains("Enter continue") {
                self.presses(Some("hint")).await;
            }
            self.presses(None).await;
        }
    }

    /// Leaves with the seat in a file, and writes that file.
    pub(crate) async fn takes_the_seat(&self, file: &Path) -> PathBuf {
        let watch = "const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => {
                blob.arrayBuffer().then((bytes) => {
                    window.saved = btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(''));
                });
                return make(blob);
            }";
        self.script(watch).await;
        self.keys(&['q']).await;
        self.shows(|text| text.contains("take the seat with me")).await;
        self.keys(&['t']).await;
        self.shows(|text| text.contains("Take your seat with you?")).await;
        self.keys(&['y']).await;
        self.shows(|text| text.contains("Your seat is in loot-")).await;
        let saved = self.script("return window.saved").await;
        fs::write(file, BASE64.decode(saved.as_str().expect("a file").as_bytes()).unwrap()).unwrap();
        file.to_path_buf()
    }

    /// Opens a file by the page's own button.
    pub(crate) async fn opens(&self, file: &Path) {
        let chooser = self.client.find(fantoccini::Locator::Css("#file")).await.unwrap();
        chooser.send_keys(file.to_str().unwrap()).await.unwrap();
    }

    /// The keys of all that the page's database holds.
    pub(crate) async fn kept(&self) -> Vec<String> {
        let read = "const done = arguments[arguments.length - 1];
            const opening = indexedDB.open('fairdeal', 1);
            opening.onsuccess = () => {
                const keys = opening.result.transaction('kept').objectStore('kept').getAllKeys();
                keys.onsuccess = () => { opening.result.close(); done(keys.result) };
            }";
        let keys = self.client.execute_async(read, Vec::new()).await.unwrap();
        serde_json::from_value(keys).unwrap()
    }

    /// Saves the game as a page, and returns the transcript in it.
    pub(crate) async fn saves(&self, by_touch: bool) -> Vec<u8> {
        let watch = "const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { blob.text().then((text) => (window.saved = text)); return make(blob) }";
        self.script(watch).await;
        let began = Instant::now();
        loop {
            // The sheet is over the board once the last cards have moved.
            if by_touch {
                // The sheet with the last scores may still lie over it.
                if !self.presses(Some("save as a web page")).await {
                    self.presses(Some("continue")).await;
                }
            } else {
                self.keys(&['b']).await;
            }
            if let Some(html) = self.script("return window.saved ?? null").await.as_str() {
                assert!(html.contains("connect-src 'none'"), "the saved page opens no connection");
                let (_, game) = html.split_once("id=\"game\"").unwrap();
                let (_, game) = game.split_once('>').unwrap();
                let (game, _) = game.split_once('<').unwrap();
                return BASE64.decode(game.as_bytes()).unwrap();
            }
            assert!(began.elapsed() < PATIENCE, "nothing is saved: {}", self.text().await);
            sleep(Duration::from_millis(500)).await;
        }
    }
}

/// Whether the page is at a table that goes on.
pub(crate) fn is_back(text: &str) -> bool {
    let words = ["YOUR TURN", "Waiting for", "Enter continue", "save as a web page", "This hand is over"];
    words.iter().any(|words| text.contains(words))
}
