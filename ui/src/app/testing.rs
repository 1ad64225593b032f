//! Test helpers for screens: a simulated player at the interface, and a game behind it.

// A panic is a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::missing_panics_doc)]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::bot;
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::loot::LootAction;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, TableEvent as _, rule_set};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::{SealedAhead, StepKind};
use fairdeal_protocol::transcript::Transcript;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};

use super::event::{Input, UiEvent};
use super::screen::{Context, Effect, Opening};
use super::screens::home::Home;
use super::screens::welcome::Welcome;
use super::shell::Shell;
use crate::appearance::{ThemeChoice, ThemeName};
use crate::canvas::Target;
use crate::input::{KeyCode, UserInput};
use crate::settings::Settings;
use crate::svg::svg;
use crate::tables::testing::{Scene, seat};
use crate::theme::Depth;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::practice::{Opponents, Practice};
use fairdeal_session::view::{LobbyView, Snapshot, Standing, Waits};

/// A transcript among the files of the repository.
pub fn transcript(path: &str) -> Transcript {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Transcript::from_bytes(&std::fs::read(root.join(path)).unwrap()).unwrap()
}

/// Shared screen state for tests.
pub fn context(ascii: bool) -> Context {
    let depth = if ascii { Depth::Mono } else { Depth::Indexed };
    let mut context = Context {
        ascii,
        user: "Anna".to_owned(),
        today: "2026-11-21".to_owned(),
        check_target: |text| {
            if text.starts_with("fd1") {
                Ok(())
            } else {
                Err("this is not a fairdeal ticket; one starts with fd1".to_owned())
            }
        },
        ..Context::new(Settings::default(), depth)
    };
    context.dress();
    context
}

/// The interface with a game behind it. The player has the first seat, and the others act at random.
pub struct TestApp {
    pub shell: Shell,
    pub scene: Option<Scene>,
    pub size: (u16, u16),
    /// Effects that were not carried out here.
    pub effects: Vec<Effect>,
    /// The table that was opened last.
    pub opened: Option<Opening>,
    /// A practice game, instead of the scene.
    practice: Option<Practice>,
    /// The cards that the player last knew.
    known: Faces,
    step: u64,
    /// Seed of the next game.
    pub seed: u8,
    /// The seats that the table waits for, in the next snapshot.
    waits: Waits,
    /// Whether people have the other seats.
    pub people: bool,
    is_over: bool,
    bot: Box<dyn Bot<AnyGame>>,
    rng: ChaCha20Rng,
}

impl TestApp {
    /// Starts at the home screen.
    pub fn at_home(ascii: bool) -> Self {
        Self::with(Shell::new(context(ascii), Box::new(Home::default())))
    }

    /// Starts with a player whose name is not known.
    pub fn at_first_start(ascii: bool) -> Self {
        let context = context(ascii);
        let welcome = Welcome::default();
        Self::with(Shell::new(context, Box::new(welcome)))
    }

    pub fn with(shell: Shell) -> Self {
        let mut stage = Self {
            shell,
            scene: None,
            size: (80, 24),
            effects: Vec::new(),
            opened: None,
            practice: None,
            known: Faces::default(),
            step: 9,
            seed: 3,
            waits: Waits::default(),
            people: false,
            is_over: false,
            bot: bot(Level::Normal),
            rng: ChaCha20Rng::from_seed([1; 32]),
        };
        stage.draw();
        stage
    }

    /// The screen as text.
    pub fn draw(&mut self) -> String {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| self.shell.draw(frame)).unwrap();
        let text = terminal.backend().to_string();
        let rows = text.lines().map(|row| row.trim_matches('"').trim_end());
        rows.collect::<Vec<_>>().join("\n")
    }

    /// The colours on the screen: each run of characters in one style other than the terminal's default.
    pub fn draw_colours(&mut self) -> String {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| self.shell.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let look = |cell: &Cell| (cell.fg, cell.bg, cell.modifier);
        let mut text = String::new();
        for y in 0..self.size.1 {
            let row: Vec<&Cell> = (0..self.size.0).map(|x| &buffer[(x, y)]).collect();
            let mut x = 0;
            for run in row.chunk_by(|a, b| look(a) == look(b)) {
                let (ink, ground, modifier) = look(run[0]);
                let words: String = run.iter().map(|cell| cell.symbol()).collect();
                let plain = (Color::Reset, Color::Reset, Modifier::empty());
                if (ink, ground, modifier) != plain && (!words.trim().is_empty() || ground != plain.1) {
                    let how = format!("{ink} on {ground} {modifier:?}");
                    writeln!(text, "{y:>2},{x:<3} {how}: {}", words.trim_end()).unwrap();
                }
                x += run.len();
            }
        }
        text
    }

    /// The screen as an SVG picture in a theme.
    pub fn draw_svg(&mut self, theme: ThemeName) -> String {
        let context = self.shell.context_mut();
        (context.depth, context.settings.theme) = (Depth::True, ThemeChoice::BuiltIn(theme));
        context.dress();
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| self.shell.draw(frame)).unwrap();
        svg(terminal.backend().buffer())
    }

    /// Passes an input to the shell and carries out the effects.
    pub fn input(&mut self, input: Input) {
        let effects = self.shell.update(input);
        for effect in effects {
            self.carry_out(effect);
        }
        self.draw();
    }

    pub fn key(&mut self, code: KeyCode) {
        self.input(Input::User(UserInput::Key(code.into())));
    }

    /// Types a text, letter by letter.
    pub fn keys(&mut self, text: &str) {
        text.chars().for_each(|c| self.key(KeyCode::Char(c)));
    }

    /// Clicks the first visible cell of a target.
    pub fn click(&mut self, target: Target) {
        let layer = self.shell.layer();
        let areas = layer.targets.iter().filter(|(_, other)| *other == target);
        let free = areas.flat_map(|(area, _)| area.positions()).find(|position| layer.at(*position) == Some(target));
        let Some(at) = free else {
            panic!("{target:?} is not there:\n{}", self.draw());
        };
        self.input(Input::User(UserInput::Click(at)));
    }

    /// Clicks a text on the screen, below the top row.
    pub fn click_on(&mut self, text: &str) {
        let shown = self.draw();
        let found = shown.lines().enumerate().skip(1).find_map(|(y, row)| {
            let (before, _) = row.split_once(text)?;
            Some((before.chars().count(), y))
        });
        let Some((x, y)) = found else {
            panic!("'{text}' is not there:\n{shown}");
        };
        self.input(Input::User(UserInput::Click(Position::new(x.try_into().unwrap(), y.try_into().unwrap()))));
    }

    /// Lets time pass until nothing moves.
    pub fn rest(&mut self) {
        self.rest_by(Duration::from_secs(1));
    }

    /// The same in steps of this length. Returns how long it takes.
    pub fn rest_by(&mut self, step: Duration) -> Duration {
        let mut taken = Duration::ZERO;
        while self.shell.pace().is_some() {
            assert!(taken < step * 1000, "it moves for ever");
            self.input(Input::Tick(step));
            taken += step;
        }
        taken
    }

    fn event(&mut self, event: SessionEvent) {
        self.input(Input::UiEvent(UiEvent::Session(event)));
    }

    pub fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Open(opening) if opening.practice => {
                let options = opening.options.into_iter().collect();
                let rules = rule_set(&opening.game, opening.seats, &options).unwrap();
                let dealt = Practice::deal(&rules, "Anna", Opponents::none(), [3; 32]);
                let (practice, events) = dealt.unwrap();
                for event in events {
                    self.event(event);
                }
                self.practice = Some(practice);
            }
            Effect::Session(command) if self.practice.is_some() => {
                let practice = self.practice.as_mut().unwrap();
                for event in practice.answer(command).unwrap_or_default() {
                    self.event(event);
                }
            }
            Effect::Open(opening) => {
                self.opened = Some(opening.clone());
                let options: Vec<(&str, &str)> = opening
                    .options
                    .iter()
                    .filter(|(key, _)| !["strict", "turn-time"].contains(&key.as_str()))
                    .map(|(key, value)| (key.as_str(), value.as_str()))
                    .collect();
                let mut scene = Scene::new(&opening.game, opening.seats, &options, self.seed);
                scene.names[0] = "Anna".to_owned();
                self.event(SessionEvent::Lobby(LobbyView {
                    game: opening.game,
                    options: opening.options,
                    seats: scene.lobby_seats(),
                    me: Seat::new(0),
                    ..LobbyView::default()
                }));
                // As at a real table: the first snapshot is the table before the game has begun.
                let begun = std::mem::replace(&mut scene.game, scene.unbegun.clone());
                self.scene = Some(scene);
                self.tell(Vec::new());
                if let Some(scene) = &mut self.scene {
                    scene.game = begun;
                }
                self.others();
            }
            Effect::Session(Command::Act(action)) => {
                let scene = self.scene.as_mut().unwrap();
                let events = scene.act(seat(0), &action);
                self.tell(events);
                self.others();
            }
            effect => self.effects.push(effect),
        }
    }

    /// Shows another player a table that waits for seat 0.
    pub fn waits_for_seat_0(&mut self, player: Seat, waits: Waits) {
        self.waits = waits;
        self.tell_to(player, Vec::new());
    }

    /// Lets another seat fire the village.
    pub fn fires(&mut self, other: Seat) {
        let scene = self.scene.as_mut().unwrap();
        let events = scene.act(other, &AnyAction::Loot(LootAction::Fire));
        self.tell(events);
        self.others();
    }

    /// Lets the others act until it is the player's turn.
    fn others(&mut self) {
        self.tell(Vec::new());
        loop {
            let scene = self.scene.as_mut().unwrap();
            let mut others = scene.game.to_act().without(seat(0)).iter();
            let (mine, Some(other)) = (scene.game.to_act().contains(seat(0)), others.next()) else {
                return;
            };
            if mine {
                return;
            }
            let known = scene.known(other);
            let action = self.bot.choose(&scene.game, other, &known, &mut self.rng);
            let events = scene.act(other, &action.unwrap());
            self.tell(events);
        }
    }

    fn tell(&mut self, events: Vec<AnyEvent>) {
        self.tell_to(seat(0), events);
    }

    fn tell_to(&mut self, me: Seat, events: Vec<AnyEvent>) {
        self.step += 1;
        let scene = self.scene.as_ref().unwrap();
        let lines: Vec<String> = events.iter().map(|event| event.text(&scene.names)).collect();
        let game = scene.game.clone();
        let leader = game.to_act().iter().next().unwrap_or(seat(0));
        let known = scene.known(me);
        let others = SeatSet::all(scene.names.len()).without(me);
        let snapshot = Snapshot {
            shares: known.iter().map(|(card, _)| (card, others)).collect(),
            waits: self.waits.clone(),
            timing: None,
            holidays: Vec::new(),
            holidays_left: 0,
            table: Hash32([7; 32]),
            me: Some(me),
            names: scene.names.clone(),
            seating: if self.people {
                fairdeal_session::view::Seating::of_people(scene.names.len())
            } else {
                scene.seating()
            },
            known,
            standing: Standing::Sealed(Progress {
                step: self.step,
                kind: (!game.is_over()).then_some(StepKind::Action { leader }),
                deal: 0,
                live: SeatSet::all(scene.names.len()),
                done: SeatSet::EMPTY,
                awaited: SeatSet::one(leader),
                log: Hash32([0xab; 32]),
                sealed_ahead: SealedAhead::default(),
            }),
            my_turn: leader == me,
            indirect: SeatSet::EMPTY,
            connected: SeatSet::all(scene.names.len()),
            game,
        };
        let (over, scores) = (snapshot.game.is_over(), snapshot.game.scores());
        let winners = snapshot.game.winners().iter().collect();
        for (event, line) in events.into_iter().zip(lines) {
            self.event(SessionEvent::Game(event));
            if !line.is_empty() {
                self.event(SessionEvent::Line(line));
            }
        }
        // As at a real table: a card often becomes known just after the game has moved on.
        let mut early = snapshot.clone();
        early.known = std::mem::replace(&mut self.known, snapshot.known.clone());
        if early != snapshot {
            self.event(SessionEvent::Snapshot(Box::new(early)));
        }
        self.event(SessionEvent::Snapshot(Box::new(snapshot)));
        if over && !self.is_over {
            self.is_over = true;
            self.event(SessionEvent::Over {
                scores,
                winners,
                log: Hash32([0xab; 32]),
                transcript: Some(PathBuf::from("/games/transcripts/0707.fairdeal")),
            });
        }
    }

    /// A bot's action in the player's place, if it is the player's turn.
    pub fn advice(&mut self) -> Option<AnyAction> {
        let scene = self.scene.as_ref().unwrap();
        let mine = scene.game.to_act().contains(seat(0));
        let known = scene.known(seat(0));
        let advice = mine.then(|| self.bot.choose(&scene.game, seat(0), &known, &mut self.rng));
        advice.flatten()
    }

    /// How often the table has changed.
    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }
}
