//! Whole games at the table, with keys only and with the mouse only, and the overlays.

mod extended;
mod letters;

use std::time::Duration;

use fairdeal_games::bots::Level;
use fairdeal_games::game_info;
use fairdeal_games::loot::LootAction;
use fairdeal_games::plutonian::PlutonianAction;
use fairdeal_games::{AnyAction, AnyGame, TableGame as _, rule_set};
use fairdeal_protocol::card::{DeckId, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Closing;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::button::CLOSE;
use crate::app::event::{Input, UiEvent};
use crate::app::screen::Effect;
use crate::app::screens::samples::TICKET;
use crate::app::shell::Shell;
use crate::app::testing::{TestApp, context};
use crate::canvas::{Canvas, Layer, Marks, Target};
use crate::input::{KeyCode, UserInput};
use crate::lesson::Lesson;
use crate::tables::Spot;
use crate::tables::offers::{Offer, Offers};
use crate::tables::testing::seat;
use crate::theme::Theme;
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::{SealedAhead, StepKind};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::view::{LobbySeat, LobbyView, Remedy, Snapshot, Standing, Waiting, Waits};

/// Sits down at a game from the home screen, with keys only.
fn seated(game: usize) -> TestApp {
    sitting_down(game, 3)
}

/// A table with a network, which has told nothing yet.
fn networked() -> TestApp {
    TestApp::with(Shell::new(context(false), Box::new(super::TableScreen::new("table", false))))
}

fn tell(stage: &mut TestApp, event: SessionEvent) {
    stage.input(Input::UiEvent(UiEvent::Session(event)));
}

/// A game that has just been dealt, as Anna in the first seat sees it.
fn dealt(game: &str) -> Box<Snapshot> {
    let (_, told) = Lesson::of(game_info(game).unwrap(), "Anna").unwrap().unwrap();
    let snapshot = told.into_iter().find_map(|event| match event {
        SessionEvent::Snapshot(now) => Some(now),
        _ => None,
    });
    snapshot.expect("it is dealt")
}

/// The same, for a game dealt from this seed.
fn sitting_down(game: usize, seed: u8) -> TestApp {
    let mut stage = TestApp::at_home(false);
    stage.seed = seed;
    while stage.shell.focus() != Some(Target::Row(game)) {
        stage.key(KeyCode::Down);
    }
    stage.key(KeyCode::Enter);
    stage.key(KeyCode::Enter);
    assert!(stage.scene.is_some(), "no game was opened:\n{}", stage.draw());
    stage
}

/// How to choose an action on the screen: its spots, and whether there is a confirmation. If several actions have the
/// same spots, also its index in the list.
fn way(stage: &TestApp, action: &AnyAction) -> (Vec<Spot>, Option<usize>, bool) {
    let scene = stage.scene.as_ref().unwrap();
    let known = scene.known(seat(0));
    let offers = scene.view(Some(seat(0)), &known, |view, game| Offers::of(game, view));
    let all = offers.all().iter();
    let found =
        all.clone().find(|offer| offer.action == *action).unwrap_or_else(|| panic!("{action:?} is not offered"));
    let same: Vec<&Offer> = all.filter(|offer| offer.path == found.path).collect();
    let place = same.iter().position(|offer| offer.action == *action).filter(|_| same.len() > 1);
    (found.path.clone(), place, found.question.is_some())
}

/// Performs an action, one target after the other.
fn act(stage: &mut TestApp, action: &AnyAction, choose: impl Fn(&mut TestApp, Target)) {
    let (path, place, is_asked) = way(stage, action);
    let step = stage.step();
    // A key does at once what needs no choice.
    let is_due = |stage: &mut TestApp| stage.step() == step && !stage.draw().contains("Sure?");
    for spot in path {
        if is_due(stage) {
            choose(stage, Target::Spot(spot));
        }
    }
    if let Some(place) = place.filter(|_| is_due(stage)) {
        choose(stage, Target::Row(place));
    }
    if is_asked {
        choose(stage, Target::Row(0));
    }
    assert!(stage.step() > step, "{action:?} was not done:\n{}", stage.draw());
}

/// Plays as a bot would; `choose` chooses a target on the screen.
fn played(mut stage: TestApp, choose: impl Fn(&mut TestApp, Target)) {
    for _ in 0..3000 {
        stage.rest();
        if stage.is_over() {
            return;
        }
        while stage.draw().contains("[Enter continue]") {
            choose(&mut stage, CLOSE);
        }
        let action = stage.advice().expect("it is the player's turn");
        act(&mut stage, &action, &choose);
    }
    panic!("the game has no end:\n{}", stage.draw());
}

/// Keys only: Tab moves to the target.
fn by_keys(stage: &mut TestApp, target: Target) {
    if stage.draw().contains("Sure?") {
        return stage.keys("y");
    }
    for _ in 0..200 {
        if stage.shell.focus() == Some(target) {
            return stage.key(KeyCode::Enter);
        }
        stage.key(KeyCode::Tab);
    }
    panic!("{target:?} cannot be reached:\n{}", stage.draw());
}

/// After a hint one key plays what is advised, in every game.
#[test]
fn enter_does_what_its_line_says() {
    for game in 0..5 {
        let mut stage = seated(game);
        let mut hinted = 0;
        for _ in 0..12 {
            stage.rest();
            if stage.is_over() {
                break;
            }
            while stage.draw().contains("[Enter continue]") {
                by_keys(&mut stage, CLOSE);
            }
            let step = stage.step();
            stage.keys("h");
            if stage.draw().contains("There is no hint") {
                let action = stage.advice().expect("it is the player's turn");
                act(&mut stage, &action, by_keys);
                continue;
            }
            let shown = stage.draw();
            stage.key(KeyCode::Enter);
            if stage.draw().contains("Sure?") {
                stage.keys("y");
            }
            assert!(stage.step() > step, "one key is not enough:\n{shown}\n{}", stage.draw());
            hinted += 1;
        }
        assert!(hinted > 3, "game {game}: {hinted} hints");
    }
}

/// The reason for a hint, and the key that follows it, are those of its position.
#[test]
fn hint_goes_with_its_position() {
    let mut stage = seated(0);
    for _ in 0..60 {
        stage.rest();
        let action = stage.advice().expect("it is the player's turn");
        let discards = matches!(action, AnyAction::Loot(LootAction::Discard { .. }));
        if discards && stage.draw().contains("f fire") {
            stage.keys("h");
            assert!(stage.draw().contains("✓ "), "{}", stage.draw());
            // The fire waits for the end of the turn.
            stage.fires(seat(1));
            stage.rest();
            assert!(!stage.draw().contains("✓ "), "{}", stage.draw());
            return;
        }
        act(&mut stage, &action, by_keys);
    }
    panic!("nobody may fire:\n{}", stage.draw());
}

/// A click picks up what the player may just want to look at.
#[test]
fn click_on_a_card_only_picks_it_up() {
    // Ivory Tower: a card is played to a place.
    let mut stage = seated(1);
    stage.rest();
    let action = stage.advice().expect("it is the player's turn");
    let (path, ..) = way(&stage, &action);
    assert!(path.len() > 1, "{action:?}");
    let step = stage.step();
    by_mouse(&mut stage, Target::Spot(path[0]));
    assert_eq!(stage.step(), step, "{}", stage.draw());
}

fn played_all(choose: impl Fn(&mut TestApp, Target)) {
    for game in 0..5 {
        let mut stage = TestApp::at_home(false);
        choose(&mut stage, Target::Row(game));
        let mut rows = stage.shell.layer().targets.iter().rev().map(|(_, target)| *target);
        let start = rows.find(|target| matches!(target, Target::Row(_)));
        choose(&mut stage, start.unwrap());
        assert!(stage.scene.is_some(), "no game was opened:\n{}", stage.draw());
        played(stage, &choose);
    }
}

#[test]
fn every_game_is_played_to_its_end_by_keys_alone() {
    played_all(by_keys);
}

/// Mouse only: the wheel goes through the list until the target is visible.
fn by_mouse(stage: &mut TestApp, target: Target) {
    for _ in 0..20 {
        if stage.shell.layer().area(target).is_some() {
            break;
        }
        stage.input(Input::User(UserInput::ScrollDown));
    }
    stage.click(target);
}

#[test]
fn every_game_is_played_to_its_end_by_mouse_alone() {
    played_all(by_mouse);
}

/// A question goes away when its action becomes impossible, and nobody is missed after the end.
#[test]
fn pointless_question_is_withdrawn() {
    let mut stage = seated(0);
    stage.rest();
    let asked = loop {
        while stage.draw().contains("[Enter continue]") {
            by_keys(&mut stage, CLOSE);
        }
        stage.keys("f");
        if stage.draw().contains("Fire the village?") {
            break stage.draw();
        }
        let action = stage.advice().expect("it is the player's turn");
        act(&mut stage, &action, by_keys);
        stage.rest();
    };
    assert!(asked.contains("[y yes]"), "{asked}");
    // Another seat is faster.
    stage.fires(seat(1));
    stage.rest();
    let shown = stage.draw();
    assert!(!shown.contains("[y yes]"), "{shown}");
}

/// Plays Loot until the village may be fired, and lets another seat fire it.
fn burned(people: bool) -> TestApp {
    let mut stage = seated(0);
    stage.people = people;
    for _ in 0..20 {
        stage.rest();
        if stage.draw().contains("f fire") {
            stage.fires(seat(1));
            return stage;
        }
        let action = stage.advice().expect("it is the player's turn");
        act(&mut stage, &action, by_keys);
    }
    panic!("nobody may fire:\n{}", stage.draw());
}

/// The next hand is not shown before the player goes on; keys meant for the table do not close the sheet.
#[test]
fn a_hand_that_has_ended_stays_until_the_player_goes_on() {
    let mut stage = burned(false);
    let shown = stage.draw();
    assert!(shown.contains("hand 1"), "{shown}");
    stage.key(KeyCode::Enter);
    stage.keys("1fd");
    assert!(stage.draw().contains("hand 1"), "the keys were meant for the table");
    stage.input(Input::Tick(Duration::from_secs(5)));
    let shown = stage.draw();
    assert!(shown.contains("hand 1") && shown.contains("[Enter continue]"), "{shown}");
    assert!(shown.contains("It is your turn in the next hand."), "{shown}");
    assert!(!shown.contains("Hand 2 is dealt"), "{shown}");
    stage.key(KeyCode::Enter);
    let shown = stage.draw();
    assert!(shown.contains("hand 2"), "{shown}");
    // Other people wait no longer than this.
    let mut stage = burned(true);
    for second in 0..20 {
        let shown = stage.draw();
        assert!(shown.contains("hand 1"), "{shown}");
        if second == 5 {
            assert!(shown.contains("Next hand in 15 s."), "{shown}");
        }
        stage.input(Input::Tick(Duration::from_secs(1)));
    }
    assert!(stage.draw().contains("hand 2"));
}

#[test]
fn esc_does_not_leave_the_table() {
    let mut stage = seated(0);
    stage.rest();
    for _ in 0..3 {
        stage.key(KeyCode::Esc);
    }
    assert_eq!(stage.shell.trail(), ["home", "Loot"]);
    assert!(stage.draw().contains("Press q to leave the table."));
}

/// When a turn begins, Enter must not trigger an action that is always possible, such as a vote for the end.
#[test]
fn turn_does_not_start_on_an_anytime_action() {
    let not_on_a_deed = |stage: &mut TestApp| {
        stage.rest();
        let focus = stage.shell.focus();
        let on_a_deed = matches!(focus, Some(Target::Spot(Spot::Button(_))));
        assert!(focus.is_some() && !on_a_deed, "{}", stage.draw());
    };
    // Plutonian Poker.
    let mut stage = seated(2);
    let opened = stage.step();
    for _ in 0..6 {
        not_on_a_deed(&mut stage);
        let action = loop {
            let action = stage.advice().expect("it is the player's turn");
            if !matches!(action, AnyAction::Plutonian(PlutonianAction::Vote { .. })) {
                break action;
            }
        };
        act(&mut stage, &action, by_keys);
    }
    // The player has the very first turn, and could vote before there was anything else to do.
    let others = (0..8).map(|seed| sitting_down(2, seed));
    let first = others.filter(|stage| stage.step() < opened);
    assert!(first.map(|mut stage| not_on_a_deed(&mut stage)).count() > 0);
}

/// In a practice solitaire everything can be undone, giving up too, and there is no audit.
#[test]
fn practice_is_taken_back() {
    let mut stage = TestApp::at_home(false);
    stage.key(KeyCode::Down);
    stage.key(KeyCode::Enter);
    stage.key(KeyCode::Up);
    stage.key(KeyCode::Left);
    assert!(stage.draw().contains("for practice"), "{}", stage.draw());
    stage.key(KeyCode::Down);
    stage.key(KeyCode::Enter);
    stage.rest();
    let board = |stage: &mut TestApp| {
        stage.rest();
        let shown = stage.draw();
        let rows = shown.lines().filter(|row| row.contains(['┆', '╰']));
        // Without the log beside the board.
        let left = rows.map(|row| row.chars().take(50).collect::<String>());
        left.map(|row| row.trim_end().to_owned()).collect::<Vec<String>>()
    };
    let mut before = vec![board(&mut stage)];
    for _ in 0..4 {
        stage.keys("t");
        before.push(board(&mut stage));
    }
    assert_ne!(before[0], before[1]);
    for board_then in before.iter().rev().skip(1) {
        stage.keys("u");
        assert_eq!(board(&mut stage), *board_then);
    }
    stage.keys("u");
    assert!(stage.draw().contains("There is nothing to undo"));
    stage.keys("ry");
    stage.rest();
    while stage.draw().contains("[Enter continue]") {
        by_keys(&mut stage, CLOSE);
    }
    insta::assert_snapshot!("practice-over", stage.draw());
    stage.keys("a");
    assert_ne!(stage.shell.trail().last().unwrap(), "audit");
    stage.keys("u");
    assert_eq!(board(&mut stage), before[0]);
    // A hint in practice is a step of a way to win.
    stage.keys("h");
    assert!(stage.draw().contains("This way wins in "), "{}", stage.draw());
    // Leaving loses the game, so the screen asks first. After the end it does not.
    stage.keys("q");
    assert!(stage.draw().contains("A practice game is not saved"));
    stage.keys("nryq");
    assert_eq!(stage.shell.trail(), ["home"]);
}

#[test]
fn after_the_end_there_is_a_way_back() {
    let mut stage = seated(0);
    let over = SessionEvent::Over {
        scores: vec![10, 20, 30],
        winners: vec![seat(2)],
        log: Hash32([7; 32]),
        transcript: Some("/games/transcripts/0707.fairdeal".into()),
    };
    tell(&mut stage, over);
    insta::assert_snapshot!("outcome", stage.draw());
    stage.keys("a");
    assert_eq!(stage.shell.trail().last().unwrap(), "Loot", "the key was meant for the table");
    stage.rest();
    stage.keys("a");
    assert_eq!(stage.shell.trail().last().unwrap(), "audit");
    stage.key(KeyCode::Esc);
    let review = |effect: &Effect| matches!(effect, Effect::Review(_, me) if *me == seat(0));
    stage.keys("w");
    assert_eq!(stage.shell.trail().last().unwrap(), "review");
    assert_eq!(stage.effects.iter().filter(|effect| review(effect)).count(), 1);
    stage.key(KeyCode::Esc);
    stage.click(super::button::REVIEW);
    assert_eq!(stage.shell.trail().last().unwrap(), "review");
    assert_eq!(stage.effects.iter().filter(|effect| review(effect)).count(), 2);
    stage.key(KeyCode::Esc);
    stage.key(KeyCode::Esc);
    stage.keys("q");
    assert_eq!(stage.shell.trail(), ["home"]);
}

/// The ticket of a table in play is for its own players.
#[test]
fn ticket_of_a_table_in_play_opens_a_sheet() {
    for (local, is_shown) in [(false, true), (true, false)] {
        let mut screen = super::TableScreen::new("resuming", local);
        screen.ticket_sheet();
        assert!(matches!(screen.over, super::Over::Nothing), "there is none yet");
        screen.lobby.ticket = Some(TICKET.to_owned());
        assert_eq!(screen.may_be_sought(), is_shown);
        screen.ticket_sheet();
        assert_eq!(matches!(screen.over, super::Over::Telling(_)), is_shown);
    }
}

/// An invitation opens no question: a key meant for something else must not follow it.
#[test]
fn an_invitation_is_followed_when_the_player_wants_to() {
    let mut stage = seated(0);
    stage.rest();
    let invited = SessionEvent::Invited { seat: seat(1), name: "Ada".to_owned(), ticket: TICKET.to_owned() };
    tell(&mut stage, invited);
    assert!(stage.draw().contains("Ada invites you"));
    assert!(!stage.draw().contains("Sure?"));
    let joins = |effect: &Effect| matches!(effect, Effect::Join { target, .. } if target == TICKET);
    stage.keys("f");
    assert!(!stage.effects.iter().any(joins), "this game is not over");
    let over = SessionEvent::Over {
        scores: vec![10, 20, 30],
        winners: vec![seat(2)],
        log: Hash32([7; 32]),
        transcript: Some("/games/transcripts/0707.fairdeal".into()),
    };
    tell(&mut stage, over);
    assert!(stage.draw().contains("[r follow Ada]") && !stage.draw().contains("rematch"));
    stage.rest();
    stage.keys("r");
    assert!(stage.effects.iter().any(joins));
    assert_eq!(stage.shell.trail(), ["home", "joining"]);
}

/// A result is two or three lines, which go to the clipboard and to the log.
#[test]
fn result_is_copied_for_a_chat() {
    for (game, options) in [("loot", ""), ("ivory-tower", "2026-11-21")] {
        let mut stage = networked();
        let mut now = dealt(game);
        if !options.is_empty() {
            let options = [("daily".to_owned(), options.to_owned())].into_iter().collect();
            now.game = AnyGame::create(&rule_set(game, 1, &options).unwrap()).unwrap();
        }
        let seats = now.names.len();
        tell(&mut stage, SessionEvent::Snapshot(now));
        let (scores, log) = ([10, 32, 20][..seats].to_vec(), Hash32([0xab; 32]));
        let over = SessionEvent::Over { scores, winners: Vec::new(), log, transcript: None };
        tell(&mut stage, over);
        stage.draw();
        stage.rest();
        assert!(stage.draw().contains("[y copy]"), "{}", stage.draw());
        stage.keys("y");
        let copied = stage.effects.iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text.clone()),
            _ => None,
        });
        insta::assert_snapshot!(format!("result-of-{game}"), copied.unwrap());
        stage.key(KeyCode::Enter);
        assert!(stage.draw().contains("fairdeal, "), "it is in the log: {}", stage.draw());
    }
}

/// Both press `r` before either hears of it: the one with the lower seat stays in its lobby, and the other comes.
#[test]
fn two_rematches_become_one() {
    for (own, other, follows) in [(1, 0, true), (0, 1, false)] {
        let mut stage = networked();
        let taken = |name: &str, played_by: PlayedBy, party: usize| LobbySeat {
            name: name.to_owned(),
            party: Party::of(seat(party)),
            played_by,
            in_browser: false,
            person: None,
        };
        let bot = taken("Marie", PlayedBy::bot("gentle").unwrap(), 0);
        let view = LobbyView {
            game: "loot".to_owned(),
            seats: vec![Some(taken("Anna", PlayedBy::Person, 0)), Some(taken("Ada", PlayedBy::Person, 1)), Some(bot)],
            ..LobbyView::default()
        };
        tell(&mut stage, SessionEvent::Lobby(view.clone()));
        let mut now = dealt("loot");
        now.me = Some(seat(own));
        tell(&mut stage, SessionEvent::Snapshot(now));
        let (scores, winners, log) = (vec![10, 20, 30], vec![seat(2)], Hash32([7; 32]));
        tell(&mut stage, SessionEvent::Over { scores, winners, log, transcript: None });
        stage.draw();
        stage.rest();
        stage.keys("r");
        let opened = stage.effects.iter().find_map(|effect| match effect {
            Effect::Rematch(opening) => Some((opening.seats, opening.bots, opening.level)),
            _ => None,
        });
        assert_eq!(opened, Some((3, 1, Level::Gentle)), "the host's bot keeps its seat");
        let free = LobbyView { me: Some(seat(0)), seats: vec![view.seats[0].clone(), None, None], ..view };
        tell(&mut stage, SessionEvent::Lobby(free));
        let (name, ticket) = ("Ada".to_owned(), TICKET.to_owned());
        tell(&mut stage, SessionEvent::Invited { seat: seat(other), name, ticket });
        let joins = |effect: &Effect| matches!(effect, Effect::Join { target, .. } if target == TICKET);
        assert_eq!(stage.effects.iter().any(joins), follows);
        if !follows {
            assert!(stage.draw().contains("[f follow Ada]"), "{}", stage.draw());
            stage.keys("f");
            assert!(stage.effects.iter().any(joins));
        }
    }
}

#[test]
fn the_seal_is_explained() {
    let mut stage = seated(0);
    stage.rest();
    stage.keys("S");
    insta::assert_snapshot!("seal", stage.draw());
    stage.keys("d");
    insta::assert_snapshot!("seal-details", stage.draw());
    stage.keys("d");
    assert!(stage.draw().contains("[d details]"));
    // A click beside it closes it, as any click closes the list of keys.
    stage.input(Input::User(UserInput::Click(Position::new(0, 12))));
    assert!(!stage.draw().contains("The seal "));
}

/// The picture follows the deck: locks close as it is shuffled, shares open a card, and seeds prove each shuffle. A seat
/// that has left has none.
#[test]
fn seal_follows_the_table() {
    let mut stage = networked();
    let now = dealt("loot");
    let mut phase = |name: &str, kind: Option<StepKind>, done: &[usize], awaited: &[usize], live: usize| {
        let seats = |all: &[usize]| all.iter().map(|number| seat(*number)).collect::<SeatSet>();
        let (live, log) = (SeatSet::all(live), Hash32([0xab; 32]));
        let sealed_ahead = match name {
            "next" => SealedAhead { next: seats(&[0, 1]), this: None },
            "ahead" => SealedAhead { next: SeatSet::all(3), this: Some(41) },
            _ => SealedAhead::default(),
        };
        let standing =
            Progress { step: 7, kind, deal: 0, live, done: seats(done), awaited: seats(awaited), log, sealed_ahead };
        let now = Snapshot { standing: Standing::Sealed(standing), ..(*now).clone() };
        tell(&mut stage, SessionEvent::Snapshot(Box::new(now)));
        if name == "commit" {
            stage.rest();
            stage.keys("S");
        }
        insta::assert_snapshot!(format!("seal-{name}"), stage.draw());
        // Wrapped lines take no room from the words to compare, which come last.
        let words = fairdeal_session::spoken::spoken(&log.0);
        let last = words.split_whitespace().next_back().unwrap();
        for columns in [60, 70, 120] {
            stage.size = (columns, 40);
            let shown = stage.draw();
            assert!(shown.contains(last), "{last} at {columns} columns: {shown}");
        }
        stage.size = (80, 24);
    };
    phase("commit", Some(StepKind::Commit), &[0], &[1, 2], 3);
    phase("shuffle", Some(StepKind::Shuffle { deck: DeckId(0) }), &[0], &[1], 3);
    // A roll in the middle of the game needs new coins, and no other deck.
    phase("tip", Some(StepKind::Tip), &[], &[0, 1, 2], 3);
    phase("effects", Some(StepKind::Effects), &[1], &[0, 2], 3);
    phase("next", Some(StepKind::Action { leader: seat(1) }), &[], &[1], 3);
    phase("ahead", Some(StepKind::Action { leader: seat(1) }), &[], &[1], 3);
    phase("opening", Some(StepKind::Opening), &[0, 2], &[1], 3);
    phase("over", None, &[], &[], 2);
}

/// The seal names the shares that opened the newest cards, or the card that the player looks at.
#[test]
fn seal_explains_how_a_card_opened() {
    let mut stage = seated(0);
    stage.keys("Sd");
    let dealt = stage.draw();
    let cards = "cards are opened by 2 shares (Béla, Cleo), each proved";
    assert!(dealt.contains(cards), "{dealt}");
    stage.key(KeyCode::Esc);
    stage.rest();
    let sealed = |target: &Target| matches!(target, Target::Spot(Spot::Card(Slot::Sealed(_))));
    let layer = stage.shell.layer();
    let mut targets = layer.targets.iter().map(|(_, target)| *target);
    let card = targets.find(sealed).expect("there is a hand");
    stage.click(card);
    stage.keys("S");
    let picture = stage.draw();
    assert!(picture.contains("only you have all the shares") && picture.contains("✓ Béla  ✓ Cleo"), "{picture}");
    // The card has the name that it has everywhere: not `worker-leaves`, as in files.
    let named = |shown: &str| shown.lines().any(|line| line.contains("Your ") && line.contains(" of "));
    assert!(named(&picture), "{picture}");
    stage.keys("d");
    let panel = stage.draw();
    let one = "is opened by 2 shares (Béla, Cleo), each proved";
    assert!(panel.contains(one) && named(&panel), "{panel}");
}

#[test]
fn leaving_a_game_that_is_not_over_is_asked_about() {
    let mut stage = seated(0);
    stage.rest();
    stage.keys("q");
    insta::assert_snapshot!("leaving", stage.draw());
    stage.keys("n");
    assert_eq!(stage.shell.trail().len(), 2);
    stage.keys("qy");
    assert_eq!(stage.shell.trail(), ["home"]);
}

/// A table for two of persons in the player's turn, which waits as `waits` says.
fn waiting(now: &Snapshot, waits: Waits, awaited: usize) -> SessionEvent {
    let kind = Some(StepKind::Action { leader: seat(0) });
    let (done, awaited) = (SeatSet::one(seat(0)), SeatSet::one(seat(awaited)));
    let log = Hash32([0xab; 32]);
    let sealed_ahead = SealedAhead::default();
    let standing = Progress { step: 7, kind, deal: 0, live: SeatSet::all(3), done, awaited, log, sealed_ahead };
    let standing = Standing::Sealed(standing);
    let seating = fairdeal_session::view::Seating::of_people(3);
    SessionEvent::Snapshot(Box::new(Snapshot { waits, standing, seating, ..now.clone() }))
}

/// An action that waits for the programs of others is said, and nothing is offered meanwhile.
#[test]
fn own_action_that_waits_is_said() {
    let mut stage = networked();
    let now = dealt("loot");
    let game_of = |stage: &mut TestApp, pending: Option<AnyAction>, has_called| {
        let awaited = usize::from(pending.is_some());
        let my_turn = pending.is_none();
        let waits = Waits { pending, has_called, ..Waits::default() };
        tell(stage, waiting(&Snapshot { my_turn, ..(*now).clone() }, waits, awaited));
        stage.draw()
    };
    let name = now.names[1].clone();
    let before = game_of(&mut stage, None, false);
    assert!(before.contains("YOUR TURN") && before.contains("h hint"), "{before}");
    let draw = AnyAction::Loot(LootAction::Take(fairdeal_games::loot::Pile::Draw));
    let made = game_of(&mut stage, Some(draw), false);
    assert!(made.contains(&format!("Your move is made; it waits for {name}'s program.")), "{made}");
    assert!(!made.contains("YOUR TURN") && !made.contains("h hint") && !made.contains("1-2 choose"), "{made}");
    stage.effects.clear();
    stage.key(KeyCode::Enter);
    stage.keys("1");
    assert!(stage.effects.is_empty(), "{:?}", stage.effects);
    // A program that does not answer has a sentence of its own, and the way to close the table.
    let waits = Waits {
        pending: Some(AnyAction::Loot(LootAction::Take(fairdeal_games::loot::Pile::Draw))),
        unanswering: SeatSet::one(seat(1)),
        may_claim: Some(Closing::Claim(Ground::Absent)),
        ..Waits::default()
    };
    tell(&mut stage, waiting(&Snapshot { my_turn: false, ..(*now).clone() }, waits, 1));
    let closing = stage.draw().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(closing.contains(&format!("Your move is made. {name}'s program does not answer.")), "{closing}");
    assert!(closing.contains("Press q, then c, to close the table"), "{closing}");
    let fired = game_of(&mut stage, Some(AnyAction::Loot(LootAction::Fire)), true);
    assert!(fired.contains(&format!("You fire the village; it waits for {name}'s program.")), "{fired}");
    // An action that was not carried out after all is offered again.
    let again = game_of(&mut stage, None, false);
    assert!(again.contains("YOUR TURN") && again.contains("h hint"), "{again}");
}

/// While others think, a player chooses ahead, with keys alone or the mouse alone. The premove is shown, and the
/// same key takes it back.
#[test]
fn move_is_prepared_for_the_next_turn() {
    for (game, is_clicked) in [("loot", false), ("plutonian-poker", false), ("plutonian-poker", true)] {
        let mut stage = networked();
        let now = dealt(game);
        let acts = now.game.to_act().iter().next().unwrap();
        let me = Seat::first(3).find(|seat| *seat != acts).unwrap();
        let now = Snapshot { me: Some(me), my_turn: false, ..(*now).clone() };
        tell(&mut stage, waiting(&now, Waits::default(), acts.index()));
        let before = stage.draw();
        assert!(before.contains("Waiting for") && before.contains("k prepare"), "{before}");
        let begin = |stage: &mut TestApp| if is_clicked { stage.click(super::button::AHEAD) } else { stage.keys("k") };
        begin(&mut stage);
        let chosen = stage.draw();
        assert!(chosen.contains("NEXT TURN  Choose the move to play when your turn comes."), "{chosen}");
        if game == "plutonian-poker" && !is_clicked {
            insta::assert_snapshot!("next-turn", chosen);
        }
        // The same table again, with a clock that has moved on, leaves the choice as it is.
        let clock = Waits {
            seats: vec![Waiting { seat: acts, silent: Some(20), turn_left: None, holiday: None }],
            ..Waits::default()
        };
        tell(&mut stage, waiting(&now, clock, acts.index()));
        assert!(stage.draw().contains("NEXT TURN"));
        stage.effects.clear();
        for _ in 0..4 {
            let Some(focus) = stage.shell.focus().filter(|_| stage.effects.is_empty()) else { break };
            if is_clicked {
                stage.click(focus);
            } else {
                stage.key(KeyCode::Enter);
            }
            stage.draw();
        }
        let shown = stage.draw();
        let [Effect::Session(Command::Premove(Some(action)))] = stage.effects.as_slice() else {
            panic!("{game}: {:?}\n{shown}", stage.effects);
        };
        let waits = Waits { premove: Some(action.action.clone()), ..Waits::default() };
        stage.effects.clear();
        tell(&mut stage, waiting(&now, waits, acts.index()));
        let ready = stage.draw();
        let words = ready.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Prepared: ") && words.contains("k takes it back."), "{ready}");
        if game == "plutonian-poker" && !is_clicked {
            insta::assert_snapshot!("prepared", ready);
        }
        begin(&mut stage);
        assert!(matches!(stage.effects.as_slice(), [Effect::Session(Command::Premove(None))]));
        // Back ends the choice without one, and the turn begins as usual.
        stage.effects.clear();
        tell(&mut stage, waiting(&now, Waits::default(), acts.index()));
        begin(&mut stage);
        stage.key(KeyCode::Esc);
        assert!(stage.draw().contains("Waiting for") && stage.effects.is_empty());
        begin(&mut stage);
        let mine = Snapshot { game: now.game.ahead(me).unwrap(), my_turn: true, ..now.clone() };
        tell(&mut stage, waiting(&mine, Waits::default(), me.index()));
        assert!(stage.draw().contains("YOUR TURN"), "{}", stage.draw());
    }
}

/// While the seats shuffle, nobody is told that it is their turn.
#[test]
fn turn_begins_after_the_deal() {
    let mut stage = networked();
    let now = Snapshot { my_turn: false, known: fairdeal_protocol::card::Faces::default(), ..(*dealt("loot")).clone() };
    let rules = rule_set("loot", 3, &std::collections::BTreeMap::new()).unwrap();
    let now = Snapshot { game: AnyGame::create(&rules).unwrap(), me: Some(seat(0)), ..now };
    let SessionEvent::Snapshot(mut now) = waiting(&now, Waits::default(), 1) else { return };
    if let Standing::Sealed(progress) = &mut now.standing {
        progress.kind = Some(StepKind::Commit);
    }
    tell(&mut stage, SessionEvent::Snapshot(now));
    let shown = stage.draw();
    assert!(shown.contains("The deal is being set up.") && !shown.contains("YOUR TURN"), "{shown}");
}

/// A dead program is no thinking player: the prompt says what is so, what to do, and from when on something can be done.
#[test]
fn programs_that_do_not_answer_are_said() {
    let mut stage = networked();
    let now = dealt("loot");
    let name = now.names[1].clone();
    let waits = |remedy| Waits { unanswering: SeatSet::one(seat(1)), remedy, ..Waits::default() };
    let prompt = |stage: &mut TestApp, now: &Snapshot, waits: Waits| {
        tell(stage, waiting(now, waits, 1));
        let shown = stage.draw();
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mine = prompt(&mut stage, &now, waits(None));
    let text = format!("{name}'s program does not answer: your move will wait. The game is saved, and q pauses it.");
    assert!(mine.contains("YOUR TURN") && mine.contains(&text), "{mine}");
    let other = Snapshot { me: Some(seat(2)), my_turn: false, ..(*now).clone() };
    let mut stage = networked();
    let close = prompt(&mut stage, &other, waits(Some((Remedy::Close, 110))));
    let text = format!("{name}'s program does not answer. The game is saved: {name} can resume it, and q pauses it.");
    assert!(close.contains(&text) && close.contains("In 110 s you may close the table."), "{close}");
    assert!(close.contains(&format!("Waiting for {}.", now.names[0])), "{close}");
    let on = prompt(&mut stage, &other, waits(Some((Remedy::PlayOn, 20))));
    assert!(on.contains(&format!("In 20 s the game goes on without {name}.")), "{on}");
    tell(&mut stage, SessionEvent::Peer { seat: seat(1), state: fairdeal_session::view::PeerState::Paused });
    let paused = prompt(&mut stage, &other, waits(None));
    assert!(paused.contains(&format!("{name} has paused. The game is saved")), "{paused}");
}

/// Leaving for good waits for the programs of others: that is said at the table, and on no other screen.
#[test]
fn leaving_for_good_is_said_at_the_table() {
    let mut stage = networked();
    let now = dealt("loot");
    tell(&mut stage, waiting(&now, Waits::default(), 0));
    stage.draw();
    stage.keys("qf");
    assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::Session(Command::Leave))));
    assert!(!stage.draw().contains("Stay until then"), "{}", stage.draw());
    tell(&mut stage, waiting(&now, Waits { is_leaving: true, ..Waits::default() }, 1));
    let shown = stage.draw();
    let text = format!("You leave for good as soon as {}'s program has heard it.", now.names[1]);
    assert!(shown.contains(&text) && !shown.contains("YOUR TURN"), "{shown}");
    tell(&mut stage, SessionEvent::Peer { seat: seat(0), state: fairdeal_session::view::PeerState::Left });
    stage.input(Input::UiEvent(UiEvent::SessionEnded));
    assert!(!stage.draw().contains("You leave"), "{}", stage.draw());
}

/// A phone held upright has cards for fingers: at its 6.5 by 13.9 pixels a cell, 44 pixels are seven columns and four rows.
#[test]
fn phone_held_upright_has_cards_for_fingers() {
    for info in fairdeal_games::GAMES {
        let mut stage = networked();
        stage.size = (60, 48);
        tell(&mut stage, SessionEvent::Snapshot(dealt(info.id)));
        insta::assert_snapshot!(format!("tall-{}", info.id), stage.draw());
        let targets = stage.shell.layer().targets.clone();
        for (area, target) in targets {
            // Eight squares side by side are a little narrower, and the piles of the Houses are only read.
            let is_for_fingers = match target {
                Target::Spot(Spot::Card(_)) => true,
                Target::Spot(Spot::Pile(_)) => !["sphinxs-paw", "houses-of-thoth"].contains(&info.id),
                _ => false,
            };
            assert!(!is_for_fingers || (area.width >= 7 && area.height >= 4), "{}: {target:?} {area}", info.id);
        }
    }
}

/// On the smallest screen a hint is in one piece, and a prompt of several rows leaves the line that says what Enter does.
#[test]
fn long_texts_leave_each_other_room() {
    let mut stage = networked();
    stage.size = (60, 20);
    let now = dealt("loot");
    let turn = |own_turn_left, unanswering| Waits { own_turn_left, unanswering, ..Waits::default() };
    tell(&mut stage, waiting(&now, turn(Some(540), SeatSet::EMPTY), 0));
    stage.rest();
    let shown = stage.draw();
    assert!(shown.contains("YOUR TURN") && shown.contains("Enter take"), "{shown}");
    tell(&mut stage, waiting(&now, turn(Some(540), SeatSet::one(seat(1))), 0));
    let shown = stage.draw();
    assert!(shown.contains("YOUR TURN") && shown.contains("Enter take") && shown.contains("q pauses it."), "{shown}");
    insta::assert_snapshot!("long-prompt-60x20", shown);
    tell(&mut stage, waiting(&now, turn(None, SeatSet::EMPTY), 0));
    stage.keys("h");
    let shown = stage.draw();
    assert!(shown.contains("YOUR TURN") && shown.contains("✓ "), "{shown}");
    insta::assert_snapshot!("hint-60x20", shown);
}

/// A clock stands behind the score: "9 min left 0" would read as one.
#[test]
fn score_stands_before_the_clock() {
    for size in [(60, 20), (80, 24)] {
        let mut stage = seated(0);
        stage.size = size;
        stage.rest();
        let left = |number| Waiting { seat: seat(number), silent: None, turn_left: Some(540), holiday: None };
        stage.waits_for_seat_0(seat(0), Waits { seats: vec![left(0), left(1)], ..Waits::default() });
        let shown = stage.draw();
        let clocks = shown.split("9 min left").skip(1);
        let followed = clocks.filter(|rest| rest.starts_with(" 0") || rest.starts_with("  0")).count();
        assert!(shown.contains("9 min left") && followed == 0, "{shown}");
    }
}

/// An arrow of what has moved never comes between two words.
#[test]
fn arrows_leave_texts_alone() {
    let (motion, to) = (Line::raw("▲"), Spot::Part(seat(1), 0));
    let mut traces = super::Stage::default();
    traces.trace(&[crate::tables::Motion::Fly { what: motion, from: Spot::Seat(seat(0)), to }], |_| true);
    for (text, arrows) in [("ace of wands", 0), ("▲    ▲", 1)] {
        let area = Rect::new(0, 0, 12, 3);
        let mut buffer = Buffer::empty(area);
        let (theme, marks, mut layer) = (Theme::default(), Marks::default(), Layer::default());
        let mut canvas = Canvas::new(&mut buffer, &theme, &marks, None, &mut layer);
        canvas.place(Rect::new(0, 2, 12, 1), Spot::Seat(seat(0)));
        canvas.place(Rect::new(0, 0, 12, 1), to);
        canvas.put(Rect::new(0, 0, 12, 1), Line::raw(text));
        traces.draw(&mut canvas);
        let drawn: String = (0..12).map(|x| buffer[(x, 0)].symbol().to_owned()).collect();
        assert_eq!(drawn.matches(['↑', '↓', '←', '→']).count(), arrows, "{drawn}");
    }
}

/// A game of Loot at a moment when the player may fire the village.
fn before_a_fire() -> TestApp {
    let mut stage = seated(0);
    stage.rest();
    while !stage.draw().contains("f fire") {
        let action = stage.advice().expect("it is the player's turn");
        act(&mut stage, &action, by_keys);
        stage.rest();
    }
    stage
}

/// A second call is not offered before the next turn has been played.
#[test]
fn one_call_is_offered_between_two_turns() {
    let mut stage = before_a_fire();
    stage.waits_for_seat_0(seat(0), Waits { has_called: true, ..Waits::default() });
    let shown = stage.draw();
    assert!(!shown.contains("f fire the village"), "{shown}");
}

/// A waiting player sees the available remedies and their ground.
#[test]
fn options_against_an_idle_player() {
    let late = Waiting { seat: seat(0), silent: None, turn_left: Some(0), holiday: None };
    let waits = |may_claim, may_propose| Waits { seats: vec![late], may_claim, may_propose, ..Waits::default() };
    let mut stage = seated(0);
    stage.rest();
    stage.waits_for_seat_0(seat(1), waits(None, SeatSet::one(seat(0))));
    let shown = stage.draw();
    assert!(shown.contains("time is up"), "{shown}");
    assert!(shown.contains("Press x to propose playing on without Anna"), "{shown}");
    for (ground, why) in [(Ground::OutOfTime, "time is up"), (Ground::Absent, "The others do not")] {
        let closing = Some(Closing::Claim(ground));
        stage.waits_for_seat_0(seat(1), waits(closing, SeatSet::EMPTY));
        let shown = stage.draw();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(why), "{shown}");
        assert!(words.contains("Press q, then c, to close the table: the game ends unfinished."), "{shown}");
        stage.keys("q");
        let shown = stage.draw();
        let offer = shown.lines().find(|line| line.contains("[c close the table]"));
        assert!(offer.is_some_and(|line| line.contains("the game ends for good, unfinished")), "{shown}");
        let words = shown.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("The game is not over.") && words.matches(why).count() > 1, "{shown}");
        stage.keys("n");
    }
    let culprit = Some(Closing::Fork(seat(0)));
    stage.waits_for_seat_0(seat(1), waits(culprit, SeatSet::EMPTY));
    stage.keys("q");
    let shown = stage.draw();
    assert!(shown.contains("Anna has cheated"), "{shown}");
    stage.keys("n");
    stage.waits_for_seat_0(seat(1), waits(Some(Closing::Unsigned), SeatSet::EMPTY));
    let shown = stage.draw();
    assert!(shown.contains("Too few of the others are there"), "{shown}");
    stage.keys("q");
    assert!(!stage.draw().contains("[c close"));
    stage.keys("n");
}

/// At a table for two the others are one player, who has won in most games.
#[test]
fn forfeit_of_one_of_two_says_what_it_means() {
    let mut stage = networked();
    let mut now = dealt("loot");
    now.standing = Standing::Sealed(Progress {
        step: 7,
        kind: Some(StepKind::Action { leader: seat(0) }),
        deal: 0,
        live: SeatSet::all(2),
        done: SeatSet::EMPTY,
        awaited: SeatSet::one(seat(0)),
        log: Hash32::default(),
        sealed_ahead: SealedAhead::default(),
    });
    let name = now.names[1].clone();
    now.names.truncate(2);
    for (game, meaning) in [("loot", "wins"), ("plutonian-poker", "wins"), ("sphinxs-paw", "plays on")] {
        now.game = crate::tables::testing::Scene::new(game, 2, &[], 1).game;
        tell(&mut stage, SessionEvent::Snapshot(now.clone()));
        stage.draw();
        stage.keys("q");
        let shown = stage.draw();
        assert!(shown.contains(&format!("[f forfeit] leave for good; {name} {meaning}")), "{shown}");
        stage.keys("n");
    }
}

#[test]
fn news_of_peers_are_told() {
    let mut stage = seated(0);
    let lost = SessionEvent::Peer { seat: seat(1), state: fairdeal_session::view::PeerState::Lost };
    tell(&mut stage, lost);
    assert!(stage.draw().contains("is lost"));
}

/// Chat is stored nowhere, so its author learns at once who will not read it.
#[test]
fn messages_that_nobody_gets_are_told() {
    use fairdeal_session::view::PeerState::{Connected, Lost};
    let mut stage = networked();
    stage.size = (140, 45);
    let now = dealt("loot");
    tell(&mut stage, SessionEvent::Snapshot(now.clone()));
    let said = |seat| SessionEvent::Chat { seat, name: "Somebody".to_owned(), text: "hello".to_owned() };
    let notes = |stage: &mut TestApp| stage.draw().matches("and will not get").count();
    tell(&mut stage, said(now.me));
    assert_eq!(notes(&mut stage), 0);
    tell(&mut stage, SessionEvent::Peer { seat: seat(1), state: Lost });
    let away = |indirect| Snapshot { connected: now.connected.without(seat(1)), indirect, ..(*now).clone() };
    // The host hands it on.
    tell(&mut stage, SessionEvent::Snapshot(Box::new(away(SeatSet::one(seat(1))))));
    tell(&mut stage, said(now.me));
    assert_eq!(notes(&mut stage), 0);
    tell(&mut stage, SessionEvent::Snapshot(Box::new(away(SeatSet::EMPTY))));
    tell(&mut stage, said(now.me));
    let shown = stage.draw();
    assert!(shown.contains(&format!("{} is not connected", now.names[1])), "{shown}");
    // Others wrote it, or everybody is back.
    tell(&mut stage, said(Some(seat(2))));
    tell(&mut stage, said(None));
    tell(&mut stage, SessionEvent::Peer { seat: seat(1), state: Connected });
    tell(&mut stage, SessionEvent::Snapshot(now.clone()));
    tell(&mut stage, said(now.me));
    assert_eq!(notes(&mut stage), 1);
}

/// The others have closed the table while the player was away: nothing is offered, and nothing seems to go on.
#[test]
fn closed_out_player_can_only_leave() {
    let mut stage = networked();
    let now = dealt("loot");
    let closed_by = [seat(1), seat(2)].into_iter().collect();
    tell(&mut stage, SessionEvent::Snapshot(now.clone()));
    assert!(stage.draw().contains("YOUR TURN"));
    let waits = Waits { closed_by, ..Waits::default() };
    tell(&mut stage, waiting(&now, waits, 0));
    let shown = stage.draw();
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!("{} and {} closed the table while you were away", now.names[1], now.names[2]);
    assert!(words.contains(&text) && words.contains("Press q to leave."), "{shown}");
    assert!(!shown.contains("YOUR TURN") && !shown.contains('▶') && !shown.contains("h hint"), "{shown}");
    stage.effects.clear();
    stage.key(KeyCode::Enter);
    assert!(stage.effects.is_empty(), "{:?}", stage.effects);
    stage.keys("q");
    let shown = stage.draw();
    assert!(shown.contains("[y yes, leave]") && !shown.contains("forfeit"), "{shown}");
}

/// After a claim the board of the signer says nothing of a turn, a clock or a fire.
#[test]
fn closed_board_is_still() {
    let mut stage = before_a_fire();
    let late = Waiting { seat: seat(1), silent: None, turn_left: Some(420), holiday: None };
    stage.waits_for_seat_0(seat(0), Waits { seats: vec![late], ..Waits::default() });
    assert!(stage.draw().contains("7 min left"), "{}", stage.draw());
    let (by, absent, ground) = (vec![seat(0)], vec![seat(1), seat(2)], Ground::Absent);
    tell(&mut stage, SessionEvent::Claimed { by, absent, ground, transcript: Some("/games/07.fairdeal".into()) });
    stage.rest();
    let shown = stage.draw();
    assert!(!shown.contains("7 min left") && !shown.contains('▶') && !shown.contains("fires it"), "{shown}");
    assert!(shown.contains("The table is closed"), "{shown}");
}

/// Once the others play on without a player, that player has no more turns.
#[test]
fn a_closed_table_offers_nothing() {
    let mut stage = seated(0);
    stage.rest();
    assert!(stage.draw().contains("YOUR TURN"));
    let stopped = SessionEvent::Fault {
        stopped: true,
        seat: None,
        what: "the others play on without you".to_owned(),
        evidence: None,
    };
    tell(&mut stage, stopped);
    let shown = stage.draw();
    assert!(!shown.contains("YOUR TURN"), "{shown}");
    assert!(shown.contains("You cannot play on here"), "{shown}");
    assert!(shown.contains("the others play on without"), "{shown}");
    assert!(shown.contains("q leave"), "{shown}");
}

#[test]
fn lost_host_is_told_of_until_it_shows_the_table_again() {
    let mut stage = seated(2);
    let reaching = SessionEvent::Reaching { seconds: 42, why: None, reply: None };
    let lost = "Lost the connection to the host. Trying for 42 s more.";
    tell(&mut stage, reaching);
    assert!(stage.draw().contains(lost), "{}", stage.draw());
    stage.waits_for_seat_0(seat(1), Waits::default());
    assert!(!stage.draw().contains(lost), "{}", stage.draw());
}

/// Arrows and ghosts on the board, until the player acts; in the log the pictures stay.
#[test]
fn what_has_moved_since_the_own_turn_is_marked() {
    let arrows = |stage: &mut TestApp| stage.draw().matches(['←', '↑', '↓']).count();
    let mut stage = seated(3);
    stage.size = (120, 40);
    stage.rest();
    let mut most = 0;
    while most < 3 {
        stage.keys("h");
        assert_eq!(arrows(&mut stage), most, "a hint is no action");
        stage.key(KeyCode::Enter);
        stage.rest();
        most = arrows(&mut stage);
    }
    insta::assert_snapshot!("moved-since", stage.draw());
    stage.size = (80, 24);
    insta::assert_snapshot!("moved-since-80x24", stage.draw());
    assert!(stage.draw().contains("Cleo ▸ c4 [6] +▟█▙e4 +▲e4 ▟█▙e4→f6 ▟█▙f6→e6"));
    stage.key(KeyCode::Enter);
    assert_eq!(arrows(&mut stage), 0, "{}", stage.draw());
    assert!(stage.draw().contains("Anna ▸ "), "{}", stage.draw());
}

/// Hints see the visible cards alone, and those of a deal that can be won could lose it.
#[test]
fn deal_of_the_day_has_no_hints() {
    let mut stage = networked();
    let mut now = dealt("ivory-tower");
    now.standing = Standing::Sealed(Progress {
        step: 3,
        kind: None,
        deal: 0,
        live: SeatSet::all(1),
        done: SeatSet::EMPTY,
        awaited: SeatSet::all(1),
        log: Hash32::default(),
        sealed_ahead: SealedAhead::default(),
    });
    tell(&mut stage, SessionEvent::Snapshot(now.clone()));
    assert!(stage.draw().contains("hint"), "{}", stage.draw());
    let options = [("daily".to_owned(), "2026-11-21".to_owned())].into_iter().collect();
    now.game = AnyGame::create(&rule_set("ivory-tower", 1, &options).unwrap()).unwrap();
    tell(&mut stage, SessionEvent::Snapshot(now));
    assert!(!stage.draw().contains("hint"), "{}", stage.draw());
    stage.keys("h");
    assert!(stage.draw().contains("The deal of the day has no hints"), "{}", stage.draw());
}
