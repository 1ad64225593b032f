//! Seats in browsers: real pages from real doors, at tables with programs, to the audit. Skipped without a browser or
//! without the page that `just page` builds, unless `FAIRDEAL_REQUIRE` names `browser`.

mod seat;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fairdeal_peers::ticket::Ticket;
use fairdeal_session::replay::page::for_tables;
use tempfile::TempDir;
use tokio::time::sleep;

use super::browser::{Browser, ENTER, PATIENCE};
use super::built::built;
use super::process::{Program, Relay, fairdeal};
use super::require;
use seat::is_back;

const TCP: &str = "/ip4/127.0.0.1/tcp/0";
const DOOR: &str = "127.0.0.1:0";

/// The page, as `just page` has built it; `None` if the test is to be skipped.
pub(crate) fn page() -> Option<PathBuf> {
    let page = built("page/fairdeal.html");
    if !page.exists() {
        require::skip("browser", "no page: just page builds it");
        return None;
    }
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    // A door makes the one from the other, as `just page` does.
    assert!(for_tables(&read(&page)).unwrap() == read(&page.with_file_name("table.html")));
    Some(page.canonicalize().unwrap())
}

async fn start() -> Option<Browser> {
    match Browser::start().await {
        Ok(browser) => Some(browser),
        Err(why) => {
            require::skip("browser", why);
            None
        }
    }
}

/// A bot that opens a table with a door, and the ticket.
fn host(page: &Path, root: &Path, game: &str, more: &[&str]) -> (Program, Ticket) {
    let mut command = fairdeal();
    command.env("FAIRDEAL_PAGE", page);
    let args = ["bot", "host", game, "--json", "--listen", TCP, "--web", DOOR];
    let mut host = Program::start_by(command, root, "host", &[&args[..], more].concat());
    let ticket = host.ticket().parse().unwrap();
    (host, ticket)
}

/// The transcript of a program whose game is over.
pub(crate) fn transcript(program: &mut Program) -> Vec<u8> {
    let over = program.wait_for("over").expect("the game ends");
    let path = over["transcript"].as_str().unwrap();
    let fair = fairdeal().args(["verify", path]).output().unwrap();
    assert!(fair.status.success(), "{fair:?}");
    fs::read(path).unwrap()
}

/// Two programs and two browsers at one sealed table: one page from the host's door, one from the disk. A page is loaded
/// again in the middle of the game.
#[tokio::test(flavor = "multi_thread")]
async fn programs_and_browsers_play_to_the_audit() {
    two_and_two("loot", &["--option", "target=30"]).await;
}

/// The same with the other games. Sphinx's Paw and Houses of Thoth take minutes, so they are played if
/// `FAIRDEAL_ALL_GAMES` asks for it.
#[tokio::test(flavor = "multi_thread")]
async fn programs_and_browsers_play_other_games() {
    two_and_two("plutonian-poker", &[]).await;
    if std::env::var_os("FAIRDEAL_ALL_GAMES").is_some() {
        two_and_two("houses-of-thoth", &["--option", "target=1"]).await;
        two_and_two("sphinxs-paw", &[]).await;
    }
}

async fn two_and_two(game: &str, options: &[&str]) {
    let Some(page) = page() else { return };
    let (Some(one), Some(other)) = (start().await, start().await) else { return };
    let root = TempDir::new().unwrap();
    let (mut host, ticket) = host(&page, root.path(), game, &[&["--seats", "4"], options].concat());
    let guest = ["bot", "join", &ticket.to_string(), "--json", "--listen", TCP, "--web", DOOR];
    let mut guest = Program::start(root.path(), "guest", &guest);
    let link = ticket.link(true).expect("the host has a door").url;
    one.sits_down(&link, "Ada").await;
    // This one pastes the ticket.
    other.sits_down_from_disk(&page, &ticket.to_string(), "Ben").await;
    let (first, second) = tokio::join!(one.plays(Some(2)), other.plays(Some(1)));
    let (hosts, guests) = (transcript(&mut host), transcript(&mut guest));
    assert!(first == second && first == hosts && first == guests, "the transcripts differ");
    // The page has checked the game itself.
    one.shows(|text| text.contains("✓ fair")).await;
    one.client.clone().close().await.unwrap();
    other.client.clone().close().await.unwrap();
}

/// Files with a certificate for an address that nobody has signed, and with its key.
pub(crate) fn certificate(root: &Path, address: &str) -> [String; 2] {
    let certified = rcgen::generate_simple_self_signed([address.to_owned()]).unwrap();
    let files = ["chain.pem", "key.pem"].map(|name| root.join(name).display().to_string());
    fs::write(&files[0], certified.cert.pem()).unwrap();
    fs::write(&files[1], certified.key_pair.serialize_pem()).unwrap();
    files
}

/// The link that leads through a host's relay. The host may hear of that door after it has made its first ticket.
pub(crate) fn link_through_relay(host: &mut Program) -> String {
    let began = Instant::now();
    loop {
        let ticket: Ticket = host.ticket().parse().unwrap();
        match ticket.link(false) {
            Some(link) => return link.url,
            None => assert!(began.elapsed() < PATIENCE, "no ticket names the relay's door"),
        }
    }
}

/// Two browsers reach a host through its relay alone, under a certificate, and play with two programs: one has the page from
/// the relay, one from the disk. The relay is killed in the middle of the game and comes back.
#[tokio::test(flavor = "multi_thread")]
async fn browsers_come_through_a_relay() {
    let Some(page) = page() else { return };
    let (Some(one), Some(other)) = (start().await, start().await) else { return };
    let root = TempDir::new().unwrap();
    let files = certificate(root.path(), "127.0.0.1");
    let command = || {
        let mut command = fairdeal();
        command.env("FAIRDEAL_PAGE", &page);
        command
    };
    let at = |door: &str| ["--web", door, "--cert", &files[0], "--key", &files[1]].map(str::to_owned);
    let start_at = |door: &str| [&["--listen".to_owned(), TCP.to_owned()], &at(door)[..]].concat();
    let options = start_at(DOOR);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let relay = Relay::start_by(command(), root.path(), &options);
    let args = ["--seats", "4", "--option", "target=60", "--listen", TCP, "--relay", &relay.address];
    let mut host = Program::start(root.path(), "host", &[&["bot", "host", "loot", "--json"], &args[..]].concat());
    let link = link_through_relay(&mut host);
    let (door, ticket) = link.strip_prefix("https://").unwrap().split_once("/#").unwrap();
    // Doors for browsers are no way for a program.
    let guest = ["bot", "join", ticket, "--json", "--listen", TCP];
    let mut guest = Program::start(root.path(), "guest", &guest);
    one.sits_down(&link, "Ada").await;
    other.sits_down_from_disk(&page, ticket, "Ben").await;
    tokio::select! {
        _ = one.acts() => {}
        _ = other.acts() => {}
    }
    let again = at(door);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let _relay = relay.restart_by(command(), root.path(), &again, || {});
    let (first, second) = tokio::join!(one.plays(Some(2)), other.plays(None));
    let (hosts, guests) = (transcript(&mut host), transcript(&mut guest));
    assert!(first == second && first == hosts && first == guests, "the transcripts differ");
    one.client.clone().close().await.unwrap();
    other.client.clone().close().await.unwrap();
}

/// A browser that is killed in the middle of what it does comes back to its seat, each time: what it has signed was in
/// its database before. `FAIRDEAL_KILLS=20` kills it so often.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn killed_browser_comes_back_to_its_seat() {
    let Some(page) = page() else { return };
    if std::env::var("FAIRDEAL_BROWSER").is_ok_and(|name| name == "firefox") {
        return require::skip("browser", "the driver of Firefox keeps no profile");
    }
    let Some(mut browser) = start().await else { return };
    let kills = std::env::var("FAIRDEAL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3_u32);
    let root = TempDir::new().unwrap();
    let target = format!("target={}", 20 * kills);
    let (mut host, ticket) = host(&page, root.path(), "loot", &["--seats", "2", "--option", &target]);
    let link = ticket.link(true).expect("the host has a door").url;
    browser.sits_down(&link, "Ada").await;
    for kill in 0..kills {
        // So many actions, and the last one has only begun: the milliseconds differ from kill to kill.
        for _ in 0..=kill % 3 {
            browser.acts().await;
        }
        sleep(Duration::from_millis(u64::from(kill * 7 % 40))).await;
        browser = browser.killed_and_started().await;
        browser.client.goto(&link).await.unwrap();
        browser.shows(is_back).await;
    }
    let saved = browser.plays(None).await;
    assert!(saved == transcript(&mut host), "the transcripts differ");
    browser.client.clone().close().await.unwrap();
}

/// Whoever looks elsewhere is told the turn, once it is wanted.
#[tokio::test(flavor = "multi_thread")]
async fn turn_is_told_to_whoever_looks_elsewhere() {
    let Some(page) = page() else { return };
    let Some(browser) = start().await else { return };
    let root = TempDir::new().unwrap();
    let (_host, ticket) = host(&page, root.path(), "loot", &["--seats", "2"]);
    browser.client.goto(&ticket.link(true).expect("the host has a door").url).await.unwrap();
    browser.until("welcome", "Your name at the table?").await;
    // No headless browser shows a notification, and none is hidden.
    let stage = "window.told = [];
        window.Notification = class {
            static permission = 'default';
            static async requestPermission() { this.permission = 'granted' }
            constructor(title, { body }) { told.push(body) }
        };
        Object.defineProperty(document, 'hidden', { get: () => true })";
    browser.script(stage).await;
    // A keyboard presses the button, too, and nothing at the table.
    browser.script("document.getElementById('tell').focus()").await;
    browser.keys(&[ENTER]).await;
    browser.until("welcome", "Your name at the table?").await;
    browser.says("Ada").await;
    browser.shows(|text| text.contains("YOUR TURN")).await;
    let began = Instant::now();
    let told = loop {
        let told = browser.script("return told").await;
        let told: Vec<String> = serde_json::from_value(told).unwrap();
        if told.iter().any(|sign| sign == "Your turn: Loot") || began.elapsed() > PATIENCE {
            break told;
        }
    };
    assert_eq!(told.iter().filter(|sign| *sign == "Your turn: Loot").count(), 1, "{told:?}");
    browser.client.clone().close().await.unwrap();
}

/// A seat is open in one tab: the one that was opened last. The other says so and signs nothing.
#[tokio::test(flavor = "multi_thread")]
async fn second_tab_takes_the_seat_over() {
    let Some(page) = page() else { return };
    let Some(browser) = start().await else { return };
    let root = TempDir::new().unwrap();
    let (mut host, ticket) = host(&page, root.path(), "loot", &["--seats", "2", "--option", "target=30"]);
    let link = ticket.link(true).expect("the host has a door").url;
    browser.sits_down(&link, "Ada").await;
    assert!(browser.acts().await.is_some());
    let first = browser.client.window().await.unwrap();
    let second = browser.client.new_window(true).await.unwrap().handle;
    browser.client.switch_to_window(second.clone()).await.unwrap();
    browser.client.goto(&link).await.unwrap();
    browser.shows(is_back).await;
    browser.acts().await;
    browser.client.switch_to_window(first).await.unwrap();
    browser.shows(|text| text.contains("open in another tab")).await;
    browser.client.switch_to_window(second).await.unwrap();
    let saved = browser.plays(None).await;
    assert!(saved == transcript(&mut host), "the transcripts differ");
    browser.client.clone().close().await.unwrap();
}

/// A phone stops a page that nobody sees, and its player comes back after a while. `FAIRDEAL_HIDDEN=480` makes that eight
/// minutes; after ten the others go on.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn hidden_page_is_waited_for() {
    let Some(page) = page() else { return };
    if std::env::var("FAIRDEAL_BROWSER").is_ok_and(|name| name == "firefox") {
        return require::skip("browser", "the driver of Firefox keeps no profile");
    }
    let Some(browser) = start().await else { return };
    let seconds = std::env::var("FAIRDEAL_HIDDEN").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(0_u64);
    let root = TempDir::new().unwrap();
    let options = ["--seats", "3", "--phones", "--option", "target=20"];
    let (mut host, ticket) = host(&page, root.path(), "loot", &options);
    let join = ["bot", "join", &ticket.to_string(), "--json", "--listen", TCP];
    let mut other = Program::start(root.path(), "other", &join);
    host.wait_for("seated").unwrap();
    browser.sits_down(&ticket.link(true).expect("the host has a door").url, "Ada").await;
    browser.acts().await.unwrap();
    // No headless browser hides a page.
    let hide = "window.away = true;
        Object.defineProperty(document, 'hidden', { get: () => window.away });
        document.dispatchEvent(new Event('visibilitychange'))";
    browser.script(hide).await;
    browser.signal("STOP").await;
    let is = |wanted: &'static str| {
        move |event: &serde_json::Value| event["event"] == "peer" && event["seat"] == 2 && event["state"] == wanted
    };
    host.wait_for_matching(is("lost")).expect("nothing comes from the page");
    sleep(Duration::from_secs(seconds)).await;
    if seconds > 600 {
        host.wait_for_matching(is("removed")).expect("the others go on");
        assert!(other.wait_for("over").is_some(), "they play to the end");
        return browser.signal("CONT").await;
    }
    browser.signal("CONT").await;
    browser.script("window.away = false; document.dispatchEvent(new Event('visibilitychange'))").await;
    host.wait_for_matching(is("connected")).expect("it is back");
    browser.shows(is_back).await;
    let saved = browser.plays(None).await;
    assert!(saved == transcript(&mut host), "the transcripts differ");
    assert!(!host.events.iter().any(is("removed")), "{:?}", host.events);
    browser.client.clone().close().await.unwrap();
}

/// A seat goes from a door's page to one from the disk, which is another origin, and on to a terminal, each time in a
/// file. The page that gives it up keeps nothing of it, and a file is of use once.
#[tokio::test(flavor = "multi_thread")]
async fn seat_moves_to_another_page_and_to_a_terminal() {
    let Some(page) = page() else { return };
    let Some(browser) = start().await else { return };
    let root = TempDir::new().unwrap();
    let target = ["--seats", "2", "--option", "target=40", "--bot-delay", "50"];
    let (mut host, ticket) = host(&page, root.path(), "loot", &target);
    browser.sits_down(&ticket.link(true).expect("the host has a door").url, "Ada").await;
    browser.acts().await.unwrap();
    let first = browser.takes_the_seat(&root.path().join("first.seat")).await;
    // Nothing but the mark of who may write is left.
    let kept = browser.kept().await;
    assert!(kept.iter().all(|key| key.starts_with("lease/") || key.ends_with("/gone")), "{kept:?}");
    browser.client.refresh().await.unwrap();
    browser.until("welcome", "Your name at the table?").await;

    browser.client.goto(&format!("file://{}", page.with_file_name("table.html").display())).await.unwrap();
    browser.until("home", "Loot").await;
    browser.opens(&first).await;
    browser.shows(is_back).await;
    browser.acts().await.unwrap();
    let second = browser.takes_the_seat(&root.path().join("second.seat")).await;
    assert!(fs::metadata(&second).unwrap().len() > fs::metadata(&first).unwrap().len());

    let resume = |file: &Path| ["resume", "--headless", "--json", "--seat", file.to_str().unwrap()].map(str::to_owned);
    let started = |file: &Path| {
        let args = resume(file);
        Program::start_recorded(fairdeal(), root.path(), "terminal", &args.each_ref().map(String::as_str))
    };
    let mut damaged = fs::read(&second).unwrap();
    damaged.pop();
    let broken = root.path().join("broken.seat");
    fs::write(&broken, damaged).unwrap();
    let mut refused = started(&broken);
    assert_eq!(refused.finish().code(), Some(2));
    assert!(refused.errors().contains("damaged or not whole"), "{}", refused.errors());
    let mut terminal = started(&second);
    let over = terminal.wait_for("over").expect("it plays to the end");
    assert!(terminal.errors().contains("Delete"), "{}", terminal.errors());
    let saved = fs::read(over["transcript"].as_str().unwrap()).unwrap();
    assert!(saved == transcript(&mut host), "the transcripts differ");
    terminal.finish();
    for file in [&first, &second] {
        let mut again = started(file);
        assert_ne!(again.finish().code(), Some(0));
        assert!(again.errors().contains("already here"), "{}", again.errors());
    }
    browser.client.clone().close().await.unwrap();
}

/// A phone takes a seat and plays to the end, with a finger and its keyboard alone. Nothing is wider than its screen, and
/// no button lower than 44 pixels.
#[tokio::test(flavor = "multi_thread")]
async fn phone_plays_by_touch() {
    let Some(page) = page() else { return };
    let phone = match Browser::start_phone().await {
        Ok(phone) => phone,
        Err(why) => return require::skip("browser", why),
    };
    let root = TempDir::new().unwrap();
    let (mut host, ticket) = host(&page, root.path(), "loot", &["--seats", "2", "--option", "target=1", "--phones"]);
    phone.client.goto(&ticket.link(true).expect("the host has a door").url).await.unwrap();
    phone.until("welcome", "Your name at the table?").await;
    assert!(phone.touches("return document.getElementById('typed')").await);
    let name: Vec<char> = "Cleo".chars().collect();
    phone.keys(&[&name[..], &[ENTER]].concat()).await;
    phone.shows(|text| text.contains("not ready yet")).await;
    // A button that has just appeared takes no press: it could have been meant for another.
    let began = Instant::now();
    while phone.text().await.contains("not ready yet") {
        assert!(began.elapsed() < PATIENCE, "no touch makes ready");
        phone.presses(Some("ready")).await;
    }
    phone.shows(is_back).await;
    let fits = "const page = document.documentElement;
        const low = [...document.querySelectorAll('#buttons button')].filter((b) => b.getBoundingClientRect().height < 44);
        return page.scrollWidth <= innerWidth && page.scrollHeight <= innerHeight && low.length === 0";
    assert_eq!(phone.script(fits).await, true);
    let saved = phone.plays_by_touch().await;
    assert!(saved == transcript(&mut host), "the transcripts differ");
    phone.client.clone().close().await.unwrap();
}

/// A browser without a seat watches a game to its end. It joins by a pasted ticket, from a page without one.
#[tokio::test(flavor = "multi_thread")]
async fn browser_watches_a_game() {
    let Some(page) = page() else { return };
    let Some(browser) = start().await else { return };
    let root = TempDir::new().unwrap();
    let (mut host, ticket) = host(&page, root.path(), "plutonian-poker", &["--seats", "2"]);
    let link = ticket.link(true).expect("the host has a door").url;
    let (door, _) = link.split_once("/#").unwrap();
    browser.client.goto(&door.replace("127.0.0.1", "localhost")).await.unwrap();
    browser.until("home", "join with a ticket").await;
    browser.keys(&['w']).await;
    browser.until("watch", "ticket").await;
    browser.pastes(&ticket.to_string()).await;
    browser.keys(&[ENTER]).await;
    browser.shows(|text| text.contains("lobby")).await;
    let guest = ["bot", "join", &ticket.to_string(), "--json", "--listen", TCP];
    let mut guest = Program::start(root.path(), "guest", &guest);
    browser.shows(|text| text.contains("The game is over")).await;
    assert!(transcript(&mut host) == transcript(&mut guest));
    browser.client.clone().close().await.unwrap();
}

/// Times of a guest as the host sees them.
struct Measured {
    /// Until it has its seat.
    seated: Duration,
    /// From its readiness until the first turn.
    dealt: Duration,
    /// The middle one of the host's own moves: until this guest has done its part, too.
    moved: Option<Duration>,
}

/// Number of own moves of the host that are measured.
const MOVES: usize = 25;

fn median(mut moves: Vec<Duration>) -> Option<Duration> {
    moves.sort();
    moves.get(moves.len() / 2).copied()
}

/// A program joins, and plays so many moves.
fn measured_program(host: &mut Program, ticket: &Ticket, root: &Path, moves: usize) -> Measured {
    let began = Instant::now();
    let join = ["bot", "join", &ticket.to_string(), "--json", "--listen", TCP, "--bot-delay", "0"];
    let _guest = Program::start(root, "guest", &join);
    host.wait_for("seated").unwrap();
    let (seated, ready) = (began.elapsed(), Instant::now());
    host.wait_for("turn").expect("the game begins");
    let dealt = ready.elapsed();
    while host.own_moves().len() < moves && host.wait_for_matching(|event| event["event"] == "turn").is_some() {}
    Measured { seated, dealt, moved: median(host.own_moves()) }
}

/// A page opens a link, and plays so many moves of the host's. Its time until it is seated is that from its first byte to
/// the first screen, and from the name to the seat.
async fn measured_page(host: &mut Program, ticket: &Ticket, browser: &Browser, moves: usize) -> Measured {
    browser.client.goto(&ticket.link(true).expect("the host has a door").url).await.unwrap();
    browser.until("welcome", "Your name at the table?").await;
    let since_first_byte = "const [page] = performance.getEntriesByType('navigation');
        return performance.now() - page.responseStart";
    let shown = browser.script(since_first_byte).await.as_f64().unwrap();
    let named = Instant::now();
    browser.keys(&[ENTER]).await;
    host.wait_for("seated").unwrap();
    let seated = Duration::from_secs_f64(shown / 1000.0) + named.elapsed();
    browser.shows(|text| text.contains("not ready yet")).await;
    let ready = Instant::now();
    browser.keys(&['r']).await;
    host.wait_for("turn").expect("the game begins");
    let dealt = ready.elapsed();
    while host.own_moves().len() < moves && browser.acts().await.is_some() {
        // The host moves meanwhile, and no driver asks the page what it shows.
        sleep(Duration::from_millis(150)).await;
        host.catch_up();
    }

    Measured { seated, dealt, moved: median(host.own_moves()) }
}

/// A terminal's guest and a browser's get their seats and cards. `FAIRDEAL_MEASURE` prints how fast, for docs/performance.md,
/// and how fast they move, in all games, and holds a browser to a second and a half for the seat.
#[tokio::test(flavor = "multi_thread")]
async fn guests_are_seated_side_by_side() {
    let Some(page) = page() else { return };
    let Some(browser) = start().await else { return };
    let measures = std::env::var_os("FAIRDEAL_MEASURE").is_some();
    let moves = if measures { MOVES } else { 0 };
    let games = ["plutonian-poker", "loot", "houses-of-thoth", "sphinxs-paw"];
    for game in games.into_iter().take(if measures { games.len() } else { 1 }) {
        let root = TempDir::new().unwrap();
        let more = ["--seats", "2", "--bot-delay", "0", "--level", "gentle"];
        let (mut host, ticket) = host(&page, &root.path().join("one"), game, &more);
        let program = measured_program(&mut host, &ticket, root.path(), moves);
        let (mut host, ticket) = self::host(&page, &root.path().join("two"), game, &more);
        let seat = measured_page(&mut host, &ticket, &browser, moves).await;
        if measures {
            for (name, Measured { seated, dealt, moved }) in [("terminal", &program), ("browser", &seat)] {
                println!("{game} {name}: seated {seated:.0?}, dealt {dealt:.0?}, a move {:.1?}", moved.unwrap());
            }
            assert!(seat.seated < Duration::from_millis(1500), "{:?}", seat.seated);
        }
    }
    browser.client.clone().close().await.unwrap();
}
