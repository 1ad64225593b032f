//! Entering and leaving a game: readiness, invitations, removals, a rematch, the audit.

use std::path::PathBuf;

use fairdeal_games::bots::Level;
use fairdeal_games::chance::RefereeChance;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Closing;

use super::{Asked, TableScreen, Voice, Way};
use crate::app::screen::{Cx, Effect, Opening, Question, Tone};
use crate::app::screens::audit::Audit;
use crate::app::screens::review::Review;
use crate::app::screens::running_audit::RunningAudit;
use fairdeal_session::view::{LobbySeat, Standing};

impl TableScreen {
    /// Whether this player is ready.
    pub(super) fn is_ready(&self) -> bool {
        let me = self.lobby.me.and_then(|me| self.lobby.ready.get(me.index()));
        me.copied().unwrap_or(false)
    }

    /// Whether this host can send away the guest at a seat of the lobby.
    pub(super) fn may_dismiss(&self, seat: Seat) -> bool {
        let guest = self.lobby.seats.get(seat.index()).and_then(Option::as_ref);
        let hosts = self.snapshot.is_none() && self.lobby.ticket.is_some() && !self.local;
        hosts && guest.is_some() && self.lobby.me != Some(seat)
    }

    /// The seats whose removal this player may propose.
    pub(super) fn may_propose(&self) -> SeatSet {
        self.snapshot.as_ref().map_or(SeatSet::EMPTY, |snapshot| snapshot.waits.may_propose)
    }

    /// Asks for confirmation to propose a removal.
    pub(super) fn ask_removal(&mut self, cx: &mut Cx<'_>, seat: Seat) {
        let Some(name) = self.names.get(seat.index()) else {
            return;
        };
        cx.ask(Question::sure(format!("Propose to play on without {name}? All others have to agree.")));
        self.asked = Some(Asked::Removal(seat));
    }

    /// Whether there is an invitation, and following it loses nothing: the game is over or failed, or this is the lobby
    /// of another rematch of the same table.
    pub(super) fn may_follow(&self) -> bool {
        let waits = self.again.is_some() && self.snapshot.is_none();
        self.ending.invitation.is_some() && (waits || self.ending.outcome.is_some() || self.ending.failed.is_some())
    }

    /// A player of the table before invites to a rematch, and this one has opened one too. Both hear of the other's, so
    /// they agree without another message: the one with the lower seat stays where it is.
    pub(super) fn hear_of_another_rematch(&mut self, cx: &mut Cx<'_>, own: Seat, seat: Seat, name: &str) {
        let people = self.lobby.seats.iter().flatten().filter(|taken| taken.played_by == PlayedBy::Person);
        if seat < own && people.count() < 2 {
            cx.toast(Tone::Good, format!("{name} has opened the next game too. You join theirs."));
            return self.follow(cx);
        }
        self.log.say(Voice::Table, format!("{name} has opened another game too. Press f to join it."));
    }

    pub(super) fn follow(&self, cx: &mut Cx<'_>) {
        let ticket = self.ending.invitation.as_ref().filter(|_| self.may_follow());
        let Some((_, target)) = ticket.cloned() else {
            return;
        };
        let password = None;
        let (effect, purpose) = if self.is_spectator() {
            (Effect::Watch { target, password }, "watching")
        } else {
            (Effect::Join { target, password }, "joining")
        };
        cx.effect(effect);
        cx.replace(Self::new(purpose, false));
    }

    /// Shows the audit in full; begins it again if it is not done.
    pub(super) fn audit(&mut self, cx: &mut Cx<'_>) {
        let transcript = self.ending.outcome.as_ref().and_then(|outcome| outcome.transcript.clone());
        if let Some(audit) = self.ending.audit.as_ref().filter(|audit| audit.is_over()) {
            cx.push(Audit::with(audit.clone()));
        } else if let Some(transcript) = transcript {
            self.ending.audit = Some(RunningAudit::of(transcript.clone()));
            cx.effect(Effect::Audit(transcript.clone()));
            cx.push(Audit::of(transcript));
        }
    }

    /// The transcript and seat to look back with: after a game against bots alone.
    pub(super) fn may_review(&self) -> Option<(PathBuf, Seat)> {
        let outcome = self.ending.outcome.as_ref().filter(|_| self.local && self.names.len() > 1)?;
        Some((outcome.transcript.clone()?, self.me()?))
    }

    pub(super) fn review(&mut self, cx: &mut Cx<'_>) {
        if let Some((transcript, me)) = self.may_review() {
            // One file is read at a time: this one stops the audit.
            self.ending.audit.take_if(|audit| !audit.is_over());
            cx.effect(Effect::Review(transcript, me));
            cx.push(Review::of(me));
        }
    }

    /// Whether the game is over by its rules.
    pub(super) fn is_over(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| snapshot.game.is_over())
    }

    /// Whether this is an unsealed practice game.
    pub(super) fn is_practice(&self) -> bool {
        let standing = self.snapshot.as_ref().map(|snapshot| &snapshot.standing);
        matches!(standing, Some(Standing::Practice { .. }))
    }

    /// Whether the game is over, and this player can open another table like it.
    pub(super) fn may_rematch(&self) -> bool {
        let over = self.ending.outcome.is_some() || self.is_practice() && self.is_over();
        over && self.me().is_some() && !self.lobby.seats.is_empty()
    }

    /// Opens another table like this one.
    pub(super) fn rematch(&mut self, cx: &mut Cx<'_>) {
        if !self.may_rematch() {
            return;
        }
        let seats = u8::try_from(self.lobby.seats.len()).unwrap_or(1);
        let taken = || self.lobby.seats.iter().zip(Seat::first(self.lobby.seats.len()));
        // Whoever opens the table seats the bots of the one before.
        let local = taken().filter_map(|(taken, seat)| taken.as_ref().filter(|taken| taken.party.lowest() != seat));
        let bots: Vec<Level> = local.filter_map(level_of).collect();
        let any = taken().find_map(|(taken, _)| level_of(taken.as_ref()?));
        let opening = Opening {
            game: self.lobby.game.clone(),
            seats,
            bots: if self.local { seats - 1 } else { u8::try_from(bots.len()).unwrap_or(0) },
            level: bots.first().copied().or(any).unwrap_or_default(),
            options: self.lobby.options.clone(),
            networked: !self.local,
            lan: false,
            meet: false,
            password: None,
            practice: self.is_practice(),
        };
        let effect = if self.local { Effect::Open(opening) } else { Effect::Rematch(opening) };
        cx.effect(effect);
        cx.replace(Self { again: self.me(), ..Self::new("another game", self.local) });
    }

    /// Whether leaving ends nothing that could go on.
    pub(super) fn loses_nothing(&self) -> bool {
        self.ending.ended
            || self.is_spectator()
            || self.ending.outcome.is_some()
            || self.ending.failed.is_some()
            || self.ending.left
            || self.is_practice() && self.is_over()
    }

    pub(super) fn ask_leave(&mut self, cx: &mut Cx<'_>) {
        if self.loses_nothing() {
            return self.go(cx);
        }
        if self.snapshot.is_none() {
            let (question, ways) = if cx.context.is_kept {
                let close = ('y', "yes, close".to_owned(), "your keeper holds your seat".to_owned());
                let give_up = ('f', "give the seat up".to_owned(), "you leave the lobby".to_owned());
                let text = "Close this window? The table has not begun.".to_owned();
                (Question { text, answers: vec![close, give_up] }, vec![Way::Go, Way::Forfeit])
            } else {
                (Question::sure("Leave the table? It has not begun."), vec![Way::Go])
            };
            cx.ask(question);
            self.asked = Some(Asked::Leave(ways));
            return;
        }
        if self.is_practice() {
            cx.ask(Question::sure("Leave the game? A practice game is not saved."));
            self.asked = Some(Asked::Leave(vec![Way::Go]));
            return;
        }
        let closed = self.closed_in_words();
        let pause = if closed.is_some() {
            ("yes, leave", "the game stays in the list until you give it up there (H, x)")
        } else {
            match (cx.context.is_page, cx.context.is_kept) {
                (true, _) => ("yes, pause", "this browser keeps your seat; load the page again to come back"),
                (_, true) => ("yes, close", "your keeper holds your seat; the table goes on"),
                _ => ("yes, pause", "the game is saved; resume it from the home screen"),
            }
        };
        let mut answers = vec![('y', pause.0.to_owned(), pause.1.to_owned())];
        let mut ways = vec![Way::Pause];
        if cx.context.is_page && closed.is_none() && self.me().is_some() {
            let words = "to another browser or a terminal, in a file";
            answers.push(('t', "take the seat with me".to_owned(), words.to_owned()));
            ways.push(Way::Take);
        }
        if self.names.len() > 1 && closed.is_none() {
            answers.push(('f', "forfeit".to_owned(), self.forfeit_in_words()));
            ways.push(Way::Forfeit);
        }
        let waits = self.snapshot.as_ref().map(|snapshot| &snapshot.waits);
        let why = waits.and_then(|waits| waits.may_claim).and_then(|closing| self.closing_in_words(closing));
        let is_closed = closed.is_some();
        let mut text = format!("Leave the table? {}", closed.unwrap_or_else(|| "The game is not over.".to_owned()));
        if let Some(why) = why {
            if !is_closed {
                text = format!("{text} {why}.");
            }
            answers.push(('c', "close the table".to_owned(), "the game ends for good, unfinished".to_owned()));
            ways.push(Way::Claim);
        }
        cx.ask(Question { text, answers });
        self.asked = Some(Asked::Leave(ways));
    }

    /// Asks for confirmation to take the seat elsewhere.
    pub(super) fn ask_take(&mut self, cx: &mut Cx<'_>) {
        cx.ask(Question::sure(
            "Take your seat with you? You get a file with its key, and this browser forgets the seat. Whoever has the file \
             plays in your place.",
        ));
        self.asked = Some(Asked::Take);
    }

    /// The meaning of a forfeit. With one player left most games are over.
    fn forfeit_in_words(&self) -> String {
        let played_on = "leave for good; the others play on".to_owned();
        let Some((now, me)) = self.snapshot.as_ref().zip(self.me()) else {
            return played_on;
        };
        let live = match &now.standing {
            Standing::Sealed(progress) => progress.live,
            Standing::Practice { .. } | Standing::Puzzle => SeatSet::all(now.names.len()),
        };
        let mut others = live.without(me).iter();
        let (Some(other), None) = (others.next(), others.next()) else {
            return played_on;
        };
        let mut game = now.game.clone();
        let is_done = game.forfeit(me, &mut RefereeChance::default(), &mut Vec::new()).is_ok();
        let name = self.name_of(other);
        if is_done && game.is_over() && game.winners() == SeatSet::one(other) {
            format!("leave for good; {name} wins")
        } else {
            format!("leave for good; {name} plays on")
        }
    }

    /// Why the table can be closed, as a sentence without its full stop. `None` if closing does what pausing does.
    pub(super) fn closing_in_words(&self, closing: Closing) -> Option<String> {
        let now = self.snapshot.as_ref()?;
        let name = now.game.to_act().iter().next().filter(|seat| Some(*seat) != now.me).map(|seat| self.name_of(seat));
        Some(match (closing, name) {
            (Closing::Claim(Ground::Absent), Some(name)) if now.names.len() == 2 => format!("{name} does not answer"),
            (Closing::Claim(Ground::Absent), _) => "The others do not answer".to_owned(),
            (Closing::Claim(Ground::OutOfTime), Some(name)) => format!("{name}'s time is up"),
            (Closing::Claim(Ground::OutOfTime), None) => "The other player's time is up".to_owned(),
            (Closing::Fork(seat), _) => format!("{} has cheated, and others do not answer", self.name_of(seat)),
            (Closing::Unsigned, _) => return None,
        })
    }

    pub(super) fn go(&mut self, cx: &mut Cx<'_>) {
        cx.effect(Effect::CloseSession);
        cx.leave();
    }
}

/// The level of a bot that the program knows.
fn level_of(taken: &LobbySeat) -> Option<Level> {
    match &taken.played_by {
        PlayedBy::Bot(level) => Level::by_name(level.as_str()),
        PlayedBy::Person => None,
    }
}
