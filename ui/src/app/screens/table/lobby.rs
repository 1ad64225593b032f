//! The lobby: the seats around a table, the ticket to give to friends, and the chat.

use std::collections::BTreeMap;

use fairdeal_games::{counted, game_info};
use fairdeal_peers::address::Scope;
use fairdeal_peers::ticket::reply::{Reply, ReplyError};
use fairdeal_peers::ticket::{Link, MAX_PASTED, Ticket};
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::timing::Timing;
use ratatui::layout::{Constraint, Flex, Layout, Margin, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::marks::{draw_mark, mark_in_short, mark_in_words, mark_style};
use super::{Reaching, TableScreen, button, rail};
use crate::app::event::Copied;
use crate::app::qr::{Code, Ink};
use crate::app::screen::{Context, Cx, Effect, Tone};
use crate::app::screens::table::choosing::sentence;
use crate::app::screens::{column, paragraph};
use crate::canvas::{Canvas, Target, cut, wrapped};
use crate::field::Field;
use crate::field::Typed;
use crate::keys::Intent;
use fairdeal_session::bot_names::next_bot;
use fairdeal_session::events::Command;
use fairdeal_session::people::Mark;
use fairdeal_session::text::MAX_SHOWN;
use fairdeal_session::view::{LobbySeat, LobbyView, option_in_words};

/// How a ticket comes to work beyond the own network.
const BEYOND: &str = "For friends elsewhere, name a meeting point in the settings (first screen, then the comma), or let \
                      your router forward a port to this machine: host with --listen and --external. A friend whom you can \
                      reach has a reply for you: press d.";

/// The page of the lobby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Page {
    #[default]
    Seats,
    /// The whole ticket and the addresses.
    Details,
    /// The ticket as a QR code, or the link for browsers if there is one.
    Code,
    /// The reply of a friend who cannot reach this host.
    Reply,
}

/// The state of the lobby's screen.
#[derive(Debug)]
pub(super) struct Front {
    page: Page,
    /// The reply that is being pasted.
    reply: Field,
    /// The fault of it, in words.
    wrong: Option<String>,
    /// The ticket as a link for browsers, if this program or a relay serves the page.
    link: Option<Link>,
    /// The last round trip to each player, in milliseconds, as far as it is known.
    pub(super) round_trips: BTreeMap<Seat, u32>,
}

impl Default for Front {
    fn default() -> Self {
        Self {
            page: Page::default(),
            reply: Field::new(MAX_PASTED),
            wrong: None,
            link: None,
            round_trips: BTreeMap::new(),
        }
    }
}

impl Front {
    /// Whether the cursor is in the field for a reply.
    pub(super) fn asks_for_reply(&self) -> bool {
        self.page == Page::Reply
    }

    /// Takes in what is typed into the field for a reply.
    pub(super) fn typed(&mut self, typed: Typed<'_>) {
        if self.asks_for_reply() {
            self.reply.typed(typed);
            self.wrong = None;
        }
    }
}

/// From this size the seats stand around a table, with the chat beside them.
const WIDE: (u16, u16) = (110, 34);
/// Width of the chat beside the seats.
const CHAT: u16 = 40;
/// Width and height of a seat's plate.
const PLATE: (u16, u16) = (22, 7);
/// Rows of a mark on a plate.
const MARK: u16 = 2;
/// Width of a name in the list, and in a narrow one.
const NAMES: (usize, usize) = (20, 12);
/// Width of a narrow list.
const NARROW: u16 = 60;

/// A seat as the lobby shows it.
struct Plate {
    name: String,
    state: &'static str,
    style: Style,
    /// The address book's word, and the target that shows it.
    mark: Option<(Mark, Target)>,
    note: String,
    /// The note where there is less room.
    short: &'static str,
    button: Option<(&'static str, &'static str, Target)>,
    is_me: bool,
}

impl TableScreen {
    /// Replaces the lobby, and forgets the round trips to those who have left.
    pub(super) fn set_lobby(&mut self, view: &LobbyView, context: &Context) {
        let ticket = view.ticket.as_ref();
        self.front.link = ticket.and_then(|ticket| ticket.parse::<Ticket>().ok()?.link(context.serves_page));
        let stays = |seat: &Seat| view.seats.get(seat.index()) == self.lobby.seats.get(seat.index());
        self.front.round_trips.retain(|seat, _| stays(seat));
        self.lobby = view.clone();
    }

    /// The lobby's own keys: each with its effect in words and its button.
    fn letters(&self) -> impl Iterator<Item = (char, &'static str, Target)> {
        let hosts = self.lobby.ticket.is_some();
        let has_reply = self.reaching.as_ref().is_some_and(|reaching| reaching.reply.is_some());
        let sits = self.lobby.me.is_some();
        let has_people = self.has_people();
        let all = [
            ('r', "be ready", button::READY, sits && !self.is_ready()),
            ('r', "not ready after all", button::UNREADY, sits && self.is_ready()),
            ('y', "copy the ticket", button::COPY, hosts),
            ('y', "copy the reply for the host", button::COPY, has_reply && !hosts),
            ('w', "copy the link for friends with a browser", button::LINK, hosts && self.front.link.is_some()),
            ('Q', "a QR code to scan", button::CODE, hosts),
            ('a', "the ticket in full, and its addresses", button::DETAILS, hosts),
            ('d', "call back a friend who can't reach you", button::CALL, hosts && !self.local),
            ('b', "add a bot", button::BOT, hosts),
            ('p', "the people at this table", button::PEOPLE, has_people),
        ];
        let all = all.into_iter().filter(|(.., works)| *works);
        all.map(|(key, words, target, _)| (key, words, target))
    }

    pub(super) fn lobby_keys(&self) -> Vec<(String, String)> {
        let all = self.letters();
        all.map(|(key, words, _)| (key.to_string(), words.to_owned())).collect()
    }

    pub(super) fn lobby_letter(&mut self, cx: &mut Cx<'_>, letter: char) {
        let found = self.letters().find(|(key, ..)| *key == letter);
        if let Some((.., target)) = found {
            self.choose_in_lobby(cx, target);
        }
    }

    /// Chooses a button of the lobby. Returns whether it is one.
    pub(super) fn choose_in_lobby(&mut self, cx: &mut Cx<'_>, target: Target) -> bool {
        let other = |page: Page, now: Page| if page == now { Page::Seats } else { page };
        match target {
            button::READY => cx.command(Command::Ready(true)),
            button::UNREADY => cx.command(Command::Ready(false)),
            button::CHAT => self.open_chat(),
            button::CODE => self.front.page = other(Page::Code, self.front.page),
            button::DETAILS => self.front.page = other(Page::Details, self.front.page),
            button::COPY => self.copy_ticket(cx),
            button::CALL if self.front.asks_for_reply() => self.call_back(cx),
            button::CALL => self.front.page = Page::Reply,
            button::LINK => {
                if let Some(link) = self.front.link.clone() {
                    cx.effect(Effect::Copy(link.url));
                }
            }
            button::BOT => self.seat_bot(cx),
            button::PEOPLE => self.open_people(cx, None),
            _ => return false,
        }
        true
    }

    /// Whether the player can write to the others.
    pub(super) fn may_chat(&self) -> bool {
        let sits = if self.snapshot.is_some() { !self.is_spectator() } else { self.lobby.me.is_some() };
        sits && !self.local
    }

    /// Opens the line to write on.
    pub(super) fn open_chat(&mut self) {
        self.front.page = Page::Seats;
        self.chat = Some(Field::new(MAX_SHOWN));
    }

    /// Shows the seats again. Returns whether another page was open.
    pub(super) fn close_page(&mut self) -> bool {
        std::mem::take(&mut self.front.page) != Page::Seats
    }

    /// Copies the ticket; a guest that waits for the host's call, its reply.
    pub(super) fn copy_ticket(&self, cx: &mut Cx<'_>) {
        let reply = || self.reaching.as_ref()?.reply.clone();
        if let Some(text) = self.lobby.ticket.clone().or_else(reply) {
            cx.effect(Effect::Copy(text));
        }
    }

    /// Something was pasted outside of a field: a friend's reply needs no key before it.
    pub(super) fn pasted(&mut self, cx: &mut Cx<'_>, text: &str) {
        if self.snapshot.is_some() || self.lobby.ticket.is_none() {
            return;
        }
        match text.parse() {
            Ok(reply) => cx.command(Command::CallBack(reply)),
            // Anything else may be meant for another program.
            Err(ReplyError::NotAReply) => {}
            Err(error) => cx.toast(Tone::Bad, sentence(&ReplyError::to_string(&error))),
        }
    }

    /// Calls the friend back whose reply is in the field.
    pub(super) fn call_back(&mut self, cx: &mut Cx<'_>) {
        match self.front.reply.text().parse() {
            Ok(reply) => {
                self.front.reply.take();
                self.front.page = Page::Seats;
                cx.command(Command::CallBack(reply));
            }
            Err(error) => self.front.wrong = Some(sentence(&ReplyError::to_string(&error))),
        }
    }

    /// Says what became of the ticket, or of the result. Only what surely was copied gets a check mark.
    pub(super) fn tell_copied(&self, cx: &mut Cx<'_>, copied: Copied) {
        let (what, instead) = match (&self.snapshot, &self.ending.outcome) {
            (None, _) if self.lobby.ticket.is_none() && self.lobby.seats.is_empty() => {
                ("reply", "it is on this screen")
            }
            (None, _) if self.lobby.ticket.is_none() => ("reply", "it is in the chat above"),
            (None, _) => ("ticket", "press a for the whole ticket"),
            (Some(_), None) => ("ticket", "press : and type ticket for the whole ticket"),
            (Some(_), Some(_)) => ("result", "it is in the log too"),
        };
        let (tone, text) = match copied {
            Copied::Done => (Tone::Good, format!("The {what} is copied.")),
            Copied::Asked => (
                Tone::Plain,
                format!("This terminal was asked to copy the {what}. If it does not let programs do that, {instead}."),
            ),
            Copied::Tmux => (
                Tone::Good,
                format!("The {what} is in tmux's buffer, and in the clipboard if your terminal lets tmux write there."),
            ),
            Copied::Nowhere => (Tone::Bad, format!("Nothing was copied: there is no clipboard here; {instead}.")),
        };
        cx.toast(tone, text);
    }

    fn seat_bot(&self, cx: &mut Cx<'_>) {
        if let Some(ticket) = self.lobby.ticket.clone() {
            let number = next_bot(self.lobby.seats.iter().flatten().map(|taken| taken.name.as_str()));
            cx.effect(Effect::SeatBot { ticket, number });
        }
    }

    fn plate(&self, number: usize, canvas: &Canvas<'_>) -> Plate {
        let theme = canvas.theme();
        let lobby = &self.lobby;
        let seat = Seat::new(number);
        let is_me = seat.is_some() && lobby.me == seat;
        let Some(taken) = lobby.seats.get(number).and_then(Option::as_ref) else {
            let first = lobby.seats.iter().position(Option::is_none) == Some(number);
            let offers = first && lobby.ticket.is_some();
            return Plate {
                name: "free seat".to_owned(),
                state: "for a friend",
                style: theme.ink(),
                mark: None,
                note: String::new(),
                short: "",
                button: offers.then_some(("b", "add a bot", button::BOT)),
                is_me,
            };
        };
        let LobbySeat { name, party, played_by, in_browser, person } = taken;
        let is_ready = lobby.ready.get(number).copied().unwrap_or(false);
        let owner = party.lowest();
        let note = match played_by {
            _ if is_me => "you".to_owned(),
            PlayedBy::Person => {
                let known = seat.and_then(|seat| self.front.round_trips.get(&seat));
                match known {
                    _ if *in_browser => "in a browser".to_owned(),
                    Some(milliseconds) => format!("{milliseconds} ms away"),
                    None => String::new(),
                }
            }
            PlayedBy::Bot(level) => {
                let host = lobby.seats.get(owner.index()).and_then(Option::as_ref);
                let whose = match host {
                    _ if lobby.me == Some(owner) => "local bot".to_owned(),
                    Some(host) if Some(owner) != seat => format!("{}'s bot", host.name),
                    _ => "bot".to_owned(),
                };
                format!("{whose} {} {}", theme.glyph("·", "-"), level.as_str())
            }
        };
        let dismiss = u16::try_from(number).map(|number| button::DISMISS + number).ok();
        let shows = u16::try_from(number).map(|number| button::PERSON + number).ok();
        let mark = person
            .as_ref()
            .filter(|_| !is_me)
            .zip(shows)
            .map(|(person, number)| (person.mark.clone(), Target::Button(number)));
        let may_dismiss = seat.is_some_and(|seat| self.may_dismiss(seat));
        Plate {
            name: name.clone(),
            state: if is_ready {
                theme.glyph("✓ ready", "+ ready")
            } else {
                theme.glyph("○ not ready yet", "o not ready yet")
            },
            style: if is_ready { theme.good() } else { theme.ink() },
            mark,
            note,
            short: match played_by {
                PlayedBy::Person if *in_browser => "browser",
                PlayedBy::Person => "",
                PlayedBy::Bot(_) => "bot",
            },
            button: dismiss.filter(|_| may_dismiss).map(|number| ("", "send away", Target::Button(number))),
            is_me,
        }
    }
}

pub(super) fn draw(table_screen: &TableScreen, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
    let page = column(area.inner(Margin::new(2, 1)), 150);
    let lobby = &table_screen.lobby;
    let ticket = lobby.ticket.as_ref().filter(|_| lobby.seats.len() > 1);
    match (table_screen.front.page, ticket) {
        (Page::Code, Some(ticket)) => {
            return draw_code((ticket, table_screen.front.link.as_ref()), context, canvas, area);
        }
        (Page::Details, Some(ticket)) => return draw_details(table_screen, ticket, canvas, page),
        (Page::Reply, _) => return draw_call(table_screen, canvas, page),
        _ if lobby.seats.is_empty() => return draw_reaching(table_screen, canvas, page),
        _ => {}
    }
    let rows = [Constraint::Min(3), Constraint::Length(2)];
    let [body, foot] = Layout::vertical(rows).spacing(1).areas(page);
    // First, because the first target gets the focus.
    draw_foot(table_screen, context, canvas, foot);
    let tall = |rows: u16| Constraint::Length(if ticket.is_some() { rows } else { 0 });
    let (below, chat) = if area.width >= WIDE.0 && area.height >= WIDE.1 {
        let columns = [Constraint::Min(0), Constraint::Length(CHAT)];
        let [left, chat] = Layout::horizontal(columns).spacing(2).areas(body);
        let rows = [Constraint::Min(0), tall(4)];
        let [ring, below] = Layout::vertical(rows).spacing(1).areas(left);
        draw_ring(table_screen, canvas, ring);
        (below, chat)
    } else {
        let seats = u16::try_from(lobby.seats.len()).unwrap_or(u16::MAX);
        let rows = [Constraint::Length(seats.saturating_add(3)), tall(3), Constraint::Min(0)];
        let gap = u16::from(area.height > 22);
        let [seats, below, chat] = Layout::vertical(rows).spacing(gap).areas(body);
        draw_list(table_screen, canvas, seats);
        (below, chat)
    };
    if let Some(ticket) = ticket {
        draw_ticket(ticket, table_screen.front.link.as_ref(), canvas, below);
    }
    draw_chat(table_screen, context, canvas, chat);
}

/// The game's name, and its options in plain words.
fn about(table_screen: &TableScreen) -> (String, Vec<String>) {
    let lobby = &table_screen.lobby;
    let info = game_info(&lobby.game).ok();
    let game = info.map_or(lobby.game.as_str(), |info| info.name);
    let usual = |key: &str, value: &str| {
        let mut options = info.into_iter().flat_map(|info| info.options);
        options.any(|option| option.key == key && option.default == value)
    };
    let usual_absence = Timing::USUAL_ABSENCE.to_string();
    let options = lobby.options.iter().filter_map(|(key, value)| {
        Some(match (key.as_str(), value.as_str()) {
            (Timing::ABSENCE, value) if value == usual_absence => return None,
            ("strict", "false") => return None,
            (key, value) if key != "target" && usual(key, value) => return None,
            (key, value) => option_in_words(key, value),
        })
    });
    (game.to_owned(), options.collect())
}

/// The seats around a table; the player sits in front.
fn draw_ring(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let seats = table_screen.lobby.seats.len();
    let cells = |layout: Layout, area: Rect| layout.flex(Flex::Center).areas::<3>(area);
    let rows = cells(Layout::vertical([Constraint::Length(PLATE.1); 3]).spacing(1), area);
    let columns = [PLATE.0, PLATE.0 + 2, PLATE.0].map(Constraint::Length);
    let places = rows.map(|row| cells(Layout::horizontal(columns).spacing(3), row));
    let [[top_left, top, top_right], [left, middle, right], [_, front, _]] = places;
    // Clockwise from the player's left.
    let around: Vec<Rect> = match seats {
        0 | 1 => Vec::new(),
        2 => vec![top],
        3 => vec![top_left, top_right],
        4 => vec![left, top, right],
        5 => vec![left, top_left, top_right, right],
        _ => vec![left, top_left, top, top_right, right],
    };
    let wide = if seats > 3 { middle } else { left.union(right) };
    canvas.tint(wide, theme.paper(true));
    let inner = canvas.frame(wide, "");
    let (game, options) = about(table_screen);
    let taken = table_screen.lobby.seats.iter().flatten().count();
    let mut words = vec![Line::styled(game, theme.accent())];
    let more = options.into_iter().chain([format!("{taken} of {}", counted(seats, "seat"))]);
    words.extend(more.map(|row| Line::styled(row, theme.ink())));
    let tall = Constraint::Length(u16::try_from(words.len()).unwrap_or(u16::MAX));
    let [inner] = Layout::vertical([tall]).flex(Flex::Center).areas(inner);
    canvas.rows(inner, words.into_iter().map(Line::centered));
    let me = table_screen.lobby.me.map_or(0, Seat::index);
    for (at, step) in std::iter::once(front).chain(around).zip(0..) {
        let plate = table_screen.plate((me + step) % seats.max(1), canvas);
        let width = usize::from(at.width).saturating_sub(4);
        let inner = canvas.panel(at, &cut(&plate.name, width, theme));
        if plate.is_me {
            canvas.tint(Rect { height: 1, ..at }, theme.accent());
        }
        canvas.put(inner, Line::styled(plate.state, plate.style));
        let marks = if plate.mark.is_some() { MARK } else { 0 };
        let rows = [1, marks, 2].map(Constraint::Length);
        let [_, mark_area, note] = Layout::vertical(rows).areas(inner);
        if let Some((mark, target)) = &plate.mark {
            draw_mark(canvas, mark_area, mark, *target);
        }
        let note = note.intersection(Rect { height: inner.height.saturating_sub(1), ..inner });
        paragraph(canvas, note, Line::styled(plate.note, theme.ink()));
        if let Some((key, label, target)) = plate.button {
            canvas.button((inner.x, inner.bottom().saturating_sub(1)), key, label, target);
        }
    }
}

/// The seats as a list, for small screens.
fn draw_list(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let (game, options) = about(table_screen);
    let inner = canvas.panel(area, &game);
    let room = usize::from(inner.width);
    canvas.put(inner, Line::styled(cut(&options.join(", "), room, theme), theme.ink()));
    let plates: Vec<Plate> =
        (0..table_screen.lobby.seats.len()).map(|number| table_screen.plate(number, canvas)).collect();
    let most = if inner.width < NARROW { NAMES.1 } else { NAMES.0 };
    let widest = plates.iter().map(|plate| plate.name.width()).max().unwrap_or(0).min(most);
    for (plate, y) in plates.into_iter().zip(inner.y.saturating_add(1)..inner.bottom()) {
        let row = Rect { y, height: 1, ..inner };
        let name = cut(&plate.name, widest, theme);
        let style = if plate.is_me { theme.accent() } else { theme.ink() };
        let state = Span::styled(format!("{:<17}", plate.state), plate.style);
        let name = Span::styled(format!("{name}{}", " ".repeat(widest + 2 - name.width())), style);
        let rest = canvas.lead(row, Line::from(vec![name, state]));
        let width = |(key, label, _): &(&str, &str, Target)| key.width() + label.width() + 3;
        let mut button = plate.button.as_ref().map_or(0, width);
        let mut rest = rest;
        if let Some((mark, target)) = plate.mark {
            // The mark is worth more than the button, whose work the palette does too.
            let room = usize::from(rest.width);
            if mark_in_short(&mark, theme).width() + button >= room {
                button = 0;
            }
            let whole = mark_in_words(&mark, theme);
            let fits = whole.width() + button < room;
            let words = if fits { whole } else { mark_in_short(&mark, theme) };
            let width = u16::try_from(words.width()).unwrap_or(u16::MAX).min(rest.width);
            let at = Rect { width, ..rest };
            let is_focused = canvas.target(at, target).focused;
            rest = canvas.lead(rest, Line::styled(format!("{words} "), mark_style(&mark, theme)));
            if is_focused {
                canvas.tint(at, theme.focused());
            }
        }
        // Without room for both, the note gives way.
        let has_room = plate.note.width() + button < usize::from(rest.width);
        let note = if has_room { plate.note.as_str() } else { plate.short };
        let gap = if note.is_empty() { "" } else { " " };
        let rest = canvas.lead(rest, Line::styled(format!("{note}{gap}"), theme.ink()));
        if let Some((key, label, target)) = plate.button.filter(|_| button > 0) {
            canvas.button((rest.x, rest.y), key, label, target);
        }
    }
}

/// The ticket in one line, and how friends use it.
fn draw_ticket(ticket: &str, link: Option<&Link>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let for_whom = match scope_of(ticket) {
        Some(Scope::Anywhere) => "Ticket for friends anywhere",
        Some(Scope::Ipv6) => "Ticket for friends on your network, or by IPv6",
        Some(Scope::Network) => "Ticket for friends on your network",
        Some(Scope::Machine) => "Ticket for programs on this machine",
        None => "Ticket for your friends",
    };
    let inner = canvas.panel(area, for_whom);
    let short = match (ticket.get(..8), ticket.get(ticket.len().saturating_sub(9)..)) {
        (Some(head), Some(tail)) if ticket.len() > 20 => format!("{head}{}{tail}", theme.glyph("…", "...")),
        _ => ticket.to_owned(),
    };
    let [line, inner] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(inner);
    let rest = canvas.lead(line, Line::styled(format!("{short}  "), theme.accent()));
    let mut x = canvas.button((rest.x, rest.y), "y", "copy", button::COPY);
    if link.is_some() {
        x = canvas.button((x, rest.y), "w", "browser link", button::LINK);
    }
    let x = canvas.button((x, rest.y), "Q", "QR code", button::CODE);
    canvas.button((x, rest.y), "a", "details", button::DETAILS);
    let how = match link {
        Some(_) => "They type fairdeal join TICKET, or open the link with a phone or a browser.",
        None => "They type fairdeal join TICKET, or choose \"join with a ticket\".",
    };
    canvas.rows(inner, [Line::styled(how, theme.ink())]);
}

/// From where a ticket works.
fn scope_of(ticket: &str) -> Option<Scope> {
    Scope::of(ticket.parse::<Ticket>().ok()?.addresses())
}

/// The messages, and the line to write on.
fn draw_chat(table_screen: &TableScreen, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
    if area.height < 3 {
        return;
    }
    let theme = canvas.theme();
    let writes = table_screen.may_chat();
    let inner = canvas.panel(area, if writes { "Chat" } else { "News" });
    let [log, line] = Layout::vertical([Constraint::Min(0), Constraint::Length(u16::from(writes))]).areas(inner);
    rail::draw_entries(&table_screen.log, canvas, log);
    if !writes {
        return;
    }
    canvas.clear(line);
    canvas.tint(line, theme.paper(true));
    if let Some(field) = &table_screen.chat {
        return rail::draw_field(field, canvas, line);
    }
    let prompt = theme.glyph(rail::PROMPT.0, rail::PROMPT.1);
    let mark = canvas.target(line, button::CHAT);
    let key = Span::styled(context.keymap.key(Intent::Chat), theme.key());
    let words = Span::styled(" or a click: say something", theme.ink());
    canvas.put(line, Line::from(vec![Span::styled(prompt, theme.accent()), key, words]));
    if mark.focused {
        canvas.tint(line, theme.focused());
    }
}

/// The next step in words, and the keys.
fn draw_foot(table_screen: &TableScreen, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let free = table_screen.lobby.seats.iter().filter(|seat| seat.is_none()).count();
    let (ready, sits) = (table_screen.is_ready(), table_screen.lobby.me.is_some());
    let text = match (&table_screen.ending.failed, &table_screen.reaching) {
        (Some(why), _) => return paragraph(canvas, area, Line::styled(why.as_str(), theme.bad())),
        (None, Some(Reaching { seconds, .. })) => {
            format!("Lost the connection to the host. Trying for {seconds} s more.")
        }
        (None, None) if !sits => "You are watching. The game has not begun.".to_owned(),
        (None, None) if free > 0 => format!("Waiting for players: {} free.", counted(free, "seat")),
        (None, None) if ready => "Waiting until everybody is ready.".to_owned(),
        (None, None) => "All seats are taken. Press r when you are ready.".to_owned(),
    };
    canvas.put(area, Line::styled(text, theme.title()));
    let (mut x, y) = (area.x, area.y + 1);
    if sits && !table_screen.local {
        let (label, target) = if ready { ("not ready", button::UNREADY) } else { ("ready", button::READY) };
        x = canvas.button((x, y), "r", label, target);
    }
    if table_screen.has_people() {
        x = canvas.button((x, y), "p", "people", button::PEOPLE);
    }
    if let Some((name, _)) = table_screen.ending.invitation.as_ref().filter(|_| table_screen.may_follow()) {
        x = canvas.button((x, y), "f", &format!("follow {name}"), button::FOLLOW);
    }
    let key = context.keymap.key(Intent::Quit);
    canvas.button((x, y), &key, "leave", Target::Key(Intent::Quit));
}

/// The page before the host answers.
fn draw_reaching(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let mut lines = Vec::new();
    if let Some(why) = &table_screen.ending.failed {
        lines.push(Line::styled(sentence(why), theme.bad()));
        return paragraph(canvas, area, lines);
    }
    lines.push(Line::styled("Reaching the host...", theme.title()));
    let Some(reaching) = &table_screen.reaching else {
        return paragraph(canvas, area, lines);
    };
    let Reaching { why, reply, .. } = reaching;
    lines.push(Line::raw(format!("{} Esc gives up.", reaching.left())));
    lines.extend(why.iter().map(|why| Line::raw(sentence(why))));
    let Some(reply) = reply else {
        return paragraph(canvas, area, lines);
    };
    let how = "The host may be able to reach you. Send this reply; pasted into the host's lobby, it makes the host call you back:";
    lines.extend([Line::default(), Line::raw(how), Line::styled(reply.as_str(), theme.accent())]);
    let width = usize::from(area.width).max(1);
    let rows = lines.iter().map(|line| wrapped(&line.to_string(), width, 0).len()).sum::<usize>();
    let above = Constraint::Length(u16::try_from(rows).unwrap_or(u16::MAX));
    let rows = Layout::vertical([above, Constraint::Length(1), Constraint::Min(0)]).spacing(1);
    let [above, button, below] = rows.areas(area);
    paragraph(canvas, above, lines);
    canvas.button((button.x, button.y), "y", "copy the reply", button::COPY);
    let works = match reply.parse::<Reply>().ok().and_then(|reply| Scope::of(reply.addresses())) {
        Some(Scope::Anywhere) => "It works wherever the host is.",
        Some(Scope::Ipv6) => "It works if the host is on your network, or has IPv6.",
        Some(Scope::Network) => {
            "It works if the host is on your network. From elsewhere, one of you needs a meeting point in the settings, on the \
             first screen."
        }
        Some(Scope::Machine) | None => "It works if the host is on this machine.",
    };
    paragraph(canvas, below, works);
}

/// The page on which a host calls a friend back.
fn draw_call(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let inner = canvas.panel(area, "Call a friend back");
    let rows = [Constraint::Length(4), Constraint::Length(1), Constraint::Min(2), Constraint::Length(1)];
    let [words, line, below, foot] = Layout::vertical(rows).spacing(1).areas(inner);
    let how = "A friend who can't reach you sees a reply to your ticket, which starts with fdr1. Ask for it, and paste it \
               here: your program then calls your friend, every ten seconds for ten minutes.";
    paragraph(canvas, words, how);
    canvas.clear(line);
    canvas.tint(line, theme.paper(true));
    rail::draw_field(&table_screen.front.reply, canvas, line);
    if let Some(wrong) = &table_screen.front.wrong {
        paragraph(canvas, below, Line::styled(wrong.as_str(), theme.bad()));
    }
    let x = canvas.button((foot.x, foot.y), "Enter", "call", button::CALL);
    canvas.button((x, foot.y), "Esc", "back to the seats", Target::Key(Intent::Back));
}

/// The whole ticket, how to use it, and the addresses in it.
fn draw_details(table_screen: &TableScreen, ticket: &str, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let inner = canvas.panel(area, "The ticket in full");
    let how = "Friends choose \"join with a ticket\", or type: fairdeal join TICKET. The ticket holds these \
               addresses and your public key, so that nobody can answer in your place.";
    let [text, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inner);
    let mut lines = vec![Line::styled(ticket, theme.accent()), Line::default(), Line::raw(how), Line::default()];
    if let Some(link) = &table_screen.front.link {
        let place = if link.scope < Scope::Anywhere { " on your network" } else { "" };
        let words = format!("Friends with a phone or a browser, and nothing to install, open this link{place}:");
        lines.extend([Line::raw(words), Line::styled(link.url.as_str(), theme.accent()), Line::default()]);
    }
    if scope_of(ticket).is_some_and(|scope| scope < Scope::Anywhere) {
        lines.extend([Line::raw(BEYOND), Line::default()]);
    }
    lines.extend(table_screen.lobby.addresses.iter().map(|address| Line::raw(address.as_str())));
    paragraph(canvas, text, lines);
    let x = canvas.button((foot.x, foot.y), "y", "copy", button::COPY);
    let x = canvas.button((x, foot.y), "Q", "QR code", button::CODE);
    let x = canvas.button((x, foot.y), "d", "call a friend back", button::CALL);
    canvas.button((x, foot.y), "a", "back to the seats", button::DETAILS);
}

/// The ticket as a QR code over the whole screen, or the size that it needs. A phone opens the link for browsers.
fn draw_code((ticket, link): (&str, Option<&Link>), context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
    let page = area.inner(Margin::new(2, 1));
    let ink =
        if canvas.theme().has_colours() { Ink::Colours } else { Ink::Own { light_ground: context.themes.is_light } };
    let Some(code) = Code::of(link.map_or(ticket, |link| &link.url), canvas.theme().is_ascii(), ink) else {
        return paragraph(canvas, page, "This ticket is too long for a QR code. Press y to copy it.");
    };
    let code = code.fitted(area.width, area.height);
    let (columns, rows) = code.size();
    if columns > area.width || rows > area.height {
        let words = format!(
            "The QR code needs {columns} columns and {rows} rows; this terminal has {} and {}. Make the window larger \
             or the letters smaller, or press y to copy the ticket.",
            area.width, area.height
        );
        return paragraph(canvas, page, words);
    }
    // Words beside the code, if there is room for them.
    let words = if area.width - columns >= 30 { area.width.saturating_sub(columns + 6).min(40) } else { 0 };
    let [middle] = Layout::vertical([Constraint::Length(rows)]).flex(Flex::Center).areas(area);
    let both = [Constraint::Length(columns), Constraint::Length(words)];
    let [place, beside] = Layout::horizontal(both).spacing(2).flex(Flex::Center).areas(middle);
    code.draw(canvas, place);
    let text = match link {
        Some(link) if link.scope < Scope::Anywhere => {
            "Scan it with a phone on your network: its browser opens a seat at this table. Q or Esc goes back."
        }
        Some(_) => "Scan it with a phone: its browser opens a seat at this table. Q or Esc goes back.",
        None => "Scan to join. It is the ticket to this table. Q or Esc goes back.",
    };
    paragraph(canvas, beside, text);
}
