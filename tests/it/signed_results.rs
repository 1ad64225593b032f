//! Which endings count for ratings: only what every seat has signed, or what a proof shows against a seat.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use fairdeal::history::history;
use fairdeal::store::{DataDir, DataView};
use fairdeal::summary::{Ending, Summary, Unrated, keep};
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, bot, rule_set};
use fairdeal_protocol::crypto::seed::OpenedSeed;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_testkit::{Room, Status, entries, seats};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tempfile::TempDir;

use super::process::fairdeal;

/// The other content that the last seat signs in place of this one, if any.
type Lie = fn(&Content) -> Option<Content>;

fn honest(_: &Content) -> Option<Content> {
    None
}

/// A short game of Loot between bots of one seat each. The last seat may lie, leave, or be cut off.
struct Scene {
    room: Room<AnyGame>,
    /// Messages on their way: sender, receiver, content.
    sent: VecDeque<(Seat, Seat, Message)>,
    now: u64,
    lie: Lie,
}

impl Scene {
    fn new(seats: u8, seed: u8, lie: Lie) -> Self {
        let options = [("target", "10"), ("absence", "5")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let rules = rule_set("loot", seats, &options.into()).unwrap();
        let mut room = Room::new(seats::charter(&rules, [seed; 8]), |seat| {
            let mut bytes = [seed; 32];
            bytes[0] = seat.number();
            ChaCha20Rng::from_seed(bytes)
        });
        room.begin();
        Self { room, sent: VecDeque::new(), now: 0, lie }
    }

    fn last(&self) -> usize {
        self.room.places.len() - 1
    }

    fn table(&self) -> &Table<AnyGame> {
        &self.room[0].table
    }

    /// Whether the rules have ended the game, and this kind of step is open.
    fn is_over_at(&self, kind: StepKind) -> bool {
        self.table().game().is_over() && self.table().replica().kind() == Some(kind)
    }

    /// Delivers one message; false if there was none.
    fn deliver(&mut self) -> bool {
        let (charter, liar) = (self.room.charter.clone(), self.last());
        for one in self.room.take_sent() {
            let changed = |entry: Entry| {
                if entry.seat().index() == liar {
                    Some((self.lie)(entry.content()).map_or(entry, entries::sign))
                } else {
                    Some(entry)
                }
            };
            let message = entries::rewrite(&charter, one.message.clone(), changed);
            let receivers = self.room.seats().filter(|seat| one.is_for(*seat));
            self.sent.extend(receivers.map(|to| (one.from, to, message.clone())));
        }
        let Some((from, to, message)) = self.sent.pop_front() else {
            return false;
        };
        if self.room[to].is_up() {
            // The liar itself is told of its fault.
            let _ = self.room[to].accept(from, message);
        }
        true
    }

    /// Plays until the condition holds, or the first seat's table is closed.
    fn play(mut self, until: impl Fn(&Self) -> bool) -> Self {
        let mut bots: Vec<_> = self.room.seats().map(|_| bot(Level::Normal)).collect();
        for _ in 0..100_000 {
            if until(&self) || self.table().is_finished() || self.table().stopped().is_some() {
                return self;
            }
            if self.deliver() {
                continue;
            }
            for (place, bot) in self.room.places.iter_mut().zip(&mut bots).filter(|(place, _)| place.is_up()) {
                let (table, seat) = (&place.table, place.seat());
                let chosen = bot.choose(table.game(), seat, table.known(), &mut place.rng);
                if chosen.is_some_and(|action| place.act(action).is_ok()) {
                    break;
                }
            }
            self.now += 1000;
            let running = self.room.places.iter_mut().filter(|place| place.is_up());
            running.for_each(|place| place.tick(self.now));
        }
        panic!("it has no end: {:?}", self.table().progress());
    }

    /// Kills the last seat's program. What it sent and nobody has received is lost.
    fn kill_last(mut self) -> Self {
        let last = self.last();
        self.room[last].crash(Status::Gone);
        self.sent.retain(|(from, ..)| from.index() != last);
        self
    }

    fn finish(self) -> Self {
        self.play(|_| false)
    }

    /// The summary, which is the same by the table itself and by an audit of its file.
    fn summary(&self) -> Summary {
        let (table, transcript) = (self.table(), self.table().transcript());
        let told = Summary::of_table(&transcript, table.replica(), None, None);
        let read = Transcript::from_bytes(&transcript.to_bytes().unwrap()).unwrap();
        let read = Summary::audit(&Arc::new(read), None, &mut |_| ControlFlow::Continue(())).unwrap().unwrap();
        assert_eq!(told, read);
        read
    }
}

fn places(summary: &Summary) -> Vec<u8> {
    summary.results.iter().map(|result| result.place).collect()
}

/// The answer of `ratings` on a file: whether it is rated, and its complaint.
fn ratings(bytes: &[u8]) -> (bool, String) {
    let root = TempDir::new().unwrap();
    let file = root.path().join("game.fairdeal");
    std::fs::write(&file, bytes).unwrap();
    let output = fairdeal().arg("ratings").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (text.starts_with("Loot: 1 game"), errors)
}

/// Whether everything is dealt and somebody has to act.
fn in_play(scene: &Scene) -> bool {
    matches!(scene.table().replica().kind(), Some(StepKind::Action { .. }))
}

#[test]
fn removal_by_word_is_not_rated() {
    let scene = Scene::new(3, 1, honest).play(in_play).kill_last().finish();
    let summary = scene.summary();
    assert_eq!(summary.ending, Ending::Finished);
    let seats = vec![Seat::new(2).unwrap()];
    assert_eq!((summary.unrated.as_ref(), places(&summary)), (Some(&Unrated::ByWord { seats }), vec![]));
    let transcript = scene.table().transcript();
    let (rated, errors) = ratings(&transcript.to_bytes().unwrap());
    let why = "not rated: only the others' word says that player 3 was absent";
    assert!(!rated && errors.contains(why), "{errors}");

    // The history says so too, in words and in JSON.
    let root = TempDir::new().unwrap();
    let data = DataDir::open(Some(root.path())).unwrap();
    keep(&data, &transcript, Summary::of_table(&transcript, scene.table().replica(), Seat::new(0), None)).unwrap();
    drop(data);
    let told = |args: &[&str]| {
        let output = fairdeal().arg("--data-dir").arg(root.path()).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = told(&["history"]);
    assert!(text.contains(&format!("finished, {why}")), "{text}");
    assert!(text.contains("Loot (first to 10)"), "{text}");
    let line: serde_json::Value = serde_json::from_str(&told(&["history", "--json"])).unwrap();
    assert_eq!(line["unrated"], why.strip_prefix("not rated: ").unwrap());
    let past = history(&DataView::of(Some(root.path())).unwrap());
    let all = fairdeal_session::past::statistics::statistics(&past, "2026-01-01");
    assert_eq!((all[0].played, all[0].unrated, &all[0].rating), (1, 1, &None));
}

/// Signs a Close in place of its first ack of the game.
fn fault_in_play(content: &Content) -> Option<Content> {
    let body = matches!(content.body, Body::Ack { .. }).then_some(Body::Close)?;
    Some(Content { body, ..content.clone() })
}

/// Opens another seed than its own.
fn fault_after_the_end(content: &Content) -> Option<Content> {
    let body = matches!(content.body, Body::Open { .. }).then_some(Body::Open { seed: OpenedSeed([5; 32]) })?;
    Some(Content { body, ..content.clone() })
}

#[test]
fn removal_by_proof_is_the_last_place() {
    for lie in [fault_in_play, fault_after_the_end] {
        let scene = Scene::new(3, 2, lie).finish();
        let summary = scene.summary();
        assert_eq!((&summary.ending, &summary.unrated), (&Ending::Finished, &None));
        assert_eq!(places(&summary)[2], 3, "{summary:?}");
        assert!(ratings(&scene.table().transcript().to_bytes().unwrap()).0);
    }
}

/// A game whose only winner is found guilty after its end, and its seed.
fn guilty_winner() -> (u8, Scene) {
    let alone = [Seat::new(2).unwrap()];
    let found = (0..40).find_map(|seed| {
        let scene = Scene::new(3, seed, fault_after_the_end).finish();
        (scene.summary().winners == alone).then_some((seed, scene))
    });
    found.expect("in forty games the liar wins once alone")
}

/// Whoever has the best score and is guilty after the end is last all the same, and has not won. A file that was cut
/// before the fault does not help: the whole one counts.
#[test]
fn guilty_winner_is_last() {
    let (seed, whole) = guilty_winner();
    let summary = whole.summary();
    assert_eq!(places(&summary)[2], 3);
    assert!(places(&summary)[..2].contains(&1));
    let ratings = fairdeal_session::past::ratings::Ratings::of([&summary]);
    assert!(ratings.table("loot").iter().all(|(_, rated)| rated.won == 0));

    let cut = Scene::new(3, seed, fault_after_the_end).play(|scene| scene.is_over_at(StepKind::Opening));
    assert_eq!(places(&cut.summary())[2], 1);
    let root = TempDir::new().unwrap();
    let saved = |name: &str, scene: &Scene| {
        let path = root.path().join(name);
        std::fs::write(&path, scene.table().transcript().to_bytes().unwrap()).unwrap();
        path
    };
    let (cut, whole) = (saved("cut.fairdeal", &cut), saved("whole.fairdeal", &whole));
    let told = |files: &[&Path]| {
        let output = fairdeal().arg("ratings").args(files).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let alone = told(&[&whole]);
    assert_ne!(told(&[&cut]), alone);
    assert_eq!((told(&[&cut, &whole]), told(&[&whole, &cut])), (alone.clone(), alone));
}

/// The loser of two cannot take the rating away by dying once it has confirmed the end. Before that nothing of its own
/// covers the end, and the game is not rated.
#[test]
fn end_is_rated_from_its_confirmation_on() {
    for (kind, rated) in [(StepKind::Confirm, false), (StepKind::Opening, true), (StepKind::Closing, true)] {
        let scene = Scene::new(2, 3, honest).play(|scene| scene.is_over_at(kind));
        let cut = scene.table().transcript();
        assert_eq!(cut.end(), End::Unfinished);
        let scene = scene.kill_last().finish();
        let summary = scene.summary();
        let transcript = scene.table().transcript();
        assert_eq!((transcript.end(), transcript.claims().len()), (End::Finished, 1), "{kind:?}");
        let (found, errors) = ratings(&transcript.to_bytes().unwrap());
        assert_eq!((found, summary.unrated.is_none()), (rated, rated), "{kind:?}: {errors}");
        if rated {
            let mut places = places(&summary);
            places.sort_unstable();
            assert_eq!(places, [1, 2]);
            // A file that was cut after the signatures proves the result as well.
            assert!(ratings(&cut.to_bytes().unwrap()).0, "{kind:?}");
        } else {
            assert!(errors.contains("not rated: not all its players have signed its end"), "{errors}");
            assert!(!ratings(&cut.to_bytes().unwrap()).0);
        }
    }
}

/// Of three, one who dies after the confirmation is removed by word, and the result stands: it has signed it.
#[test]
fn removal_after_the_signed_end_changes_nothing() {
    let scene = Scene::new(3, 4, honest).play(|scene| scene.is_over_at(StepKind::Opening));
    let whole = Scene::new(3, 4, honest).finish().summary();
    let summary = scene.kill_last().finish().summary();
    assert_eq!((&summary.unrated, &summary.results), (&None, &whole.results));
    let early =
        Scene::new(3, 4, honest).play(|scene| scene.is_over_at(StepKind::Confirm)).kill_last().finish().summary();
    assert_eq!(early.unrated, Some(Unrated::Unsigned));
}

/// A seat that has signed its Leave cannot take the rating away by dying before it has given its shares.
#[test]
fn leaver_that_dies_is_last() {
    let mut scene = Scene::new(3, 5, honest).play(in_play);
    while scene.deliver() {}
    scene.room[2].leave().unwrap();
    let scene = scene.play(|scene| !scene.table().replica().leaving().is_empty());
    let summary = scene.kill_last().finish().summary();
    assert_eq!((&summary.unrated, places(&summary)[2]), (&None, 3));
    assert_eq!(summary.ending, Ending::Finished);
}

/// A claim that closes a game before its end is somebody's word, too.
#[test]
fn closed_table_is_not_rated() {
    let mut scene = Scene::new(2, 6, honest).play(in_play).kill_last();
    scene = scene.play(|scene| scene.table().may_claim());
    scene.room[0].table.claim().unwrap();
    while scene.deliver() {}
    let summary = scene.summary();
    assert!(matches!(summary.ending, Ending::Claimed { .. }));
    assert_eq!(summary.unrated, Some(Unrated::Claimed));
}
