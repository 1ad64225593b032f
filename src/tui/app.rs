//! The interface's state, and what keys, clicks and news do to it. No I/O.

use std::path::PathBuf;

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use ratatui::layout::{Position, Rect};

use super::burn::Burn;
use super::style::Theme;
use super::{TuiOptions, burn, help, lobby, plain, table};
use crate::games::loot::cards::{GodSet, rank, suit};
use crate::games::loot::score::{Arrangement, Kind, best};
use crate::games::loot::{LastHand, Loot, LootAction as Action, LootEvent, Phase, Pile};
use crate::games::{AnyAction, AnyEvent, AnyGame};
use crate::session::{LobbyView, PeerState, SessionEvent, Snapshot};

/// How many lines of the log are kept.
const LINES: usize = 500;

/// What comes in.
#[derive(Debug)]
pub enum Input {
    /// News from the session.
    Session(SessionEvent),
    /// The session has ended.
    SessionEnded,
    /// A key, a click, a new size.
    Terminal(Event),
    /// Time to move what moves.
    Tick,
}

/// What goes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Act at the table.
    Act(AnyAction),
    /// Leave the game for good.
    Forfeit,
    /// Close the table, because the other one stays away.
    Claim,
    /// Leave the program.
    Leave,
}

/// How it ended, for a line after the screen is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The player left.
    #[default]
    Left,
    /// The game is over.
    Over {
        /// The scores with their names.
        scores: Vec<(String, i64)>,
        /// The transcript file.
        transcript: PathBuf,
    },
    /// It could not go on; the reason in words.
    Failed(String),
}

/// What lies over the table.
#[derive(Debug)]
pub(super) enum Overlay {
    None,
    Help,
    ConfirmFire,
    ConfirmLeave,
    Burn(Burn),
    Over,
}

/// A place that can be clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    Card(usize),
    Group(usize),
    Item(usize),
    Choose,
    Draw,
    Discard,
    DropSelected,
    Fire,
    Help,
    Leave,
    Yes,
    No,
    Forfeit,
    Claim,
    Close,
}

/// The end of a game.
#[derive(Clone, Debug)]
pub(super) struct GameResult {
    pub(super) scores: Vec<i64>,
    pub(super) winners: Vec<String>,
    pub(super) log: Hash32,
    pub(super) transcript: PathBuf,
}

/// See the module's head.
#[derive(Debug)]
pub struct App {
    pub(super) theme: Theme,
    pub(super) lobby: LobbyView,
    pub(super) snapshot: Option<Snapshot>,
    /// The names at the table, once it is open.
    names: Vec<String>,
    pub(super) lines: Vec<String>,
    /// How many lines the log is scrolled back.
    pub(super) back: usize,
    pub(super) toast: Option<String>,
    pub(super) overlay: Overlay,
    pub(super) cursor: usize,
    /// Where the player is among the choices of a plain table.
    pub(super) menu: plain::Menu,
    /// How far the help page is scrolled down.
    pub(super) help_row: u16,
    pub(super) by_suit: bool,
    pub(super) result: Option<GameResult>,
    pub(super) failed: Option<String>,
    /// Whether this player has left the game for good.
    left: bool,
    pub(super) hits: Vec<(Rect, Hit)>,
}

/// A combination as it is shown: a colour together with the runs in it.
pub(super) struct Group {
    pub(super) label: &'static str,
    pub(super) cards: Vec<Face>,
    pub(super) points: i32,
    pub(super) bonus: i32,
    /// Whether a run within it scores as well.
    pub(super) with_run: bool,
}

/// The combinations of an arrangement, each with what scores besides it.
pub(super) fn groups(arrangement: &Arrangement) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for combo in &arrangement.combos {
        let label = match combo.kind {
            Kind::Run => "run",
            Kind::Set => "set",
            Kind::Colour => "colour",
            // A run in a colour comes straight after that colour.
            Kind::RunInColour => {
                if let Some(colour) = groups.last_mut() {
                    colour.points += combo.points + combo.bonus;
                    colour.with_run = true;
                }
                continue;
            }
        };
        let mut cards = combo.cards.clone();
        cards.sort_by_key(|face| (rank(*face), suit(*face)));
        groups.push(Group {
            label,
            cards,
            points: combo.points + combo.bonus,
            bonus: combo.bonus,
            with_run: false,
        });
    }
    groups
}

/// The cards in no combination, by rank, with their points.
pub(super) fn loose(arrangement: &Arrangement) -> Vec<(Face, i32)> {
    let mut loose = arrangement.loose.clone();
    loose.sort_by_key(|(face, _)| (rank(*face), suit(*face)));
    loose
}

/// An own card as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnCard {
    pub(super) face: Face,
    pub(super) slot: Slot,
}

impl App {
    /// An empty screen.
    pub fn new(options: TuiOptions) -> Self {
        Self {
            theme: Theme::new(options),
            lobby: LobbyView::default(),
            snapshot: None,
            names: Vec::new(),
            lines: Vec::new(),
            back: 0,
            toast: None,
            overlay: Overlay::None,
            cursor: 0,
            menu: plain::Menu::default(),
            help_row: 0,
            by_suit: false,
            result: None,
            failed: None,
            left: false,
            hits: Vec::new(),
        }
    }

    /// Whether something moves by itself.
    pub fn is_moving(&self) -> bool {
        matches!(&self.overlay, Overlay::Burn(burn) if burn.is_moving())
    }

    /// How it ended.
    pub fn ending(&self) -> Ending {
        match (&self.result, &self.failed) {
            (Some(result), _) => Ending::Over {
                scores: self
                    .names()
                    .iter()
                    .cloned()
                    .zip(result.scores.iter().copied())
                    .collect(),
                transcript: result.transcript.clone(),
            },
            (None, Some(why)) => Ending::Failed(why.clone()),
            (None, None) => Ending::Left,
        }
    }

    /// Draws everything; remembers what can be clicked.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        self.hits.clear();
        let area = frame.area();
        if area.width < 80 || area.height < 24 {
            return help::too_small(frame);
        }
        if self.loot().is_some() {
            table::draw(self, frame);
        } else if self.snapshot.is_some() {
            plain::draw(self, frame);
        } else {
            lobby::draw(self, frame);
        }
        match self.overlay {
            Overlay::None => {}
            Overlay::Help => help::draw(self, frame),
            Overlay::ConfirmFire => {
                help::confirm(
                    self,
                    frame,
                    "Fire the village? Every hand is shown and scored.",
                );
            }
            Overlay::ConfirmLeave => help::confirm_leave(self, frame),
            Overlay::Burn(_) => burn::draw(self, frame),
            Overlay::Over => help::over(self, frame),
        }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn loot(&self) -> Option<&Loot> {
        self.snapshot
            .as_ref()
            .and_then(|snapshot| match &snapshot.game {
                AnyGame::Loot(loot) => Some(loot),
                _ => None,
            })
    }

    /// The gods that this seat can see: its own and those taken in the open.
    pub(super) fn gods(&self) -> GodSet {
        let (Some(snapshot), Some(loot)) = (&self.snapshot, self.loot()) else {
            return GodSet::NONE;
        };
        let nothing = Faces::new();
        let visible: Vec<Face> = Seat::first(snapshot.names.len())
            .flat_map(|seat| {
                let known = if Some(seat) == snapshot.me {
                    &snapshot.known
                } else {
                    &nothing
                };
                loot.hand_of(seat)
                    .iter()
                    .filter_map(|slot| slot.face(known))
            })
            .collect();
        GodSet::NONE.and_of(&visible)
    }

    /// The own hand at its best.
    pub(super) fn arrangement(&self) -> Arrangement {
        let faces: Vec<Face> = self.unsorted().iter().map(|card| card.face).collect();
        best(&faces, self.gods())
    }

    fn unsorted(&self) -> Vec<OwnCard> {
        let (Some(snapshot), Some(loot)) = (&self.snapshot, self.loot()) else {
            return Vec::new();
        };
        let hand = snapshot.me.map(|me| loot.hand(me));
        hand.into_iter()
            .flatten()
            .filter_map(|slot| {
                Some(OwnCard {
                    face: slot.face(&snapshot.known)?,
                    slot,
                })
            })
            .collect()
    }

    /// The own hand as it is shown: combination by combination, or by suit.
    pub(super) fn hand(&self) -> Vec<OwnCard> {
        let mut hand = self.unsorted();
        if self.by_suit {
            hand.sort_by_key(|card| (suit(card.face), rank(card.face)));
            return hand;
        }
        let arrangement = self.arrangement();
        let order: Vec<Face> = groups(&arrangement)
            .iter()
            .flat_map(|group| group.cards.clone())
            .chain(loose(&arrangement).into_iter().map(|(face, _)| face))
            .collect();
        hand.sort_by_key(|card| order.iter().position(|face| *face == card.face));
        hand
    }

    // Input.

    /// Takes something in.
    pub fn update(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Session(event) => {
                self.session(event);
                Vec::new()
            }
            Input::SessionEnded if self.left => vec![Effect::Leave],
            Input::SessionEnded => {
                if self.result.is_none() && self.failed.is_none() {
                    self.failed = Some("the session has ended".to_owned());
                }
                Vec::new()
            }
            Input::Tick => {
                if let Overlay::Burn(burn) = &mut self.overlay {
                    burn.advance();
                }
                Vec::new()
            }
            Input::Terminal(Event::Key(key)) if key.kind == KeyEventKind::Press => self.key(key),
            Input::Terminal(Event::Mouse(mouse)) => match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => {
                    self.click(Position::new(mouse.column, mouse.row))
                }
                MouseEventKind::ScrollUp => self.scroll(3),
                MouseEventKind::ScrollDown => self.scroll(-3),
                _ => Vec::new(),
            },
            Input::Terminal(_) => Vec::new(),
        }
    }

    fn say(&mut self, line: String) {
        self.lines.push(line);
        if self.lines.len() > LINES {
            self.lines.remove(0);
        }
        if self.back > 0 {
            self.back += 1;
        }
    }

    fn session(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Lobby(view) => self.lobby = view,
            SessionEvent::Seated { name, .. } => self.say(format!("{name} sits down.")),
            SessionEvent::Started { table, names, .. } => {
                self.names = names;
                self.say(format!(
                    "The table is open; its id begins {}.",
                    table.short()
                ));
            }
            SessionEvent::Snapshot(snapshot) => {
                self.names.clone_from(&snapshot.names);
                self.snapshot = Some(*snapshot);
                let last = self.unsorted().len().saturating_sub(1);
                self.cursor = self.cursor.min(last);
                self.menu = self.menu.within(&self.groups());
            }
            SessionEvent::Game(AnyEvent::Loot(LootEvent::Burned {
                fired_by,
                hands,
                scores,
                totals,
            })) => {
                let last = LastHand {
                    fired_by,
                    hands,
                    scores,
                };
                self.overlay = Overlay::Burn(Burn::new(&last, self.names(), &totals));
            }
            SessionEvent::Line(line) => self.say(line),
            SessionEvent::Refused(why) => self.toast = Some(why),
            SessionEvent::Chat { name, text, .. } => self.say(format!("{name}: {text}")),
            SessionEvent::Invited { name, ticket, .. } => {
                self.say(format!("{name} has opened another table: {ticket}"));
            }
            SessionEvent::Peer { seat, state } => {
                let name = self.names().get(seat.index()).cloned();
                let name = name.unwrap_or_else(|| seat.to_string());
                self.say(match state {
                    PeerState::Connected => format!("{name} is connected."),
                    PeerState::Lost => format!("{name} has lost the connection; the table waits."),
                    PeerState::Left => format!("{name} has left the game."),
                    PeerState::VotedOut => {
                        format!("{name} did not come back; the others play on without it.")
                    }
                    PeerState::Removed => format!("{name} is out; the others play on without it."),
                });
                self.left |= state == PeerState::Left && Some(seat) == self.me();
            }
            SessionEvent::Fault {
                stopped,
                seat,
                what,
                evidence,
            } => {
                let kept = evidence.map_or_else(String::new, |path| {
                    format!(" The evidence is in {}.", path.display())
                });
                if stopped {
                    let line = format!("The table has stopped: {what}.{kept}");
                    self.say(line.clone());
                    self.failed = Some(line);
                } else {
                    let name = seat.and_then(|seat| self.names().get(seat.index()).cloned());
                    let name = name.unwrap_or_default();
                    let line = format!("{name} is proven guilty ({what}).{kept}");
                    self.toast = Some(line.clone());
                    self.say(line);
                }
            }
            SessionEvent::Claimed { seat, transcript } => {
                let name = self.names().get(seat.index()).cloned().unwrap_or_default();
                let kept = transcript.map_or_else(String::new, |path| {
                    format!(" The transcript is in {}.", path.display())
                });
                let line = format!(
                    "{name} has closed the table: the other one stayed away. The game is unfinished.{kept}"
                );
                self.say(line.clone());
                self.failed = Some(line);
            }
            SessionEvent::Over {
                scores,
                winners,
                log,
                transcript,
            } => {
                let winners = winners
                    .iter()
                    .map(|seat| {
                        self.names()
                            .get(seat.index())
                            .cloned()
                            .unwrap_or_else(|| seat.to_string())
                    })
                    .collect();
                self.result = Some(GameResult {
                    scores,
                    winners,
                    log,
                    transcript,
                });
                if !matches!(self.overlay, Overlay::Burn(_)) {
                    self.overlay = Overlay::Over;
                }
            }
            SessionEvent::Error(why) => {
                self.say(why.clone());
                self.failed = Some(why);
            }
            SessionEvent::Deal(_) | SessionEvent::Action { .. } | SessionEvent::Game(_) => {}
        }
    }

    /// Scrolls back what is on top: a scoring, else the log.
    fn scroll(&mut self, by: isize) -> Vec<Effect> {
        if let Overlay::Burn(burn) = &mut self.overlay {
            burn.scroll(by);
            return Vec::new();
        }
        self.back = self.back.saturating_add_signed(by).min(self.lines.len());
        Vec::new()
    }

    /// Whether leaving needs no question: nothing is lost.
    fn may_leave(&self) -> bool {
        self.snapshot.is_none()
            || self.looks_on()
            || self.result.is_some()
            || self.failed.is_some()
            || self.left
    }

    /// Whether there is a table, and this player has no seat there.
    pub(super) fn looks_on(&self) -> bool {
        let snapshot = self.snapshot.as_ref();
        snapshot.is_some_and(|snapshot| snapshot.me.is_none())
    }

    /// This player's seat, once there is one.
    fn me(&self) -> Option<Seat> {
        self.snapshot.as_ref().and_then(|snapshot| snapshot.me)
    }

    /// Whether there is anybody else to leave the game to.
    pub(super) fn may_forfeit(&self) -> bool {
        self.names().len() > 1
    }

    /// Whether the table may be closed with a claim that the other one stays away.
    pub(super) fn may_claim(&self) -> bool {
        let snapshot = self.snapshot.as_ref();
        snapshot.is_some_and(|snapshot| snapshot.may_claim)
    }

    fn claim(&mut self) -> Vec<Effect> {
        self.overlay = Overlay::None;
        if self.may_claim() {
            vec![Effect::Claim]
        } else {
            Vec::new()
        }
    }

    fn forfeit(&mut self) -> Vec<Effect> {
        self.overlay = Overlay::None;
        if !self.may_forfeit() {
            return Vec::new();
        }
        self.toast = Some("Leaving: the others are given what they need to play on.".to_owned());
        vec![Effect::Forfeit]
    }

    fn leave(&mut self) -> Vec<Effect> {
        if self.may_leave() {
            return vec![Effect::Leave];
        }
        self.overlay = Overlay::ConfirmLeave;
        Vec::new()
    }

    fn close_overlay(&mut self) -> Vec<Effect> {
        let burned = matches!(self.overlay, Overlay::Burn(_));
        if let Overlay::Burn(burn) = &mut self.overlay
            && burn.is_moving()
        {
            burn.skip();
            return Vec::new();
        }
        self.overlay = if burned && self.result.is_some() {
            Overlay::Over
        } else {
            Overlay::None
        };
        Vec::new()
    }

    fn answer(&mut self, yes: bool) -> Vec<Effect> {
        let overlay = std::mem::replace(&mut self.overlay, Overlay::None);
        match (overlay, yes) {
            (Overlay::ConfirmFire, true) => self.act(Action::Fire),
            (Overlay::ConfirmLeave, true) => vec![Effect::Leave],
            _ => Vec::new(),
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.toast = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            // A second Ctrl-C is an answer.
            return if matches!(self.overlay, Overlay::ConfirmLeave) {
                vec![Effect::Leave]
            } else {
                self.leave()
            };
        }
        match self.overlay {
            Overlay::ConfirmLeave if key.code == KeyCode::Char('f') => return self.forfeit(),
            Overlay::ConfirmLeave if key.code == KeyCode::Char('c') => return self.claim(),
            Overlay::ConfirmFire | Overlay::ConfirmLeave => match key.code {
                KeyCode::Char('y') | KeyCode::Enter => return self.answer(true),
                KeyCode::Char('n') | KeyCode::Esc => return self.answer(false),
                _ => return Vec::new(),
            },
            Overlay::Over if key.code == KeyCode::Char('q') => return vec![Effect::Leave],
            Overlay::Help => {
                return if self.scrolls_help(key.code) {
                    Vec::new()
                } else {
                    self.close_overlay()
                };
            }
            Overlay::Burn(_) => {
                return match key.code {
                    KeyCode::Up => self.scroll(1),
                    KeyCode::Down => self.scroll(-1),
                    KeyCode::PageUp => self.scroll(5),
                    KeyCode::PageDown => self.scroll(-5),
                    _ => self.close_overlay(),
                };
            }
            Overlay::Over => return self.close_overlay(),
            Overlay::None => {}
        }
        match key.code {
            KeyCode::Char('q') => self.leave(),
            KeyCode::Char('?') => self.show_help(),
            KeyCode::PageUp => self.scroll(5),
            KeyCode::PageDown => self.scroll(-5),
            _ if self.snapshot.is_none() => Vec::new(),
            code if self.loot().is_none() => self.menu_key(code),
            KeyCode::Left | KeyCode::Char('h') => self.select(self.cursor.saturating_sub(1)),
            KeyCode::Right | KeyCode::Char('l') => self.select(self.cursor + 1),
            KeyCode::Home => self.select(0),
            KeyCode::End => self.select(usize::MAX),
            KeyCode::Char('s') => {
                self.by_suit = !self.by_suit;
                Vec::new()
            }
            KeyCode::Char('d') => self.act(Action::Take(Pile::Draw)),
            KeyCode::Char('t') => self.act(Action::Take(Pile::Discard)),
            KeyCode::Char('f') => self.ask_fire(),
            KeyCode::Enter | KeyCode::Char(' ' | 'x') => self.discard(),
            _ => Vec::new(),
        }
    }

    fn show_help(&mut self) -> Vec<Effect> {
        self.overlay = Overlay::Help;
        self.help_row = 0;
        Vec::new()
    }

    /// Scrolls the help page, if the key does.
    fn scrolls_help(&mut self, code: KeyCode) -> bool {
        let by = match code {
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::PageDown | KeyCode::Char(' ') => 15,
            KeyCode::PageUp => -15,
            _ => return false,
        };
        self.help_row = self.help_row.saturating_add_signed(by);
        true
    }

    /// What is legal at a plain table.
    fn groups(&self) -> Vec<plain::Group> {
        self.snapshot.as_ref().map_or_else(Vec::new, plain::groups)
    }

    fn menu_key(&mut self, code: KeyCode) -> Vec<Effect> {
        let groups = self.groups();
        let menu = self.menu;
        self.menu = match code {
            KeyCode::Left | KeyCode::Char('h') => menu.to_group(&groups, -1),
            KeyCode::Right | KeyCode::Char('l') => menu.to_group(&groups, 1),
            KeyCode::Up | KeyCode::Char('k') => menu.to_item(&groups, -1),
            KeyCode::Down | KeyCode::Char('j') => menu.to_item(&groups, 1),
            KeyCode::Home => plain::Menu::default(),
            KeyCode::End => menu.to_group(&groups, isize::MAX),
            KeyCode::Enter | KeyCode::Char(' ' | 'x') => return self.choose(),
            _ => menu,
        };
        Vec::new()
    }

    /// Does what is chosen at a plain table.
    fn choose(&mut self) -> Vec<Effect> {
        let groups = self.groups();
        let menu = self.menu.within(&groups);
        let chosen = groups
            .get(menu.group)
            .and_then(|group| group.choices.get(menu.item));
        match chosen {
            Some((_, action)) => vec![Effect::Act(action.clone())],
            None => {
                self.toast = Some("There is nothing that you can do now.".to_owned());
                Vec::new()
            }
        }
    }

    fn select(&mut self, index: usize) -> Vec<Effect> {
        self.cursor = index.min(self.unsorted().len().saturating_sub(1));
        Vec::new()
    }

    fn click(&mut self, at: Position) -> Vec<Effect> {
        self.toast = None;
        // What was drawn last lies on top.
        let hit = self
            .hits
            .iter()
            .rev()
            .find(|(area, _)| area.contains(at))
            .map(|(_, hit)| *hit);
        match (&self.overlay, hit) {
            (Overlay::None, Some(hit)) => match hit {
                Hit::Card(index)
                    if index == self.cursor && self.phase() == Some(Phase::Discard) =>
                {
                    self.discard()
                }
                Hit::Card(index) => self.select(index),
                Hit::Draw => self.act(Action::Take(Pile::Draw)),
                Hit::Discard => self.act(Action::Take(Pile::Discard)),
                Hit::DropSelected => self.discard(),
                Hit::Fire => self.ask_fire(),
                Hit::Help => self.show_help(),
                Hit::Group(group) => {
                    self.menu = plain::Menu { group, item: 0 };
                    Vec::new()
                }
                Hit::Item(item) if item == self.menu.item => self.choose(),
                Hit::Item(item) => {
                    self.menu.item = item;
                    Vec::new()
                }
                Hit::Choose => self.choose(),
                Hit::Leave => self.leave(),
                Hit::Yes | Hit::No | Hit::Forfeit | Hit::Claim | Hit::Close => Vec::new(),
            },
            (Overlay::None, None) => Vec::new(),
            (_, Some(Hit::Yes)) => self.answer(true),
            (_, Some(Hit::No)) => self.answer(false),
            (Overlay::ConfirmLeave, Some(Hit::Forfeit)) => self.forfeit(),
            (Overlay::ConfirmLeave, Some(Hit::Claim)) => self.claim(),
            (Overlay::Over, Some(Hit::Leave)) => vec![Effect::Leave],
            (Overlay::ConfirmFire | Overlay::ConfirmLeave, _) => Vec::new(),
            (Overlay::Help | Overlay::Burn(_) | Overlay::Over, _) => self.close_overlay(),
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.loot().map(Loot::phase)
    }

    fn ask_fire(&mut self) -> Vec<Effect> {
        if self.allowed(&Action::Fire) {
            self.overlay = Overlay::ConfirmFire;
        }
        Vec::new()
    }

    /// Whether the action is legal; if not, the reason is shown.
    fn allowed(&mut self, action: &Action) -> bool {
        let (Some(snapshot), Some(loot)) = (&self.snapshot, self.loot()) else {
            return false;
        };
        let Some(me) = snapshot.me else {
            self.toast = Some("You look on, and have no seat.".to_owned());
            return false;
        };
        match loot.check(me, action) {
            Ok(()) => true,
            Err(why) => {
                let whose = loot
                    .turn()
                    .and_then(|seat| snapshot.names.get(seat.index()));
                self.toast = Some(match (why, whose) {
                    (fairdeal_protocol::game::Illegal::NotYourTurn(_), Some(name)) => {
                        format!("It is {name}'s turn.")
                    }
                    (why, _) => why.to_string(),
                });
                false
            }
        }
    }

    fn act(&mut self, action: Action) -> Vec<Effect> {
        if self.allowed(&action) {
            vec![Effect::Act(AnyAction::Loot(action))]
        } else {
            Vec::new()
        }
    }

    fn discard(&mut self) -> Vec<Effect> {
        match self.hand().get(self.cursor) {
            Some(card) => self.act(Action::Discard {
                card: card.face,
                handle: card.slot.handle(),
            }),
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
