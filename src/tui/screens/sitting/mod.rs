//! One's own seat, or one's place among those who look on: from the lobby to the end of the game.
//!
//! This file has the state and what keys, clicks and news do to it; [`lobby`] and [`table`] draw it, [`seal`] tells
//! what protects each moment, [`moving`] is what moves.

mod lobby;
mod moving;
mod seal;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;

use self::moving::{Moving, Telling};
use crate::games::{AnyEvent, GameInfo, game_info};
use crate::session::text::MAX_SHOWN;
use crate::session::{Command, LobbyView, PeerState, SessionEvent, Snapshot};
use crate::tui::canvas::{Canvas, Layer, Marks, Target, cut};
use crate::tui::field::Field;
use crate::tui::keys::Intent;
use crate::tui::news::News;
use crate::tui::screen::{Effect, Opening, Question, Screen, Tone, Wish, Wishes, World};
use crate::tui::screens::audit::Audit;
use crate::tui::tables::offers::{Offer, Offers, refused};
use crate::tui::tables::{Look, Spot, hint, motions, on_board, show};
use crate::tui::theme::Theme;

/// How many lines of the log are kept.
const LINES: usize = 500;
/// How wide a name is on a table at most.
const NAME: usize = 8;

/// What buttons there are beside the table's own.
mod button {
    use super::Target;

    pub(super) const COPY: Target = Target::Button(1);
    pub(super) const SEAL: Target = Target::Button(3);
    pub(super) const CLOSE: Target = Target::Button(4);
    pub(super) const BOT: Target = Target::Button(6);
    pub(super) const READY: Target = Target::Button(7);
    pub(super) const CHAT: Target = Target::Button(8);
    pub(super) const REMATCH: Target = Target::Button(9);
    pub(super) const AUDIT: Target = Target::Button(10);
    pub(super) const MORE: Target = Target::Button(11);
}

/// How a line of the log is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    /// What happens in the game.
    Game,
    /// What happens at the table: connections, departures.
    Table,
    /// A warning.
    Warning,
    /// Somebody says something.
    Chat,
}

/// How the game ended.
#[derive(Clone, Debug)]
struct Outcome {
    scores: Vec<i64>,
    winners: Vec<String>,
    log: Hash32,
    transcript: PathBuf,
}

/// What lies over the table.
#[derive(Debug, Default)]
enum Over {
    #[default]
    Nothing,
    /// The seal, explained.
    Seal,
    /// Something told step by step.
    Telling(Telling),
    /// The end of the game.
    Outcome,
}

/// What a question was asked for.
#[derive(Clone, Debug)]
enum Asked {
    Act(Box<Offer>),
    Leave(Vec<Way>),
    /// Whether to follow an invitation, by its ticket.
    Follow(String),
}

/// A way to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Pause,
    Forfeit,
    Claim,
    Go,
}

/// See the module's head.
#[derive(Debug)]
pub(in crate::tui) struct Sitting {
    /// What it is called before there is a table.
    purpose: String,
    /// Whether nobody but bots of this program can be there.
    local: bool,
    /// What is being said.
    chat: Option<Field>,
    lobby: LobbyView,
    snapshot: Option<Snapshot>,
    names: Vec<String>,
    offers: Offers,
    /// The spots chosen so far, of an action that needs more of them.
    picked: Vec<Spot>,
    /// The spots whose offers are listed: those picked and the one that the focus is or was on.
    aimed: Vec<Spot>,
    focus: Option<Target>,
    /// Which page of what can be done is shown, where there is no room for all.
    page: usize,
    lines: Vec<(Voice, String)>,
    /// How many lines the log is scrolled back.
    back: usize,
    over: Over,
    asked: Option<Asked>,
    outcome: Option<Outcome>,
    failed: Option<String>,
    left: bool,
    ended: bool,
    /// What stands below the board in place of whose turn it is.
    status: Option<String>,
    /// Events that the board has not shown yet.
    events: Vec<AnyEvent>,
    moving: Vec<Moving>,
    /// Where the places of the table are.
    places: BTreeMap<Spot, Rect>,
    theme: Theme,
}

impl Sitting {
    /// Before anything is known; `purpose` is what is being done, `local` whether the table is wholly in this
    /// program.
    pub(in crate::tui) fn new(purpose: &str, local: bool) -> Self {
        Self {
            purpose: purpose.to_owned(),
            local,
            chat: None,
            lobby: LobbyView::default(),
            snapshot: None,
            names: Vec::new(),
            offers: Offers::default(),
            picked: Vec::new(),
            aimed: Vec::new(),
            focus: None,
            page: 0,
            lines: Vec::new(),
            back: 0,
            over: Over::Nothing,
            asked: None,
            outcome: None,
            failed: None,
            left: false,
            ended: false,
            status: None,
            events: Vec::new(),
            moving: Vec::new(),
            places: BTreeMap::new(),
            theme: Theme::default(),
        }
    }

    fn me(&self) -> Option<Seat> {
        self.snapshot.as_ref().and_then(|snapshot| snapshot.me)
    }

    fn looks_on(&self) -> bool {
        self.snapshot.is_some() && self.me().is_none()
    }

    /// Runs something with the game as this player sees it.
    fn look<T>(&self, picked: &[Spot], run: impl FnOnce(&Look<'_>, &Snapshot) -> T) -> Option<T> {
        let snapshot = self.snapshot.as_ref()?;
        let names = short_names(&snapshot.names, &self.theme);
        let look = Look {
            me: snapshot.me,
            names: &names,
            known: &snapshot.known,
            picked,
            theme: &self.theme,
        };
        Some(run(&look, snapshot))
    }

    fn say(&mut self, voice: Voice, line: String) {
        self.lines.push((voice, line));
        if self.lines.len() > LINES {
            self.lines.remove(0);
        }
        if self.back > 0 {
            self.back += 1;
        }
    }

    fn name_of(&self, seat: Seat) -> String {
        let name = self.names.get(seat.index()).cloned();
        name.unwrap_or_else(|| seat.to_string())
    }

    // Choosing.

    /// What is offered for what is aimed at, else for what is picked.
    fn listed(&self) -> Vec<Offer> {
        let aimed: Vec<Offer> = self.offers.after(&self.aimed).cloned().collect();
        if !aimed.is_empty() {
            return aimed;
        }
        // Nothing can be done with what is aimed at: why not.
        let Some((spot, picked)) = self.aimed.split_last() else {
            return Vec::new();
        };
        let refused = self.look(picked, |look, snapshot| {
            refused(&snapshot.game, *spot, look)
        });
        refused.unwrap_or_default()
    }

    fn aim(&mut self, target: Option<Target>) {
        self.focus = target;
        if let Some(Target::Spot(spot)) = target {
            self.page = 0;
            self.aimed.clone_from(&self.picked);
            if self.picked.last() != Some(&spot) {
                self.aimed.push(spot);
            }
        }
    }

    fn pick(&mut self, spot: Spot, wishes: &mut Wishes) {
        if self.picked.contains(&spot) {
            // Once more lets it go.
            let at = self
                .picked
                .iter()
                .position(|picked| *picked == spot)
                .unwrap_or(0);
            self.picked.truncate(at);
            self.aim(Some(Target::Spot(spot)));
            return;
        }
        if !self.offers.next(&self.picked).contains(&spot) && self.offers.next(&[]).contains(&spot)
        {
            self.picked.clear();
        }
        let mut path = self.picked.clone();
        path.push(spot);
        let after: Vec<Offer> = self.offers.after(&path).cloned().collect();
        match after.as_slice() {
            [] => {
                self.aimed = path;
                let why = self.listed().into_iter().find_map(|offer| offer.refused);
                let why = why.unwrap_or_else(|| "nothing can be done with that now".to_owned());
                wishes.push(Wish::Toast(Tone::Plain, sentence(&why)));
            }
            [only] if only.path.len() == path.len() => self.wish(only.clone(), wishes),
            several => {
                // One that is the only one waits for its other spots too: whoever takes up a card may just want to look.
                let is_list = several.iter().all(|offer| offer.path.len() == path.len());
                let next = several.iter().find_map(|offer| offer.path.get(path.len()));
                let focus = match (is_list, next) {
                    (false, Some(next)) => Target::Spot(*next),
                    _ => Target::Row(0),
                };
                self.picked.clone_from(&path);
                self.aimed = path;
                wishes.push(Wish::Focus(focus));
            }
        }
    }

    /// Shows what a good player might do, where the game says so.
    fn hint(&mut self, wishes: &mut Wishes) {
        let hinted = self
            .look(&[], |look, snapshot| hint(&snapshot.game, look))
            .flatten();
        let offers = self.offers.all().iter();
        let found = hinted.and_then(|action| offers.clone().find(|offer| offer.action == action));
        let Some(offer) = found else {
            let text = "There is no hint here.".to_owned();
            return wishes.push(Wish::Toast(Tone::Plain, text));
        };
        let text = format!("A hint: {}.", offer.words);
        wishes.push(Wish::Toast(Tone::Good, text));
        if let Some(spot) = offer.path.first() {
            self.picked.clear();
            wishes.push(Wish::Focus(Target::Spot(*spot)));
        }
    }

    /// Asks before it acts, if that is wise.
    fn wish(&mut self, offer: Offer, wishes: &mut Wishes) {
        if let Some(why) = &offer.refused {
            return wishes.push(Wish::Toast(Tone::Plain, sentence(why)));
        }
        match &offer.question {
            Some(question) => {
                wishes.push(Wish::Ask(Question::sure(question.clone())));
                self.asked = Some(Asked::Act(Box::new(offer)));
            }
            None => self.act(offer, wishes),
        }
    }

    fn act(&mut self, offer: Offer, wishes: &mut Wishes) {
        self.picked.clear();
        self.aimed.clear();
        wishes.push(Wish::Effect(Effect::Session(Command::Act(offer.action))));
    }

    /// Whether this player has said that it is ready.
    fn is_ready(&self) -> bool {
        let me = self
            .lobby
            .me
            .and_then(|me| self.lobby.ready.get(me.index()));
        me.copied().unwrap_or(false)
    }

    fn toggle_ready(&self, wishes: &mut Wishes) {
        if self.lobby.me.is_some() {
            let command = Command::Ready(!self.is_ready());
            wishes.push(Wish::Effect(Effect::Session(command)));
        }
    }

    fn audit(&self, wishes: &mut Wishes) {
        if let Some(outcome) = &self.outcome {
            wishes.push(Wish::Effect(Effect::Audit(outcome.transcript.clone())));
            wishes.push(Wish::Push(Box::new(Audit::new())));
        }
    }

    /// Whether the game is over, and this player can open another table like it.
    fn may_rematch(&self) -> bool {
        self.outcome.is_some() && self.me().is_some() && !self.lobby.seats.is_empty()
    }

    fn rematch(&mut self, wishes: &mut Wishes) {
        if !self.may_rematch() {
            return;
        }
        let seats = u8::try_from(self.lobby.seats.len()).unwrap_or(1);
        let opening = Opening {
            game: self.lobby.game.clone(),
            seats,
            bots: if self.local { seats - 1 } else { 0 },
            options: self.lobby.options.clone(),
            networked: !self.local,
            lan: false,
            password: String::new(),
        };
        let effect = if self.local {
            Effect::Open(opening)
        } else {
            Effect::Rematch(opening)
        };
        wishes.push(Wish::Effect(effect));
        wishes.push(Wish::Replace(Box::new(Self::new(
            "another game",
            self.local,
        ))));
    }

    // Leaving.

    fn ask_leave(&mut self, wishes: &mut Wishes) {
        let nothing_lost = self.ended
            || self.looks_on()
            || self.outcome.is_some()
            || self.failed.is_some()
            || self.left;
        if nothing_lost {
            return self.go(wishes);
        }
        if self.snapshot.is_none() {
            wishes.push(Wish::Ask(Question::sure(
                "Leave the table? It has not begun.",
            )));
            self.asked = Some(Asked::Leave(vec![Way::Go]));
            return;
        }
        let mut answers = vec![(
            'y',
            "pause".to_owned(),
            "the table waits; go on with it from the first screen".to_owned(),
        )];
        let mut ways = vec![Way::Pause];
        if self.names.len() > 1 {
            answers.push((
                'f',
                "forfeit".to_owned(),
                "for good: the others play on".to_owned(),
            ));
            ways.push(Way::Forfeit);
        }
        if self
            .snapshot
            .as_ref()
            .is_some_and(|snapshot| snapshot.may_claim)
        {
            answers.push((
                'c',
                "claim".to_owned(),
                "close it: the other one stays away".to_owned(),
            ));
            ways.push(Way::Claim);
        }
        wishes.push(Wish::Ask(Question {
            text: "Leave the table? The game is not over.".to_owned(),
            answers,
        }));
        self.asked = Some(Asked::Leave(ways));
    }

    fn go(&mut self, wishes: &mut Wishes) {
        wishes.push(Wish::Effect(Effect::CloseSession));
        wishes.push(Wish::Leave);
    }

    // News.

    fn hear_session(&mut self, world: &World, event: &SessionEvent, wishes: &mut Wishes) {
        match event {
            SessionEvent::Lobby(view) => self.lobby = view.clone(),
            SessionEvent::Seated { name, .. } => {
                self.say(Voice::Table, format!("{name} sits down."));
            }
            SessionEvent::Started { table, names, .. } => {
                self.names.clone_from(names);
                let line = format!("The table is open; its id begins {}.", table.short());
                self.say(Voice::Table, line);
            }
            SessionEvent::Snapshot(snapshot) => self.set_snapshot(world, snapshot, wishes),
            SessionEvent::Game(event) => self.events.push(event.clone()),
            SessionEvent::Line(line) => self.say(Voice::Game, line.clone()),
            SessionEvent::Refused(why) => wishes.push(Wish::Toast(Tone::Bad, sentence(why))),
            SessionEvent::Peer { seat, state } => {
                let name = self.name_of(*seat);
                let (voice, line) = match state {
                    PeerState::Connected => (Voice::Table, format!("{name} is connected.")),
                    PeerState::Lost => (
                        Voice::Warning,
                        format!("{name} has lost the connection; the table waits."),
                    ),
                    PeerState::Left => (Voice::Table, format!("{name} has left the game.")),
                    PeerState::VotedOut => (
                        Voice::Warning,
                        format!("{name} did not come back; the others play on without it."),
                    ),
                    PeerState::Removed => (
                        Voice::Warning,
                        format!("{name} is out; the others play on without it."),
                    ),
                };
                if voice == Voice::Warning {
                    wishes.push(Wish::Toast(Tone::Bad, line.clone()));
                }
                self.say(voice, line);
                self.left |= *state == PeerState::Left && Some(*seat) == self.me();
            }
            SessionEvent::Fault {
                stopped,
                seat,
                what,
                evidence,
            } => {
                let kept = evidence.as_ref().map_or_else(String::new, |path| {
                    format!(" The evidence is in {}.", path.display())
                });
                let line = if *stopped {
                    format!("The table has stopped: {what}.{kept}")
                } else {
                    let name = seat.map(|seat| self.name_of(seat)).unwrap_or_default();
                    format!("{name} is proven guilty ({what}).{kept}")
                };
                if *stopped {
                    self.failed = Some(line.clone());
                }
                wishes.push(Wish::Toast(Tone::Bad, line.clone()));
                self.say(Voice::Warning, line);
            }
            SessionEvent::Claimed { seat, transcript } => {
                let name = self.name_of(*seat);
                let kept = transcript.as_ref().map_or_else(String::new, |path| {
                    format!(" The transcript is in {}.", path.display())
                });
                let line = format!(
                    "{name} has closed the table: the other one stayed away. The game is unfinished.{kept}"
                );
                self.say(Voice::Warning, line.clone());
                self.failed = Some(line);
            }
            SessionEvent::Over {
                scores,
                winners,
                log,
                transcript,
            } => {
                self.outcome = Some(Outcome {
                    scores: scores.clone(),
                    winners: winners.iter().map(|seat| self.name_of(*seat)).collect(),
                    log: *log,
                    transcript: transcript.clone(),
                });
                if !matches!(self.over, Over::Telling(_)) {
                    self.over = Over::Outcome;
                }
            }
            SessionEvent::Error(why) => {
                self.say(Voice::Warning, why.clone());
                self.failed = Some(why.clone());
            }
            SessionEvent::Chat { name, text, .. } => {
                self.say(Voice::Chat, format!("{name}: {text}"));
            }
            SessionEvent::Invited { name, ticket, .. } => {
                let line = format!("{name} invites you to another game.");
                self.say(Voice::Table, line.clone());
                if self.outcome.is_some() || self.failed.is_some() {
                    self.over = Over::Nothing;
                    wishes.push(Wish::Ask(Question::sure(format!("{line} Join it?"))));
                    self.asked = Some(Asked::Follow(ticket.clone()));
                }
            }
            SessionEvent::Deal(_) | SessionEvent::Action { .. } => {}
        }
    }

    fn set_snapshot(&mut self, world: &World, snapshot: &Snapshot, wishes: &mut Wishes) {
        self.theme = world.theme;
        self.names.clone_from(&snapshot.names);
        let same_game = self
            .snapshot
            .as_ref()
            .is_some_and(|old| old.game == snapshot.game);
        self.snapshot = Some(snapshot.clone());
        let events = std::mem::take(&mut self.events);
        if !same_game || !events.is_empty() {
            let offers = self.look(&[], |look, snapshot| Offers::of(&snapshot.game, look));
            self.offers = offers.unwrap_or_default();
            // What was picked is kept as long as it leads anywhere.
            if self.offers.next(&self.picked).is_empty() {
                self.picked.clear();
            }
            // Who is to do something else than before finds the focus on it.
            let lit = self.offers.next(&self.picked);
            let is_lit = matches!(self.focus, Some(Target::Spot(spot)) if lit.contains(&spot));
            let mine = snapshot
                .me
                .is_some_and(|me| snapshot.game.to_act().contains(me));
            if mine && !lit.is_empty() && !is_lit {
                wishes.push(Wish::Unfocus);
            }
        }
        let told = self.look(&[], |look, snapshot| {
            let shows: Vec<_> = events
                .iter()
                .filter_map(|event| show(&snapshot.game, event, look))
                .collect();
            let moves: Vec<_> = events
                .iter()
                .flat_map(|event| motions(&snapshot.game, event, look))
                .collect();
            (shows, moves)
        });
        let (shows, moves) = told.unwrap_or_default();
        if world.settings.motion {
            let from = &self.places;
            self.moving
                .extend(moves.into_iter().map(|motion| Moving::new(motion, from)));
        }
        if let Some(show) = shows.into_iter().next_back() {
            self.over = Over::Telling(Telling::new(show, world.settings.motion));
        }
    }

    /// Shows a moment of a past game: nothing can be done there.
    pub(in crate::tui) fn show(
        &mut self,
        world: &World,
        snapshot: Snapshot,
        lines: Vec<String>,
        status: String,
    ) {
        self.theme = world.theme;
        self.names.clone_from(&snapshot.names);
        self.lines = lines.into_iter().map(|line| (Voice::Game, line)).collect();
        self.back = 0;
        self.snapshot = Some(snapshot);
        self.status = Some(status);
    }

    /// Shows what comes after what lies over the table.
    fn close_over(&mut self) {
        self.over = match std::mem::take(&mut self.over) {
            Over::Telling(mut telling) if telling.is_moving() => {
                telling.skip();
                Over::Telling(telling)
            }
            Over::Telling(_) if self.outcome.is_some() => Over::Outcome,
            _ => Over::Nothing,
        };
    }

    fn scroll(&mut self, by: isize) {
        if let Over::Telling(telling) = &mut self.over {
            telling.scroll(by);
        } else {
            self.back = self
                .back
                .saturating_add_signed(by)
                .min(self.lines.len().saturating_sub(1));
        }
    }
}

/// A reason as a sentence.
fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    let end = if why.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

/// The names of a table, short enough for boards; those that would look alike have their seat's number, counted
/// from 1 as in names that are alike in full.
pub(in crate::tui) fn short_names(names: &[String], theme: &Theme) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| cut(name, NAME, theme)).collect();
    let alike = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    let named = names.iter().zip(&short).zip(1..);
    named
        .map(|((name, short), number)| {
            if alike(short) {
                format!("{}#{number}", cut(name, NAME - 2, theme))
            } else {
                short.clone()
            }
        })
        .collect()
}

impl Screen for Sitting {
    fn name(&self) -> String {
        match self.game() {
            Some(info) if self.snapshot.is_some() => info.name.to_owned(),
            Some(info) => format!("{}: lobby", info.name),
            None => self.purpose.clone(),
        }
    }

    fn heading(&self) -> String {
        let snapshot = self.snapshot.as_ref();
        snapshot.map_or_else(String::new, |snapshot| {
            use crate::tui::tables::Board as _;
            on_board!(&snapshot.game, game => game.heading())
        })
    }

    fn game(&self) -> Option<&'static GameInfo> {
        match &self.snapshot {
            Some(snapshot) => Some(snapshot.game.info()),
            None => game_info(&self.lobby.game).ok(),
        }
    }

    fn marks(&self) -> Marks {
        if self.snapshot.is_none() || !matches!(self.over, Over::Nothing) {
            return Marks::default();
        }
        let mut marks = Marks {
            lit: self.offers.next(&self.picked),
            picked: self.picked.clone(),
            ..Marks::default()
        };
        for moving in &self.moving {
            moving.mark(&mut marks);
        }
        marks
    }

    fn draw(&mut self, world: &World, canvas: &mut Canvas<'_>, area: Rect) {
        self.theme = world.theme;
        if self.snapshot.is_some() {
            table::draw(self, world, canvas);
        } else {
            lobby::draw(self, world, canvas, area);
        }
    }

    fn choose(&mut self, _world: &World, target: Target, wishes: &mut Wishes) {
        match target {
            button::CLOSE => self.close_over(),
            button::READY => self.toggle_ready(wishes),
            button::CHAT => self.chat = Some(Field::new(MAX_SHOWN)),
            button::REMATCH => self.rematch(wishes),
            button::AUDIT => self.audit(wishes),
            button::MORE => self.page += 1,
            button::SEAL => self.over = Over::Seal,
            button::COPY => {
                if let Some(ticket) = self.lobby.ticket.clone() {
                    wishes.push(Wish::Effect(Effect::Copy(ticket)));
                    let text = "The ticket is in the clipboard, if this terminal lets programs write there.";
                    wishes.push(Wish::Toast(Tone::Good, text.to_owned()));
                }
            }
            button::BOT => {
                if let Some(ticket) = self.lobby.ticket.clone() {
                    let seated = self.lobby.seats.iter().flatten().count().saturating_sub(1);
                    wishes.push(Wish::Effect(Effect::SeatBot { ticket, seated }));
                }
            }
            Target::Spot(spot) => self.pick(spot, wishes),
            Target::Row(number) => {
                if let Some(offer) = self.listed().get(number) {
                    self.wish(offer.clone(), wishes);
                }
            }
            Target::Button(_) | Target::Key(_) => {}
        }
    }

    fn intent(&mut self, _world: &World, intent: Intent, wishes: &mut Wishes) {
        match intent {
            Intent::Chat if !self.local && !self.looks_on() => {
                self.chat = Some(Field::new(MAX_SHOWN));
            }
            Intent::Hint => self.hint(wishes),
            Intent::PageUp => self.scroll(5),
            Intent::PageDown => self.scroll(-5),
            Intent::Up if matches!(self.over, Over::Telling(_)) => self.scroll(1),
            Intent::Down if matches!(self.over, Over::Telling(_)) => self.scroll(-1),
            Intent::Seal => {
                self.over = match &self.over {
                    Over::Seal => Over::Nothing,
                    Over::Nothing if self.snapshot.is_some() => Over::Seal,
                    _ => return,
                };
            }
            Intent::Quit => self.ask_leave(wishes),
            _ => {}
        }
    }

    fn letter(&mut self, _world: &World, letter: char, wishes: &mut Wishes) -> bool {
        if letter == 'r' && self.may_rematch() {
            self.rematch(wishes);
            return true;
        }
        if letter == 'a' && self.outcome.is_some() {
            self.audit(wishes);
            return true;
        }
        if letter == 'r' && self.snapshot.is_none() {
            self.toggle_ready(wishes);
            return true;
        }
        if !matches!(self.over, Over::Nothing) {
            self.close_over();
            return true;
        }
        if let Some(number) = letter.to_digit(10).filter(|number| *number > 0) {
            let number = usize::try_from(number).unwrap_or(0) - 1;
            if let Some(offer) = self.listed().get(number) {
                self.wish(offer.clone(), wishes);
            }
            return true;
        }
        let next = self
            .offers
            .next(&self.picked)
            .into_iter()
            .chain(self.offers.next(&[]));
        let deeds = next.filter_map(|spot| match spot {
            Spot::Deed(number) => Some((spot, number)),
            _ => None,
        });
        let snapshot = self.snapshot.as_ref();
        let found = snapshot.and_then(|snapshot| {
            use crate::tui::tables::Board as _;
            let mut deeds = deeds;
            deeds.find(|(_, number)| {
                on_board!(&snapshot.game, game => game.deed(*number)).key == Some(letter)
            })
        });
        if let Some((spot, _)) = found {
            self.pick(spot, wishes);
        }
        found.is_some()
    }

    fn field(&mut self) -> Option<&mut Field> {
        self.chat.as_mut()
    }

    fn submit(&mut self, _world: &World, wishes: &mut Wishes) {
        let text = self
            .chat
            .take()
            .map(|mut field| field.take())
            .unwrap_or_default();
        if !text.trim().is_empty() {
            wishes.push(Wish::Effect(Effect::Session(Command::Say(text))));
        }
    }

    fn back(&mut self, _world: &World, wishes: &mut Wishes) {
        if self.chat.take().is_some() {
            return;
        }
        if !matches!(self.over, Over::Nothing) {
            return self.close_over();
        }
        if let Some(spot) = self.picked.pop() {
            wishes.push(Wish::Focus(Target::Spot(spot)));
            return;
        }
        self.ask_leave(wishes);
    }

    fn answer(&mut self, _world: &World, answer: usize, wishes: &mut Wishes) {
        match self.asked.take() {
            Some(Asked::Act(offer)) if answer == 0 => self.act(*offer, wishes),
            Some(Asked::Follow(target)) if answer == 0 => {
                wishes.push(Wish::Effect(Effect::Join {
                    target,
                    password: String::new(),
                }));
                wishes.push(Wish::Replace(Box::new(Self::new("joining", false))));
            }
            Some(Asked::Leave(ways)) => match ways.get(answer) {
                Some(Way::Pause | Way::Go) => self.go(wishes),
                Some(Way::Forfeit) => {
                    let text = "You leave as soon as what is under way is done; stay until then, so that the \
                                others can play on.";
                    wishes.push(Wish::Toast(Tone::Plain, text.to_owned()));
                    wishes.push(Wish::Effect(Effect::Session(Command::Leave)));
                }
                Some(Way::Claim) => wishes.push(Wish::Effect(Effect::Session(Command::Claim))),
                None => {}
            },
            _ => {}
        }
    }

    fn hear(&mut self, world: &World, news: &News, wishes: &mut Wishes) {
        match news {
            News::Session(event) => self.hear_session(world, event, wishes),
            News::SessionEnded => {
                self.ended = true;
                if self.left {
                    return self.go(wishes);
                }
                if self.outcome.is_none() && self.failed.is_none() {
                    self.failed = Some("the session has ended".to_owned());
                }
            }
            News::Failed(why) => {
                if self.snapshot.is_none() {
                    self.failed = Some(why.clone());
                }
            }
            News::Checking(_) | News::Audited(_) | News::Replay(_) => {}
        }
    }

    fn focused(&mut self, target: Option<Target>) {
        self.aim(target);
    }

    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        let lit = self.offers.next(&self.picked);
        let targets = || layer.targets.iter().map(|(_, target)| *target);
        let is_lit = |target: &Target| matches!(target, Target::Spot(spot) if lit.contains(spot));
        targets()
            .find(is_lit)
            .or_else(|| targets().find(|target| !matches!(target, Target::Key(_))))
    }

    fn is_stop(&self, target: Target) -> bool {
        match target {
            Target::Spot(spot) => self.offers.next(&self.picked).contains(&spot),
            _ => true,
        }
    }

    fn tick(&mut self, passed: Duration) {
        self.moving.retain_mut(|moving| moving.advance(passed));
        if let Over::Telling(telling) = &mut self.over {
            telling.advance(passed);
        }
    }

    fn pace(&self) -> Option<Duration> {
        let telling = match &self.over {
            Over::Telling(telling) => telling.pace(),
            _ => None,
        };
        let moving = (!self.moving.is_empty()).then_some(moving::FRAME);
        telling.into_iter().chain(moving).min()
    }

    fn drawn(&mut self, _world: &World, layer: &Layer) {
        self.places.clone_from(&layer.places);
        for moving in &mut self.moving {
            moving.arrive_at(&layer.places);
        }
    }

    fn keys(&self, world: &World) -> Vec<(String, String)> {
        let keys = &world.keymap;
        let mut all = Vec::new();
        if let Some(snapshot) = &self.snapshot {
            use crate::tui::tables::Board as _;
            for spot in self.offers.next(&[]) {
                if let Spot::Deed(number) = spot {
                    let deed = on_board!(&snapshot.game, game => game.deed(number));
                    let key = deed.key.map(String::from).unwrap_or_default();
                    all.push((key, deed.label.to_owned()));
                }
            }
            all.push((
                "1 to 9".to_owned(),
                "do what stands at that place in the list".to_owned(),
            ));
            all.push((keys.keys(Intent::Seal), Intent::Seal.words().to_owned()));
        }
        if !self.local && !self.looks_on() {
            all.push((keys.keys(Intent::Chat), Intent::Chat.words().to_owned()));
        }
        if self.snapshot.is_none() {
            all.push(("r".to_owned(), "be ready, or not any more".to_owned()));
        }
        all.push((
            keys.keys(Intent::Quit),
            "leave the table, or pause it".to_owned(),
        ));
        all
    }

    fn commands(&self, _world: &World) -> Vec<(String, Target)> {
        let mut all: Vec<(String, Target)> = Vec::new();
        if self.snapshot.is_some() {
            let mut seen = std::collections::BTreeSet::new();
            for offer in self.offers.all() {
                // One that needs several choices begins with the first.
                if let Some(spot) = offer.path.first().filter(|spot| seen.insert(**spot)) {
                    all.push((offer.words.clone(), Target::Spot(*spot)));
                }
            }
            all.push((
                "the seal: what protects this moment".to_owned(),
                button::SEAL,
            ));
            all.push(("a hint".to_owned(), Target::Key(Intent::Hint)));
            if self.may_rematch() {
                all.push(("another game".to_owned(), button::REMATCH));
            }
            if self.outcome.is_some() {
                all.push(("audit every shuffle of this game".to_owned(), button::AUDIT));
            }
        } else if self.lobby.ticket.is_some() {
            all.push(("copy the ticket".to_owned(), button::COPY));
            all.push(("seat a bot".to_owned(), button::BOT));
        }
        if self.snapshot.is_none() && self.lobby.me.is_some() {
            all.push(("ready, or not".to_owned(), button::READY));
        }
        if !self.local && !self.looks_on() {
            all.push(("say something".to_owned(), button::CHAT));
        }
        all.push((
            "leave the table, or pause it".to_owned(),
            Target::Key(Intent::Quit),
        ));
        all
    }
}
