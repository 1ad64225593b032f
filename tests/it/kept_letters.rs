//! Letters of seats that a keeper holds: as files, by mail, and with bots in the keeper's program.

use std::path::Path;
use std::time::{Duration, Instant};

use fairdeal::drive::mail::visit;
use fairdeal::keeper::client::KeeperClient;
use fairdeal::store::DataView;
use fairdeal_peers::Multiaddr;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use tempfile::TempDir;

use super::keep::{Person, agrees, begun_beside_keeper};
use super::letters::Home;
use super::mail::point;
use super::process::fairdeal;

/// Runs a command on a data directory. Returns what it says, or why it fails.
pub(super) fn tries(data: &Path, args: &[&str]) -> Result<String, String> {
    let output = fairdeal().arg("--data-dir").arg(data).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

pub(super) fn runs(data: &Path, args: &[&str]) -> String {
    tries(data, args).unwrap_or_else(|why| panic!("{args:?}: {why}"))
}

fn is_fair(file: &Path) {
    let verdict = fairdeal().arg("verify").arg(file).output().unwrap();
    assert!(verdict.status.success(), "{verdict:?}");
}

/// Anna has a keeper, Béla writes letters, and half of them are lost. They are never connected. `between` may disturb Anna's
/// keeper before a visit.
async fn plays_by_files(root: &Path, bots: usize, between: impl FnMut(usize, &mut Person)) {
    let persons = ["Anna", "Béla"].map(|name| Person::new(root, name)).into();
    let options = [("turn-time", "604800")];
    let (anna, table) = begun_beside_keeper(persons, "plutonian-poker", &options, bots).await;
    let bela = Home::new(root.join("Béla"));
    goes_on_by_files(root, (anna, &table), bela, bots as u64, between).await;
}

/// The rest of such a game.
pub(super) async fn goes_on_by_files(
    root: &Path,
    (mut anna, table): (Person, &str),
    mut bela: Home,
    seed: u64,
    mut between: impl FnMut(usize, &mut Person),
) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let file = root.join("letter");
    let path = file.to_str().unwrap();
    let mut visits = 0;
    while anna.transcript().is_none() || bela.transcript().is_none() {
        between(visits, &mut anna);
        for letter in bela.visits(&mut rng).into_values() {
            if rng.next_u32() % 2 == 0 {
                std::fs::write(&file, letter).unwrap();
                // A table that is over for both closes by itself.
                match tries(&anna.data(), &["letter", "in", path]) {
                    Ok(said) => assert!(said.starts_with("A letter from Béla:"), "{said}"),
                    Err(why) => assert!(bela.transcript().is_some(), "{why}"),
                }
            }
        }
        if anna.transcript().is_none() {
            anna.visits(table).await;
        }
        match tries(&anna.data(), &["letter", "out", "--to", "béla", "--force", "-o", path]) {
            Ok(said) if rng.next_u32() % 2 == 0 => {
                assert!(said.starts_with("A letter for Béla: "), "{said}");
                bela.gets(std::fs::read(&file).unwrap());
            }
            Ok(_) => {}
            Err(why) => assert!(bela.transcript().is_some() || why.contains("try again"), "{why}"),
        }
        visits += 1;
        assert!(visits < 2_000, "the game does not end");
    }
    is_fair(anna.transcript().unwrap());
    is_fair(&bela.transcript().unwrap());
    agrees(&bela.transcript().unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_in_files_pass_through_a_keeper() {
    let root = TempDir::new().unwrap();
    plays_by_files(root.path(), 0, |_, _| {}).await;
}

/// Her bots answer as well, since the keeper has them at the table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper_with_bots_plays_by_letter() {
    let root = TempDir::new().unwrap();
    plays_by_files(root.path(), 2, |_, _| {}).await;
}

/// After a crash the next keeper asks by letter what its seat has signed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_keeper_comes_back_by_letter() {
    let root = TempDir::new().unwrap();
    plays_by_files(root.path(), 0, |visits, anna| {
        if visits == 7 {
            anna.loses_keeper();
        }
    })
    .await;
}

/// The table of a player with bots is over here while a letter for Béla is lost: the keeper's sessions end after a while, and
/// the player's own journal is enough to write it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn last_letter_is_written_when_the_bots_have_gone() {
    let root = TempDir::new().unwrap();
    let persons = ["Anna", "Béla"].map(|name| Person::new(root.path(), name)).into();
    let options = [("turn-time", "604800")];
    let (mut anna, table) = begun_beside_keeper(persons, "plutonian-poker", &options, 1).await;
    let mut bela = Home::new(root.path().join("Béla"));
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let file = root.path().join("letter");
    let path = file.to_str().unwrap();
    let out = ["letter", "out", "--to", "béla", "--force", "-o", path];
    let since = Instant::now();
    while anna.transcript().is_none() {
        for letter in bela.visits(&mut rng).into_values() {
            std::fs::write(&file, letter).unwrap();
            runs(&anna.data(), &["letter", "in", path]);
        }
        anna.visits(&table).await;
        if anna.transcript().is_none() {
            runs(&anna.data(), &out);
            bela.gets(std::fs::read(&file).unwrap());
        }
        assert!(since.elapsed() < Duration::from_secs(120), "the game does not end");
    }
    if bela.transcript().is_some() {
        return;
    }
    let view = DataView::of(Some(&anna.data())).unwrap();
    let keeper = KeeperClient::find(&view).await.unwrap().unwrap();
    while !keeper.tables().await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(since.elapsed() < Duration::from_secs(180), "the keeper holds a table that is over");
    }
    runs(&anna.data(), &out);
    bela.gets(std::fs::read(&file).unwrap());
    bela.visits(&mut rng);
    is_fair(&bela.transcript().unwrap());
}

/// Anna's keeper visits the meeting point when it is asked, Béla's program without one too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper_fetches_and_leaves_mail() {
    let root = TempDir::new().unwrap();
    let persons = ["Anna", "Béla"].map(|name| Person::new(root.path(), name)).into();
    let options = [("turn-time", "604800")];
    let (mut anna, table) = begun_beside_keeper(persons, "plutonian-poker", &options, 0).await;
    let mut bela = Home::new(root.path().join("Béla"));
    let relay = point(root.path());
    let points: [Multiaddr; 1] = [relay.address.parse().unwrap()];
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut visits = 0;
    while anna.transcript().is_none() || bela.transcript().is_none() {
        for _ in 0..2 {
            let visited = visit(&bela.data(), &points, &[]).await.unwrap();
            assert!(
                visited.tables.iter().all(|table| table.failed.is_none() && table.refused.is_empty()),
                "{visited:?}"
            );
            bela.acts(&mut rng);
        }
        if anna.transcript().is_none() {
            anna.visits(&table).await;
        }
        let said = runs(&anna.data(), &["mail", "--meet", &relay.address]);
        assert!(!said.contains("not taken"), "{said}");
        visits += 1;
        assert!(visits < 2_000, "the game does not end");
    }
    is_fair(anna.transcript().unwrap());
    agrees(&bela.transcript().unwrap());
}
