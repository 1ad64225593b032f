//! The running interface: it owns the terminal and the session, and carries out what the screens request.
//!
//! The terminal is restored in every case: on return, on an error, on a panic, on SIGTERM or SIGHUP, and while the program
//! is stopped.

pub mod kept;
mod letters;
pub(super) mod mail;
mod open_tables;
mod reading;

use std::io::stdout;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, game_info, rule_set};
use fairdeal_net::{Transport, everywhere};
use fairdeal_peers::address::leads_to;
use fairdeal_peers::ticket::{JoinError, JoinTarget, Ticket};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::audit::progress::audit_with;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::timing::Timing;
use fairdeal_session::terms::Terms;
use fairdeal_session::text::{player_names, reasons};
use fairdeal_session::view::{PeerState, Seating};
use fairdeal_ui::app::event::{Audited, Input, UiEvent};
use fairdeal_ui::app::screen::{Context, Effect, Library, Opening, Tone};
use fairdeal_ui::app::screens::home::{Home, arrived};
use fairdeal_ui::app::screens::puzzle::PuzzleScreen;
use fairdeal_ui::app::screens::replay::ReplayScreen;
use fairdeal_ui::app::screens::table::TableScreen;
use fairdeal_ui::app::screens::welcome::Welcome;
use fairdeal_ui::app::shell::Shell;
use fairdeal_ui::input::UserInput;
use fairdeal_ui::keys::Keymap;
use fairdeal_ui::theme::Themes;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::kept::with_kept;
use self::letters::Letters;
pub use self::mail::LastMail;
use self::mail::Mail;
use crate::drive::finder::{Company, Finder, Sources};
use crate::drive::listening::with_doors;
use crate::drive::lobbies::enclosed;
use crate::drive::local_bots::{BotOf, BotOrder};
use crate::drive::people::Acquaintances;
use crate::drive::practice;
use crate::drive::saved::give_up;
use crate::drive::start::Place;
use crate::drive::tables::PlayedTable;
use crate::drive::wish::{Secret, Whereabouts, Wish};
use crate::drive::{Handle, now};
use crate::hands::hands;
use crate::herald::Herald;
use crate::keeper::client::KeeperClient;
use crate::keeper::wire::KeptTable;
use crate::letter_files::Tables;
use crate::replay_page::with_game;
use crate::signals::Signals;
use crate::store::{Settings, transcript_bytes, write_out};
use crate::table_page::table_page;
use crate::tui::environment::variable;
use crate::tui::job_control::{Job, JobControl, has_shell, stop_job};
use crate::tui::signs::{Abilities, Signs};
use crate::tui::terminal::{Heard, Screen, heard};
use crate::tui::{Data, Interface, Start, TableOutcome, TuiError, background, clipboard};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::notify::{Notification, Notifier};
use fairdeal_session::setup::{ListenConfig, Pilot};

/// A terminal that takes longer to accept a frame is at the end of a slow link: nothing moves there.
const SLOW: Duration = Duration::from_millis(150);
/// The most inputs to handle before the next frame.
const AT_ONCE: usize = 256;
/// How long the first frame waits for the terminal to tell its background.
const ANSWER: Duration = Duration::from_millis(30);
/// How often a screen gets the progress of reading a transcript.
const TELLING: Duration = Duration::from_millis(30);
/// How long the old session stays open to deliver an invitation to everybody.
const INVITING: Duration = Duration::from_secs(3);

/// After this time without a key, a player whose terminal does not tell its focus may look elsewhere.
const IDLE: Duration = Duration::from_secs(60);

/// Everything around the screens: session, LAN browser, background work.
struct App {
    interface: Interface,
    live: Option<PlayedTable>,
    /// The settings as last read or saved.
    saved: Settings,
    /// How well the bots play that join the lobby of the table opened here.
    level: Level,
    /// Set to stop reading the current transcript: nobody waits for it.
    reading: Arc<AtomicBool>,
    /// The session of the previous table, until its players have been invited to the next.
    inviting: Option<PlayedTable>,
    /// Where tables listen, if it was given when the first one was opened.
    place: Option<ListenConfig>,
    finder: Option<Finder>,
    /// The other players of the saved games, for the finder.
    company: watch::Sender<Company>,
    /// The meeting points of the settings.
    points: Vec<Multiaddr>,
    /// Whether there may be a network to browse.
    browses: bool,
    /// How often the data directory has been read. An older reading stops when this number changes.
    readings: Arc<AtomicU64>,
    /// Sessions that are closing.
    closing: Vec<tokio::task::JoinHandle<()>>,
    back: mpsc::Sender<Input>,
    ending: TableOutcome,
    names: Vec<String>,
    /// The player's seat at the last table.
    me: Option<Seat>,
    /// The signs for a player who looks elsewhere.
    notifier: Notifier,
    herald: Herald,
    /// The tables that the keeper holds, and the list of the data directory beside them.
    kept: Vec<KeptTable>,
    library: Library,
    /// The visits of the meeting points, and the signs that they have brought.
    mail: Mail,
    letter_signs: Vec<Notification>,
    /// Whether this is not for one table, replay or puzzle alone.
    shows_home: bool,
    /// The signs of the terminal, once it is known which it has.
    signs: Option<Signs>,
    /// When the last key was pressed.
    last_key: Instant,
}

/// Refuses a text that is no ticket and no address, in words.
fn check_target(text: &str) -> Result<(), String> {
    match text.parse::<JoinTarget>() {
        Ok(_) => Ok(()),
        Err(JoinError::Address(_)) => {
            Err("This is not an address. One looks like this: /ip4/192.0.2.7/tcp/4001/p2p/12D3KooW...".to_owned())
        }
        Err(why) => Err(why.to_string()),
    }
}

/// Runs the interface until the player leaves it. Returns how the last table ended, and what is left to do for the mail.
///
/// # Errors
/// [`TuiError`] if the terminal fails.
pub async fn run(interface: Interface, start: Start) -> Result<(TableOutcome, Option<LastMail>), TuiError> {
    let (settings, setting_complaints) = interface.data.view().settings();
    let (keymap, keys_complaint) = match Keymap::new(&settings.keys) {
        Ok(keymap) => (keymap, None),
        Err(why) => (Keymap::default(), Some(why.to_string())),
    };
    let people = interface.data.view().people().unwrap_or_default();
    let people_complaint = interface.data.view().people_complaint();
    // A new player gets an identity with the first table.
    let own_key = interface.data.view().known_identity().ok().flatten();
    let (own, theme_complaints) = interface.data.view().own_themes(&settings.theme);
    let mut context = Context {
        given: interface.name.clone(),
        keymap,
        themes: Themes { own, is_light: background::from_environment(variable) },
        ascii: interface.ascii,
        few_glyphs: interface.few_glyphs,
        stops: has_shell(),
        user: interface.user.clone(),
        today: (interface.today)(),
        people,
        own_key: own_key.map(|own| PeerId::of(&own.signing_key())),
        check_target,
        serves_page: table_page().is_some(),
        is_kept: interface.data.keeper().is_some(),
        ..Context::new(settings, interface.depth)
    };
    context.dress();
    let data_complaint = interface.data.complaint();
    let can_save = interface.data.shared().is_ok();
    let (points, wrong_points) = context.settings.points();
    let point_complaints = wrong_points.iter().map(|why| format!("meet: {why}"));
    let (back, inputs) = mpsc::channel(64);
    let complaints_to = back.clone();
    let herald = Herald::start(context.settings.notify.clone(), move |why| {
        let _ = complaints_to.blocking_send(Input::UiEvent(UiEvent::Failed(why)));
    });
    let (mail, visits) = Mail::new();
    let mut app = App {
        interface,
        live: None,
        saved: context.settings.clone(),
        level: context.settings.bot_level,
        reading: Arc::default(),
        inviting: None,
        place: None,
        finder: None,
        company: watch::Sender::new(Company::new()),
        points,
        browses: matches!(start, Start::Home),
        readings: Arc::default(),
        closing: Vec::new(),
        back,
        ending: TableOutcome::Left,
        names: Vec::new(),
        me: None,
        notifier: Notifier::new(context.settings.remind()),
        herald,
        kept: Vec::new(),
        library: Library::default(),
        mail,
        letter_signs: Vec::new(),
        shows_home: matches!(start, Start::Home),
        signs: None,
        last_key: Instant::now(),
    };
    let mut shell = match start {
        // A name that cannot be saved would be asked for at every start.
        Start::Home if can_save && setting_complaints.is_empty() && Welcome::is_due(&context) => {
            let welcome = Welcome::default();
            Shell::new(context, Box::new(welcome))
        }
        Start::Home => Shell::new(context, Box::new(Home::default())),
        Start::Replay(path) => {
            app.read_replay(path);
            Shell::new(context, Box::<ReplayScreen>::default())
        }
        Start::Puzzle { game, number } => match PuzzleScreen::open(game, number, &context) {
            Ok(screen) => Shell::new(context, Box::new(screen)),
            Err(why) => {
                let mut shell = Shell::new(context, Box::new(Home::default()));
                shell.toast(Tone::Bad, why.to_string());
                shell
            }
        },
        Start::Table(mut table) => {
            let local = table.local;
            app.place = table.place.take();
            app.live = Some(table);
            Shell::new(context, Box::new(TableScreen::new("table", local)))
        }
    };
    let file_complaints = setting_complaints.iter().chain(&theme_complaints).map(ToString::to_string);
    let complaints = [data_complaint, keys_complaint, people_complaint].into_iter().flatten();
    for complaint in file_complaints.chain(complaints).chain(point_complaints) {
        shell.toast(Tone::Bad, complaint);
    }
    app.load_library();
    let lists = app.interface.data.keeper().map(KeeperClient::follow);
    let shown = show(&mut app, &mut shell, (inputs, visits), lists).await;
    // However the screens end, sessions close their connections before the program ends.
    app.close();
    for closing in std::mem::take(&mut app.closing) {
        let _ = closing.await;
    }
    shown?;
    let mail = app.interface.data.open().ok().and_then(|data| app.mail.last(data, &app.points));
    Ok((app.ending, mail))
}

/// Takes the terminal, and shows the screens until the player leaves or the terminal is gone.
async fn show(
    app: &mut App,
    shell: &mut Shell,
    (mut inputs, mut visits): (mpsc::Receiver<Input>, mpsc::Receiver<Vec<Notification>>),
    mut lists: Option<mpsc::Receiver<Vec<KeptTable>>>,
) -> std::io::Result<()> {
    let mut screen = Screen::open()?;
    let mut keys = heard();
    let mut abilities = abilities();
    let mut first = None;
    if background::ask(variable)? {
        // The first frame has the right colours. A later answer changes the colours on the screen. Without colours, a QR
        // code still has to be dark on light.
        first = timeout(ANSWER, keys.recv()).await.ok().flatten();
        if let Some(Heard::Input(answer)) = first.take_if(|heard| matches!(heard, Heard::Input(Input::Background(_)))) {
            shell.update(answer);
        }
    }
    let mut signals = Signals::new()?;
    let mut jobs = JobControl::new()?;
    let mut drawn = Instant::now();
    loop {
        let began = Instant::now();
        screen.terminal.draw(|frame| shell.draw(frame))?;
        if began.elapsed() > SLOW {
            shell.set_slow();
        }
        // Browse after the first frame: the network must not delay it.
        app.browse(shell);
        app.visit_if_due();
        let visits_at = app.visits_at();
        let pace = shell.pace();
        let wake = pace.map(|pace| drawn + pace);
        app.give_signs(shell)?;
        let looks_at = app.looks_at();
        let input = match first.take() {
            Some(heard) => app.sense(heard),
            None => tokio::select! {
                job = jobs.recv() => {
                    if job == Job::Stop {
                        app.drop_title()?;
                        screen.give_back()?;
                        jobs.stop().await?;
                    }
                    screen.take_again()?;
                    Some(Input::User(UserInput::Redraw))
                }
                input = app.next() => Some(input),
                Some(input) = inputs.recv() => Some(app.beside_kept(input)),
                list = next_list(&mut lists) => app.kept_change(list),
                heard = keys.recv() => match heard {
                    Some(heard) => app.sense(heard),
                    // The terminal may be gone.
                    None => {
                        let _ = app.drop_title();
                        return Ok(());
                    }
                },
                Ok(found) = &mut abilities, if app.signs.is_none() => {
                    app.signs = Some(Signs::new(found));
                    None
                }
                () = sleep_until(visits_at.unwrap_or(drawn)), if visits_at.is_some() => None,
                Some(signs) = visits.recv() => {
                    app.mail.ended();
                    app.letter_signs.extend(signs);
                    app.load_library();
                    None
                }
                () = sleep_until(looks_at.unwrap_or(drawn)), if looks_at.is_some() => {
                    app.look_away();
                    None
                }
                () = sleep_until(wake.unwrap_or(drawn)), if wake.is_some() => {
                    let now = Instant::now();
                    let passed = now - drawn;
                    drawn = now;
                    Some(Input::Tick(passed))
                }
                () = signals.recv() => {
                    let _ = app.drop_title();
                    return Ok(());
                }
            },
        };
        if pace.is_none() {
            // Animations start now, not at the last frame.
            drawn = Instant::now();
        }
        // The program may stay open past midnight.
        shell.set_day((app.interface.today)());
        let mut leave = input.is_some_and(|input| app.take_in(shell, input));
        for _ in 0..AT_ONCE {
            let more = match keys.try_recv() {
                Ok(heard) => app.sense(heard),
                Err(_) => match app.try_next() {
                    Some(input) => Some(input),
                    None => break,
                },
            };
            leave |= more.is_some_and(|input| app.take_in(shell, input));
        }
        if leave {
            return app.drop_title();
        }
    }
}

/// Finds out what the terminal can do for a player who looks elsewhere. A tmux that hangs must not hold up the program's
/// end.
fn abilities() -> oneshot::Receiver<Abilities> {
    let (found, abilities) = oneshot::channel();
    std::thread::spawn(move || found.send(Abilities::of(variable)));
    abilities
}

/// The next list of the keeper's tables; for ever none without a keeper. An empty one once the keeper has ended.
async fn next_list(lists: &mut Option<mpsc::Receiver<Vec<KeptTable>>>) -> Vec<KeptTable> {
    let Some(open) = lists else { return std::future::pending().await };
    let list = open.recv().await;
    if list.is_none() {
        *lists = None;
    }
    list.unwrap_or_default()
}

impl App {
    /// Shows the tables that the keeper holds before the saved ones of the data directory.
    fn beside_kept(&mut self, input: Input) -> Input {
        match input {
            Input::Library(library) => {
                self.library = library;
                Input::Library(with_kept(&self.library, &self.kept))
            }
            input => input,
        }
    }

    fn kept_change(&mut self, list: Vec<KeptTable>) -> Option<Input> {
        // A game that is over is in the history now.
        if list.len() < self.kept.len() {
            self.load_library();
        }
        self.kept = list;
        Some(Input::Library(with_kept(&self.library, &self.kept)))
    }

    /// Takes what the terminal reports. Returns the input for the screens.
    fn sense(&mut self, heard: Heard) -> Option<Input> {
        let tells_focus = self.signs.as_ref().is_some_and(Signs::tells_focus);
        match heard {
            Heard::Focus(is_looking) => {
                self.notifier.look(is_looking, now().up);
                None
            }
            Heard::Input(input) => {
                self.last_key = Instant::now();
                if !tells_focus {
                    self.notifier.look(true, now().up);
                }
                Some(input)
            }
        }
    }

    /// When to look after the player who may look elsewhere: at the next reminder, and, where the terminal does not tell
    /// its focus, some time after the last key.
    fn looks_at(&self) -> Option<Instant> {
        let left = |at: u64| Duration::from_millis(at.saturating_sub(now().up));
        let remind = self.notifier.wake().map(|at| Instant::now() + left(at));
        let guesses = self.notifier.is_looking() && self.signs.as_ref().is_some_and(|signs| !signs.tells_focus());
        remind.into_iter().chain(guesses.then_some(self.last_key + IDLE)).min()
    }

    fn look_away(&mut self) {
        let guesses = self.signs.as_ref().is_some_and(|signs| !signs.tells_focus());
        if guesses && self.last_key.elapsed() >= IDLE {
            self.notifier.look(false, now().up);
        }
        self.notifier.time(now().up);
    }

    /// Gives the signs that are due, in the terminal and by the player's command.
    fn give_signs(&mut self, shell: &Shell) -> std::io::Result<()> {
        let (theme, rings) = (&shell.context().theme, self.saved.bell);
        if let Some(signs) = &mut self.signs {
            signs.entitle(self.notifier.title(), theme, &mut stdout().lock())?;
        }
        let letters = std::mem::take(&mut self.letter_signs).into_iter();
        for sign in std::iter::from_fn(|| self.notifier.poll()).chain(letters) {
            self.herald.tell(&sign);
            if let Some(signs) = self.signs.as_ref().filter(|_| rings) {
                signs.ring(&sign.text, &mut stdout().lock())?;
            }
        }
        Ok(())
    }

    /// Gives the window its own title back.
    fn drop_title(&mut self) -> std::io::Result<()> {
        self.signs.as_mut().map_or(Ok(()), |signs| signs.give_back(&mut stdout().lock()))
    }

    /// Waits for the next event of the session or of the LAN.
    async fn next(&mut self) -> Input {
        match (&mut self.live, &mut self.finder) {
            (Some(live), _) => match live.handle.events.recv().await {
                Some(event) => Input::UiEvent(UiEvent::Session(event)),
                None => {
                    self.live = None;
                    Input::UiEvent(UiEvent::SessionEnded)
                }
            },
            (None, Some(finder)) => Input::Lan(Some(open_tables::next(finder, &self.points).await)),
            (None, None) => std::future::pending().await,
        }
    }

    fn try_next(&mut self) -> Option<Input> {
        let event = self.live.as_mut()?.handle.events.try_recv().ok()?;
        Some(Input::UiEvent(UiEvent::Session(event)))
    }

    /// Handles an input and carries out its effects. Returns whether the program ends.
    fn take_in(&mut self, shell: &mut Shell, input: Input) -> bool {
        match &input {
            Input::UiEvent(UiEvent::Session(event)) => {
                self.note(event);
                self.notifier.hear(event, now().up);
            }
            Input::UiEvent(UiEvent::SessionEnded) => self.notifier.leave(),
            Input::Lan(Some(listing)) => {
                for (game, names) in arrived(shell.context(), &listing.others) {
                    self.notifier.find(&names, &game);
                }
            }
            _ => {}
        }
        let mut leave = false;
        for effect in shell.update(input) {
            leave |= matches!(effect, Effect::Quit);
            if let Err(why) = self.carry_out(shell, effect) {
                shell.update(Input::UiEvent(UiEvent::Failed(reasons(why.as_ref()))));
            }
        }
        leave
    }

    /// Records how the table ends, to be printed after the interface has closed.
    fn note(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Started { names, table, me, .. } => {
                self.names.clone_from(names);
                self.me = *me;
                if me.is_some() {
                    let is_kept = self.interface.data.keeper().is_some();
                    self.ending = if is_kept { TableOutcome::Kept(Some(*table)) } else { TableOutcome::Paused(*table) };
                }
            }
            SessionEvent::Peer { seat, state: PeerState::Left } if Some(*seat) == self.me => {
                self.ending = TableOutcome::Left;
            }
            SessionEvent::Lobby(view) => {
                if self.interface.data.keeper().is_some() {
                    self.ending = TableOutcome::Kept(None);
                }
                let ticket = view.ticket.as_ref().and_then(|ticket| ticket.parse().ok());
                if let Some(ticket) = ticket {
                    self.opened(&ticket);
                }
            }
            SessionEvent::Snapshot(snapshot) => self.names.clone_from(&snapshot.names),
            // What could not be saved was told before, and is the last word.
            SessionEvent::Over { .. } if matches!(self.ending, TableOutcome::Failed(_)) => {}
            SessionEvent::Over { scores, transcript, .. } => {
                self.ending = TableOutcome::Over {
                    scores: self.names.iter().cloned().zip(scores.iter().copied()).collect(),
                    transcript: transcript.clone(),
                };
            }
            SessionEvent::Fault { stopped: true, what, .. } => self.stopped(format!("the table has stopped: {what}")),
            SessionEvent::Claimed { .. } => self.stopped("the table was closed, the game is unfinished".to_owned()),
            SessionEvent::Error(why) => self.ending = TableOutcome::Failed(why.clone()),
            _ => {}
        }
    }

    /// The table has stopped. What could not be saved was told before, and follows the reason.
    fn stopped(&mut self, mut why: String) {
        if let TableOutcome::Failed(unsaved) = &self.ending {
            why.push('\n');
            why.push_str(unsaved);
        }
        self.ending = TableOutcome::Failed(why);
    }

    /// The table hosted here is reachable under this ticket. Invites the players of the previous table to it.
    fn opened(&mut self, ticket: &Ticket) {
        if let Some(live) = &mut self.live {
            live.told = ticket.addresses().to_vec();
        }
        // The new table takes over a fixed port, such as one that a router forwards, once the old session frees it.
        // Addresses with that port stay valid.
        let listening = self.said().map_or_else(Vec::new, |place| place.listen.clone());
        let Some(old) = self.inviting.take() else {
            return;
        };
        let mut before = old.told.clone();
        before.retain(|address| leads_to(address, &listening));
        let invitation = ticket.found_at(&before).as_ref().unwrap_or(ticket).to_string();
        self.part(old, Some(invitation));
    }

    /// Where tables listen, if configured. A rematch listens where the previous table did.
    fn said(&self) -> Option<&ListenConfig> {
        let before = self.inviting.as_ref().and_then(|old| old.place.as_ref());
        before.or(self.place.as_ref())
    }

    fn carry_out(&mut self, shell: &mut Shell, effect: Effect) -> anyhow::Result<()> {
        match effect {
            Effect::Open(opening) => self.open(shell.context(), &opening),
            Effect::Join { target, password } => {
                let mut place = self.place(Transport::Sockets)?;
                place.meet.clone_from(&self.points);
                let (name, password) = (shell.context().name().to_owned(), password.as_ref().map(Secret::of));
                self.sit(Wish::Join { name, target, password, place: Whereabouts::from(&place) })
            }
            Effect::Watch { target, password } => {
                self.sit(Wish::Watch { target, password: password.as_ref().map(Secret::of) })
            }
            Effect::Resume(table) => self.sit(Wish::Resume { table, friend: None }),
            Effect::Rematch(opening) => {
                if self.live.as_ref().is_some_and(|live| live.has_moved) {
                    anyhow::bail!(
                        "this seat came from a browser, under another key than yours: open a new table on the first screen, \
                         and send its ticket"
                    );
                }
                // The old session stays open until it has sent the invitation.
                self.inviting = self.live.take();
                let opened = self.open(shell.context(), &opening);
                match (&mut self.live, &self.inviting) {
                    (Some(live), Some(old)) => live.place.clone_from(&old.place),
                    // The old session has ended by itself, so it cannot invite anybody.
                    (Some(_), None) => {}
                    (None, _) => self.live = self.inviting.take(),
                }
                opened
            }
            Effect::SeatBot { ticket, number } => {
                let bot = pilot(self.level, &shell.context().settings);
                let local_bots = self.live.as_ref().and_then(|live| live.local_bots.clone());
                if let Some(local_bots) = local_bots {
                    local_bots.seat(BotOrder { ticket, number, bot: bot.into() })?;
                }
                Ok(())
            }
            Effect::Session(command) => {
                if command == Command::Leave && self.ending == TableOutcome::Kept(None) {
                    self.ending = TableOutcome::Left;
                }
                let sent = self.live.as_ref().map(|live| live.handle.commands.try_send(command));
                match sent {
                    Some(Err(TrySendError::Full(_))) => {
                        anyhow::bail!("the table is busy; try again")
                    }
                    // A session that has ended reports that by an event.
                    _ => Ok(()),
                }
            }
            Effect::CloseSession => {
                self.close();
                Ok(())
            }
            Effect::GiveUp(table) => {
                if let Data::Kept(_, keeper) = &self.interface.data {
                    let (keeper, back, reader) = (keeper.clone(), self.back.clone(), self.library_reader());
                    tokio::spawn(async move {
                        if let Err(why) = keeper.give_up(table).await {
                            let _ = back.send(Input::UiEvent(UiEvent::Failed(why.to_string()))).await;
                        }
                        tokio::task::spawn_blocking(move || reader.read());
                    });
                    return Ok(());
                }
                let data = self.interface.data.open()?;
                let turn = data.at_desk();
                give_up(data, &table)?;
                drop(turn);
                self.load_library();
                Ok(())
            }
            Effect::LoadLibrary => {
                self.load_library();
                Ok(())
            }
            Effect::Copy(text) => {
                if let Some(copied) = clipboard::copy(text, variable, self.back.clone())? {
                    shell.update(Input::UiEvent(UiEvent::Copied(copied)));
                }
                Ok(())
            }
            // A terminal's seat stays in its data directory.
            Effect::TakeSeat | Effect::SaveSeat | Effect::DropSeat => Ok(()),
            Effect::SavePage(transcript) => {
                let name = transcript.file_name().unwrap_or_default().to_string_lossy();
                let page = with_game(&transcript_bytes(&transcript)?, &name)?;
                let path = transcript.with_extension("html");
                write_out(&path, page.as_bytes(), &transcript, true)?;
                shell.update(Input::UiEvent(UiEvent::SavedPage(path)));
                Ok(())
            }
            Effect::SaveLetter { table, to, reader, sealed } => {
                let view = self.interface.data.view();
                let sealed = enclosed(view, &table, to, sealed)?;
                let path = letters::save(view, &table, (to, &reader), &sealed)?;
                shell.update(Input::UiEvent(UiEvent::SavedLetter(reader, path)));
                Ok(())
            }
            Effect::Invite { game, seats, options } => {
                self.letters(shell)?.invite(game, seats, options);
                Ok(())
            }
            Effect::ReadLetter(path) => {
                self.letters(shell)?.read(path);
                Ok(())
            }
            Effect::WriteLetter { table, to, reader } => {
                self.letters(shell)?.write(table, to, reader);
                Ok(())
            }
            Effect::Suspend => {
                stop_job()?;
                Ok(())
            }
            Effect::Audit(path) => {
                self.read(path, |transcript, reading| {
                    let charter = transcript.charter().charter();
                    let (names, seating) = (player_names(charter), Seating::of(charter));
                    let terms = Terms::of(charter);
                    let report = audit_with::<AnyGame>(transcript, hands(), &mut |progress| reading.tell(progress));
                    let audited = |report| Audited { report, names, seating, terms };
                    report.map(|report| UiEvent::Audited(Box::new(audited(report))))
                });
                Ok(())
            }
            Effect::Replay(path) => {
                self.read_replay(path);
                Ok(())
            }
            Effect::Review(path, me) => {
                self.read_review(path, me);
                Ok(())
            }
            Effect::StopReading => {
                self.reading.store(true, Ordering::Relaxed);
                Ok(())
            }
            Effect::PickFile => Ok(()),
            Effect::People { key, announced, change } => {
                let data = self.interface.data.shared()?;
                let book = data.change_people(|book| book.change(key, announced.as_deref(), &change))?;
                shell.update(Input::People(book));
                if let Some(finder) = &mut self.finder {
                    finder.arrange();
                    shell.update(Input::Lan(Some(open_tables::listing(finder, &self.points))));
                }
                Ok(())
            }
            Effect::Save(settings) => {
                self.interface.data.shared()?.change_settings(&self.saved, &settings)?;
                if settings.meet != self.saved.meet {
                    // The next look at the network asks the new ones.
                    (self.points, _) = settings.points();
                    self.finder = None;
                }
                self.saved = settings;
                Ok(())
            }
            Effect::Quit => Ok(()),
        }
    }

    /// The letters of the player's tables.
    fn letters(&self, shell: &Shell) -> anyhow::Result<Letters> {
        let live = self.live.as_ref().and_then(|live| live.handle.post.clone());
        let tables = match &self.interface.data {
            Data::Kept(view, keeper) => Tables::Kept(view.clone(), keeper.clone()),
            data => Tables::Own(Arc::clone(data.open()?), live),
        };
        let reader = self.library_reader();
        let me = shell.context().name().to_owned();
        Ok(Letters { tables, me, back: self.back.clone(), rereads: Box::new(move || reader.read()) })
    }

    /// Sits down at a table, here or at the keeper.
    fn sit(&mut self, wish: Wish) -> anyhow::Result<()> {
        let table = self.interface.data.sit(wish)?;
        self.begin(table);
        Ok(())
    }

    /// Where a table of this interface is found.
    fn place(&self, transport: Transport) -> anyhow::Result<Place> {
        let said = self.said().filter(|place| place.transport == transport);
        let listen = match (transport, said) {
            (Transport::Memory, _) => vec!["/memory/0".parse()?],
            (Transport::Sockets, Some(said)) => said.listen.clone(),
            (Transport::Sockets, None) => with_doors(everywhere(0)),
        };
        let (external, relays) = said.map(|said| (said.external.clone(), said.relays.clone())).unwrap_or_default();
        Ok(Place {
            listen: ListenConfig { transport, listen, external, relays },
            // The previous session may still hold the port while it invites its players.
            bind_when_free: true,
            lan: true,
            meet: Vec::new(),
        })
    }

    fn open(&mut self, context: &Context, opening: &Opening) -> anyhow::Result<()> {
        let mut options = opening.options.iter().cloned().collect();
        if opening.networked {
            Timing::fill_in(&mut options, opening.seats.saturating_sub(opening.bots));
        }
        let info = game_info(&opening.game)?;
        let rules = rule_set(info.id, opening.seats, &options)?;
        if opening.practice {
            self.begin(PlayedTable::new(practice::open(&rules, context.name())?, true));
            return Ok(());
        }
        let transport = if opening.networked { Transport::Sockets } else { Transport::Memory };
        self.level = opening.level;
        let mut place = self.place(transport)?;
        place.lan = opening.lan && opening.networked;
        if opening.networked {
            // A friend with the ticket, too, may have no other way than a point that both can reach.
            let relays = &mut place.listen.relays;
            let more: Vec<Multiaddr> = self.points.iter().filter(|point| !relays.contains(point)).cloned().collect();
            relays.extend(more);
        }
        if opening.meet && opening.networked {
            place.meet.clone_from(&self.points);
        }
        let bot = BotOf::from(pilot(opening.level, &context.settings));
        self.sit(Wish::Host {
            name: context.name().to_owned(),
            game: rules.game,
            seats: rules.seats,
            options,
            bots: vec![bot; usize::from(opening.bots)],
            // With bots only there is nobody to wait for, and a rematch is what the player has just asked for.
            ready: !opening.networked || self.inviting.is_some(),
            password: opening.password.as_ref().map(Secret::of),
            place: Whereabouts::from(&place),
        })?;
        // A later table listens anywhere: only a place of the command line is the player's own.
        if let Some(live) = &mut self.live {
            live.place = None;
        }
        Ok(())
    }

    fn begin(&mut self, table: PlayedTable) {
        if let Some(old) = self.live.take() {
            self.part(old, None);
        }
        self.ending = TableOutcome::Left;
        if !table.local && self.me.is_some() {
            self.mail.sat_down();
        }
        self.live = Some(table);
    }

    /// Closes the session; its table can be resumed.
    fn close(&mut self) {
        self.notifier.leave();
        for live in [self.live.take(), self.inviting.take()].into_iter().flatten() {
            self.part(live, None);
        }
    }

    /// Shuts a session down in the background, after it has sent the invitation, if there is one. Meanwhile others may
    /// invite too.
    fn part(&mut self, live: PlayedTable, invitation: Option<String>) {
        if !live.local && self.me.is_some() {
            self.mail.played();
        }
        let (library_reader, back) = (self.library_reader(), self.back.clone());
        let Handle { commands, mut events, .. } = live.handle;
        self.closing.push(tokio::spawn(async move {
            let invites = invitation.is_some();
            let leave = async move {
                if let Some(ticket) = invitation {
                    let _ = commands.send(Command::Invite(ticket)).await;
                    sleep(INVITING).await;
                }
                let _ = commands.send(Command::Quit).await;
                // The session ends when its last handle is gone.
                commands
            };
            let hear = async move {
                while let Some(event) = events.recv().await {
                    if invites && matches!(event, SessionEvent::Invited { .. }) {
                        let _ = back.send(Input::UiEvent(UiEvent::Session(event))).await;
                    }
                }
            };
            let (commands, ()) = tokio::join!(leave, hear);
            drop(commands);
            tokio::task::spawn_blocking(move || library_reader.read());
        }));
    }

    /// When to begin a visit of the meeting points. A table that is being closed has to be closed first; that ends with a
    /// new list of games.
    fn visits_at(&self) -> Option<Instant> {
        let is_quiet = self.closing.iter().all(tokio::task::JoinHandle::is_finished);
        let is_there = self.shows_home || self.live.is_some();
        self.mail.due().filter(|_| is_there && is_quiet && self.interface.data.open().is_ok())
    }

    /// Begins a visit if one is due.
    fn visit_if_due(&mut self) {
        if let Ok(data) = self.interface.data.open()
            && self.visits_at().is_some_and(|due| due <= Instant::now())
        {
            let live = self.live.as_ref().and_then(|live| live.handle.post.clone());
            self.mail.begin(data, &self.points, live);
        }
    }

    /// Browses the LAN while there is no session.
    fn browse(&mut self, shell: &mut Shell) {
        let wanted = self.live.is_none() && self.browses;
        if wanted && self.finder.is_none() {
            let data = &self.interface.data;
            let identity = match data.open() {
                Ok(data) => data.identity().ok(),
                Err(_) => data.view().known_identity().ok().flatten(),
            };
            let own = identity.map(|identity| PeerId::of(&identity.signing_key()));
            let people = Acquaintances::of(self.interface.data.view());
            let company = self.company.subscribe();
            let sources = Sources { lan: true, points: self.points.clone(), game: None, company };
            self.finder = Finder::start(sources, people, own).ok();
            // Without a network there is nothing to browse.
            self.browses = self.finder.is_some();
        } else if !wanted && self.finder.take().is_some() {
            shell.update(Input::Lan(None));
        }
    }
}

fn pilot(level: Level, settings: &Settings) -> Pilot {
    Pilot { level, delay: Duration::from_millis(settings.bot_delay) }
}
