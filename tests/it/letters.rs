//! Games by letter: seats that are never online together, and letters that are lost, late, repeated and opened by others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fairdeal::drive::letters::Desk;
use fairdeal::drive::saved::{open_seats, saved_tables};
use fairdeal::store::{DataDir, StoreError, transcripts_in};
use fairdeal_games::bot;
use fairdeal_games::bots::Level;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::view::Snapshot;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use tempfile::TempDir;

use super::keep::{Person, agrees, begun};
use super::process::fairdeal;

/// A player at home, with the letters that have come.
pub(super) struct Home {
    data: PathBuf,
    came: Vec<Vec<u8>>,
    transcript: Option<PathBuf>,
    acted: usize,
}

impl Home {
    pub(super) fn new(data: PathBuf) -> Self {
        Self { data, came: Vec::new(), transcript: None, acted: 0 }
    }

    /// A letter has come.
    pub(super) fn gets(&mut self, sealed: Vec<u8>) {
        self.came.push(sealed);
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.data
    }

    /// The transcript, once the game is over here.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        let ends = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "fairdeal");
        self.transcript.clone().or_else(|| transcripts_in(&self.data.join("transcripts")).ok()?.into_iter().find(ends))
    }

    /// Acts as long as it is this player's turn. Returns whether it was.
    pub(super) fn acts(&mut self, rng: &mut ChaCha20Rng) -> bool {
        let before = self.acted;
        self.visits(rng);
        self.acted > before
    }

    /// The data directory. A program that another test starts at this moment holds open files of this one until it runs.
    pub(super) fn data(&self) -> Arc<DataDir> {
        loop {
            match DataDir::open(Some(&self.data)) {
                Err(StoreError::InUse { .. }) => std::thread::yield_now(),
                data => return Arc::new(data.unwrap()),
            }
        }
    }

    /// Puts a copy of the journal in its place.
    pub(super) fn came_from_a_copy(&self) {
        let data = self.data();
        for (_, seats) in saved_tables(&data, None).unwrap() {
            let journal = &seats[0].0.path;
            let copy = journal.with_extension("copy");
            std::fs::copy(journal, &copy).unwrap();
            std::fs::rename(&copy, journal).unwrap();
        }
    }

    /// Reads what has come, in any order and some of it twice, acts as long as it is this player's turn, and writes to all
    /// others.
    pub(super) fn visits(&mut self, rng: &mut ChaCha20Rng) -> BTreeMap<Seat, Vec<u8>> {
        let data = self.data();
        let identity = data.identity().unwrap();
        let Some(table) = saved_tables(&data, Some("")).unwrap_or_default().pop() else { return BTreeMap::new() };
        let letters: Vec<Vec<u8>> = self.came.drain(..).collect();
        let opened = open_seats(&data, table).unwrap().remove(0);
        let mut desk = Desk::open(&data, opened, &identity, &letters).unwrap();
        let mut now: Option<Box<Snapshot>> = None;
        let mut told = desk.told();
        let mut order: Vec<usize> = (0..letters.len()).chain(0..letters.len() / 2).collect();
        for place in 0..order.len() {
            let other = usize::try_from(rng.next_u32()).unwrap() % order.len();
            order.swap(place, other);
        }
        for place in order {
            let read = desk.read(&letters[place]).unwrap();
            assert_eq!(read.refused, Vec::<String>::new());
            told.extend(read.told);
            // At times the program is closed between two letters.
            if rng.next_u32().is_multiple_of(4) {
                desk.close();
                let over = told.iter().find_map(|event| match event {
                    SessionEvent::Over { transcript, .. } => transcript.clone(),
                    _ => None,
                });
                self.transcript = self.transcript.take().or(over);
                // The journal goes once all have confirmed the end.
                let Some(table) = saved_tables(&data, Some("")).unwrap_or_default().pop() else {
                    return BTreeMap::new();
                };
                let opened = open_seats(&data, table).unwrap().remove(0);
                desk = Desk::open(&data, opened, &identity, &letters).unwrap();
            }
        }
        loop {
            told.extend(desk.told());
            for event in told.drain(..) {
                match event {
                    SessionEvent::Snapshot(view) => now = Some(view),
                    SessionEvent::Over { transcript, .. } => self.transcript = transcript,
                    SessionEvent::Refused(why) => panic!("{why}"),
                    _ => {}
                }
            }
            let Some(view) = now.take_if(|now| now.my_turn && !now.game.is_over()) else { break };
            let action = bot(Level::Normal).choose(&view.game, view.me.unwrap(), &view.known, rng);
            desk.command(Command::Act(action.unwrap())).unwrap();
            self.acted += 1;
        }
        let readers = desk.readers().to_vec().into_iter().map(|(seat, _)| seat);
        let letters = readers.filter_map(|seat| Some((seat, desk.write(seat).ok()?.sealed))).collect();
        desk.close();
        letters
    }
}

/// One visit of a player, whose letters all come.
fn deliver(homes: &mut [Home], turn: usize, rng: &mut ChaCha20Rng) {
    for (seat, letter) in homes[turn].visits(rng) {
        homes[seat.index()].came.push(letter);
    }
}

fn visit_all(homes: &mut [Home], rng: &mut ChaCha20Rng) {
    (0..homes.len()).for_each(|turn| deliver(homes, turn, rng));
}

/// Plays a table that has begun to its end by letters alone. One in `lost` is lost; 0 loses none. Returns the visits.
pub(super) fn by_letters(homes: &mut [Home], seed: u64, lost: u32) -> usize {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut visits = 0;
    while homes.iter().any(|home| home.transcript.is_none()) {
        let turn = visits % homes.len();
        let letters = homes[turn].visits(&mut rng);
        for (seat, letter) in letters {
            assert!([1, 4, 16].contains(&(letter.len() >> 10)) || letter.len() % (64 << 10) == 0, "{}", letter.len());
            if lost == 0 || rng.next_u32() % lost != 0 {
                homes[seat.index()].came.push(letter);
            }
        }
        visits += 1;
        assert!(visits < 5_000, "the game does not end");
    }
    visits
}

pub(super) async fn homes(root: &Path, game: &str, names: &[&str], options: &[(&str, &str)]) -> Vec<Home> {
    let persons: Vec<Person> = names.iter().map(|name| Person::new(root, name)).collect();
    let data: Vec<PathBuf> = persons.iter().map(Person::data).collect();
    begun(persons, game, options).await;
    data.into_iter().map(Home::new).collect()
}

pub(super) fn are_fair(homes: &[Home]) {
    for home in homes {
        assert!(home.acted > 0);
        let verdict = fairdeal().arg("verify").arg(home.transcript().unwrap()).output().unwrap();
        assert!(verdict.status.success(), "{verdict:?}");
    }
    agrees(&homes[0].transcript().unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_finish_a_game_by_letters_alone() {
    let root = TempDir::new().unwrap();
    let options = [("target", "20"), ("turn-time", "604800")];
    let mut homes = homes(root.path(), "loot", &["Anna", "Béla"], &options).await;
    by_letters(&mut homes, 1, 0);
    are_fair(&homes);
}

/// Half of the letters never come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_finish_a_game_by_letters_of_which_half_are_lost() {
    let root = TempDir::new().unwrap();
    for (game, options) in [("loot", &[("target", "1"), ("turn-time", "604800")][..]), ("plutonian-poker", &[])] {
        let mut homes = homes(&root.path().join(game), game, &["Anna", "Béla", "Cleo"], options).await;
        by_letters(&mut homes, 2, 2);
        are_fair(&homes);
    }
}

/// The commands, as two friends would run them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_are_files_for_one_reader() {
    let root = TempDir::new().unwrap();
    let mut homes = homes(root.path(), "plutonian-poker", &["Anna", "Béla", "Cleo"], &[]).await;
    let letter = |data: &Path, args: &[&str]| {
        let output = fairdeal().arg("--data-dir").arg(data).arg("letter").args(args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    let [anna, bela, cleo] = [0, 1, 2].map(|seat: usize| homes[seat].data.clone());
    let file = root.path().join("letter");
    let path = file.to_str().unwrap();
    let (code, text) = letter(&anna, &["out", "-o", path]);
    assert!(code == Some(2) && text.contains("choose one with --to: 1 (Béla) and 2 (Cleo)"), "{text}");
    let (code, text) = letter(&anna, &["out", "--to", "Dora", "-o", path]);
    assert!(code == Some(2) && text.contains("'Dora' names no other seat"), "{text}");
    let (code, text) = letter(&anna, &["out", "--to", "béla", "-o", path]);
    assert!(
        code == Some(0) && text.contains("A letter for Béla: ") && text.contains(" KiB. Béla reads it with"),
        "{text}"
    );
    let (code, text) = letter(&anna, &["out", "--to", "1", "-o", path]);
    assert!(code == Some(2) && text.contains("--force"), "{text}");
    // Not for Cleo, not for its writer, and not once a byte has changed.
    for reader in [&cleo, &anna] {
        let (code, text) = letter(reader, &["in", path]);
        assert!(code == Some(2) && text.contains("fits none of your games"), "{text}");
    }
    let sealed = std::fs::read(&file).unwrap();
    let changed = root.path().join("changed");
    for place in [0, 9, 40, 90, sealed.len() / 2, sealed.len() - 1] {
        let mut bytes = sealed.clone();
        bytes[place] ^= 1;
        std::fs::write(&changed, bytes).unwrap();
        assert_eq!(letter(&bela, &["in", changed.to_str().unwrap()]).0, Some(2), "{place}");
    }
    for cut in [0, 7, 100, sealed.len() - 1] {
        std::fs::write(&changed, &sealed[..cut]).unwrap();
        let (code, text) = letter(&bela, &["in", changed.to_str().unwrap()]);
        assert!(code == Some(2) && text.contains("not a whole fairdeal letter"), "{text}");
    }
    // Twice does no harm, and the seat may sign at once afterwards.
    for is_new in [true, false] {
        let (code, text) = letter(&bela, &["in", path]);
        assert!(code == Some(0) && text.starts_with("A letter from Anna:"), "{text}");
        assert!(is_new || text.contains("nothing new") && text.contains("If you have not yet, write to"), "{text}");
    }
    assert!(letter(&bela, &["out", "--to", "anna", "--force", "-o", path]).0 == Some(0));
    let (code, text) = letter(&anna, &["in", path]);
    assert!(code == Some(0) && text.starts_with("A letter from Béla:"), "{text}");
    by_letters(&mut homes, 5, 0);
    are_fair(&homes);
}

/// A player's program crashes, or its data is a copy: it asks the others by letter what it has signed, and signs nothing
/// before each has answered. Meanwhile it may be closed as often as one likes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_a_program_asks_by_letter() {
    let root = TempDir::new().unwrap();
    let options = [("target", "1"), ("turn-time", "604800")];
    let mut homes = homes(root.path(), "loot", &["Anna", "Béla", "Cleo"], &options).await;
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    for _ in 0..3 {
        visit_all(&mut homes, &mut rng);
    }
    for home in &homes {
        home.came_from_a_copy();
    }
    let acted: Vec<usize> = homes.iter().map(|home| home.acted).collect();
    // One by one: the first visit only asks, whoever is to act.
    for turn in 0..homes.len() {
        deliver(&mut homes, turn, &mut rng);
        assert_eq!(homes[turn].acted, acted[turn], "{turn} acts without having asked");
    }
    by_letters(&mut homes, 6, 2);
    are_fair(&homes);
}

/// A copy of a player's data plays on elsewhere, and then the original gets the others' letters: it sees that it does not
/// know what it has signed, and asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_original_whose_copy_has_played_on_asks() {
    let root = TempDir::new().unwrap();
    let options = [("turn-time", "604800")];
    let mut homes = homes(root.path(), "plutonian-poker", &["Anna", "Béla"], &options).await;
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for _ in 0..3 {
        visit_all(&mut homes, &mut rng);
    }
    let (original, copy) = (homes[0].data.clone(), root.path().join("copy"));
    let copied = std::process::Command::new("cp").arg("-r").args([&original, &copy]).status().unwrap();
    assert!(copied.success());
    homes[0].data = copy;
    for _ in 0..6 {
        visit_all(&mut homes, &mut rng);
    }
    let acted = homes[0].acted;
    homes[0].data = original;
    deliver(&mut homes, 0, &mut rng);
    assert_eq!(homes[0].acted, acted, "it acts without having asked");
    by_letters(&mut homes, 8, 0);
    are_fair(&homes);
}

/// The figures of docs/performance.md: `FAIRDEAL_VISITS=5 cargo test --test it -- letters::visits --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visits_of_a_hand_are_counted_on_request() {
    let Some(runs) = std::env::var("FAIRDEAL_VISITS").ok().and_then(|runs| runs.parse::<u64>().ok()) else { return };
    let root = TempDir::new().unwrap();
    let names = ["Anna", "Béla", "Cleo", "Dora"];
    for (game, seats) in [("loot", 2), ("loot", 3), ("loot", 4), ("plutonian-poker", 2), ("plutonian-poker", 4)] {
        let options = [("target", "1"), ("turn-time", "604800")];
        let options = if game == "loot" { &options[..] } else { &options[1..] };
        let (mut visits, mut acted) = (0, 0);
        for seed in 0..runs {
            let mut homes =
                homes(&root.path().join(format!("{game}-{seats}-{seed}")), game, &names[..seats], options).await;
            visits += by_letters(&mut homes, seed, 0);
            acted += homes.iter().map(|home| home.acted).sum::<usize>();
        }
        let hands = seats * usize::try_from(runs).unwrap();
        eprintln!("{game}, {seats} seats: {} visits and {} actions of each seat", visits / hands, acted / hands);
    }
}
