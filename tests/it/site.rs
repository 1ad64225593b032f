//! The site: every command of its pages is run, as a reader would in one folder with the sample game. Those that open the
//! interface run in a terminal until it is there; names of recipes and packages for contributors have to exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use portable_pty::CommandBuilder;
use regex::Regex;
use tempfile::TempDir;

use super::process::Program;
use super::screen::{Player, terminals_work};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The commands of a page, in order, each with its exit status.
fn commands(page: &str) -> Vec<(String, i32)> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let lines = text.split("```sh\n").skip(1).flat_map(|block| block.split("```").next().unwrap().lines());
    let commands = lines.map(|line| {
        let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
        let status = comment.strip_prefix("exits with ").map_or(0, |status| status.parse().unwrap());
        (command.trim().to_owned(), status)
    });
    commands.collect()
}

/// Where programs of a reader listen.
const HERE: &str = "/ip4/127.0.0.1/tcp/0";
/// Where the pages have the metrics of a relay.
const METRICS: &str = "127.0.0.1:9464";

/// Whether a command opens the interface.
fn opens_a_screen(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match words {
        ["fairdeal" | "./fairdeal"] => true,
        ["fairdeal", "play" | "host" | "watch" | "resume", ..] => true,
        ["fairdeal", "join", ..] | ["fairdeal", "puzzle", ..] => !has("--list"),
        ["fairdeal", "replay", ..] => !has("--svg") && !has("--page"),
        _ => false,
    }
}

/// A reader's folder, and the programs of other people.
struct Reader {
    folder: TempDir,
    /// Where the reader is.
    at: PathBuf,
    others: Vec<Program>,
    players: Vec<Player>,
    /// Values of the placeholders.
    known: BTreeMap<&'static str, String>,
    /// Whether the reader is one player, who closes each window before the next one: a keeper holds the seats.
    is_kept: bool,
}

/// No keeper outlives the reader.
impl Drop for Reader {
    fn drop(&mut self) {
        if self.is_kept {
            let mut stop = Command::new(env!("CARGO_BIN_EXE_fairdeal"));
            let _ = stop.args(["keep", "--stop", "--data-dir"]).arg(self.data()).output();
        }
    }
}

impl Reader {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let sample = root().join("tests/it/transcripts/loot.fairdeal");
        fs::copy(sample, folder.path().join("game.fairdeal")).unwrap();
        std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).unwrap();
        Self {
            at: folder.path().to_owned(),
            folder,
            others: Vec::new(),
            players: Vec::new(),
            known: BTreeMap::new(),
            is_kept: false,
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The command with its placeholders filled in by somebody else's table or relay.
    fn filled(&mut self, command: &str) -> String {
        for place in ["TICKET", "ADDRESS"] {
            if !command.contains(place) || self.known.contains_key(place) {
                continue;
            }
            let value = if place == "TICKET" {
                let args = ["host", "loot", "--seats", "2", "--headless", "--json", "--no-lan", "--listen", HERE];
                let mut host = Program::start(self.folder.path(), "host", &args);
                let ticket = host.ticket();
                self.others.push(host);
                ticket
            } else {
                self.runs_relay(&[]);
                continue;
            };
            self.known.insert(place, value);
        }
        let filled = self.known.iter().fold(command.to_owned(), |text, (place, value)| text.replace(place, value));
        // Nothing here is for the network outside.
        let words: Vec<&str> = filled.split_whitespace().collect();
        match words.as_slice() {
            ["fairdeal", "host", ..] => format!("{filled} --no-lan --listen {HERE}"),
            ["fairdeal", "join", ..] if !words.contains(&"--list") => format!("{filled} --listen {HERE}"),
            ["fairdeal", "bot", "join", ..] => format!("{filled} --listen {HERE}"),
            _ => filled,
        }
    }

    /// Starts a relay, which serves until the reader has finished.
    fn runs_relay(&mut self, options: &[&str]) {
        let name = format!("relay-{}", self.others.len());
        // Any port for metrics: other tests run beside this one.
        let options = options.iter().map(|word| if *word == METRICS { "127.0.0.1:0" } else { word });
        let args: Vec<&str> = ["relay", "--listen", HERE].into_iter().chain(options).collect();
        let mut relay = Program::start(self.folder.path(), &name, &args);
        loop {
            let line = relay.line().expect("it says where it listens");
            if let Some(metrics) = line.strip_prefix("Metrics: http://") {
                let (server, _) = metrics.split_once('/').unwrap();
                self.known.insert(METRICS, server.to_owned());
            } else if line.contains("/p2p/") {
                let address = line.split_whitespace().next().unwrap();
                self.known.entry("ADDRESS").or_insert_with(|| address.to_owned());
                break;
            }
        }
        self.others.push(relay);
    }

    /// Ada and Ben write the address of a meeting point into their settings.
    fn knows_a_point(&mut self) {
        self.runs_relay(&[]);
        let settings = format!("meet = [\"{}\"]\n", self.known["ADDRESS"]);
        for (name, folder) in [("Ada", "data"), ("Ben", "ben")] {
            let file = self.folder.path().join(folder).join("settings.toml");
            fs::write(file, format!("name = \"{name}\"\n{settings}")).unwrap();
        }
    }

    fn runs(&mut self, command: &str, status: i32) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            // packaging/check.sh installs the package.
            ["sudo", "apt", ..] => return,
            ["cd", folder] => {
                let (start, end) = folder.split_once('*').unwrap_or((folder, ""));
                let fits = |name: &str| name.starts_with(start) && name.ends_with(end);
                let entries = fs::read_dir(&self.at).unwrap().map(|entry| entry.unwrap().path());
                let mut found =
                    entries.filter(|path| path.is_dir() && fits(path.file_name().unwrap().to_str().unwrap()));
                self.at = found.next().unwrap();
                return;
            }
            ["just", recipe, ..] => {
                let recipes = fs::read_to_string(root().join("justfile")).unwrap();
                let named = Regex::new(&format!(r"(?m)^{recipe}\b[^\n]*:")).unwrap();
                assert!(named.is_match(&recipes), "no recipe {recipe}");
                return;
            }
            ["fairdeal", "relay", options @ ..] if !options.contains(&"--health") => return self.runs_relay(options),
            ["fairdeal", "resume"] if self.is_kept => self.knows_a_point(),
            _ => {}
        }
        let filled = self.filled(command);
        if opens_a_screen(&words) {
            let words: Vec<&str> = filled.split_whitespace().collect();
            let mut program = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
            program.args(&words[1..]);
            program.cwd(&self.at);
            // Each is another person, who stays.
            let other = self.folder.path().join(format!("player-{}", self.players.len()));
            let data = if self.is_kept { self.data() } else { other };
            let mut player = Player::starts(&data, program);
            player.sees("interface", |shown| {
                shown.contains("fairdeal ▌") || shown.contains("Tables at the meeting point") && shown.contains("Loot")
            });
            if self.is_kept {
                player.is_told("TERM");
                player.ends();
            } else {
                self.players.push(player);
            }
            return;
        }
        let is_bens = ["letter in for-ben", "letter in loot", "--to Ada"].iter().any(|words| filled.contains(words));
        let bin = Path::new(env!("CARGO_BIN_EXE_fairdeal")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", &filled])
            .current_dir(&self.at)
            .env("PATH", path)
            .env("FAIRDEAL_DATA_DIR", if is_bens { self.folder.path().join("ben") } else { self.data() })
            .env("FAIRDEAL_PAGE", root().join("web/page/page.html"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        // What the doctor finds depends on the machine.
        let expected = if words[1] == "doctor" { [0, 1] } else { [status; 2] };
        let (told, said) = (&output.stderr, &output.stdout);
        assert!(
            expected.contains(&output.status.code().unwrap()),
            "{filled}: {:?}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(said),
            String::from_utf8_lossy(told)
        );
    }
}

fn follows(mut reader: Reader, page: &str, least: usize) {
    let commands = commands(page);
    assert!(commands.len() >= least, "{commands:?}");
    if !terminals_work() {
        return;
    }
    for (command, status) in commands {
        reader.runs(&command, status);
    }
}

#[test]
fn claims_of_the_first_page_are_shown_by_their_commands() {
    follows(Reader::new(), "index.md", 10);
}

/// The package is of this build; packaging/check.sh follows the page with the real ones.
#[test]
fn commands_of_installing_work() {
    let reader = Reader::new();
    let pack = "mkdir fairdeal-0-linux-musl && cp \"$0\" fairdeal-0-linux-musl/fairdeal &&
        tar -cf - fairdeal-0-linux-musl | gzip -1 >fairdeal-0-linux-musl.tar.gz && rm -r fairdeal-0-linux-musl &&
        sha256sum *.tar.gz >SHA256SUMS";
    let mut packing = Command::new("sh");
    packing.args(["-c", pack, env!("CARGO_BIN_EXE_fairdeal")]).current_dir(reader.folder.path());
    assert!(packing.status().unwrap().success());
    follows(reader, "install.md", 9);
}

#[test]
fn commands_for_players_work() {
    follows(Reader::new(), "play.md", 10);
}

#[test]
fn commands_for_play_over_days_work() {
    let mut reader = Reader::new();
    for (data, name) in [(reader.data(), "Ada"), (reader.folder.path().join("ben"), "Ben")] {
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("settings.toml"), format!("name = \"{name}\"\n")).unwrap();
    }
    reader.is_kept = true;
    follows(reader, "slow-play.md", 17);
}

#[test]
fn commands_for_auditors_work() {
    follows(Reader::new(), "verify.md", 4);
}

#[test]
fn commands_for_bot_writers_work() {
    follows(Reader::new(), "bots.md", 4);
}

#[test]
fn commands_for_meeting_points_work() {
    follows(Reader::new(), "meeting-points.md", 6);
}

/// Every page is in the table of contents, and every entry there is a page.
#[test]
fn site_has_every_page() {
    let docs = root().join("docs");
    let contents = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let link = Regex::new(r"\]\(([^)]+)\)").unwrap();
    let listed: Vec<&str> = link.captures_iter(&contents).map(|found| found.get(1).unwrap().as_str()).collect();
    for page in &listed {
        assert!(docs.join(page).exists(), "{page}");
    }
    for folder in [docs.clone(), docs.join("rules"), docs.join("decisions")] {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.strip_prefix(&docs).unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".md") && name != "SUMMARY.md" {
                assert!(listed.contains(&name.as_str()), "{name} is in no part of the site");
            }
        }
    }
}

/// Links between pages lead to pages and headings that exist. Files that `just site` adds are named here.
#[test]
fn links_of_the_site_lead_somewhere() {
    const ADDED: [&str; 2] = ["fairdeal.html", "game.fairdeal"];
    let docs = root().join("docs");
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    for page in ["index.md", "install.md", "play.md", "verify.md", "meeting-points.md", "decisions.md"] {
        let text = fs::read_to_string(docs.join(page)).unwrap();
        for found in link.captures_iter(&text) {
            let (file, heading) = found[1].split_once('#').unwrap_or((&found[1], ""));
            if file.starts_with("https://") || ADDED.contains(&file) {
                continue;
            }
            let target = fs::read_to_string(docs.join(file)).unwrap_or_else(|_| panic!("{page}: {file}"));
            let slug = |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            let mut headings = target.lines().filter(|line| line.starts_with('#')).map(slug);
            assert!(heading.is_empty() || headings.any(|found| found == heading), "{page}: {file}#{heading}");
        }
    }
}
