//! A turn of Sphinx's Paw: Magician, Pylon, die, Monsters, and their effects.

use fairdeal_protocol::card::Slot;
use fairdeal_protocol::game::{Chance, Flip, Pause};
use fairdeal_protocol::seat::Seat;

use super::board::{Pylon, Square};
use super::{Phase, SIDES, Sphinx, SphinxEvent, Status, cards};
use crate::pyramid::Size;

impl Sphinx {
    /// ▸ "Play passes to the right": the next lower seat that is still at the table.
    //= T7.20
    pub(super) fn pass(&mut self, chance: &mut dyn Chance, events: &mut Vec<SphinxEvent>) -> Result<(), Pause> {
        let right = self.seats().rev().filter(|seat| *seat < self.turn);
        let round = right.chain(self.seats().rev());
        let next = round.into_iter().find(|seat| !self.forfeited.contains(*seat));
        self.begin_turn(next.unwrap_or(self.turn), chance, events)
    }

    /// Begins a turn; "where step 1 needs no decision the die is rolled as the turn begins".
    //= T7.18
    pub(super) fn begin_turn(
        &mut self,
        seat: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<SphinxEvent>,
    ) -> Result<(), Pause> {
        self.turn = seat;
        self.phase = Phase::Magician;
        self.roll = None;
        self.points = 0;
        self.moved = false;
        // ▸ A Magician must be placed if a central square is free; if none is, the step is skipped.
        let decides =
            self.status(seat) == Status::Playing && (self.magician(seat).is_some() || !self.places().is_empty());
        if decides {
            return Ok(());
        }
        self.roll_die(chance, events)
    }

    /// Runs steps 2 and 3, after the Magician's.
    //= T7.19
    pub(super) fn after_magician(
        &mut self,
        chance: &mut dyn Chance,
        events: &mut Vec<SphinxEvent>,
    ) -> Result<(), Pause> {
        if let Some(at) = self.magician(self.turn)
            && let Some(pylon) = Pylon::at(at)
        {
            self.turn_up(pylon, at, chance, events)?;
        }
        // Once every seat has won or lost, no die is rolled.
        if self.over {
            return Ok(());
        }
        self.roll_die(chance, events)
    }

    /// Step 2: turns up the top card of a Pylon's pack, if there is one.
    //= T7.19
    fn turn_up(
        &mut self,
        pylon: Pylon,
        at: Square,
        chance: &mut dyn Chance,
        events: &mut Vec<SphinxEvent>,
    ) -> Result<(), Pause> {
        let Some(top) = self.packs.get_mut(pylon.index()).and_then(Vec::pop) else {
            return Ok(());
        };
        let card = match top {
            Slot::Open(face) => face,
            Slot::Sealed(handle) => *chance.open(&[handle])?.first().ok_or(Pause)?,
        };
        let seat = self.turn;
        let own = self.jack(seat).map(cards::suit) == Some(cards::suit(card));
        let king = cards::rank(card) == cards::KING;
        if king && !own {
            // Shown, and put at the bottom of that pack.
            if let Some(pack) = self.packs.get_mut(pylon.index()) {
                pack.insert(0, Slot::Open(card));
            }
        } else if let Some(turned) = self.turned.get_mut(pylon.index()) {
            turned.push(card);
        }
        let entered = (!king).then(|| self.enter_by(pylon, at, cards::rank(card))).flatten();
        events.push(SphinxEvent::Turned { seat, pylon, card, entered });
        if king && own {
            self.settle(seat, Status::Won);
            events.push(SphinxEvent::Won { seat });
            self.look_for_the_end(events);
        } else if entered.is_some() {
            self.look_for_losers(events);
        }
        Ok(())
    }

    /// ▸ A Monster of that many pips enters the Pylon's other square from the common supply. None
    /// enters if that size is used up or a Magician stands there.
    fn enter_by(&mut self, pylon: Pylon, at: Square, pips: u8) -> Option<Square> {
        let size = Size::ALL.into_iter().find(|size| size.pips() == pips)?;
        let other = pylon.other(at)?;
        let stocked = self.supply.get(size.index()).is_some_and(|left| *left > 0);
        (stocked && !self.has_magician(other)).then(|| {
            self.enter(size, other);
            other
        })
    }

    /// Step 3. ▸ "If every Monster is on the board 4, 5, 6 count as 1, 2, 3."
    //= T7.18
    fn roll_die(&mut self, chance: &mut dyn Chance, events: &mut Vec<SphinxEvent>) -> Result<(), Pause> {
        let rolled = chance.flip(&Flip::Die(SIDES))?;
        let roll = rolled.first().and_then(|roll| u8::try_from(*roll).ok()).ok_or(Pause)?;
        let all_on_board = self.supply.iter().all(|left| *left == 0);
        self.points = if all_on_board && roll > 3 { roll - 3 } else { roll };
        self.roll = Some(roll);
        self.phase = Phase::Monsters;
        events.push(SphinxEvent::Rolled { seat: self.turn, roll, points: self.points });
        Ok(())
    }

    pub(super) fn put_magician(&mut self, seat: Seat, at: Option<Square>) {
        if let Some(magician) = self.magicians.get_mut(seat.index()) {
            *magician = at;
        }
    }

    /// Moves a Monster from the supply onto the board.
    pub(super) fn enter(&mut self, size: Size, at: Square) {
        if let Some(left) = self.supply.get_mut(size.index()) {
            *left = left.saturating_sub(1);
        }
        self.add_monster(size, at);
    }

    fn add_monster(&mut self, size: Size, at: Square) {
        if let Some(count) = self.monsters.entry(at).or_default().get_mut(size.index()) {
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn move_monster(&mut self, size: Size, from: Square, to: Square) {
        if let Some(counts) = self.monsters.get_mut(&from) {
            if let Some(count) = counts.get_mut(size.index()) {
                *count = count.saturating_sub(1);
            }
            if *counts == [0; 3] {
                self.monsters.remove(&from);
            }
        }
        self.add_monster(size, to);
    }

    /// "Losing" ▸, checked after every Monster that enters or moves.
    //= T7.21
    pub(super) fn look_for_losers(&mut self, events: &mut Vec<SphinxEvent>) {
        let surrounded =
            |square: Square| Pylon::at(square).is_none() && square.around().all(|around| self.has_monsters(around));
        let losers: Vec<Seat> = self.seats().filter(|seat| self.magician(*seat).is_some_and(surrounded)).collect();
        for seat in losers {
            self.settle(seat, Status::Lost);
            events.push(SphinxEvent::Lost { seat });
        }
        self.look_for_the_end(events);
    }

    /// Settles a seat that has won or lost: its Magician leaves the board and its vote is void.
    pub(super) fn settle(&mut self, seat: Seat, status: Status) {
        if let Some(own) = self.status.get_mut(seat.index()) {
            *own = status;
        }
        self.put_magician(seat, None);
        self.votes.remove(seat);
    }

    /// "End": every seat has won or lost, or all seats still playing want the end. With no seat
    /// still playing, both conditions hold.
    //= T7.21
    pub(super) fn look_for_the_end(&mut self, events: &mut Vec<SphinxEvent>) {
        let all_want = self.still_playing().iter().all(|seat| self.votes.contains(seat));
        if all_want && !self.over {
            self.over = true;
            events.push(SphinxEvent::Over { winners: fairdeal_protocol::game::Game::winners(self) });
        }
    }
}
