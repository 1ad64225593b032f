//! Choosing an action, one spot after the other.

use std::collections::BTreeSet;

use fairdeal_games::{AnyAction, AnyGame, Hint, TableGame as _, capital, match_game};
use fairdeal_protocol::game::Game as _;

use super::{Asked, Over, TableScreen};
use crate::app::screen::{Cx, Question, Tone};
use crate::canvas::Target;
use crate::tables::offers::{Offer, Offers, refused};
use crate::tables::{Board as _, Spot, hint};
use fairdeal_session::events::{Command, Premove};
use fairdeal_session::view::{Advice, Standing};

/// The letter of [`TableScreen::choose_ahead`].
pub(super) const AHEAD: char = 'k';

/// The offered actions, and the part of one that is chosen.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) offers: Offers,
    /// The spots picked so far, of an action that needs more of them.
    pub(super) picked: Vec<Spot>,
    /// The spots whose offers are listed: the picked ones, then the last one that had the focus.
    pub(super) aimed: Vec<Spot>,
    pub(super) focus: Option<Target>,
    /// The action that was hinted at, and why, until another is taken.
    pub(super) hinted: Option<(AnyAction, String)>,
    /// The position in which the player has just done what a hint said: the hints go on for the rest of the turn.
    pub(super) followed: Option<Box<AnyGame>>,
    /// The position of the player's next turn, while the player chooses for it.
    pub(super) ahead: Option<Box<AnyGame>>,
}

impl Choice {
    /// The spots that continue what is picked.
    pub(super) fn lit(&self) -> BTreeSet<Spot> {
        self.offers.next(&self.picked)
    }

    /// Lists the offers of a target that has the focus now.
    pub(super) fn aim(&mut self, target: Option<Target>) {
        self.focus = target;
        if let Some(Target::Spot(spot)) = target {
            self.aimed.clone_from(&self.picked);
            if self.picked.last() != Some(&spot) {
                self.aimed.push(spot);
            }
        }
    }

    /// Drops what is picked.
    pub(super) fn clear(&mut self) {
        self.picked.clear();
        self.aimed.clear();
        self.hinted = None;
    }
}

impl TableScreen {
    /// Offers for the focused spot, else for the picked ones.
    pub(super) fn listed(&self) -> Vec<Offer> {
        let Some((spot, picked)) = self.choice.aimed.split_last().filter(|_| !self.is_held()) else {
            return Vec::new();
        };
        let aimed = self.after(&self.choice.aimed);
        if !aimed.is_empty() {
            return aimed;
        }
        // No offers for this spot: list the reasons instead.
        let ahead = self.choice.ahead.as_deref();
        let refused = self.view(picked, |view, snapshot| refused(ahead.unwrap_or(&snapshot.game), *spot, view));
        refused.unwrap_or_default()
    }

    /// The offers that begin with these spots; the one that was hinted at comes first.
    fn after(&self, path: &[Spot]) -> Vec<Offer> {
        let hinted = self.choice.hinted.as_ref().map(|(action, _)| action);
        let mut all: Vec<Offer> = self.choice.offers.after(path).cloned().collect();
        all.sort_by_key(|offer| hinted != Some(&offer.action));
        all
    }

    /// The spots that digits choose.
    pub(super) fn row(&self) -> Vec<Spot> {
        let row = self.view(&self.choice.picked, |view, snapshot| match_game!(&snapshot.game, game => game.row(view)));
        row.unwrap_or_default()
    }

    /// A digit: a use on the open sheet, else a card or pile of the player's row. One that continues a choice is chosen at
    /// once; another gets the focus.
    pub(super) fn digit(&mut self, cx: &mut Cx<'_>, digit: usize) {
        let number = digit.checked_sub(1).unwrap_or(9);
        if matches!(self.over, Over::Uses) {
            if let Some(offer) = self.listed().get(number) {
                self.over = Over::Nothing;
                self.request(cx, offer.clone());
            }
            return;
        }
        let row = self.row();
        // In a short row, 0 is the last one.
        let last = row.last().filter(|_| digit == 0);
        let Some(spot) = row.get(number).or(last).copied() else {
            return;
        };
        if !self.choice.picked.is_empty() && self.choice.lit().contains(&spot) {
            self.pick(cx, spot);
        } else {
            cx.focus(Target::Spot(spot));
        }
    }

    /// The key that chooses, at a spot: it does what the line beside it says. That is asked back only where there is a
    /// choice, and none was hinted at.
    pub(super) fn enter(&mut self, cx: &mut Cx<'_>, spot: Spot) {
        let mut path = self.choice.picked.clone();
        path.push(spot);
        let hinted = self.choice.hinted.as_ref().map(|(action, _)| action.clone());
        match self.after(&path).as_slice() {
            [first, rest @ ..] if rest.is_empty() || hinted.as_ref() == Some(&first.action) => {
                self.request(cx, first.clone());
            }
            _ => self.pick(cx, spot),
        }
    }

    /// A click on a spot, or one that continues a choice.
    pub(super) fn pick(&mut self, cx: &mut Cx<'_>, spot: Spot) {
        if self.choice.picked.contains(&spot) {
            // Picking a spot again drops it and those picked after it.
            let at = self.choice.picked.iter().position(|picked| *picked == spot).unwrap_or(0);
            self.choice.picked.truncate(at);
            self.choice.aim(Some(Target::Spot(spot)));
            return;
        }
        if !self.choice.lit().contains(&spot) && self.choice.offers.next(&[]).contains(&spot) {
            self.choice.picked.clear();
        }
        let mut path = self.choice.picked.clone();
        path.push(spot);
        let after = self.after(&path);
        match after.as_slice() {
            [] => {
                self.choice.aimed = path;
                let why = self.listed().into_iter().find_map(|offer| offer.refused);
                let turn = self
                    .snapshot
                    .as_ref()
                    .filter(|now| !now.my_turn && self.choice.ahead.is_none())
                    .map(|now| now.game.to_act())
                    .and_then(|seats| seats.iter().next())
                    .map(|seat| format!("it is {}'s turn", self.name_of(seat)));
                let why = self
                    .closed_in_words()
                    .or_else(|| self.pending_in_words())
                    .or(why)
                    .or(turn)
                    .unwrap_or_else(|| "that is of no use now".to_owned());
                cx.toast(Tone::Plain, sentence(&why));
            }
            [only] if only.path.len() == path.len() => self.request(cx, only.clone()),
            several => {
                // Even a single offer waits for its other spots: who clicks on a card may just want to look.
                let is_list = several.iter().all(|offer| offer.path.len() == path.len());
                let next = several.iter().find_map(|offer| offer.path.get(path.len())).copied();
                self.choice.picked.clone_from(&path);
                self.choice.aimed = path;
                match (is_list, next) {
                    (false, Some(next)) => cx.focus(Target::Spot(next)),
                    _ => self.open_uses(cx),
                }
            }
        }
    }

    /// Lists all uses of the thing in focus.
    pub(super) fn open_uses(&mut self, cx: &mut Cx<'_>) {
        self.over = Over::Uses;
        cx.focus(Target::Row(0));
    }

    /// Shows what a good player might do, and why.
    pub(super) fn hint(&mut self, cx: &mut Cx<'_>) {
        match self.advice() {
            Ok((offer, why)) => self.point_to(cx, &offer, why),
            Err(text) => cx.toast(Tone::Plain, text),
        }
    }

    /// Shows the next hint to a player who has followed one, as soon as it is the player who acts next.
    pub(super) fn lead_on(&mut self, cx: &mut Cx<'_>) {
        let Some(now) = self.snapshot.as_ref() else { return };
        let has_acted = self.choice.followed.as_ref().is_some_and(|before| **before != now.game);
        let to_act = now.game.to_act();
        let is_mine = now.me.is_some_and(|me| to_act.contains(me));
        // While cards are opened the turn goes on, though the table does not wait for the player.
        if !has_acted || to_act.is_empty() || (is_mine && !now.my_turn) {
            return;
        }
        if !is_mine {
            self.choice.followed = None;
        } else if let Ok((offer, why)) = self.advice() {
            self.choice.followed = None;
            self.point_to(cx, &offer, why);
        }
    }

    /// A good offer, and why it is one; else why there is none.
    fn advice(&self) -> Result<(Offer, String), String> {
        if self.is_deal_of_the_day() {
            return Err("The deal of the day has no hints: it is the same for everybody.".to_owned());
        }
        let advice = self.snapshot.as_ref().and_then(|snapshot| match &snapshot.standing {
            Standing::Practice { advice, .. } => advice.clone(),
            Standing::Sealed(_) | Standing::Puzzle => None,
        });
        let hinted = match advice {
            Some(Advice::Undo(count)) => {
                return Err(format!("It cannot be won from here. {}", Advice::undo_first(count)));
            }
            Some(Advice::Next { action, left }) => Some(Hint {
                action,
                why: match left {
                    1 => "It wins.".to_owned(),
                    left => format!("This way wins in {left} actions."),
                },
            }),
            None => self.view(&[], |view, snapshot| hint(&snapshot.game, view)).flatten(),
        };
        let found = hinted.and_then(|hint| {
            let mut offers = self.choice.offers.all().iter();
            offers.find(|offer| offer.action == hint.action).map(|offer| (offer.clone(), hint.why))
        });
        found.ok_or_else(|| {
            let text = if self.is_my_turn() {
                "There is no hint for this moment."
            } else {
                "There is nothing to advise: it is not your turn."
            };
            self.closed_in_words().or_else(|| self.pending_in_words()).unwrap_or_else(|| text.to_owned())
        })
    }

    /// Whether this is a sealed deal of the day. Such a deal can be won: a hint that sees only the open cards could lose
    /// it, and one that knows the hidden cards would play it for the player.
    pub(super) fn is_deal_of_the_day(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| match (&snapshot.game, &snapshot.standing) {
            (AnyGame::Ivory(tower), Standing::Sealed(_)) => tower.daily().is_some(),
            _ => false,
        })
    }

    fn point_to(&mut self, cx: &mut Cx<'_>, offer: &Offer, why: String) {
        let rest = offer.path.strip_prefix(self.choice.picked.as_slice());
        let spot = rest.unwrap_or(&offer.path).first().copied();
        match spot {
            Some(spot) => {
                if rest.is_none() {
                    self.choice.picked.clear();
                }
                self.choice.hinted = Some((offer.action.clone(), why));
                cx.focus(Target::Spot(spot));
            }
            None => cx.toast(Tone::Good, format!("{} {why}", sentence(&offer.words))),
        }
    }

    /// Performs the offer, or asks for confirmation first if it has a question that no hint has answered.
    pub(super) fn request(&mut self, cx: &mut Cx<'_>, offer: Offer) {
        if let Some(why) = &offer.refused {
            return cx.toast(Tone::Plain, sentence(why));
        }
        match &offer.question {
            Some(question) if !self.is_hinted(&offer) => {
                cx.ask(Question::sure(question.clone()));
                self.asked = Some(Asked::Act(Box::new(offer)));
            }
            _ => self.act(cx, offer),
        }
    }

    fn is_hinted(&self, offer: &Offer) -> bool {
        self.choice.hinted.as_ref().is_some_and(|(action, _)| *action == offer.action)
    }

    pub(super) fn act(&mut self, cx: &mut Cx<'_>, offer: Offer) {
        let follows = self.is_hinted(&offer);
        self.choice.followed =
            self.snapshot.as_ref().filter(|_| follows).map(|snapshot| Box::new(snapshot.game.clone()));
        self.choice.clear();
        if self.choice.ahead.take().is_some() {
            self.choice.offers = self.offers_now();
            let premove = self.snapshot.as_ref().and_then(|shown| Premove::of(shown, offer.action));
            return cx.command(Command::Premove(premove));
        }
        cx.command(Command::Act(offer.action));
    }

    /// The key for what comes next: takes back the premove, or begins or ends the choice of one.
    pub(super) fn choose_ahead(&mut self, cx: &mut Cx<'_>) {
        if self.premove().is_some() {
            return cx.command(Command::Premove(None));
        }
        if self.choice.ahead.is_some() {
            return self.end_ahead(cx);
        }
        let Some(ahead) = self.next_turn().cloned() else { return };
        self.choice.clear();
        self.choice.ahead = Some(Box::new(ahead));
        self.choice.offers = self.offers_now();
        cx.unfocus();
    }

    /// Ends the choice for the next turn without one.
    pub(super) fn end_ahead(&mut self, cx: &mut Cx<'_>) {
        self.choice.clear();
        self.choice.ahead = None;
        self.choice.offers = self.offers_now();
        cx.unfocus();
    }

    /// The player's premove.
    pub(super) fn premove(&self) -> Option<&AnyAction> {
        self.snapshot.as_ref()?.waits.premove.as_ref()
    }

    /// The position of the player's next turn, if it allows actions that this moment does not.
    pub(super) fn next_turn(&self) -> Option<&AnyGame> {
        self.foreseen.as_deref().filter(|_| !self.is_held() && self.status.is_none())
    }

    /// The same for a new snapshot.
    pub(super) fn foresee(&self) -> Option<AnyGame> {
        let now = self.snapshot.as_ref()?;
        if self.is_held() || self.status.is_some() || !matches!(now.standing, Standing::Sealed(_)) {
            return None;
        }
        let ahead = now.game.ahead(now.me?)?;
        (!self.offers_ahead(&ahead).is_empty()).then_some(ahead)
    }

    /// The offers of the player's next turn that are none of this moment.
    fn offers_ahead(&self, ahead: &AnyGame) -> Offers {
        let now = self.offers_of_this_moment();
        let offers = self.view(&[], |view, _| Offers::of(ahead, view));
        let mut offers = offers.unwrap_or_default();
        offers.drop_all(&now);
        offers
    }

    /// The offers to choose from: for the next turn if the player chooses ahead.
    pub(super) fn offers_now(&self) -> Offers {
        match &self.choice.ahead {
            Some(ahead) => self.offers_ahead(ahead),
            None => self.offers_of_this_moment(),
        }
    }

    /// None while an action of the player waits, and no second call before the next turn.
    fn offers_of_this_moment(&self) -> Offers {
        if self.is_held() {
            return Offers::default();
        }
        let offers = self.view(&[], |view, now| {
            let mut offers = Offers::of(&now.game, view);
            if now.waits.has_called {
                offers.drop_calls(&now.game);
            }
            offers
        });
        offers.unwrap_or_default()
    }
}

/// Turns a reason into a sentence.
pub(in crate::app::screens) fn sentence(why: &str) -> String {
    let end = if why.ends_with(['.', '!', '?']) { "" } else { "." };
    capital(why) + end
}
