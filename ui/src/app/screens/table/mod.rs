//! The table's screen, for a player or a spectator: from the lobby to the end of the game.
//!
//! This file holds the state and passes each input to a module. `inputs` has what the player does: `choosing` handles
//! actions, `leave` readiness, a rematch and leaving. `events` has the reports of the session. `lobby`, `draw` and the
//! parts of a table draw the screen, `waits` says what the table waits for, `sheets` opens what lies over it, `seal` shows
//! the protection of each step, `moving` animates.

pub(in crate::app::screens) mod choosing;
mod draw;
mod events;
mod extended;
mod inputs;
mod inspector;
mod interval;
mod leave;
mod letters;
mod lobby;
mod log;
mod marks;
mod moving;
mod outcome;
mod pacing;
mod rail;
mod seal;
mod share;
mod sheets;
#[cfg(test)]
mod tests;
mod waits;

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::match_game;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, GameInfo, game_info, name_of};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use ratatui::layout::Rect;
use ratatui::text::Line;

use self::choosing::{AHEAD, Choice};
use self::interval::Rest;
use self::log::{Log, Told, Voice};
use self::moving::{Stage, Telling};
use self::pacing::Pacing;
use crate::app::screen::{Chrome, Context, Corner, Cx, FocusPolicy, Handled, Screen, ScreenInput};
use crate::app::screens::running_audit::RunningAudit;
use crate::canvas::{Canvas, Layer, Marks, Target, cut};
use crate::field::Field;
use crate::keys::Intent;
use crate::tables::offers::{Offer, Offers};
use crate::tables::{Board as _, SeatState, Spot, ViewContext, sketch};
use crate::theme::Theme;
use fairdeal_session::narrate::LogLine;
use fairdeal_session::view::{LobbySeat, LobbyView, Snapshot, Standing};

/// Maximum width of a name on a table.
const NAME: usize = 10;
/// How long a sheet that opens by itself ignores keys: they were meant for the table.
const GUARD: Duration = Duration::from_millis(400);

/// Buttons other than the table's own.
mod button {
    use super::Target;

    pub(super) const COPY: Target = Target::Button(1);
    pub(super) const SEAL: Target = Target::Button(3);
    pub(super) const CLOSE: Target = Target::Button(4);
    pub(super) const BOT: Target = Target::Button(6);
    pub(super) const READY: Target = Target::Button(7);
    /// Takes readiness back. It is never in focus by itself: a second Enter must not undo the first.
    pub(super) const UNREADY: Target = Target::Button(2);
    pub(super) const CHAT: Target = Target::Button(8);
    pub(super) const REMATCH: Target = Target::Button(9);
    pub(super) const AUDIT: Target = Target::Button(10);
    pub(super) const REVIEW: Target = Target::Button(11);
    pub(super) const FOLLOW: Target = Target::Button(12);
    pub(super) const LINK: Target = Target::Button(19);
    /// Calls a friend back.
    pub(super) const CALL: Target = Target::Button(5);
    pub(super) const CODE: Target = Target::Button(13);
    pub(super) const DETAILS: Target = Target::Button(14);
    /// Changes between the seal's picture and its details.
    pub(super) const SEAL_DETAILS: Target = Target::Button(16);
    /// Copies the result for a chat.
    pub(super) const SHARE: Target = Target::Button(17);
    /// Saves the game as a page for browsers.
    pub(super) const PAGE: Target = Target::Button(18);
    /// Chooses ahead for the next turn, or takes that back.
    pub(super) const AHEAD: Target = Target::Button(60);
    /// Declares a holiday.
    pub(super) const HOLIDAY: Target = Target::Button(61);
    /// Gives a player more time: the button number is this plus the number of the seat.
    pub(super) const GIVE: u16 = 70;
    /// Writes a letter to a player: the button number is this plus the number of the seat.
    pub(super) const WRITE: u16 = 80;
    /// Reads a letter.
    pub(super) const READ: Target = Target::Button(62);
    /// The people at the table.
    pub(super) const PEOPLE: Target = Target::Button(15);
    /// Shows a player in the address book: the button number is this plus the number of the seat.
    pub(super) const PERSON: u16 = 40;
    /// Sends a guest away: the button number is this plus the number of the seat.
    pub(super) const DISMISS: u16 = 20;
    /// Proposes a removal: the button number is this plus the number of the seat.
    pub(super) const PROPOSE: u16 = 30;
}

/// A host that does not answer yet.
#[derive(Clone, Debug)]
struct Reaching {
    seconds: u64,
    /// Why the last attempt failed, or why none is likely to succeed.
    why: Option<String>,
    /// The reply by which the host can call back.
    reply: Option<String>,
}

impl Reaching {
    /// For how much longer the program tries, as a sentence.
    fn left(&self) -> String {
        match self.seconds / 60 {
            minutes @ 2.. => format!("Trying for {minutes} more minutes."),
            _ => format!("Trying for {} s more.", self.seconds),
        }
    }
}

/// How the game ended.
#[derive(Clone, Debug)]
struct Outcome {
    scores: Vec<i64>,
    winners: Vec<String>,
    /// The transcript file, if it was saved.
    transcript: Option<PathBuf>,
    /// The hash of the whole log.
    log: Hash32,
}

/// How the table ends for this player, as far as it has.
#[derive(Debug, Default)]
struct Ending {
    outcome: Option<Outcome>,
    /// Invitation to another table: who sent it, and its ticket.
    invitation: Option<(String, String)>,
    /// Why the table cannot go on.
    failed: Option<String>,
    /// Whether this player has left the table for good.
    left: bool,
    /// Whether the session is over: nothing more will happen.
    ended: bool,
    /// Whether the result has been shown.
    is_shown: bool,
    /// The audit of the saved game, which begins with the result.
    audit: Option<RunningAudit>,
    gains: outcome::Gains,
}

/// An overlay on the table.
#[derive(Debug, Default)]
enum Over {
    #[default]
    Nothing,
    /// The seal as a picture.
    Seal,
    SealDetails,
    /// A text: an animation in steps, such as a scoring, or a sheet that the player opened.
    Telling(Telling),
    /// The uses of the thing in focus.
    Uses,
    /// The result of the game.
    Outcome,
}

/// The action that a question is about.
#[derive(Clone, Debug)]
enum Asked {
    Act(Box<Offer>),
    Leave(Vec<Way>),
    Removal(Seat),
    /// How much time to give a seat, in seconds.
    Give(Seat, [u32; 3]),
    /// Whether to take the seat elsewhere.
    Take,
}

/// A way to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Pause,
    Forfeit,
    Claim,
    /// To another browser or a terminal.
    Take,
    Go,
}

#[derive(Debug)]
pub struct TableScreen {
    /// The screen's name before the table is known.
    purpose: String,
    /// Whether the table has no network: every other seat is a bot of this program.
    local: bool,
    /// The player's seat at the table before, in the lobby of a rematch that the player has opened.
    again: Option<Seat>,
    /// The chat message being written.
    chat: Option<Field>,
    lobby: LobbyView,
    front: lobby::Front,
    /// While the host is not connected: for how many more seconds the program tries, and why it has failed so far.
    reaching: Option<Reaching>,
    /// The seats whose connection was lost, or that have paused.
    missing: SeatSet,
    /// The seats whose players have paused.
    paused: SeatSet,
    snapshot: Option<Snapshot>,
    names: Vec<String>,
    choice: Choice,
    log: Log,
    /// The picture of the event whose line comes next.
    sketch: Option<Line<'static>>,
    rest: Rest,
    over: Over,
    /// How long the sheet that opened by itself has been there.
    opened: Duration,
    asked: Option<Asked>,
    /// The position of the player's next turn, if it allows actions that this moment does not.
    foreseen: Option<Box<AnyGame>>,
    ending: Ending,
    /// Replaces the line below the board that tells whose turn it is.
    status: Option<String>,
    stage: Stage,
    pacing: Pacing,
    theme: Theme,
}

impl TableScreen {
    /// A screen with no table yet. `purpose` names what the player is doing; `local` means that the table has no
    /// network.
    pub fn new(purpose: &str, local: bool) -> Self {
        Self {
            purpose: purpose.to_owned(),
            local,
            again: None,
            chat: None,
            lobby: LobbyView::default(),
            front: lobby::Front::default(),
            reaching: None,
            missing: SeatSet::EMPTY,
            paused: SeatSet::EMPTY,
            snapshot: None,
            names: Vec::new(),
            choice: Choice::default(),
            log: Log::default(),
            sketch: None,
            rest: Rest::default(),
            over: Over::Nothing,
            opened: Duration::ZERO,
            asked: None,
            foreseen: None,
            ending: Ending::default(),
            status: None,
            stage: Stage::default(),
            pacing: Pacing::default(),
            theme: Theme::default(),
        }
    }

    /// A table at one step, with these lines in its log.
    pub fn at(context: &Context, snapshot: &Snapshot, lines: &[LogLine]) -> Self {
        let mut table = Self::new("table", true);
        table.set_snapshot(&mut Cx::new(context), snapshot);
        table.tell(lines);
        table
    }

    /// Adds lines of the game to the log.
    fn tell(&mut self, lines: &[LogLine]) {
        let told: Option<Vec<Told>> = self.view(&[], |view, now| {
            let sketch_of = |event: &AnyEvent| sketch(&now.game, event, view);
            let told = lines.iter().map(|LogLine { text, event }| {
                let sketch = event.as_ref().and_then(sketch_of);
                Told { text: text.clone(), sketch }
            });
            told.collect()
        });
        told.into_iter().flatten().for_each(|told| self.log.tell(told));
    }

    fn me(&self) -> Option<Seat> {
        self.snapshot.as_ref().and_then(|snapshot| snapshot.me)
    }

    /// Whether other players may need this player's ticket to find the table again.
    fn may_be_sought(&self) -> bool {
        let is_here = !self.local && !self.is_spectator() && !self.is_over();
        is_here && self.lobby.ticket.is_some()
    }

    fn is_spectator(&self) -> bool {
        self.snapshot.is_some() && self.me().is_none()
    }

    /// Runs a function on the game as this player sees it.
    fn view<T>(&self, picked: &[Spot], run: impl FnOnce(&ViewContext<'_>, &Snapshot) -> T) -> Option<T> {
        let snapshot = self.snapshot.as_ref()?;
        Some(view_of(snapshot, &[], picked, true, &self.theme, |view| run(view, snapshot)))
    }

    fn name_of(&self, seat: Seat) -> String {
        name_of(seat, &self.names)
    }

    /// Shows a step of a past game, without offers.
    pub fn show(&mut self, context: &Context, snapshot: Snapshot, lines: &[LogLine], status: String) {
        self.theme = context.theme;
        self.names.clone_from(&snapshot.names);
        self.log = Log::default();
        self.log.seat(&snapshot.names, None);
        self.snapshot = Some(snapshot);
        self.tell(lines);
        self.status = Some(status);
    }

    /// Says so in place of whose turn it is: for the end of a lesson.
    pub fn end_with(&mut self, status: String) {
        self.status = Some(status);
    }

    /// Offers one action alone, or none: for a lesson.
    pub fn offer_only(&mut self, action: Option<&AnyAction>) {
        let mut now = self.choice.offers.all().iter().map(|offer| &offer.action);
        if now.next() == action && now.next().is_none() {
            return;
        }
        let offers = self.view(&[], |view, snapshot| Offers::of(&snapshot.game, view));
        self.choice.offers = offers.unwrap_or_default();
        self.choice.offers.retain(action);
        self.choice.clear();
    }

    /// Whether an action that is offered asks a question first.
    pub fn asks_first(&self) -> bool {
        self.choice.offers.all().iter().any(|offer| offer.question.is_some())
    }

    /// The place to choose next, of the first action on offer.
    pub fn next_choice(&self) -> Option<Target> {
        self.choice.lit().first().map(|spot| Target::Spot(*spot))
    }

    /// Whether the table says what is best.
    fn advises(&self) -> bool {
        self.snapshot.as_ref().is_none_or(|snapshot| snapshot.standing != Standing::Puzzle)
    }

    /// Whether a sheet lies over the table.
    pub fn is_covered(&self) -> bool {
        !matches!(self.over, Over::Nothing)
    }

    /// The game as it is shown.
    pub fn game_now(&self) -> Option<&AnyGame> {
        self.snapshot.as_ref().map(|snapshot| &snapshot.game)
    }

    /// Shows what has waited long enough.
    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        let all = self.pacing.shows_all();
        while let Some(event) = self.pacing.next() {
            self.hear_session(cx, &event);
        }
        if all {
            self.pacing.skip();
        }
    }

    /// Shows everything that waits: the player presses a key.
    pub fn skip_ahead(&mut self, cx: &mut Cx<'_>) {
        self.pacing.skip();
        self.catch_up(cx);
    }

    /// Ends the rest between two hands: shows the table as it is now.
    fn go_on(&mut self, cx: &mut Cx<'_>) {
        if let Some(next) = self.rest.end(&mut self.log) {
            self.set_snapshot(cx, &next);
        }
    }

    fn heading(&self) -> String {
        let Some(snapshot) = &self.snapshot else {
            return String::new();
        };
        let words = match_game!(&snapshot.game, game => game.heading());
        // Only a live table is watched; a replay is read.
        if self.is_spectator() && self.status.is_none() { format!("watching, {words}") } else { words }
    }

    /// The game of the table, or of its lobby.
    fn game(&self) -> Option<&'static GameInfo> {
        match &self.snapshot {
            Some(snapshot) => Some(snapshot.game.info()),
            None => game_info(&self.lobby.game).ok(),
        }
    }

    /// The heading of the rulebook on the thing in focus, as a slug.
    fn rule(&self) -> &'static str {
        let spot = self.choice.aimed.last().copied();
        let snapshot = self.snapshot.as_ref();
        let rule = spot.zip(snapshot);
        rule.map_or("", |(spot, snapshot)| match_game!(&snapshot.game, game => game.rule(spot)))
    }

    fn marks(&self) -> Marks {
        let mut marks = Marks { flashing: self.stage.glowing.iter().copied().collect(), ..Marks::default() };
        if self.snapshot.is_some() && matches!(self.over, Over::Nothing) {
            marks.lit = self.choice.lit();
            marks.picked.clone_from(&self.choice.picked);
            self.stage.mark(&mut marks);
        }
        marks
    }

    /// The best choice if the table advises, else the first that is possible.
    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        let lit = self.choice.lit();
        let best =
            self.view(&self.choice.picked, |view, snapshot| match_game!(&snapshot.game, game => game.first(view)));
        if let Some(spot) = best
            .flatten()
            .filter(|_| self.advises())
            .filter(|spot| lit.contains(spot) && layer.area(Target::Spot(*spot)).is_some())
        {
            return Some(Target::Spot(spot));
        }
        let targets = || layer.targets.iter().map(|(_, target)| *target);
        let is_lit = |target: &Target| matches!(target, Target::Spot(spot) if lit.contains(spot));
        // One who waits looks at the own hand.
        let own = || self.row().into_iter().map(Target::Spot).find(|target| layer.area(*target).is_some());
        if self.snapshot.is_none() {
            // Nothing that a key too many would set off: no bot comes, and nobody is sent away.
            return [button::READY, button::CHAT].into_iter().find(|target| layer.area(*target).is_some());
        }
        let any = || targets().find(|target| !target.is_key());
        // A vote or a fire is not what a key too many should ask for.
        let is_deed = |target: &Target| matches!(target, Target::Spot(Spot::Button(_)));
        let is_own = |target: &Target| match target {
            Target::Spot(Spot::Seat(seat) | Spot::Part(seat, _)) => Some(*seat) == self.me(),
            _ => false,
        };
        let to_act = self.snapshot.as_ref().map(|snapshot| snapshot.game.to_act());
        let waits = !self.me().is_some_and(|me| to_act.is_some_and(|to_act| to_act.contains(me)));
        let lit = targets().filter(|target| !(waits && is_deed(target))).find(is_lit);
        let own = || own().or_else(|| targets().filter(|_| waits).find(is_own));
        let calm = || targets().find(|target| !target.is_key() && !is_deed(target));
        lit.or_else(own).or_else(calm).or_else(any)
    }

    fn tick(&mut self, cx: &mut Cx<'_>, passed: Duration) {
        self.pacing.advance(passed);
        self.catch_up(cx);
        if self.rest.advance(passed) {
            self.over = Over::Nothing;
            self.go_on(cx);
        }
        self.stage.advance(passed);
        if let Some(audit) = &mut self.ending.audit {
            audit.advance(passed);
        }
        let shown = match &mut self.over {
            Over::Telling(telling) => telling.advance(passed),
            _ => passed,
        };
        self.opened = self.opened.saturating_add(shown);
    }
}

/// Runs a function on a state of the table as its player sees it.
fn view_of<T>(
    snapshot: &Snapshot,
    seats: &[SeatState],
    picked: &[Spot],
    acts: bool,
    theme: &Theme,
    run: impl FnOnce(&ViewContext<'_>) -> T,
) -> T {
    let names = short_names(&snapshot.names, theme);
    run(&ViewContext {
        me: snapshot.me,
        names: &names,
        known: &snapshot.known,
        seats,
        picked,
        acts,
        is_closed: false,
        advises: snapshot.standing != Standing::Puzzle,
        theme,
    })
}

/// The names of a table, shortened for boards. Names that would look alike get their seat's number, counted from 1 as
/// in full names that look alike.
pub fn short_names(names: &[String], theme: &Theme) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| cut(name, NAME, theme)).collect();
    let alike = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    names
        .iter()
        .zip(&short)
        .zip(1..)
        .map(
            |((name, short), number)| {
                if alike(short) { format!("{}#{number}", cut(name, NAME - 2, theme)) } else { short.clone() }
            },
        )
        .collect()
}

impl Screen for TableScreen {
    fn name(&self) -> String {
        match self.game() {
            Some(info) if self.snapshot.is_some() => info.name.to_owned(),
            Some(info) => format!("{}: lobby", info.name),
            None => self.purpose.clone(),
        }
    }

    fn chrome(&self, context: &Context) -> Chrome {
        let corner = self.snapshot.as_ref().map(|snapshot| {
            let opens = (!self.is_covered()).then_some(button::SEAL);
            Corner::Text(seal::sign(snapshot, &context.theme), opens)
        });
        Chrome {
            heading: self.heading(),
            rulebook: self.game().map(|game| (game, self.rule())),
            corner: corner.unwrap_or(Corner::Ways { out: Intent::Quit }),
            marks: self.marks(),
        }
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        self.theme = context.theme;
        if self.snapshot.is_some() {
            draw::draw(self, context, canvas);
        } else {
            lobby::draw(self, context, canvas, area);
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        let lit = self.choice.lit();
        let mut stops = FocusPolicy::of(layer).stops;
        stops.retain(|target| !matches!(target, Target::Spot(spot) if !lit.contains(spot)));
        let steers: &[Intent] = match (&self.snapshot, &self.over) {
            (Some(_), Over::Telling(_)) => &[Intent::Uses, Intent::Up, Intent::Down],
            (Some(_), Over::Nothing) if matches!(self.choice.focus, Some(Target::Spot(_))) => {
                &[Intent::Uses, Intent::Choose]
            }
            (Some(_), _) => &[Intent::Uses],
            (None, _) => &[],
        };
        FocusPolicy {
            first: self.first_focus(layer),
            stops,
            steers,
            writes: self.chat.is_some() || self.front.asks_for_reply(),
        }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(target) => self.choose(cx, target),
            ScreenInput::Intent(intent) => self.intent(cx, intent),
            ScreenInput::Letter(letter) => self.letter(cx, letter),
            ScreenInput::Typed(typed) => {
                if let Some(field) = &mut self.chat {
                    field.typed(typed);
                } else {
                    self.front.typed(typed);
                }
            }
            ScreenInput::Pasted(text) => self.pasted(cx, text),
            ScreenInput::Submit if self.front.asks_for_reply() => self.call_back(cx),
            ScreenInput::Submit => self.say(cx),
            ScreenInput::Back => self.back(cx),
            ScreenInput::Missed if !matches!(self.over, Over::Nothing | Over::Outcome) => self.close_over(cx),
            ScreenInput::Answer(answer) => self.answer(cx, answer),
            ScreenInput::Event(event) => self.on_event(cx, event),
            ScreenInput::Focused(target) => self.choice.aim(target),
            ScreenInput::Tick(passed) => self.tick(cx, passed),
            ScreenInput::Drawn(layer) => self.stage.drawn(layer),
            ScreenInput::Missed | ScreenInput::Relisted => return Handled::No,
        }
        Handled::Yes
    }

    fn spoken(&self, context: &Context) -> String {
        let prompt = self.snapshot.as_ref().map(|now| draw::prompt(self, context, now));
        prompt.map_or_else(String::new, |(lead, text)| lead.to_owned() + &text)
    }

    fn pace(&self) -> Option<Duration> {
        let telling = match &self.over {
            Over::Telling(telling) => telling.pace(),
            _ => None,
        };
        // The sheet counts the seconds down.
        let counting = self.rest.seconds().map(|_| Duration::from_secs(1));
        let fresh = self.is_fresh().then_some(GUARD);
        let audit = self.ending.audit.as_ref().and_then(RunningAudit::beat);
        let all = [telling, self.stage.pace(), counting, fresh, self.pacing.pace(), audit];
        all.into_iter().flatten().min()
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        let mut all: Vec<(String, String)> = Vec::new();
        let of = |intent: Intent| (keys.keys(intent), intent.words().to_owned());
        if self.ending.outcome.is_some() || self.snapshot.is_some() && self.is_spectator() {
            let choices = outcome::ways_on(self).chain(outcome::keepsakes(self, context));
            all.extend(choices.map(|(key, label, _)| (key, label)));
            all.extend([Intent::Inspect, Intent::Scores, Intent::Log, Intent::Seal].map(of));
        } else if let Some(snapshot) = &self.snapshot {
            for spot in self.choice.offers.next(&[]) {
                if let Spot::Button(number) = spot {
                    let button = match_game!(&snapshot.game, game => game.button(number));
                    let key = button.key.map(String::from).unwrap_or_default();
                    all.push((key, button.label.to_owned()));
                }
            }
            all.push(("1 to 9, 0".to_owned(), "a card or pile of your own".to_owned()));
            all.extend(self.ahead_in_words().map(|words| (AHEAD.to_string(), words.to_owned())));
            all.extend(
                [Intent::Uses, Intent::Hint, Intent::Inspect, Intent::Scores, Intent::Log, Intent::Seal].map(of),
            );
        }
        if self.may_chat() {
            all.push(of(Intent::Chat));
        }
        if self.snapshot.is_none() {
            all.extend(self.lobby_keys());
        }
        let leave = if self.loses_nothing() { "leave the table" } else { "leave the table, or pause it" };
        all.push((keys.keys(Intent::Quit), leave.to_owned()));
        all
    }

    fn commands(&self, context: &Context) -> Vec<(String, Target)> {
        let mut all: Vec<(String, Target)> = Vec::new();
        if self.snapshot.is_some() {
            let mut seen = std::collections::BTreeSet::new();
            for offer in self.choice.offers.all() {
                // An action with several choices begins with the first.
                if let Some(spot) = offer.path.first().filter(|spot| seen.insert(**spot)) {
                    all.push((offer.words.clone(), Target::Spot(*spot)));
                }
            }
            all.extend(self.ahead_in_words().map(|words| (words.to_owned(), button::AHEAD)));
            all.push(("the seal: what protects this step".to_owned(), button::SEAL));
            if !self.is_deal_of_the_day() {
                all.push(("a hint".to_owned(), Target::Key(Intent::Hint)));
            }
            if self.may_be_sought() {
                all.push(("show the ticket, for spectators and players who lost it".to_owned(), button::DETAILS));
                all.push(("copy the ticket".to_owned(), button::COPY));
            }
            if self.is_practice() {
                let name = "take the last action back".to_owned();
                all.push((name, Target::Key(Intent::Undo)));
            }
            if self.may_rematch() {
                all.push(("another game".to_owned(), button::REMATCH));
            }
            if self.ending.outcome.as_ref().is_some_and(|outcome| outcome.transcript.is_some()) {
                all.push(("audit every shuffle of this game".to_owned(), button::AUDIT));
                all.push(("save this game as a page for browsers".to_owned(), button::PAGE));
            }
            if self.ending.outcome.is_some() {
                all.push(("copy the result, for a chat".to_owned(), button::SHARE));
            }
            if self.may_review().is_some() {
                all.push(("what the sharp bot would have done".to_owned(), button::REVIEW));
            }
        } else if self.lobby.ticket.is_some() {
            all.push(("copy the ticket".to_owned(), button::COPY));
            all.push(("the ticket as a QR code".to_owned(), button::CODE));
            all.push(("the ticket in full, and its addresses".to_owned(), button::DETAILS));
            all.push(("call back a friend who can't reach you".to_owned(), button::CALL));
            all.push(("seat a bot".to_owned(), button::BOT));
            for (taken, number) in self.lobby.seats.iter().zip(0..) {
                let seat = Seat::new(usize::from(number)).filter(|seat| self.may_dismiss(*seat));
                if let (Some(LobbySeat { name, .. }), Some(_)) = (taken, seat) {
                    let target = Target::Button(button::DISMISS + number);
                    all.push((format!("send {name} away"), target));
                }
            }
        }
        if let Some((name, _)) = self.ending.invitation.as_ref().filter(|_| self.may_follow()) {
            all.push((format!("follow {name} to another game"), button::FOLLOW));
        }
        for seat in self.may_propose().iter() {
            let name = self.names.get(seat.index()).cloned().unwrap_or_default();
            let button = button::PROPOSE + u16::from(seat.number());
            all.push((format!("propose removal of {name}"), Target::Button(button)));
        }
        for seat in self.may_give().iter() {
            let button = button::GIVE + u16::from(seat.number());
            all.push((format!("give {} more time", self.name_of(seat)), Target::Button(button)));
        }
        if self.may_rest() {
            all.push(("declare a holiday".to_owned(), button::HOLIDAY));
        }
        let readers = self.readers(context);
        for seat in readers.iter() {
            let button = button::WRITE + u16::from(seat.number());
            all.push((format!("write a letter to {}", self.name_of(seat)), Target::Button(button)));
        }
        if readers != SeatSet::EMPTY {
            all.push(("read a letter".to_owned(), button::READ));
        }
        if self.snapshot.is_none() && self.lobby.me.is_some() {
            let (words, target) =
                if self.is_ready() { ("not ready", button::UNREADY) } else { ("ready", button::READY) };
            all.push((words.to_owned(), target));
        }
        if self.has_people() {
            all.push(("the people at this table".to_owned(), button::PEOPLE));
        }
        if self.may_chat() {
            all.push(("say something".to_owned(), button::CHAT));
        }
        all.push(("leave the table, or pause it".to_owned(), Target::Key(Intent::Quit)));
        all
    }
}
