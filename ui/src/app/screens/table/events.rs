//! Events of the session, and the player's view of them.

use fairdeal_games::{counted, match_game};
use fairdeal_protocol::card::Handle;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::choosing::{Choice, sentence};
use super::interval::Rest;
use super::log::Told;
use super::moving::Telling;
use super::{Asked, Outcome, Over, Reaching, TableScreen, Voice, view_of};
use crate::app::event::UiEvent;
use crate::app::screen::{Cx, Effect, Tone};
use crate::app::screens::running_audit::RunningAudit;
use crate::canvas::Target;
use crate::tables::offers::Offers;
use crate::tables::{Board as _, Motion, Spot, ends_hand, motions, show, sketch};
use fairdeal_session::events::SessionEvent;
use fairdeal_session::people::MarkKind;
use fairdeal_session::view::{PeerState, Snapshot, ground_in_words};

impl TableScreen {
    /// An event from outside.
    pub(super) fn on_event(&mut self, cx: &mut Cx<'_>, event: &UiEvent) {
        match event {
            UiEvent::Session(event) if self.pacing.hold(event) => self.catch_up(cx),
            UiEvent::Session(event) => self.hear_session(cx, event),
            UiEvent::SessionEnded => {
                // The end does not overtake events that are held back.
                self.pacing.skip();
                self.catch_up(cx);
                self.ending.ended = true;
                if self.ending.left {
                    cx.toast(Tone::Plain, "You have left the game for good.");
                    return self.go(cx);
                }
                if self.ending.outcome.is_none() && self.ending.failed.is_none() {
                    self.ending.failed = Some("the session has ended".to_owned());
                }
            }
            UiEvent::Copied(copied) => self.tell_copied(cx, *copied),
            UiEvent::Failed(why) => {
                // Once the lobby is reached, a failed request does not end it.
                if self.snapshot.is_none() && self.lobby.seats.is_empty() {
                    self.ending.failed = Some(why.clone());
                }
                // Another request may fail while the game is checked.
                let path = self.ending.audit.as_ref().map(|audit| audit.path.display().to_string());
                if path.is_some_and(|path| why.starts_with(&path)) {
                    self.hear_audit(cx, event);
                }
            }
            UiEvent::Checking(_) => self.hear_audit(cx, event),
            // That of another file is of no interest here.
            UiEvent::Audited(audited) => {
                if self.ending.outcome.as_ref().is_some_and(|outcome| outcome.log == audited.report.log) {
                    self.hear_audit(cx, event);
                }
            }
            UiEvent::SavedLetter(reader, path) => {
                let line = format!("A letter for {reader}: {}. Nobody else can read it.", path.display());
                self.log.say(Voice::Table, line);
            }
            UiEvent::SavedPage(path) => self.log.say(Voice::Table, format!("The game as a page: {}", path.display())),
            UiEvent::Replay(_)
            | UiEvent::Reviewing(..)
            | UiEvent::Reviewed(_)
            | UiEvent::ReadLetter(_)
            | UiEvent::SeatTaken(_) => {}
        }
    }

    fn hear_audit(&mut self, cx: &Cx<'_>, event: &UiEvent) {
        if let Some(audit) = &mut self.ending.audit {
            audit.on_event(cx.context, event);
        }
    }

    pub(super) fn hear_session(&mut self, cx: &mut Cx<'_>, event: &SessionEvent) {
        match event {
            SessionEvent::Lobby(view) => {
                self.set_lobby(view, cx.context);
                self.reaching = None;
            }
            SessionEvent::Ticket { ticket, addresses } => {
                self.lobby.ticket = Some(ticket.clone());
                self.lobby.addresses.clone_from(addresses);
                let line = "A player who can't find you needs your ticket: press : and type ticket.";
                self.log.say(Voice::Table, line.to_owned());
            }
            SessionEvent::RoundTrip { seat, milliseconds } => {
                self.front.round_trips.insert(*seat, *milliseconds);
            }
            SessionEvent::Reaching { seconds, why, reply } => {
                let known = self.reaching.as_ref().and_then(|reaching| reaching.reply.as_ref());
                if let Some(reply) = reply.as_ref().filter(|reply| known != Some(reply) && !self.lobby.seats.is_empty())
                {
                    let line =
                        format!("If the host can reach you, it calls you back with this reply (y copies it): {reply}");
                    self.log.say(Voice::Table, line);
                }
                self.reaching = Some(Reaching { seconds: *seconds, why: why.clone(), reply: reply.clone() });
            }
            SessionEvent::Seated { name, person, .. } => {
                self.log.say(Voice::Table, format!("{name} joins."));
                let mark = person.as_ref().map(|person| &person.mark);
                if let Some(mark) = mark.filter(|mark| mark.kind() == MarkKind::OtherKey) {
                    let line = format!(
                        "{name} has {}. Press p and compare the eight words before you trust it.",
                        mark.words()
                    );
                    cx.toast(Tone::Bad, line.clone());
                    self.log.say(Voice::Warning, line);
                }
            }
            SessionEvent::Started { names, .. } => {
                self.names.clone_from(names);
                self.log.seat(names, None);
                self.log.begin();
            }
            SessionEvent::Snapshot(snapshot) => {
                self.reaching = None;
                self.set_snapshot(cx, snapshot);
            }
            SessionEvent::Game(event) => {
                let now = self.snapshot.as_ref().filter(|now| now.me.is_some());
                if now.is_some_and(|now| ends_hand(&now.game, event)) {
                    self.rest.end_hand();
                }
                let sketch = self.view(&[], |view, now| sketch(&now.game, event, view));
                self.sketch = sketch.flatten();
                self.stage.events.push(event.clone());
            }
            SessionEvent::Extended { seat, line, .. } => {
                if self.me() != Some(*seat) {
                    cx.toast(Tone::Good, line.clone());
                }
                self.log.say(Voice::Table, line.clone());
            }
            SessionEvent::Line(line) | SessionEvent::RemovalProposed { line, .. } => {
                let told = Told { text: line.clone(), sketch: std::mem::take(&mut self.sketch) };
                self.rest.tell(&mut self.log, told);
            }
            SessionEvent::Reach(line) => self.log.say(Voice::Game, line.clone()),
            SessionEvent::Disk { full, text } => {
                let (tone, voice) = if *full { (Tone::Bad, Voice::Warning) } else { (Tone::Good, Voice::Table) };
                cx.toast(tone, text.clone());
                self.log.say(voice, text.clone());
            }
            SessionEvent::Refused(why) => cx.toast(Tone::Bad, sentence(why)),
            // After the end nobody is missed.
            SessionEvent::Peer { state: PeerState::Connected | PeerState::Lost | PeerState::Paused, .. }
                if self.is_over() => {}
            // At the start everybody connects; only a return is worth telling.
            SessionEvent::Peer { seat, state: PeerState::Connected } if !self.missing.contains(*seat) => {}
            SessionEvent::Peer { seat, state } => {
                match state {
                    PeerState::Paused => self.paused.insert(*seat),
                    _ => self.paused.remove(*seat),
                };
                match state {
                    PeerState::Lost | PeerState::Paused => self.missing.insert(*seat),
                    _ => self.missing.remove(*seat),
                };
                let line = state.in_words(&self.name_of(*seat));
                let voice = match state {
                    PeerState::Connected | PeerState::Left | PeerState::Paused => Voice::Table,
                    PeerState::Lost | PeerState::Absent | PeerState::Removed => Voice::Warning,
                };
                if voice == Voice::Warning {
                    cx.toast(Tone::Bad, line.clone());
                }
                self.log.say(voice, line);
                self.ending.left |= *state == PeerState::Left && Some(*seat) == self.me();
            }
            SessionEvent::Fault { stopped, seat, what, evidence } => {
                let kept = evidence.as_ref().map_or_else(String::new, |path| format!(" Evidence: {}.", path.display()));
                let line = if *stopped {
                    format!("The table has stopped: {what}.{kept}")
                } else {
                    let name = seat.map(|seat| self.name_of(seat)).unwrap_or_default();
                    format!("{name} cheated: {what}.{kept}")
                };
                if *stopped {
                    self.stop(line.clone());
                }
                cx.toast(Tone::Bad, line.clone());
                self.log.say(Voice::Warning, line);
            }
            SessionEvent::Claimed { by, absent, ground, transcript } => {
                let names = |seats: &[Seat]| {
                    let names: Vec<String> = seats.iter().map(|seat| self.name_of(*seat)).collect();
                    fairdeal_games::listed(&names)
                };
                let (by, absent) = (names(by), names(absent));
                let kept =
                    transcript.as_ref().map_or_else(String::new, |path| format!(" Transcript: {}.", path.display()));
                let why = ground_in_words(*ground);
                let line = format!("{by} closed the table: {absent} {why}. The game is unfinished.");
                self.log.say(Voice::Warning, line.clone() + &kept);
                self.stop(line);
            }
            SessionEvent::Over { scores, winners, log, transcript } => {
                self.ending.outcome = Some(Outcome {
                    scores: scores.clone(),
                    winners: winners.iter().map(|seat| self.name_of(*seat)).collect(),
                    transcript: transcript.clone(),
                    log: *log,
                });
                if let Some(transcript) = transcript {
                    self.ending.audit = Some(RunningAudit::of(transcript.clone()));
                    cx.effect(Effect::Audit(transcript.clone()));
                }
                self.go_on(cx);
                if !matches!(self.over, Over::Telling(_)) {
                    self.open_sheet(Over::Outcome);
                }
                // The finished game counts in the statistics shown with the result.
                cx.effect(Effect::LoadLibrary);
            }
            SessionEvent::Error(why) => {
                self.log.say(Voice::Warning, why.clone());
                self.ending.failed = Some(why.clone());
            }
            SessionEvent::Chat { seat, name, text } => {
                self.log.say(Voice::Chat, format!("{name}: {text}"));
                if seat.is_some() && *seat == self.me() {
                    self.unread_in_words().into_iter().for_each(|line| self.log.say(Voice::Table, line));
                }
            }
            SessionEvent::Hidden { name, lines, .. } => {
                let hidden = counted(usize::try_from(*lines).unwrap_or(usize::MAX), "line");
                self.log.replace(Voice::Table, &format!("{name} is blocked: "), &format!("{hidden} hidden."));
            }
            SessionEvent::Invited { seat, name, ticket } => {
                self.ending.invitation = Some((name.clone(), ticket.clone()));
                if let Some(own) = self.again.filter(|_| self.snapshot.is_none()) {
                    return self.hear_of_another_rematch(cx, own, *seat, name);
                }
                let line = format!("{name} invites you to another game. Press r when this one is over.");
                cx.toast(Tone::Good, line.clone());
                self.log.say(Voice::Table, line);
            }
            SessionEvent::Letter(news) => self.hear_of_letter(cx, news),
            SessionEvent::Deal(_)
            | SessionEvent::Action { .. }
            | SessionEvent::Calls(_)
            | SessionEvent::Seal { .. } => {}
        }
    }

    /// The table has closed for this player: drops all offers.
    fn stop(&mut self, why: String) {
        self.ending.failed = Some(why);
        self.choice.ahead = None;
        self.choice.offers = Offers::default();
        self.choice.picked.clear();
    }

    /// Records the cards that are new to this player. They count as new until the game moves on.
    fn note_cards(&mut self, now: &Snapshot) {
        let was = self.snapshot.as_ref();
        let new: Vec<Handle> = now
            .known
            .iter()
            .map(|(card, _)| card)
            .filter(|card| {
                let known = was.and_then(|was| was.known.get(*card));
                known.is_none()
            })
            .collect();
        let gone_on = was.is_some_and(|was| was.game != now.game);
        if !new.is_empty() || gone_on {
            self.stage.came = new;
        }
    }

    /// Whether the player is to act and has an offer that is possible only in turn. Before the game begins, a seat may
    /// be to act without any offers.
    pub(super) fn is_my_turn(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|now| {
            let to_act = now.game.to_act();
            now.me.is_some_and(|me| to_act.contains(me))
                && self.choice.offers.all().iter().any(|offer| !now.game.out_of_turn(&offer.action))
        })
    }

    /// Keeps a snapshot back while the player looks at the hand that has ended. Returns whether it did.
    fn rests(&mut self, cx: &mut Cx<'_>, snapshot: &Snapshot) -> bool {
        let goes_on = !snapshot.game.is_over() && self.ending.failed.is_none();
        match &mut self.rest {
            Rest::Resting(interval) if goes_on => {
                interval.next = snapshot.clone();
                self.stage.events.clear();
                true
            }
            Rest::Ending { .. } if goes_on => {
                let (sheet, glowing) = view_of(snapshot, &[], &[], true, &self.theme, |view| {
                    let events = self.stage.events.iter();
                    let moves = events.clone().flat_map(|event| motions(&snapshot.game, event, view));
                    let flashes = moves.filter_map(|motion| match motion {
                        Motion::Flash(spot) => Some(spot),
                        Motion::Fly { .. } | Motion::Build(_) => None,
                    });
                    let glowing: Vec<Spot> = flashes.collect();
                    let mut shows = events.filter_map(|event| show(&snapshot.game, event, view));
                    (shows.next_back(), glowing)
                });
                let Some(sheet) = sheet else {
                    self.rest.end(&mut self.log);
                    return false;
                };
                // Others wait only where there are others.
                let seats = Seat::first(snapshot.names.len());
                let people = seats.filter(|seat| snapshot.seating.parties.is_person(*seat)).count();
                self.rest.begin(snapshot.clone(), people > 1);
                if cx.context.moves() {
                    // What has ended the hand is seen to happen: the village catches fire.
                    let builds = glowing.iter().copied().map(Motion::Build);
                    self.stage.begin(builds.collect());
                }
                self.stage.glowing = glowing;
                self.stage.forget();
                self.stage.events.clear();
                self.choice = Choice::default();
                if self.asked.take().is_some() {
                    cx.withdraw();
                }
                self.open_sheet(Over::Telling(Telling::new(sheet, cx.context.moves())));
                true
            }
            Rest::Playing => false,
            Rest::Resting(_) | Rest::Ending { .. } => {
                self.rest.end(&mut self.log);
                false
            }
        }
    }

    pub(super) fn set_snapshot(&mut self, cx: &mut Cx<'_>, snapshot: &Snapshot) {
        self.theme = cx.context.theme;
        self.names.clone_from(&snapshot.names);
        self.log.seat(&snapshot.names, snapshot.me);
        self.close_page();
        if self.rests(cx, snapshot) {
            return;
        }
        self.stage.glowing.clear();
        // A dealt card often becomes known only after the game has moved on.
        let nothing_new = self.snapshot.as_ref().is_some_and(|old| {
            old.game == snapshot.game && old.known == snapshot.known && offers_as(old) == offers_as(snapshot)
        });
        // While a move waits for others, its turn goes on.
        let has_made = self.snapshot.as_ref().is_some_and(|old| {
            let pending = old.waits.pending.as_ref();
            pending.is_some_and(|action| !old.game.out_of_turn(action))
        });
        let was_mine = has_made || self.is_my_turn();
        let was_to_act = self.snapshot.as_ref().map(|old| old.game.to_act());
        if let Some(old) = &self.snapshot {
            self.ending.gains.note(&old.game.scores(), &snapshot.game.scores());
        }
        self.note_cards(snapshot);
        self.snapshot = Some(snapshot.clone());
        self.foreseen = self.foresee().map(Box::new);
        let events = std::mem::take(&mut self.stage.events);
        if self.ending.failed.is_none() && (!nothing_new || !events.is_empty()) {
            if self.choice.ahead.take().is_some() {
                self.choice.ahead = self.foreseen.clone();
                if self.choice.ahead.is_none() {
                    self.choice.clear();
                }
            }
            self.choice.offers = self.offers_now();
            // The reason for a hint holds only for its position.
            self.choice.hinted = None;
            // The action in question may no longer be possible.
            let gone = match &self.asked {
                Some(Asked::Act(asked)) => {
                    let mut all = self.choice.offers.all().iter();
                    !all.any(|offer| offer.action == asked.action && offer.refused.is_none())
                }
                _ => false,
            };
            if gone {
                self.asked = None;
                cx.withdraw();
            }
            // Keep the picked spots while they lead to an offer.
            if self.choice.lit().is_empty() {
                self.choice.picked.clear();
            }
            // Move the focus to new choices. At the start of a turn, move it off actions that are always possible, such
            // as a vote for the end. Alone, each action begins another turn.
            let begins = !was_mine || snapshot.names.len() == 1;
            let lit = self.choice.lit();
            let is_lit = matches!(self.choice.focus, Some(Target::Spot(spot)) if lit.contains(&spot));
            if self.is_my_turn() && !lit.is_empty() {
                if is_lit && !begins {
                    // What has the focus keeps it, and may have other offers now.
                    self.choice.aim(self.choice.focus);
                } else {
                    cx.unfocus();
                }
            }
        }
        self.lead_on(cx);
        let told = self.view(&[], |view, snapshot| {
            let shows: Vec<_> = events.iter().filter_map(|event| show(&snapshot.game, event, view)).collect();
            let moves: Vec<_> = events.iter().flat_map(|event| motions(&snapshot.game, event, view)).collect();
            (shows, moves)
        });
        let (shows, moves) = told.unwrap_or_default();
        let has_acted = was_to_act.zip(self.me()).is_some_and(|(seats, me)| seats.contains(me));
        if !events.is_empty() && has_acted {
            self.stage.forget();
        } else if self.me().is_some() {
            let game = &snapshot.game;
            self.stage.trace(&moves, |spot| match_game!(game, game => game.stays_marked(spot)));
        }
        if cx.context.moves() {
            let acted = was_to_act.filter(|seats| !moves.is_empty() && self.me().is_none_or(|me| !seats.contains(me)));
            if let Some(seats) = acted.filter(|_| !snapshot.my_turn && !snapshot.game.is_over()) {
                self.pacing.show(seats != snapshot.game.to_act());
            }
            self.stage.begin(moves);
        }
        if let Some(show) = shows.into_iter().next_back() {
            self.open_sheet(Over::Telling(Telling::new(show, cx.context.moves())));
        }
    }
}

/// The state that decides on the offers besides the game: whether an action waits, whether the player has
/// called, and whether the table is closed.
fn offers_as(now: &Snapshot) -> [bool; 4] {
    let waits = &now.waits;
    [waits.pending.is_some(), waits.is_leaving, waits.has_called, waits.closed_by.is_empty()]
}
