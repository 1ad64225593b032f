//! The page as state and its transitions: a message in, a frame and requests out.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_encoding::{BASE64, HEXLOWER};
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::search::Budget;
use fairdeal_games::{AnyGame, bot, rule_set, sharp_bot};
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::io::StoreFault;
use fairdeal_session::notify::Notifier;
use fairdeal_session::practice::{Opponents, Practice};
use fairdeal_session::replay::Replay;
use fairdeal_session::seat_file::SeatFile;
use fairdeal_session::text::{clean, clean_error};
use fairdeal_ui::app::event::{Audited, Copied, Input, UiEvent};
use fairdeal_ui::app::screen::{Context, Effect, Opening, Tone};
use fairdeal_ui::app::screens::audit::Audit;
use fairdeal_ui::app::screens::home::Home;
use fairdeal_ui::app::screens::table::TableScreen;
use fairdeal_ui::app::screens::welcome::Welcome;
use fairdeal_ui::app::shell::Shell;
use fairdeal_ui::input::{KeyCode, UserInput};
use fairdeal_ui::settings::Settings;
use fairdeal_ui::svg;
use fairdeal_ui::theme::Depth;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use zeroize::Zeroizing;

use crate::check::{self, Check};
use crate::message::{Answer, Ask, Frame, NotStored, Pressed, Split, Start, StoreOrder, TableStart};
use crate::seat::{Seat, Way};

/// The time within which news of a table are shown.
const FRAME: Duration = Duration::from_millis(16);
/// The smallest and the largest frame, in columns and rows.
const LEAST: (u16, u16) = (60, 20);
const MOST: (u16, u16) = (200, 60);
/// The longest file that is read, in bytes. The longest games are some megabytes.
pub const MAX_FILE: usize = 64 << 20;
/// The longest message, in bytes: the first one holds all that the browser keeps.
pub const MAX_MESSAGE: usize = 64 << 20;
/// Why a request is refused that only the program can carry out.
const ELSEWHERE: &str = "This page opens no tables and keeps no list of games. Install fairdeal for that.";
/// How a seat that was left is found again.
const COME_BACK: &str = "This browser keeps your seat. Load the page again to come back to it.";
/// How far apart the numbers are with which the orders of two seats of this page begin.
const APART: u64 = 1 << 32;
/// Inks on dark and on light ground, for the text around the frame.
const INKS: (&str, &str) = ("#e8e8e8", "#181818");

/// Play-outs of a sharp bot for one decision: a tenth of a second or so, where the module may read no clock.
fn playouts(game: &str) -> u32 {
    match game {
        "plutonian-poker" => 60,
        "houses-of-thoth" => 400,
        _ => Budget::ITERATIONS,
    }
}

/// The whole page.
pub struct Page {
    shell: Shell,
    screen: Terminal<TestBackend>,
    /// The frame that the browser shows.
    shown: Option<Buffer>,
    /// The seeds of games.
    rng: ChaCha20Rng,
    practice: Option<Practice>,
    /// The time until a bot may act.
    bots_due: Option<Duration>,
    /// The file being checked, and how many were checked before.
    check: Option<Check>,
    checks: u64,
    /// How many cores the machine has.
    cores: usize,
    /// The file that has been checked.
    replay: Option<Arc<Replay>>,
    now: Now,
    /// Where the page comes from, if it is no file.
    origin: Option<String>,
    /// The seat at a table of others.
    seat: Option<Seat>,
    /// The signs of that table for a player who looks elsewhere.
    notifier: Notifier,
    /// Whether that seat has a game that is not over.
    is_playing: bool,
    /// Whether a table has news that no frame has shown.
    has_news: bool,
    /// Whether nobody sees the page.
    is_hidden: bool,
    /// How many seats this page has had.
    seats: u64,
    /// The game of the last seat that has ended, under its file name.
    finished: Option<(PathBuf, Arc<Transcript>)>,
    /// All that the browser's database holds, and the orders that it has not answered.
    kept: BTreeMap<String, String>,
    writing: BTreeMap<u64, StoreOrder>,
    /// The next step once the database has answered all that was ordered: what it holds is known then.
    awaits: Option<Awaited>,
    /// The seat that has left this page in a file: its name, and its bytes in base64.
    taken: Option<(PathBuf, Zeroizing<String>)>,
    /// The ticket of the table at which this page has sat last.
    ticket: Option<Ticket>,
    /// The table that this page was opened for: it may write what it keeps of that one.
    lobby: Option<[u8; 8]>,
}

/// A step that waits for the database.
enum Awaited {
    /// To go to a table: the text of its ticket, the password, and whether to watch there only.
    Table(String, Option<Password>, bool),
    /// To pack the seat of this table into a file.
    Packing(Ticket),
    /// To hand out that file, once this order is carried out.
    HandingOut(u64),
    /// To sit down at the table of a seat that came in a file, once this order is carried out.
    Bringing(u64, Ticket),
}

impl Awaited {
    /// The order that is waited for, if it is one of the page itself.
    fn order(&self) -> Option<u64> {
        match self {
            Self::HandingOut(order) | Self::Bringing(order, _) => Some(*order),
            Self::Table(..) | Self::Packing(_) => None,
        }
    }
}

impl Page {
    /// A page at its first screen.
    ///
    /// # Errors
    /// In words, if the seed is not 32 bytes in hexadecimal.
    pub fn new(start: &Start) -> Result<Self, String> {
        let seed = HEXLOWER.decode(start.seed.as_bytes()).ok();
        let seed: [u8; 32] =
            seed.and_then(|seed| seed.try_into().ok()).ok_or("the seed must be 64 hexadecimal digits")?;
        // Settings that cannot be read are of an earlier page.
        let settings: Option<Settings> = start.settings.as_deref().and_then(|text| toml::from_str(text).ok());
        let settings = settings.unwrap_or_else(|| Settings { motion: !start.still, ..Settings::default() });
        let mut context = Context {
            user: "Guest".to_owned(),
            today: start.today.clone(),
            is_page: true,
            joins: start.table.is_some(),
            ..Context::new(settings, Depth::True)
        };
        context.themes.is_light = start.light;
        context.dress();
        context.check_target = check_target;
        let TableStart { origin, ticket, kept } = start.table.clone().unwrap_or_default();
        let invited = check_target(&ticket).is_ok().then(|| ticket.clone());
        context.invited.clone_from(&invited);
        let size = fitting(start.columns, start.rows);
        let Ok(screen) = Terminal::new(TestBackend::new(size.0, size.1));
        let mut page = Self {
            shell: Shell::new(context, Box::new(Home::default())),
            screen,
            shown: None,
            rng: ChaCha20Rng::from_seed(seed),
            practice: None,
            bots_due: None,
            check: None,
            checks: 0,
            cores: start.cores,
            replay: None,
            now: Now::default(),
            origin,
            seat: None,
            // A browser reminds nobody: it stops the clock of a page that nobody sees.
            notifier: Notifier::new(Duration::ZERO),
            is_playing: false,
            has_news: false,
            is_hidden: false,
            seats: 0,
            finished: None,
            kept: kept.into_iter().collect(),
            writing: BTreeMap::new(),
            awaits: None,
            taken: None,
            ticket: None,
            lobby: ticket.parse::<JoinTarget>().ok().and_then(|target| target.lobby()),
        };
        match invited {
            // Whoever comes back sits down at once; a link to a new table may be anybody's, so it asks first.
            Some(ticket) if page.lobby.is_some_and(|lobby| Seat::is_kept(lobby, &page.kept)) => {
                page.shell.push(Box::new(TableScreen::new("joining", false)));
                page.awaits = Some(Awaited::Table(ticket, None, false));
            }
            Some(_) => page.shell.push(Box::new(Welcome::default())),
            None if !ticket.is_empty() => {
                let why = "The link to this page has no whole ticket behind its #. Copy it again.".to_owned();
                page.shell.toast(Tone::Bad, why);
            }
            None => {}
        }
        Ok(page)
    }

    /// Tells the page what time it is, before a message.
    pub fn set_time(&mut self, now: Now) {
        self.now = now;
    }

    /// Carries out a message; `file` are the bytes for [`Ask::File`].
    pub fn handle(&mut self, ask: Ask, file: &[u8]) -> Answer {
        let mut answer = Answer::default();
        self.has_news = matches!(ask, Ask::Socket(..) | Ask::Stored(..));
        let input = match ask {
            // A second start changes nothing.
            Ask::Start(_) => None,
            Ask::Key(pressed) => key(&pressed).map(|code| UserInput::Key(code.into())),
            Ask::Paste(text) => Some(UserInput::Paste(text)),
            Ask::Press(words) => Some(UserInput::Press(words)),
            Ask::Click(x, y) => Some(UserInput::Click(Position { x, y })),
            Ask::SecondaryClick(x, y) => Some(UserInput::SecondaryClick(Position { x, y })),
            Ask::Move(x, y) => Some(UserInput::MouseMoved(Position { x, y })),
            Ask::Scroll(by) if by > 0 => Some(UserInput::ScrollDown),
            Ask::Scroll(_) => Some(UserInput::ScrollUp),
            Ask::Size(columns, rows) => {
                let (columns, rows) = fitting(columns, rows);
                let Ok(screen) = Terminal::new(TestBackend::new(columns, rows));
                self.screen = screen;
                self.shown = None;
                Some(UserInput::Redraw)
            }
            Ask::Tick(passed) => {
                let passed = Duration::from_millis(passed);
                self.update(Input::Tick(passed), &mut answer);
                self.let_bots_act(passed, &mut answer);
                None
            }
            Ask::Socket(id, happened) => {
                if let Some(seat) = &mut self.seat {
                    seat.socket(id, &happened, self.now, &mut self.rng);
                }
                None
            }
            Ask::Stored(id, fault) => {
                self.stored(id, fault, &mut answer);
                None
            }
            Ask::Copied(copied) => {
                let copied = if copied { Copied::Done } else { Copied::Nowhere };
                self.tell(UiEvent::Copied(copied), &mut answer);
                None
            }
            Ask::File(name) => {
                self.check(&name, file, &mut answer);
                None
            }
            Ask::NoFile { name, why } => {
                self.refuse(&name, &why, &mut answer);
                None
            }
            Ask::Work(steps) => {
                self.work(steps, &mut answer);
                None
            }
            Ask::Slice { check, slice, holds } => {
                if let Some(current) = self.check.as_mut().filter(|_| check == self.checks) {
                    current.heard(slice, holds);
                }
                None
            }
            Ask::Refresh { today, light, hidden } => {
                self.shell.set_day(today);
                self.update(Input::Background(light), &mut answer);
                let was_hidden = std::mem::replace(&mut self.is_hidden, hidden);
                self.notifier.look(!hidden, self.now.up);
                match &mut self.seat {
                    Some(seat) if hidden && !was_hidden => {
                        seat.command(Command::Hidden(true), self.now, &mut self.rng);
                    }
                    Some(seat) if !hidden => seat.wakes_up(self.now, &mut self.rng),
                    _ => {}
                }
                None
            }
        };
        if let Some(input) = input {
            self.update(Input::User(input), &mut answer);
        }
        if self.writing.is_empty()
            && let Some(awaited) = self.awaits.take()
        {
            self.go_on(awaited, &mut answer);
        }
        self.play_on(&mut answer);
        // News of a table come in bursts: one frame shows them all, and what is sent does not wait for it.
        if !self.has_news || answer.is_for_page() {
            answer.frame = Some(self.draw());
        }
        answer.pace = self.pace().map(|pace| u64::try_from(pace.as_millis()).unwrap_or(u64::MAX));
        answer.busy = self.check.is_some();
        answer.works = self.check.as_ref().is_some_and(|check| check.rests(self.now.up).is_none());
        answer
    }

    /// Does what waited for the database.
    fn go_on(&mut self, awaited: Awaited, answer: &mut Answer) {
        match awaited {
            Awaited::Table(target, password, watches) => self.take_seat(&target, password, watches, answer),
            Awaited::Packing(ticket) => self.pack_seat(&ticket, answer),
            Awaited::HandingOut(_) => {
                self.hand_out(answer);
                if let Some((path, _)) = &self.taken {
                    self.tell(UiEvent::SeatTaken(path.clone()), answer);
                }
            }
            Awaited::Bringing(_, ticket) if Some(ticket.lobby()) == self.lobby => {
                (self.practice, self.bots_due) = (None, None);
                self.shell.push(Box::new(TableScreen::new("joining", false)));
                self.take_seat(&ticket.to_string(), None, false, answer);
            }
            // The page begins again with this ticket, and finds the seat.
            Awaited::Bringing(_, ticket) => answer.go = Some(ticket.to_string()),
        }
    }

    /// Orders the database to forget the seat, and holds its file until that is done.
    fn pack_seat(&mut self, ticket: &Ticket, answer: &mut Answer) {
        let packed = Seat::packed(ticket, &self.kept).and_then(|file| {
            let file = file.ok_or("the game of this seat has not begun, or has ended")?;
            let table = file.seat().map_err(|why| why.to_string())?;
            let game = table.charter().charter().rules().game;
            let name = format!("{game}-{}.seat", table.charter().table().short());
            let bytes = file.to_bytes();
            // Nothing is given up for a file that nobody could open.
            SeatFile::from_bytes(&bytes).map_err(|why| why.to_string())?;
            Ok((file, (PathBuf::from(name), Zeroizing::new(BASE64.encode(&bytes)))))
        });
        match packed {
            Ok((file, taken)) => {
                self.taken = Some(taken);
                let order = Seat::forgotten(&file, self.next_order());
                self.awaits = Some(Awaited::HandingOut(order.id));
                self.order(order, answer);
            }
            Err(why) => self.tell(UiEvent::Failed(clean_error(&why)), answer),
        }
    }

    /// Hands the file of the seat that was taken to the scripts, which save it.
    fn hand_out(&self, answer: &mut Answer) {
        let taken = self.taken.as_ref();
        answer.file = taken.map(|(path, file)| (path.display().to_string(), file.to_string()));
    }

    /// Takes in a seat that comes in a file.
    fn bring_seat(&mut self, file: &[u8], answer: &mut Answer) {
        let order = SeatFile::from_bytes(file).map_err(|why| why.to_string()).and_then(|file| {
            if !self.shell.context().joins {
                return Err("this page opens no connection; open the file in the page of a table".to_owned());
            }
            let id = self.next_order();
            let order = Seat::brought(&file, &self.kept, id)?;
            // The link that this page was opened with may know of newer doors.
            let invited = self.shell.context().invited.as_ref().and_then(|text| text.parse::<Ticket>().ok());
            let is_same =
                |ticket: &Ticket| (ticket.lobby(), ticket.host()) == (file.ticket().lobby(), file.ticket().host());
            let newer = invited.filter(is_same);
            Ok((order, newer.unwrap_or_else(|| file.ticket().clone())))
        });
        match order {
            Ok((order, ticket)) => {
                self.shell.to_first();
                self.awaits = Some(Awaited::Bringing(order.id, ticket));
                self.order(order, answer);
            }
            Err(why) => self.shell.toast(Tone::Bad, clean_error(&why)),
        }
    }

    /// A number for an order of this page itself, apart from those of its seats.
    fn next_order(&mut self) -> u64 {
        self.seats += 1;
        self.seats * APART
    }

    fn order(&mut self, order: StoreOrder, answer: &mut Answer) {
        self.writing.insert(order.id, order.clone());
        answer.store.push(order);
    }

    /// Sits down at a table, or watches it.
    fn take_seat(&mut self, target: &str, password: Option<Password>, watches: bool, answer: &mut Answer) {
        self.seats += 1;
        let seat = target.parse::<JoinTarget>().map_err(|why| why.to_string()).and_then(|target| {
            let name = self.shell.context().name().to_owned();
            let way = Way { target, name, password, origin: self.origin.clone(), first: self.seats * APART };
            match watches {
                true => Seat::watch(way, self.now, &mut self.rng),
                false => Seat::take(way, &self.kept, self.now, &mut self.rng),
            }
        });
        match seat {
            Ok(seat) => {
                self.ticket = target.parse().ok();
                self.seat = Some(seat);
            }
            Err(why) => self.tell(UiEvent::Failed(clean_error(&why)), answer),
        }
    }

    /// Goes to a table as soon as what this page keeps is known. A seat that it has elsewhere pauses.
    fn go_to(&mut self, awaited: Awaited, answer: &mut Answer) {
        self.leave_seat(answer);
        self.practice = None;
        self.awaits = Some(awaited);
    }

    /// Closes the connections of the seat; its table can be resumed.
    fn leave_seat(&mut self, answer: &mut Answer) {
        let Some(mut seat) = self.seat.take() else { return };
        self.notifier.leave();
        seat.command(Command::Quit, self.now, &mut self.rng);
        while seat.poll(self.now, &mut self.rng).is_some() {}
        seat.close();
        self.pass_on(&mut seat, answer);
    }

    /// Lets the seat do what is due, and tells the screens what has happened at its table.
    fn play_on(&mut self, answer: &mut Answer) {
        if let Some(seat) = &mut self.seat {
            seat.time(self.now, &mut self.rng);
        }
        while let Some(event) = self.seat.as_mut().and_then(|seat| seat.poll(self.now, &mut self.rng)) {
            if let SessionEvent::Over { transcript: Some(path), .. }
            | SessionEvent::Claimed { transcript: Some(path), .. } = &event
            {
                let transcript = self.seat.as_ref().and_then(|seat| seat.transcript(path));
                self.finished = transcript.map(|transcript| (path.clone(), transcript));
            }
            if let SessionEvent::Snapshot(shown) = &event {
                self.is_playing = !shown.game.is_over();
            }
            self.notifier.hear(&event, self.now.up);
            // A table may begin while nobody looks.
            if let (SessionEvent::Started { .. }, true, Some(seat)) = (&event, self.is_hidden, &mut self.seat) {
                seat.command(Command::Hidden(true), self.now, &mut self.rng);
            }
            self.tell(UiEvent::Session(event), answer);
        }
        let Some(mut seat) = self.seat.take() else { return };
        self.pass_on(&mut seat, answer);
        // The scripts carry orders out first.
        if answer.sockets.is_empty() && answer.store.is_empty() {
            seat.prepare();
        }
        if seat.has_ended() {
            self.notifier.leave();
            self.tell(UiEvent::SessionEnded, answer);
        } else {
            self.seat = Some(seat);
        }
    }

    /// Hands the orders of a seat to the scripts.
    fn pass_on(&mut self, seat: &mut Seat, answer: &mut Answer) {
        answer.sockets.extend(seat.take_sockets());
        for order in seat.take_store() {
            self.writing.insert(order.id, order.clone());
            answer.store.push(order);
        }
    }

    /// The database has answered.
    fn stored(&mut self, id: u64, fault: Option<NotStored>, answer: &mut Answer) {
        let order = self.writing.remove(&id);
        let is_awaited = |awaited: &mut Awaited| awaited.order() == Some(id);
        if let Some(NotStored { why, .. }) = &fault
            && let Some(awaited) = self.awaits.take_if(is_awaited)
        {
            // The seat stays where it was.
            self.taken = None;
            let why = clean_error(why);
            match awaited {
                Awaited::HandingOut(_) => self.tell(UiEvent::Failed(why), answer),
                _ => self.shell.toast(Tone::Bad, format!("The seat could not be taken in: {why}.")),
            }
        }
        if let Some(order) = order.filter(|_| fault.is_none()) {
            self.kept.retain(|key, _| !order.delete.iter().any(|gone| key.starts_with(gone.as_str())));
            self.kept.extend(order.put);
        }
        let fault = fault.map(|NotStored { full, why }| {
            let why = clean_error(&why);
            if full { StoreFault::Full(why) } else { StoreFault::Failed(why) }
        });
        if let Some(seat) = &mut self.seat {
            seat.stored(id, fault);
        }
    }

    /// Hands an input to the screens and carries out what they request.
    fn update(&mut self, input: Input, answer: &mut Answer) {
        for effect in self.shell.update(input) {
            self.carry_out(effect, answer);
        }
    }

    fn tell(&mut self, event: UiEvent, answer: &mut Answer) {
        self.update(Input::UiEvent(event), answer);
    }

    fn carry_out(&mut self, effect: Effect, answer: &mut Answer) {
        match effect {
            Effect::Open(opening) => self.open(&opening, answer),
            Effect::Session(command) if self.seat.is_some() => {
                if let Some(seat) = &mut self.seat {
                    seat.command(command, self.now, &mut self.rng);
                }
            }
            Effect::Session(command) => {
                let told = self.practice.as_mut().and_then(|practice| practice.answer(command));
                self.tell_session(told.into_iter().flatten(), answer);
                self.bots_due = Some(self.bot_delay());
            }
            Effect::CloseSession => {
                if self.seat.is_some() && self.lobby.is_some_and(|lobby| Seat::is_kept(lobby, &self.kept)) {
                    self.shell.toast(Tone::Plain, COME_BACK.to_owned());
                }
                self.awaits = None;
                self.leave_seat(answer);
                self.practice = None;
                self.bots_due = None;
            }
            Effect::Replay(_) => {
                if let Some(replay) = self.replay.clone() {
                    self.tell(UiEvent::Replay(replay), answer);
                }
            }
            Effect::Join { target, password } => match target.parse::<JoinTarget>() {
                Ok(JoinTarget::Ticket(ticket)) if Some(ticket.lobby()) != self.lobby => {
                    answer.go = Some(ticket.to_string());
                }
                _ => self.go_to(Awaited::Table(target, password, false), answer),
            },
            Effect::Watch { target, password } => self.go_to(Awaited::Table(target, password, true), answer),
            Effect::Audit(path) => self.check_finished(&path, answer),
            Effect::Copy(text) => answer.copy = Some(text),
            Effect::SavePage(path) => self.save_game(&path, answer),
            Effect::TakeSeat => match self.ticket.clone() {
                Some(ticket) => self.go_to(Awaited::Packing(ticket), answer),
                None => self.tell(UiEvent::Failed(ELSEWHERE.to_owned()), answer),
            },
            Effect::SaveSeat => self.hand_out(answer),
            Effect::DropSeat => self.taken = None,
            Effect::StopReading => self.check = None,
            Effect::PickFile => answer.pick = true,
            Effect::Save(settings) => answer.save = toml::to_string(&settings).ok(),
            Effect::Resume(_)
            | Effect::GiveUp(_)
            | Effect::Rematch(_)
            | Effect::SeatBot { .. }
            | Effect::People { .. }
            | Effect::Review(..) => self.tell(UiEvent::Failed(ELSEWHERE.to_owned()), answer),
            // A page has no files, so it writes no letters.
            Effect::Invite { .. } | Effect::SaveLetter { .. } | Effect::ReadLetter(_) | Effect::WriteLetter { .. } => {}
            Effect::LoadLibrary | Effect::Quit | Effect::Suspend => {}
        }
    }

    /// Deals a practice game.
    fn open(&mut self, opening: &Opening, answer: &mut Answer) {
        let options = opening.options.iter().cloned().collect();
        let mut seed = [0; 32];
        self.rng.fill_bytes(&mut seed);
        let opponents = Opponents {
            bots: (1..opening.seats).map(|_| opponent(&opening.game, opening.level)).collect(),
            level: opening.level.name().to_owned(),
        };
        let name = self.shell.context().name();
        let rules = rule_set(&opening.game, opening.seats, &options).map_err(|why| why.to_string());
        let dealt =
            rules.and_then(|rules| Practice::deal(&rules, name, opponents, seed).map_err(|why| why.to_string()));
        match dealt {
            Ok((practice, told)) => {
                self.practice = Some(practice);
                self.bots_due = Some(self.bot_delay());
                self.tell_session(told, answer);
            }
            Err(why) => self.tell(UiEvent::Failed(why), answer),
        }
    }

    fn bot_delay(&self) -> Duration {
        Duration::from_millis(self.shell.context().settings.bot_delay)
    }

    /// Lets a bot act once its time has come. Until something happens, bots that stay silent are not asked again.
    fn let_bots_act(&mut self, passed: Duration, answer: &mut Answer) {
        let Some(due) = self.bots_due else { return };
        self.bots_due = Some(due.saturating_sub(passed)).filter(|due| !due.is_zero());
        if self.bots_due.is_some() {
            return;
        }
        if let Some(told) = self.practice.as_mut().and_then(Practice::next_bot) {
            self.bots_due = Some(self.bot_delay());
            self.tell_session(told, answer);
        }
    }

    fn tell_session(&mut self, events: impl IntoIterator<Item = SessionEvent>, answer: &mut Answer) {
        for event in events {
            self.tell(UiEvent::Session(event), answer);
        }
    }

    /// Begins to check a file, on a screen of its own.
    fn check(&mut self, name: &str, file: &[u8], answer: &mut Answer) {
        if self.practice.is_some() || self.seat.is_some() {
            let why = "Leave this game first, then open the file again.".to_owned();
            return self.shell.toast(Tone::Plain, why);
        }
        if self.awaits.is_some() {
            return self.shell.toast(Tone::Plain, "One moment, then open the file again.".to_owned());
        }
        if SeatFile::is_meant(file) {
            return self.bring_seat(file, answer);
        }
        self.open_audit(name);
        match Transcript::from_bytes(file) {
            Ok(transcript) => self.begin_check(Arc::new(transcript), answer),
            Err(why) => self.tell(UiEvent::Failed(clean_error(&why.to_string())), answer),
        }
    }

    /// Begins to check a game, and hands it to other workers for their slices.
    fn begin_check(&mut self, transcript: Arc<Transcript>, answer: &mut Answer) {
        let file = transcript.to_bytes().unwrap_or_default();
        let slices = check::slices(file.len(), self.cores);
        match Check::new(transcript, slices, self.now.up) {
            Ok(check) => {
                self.check = Some(check);
                self.checks += 1;
                if slices.get() > 1 {
                    let (check, of) = (self.checks, slices.get());
                    answer.split = Some(Split { check, of, file });
                }
            }
            Err(why) => self.tell(UiEvent::Failed(clean_error(&why.to_string())), answer),
        }
    }

    /// Begins to check the game that this page has played, on the screen that asks for it.
    fn check_finished(&mut self, path: &Path, answer: &mut Answer) {
        self.replay = None;
        let transcript = self.finished.as_ref().filter(|(finished, _)| finished == path);
        match transcript.map(|(_, transcript)| Arc::clone(transcript)) {
            Some(transcript) => self.begin_check(transcript, answer),
            None => self.tell(UiEvent::Failed(ELSEWHERE.to_owned()), answer),
        }
    }

    /// Hands the game that this page has played to the scripts, which save it inside a page like this one.
    fn save_game(&mut self, path: &Path, answer: &mut Answer) {
        let Some((_, transcript)) = self.finished.as_ref().filter(|(finished, _)| finished == path) else {
            return self.tell(UiEvent::Failed(ELSEWHERE.to_owned()), answer);
        };
        match transcript.to_bytes() {
            Ok(bytes) => {
                answer.game = Some((path.display().to_string(), BASE64.encode(&bytes)));
                self.tell(UiEvent::SavedPage(path.with_extension("html")), answer);
            }
            Err(why) => self.tell(UiEvent::Failed(clean_error(&why.to_string())), answer),
        }
    }

    /// Says why a file is not checked, in place of the last verdict: that would seem to be about this file.
    fn refuse(&mut self, name: &str, why: &str, answer: &mut Answer) {
        let why = clean_error(why);
        if self.practice.is_some() || self.seat.is_some() || self.awaits.is_some() {
            let text = format!("{} cannot be checked: {why}.", clean(name));
            return self.shell.toast(Tone::Bad, text);
        }
        self.open_audit(name);
        self.tell(UiEvent::Failed(why), answer);
    }

    /// Opens the screen of a file's audit in place of the last one.
    fn open_audit(&mut self, name: &str) {
        self.check = None;
        self.replay = None;
        self.shell.to_first();
        self.shell.push(Box::new(Audit::of(PathBuf::from(clean(name)))));
    }

    /// Checks some more steps.
    fn work(&mut self, steps: u32, answer: &mut Answer) {
        let Some(mut check) = self.check.take() else {
            return;
        };
        for _ in 0..steps {
            match check.step(self.now.up) {
                ControlFlow::Continue(more) => check = more,
                ControlFlow::Break(replay) => {
                    let audited = Audited {
                        report: replay.report().clone(),
                        names: replay.names().to_vec(),
                        seating: replay.seating().clone(),
                        terms: replay.terms().clone(),
                    };
                    self.replay = Some(Arc::from(replay));
                    return self.tell(UiEvent::Audited(Box::new(audited)), answer);
                }
            }
        }
        let progress = check.so_far();
        self.check = Some(check);
        if let Some(progress) = progress {
            self.tell(UiEvent::Checking(progress), answer);
        }
    }

    /// The screen's name, the thing in focus, what the screen tells and the newest toast, for a screen reader. Focus
    /// comes early: it changes with every key, and the next key silences the rest.
    fn said(&self) -> String {
        let screen = self.shell.trail().pop().unwrap_or_default();
        let buffer = self.screen.backend().buffer();
        let area = self.shell.focus().and_then(|target| self.shell.layer().area(target));
        let focus = area.map(|area| text_in(buffer, area)).unwrap_or_default();
        let toast = self.shell.newest_toast().unwrap_or_default();
        let parts = [screen.as_str(), &focus, &self.shell.spoken(), toast]
            .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        parts
            .iter()
            .map(|part| part.trim_end_matches('.'))
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(". ")
    }

    /// When the next tick is due.
    fn pace(&self) -> Option<Duration> {
        let wake = self.seat.as_ref().and_then(Seat::wake);
        let wake = wake.map(|wake| Duration::from_millis(wake.saturating_sub(self.now.up)));
        let news = self.has_news.then_some(FRAME);
        let rest = self.check.as_ref().and_then(|check| check.rests(self.now.up)).map(Duration::from_millis);
        self.shell.pace().into_iter().chain(self.bots_due).chain(wake).chain(news).chain(rest).min()
    }

    /// Draws a frame: what differs from the last one.
    fn draw(&mut self) -> Frame {
        self.has_news = false;
        let Ok(_) = self.screen.draw(|frame| self.shell.draw(frame));
        let buffer = self.screen.backend().buffer();
        let (columns, rows) = (buffer.area.width, buffer.area.height);
        let (ground, changed) = svg::changes(buffer, self.shown.as_ref());
        let said = self.said();
        self.shown = Some(buffer.clone());
        Frame {
            columns,
            rows,
            ink: if is_light(&ground) { INKS.1 } else { INKS.0 }.to_owned(),
            ground,
            changed,
            screen: self.shell.trail().pop().unwrap_or_default(),
            said,
            buttons: self.shell.layer().buttons.iter().map(|(words, _)| words.clone()).collect(),
            types: self.shell.takes_text(),
            sign: self.notifier.title().unwrap_or_default().to_owned(),
            plays: self.is_playing && self.seat.is_some(),
        }
    }
}

fn text_in(buffer: &Buffer, area: Rect) -> String {
    let mut text = String::new();
    for y in area.y..area.bottom() {
        let mut x = area.x;
        while let Some(cell) = buffer.cell((x, y)).filter(|_| x < area.right()) {
            text.push_str(cell.symbol());
            x += svg::columns(cell);
        }
    }
    text
}

/// Refuses a text that is no ticket, in words.
fn check_target(text: &str) -> Result<(), String> {
    let target = text.parse::<JoinTarget>().map_err(|why| why.to_string())?;
    target.lobby().map(|_| ()).ok_or_else(|| "a browser joins a table by its ticket, which begins with fd1".to_owned())
}

/// Whether a colour, as `#rrggbb`, is nearer to white than to black.
fn is_light(colour: &str) -> bool {
    let parts = colour.get(1..).and_then(|digits| HEXLOWER.decode(digits.as_bytes()).ok());
    let sum: u32 = parts.iter().flatten().map(|part| u32::from(*part)).sum();
    sum > 3 * 128
}

/// A bot of the page.
fn opponent(game: &str, level: Level) -> Box<dyn Bot<AnyGame>> {
    match level {
        Level::Sharp => sharp_bot(Budget::iterations(playouts(game))),
        level => bot(level),
    }
}

fn fitting(columns: u16, rows: u16) -> (u16, u16) {
    (columns.clamp(LEAST.0, MOST.0), rows.clamp(LEAST.1, MOST.1))
}

/// The key with this name; `None` for one that nothing listens to.
fn key(pressed: &Pressed) -> Option<KeyCode> {
    Some(match pressed.key.as_str() {
        "ArrowUp" => KeyCode::Up,
        "ArrowDown" => KeyCode::Down,
        "ArrowLeft" => KeyCode::Left,
        "ArrowRight" => KeyCode::Right,
        "Tab" if pressed.shift => KeyCode::BackTab,
        "Tab" => KeyCode::Tab,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "Enter" => KeyCode::Enter,
        "Escape" => KeyCode::Esc,
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        name => {
            let mut letters = name.chars();
            match (letters.next(), letters.as_str()) {
                (Some(letter), "") if !letter.is_control() => KeyCode::Char(letter),
                (Some('F'), number) => KeyCode::F(number.parse().ok()?),
                _ => return None,
            }
        }
    })
}
