//! The signs for a player who looks elsewhere: that a table waits for it, or has news.
//!
//! A [`Notifier`] hears the events of one player's sessions, and is told whether the player looks. It knows no terminal:
//! whoever shows its signs asks for a title, and for each [`Notification`] rings, shows or runs what the player wants.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fairdeal_games::{game_info, listed, name_of};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};

use crate::events::SessionEvent;
use crate::view::{LobbyView, PeerState, Snapshot};

/// How long another player has to be away, in milliseconds, before a return is news. Shorter losses are those of a
/// network.
const AWAY: u64 = 60_000;
/// The most signs that wait to be given.
const MOST: usize = 8;

/// A reason to tell a player who looks elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occasion {
    /// The table waits for this player's action.
    Turn,
    /// Others propose to play on without a seat, and this player can answer.
    Vote,
    /// All seats of the lobby are taken, and this player is not ready.
    Ready,
    /// The table begins.
    Begun,
    /// Another player is back.
    Back,
    /// The game is over, or the table has stopped.
    Over,
}

/// A sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub occasion: Occasion,
    /// In words, such as "Your turn: Loot". It has no control characters, and does not begin with a digit.
    pub text: String,
    /// The table, once it is open.
    pub table: Option<Hash32>,
    /// The game's id, if known.
    pub game: Option<String>,
    /// Whether the player was told before, and has not looked since.
    pub is_reminder: bool,
}

/// Something that waits for the player.
#[derive(Clone, Debug)]
struct Ask {
    text: String,
    /// When to remind, by the monotonic clock.
    remind_at: Option<u64>,
    was_reminded: bool,
}

/// The signs of one player's tables: each turn is told once, with one reminder.
#[derive(Debug)]
pub struct Notifier {
    /// How long a sign waits for the player before the reminder, in milliseconds.
    remind: Option<u64>,
    /// Whether this program plays the seat itself: then no turn is the player's.
    is_bot: bool,
    is_looking: bool,
    table: Option<Hash32>,
    /// The game's id.
    game: Option<String>,
    names: Vec<String>,
    me: Option<Seat>,
    /// When this player began, or was last seen to miss each of the other persons, by their lowest seats.
    away: BTreeMap<Seat, u64>,
    /// The persons who have been at the table without a break.
    here: SeatSet,
    is_in_lobby: bool,
    is_over: bool,
    asks: BTreeMap<Occasion, Ask>,
    /// The last news that the player has not seen.
    news: Option<String>,
    /// The signs that nobody has taken yet.
    due: VecDeque<Notification>,
}

impl Notifier {
    /// For a player who looks here. It is reminded of what waits for it after this time; zero: never.
    pub fn new(remind: Duration) -> Self {
        let remind = u64::try_from(remind.as_millis()).unwrap_or(u64::MAX);
        Self {
            remind: Some(remind).filter(|time| *time > 0),
            is_bot: false,
            is_looking: true,
            table: None,
            game: None,
            names: Vec::new(),
            me: None,
            away: BTreeMap::new(),
            here: SeatSet::EMPTY,
            is_in_lobby: false,
            is_over: false,
            asks: BTreeMap::new(),
            news: None,
            due: VecDeque::new(),
        }
    }

    /// For somebody who does not look at all, and whose seat this program plays.
    pub fn for_bot() -> Self {
        Self { is_bot: true, is_looking: false, ..Self::new(Duration::ZERO) }
    }

    /// The player looks here, or elsewhere.
    pub fn look(&mut self, is_looking: bool, now: u64) {
        if self.is_looking == is_looking {
            return;
        }
        self.is_looking = is_looking;
        if is_looking {
            self.news = None;
        }
        let remind_at = self.remind.filter(|_| !is_looking).map(|time| now.saturating_add(time));
        for ask in self.asks.values_mut() {
            ask.remind_at = remind_at.filter(|_| !ask.was_reminded);
        }
    }

    /// Whether the player looks here.
    pub fn is_looking(&self) -> bool {
        self.is_looking
    }

    /// The title of a window: what waits for the player, or else the news that it has not seen. Nothing, if all is quiet.
    pub fn title(&self) -> Option<&str> {
        let ask = self.asks.values().next().map(|ask| ask.text.as_str());
        ask.or(self.news.as_deref())
    }

    /// When [`Self::time`] has something to do.
    pub fn wake(&self) -> Option<u64> {
        self.asks.values().filter_map(|ask| ask.remind_at).min()
    }

    /// Lets time pass.
    pub fn time(&mut self, now: u64) {
        let mut late = Vec::new();
        for (occasion, ask) in &mut self.asks {
            if ask.remind_at.is_some_and(|at| at <= now) {
                (ask.remind_at, ask.was_reminded) = (None, true);
                late.push((*occasion, ask.text.clone()));
            }
        }
        late.into_iter().for_each(|(occasion, text)| self.sign(occasion, text, true));
    }

    /// The next sign to give.
    pub fn poll(&mut self) -> Option<Notification> {
        self.due.pop_front()
    }

    /// The player has left the table: nothing there waits for it.
    pub fn leave(&mut self) {
        let Self { remind, is_bot, is_looking, .. } = *self;
        let due = std::mem::take(&mut self.due);
        *self = Self { remind, is_bot, is_looking, due, ..Self::new(Duration::ZERO) };
    }

    /// Another player of a saved game can be reached again. `names` are those of the players, `game` is the game's id.
    pub fn find(&mut self, names: &[String], game: &str) {
        let are = if names.len() == 1 { "is" } else { "are" };
        let text = format!("{}: {} {are} online", title_of(game), listed(names));
        self.tell(Occasion::Back, text);
    }

    /// Hears an event of the player's session.
    pub fn hear(&mut self, event: &SessionEvent, now: u64) {
        match event {
            SessionEvent::Lobby(view) => self.lobby(view, now),
            SessionEvent::Started { table, game, names, me } => {
                let text = format!("The table begins: {}", title_of(game));
                // Whoever comes back to a table has heard nothing of a lobby.
                let begins = std::mem::take(&mut self.is_in_lobby);
                self.leave();
                (self.table, self.game, self.me) = (Some(*table), Some(game.clone()), *me);
                self.names.clone_from(names);
                if begins {
                    self.tell(Occasion::Begun, text);
                }
            }
            SessionEvent::Snapshot(snapshot) => self.snapshot(snapshot, now),
            SessionEvent::Action { seat, .. } => {
                self.end(Occasion::Vote);
                if Some(*seat) == self.me {
                    self.end(Occasion::Turn);
                }
            }
            SessionEvent::RemovalProposed { line, asks: true, .. } => {
                self.ask(Occasion::Vote, format!("{}: {line}", self.title_of_game()), now);
            }
            SessionEvent::Over { winners, .. } => {
                let winners: Vec<String> = winners.iter().map(|seat| name_of(*seat, &self.names)).collect();
                let won = if winners.is_empty() { String::new() } else { format!(", won by {}", listed(&winners)) };
                self.stop(format!("{} is over{won}", self.title_of_game()));
            }
            SessionEvent::Claimed { .. } => self.stop(format!("{} was closed unfinished", self.title_of_game())),
            SessionEvent::Fault { stopped: true, .. } | SessionEvent::Error(_) => {
                self.stop(format!("{} cannot go on", self.title_of_game()));
            }
            SessionEvent::Peer { seat, state: PeerState::Left | PeerState::Absent | PeerState::Removed } => {
                self.end(Occasion::Vote);
                self.away.remove(seat);
                self.here.remove(*seat);
            }
            _ => {}
        }
    }

    fn lobby(&mut self, view: &LobbyView, now: u64) {
        self.is_in_lobby = true;
        self.game = Some(view.game.clone()).filter(|game| !game.is_empty());
        let is_full = !view.seats.is_empty() && view.seats.iter().all(Option::is_some);
        let is_ready = view.me.is_none_or(|me| view.ready.get(me.index()).copied().unwrap_or(true));
        if is_full && !is_ready {
            self.ask(Occasion::Ready, format!("All seats are taken: {}", self.title_of_game()), now);
        } else {
            self.end(Occasion::Ready);
        }
    }

    fn snapshot(&mut self, snapshot: &Snapshot, now: u64) {
        self.game = Some(snapshot.game.info().id.to_owned());
        self.names.clone_from(&snapshot.names);
        self.me = snapshot.me;
        // Alone it is always the player's turn.
        let has_turns = snapshot.names.len() > 1 && !snapshot.game.is_over();
        let Some(me) = snapshot.me.filter(|_| has_turns) else {
            self.end(Occasion::Turn);
            return;
        };
        let answered = snapshot.waits.pending.is_some() || snapshot.waits.is_leaving;
        if snapshot.my_turn && !answered {
            self.ask(Occasion::Turn, format!("Your turn: {}", self.title_of_game()), now);
        } else if answered || has_passed(snapshot, me) {
            self.end(Occasion::Turn);
        }
        self.see(snapshot, me, now);
    }

    /// Notes who is at the table.
    fn see(&mut self, snapshot: &Snapshot, me: Seat, now: u64) {
        let (parties, all) = (&snapshot.seating.parties, SeatSet::all(snapshot.names.len()));
        let own = parties.party_of(me);
        let is_person = |seat: Seat| snapshot.seating.played_by.get(seat.index()) == Some(&PlayedBy::Person);
        let lowest = |seat: Seat| parties.party_of(seat).map_or(seat, Party::lowest);
        let others = all.iter().filter(|seat| is_person(*seat) && lowest(*seat) == *seat);
        let is_there = |seat: Seat| snapshot.connected.contains(seat) || snapshot.indirect.contains(seat);
        for seat in others.filter(|seat| parties.party_of(*seat) != own) {
            if !is_there(seat) {
                self.here.remove(seat);
                self.away.entry(seat).or_insert(now);
            } else if !self.here.contains(seat) {
                self.here.insert(seat);
                let since = self.away.remove(&seat);
                if since.is_some_and(|since| now.saturating_sub(since) >= AWAY) {
                    let text = format!("{}: {} is back", self.title_of_game(), name_of(seat, &self.names));
                    self.tell(Occasion::Back, text);
                }
            }
        }
    }

    fn title_of_game(&self) -> String {
        self.game.as_deref().map_or_else(|| "The table".to_owned(), title_of)
    }

    /// Something waits for the player, until [`Self::end`].
    fn ask(&mut self, occasion: Occasion, text: String, now: u64) {
        if self.asks.contains_key(&occasion) || self.is_over || (self.is_bot && occasion == Occasion::Turn) {
            return;
        }
        let remind_at = self.remind.filter(|_| !self.is_looking).map(|time| now.saturating_add(time));
        self.asks.insert(occasion, Ask { text: text.clone(), remind_at, was_reminded: false });
        self.sign(occasion, text, false);
    }

    fn end(&mut self, occasion: Occasion) {
        self.asks.remove(&occasion);
    }

    fn stop(&mut self, text: String) {
        self.asks.clear();
        if !self.is_over {
            self.is_over = true;
            self.tell(Occasion::Over, text);
        }
    }

    fn tell(&mut self, occasion: Occasion, text: String) {
        if !self.is_looking {
            self.news = Some(text.clone());
        }
        self.sign(occasion, text, false);
    }

    fn sign(&mut self, occasion: Occasion, text: String, is_reminder: bool) {
        if !self.is_looking {
            let (table, game) = (self.table, self.game.clone());
            self.due.push_back(Notification { occasion, text, table, game, is_reminder });
            if self.due.len() > MOST {
                self.due.pop_front();
            }
        }
    }
}

/// The name of a game for people.
fn title_of(game: &str) -> String {
    game_info(game).map_or_else(|_| "The table".to_owned(), |info| info.name.to_owned())
}

/// Whether the turn of this seat is over. Between two steps of one turn nobody is due, and a game may wait for several
/// seats.
fn has_passed(snapshot: &Snapshot, me: Seat) -> bool {
    let to_act = snapshot.game.to_act();
    !to_act.is_empty() && !to_act.contains(me)
}

#[cfg(test)]
mod tests {
    use fairdeal_games::bots::Level;
    use fairdeal_games::{AnyAction, bot, rule_set};

    use super::*;
    use crate::practice::{Opponents, Practice};
    use crate::view::{LobbySeat, Seating};

    const TEN_MINUTES: u64 = 600_000;

    fn seat(index: usize) -> Seat {
        Seat::new(index).unwrap()
    }

    /// A table of three persons at which it is the turn of seat 0, this player.
    fn snapshot() -> Snapshot {
        let rules = rule_set("loot", 3, &BTreeMap::new()).unwrap();
        let opponents = Opponents { bots: vec![bot(Level::Normal), bot(Level::Normal)], level: "normal".to_owned() };
        let (mut practice, mut told) = Practice::deal(&rules, "Anna", opponents, [1; 32]).unwrap();
        told.extend(std::iter::from_fn(|| practice.next_bot()).flatten());
        let mut snapshots = told.into_iter().filter_map(|event| match event {
            SessionEvent::Snapshot(snapshot) => Some(*snapshot),
            _ => None,
        });
        let mut snapshot = snapshots.next_back().unwrap();
        assert!(snapshot.my_turn);
        snapshot.names = ["Anna", "Ben", "Cleo"].map(str::to_owned).to_vec();
        snapshot.seating = Seating::of_people(3);
        snapshot.connected = SeatSet::all(3);
        snapshot
    }

    fn act(snapshot: &Snapshot) -> AnyAction {
        snapshot.game.legal(seat(0), &snapshot.known).remove(0)
    }

    fn hear(notifier: &mut Notifier, snapshot: &Snapshot, now: u64) -> Vec<String> {
        notifier.hear(&SessionEvent::Snapshot(Box::new(snapshot.clone())), now);
        taken(notifier)
    }

    fn taken(notifier: &mut Notifier) -> Vec<String> {
        let signs = std::iter::from_fn(|| notifier.poll());
        signs.map(|sign| if sign.is_reminder { format!("{} again", sign.text) } else { sign.text }).collect()
    }

    fn away() -> Notifier {
        let mut notifier = Notifier::new(Duration::from_millis(TEN_MINUTES));
        notifier.look(false, 0);
        notifier
    }

    #[test]
    fn turn_is_told_once_and_reminded_of_once() {
        let (mut notifier, mut now) = (away(), snapshot());
        assert_eq!(hear(&mut notifier, &now, 0), ["Your turn: Loot"]);
        assert_eq!(notifier.title(), Some("Your turn: Loot"));
        // A refused action, and a step between: it is the same turn.
        now.my_turn = false;
        assert!(hear(&mut notifier, &now, 1000).is_empty());
        now.my_turn = true;
        assert!(hear(&mut notifier, &now, 2000).is_empty());
        assert_eq!(notifier.wake(), Some(TEN_MINUTES));
        notifier.time(TEN_MINUTES - 1);
        assert!(taken(&mut notifier).is_empty());
        notifier.time(TEN_MINUTES);
        assert_eq!(taken(&mut notifier), ["Your turn: Loot again"]);
        notifier.time(10 * TEN_MINUTES);
        assert!(taken(&mut notifier).is_empty() && notifier.wake().is_none());
        // The next turn.
        let action = act(&now);
        notifier.hear(&SessionEvent::Action { step: 9, seat: seat(0), action }, TEN_MINUTES);
        assert_eq!(notifier.title(), None);
        assert_eq!(hear(&mut notifier, &now, TEN_MINUTES), ["Your turn: Loot"]);
    }

    #[test]
    fn who_looks_here_gets_no_sign() {
        let (mut notifier, now) = (Notifier::new(Duration::from_millis(TEN_MINUTES)), snapshot());
        assert!(hear(&mut notifier, &now, 0).is_empty());
        assert_eq!(notifier.title(), Some("Your turn: Loot"));
        // The player has seen the turn, and looks away without acting: the reminder is left.
        notifier.look(false, 5000);
        assert!(taken(&mut notifier).is_empty());
        assert_eq!(notifier.wake(), Some(5000 + TEN_MINUTES));
        notifier.look(true, 6000);
        assert_eq!(notifier.wake(), None);
        let mut silent = Notifier::new(Duration::ZERO);
        silent.look(false, 0);
        assert_eq!(hear(&mut silent, &now, 0), ["Your turn: Loot"]);
        assert_eq!(silent.wake(), None);
    }

    #[test]
    fn who_was_away_for_a_minute_is_back() {
        let (mut notifier, mut now) = (away(), snapshot());
        now.my_turn = false;
        assert!(hear(&mut notifier, &now, 0).is_empty());
        let all = now.connected;
        now.connected = all.without(seat(2));
        assert!(hear(&mut notifier, &now, 1000).is_empty());
        now.connected = all;
        assert!(hear(&mut notifier, &now, 20_000).is_empty(), "a short loss");
        now.connected = all.without(seat(2));
        assert!(hear(&mut notifier, &now, 30_000).is_empty());
        now.indirect = SeatSet::one(seat(2));
        assert_eq!(hear(&mut notifier, &now, 30_000 + AWAY), ["Loot: Cleo is back"]);
        assert_eq!(notifier.title(), Some("Loot: Cleo is back"));
        notifier.look(true, 40_000 + AWAY);
        assert_eq!(notifier.title(), None);
        // Bots do not come back: their programs do.
        now.seating.played_by = vec![PlayedBy::bot("normal").unwrap(); 3];
        (now.connected, now.indirect) = (all.without(seat(1)), SeatSet::EMPTY);
        notifier.look(false, 0);
        hear(&mut notifier, &now, 0);
        now.connected = all;
        assert!(hear(&mut notifier, &now, 2 * AWAY).is_empty());
    }

    #[test]
    fn lobby_votes_and_the_end_are_told() {
        let mut notifier = away();
        let taken_seat = |index| LobbySeat {
            name: "Anna".to_owned(),
            party: Party::of(seat(index)),
            played_by: PlayedBy::Person,
            in_browser: false,
            person: None,
        };
        let mut view = LobbyView {
            game: "loot".to_owned(),
            seats: vec![Some(taken_seat(0)), None],
            ready: vec![false, false],
            me: Some(seat(0)),
            ..LobbyView::default()
        };
        notifier.hear(&SessionEvent::Lobby(view.clone()), 0);
        assert!(taken(&mut notifier).is_empty());
        view.seats[1] = Some(taken_seat(1));
        notifier.hear(&SessionEvent::Lobby(view.clone()), 0);
        assert_eq!(taken(&mut notifier), ["All seats are taken: Loot"]);
        let names = ["Anna", "Ben"].map(str::to_owned).to_vec();
        let (table, me) = (Hash32::default(), Some(seat(0)));
        let started = SessionEvent::Started { table, game: "loot".to_owned(), names, me };
        notifier.hear(&started, 0);
        assert_eq!(taken(&mut notifier), ["The table begins: Loot"]);
        let line = "Ben proposes to play on without Cleo.".to_owned();
        notifier.hear(&SessionEvent::RemovalProposed { line, out: vec![seat(1)], asks: true }, 0);
        assert_eq!(taken(&mut notifier), ["Loot: Ben proposes to play on without Cleo."]);
        let winners = vec![seat(1)];
        let over = SessionEvent::Over { scores: vec![1, 2], winners, log: Hash32::default(), transcript: None };
        notifier.hear(&over, 0);
        notifier.hear(&SessionEvent::Error("the transcript is not saved".to_owned()), 0);
        assert_eq!(taken(&mut notifier), ["Loot is over, won by Ben"]);
        assert_eq!(notifier.title(), Some("Loot is over, won by Ben"));
        notifier.leave();
        assert_eq!(notifier.title(), None);
    }

    #[test]
    fn signs_that_nobody_takes_do_not_pile_up() {
        let mut notifier = away();
        (0..100).for_each(|_| notifier.find(&["3rd".to_owned()], "loot"));
        let signs = taken(&mut notifier);
        assert_eq!((signs.len(), signs[0].as_str()), (MOST, "Loot: 3rd is online"));
        let (mut bot, now) = (Notifier::for_bot(), snapshot());
        assert!(hear(&mut bot, &now, 0).is_empty(), "no turn is the player's");
    }
}
