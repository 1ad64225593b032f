//! A practice game: dealt by this program alone, without encryption, which makes undo possible.
//!
//! A signed entry cannot be withdrawn, and an opened card cannot be hidden again. In practice the player sits alone or
//! with bots of the same program, and nobody is there to be cheated. Bots are still asked with what their seat sees, and
//! with nothing else. A practice game has no log and no transcript, and appears in no history and no statistics.

use std::collections::BTreeMap;
use std::fmt;

use fairdeal_games::bots::Bot;
use fairdeal_games::chance::{RefereeChance, Refusal};
use fairdeal_games::ivory::solver::Verdict;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, TableEvent as _, counted};
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use crate::bot_names::{bot_name, bots_beside};
use crate::events::{Command, SessionEvent};
use crate::solved::{could_have, solve_here};
use crate::text::display_names;
use crate::view::{Advice, LobbySeat, LobbyView, Seating, Snapshot, Standing, Waits};

/// The bots of a practice game.
pub struct Opponents {
    /// One for each seat but the player's, in seat order.
    pub bots: Vec<Box<dyn Bot<AnyGame>>>,
    /// How they play, as a level's name.
    pub level: String,
}

impl fmt::Debug for Opponents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} bots", self.bots.len(), self.level)
    }
}

impl Opponents {
    /// For a solitaire.
    pub fn none() -> Self {
        Self { bots: Vec::new(), level: String::new() }
    }
}

/// The game, and its state before each action of the player.
#[derive(Debug)]
pub struct Practice {
    me: Seat,
    names: Vec<String>,
    opponents: Opponents,
    /// The bots' own randomness.
    rng: ChaCha20Rng,
    now: State,
    before: Vec<State>,
    rules: RuleSet,
}

#[derive(Clone, Debug)]
struct State {
    game: AnyGame,
    chance: RefereeChance,
    /// Whether it can be won from here, and how.
    verdict: Verdict,
    /// The number of actions so far.
    step: u64,
}

/// Why a practice game cannot be dealt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PracticeError {
    /// The rules are unknown or have other seats than there are players.
    #[error("{game} has no practice for {}", counted(*.players, "player"))]
    Rules {
        game: String,
        /// Players, bots included.
        players: usize,
    },
}

impl Practice {
    /// Deals a game to a player in the first seat and bots in the others, all chance from a seed. Returns what the player
    /// sees of the beginning; [`Self::next_bot`] lets the bots act.
    ///
    /// # Errors
    /// [`PracticeError`].
    pub fn deal(
        rules: &RuleSet,
        name: &str,
        opponents: Opponents,
        seed: [u8; 32],
    ) -> Result<(Self, Vec<SessionEvent>), PracticeError> {
        let players = opponents.bots.len() + 1;
        let refused = || PracticeError::Rules { game: rules.game.clone(), players };
        if usize::from(rules.seats) != players {
            return Err(refused());
        }
        // The bots' choices tell nothing about the cards.
        let mut root = ChaCha20Rng::from_seed(seed);
        let [cards, own] = std::array::from_fn(|_| {
            let mut seed = [0; 32];
            root.fill_bytes(&mut seed);
            seed
        });
        let mut game = AnyGame::create(rules).map_err(|_| refused())?;
        let mut chance = RefereeChance::from_seed(cards);
        let mut events = Vec::new();
        game.begin(&mut chance, &mut events).map_err(|_| refused())?;
        let verdict = solve_here(&game, chance.faces());
        let mut names: Vec<&str> = vec![name];
        for number in bots_beside(name).take(opponents.bots.len()) {
            names.push(bot_name(number));
        }
        let practice = Self {
            me: Seat::FIRST,
            names: display_names(names),
            opponents,
            rng: ChaCha20Rng::from_seed(own),
            now: State { game, chance, verdict, step: 0 },
            before: Vec::new(),
            rules: rules.clone(),
        };
        let mut told = vec![SessionEvent::Lobby(practice.lobby())];
        told.extend(practice.tell(events));
        told.extend(practice.verdict());
        Ok((practice, told))
    }

    fn played_by(&self) -> Vec<PlayedBy> {
        let bot = PlayedBy::bot(&self.opponents.level).unwrap_or(PlayedBy::Person);
        let bots = self.opponents.bots.iter().map(|_| bot.clone());
        std::iter::once(PlayedBy::Person).chain(bots).collect()
    }

    /// The view shown in place of a lobby.
    fn lobby(&self) -> LobbyView {
        LobbyView {
            game: self.rules.game.clone(),
            options: self.rules.chosen_options().into_iter().collect(),
            seats: self
                .names
                .iter()
                .zip(self.played_by())
                .map(|(name, played_by)| {
                    let party = Party::of(self.me);
                    Some(LobbySeat { person: None, in_browser: false, name: name.clone(), party, played_by })
                })
                .collect(),
            me: Some(self.me),
            ..LobbyView::default()
        }
    }

    /// Applies an action of the player; the reason in words if it is illegal.
    fn act(&mut self, action: &AnyAction) -> Result<Vec<AnyEvent>, String> {
        let before = self.now.clone();
        let events = self.apply(self.me, action)?;
        let State { game, chance, verdict, .. } = &mut self.now;
        *verdict = match (&before.verdict, action) {
            (Verdict::Lost, _) => Verdict::Lost,
            (Verdict::Winnable(way), AnyAction::Ivory(action)) if way.first() == Some(action) => {
                Verdict::Winnable(way.iter().skip(1).copied().collect())
            }
            _ => solve_here(game, chance.faces()),
        };
        self.before.push(before);
        Ok(events)
    }

    fn apply(&mut self, seat: Seat, action: &AnyAction) -> Result<Vec<AnyEvent>, String> {
        let State { game, chance, step, .. } = &mut self.now;
        let mut events = Vec::new();
        let done = chance.attempt(game, |game, chance| game.apply(seat, action, chance, &mut events));
        match done {
            Ok(()) => {
                *step += 1;
                Ok(events)
            }
            Err(Refusal::Illegal(why)) => Err(why.to_string()),
            // Unreachable in practice: the generator can draw whatever the game requests.
            Err(Refusal::Stopped(_)) => Err("there is no card for that".to_owned()),
        }
    }

    /// Lets one bot act, and tells it. `None` if the table waits for the player, or the game is over.
    pub fn next_bot(&mut self) -> Option<Vec<SessionEvent>> {
        let (seat, action) = self.choice()?;
        let deal = self.now.chance.deal_number();
        let events = match self.apply(seat, &action) {
            Ok(events) => events,
            // A fault of the bot: the game cannot continue without its seat.
            Err(why) => return Some(vec![SessionEvent::Error(format!("a bot is stuck: {why}"))]),
        };
        let step = self.now.step;
        let mut told = vec![SessionEvent::Action { step, seat, action }];
        let next = self.now.chance.deal_number();
        told.extend((next != deal).then_some(SessionEvent::Deal(next)));
        told.extend(self.tell(events));
        Some(told)
    }

    /// The next action of a bot: of those that are not to act, then of those that are. `None` if the table waits for the
    /// player.
    fn choice(&mut self) -> Option<(Seat, AnyAction)> {
        let State { game, chance, .. } = &self.now;
        if game.is_over() {
            return None;
        }
        let to_act = game.to_act();
        let (acts, waits): (Vec<Seat>, Vec<Seat>) =
            SeatSet::all(self.names.len()).without(self.me).iter().partition(|seat| to_act.contains(*seat));
        waits.into_iter().chain(acts).find_map(|seat| {
            let bot = self.opponents.bots.get_mut(seat.index().checked_sub(1)?)?;
            let action = bot.choose(game, seat, chance.dealt_to(seat), &mut self.rng)?;
            Some((seat, action))
        })
    }

    /// Whether the deal can be won, in words: at the beginning, and again at the end of a game that was not won.
    pub fn verdict(&self) -> Option<SessionEvent> {
        let State { game, chance, .. } = &self.now;
        let line = match (game.is_over(), self.advice()) {
            (true, Some(Advice::Undo(count))) => {
                format!("{} {}", could_have(game, chance.faces())?, Advice::undo_first(count))
            }
            (true, _) => could_have(game, chance.faces())?.to_owned(),
            (false, _) => match &self.now.verdict {
                Verdict::Winnable(_) => "This deal can be won.".to_owned(),
                Verdict::Lost => "This deal cannot be won, however it is played.".to_owned(),
                Verdict::GaveUp => return None,
            },
        };
        Some(SessionEvent::Line(line))
    }

    /// The next action of a way to win, or how many actions have to be undone first.
    fn advice(&self) -> Option<Advice> {
        let game = &self.now.game;
        if let (Verdict::Winnable(way), false) = (&self.now.verdict, game.is_over()) {
            return way.first().map(|action| Advice::Next { action: AnyAction::Ivory(*action), left: way.len() });
        }
        let is_won = matches!(&self.now.verdict, Verdict::Winnable(way) if way.is_empty());
        let back = self.before.iter().rev().position(|state| state.verdict.is_winnable());
        back.filter(|_| !is_won).map(|states| Advice::Undo(states + 1))
    }

    /// Whether a game with opponents is over: its result stands.
    fn is_played_out(&self) -> bool {
        self.names.len() > 1 && self.now.game.is_over()
    }

    /// Undoes the player's last action, and all that came after it.
    fn undo(&mut self) -> Result<(), &'static str> {
        if self.is_played_out() {
            return Err("the game is over");
        }
        let before = self.before.pop().ok_or("there is nothing to undo")?;
        self.now = before;
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let game = &self.now.game;
        Snapshot {
            shares: BTreeMap::new(),
            table: Hash32::default(),
            me: Some(self.me),
            names: self.names.clone(),
            seating: Seating::of_one_program(self.played_by()),
            game: game.clone(),
            known: self.now.chance.dealt_to(self.me).clone(),
            standing: Standing::Practice {
                undo: if self.is_played_out() { 0 } else { self.before.len() },
                advice: self.advice(),
            },
            my_turn: game.to_act().contains(self.me),
            connected: SeatSet::all(self.names.len()),
            indirect: SeatSet::EMPTY,
            waits: Waits::default(),
            timing: None,
            holidays: Vec::new(),
            holidays_left: 0,
        }
    }

    /// The session events for these game events, the state after them, and the end of a game with opponents.
    fn tell(&self, events: Vec<AnyEvent>) -> Vec<SessionEvent> {
        let mut told = Vec::new();
        let ends = self.now.game.is_over() && !events.is_empty();
        for event in events {
            let line = event.text(&self.names);
            told.push(SessionEvent::Game(event));
            if !line.is_empty() {
                told.push(SessionEvent::Line(line));
            }
        }
        told.extend(ends.then(|| self.verdict()).flatten());
        told.push(SessionEvent::Snapshot(Box::new(self.snapshot())));
        let game = &self.now.game;
        told.extend((ends && self.names.len() > 1).then(|| SessionEvent::Over {
            scores: game.scores(),
            winners: game.winners().iter().collect(),
            log: Hash32::default(),
            transcript: None,
        }));
        told
    }

    /// Handles a player's command; `None` once the player leaves.
    pub fn answer(&mut self, command: Command) -> Option<Vec<SessionEvent>> {
        Some(match command {
            Command::Act(action) => match self.act(&action) {
                Ok(events) => self.tell(events),
                Err(why) => vec![SessionEvent::Refused(why)],
            },
            Command::Undo => match self.undo() {
                Ok(()) => {
                    let line = "The last action is undone.".to_owned();
                    let mut told = vec![SessionEvent::Line(line)];
                    told.extend(self.tell(Vec::new()));
                    told
                }
                Err(why) => vec![SessionEvent::Refused(why.to_owned())],
            },
            Command::Quit | Command::Leave => return None,
            // These need other players, who take their time.
            Command::Premove(_)
            | Command::WriteLetter(_)
            | Command::ReadLetter(_)
            | Command::Claim
            | Command::ProposeRemoval(_)
            | Command::Extend(_)
            | Command::Ready(_)
            | Command::Dismiss(_)
            | Command::CallBack(_)
            | Command::Hidden(_)
            | Command::Attend(_)
            | Command::Say(_)
            | Command::Invite(_) => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_games::bots::Level;
    use fairdeal_games::ivory::IvoryAction;
    use fairdeal_games::{Hints as _, bot, match_game, rule_set};
    use fairdeal_protocol::card::Faces;

    use super::*;

    fn dealt() -> Practice {
        let rules = rule_set("ivory-tower", 1, &BTreeMap::new()).unwrap();
        deal(&rules, Vec::new()).0
    }

    fn deal(rules: &RuleSet, bots: Vec<Box<dyn Bot<AnyGame>>>) -> (Practice, Vec<SessionEvent>) {
        let level = "normal".to_owned();
        Practice::deal(rules, "Anna", Opponents { bots, level }, [4; 32]).unwrap()
    }

    /// Each game is played to its end against bots, by the bots' own hints, and every snapshot has what one seat sees.
    #[test]
    fn games_against_bots_come_to_their_ends() {
        for (game, seats) in [("loot", 3), ("plutonian-poker", 3), ("sphinxs-paw", 2), ("houses-of-thoth", 4)] {
            let rules = rule_set(game, seats, &BTreeMap::new()).unwrap();
            let bots = (1..seats).map(|_| bot(Level::Normal)).collect();
            let (mut practice, mut told) = deal(&rules, bots);
            let mut player = bot(Level::Normal);
            let mut rng = ChaCha20Rng::from_seed([9; 32]);
            for _ in 0..20_000 {
                told.extend(std::iter::from_fn(|| practice.next_bot()).flatten());
                for event in &told {
                    let SessionEvent::Snapshot(snapshot) = event else {
                        continue;
                    };
                    assert!(snapshot.me == Some(Seat::FIRST) && snapshot.names.len() == usize::from(seats));
                }
                let Some(SessionEvent::Snapshot(now)) =
                    told.iter().rfind(|event| matches!(event, SessionEvent::Snapshot(_)))
                else {
                    panic!("no snapshot");
                };
                if now.game.is_over() {
                    break;
                }
                assert!(now.my_turn, "{game}: the bots have acted");
                let action = player.choose(&now.game, Seat::FIRST, &now.known, &mut rng).unwrap();
                told = practice.answer(Command::Act(action)).unwrap();
            }
            let over = told.iter().filter(|event| matches!(event, SessionEvent::Over { .. }));
            assert_eq!(over.count(), 1, "{game}");
            assert!(matches!(practice.answer(Command::Undo).unwrap()[..], [SessionEvent::Refused(_)]));
        }
    }

    /// Undo leads back to the player's own last decision, over all that bots did since.
    #[test]
    fn undo_rewinds_the_actions_of_bots() {
        let rules = rule_set("loot", 3, &BTreeMap::new()).unwrap();
        let (mut practice, _) = deal(&rules, vec![bot(Level::Gentle), bot(Level::Gentle)]);
        while practice.next_bot().is_some() {}
        let before = practice.snapshot();
        let action = before.game.legal(Seat::FIRST, &before.known).swap_remove(0);
        practice.answer(Command::Act(action)).unwrap();
        while practice.next_bot().is_some() {}
        assert_ne!(practice.snapshot(), before);
        practice.answer(Command::Undo).unwrap();
        assert_eq!(practice.snapshot(), before);
    }

    #[test]
    fn rules_need_as_many_players_as_seats() {
        let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        let level = "normal".to_owned();
        let alone = Opponents { bots: Vec::new(), level };
        let refused = Practice::deal(&rules, "Anna", alone, [4; 32]).unwrap_err();
        assert_eq!(refused.to_string(), "loot has no practice for 1 player");
    }

    fn turn() -> AnyAction {
        AnyAction::Ivory(IvoryAction::Turn)
    }

    /// Every action can be undone, one by one, back to the start, and play then goes on as before.
    #[test]
    fn all_can_be_taken_back() {
        let mut practice = dealt();
        let mut states = vec![practice.snapshot()];
        for _ in 0..30 {
            practice.act(&turn()).unwrap();
            states.push(practice.snapshot());
        }
        for state in states.iter().rev().skip(1) {
            practice.undo().unwrap();
            assert_eq!(practice.snapshot(), *state);
        }
        practice.undo().unwrap_err();
        practice.act(&turn()).unwrap();
        assert_eq!(practice.snapshot(), states[1]);
    }

    /// The last action of a finished game can be undone too.
    #[test]
    fn giving_up_can_be_taken_back() {
        let mut practice = dealt();
        practice.act(&AnyAction::Ivory(IvoryAction::Resign)).unwrap();
        assert!(practice.now.game.is_over());
        let refused = practice.answer(Command::Act(turn())).unwrap();
        assert!(matches!(refused[..], [SessionEvent::Refused(_)]));
        let told = practice.answer(Command::Undo).unwrap();
        assert!(matches!(told.last(), Some(SessionEvent::Snapshot(now)) if now.my_turn));
        assert!(practice.answer(Command::Quit).is_none());
    }

    /// The line about the deal comes before the state, and not after a win.
    #[test]
    fn end_says_whether_the_deal_could_be_won() {
        let mut practice = dealt();
        assert!(matches!(practice.verdict(), Some(SessionEvent::Line(line)) if line == "This deal can be won."));
        let told = practice.answer(Command::Act(AnyAction::Ivory(IvoryAction::Resign))).unwrap();
        let words = "This deal could have been won. Undo 1 action, and hints show how.";
        let said = |event: &SessionEvent| matches!(event, SessionEvent::Line(line) if line == words);
        assert!(told.iter().any(said));
    }

    /// The advice, followed step by step from a deal that can be won, completes the tower.
    #[test]
    fn advice_wins_where_the_deal_can_be_won() {
        let mut practice = dealt();
        let mut before = usize::MAX;
        while let Some(advice) = practice.advice() {
            let Advice::Next { action, left } = advice else {
                panic!("{advice:?} after {} actions", practice.before.len());
            };
            assert!(left < before);
            before = left;
            practice.act(&action).unwrap();
        }
        assert_eq!(before, 1);
        assert_eq!(practice.now.game.scores(), [10]);
        assert_eq!(practice.verdict(), None);
    }

    /// A bot that sees too little plays on until the deal is lost. The advice leads back to where it was not.
    #[test]
    fn advice_leads_back_to_where_the_game_could_be_won() {
        let mut practice = dealt();
        while !practice.now.game.is_over() {
            let hint = match_game!(&practice.now.game, game, AnyAction as wrap => {
                wrap(game.hint(practice.me, &Faces::new()).unwrap().action)
            });
            practice.act(&hint).unwrap();
        }
        let Some(Advice::Undo(count)) = practice.advice() else {
            panic!("{:?}", practice.advice());
        };
        assert!(count > 1);
        for left in (1..=count).rev() {
            assert_eq!(practice.advice(), Some(Advice::Undo(left)));
            practice.undo().unwrap();
        }
        assert!(matches!(practice.advice(), Some(Advice::Next { .. })));
    }
}
