//! The inputs of the player at a table: chosen targets, intents, letters, and answers to questions.

use fairdeal_games::match_game;
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::seat::Seat;

use super::choosing::AHEAD;
use super::{Asked, Over, TableScreen, Way, button};
use crate::app::screen::{Cx, Effect, Tone};
use crate::app::screens::letter::ReadLetter;
use crate::app::screens::taken::Taken;
use crate::canvas::Target;
use crate::keys::Intent;
use crate::tables::{Board as _, Spot};
use fairdeal_session::events::Command;

impl TableScreen {
    /// Carries out a target that the player chose.
    pub(super) fn choose(&mut self, cx: &mut Cx<'_>, target: Target) {
        self.skip_ahead(cx);
        if self.is_fresh() {
            return;
        }
        if self.snapshot.is_some() && target == button::DETAILS {
            return self.ticket_sheet();
        }
        if self.choose_in_lobby(cx, target) {
            return;
        }
        match target {
            button::CLOSE => self.close_over(cx),
            button::REMATCH => self.rematch(cx),
            button::AUDIT => self.audit(cx),
            button::SHARE => self.share(cx),
            button::PAGE => self.save_page(cx),
            button::REVIEW => self.review(cx),
            button::FOLLOW => self.follow(cx),
            button::SEAL => self.over = Over::Seal,
            button::SEAL_DETAILS => self.turn_seal(),
            button::AHEAD => self.choose_ahead(cx),
            button::HOLIDAY => self.open_holiday(cx),
            button::READ => cx.push(ReadLetter::default()),
            Target::Spot(spot) => self.pick(cx, spot),
            Target::Row(number) => {
                if let Some(offer) = self.listed().get(number) {
                    self.over = Over::Nothing;
                    self.request(cx, offer.clone());
                }
            }
            Target::Button(number) => {
                let reader = number.checked_sub(button::WRITE);
                if let Some(seat) = reader.and_then(|seat| Seat::new(usize::from(seat))) {
                    return cx.command(Command::WriteLetter(seat));
                }
                let given = number.checked_sub(button::GIVE);
                if let Some(seat) = given.and_then(|seat| Seat::new(usize::from(seat))) {
                    return self.ask_gift(cx, seat);
                }
                let person = number.checked_sub(button::PERSON);
                if let Some(seat) = person.and_then(|seat| Seat::new(usize::from(seat))) {
                    return self.open_people(cx, Some(seat));
                }
                let proposed = number.checked_sub(button::PROPOSE);
                if let Some(seat) = proposed.and_then(|seat| Seat::new(usize::from(seat))) {
                    return self.ask_removal(cx, seat);
                }
                let seat = number.checked_sub(button::DISMISS);
                if let Some(seat) = seat.and_then(|seat| Seat::new(usize::from(seat)))
                    && self.may_dismiss(seat)
                {
                    cx.command(Command::Dismiss(seat));
                }
            }
            Target::Key(_) | Target::Letter(_) => {}
        }
    }

    /// Changes between the seal's picture and its details.
    fn turn_seal(&mut self) {
        self.over = match self.over {
            Over::Seal => Over::SealDetails,
            _ => Over::Seal,
        };
    }

    /// An intent that the shell does not handle itself.
    pub(super) fn intent(&mut self, cx: &mut Cx<'_>, intent: Intent) {
        self.skip_ahead(cx);
        match intent {
            Intent::Choose if self.is_fresh() => {}
            Intent::Choose => {
                if let Some(Target::Spot(spot)) = self.choice.focus {
                    self.enter(cx, spot);
                }
            }
            Intent::Chat if self.may_chat() => self.open_chat(),
            Intent::Hint if self.snapshot.is_some() => self.hint(cx),
            Intent::Uses if !matches!(self.over, Over::Nothing) => self.close_over(cx),
            Intent::Uses if self.listed().len() > 1 => self.open_uses(cx),
            Intent::Uses => {
                if let Some(Target::Spot(spot)) = self.choice.focus {
                    self.pick(cx, spot);
                }
            }
            Intent::Inspect => self.inspect(),
            Intent::Scores => self.score_sheet(),
            Intent::Log if self.snapshot.is_some() => self.log_sheet(),
            Intent::Undo if self.is_practice() => cx.command(Command::Undo),
            Intent::PageUp => self.scroll(cx, 5),
            Intent::PageDown => self.scroll(cx, -5),
            Intent::Up if matches!(self.over, Over::Telling(_)) => self.scroll(cx, 1),
            Intent::Down if matches!(self.over, Over::Telling(_)) => self.scroll(cx, -1),
            Intent::Seal => match &self.over {
                Over::Seal | Over::SealDetails => self.close_over(cx),
                Over::Nothing if self.snapshot.is_some() => self.over = Over::Seal,
                _ => {}
            },
            Intent::Quit => self.ask_leave(cx),
            _ => {}
        }
    }

    /// A letter without an intent: a digit, or the key of an action.
    pub(super) fn letter(&mut self, cx: &mut Cx<'_>, letter: char) {
        self.skip_ahead(cx);
        if self.is_fresh() {
            return;
        }
        // One who wants to play again joins whoever has opened the next table. In a lobby r means to be ready.
        if self.may_follow() && (letter == 'f' || letter == 'r' && self.snapshot.is_some()) {
            return self.follow(cx);
        }
        if letter == 'r' && self.may_rematch() {
            return self.rematch(cx);
        }
        if let Some(seat) = self.may_propose().iter().next().filter(|_| letter == 'x') {
            return self.ask_removal(cx, seat);
        }
        if letter == 'a' && self.ending.outcome.is_some() {
            return self.audit(cx);
        }
        if letter == 'b' && self.ending.outcome.is_some() {
            return self.save_page(cx);
        }
        if letter == 'y' && self.ending.outcome.is_some() {
            return self.share(cx);
        }
        if letter == 'w' && self.may_review().is_some() {
            return self.review(cx);
        }
        if self.snapshot.is_none() {
            return self.lobby_letter(cx, letter);
        }
        if let Some(digit) = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok())
            && matches!(self.over, Over::Nothing | Over::Uses)
        {
            return self.digit(cx, digit);
        }
        if letter == 'd' && matches!(self.over, Over::Seal | Over::SealDetails) {
            return self.turn_seal();
        }
        if !matches!(self.over, Over::Nothing) {
            return self.close_over(cx);
        }
        if letter == AHEAD && (self.premove().is_some() || self.next_turn().is_some()) {
            return self.choose_ahead(cx);
        }
        let next = self.choice.lit().into_iter().chain(self.choice.offers.next(&[]));
        let deeds = next.filter_map(|spot| match spot {
            Spot::Button(number) => Some((spot, number)),
            _ => None,
        });
        let snapshot = self.snapshot.as_ref();
        let found = snapshot.and_then(|snapshot| {
            let mut deeds = deeds;
            deeds.find(|(_, number)| match_game!(&snapshot.game, game => game.button(*number)).key == Some(letter))
        });
        if let Some((spot, _)) = found {
            self.pick(cx, spot);
        }
    }

    /// Sends the chat message.
    pub(super) fn say(&mut self, cx: &mut Cx<'_>) {
        let text = self.chat.take().map(|mut field| field.take()).unwrap_or_default();
        if !text.trim().is_empty() {
            cx.command(Command::Say(text));
        }
    }

    /// Whether there is a sheet to close or a choice to take back.
    pub(in crate::app::screens) fn has_open(&self) -> bool {
        !matches!(self.over, Over::Nothing) || !self.choice.picked.is_empty() || self.choice.ahead.is_some()
    }

    /// Closes what is open, or takes back the last choice.
    pub(super) fn back(&mut self, cx: &mut Cx<'_>) {
        if self.chat.take().is_some() || self.close_page() {
            return;
        }
        if !matches!(self.over, Over::Nothing) {
            return self.close_over(cx);
        }
        if let Some(spot) = self.choice.picked.pop() {
            return cx.focus(Target::Spot(spot));
        }
        if self.choice.ahead.is_some() {
            return self.end_ahead(cx);
        }
        // While the host does not answer there is nothing to lose.
        if self.snapshot.is_none() && self.lobby.seats.is_empty() {
            return self.go(cx);
        }
        // Esc closes what is open. It does not leave: a key too many must not end a game.
        let key = cx.context.keymap.key(Intent::Quit);
        cx.toast(Tone::Plain, format!("Press {key} to leave the table."));
    }

    /// The answer to what was asked last.
    pub(super) fn answer(&mut self, cx: &mut Cx<'_>, answer: usize) {
        match self.asked.take() {
            Some(Asked::Act(offer)) if answer == 0 => self.act(cx, *offer),
            Some(Asked::Removal(seat)) if answer == 0 => {
                cx.command(Command::ProposeRemoval(seat));
            }
            Some(Asked::Give(to, amounts)) => {
                if let Some(seconds) = amounts.get(answer) {
                    cx.command(Command::Extend(Extension::Give { to, seconds: *seconds }));
                }
            }
            Some(Asked::Take) if answer == 0 => {
                cx.effect(Effect::TakeSeat);
                cx.replace(Taken::default());
            }
            Some(Asked::Leave(ways)) => match ways.get(answer) {
                Some(Way::Pause | Way::Go) => self.go(cx),
                Some(Way::Forfeit) => cx.command(Command::Leave),
                Some(Way::Claim) => cx.command(Command::Claim),
                Some(Way::Take) => self.ask_take(cx),
                None => {}
            },
            _ => {}
        }
    }
}
