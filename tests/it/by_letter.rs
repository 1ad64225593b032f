//! Tables that begin by letter: seats that are never online together, from the invitation to the transcript.

use std::path::{Path, PathBuf};

use fairdeal::store::DataView;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use tempfile::TempDir;

use super::keep::Person;
use super::kept_letters::{goes_on_by_files, runs, tries};
use super::letters::{Home, are_fair, by_letters};

/// A player before the game.
struct Guest {
    name: &'static str,
    data: PathBuf,
    /// The letters that have come.
    came: Vec<Vec<u8>>,
}

impl Guest {
    fn new(root: &Path, name: &'static str) -> Self {
        Self { name, data: root.join(name), came: Vec::new() }
    }

    fn has_begun(&self) -> bool {
        !DataView::of(Some(&self.data)).unwrap().journals().unwrap().is_empty()
    }

    fn letter(&self, args: &[&str]) -> Result<String, String> {
        tries(&self.data, &[&["--name", self.name, "letter"], args].concat())
    }
}

/// The first one invites, and all write and read in any order until the table has begun for everybody. One letter in `lost`
/// is lost, and some come twice.
fn begins(root: &Path, names: &[&'static str], invite: &[&str], (seed, lost): (u64, u32)) -> Vec<Home> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut guests: Vec<Guest> = names.iter().map(|name| Guest::new(root, name)).collect();
    let (invitation, file) = (root.join("invitation"), root.join("letter"));
    let [invited, letter] = [&invitation, &file].map(|path| path.to_str().unwrap());
    guests[0].letter(&[&["invite"], invite, &["-o", invited]].concat()).unwrap();
    for guest in &guests[1..] {
        let said = guest.letter(&["in", invited]).unwrap();
        assert!(said.starts_with(&format!("An invitation from {}:", names[0])), "{said}");
    }
    let mut visits = 0;
    while guests.iter().any(|guest| !guest.has_begun()) {
        let turn = usize::try_from(rng.next_u32()).unwrap() % guests.len();
        for sealed in std::mem::take(&mut guests[turn].came) {
            for _ in 0..=rng.next_u32() % 2 {
                std::fs::write(&file, &sealed).unwrap();
                guests[turn].letter(&["in", letter]).unwrap();
            }
        }
        for (other, name) in names.iter().enumerate() {
            // To write to oneself, or before the host knows somebody, is refused.
            let written = guests[turn].letter(&["out", "--to", name, "--force", "-o", letter]);
            if written.is_ok() && (lost == 0 || rng.next_u32() % lost != 0) {
                guests[other].came.push(std::fs::read(&file).unwrap());
            }
        }
        visits += 1;
        assert!(visits < 500, "the table does not begin");
    }
    // Guests sit in the order in which the host has read their first letters.
    guests.sort_by_key(|guest| DataView::of(Some(&guest.data)).unwrap().journals().unwrap()[0].seat);
    guests.into_iter().map(|guest| Home::new(guest.data)).collect()
}

#[test]
fn two_begin_and_finish_by_letters_alone() {
    let root = TempDir::new().unwrap();
    let mut homes = begins(root.path(), &["Anna", "Béla"], &["loot", "--option", "target=1"], (1, 0));
    by_letters(&mut homes, 1, 0);
    are_fair(&homes);
}

/// Half of the letters never come, before the game and in it.
#[test]
fn three_begin_and_finish_with_half_of_the_letters_lost() {
    let root = TempDir::new().unwrap();
    let invite = ["plutonian-poker", "--seats", "3"];
    let mut homes = begins(root.path(), &["Anna", "Béla", "Cleo"], &invite, (2, 2));
    by_letters(&mut homes, 2, 2);
    are_fair(&homes);
}

/// Three players, and a program that is started and closed for each letter: after a few rounds somebody is to act.
#[test]
fn each_letter_may_have_a_program_of_its_own() {
    let root = TempDir::new().unwrap();
    let names = ["Anna", "Béla", "Cleo"];
    begins(root.path(), &names, &["plutonian-poker", "--seats", "3"], (6, 0));
    let players = names.map(|name| Guest::new(root.path(), name));
    let file = root.path().join("letter");
    let path = file.to_str().unwrap();
    for _ in 0..8 {
        for writer in &players {
            for reader in players.iter().filter(|reader| reader.name != writer.name) {
                writer.letter(&["out", "--to", reader.name, "--force", "-o", path]).unwrap();
                if reader.letter(&["in", path]).unwrap().contains("It is your turn") {
                    return;
                }
            }
        }
    }
    panic!("nobody comes to act");
}

/// Anna has read Béla's first letter; her next one begins their table. Letters go by the file that is returned.
fn before_the_table(root: &Path) -> (Guest, Guest, PathBuf) {
    let [anna, bela] = ["Anna", "Béla"].map(|name| Guest::new(root, name));
    let file = root.join("letter");
    let path = file.to_str().unwrap();
    anna.letter(&["invite", "plutonian-poker", "-o", path]).unwrap();
    bela.letter(&["in", path]).unwrap();
    bela.letter(&["out", "--force", "-o", path]).unwrap();
    anna.letter(&["in", path]).unwrap();
    (anna, bela, file)
}

/// A lobby that was copied may have begun elsewhere: the seat asks the others before it signs anything.
#[test]
fn table_of_a_copied_lobby_asks_first() {
    let root = TempDir::new().unwrap();
    let (anna, bela, file) = before_the_table(root.path());
    let path = file.to_str().unwrap();
    for lobby in std::fs::read_dir(bela.data.join("lobbies")).unwrap().map(|entry| entry.unwrap().path()) {
        if lobby.extension().is_some_and(|end| end == "lobby") {
            let copy = lobby.with_extension("copy");
            std::fs::copy(&lobby, &copy).unwrap();
            std::fs::rename(&copy, &lobby).unwrap();
        }
    }
    anna.letter(&["out", "--force", "-o", path]).unwrap();
    let said = bela.letter(&["in", path]).unwrap();
    if cfg!(unix) {
        assert!(said.contains("All have signed") && said.contains("asks the others what it has signed"), "{said}");
    }
    let mut homes: Vec<Home> = [anna, bela].map(|guest| Home::new(guest.data)).into();
    by_letters(&mut homes, 3, 0);
    are_fair(&homes);
}

/// Béla's whole data directory is put back to before the table began: it asks what it has signed since.
#[test]
fn restored_lobby_signs_no_place_twice() {
    let root = TempDir::new().unwrap();
    let (anna, bela, file) = before_the_table(root.path());
    let path = file.to_str().unwrap();
    anna.letter(&["out", "--force", "-o", path]).unwrap();
    let begins = std::fs::read(&file).unwrap();
    let backup = root.path().join("backup");
    let copies = |from: &Path, to: &Path| {
        let status = std::process::Command::new("cp").arg("-r").args([from, to]).status();
        assert!(status.unwrap().success());
    };
    copies(&bela.data, &backup);
    // They play some steps.
    bela.letter(&["in", path]).unwrap();
    for _ in 0..3 {
        bela.letter(&["out", "--force", "-o", path]).unwrap();
        anna.letter(&["in", path]).unwrap();
        anna.letter(&["out", "--force", "-o", path]).unwrap();
        bela.letter(&["in", path]).unwrap();
    }
    std::fs::remove_dir_all(&bela.data).unwrap();
    copies(&backup, &bela.data);
    std::fs::write(&file, begins).unwrap();
    let said = bela.letter(&["in", path]).unwrap();
    assert!(said.contains("asks the others what it has signed"), "{said}");
    let mut homes: Vec<Home> = [anna, bela].map(|guest| Home::new(guest.data)).into();
    by_letters(&mut homes, 4, 0);
    are_fair(&homes);
}

/// Anna's keeper opens the lobby, reads the letter that begins the table, holds it from then on, and is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn table_begins_by_letter_beside_a_keeper() {
    let root = TempDir::new().unwrap();
    let mut anna = Person::new(root.path(), "Anna");
    let bela = Guest::new(root.path(), "Béla");
    let file = root.path().join("letter");
    let path = file.to_str().unwrap();
    let annas = |args: &[&str]| runs(&root.path().join("Anna"), &[&["letter"], args].concat());
    annas(&["invite", "plutonian-poker", "-o", path]);
    bela.letter(&["in", path]).unwrap();
    bela.letter(&["out", "--force", "-o", path]).unwrap();
    assert!(annas(&["list"]).contains("Plutonian Poker: "));
    anna.loses_keeper();
    assert!(annas(&["in", path]).contains("Béla has signed. To begin the game, write to Béla."));
    anna.loses_keeper();
    assert!(annas(&["out", "--force", "-o", path]).starts_with("All have signed: the game begins.\n"));
    assert_eq!(annas(&["list"]), "No table waits for letters to begin.\n");
    let table = anna.only_table().await;
    anna.loses_keeper();
    // It is lost; the next one has the same.
    assert!(annas(&["out", "--force", "-o", path]).starts_with("A letter for Béla: "));
    assert!(bela.letter(&["in", path]).unwrap().contains("All have signed: the game begins."));
    goes_on_by_files(root.path(), (anna, &table), Home::new(bela.data), 5, |_, _| {}).await;
}

/// Refusals, dismissals, and tables that are given up.
#[test]
fn others_get_no_seat_and_tables_are_given_up() {
    let root = TempDir::new().unwrap();
    let [anna, bela, cleo] = ["Anna", "Béla", "Cleo"].map(|name| Guest::new(root.path(), name));
    let (invitation, file) = (root.path().join("invitation"), root.path().join("letter"));
    let [invited, path] = [&invitation, &file].map(|path| path.to_str().unwrap());
    let why = anna.letter(&["invite", "ivory-tower", "-o", invited]).unwrap_err();
    assert_eq!(why, "fairdeal: this game has one seat; there is nobody to invite\n");
    anna.letter(&["invite", "loot", "--seats", "3", "-o", invited]).unwrap();
    let why = anna.letter(&["invite", "loot", "-o", invited]).unwrap_err();
    assert!(why.contains("--force"), "{why}");
    assert_eq!(anna.letter(&["list"]).unwrap().lines().count(), 1, "nothing was opened for it");
    // While nobody has a seat there is only the invitation to write.
    assert!(anna.letter(&["out", "-o", path]).unwrap().starts_with("An invitation: "));
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(&invitation).unwrap());
    let nowhere = root.path().join("nowhere/invitation");
    assert!(anna.letter(&["invite", "loot", "-o", nowhere.to_str().unwrap()]).is_err());
    assert_eq!(anna.letter(&["list"]).unwrap().lines().count(), 1, "it is given up at once");
    assert!(anna.letter(&["in", invited]).unwrap_err().contains("this is your own invitation"));
    // Damaged on its way.
    let mut bytes = std::fs::read(&invitation).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    assert!(
        bela.letter(&["in", path]).unwrap_err().contains("this is not a whole invitation to a table; ask for it again")
    );
    for guest in [&bela, &cleo] {
        // Twice does no harm.
        guest.letter(&["in", invited]).unwrap();
        guest.letter(&["in", invited]).unwrap();
        guest.letter(&["out", "--force", "-o", path]).unwrap();
        anna.letter(&["in", path]).unwrap();
    }
    let dora = Guest::new(root.path(), "Dora");
    dora.letter(&["in", invited]).unwrap();
    dora.letter(&["out", "--force", "-o", path]).unwrap();
    assert_eq!(anna.letter(&["in", path]).unwrap_err(), "fairdeal: Dora gets no seat: all seats are taken\n");
    let listed = dora.letter(&["list"]).unwrap();
    assert!(listed.contains("To take a seat, write back: Anna does not know of you yet."), "{listed}");
    let said = dora.letter(&["withdraw", &listed[..8]]).unwrap();
    assert_eq!(said, "The table is given up here. Tell Anna, who invited you.\n");
    assert_eq!(dora.letter(&["list"]).unwrap(), "No table waits for letters to begin.\n");
    // Cleo goes, and Dora comes.
    let number = anna.letter(&["list"]).unwrap()[..8].to_owned();
    let why = anna.letter(&["dismiss", &number]).unwrap_err();
    assert!(why.contains("several others play; choose one with --seat: 1 (Béla) and 2 (Cleo)"), "{why}");
    let said = anna.letter(&["dismiss", &number, "--seat", "cleo"]).unwrap();
    let expected = "Cleo no longer has a seat. Loot: Anna, Béla (new), a free seat. Wait for one more player: send them the \
                    invitation, and read what they write.\n";
    assert_eq!(said, expected);
    assert!(bela.letter(&["dismiss", &number]).unwrap_err().contains("you are a guest of this table"));
    cleo.letter(&["out", "--force", "-o", path]).unwrap();
    let why = anna.letter(&["in", path]).unwrap_err();
    assert_eq!(why, "fairdeal: Cleo gets no seat: you have dismissed this player\n");
    dora.letter(&["in", invited]).unwrap();
    dora.letter(&["out", "--force", "-o", path]).unwrap();
    let said = anna.letter(&["in", path]).unwrap();
    assert!(said.contains("Write to Béla and Dora: they sign when they write back."), "{said}");
    let listed = dora.letter(&["list"]).unwrap();
    dora.letter(&["withdraw", &listed[..8]]).unwrap();
    assert!(dora.letter(&["withdraw", &listed[..8]]).unwrap_err().contains("names no table that waits for letters"));
    assert!(!dora.data.join("lobbies").exists());
}
