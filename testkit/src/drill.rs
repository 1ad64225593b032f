//! The drill: a meaningless game for protocol tests that makes every kind of request a game can make.

// The names of the actions and events are self-explanatory.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Illegal, Pause, Protocol, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::log::body::MAX_SHARES;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::timing::Timing;
use serde::{Deserialize, Serialize};

/// Number of cards in the drill's deck.
pub const CARDS: u8 = 12;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Deal the top card to the acting seat; shuffle the discards first if no card is left.
    Draw,
    /// Turn the top card up and discard it.
    Turn,
    /// Show a card from the hand and discard it.
    Play { card: Handle, face: Face },
    /// Roll a die, then deal a card to the seat it names.
    Roll,
    /// Lay a card aside face down; once all seats have, all are shown.
    Bid { card: Handle },
    /// Start a new deal with the whole deck.
    NextDeal,
    /// Out of turn: vote for or against ending the game.
    Vote { end: bool },
    /// Out of turn, once: turn up and discard every seat's first card.
    Reveal,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Turned(Face),
    Played(Seat, Face),
    Rolled(u32),
    Bids(Vec<Face>),
    Vote(Seat, bool),
    Revealed(Vec<Face>),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drill {
    seats: u8,
    limit: u32,
    flips_first: bool,
    no_cards: bool,
    greedy: bool,
    #[serde(skip)]
    wanes: bool,
    turn: Seat,
    acts: u32,
    draw: Vec<Handle>,
    discard: Vec<Face>,
    hands: Vec<Vec<Slot>>,
    bids: BTreeMap<Seat, Handle>,
    bidding: bool,
    votes: SeatSet,
    out: SeatSet,
    revealed: bool,
    sum: i64,
    over: bool,
}

/// The rules of a drill of `limit` turns. The option `flips-first` flips before the deck request, and `no-cards` never
/// requests a deck. `greedy` opens one card more often than an entry can answer. With `wanes` a deck has a card less
/// after an [`Action::Reveal`].
pub fn rules(seats: u8, limit: u32) -> RuleSet {
    let options = BTreeMap::from([("limit".to_owned(), limit.to_string())]);
    RuleSet {
        game: "drill".to_owned(),
        version: 1,
        seats,
        options,
        strict: false,
        timing: Timing::default(),
        protocol: Protocol::default(),
    }
}

fn whole_deck() -> Vec<Face> {
    (0..CARDS).map(Face).collect()
}

impl Drill {
    /// The deck of a deal that begins now.
    fn deck(&self) -> Vec<Face> {
        let mut faces = whole_deck();
        faces.truncate(faces.len() - usize::from(self.wanes && self.revealed));
        faces
    }

    fn deal(&mut self, chance: &mut dyn Chance) -> Result<(), Pause> {
        if self.no_cards {
            self.hands = vec![Vec::new(); usize::from(self.seats)];
            return Ok(());
        }
        let faces = self.deck();
        let deck = chance.shuffle(&faces)?;
        self.draw = Handle::all(deck, faces.len()).rev().collect();
        self.discard.clear();
        self.hands = vec![Vec::new(); usize::from(self.seats)];
        for seat in self.playing().iter() {
            self.deal_to(seat, chance);
        }
        Ok(())
    }

    fn deal_to(&mut self, seat: Seat, chance: &mut dyn Chance) {
        if let Some(card) = self.draw.pop() {
            self.hands[seat.index()].push(Slot::Sealed(card));
            chance.deal(card, seat);
        }
    }

    fn restock(&mut self, chance: &mut dyn Chance) -> Result<(), Pause> {
        if self.draw.is_empty() && !self.discard.is_empty() {
            let deck = chance.shuffle(&self.discard)?;
            self.draw = Handle::all(deck, self.discard.len()).rev().collect();
            self.discard.clear();
        }
        Ok(())
    }

    /// Seats that have not left.
    fn playing(&self) -> SeatSet {
        let all = Seat::first(usize::from(self.seats));
        all.filter(|seat| !self.out.contains(*seat)).collect()
    }

    fn pass(&mut self) {
        self.turn = self.playing().after(self.turn).unwrap();
    }

    /// Shows all bids once every seat has laid one.
    fn settle_bids(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<bool, Pause> {
        if self.bids.len() < self.playing().len() {
            return Ok(false);
        }
        let cards: Vec<Handle> = self.bids.values().copied().collect();
        let faces = chance.open(&cards)?;
        self.bids.clear();
        self.bidding = false;
        self.discard.extend(&faces);
        events.push(Event::Bids(faces));
        Ok(true)
    }
}

impl Game for Drill {
    type Action = Action;
    type Event = Event;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        let limit = rules
            .options
            .get("limit")
            .and_then(|limit| limit.parse().ok())
            .ok_or_else(|| RuleSetError::UnknownGame(rules.game.clone()))?;
        Ok(Self {
            seats: rules.seats,
            limit,
            flips_first: rules.options.contains_key("flips-first"),
            no_cards: rules.options.contains_key("no-cards"),
            wanes: rules.options.contains_key("wanes"),
            greedy: rules.options.contains_key("greedy"),
            turn: Seat::new(0).unwrap(),
            acts: 0,
            draw: Vec::new(),
            discard: Vec::new(),
            hands: Vec::new(),
            bids: BTreeMap::new(),
            bidding: false,
            votes: SeatSet::EMPTY,
            out: SeatSet::EMPTY,
            revealed: false,
            sum: 0,
            over: false,
        })
    }

    fn deck_name(&self) -> &'static str {
        "drill"
    }

    fn card_name(&self, face: Face) -> String {
        format!("card-{}", face.0)
    }

    fn begin(&mut self, chance: &mut dyn Chance, _: &mut Vec<Event>) -> Result<(), Pause> {
        if !self.flips_first {
            self.deal(chance)?;
        }
        let first = chance.flip(&Flip::Die(u32::from(self.seats)))?;
        self.turn = Seat::new(first[0] as usize - 1).unwrap();
        if self.flips_first {
            self.deal(chance)?;
        }
        Ok(())
    }

    fn first_deck(&self) -> Option<Vec<Face>> {
        self.flips_first.then(whole_deck)
    }

    fn next_deck(&self) -> Option<Vec<Face>> {
        (!self.no_cards).then(|| self.deck())
    }

    fn seals_cards(&self) -> bool {
        !self.no_cards
    }

    fn to_act(&self) -> SeatSet {
        if self.over {
            SeatSet::EMPTY
        } else if self.bidding {
            self.playing().iter().filter(|s| !self.bids.contains_key(s)).collect()
        } else {
            SeatSet::one(self.turn)
        }
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<Action> {
        let mut all = vec![Action::Draw, Action::Turn, Action::Roll, Action::NextDeal];
        for slot in self.hands.get(seat.index()).into_iter().flatten() {
            if let Slot::Sealed(card) = slot
                && let Some(face) = known.get(*card)
            {
                all.push(Action::Play { card: *card, face });
                all.push(Action::Bid { card: *card });
            }
        }
        all.push(Action::Vote { end: true });
        all.push(Action::Vote { end: false });
        all.push(Action::Reveal);
        all.retain(|action| self.check(seat, action).is_ok());
        all
    }

    fn check(&self, seat: Seat, action: &Action) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if self.out.contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        if let Action::Vote { end } = action {
            let changes = self.votes.contains(seat) != *end;
            return changes.then_some(()).ok_or_else(|| Illegal::rule("that changes nothing"));
        }
        if *action == Action::Reveal {
            let may = !self.revealed && !self.bidding && self.hands.iter().any(|h| !h.is_empty());
            return may.then_some(()).ok_or_else(|| Illegal::rule("once a game"));
        }
        if !self.to_act().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        let held = |card: &Handle| self.hands[seat.index()].contains(&Slot::Sealed(*card));
        let ok = match action {
            Action::Draw => !(self.bidding || self.draw.is_empty() && self.discard.is_empty()),
            Action::Turn => !self.bidding && !self.draw.is_empty(),
            Action::Roll => !self.bidding,
            Action::Play { card, .. } => !self.bidding && held(card),
            Action::Bid { card } => {
                let all = || self.playing().iter().all(|seat| !self.hands[seat.index()].is_empty());
                held(card) && (self.bidding || all())
            }
            Action::NextDeal => !self.bidding,
            Action::Vote { .. } | Action::Reveal => true,
        };
        ok.then_some(()).ok_or_else(|| Illegal::rule("not now"))
    }

    fn shown(&self, _: Seat, action: &Action) -> Vec<Shown> {
        match action {
            Action::Play { card, face } => vec![Shown { card: *card, face: *face }],
            _ => Vec::new(),
        }
    }

    fn out_of_turn(&self, action: &Action) -> bool {
        matches!(action, Action::Vote { .. } | Action::Reveal)
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &Action,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        match action {
            Action::Draw => {
                self.restock(chance)?;
                self.deal_to(seat, chance);
            }
            Action::Turn => {
                if let Some(card) = self.draw.pop() {
                    let often = if self.greedy { MAX_SHARES + 1 } else { 1 };
                    let faces = chance.open(&vec![card; often])?;
                    self.discard.extend(&faces);
                    events.push(Event::Turned(faces[0]));
                }
            }
            Action::Play { card, face } => {
                self.hands[seat.index()].retain(|slot| *slot != Slot::Sealed(*card));
                self.discard.push(*face);
                self.sum += i64::from(face.0);
                events.push(Event::Played(seat, *face));
            }
            Action::Roll => {
                let rolled = chance.flip(&Flip::Die(u32::from(self.seats)))?[0];
                events.push(Event::Rolled(rolled));
                self.sum += i64::from(rolled);
                self.restock(chance)?;
                let rolled = Seat::new(rolled as usize - 1).unwrap();
                let to = Some(rolled).filter(|seat| !self.out.contains(*seat)).or_else(|| self.playing().after(rolled));
                self.deal_to(to.unwrap(), chance);
            }
            Action::Bid { card } => {
                self.bidding = true;
                self.hands[seat.index()].retain(|slot| *slot != Slot::Sealed(*card));
                self.bids.insert(seat, *card);
                if !self.settle_bids(chance, events)? {
                    return Ok(());
                }
            }
            Action::NextDeal => {
                chance.next_deal()?;
                self.deal(chance)?;
            }
            Action::Vote { end } => {
                if *end {
                    self.votes.insert(seat);
                } else {
                    self.votes.remove(seat);
                }
                events.push(Event::Vote(seat, *end));
                self.over = self.votes.len() > self.playing().len() / 2;
                return Ok(());
            }
            Action::Reveal => {
                self.revealed = true;
                let first = self.hands.iter().filter_map(|hand| hand.first());
                let cards: Vec<Handle> = first
                    .map(|slot| match slot {
                        Slot::Sealed(card) => *card,
                        Slot::Open(..) => unreachable!("the drill's hands are sealed"),
                    })
                    .collect();
                let faces = chance.open(&cards)?;
                for hand in &mut self.hands {
                    hand.drain(..hand.len().min(1));
                }
                self.discard.extend(&faces);
                events.push(Event::Revealed(faces));
                return Ok(());
            }
        }
        self.acts += 1;
        self.over |= self.acts >= self.limit;
        self.pass();
        Ok(())
    }

    /// Sets the seat's hand and bid aside; the next seat gets a card as compensation.
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        self.out.insert(seat);
        self.hands[seat.index()].clear();
        self.bids.remove(&seat);
        self.votes.remove(seat);
        if self.playing().len() < 2 {
            self.over = true;
            return Ok(());
        }
        if self.bidding && !self.settle_bids(chance, events)? {
            return Ok(());
        }
        // A seat that departed while others had still to bid may have had the turn.
        if self.out.contains(self.turn) {
            self.pass();
        }
        self.restock(chance)?;
        let next = self.playing().after(seat).unwrap();
        self.deal_to(next, chance);
        Ok(())
    }

    fn hand(&self, seat: Seat) -> Vec<Slot> {
        self.hands.get(seat.index()).cloned().unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn scores(&self) -> Vec<i64> {
        vec![self.sum; usize::from(self.seats)]
    }

    fn winners(&self) -> SeatSet {
        if self.over { SeatSet::one(self.turn) } else { SeatSet::EMPTY }
    }
}
