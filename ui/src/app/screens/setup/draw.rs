//! The set-up of a table on the screen: the settings, and who sits at the table.

use ratatui::layout::{Constraint, Flex, Layout, Margin, Rect};
use ratatui::text::{Line, Span};

use super::{Item, Setup};
use crate::app::screen::Context;
use crate::app::screens::home::{list_panel, picture};
use crate::app::screens::{KeyHelp, body_and_foot, first_shown, foot, row, setting};
use crate::canvas::{Canvas, Target, wrapped};
use crate::keys::Intent;
use crate::widgets::pyramid;
use fairdeal_session::bot_names::{bot_name, bots_beside};
use fairdeal_session::past::solitaire::Solitaire;

/// The widest page.
const WIDEST: u16 = 112;
/// Rows of the game's picture.
const HEAD: u16 = 5;
/// From this height on, seats have two rows.
const TALL: u16 = 24;

impl Setup {
    pub(super) fn draw_all(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let keys = &context.keymap;
        let told = self.focus.map(|item| self.told(item, &context.settings));
        let (_, _, meaning) = told.unwrap_or_default();
        let of = |intent: Intent, label: &'static str| (keys.key(intent), label, Some(Target::Key(intent)));
        let arrows = |glyph, ascii| theme.glyph(glyph, ascii).to_owned();
        let mut help: Vec<KeyHelp<'_>> = vec![(arrows("↑↓", "Up Down"), "choose", None)];
        let change = (arrows("←→", "Left Right"), "change", None);
        match self.focus {
            // Its letters are the password's.
            Some(Item::Password) => help.push(("a-z".to_owned(), "type a password", None)),
            Some(Item::More) if self.is_unfolded => help.push(of(Intent::Choose, "fewer options")),
            Some(Item::More) => help.push(of(Intent::Choose, "more options")),
            _ => help.push(change),
        }
        if self.focus != Some(Item::More) {
            help.push(of(Intent::Choose, self.start_in_words()));
        }
        if self.focus != Some(Item::Password) {
            help.push(of(Intent::Rules, "rules"));
        }
        help.push(of(Intent::Back, "back"));
        let [body, below] = body_and_foot(area);
        foot(canvas, below, &[meaning], help);
        let [page] = Layout::horizontal([Constraint::Max(WIDEST)]).flex(Flex::Center).areas(body);
        if page.width < 72 {
            return self.draw_narrow(context, canvas, page);
        }
        let [page] = match page.height {
            44.. => Layout::vertical([Constraint::Max(40)]).flex(Flex::Center).areas(page),
            _ => [page],
        };
        let is_tall = page.height >= TALL;
        let has_head = page.height > self.rows(false) + 2 + HEAD;
        let head = Constraint::Length(if has_head { HEAD } else { 0 });
        let [head, page] = Layout::vertical([head, Constraint::Min(0)]).spacing(u16::from(has_head)).areas(page);
        if has_head {
            self.draw_head(canvas, head);
        }
        let columns = [Constraint::Fill(3), Constraint::Fill(2)];
        let [left, right] = Layout::horizontal(columns).spacing(2).areas(page);
        let seats = self.beside(context, canvas, usize::from(right.width).saturating_sub(4), is_tall);
        let (title, lines) = seats;
        let rows = self.rows(is_tall).max(u16::try_from(lines.len()).unwrap_or(u16::MAX));
        // Title and a blank row above, a blank row below.
        let [left, right] = [left, right]
            .map(|area| Rect { height: area.height.min(rows.saturating_add(2 + u16::from(is_tall))), ..area });
        let blank = u16::from(is_tall);
        let below =
            |inner: Rect| Layout::vertical([Constraint::Length(blank), Constraint::Min(0)]).areas::<2>(inner)[1];
        let inner = below(canvas.panel(right, title));
        canvas.rows(inner, lines);
        let inner = below(list_panel(canvas, left, "Your table"));
        self.draw_items(context, canvas, inner);
    }

    /// The game: its picture, name and pitch.
    fn draw_head(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let [art, words] = Layout::horizontal([Constraint::Length(18), Constraint::Min(0)]).spacing(3).areas(area);
        let theme = canvas.theme();
        canvas.rows(art, picture(self.game.id, 1, theme));
        let pitch = wrapped(self.game.pitch, usize::from(words.width).min(84), 0);
        let name = Line::from(vec![
            Span::styled(self.game.name, theme.title()),
            Span::raw(format!(": {}", self.game.tagline)),
        ]);
        let [words] = Layout::vertical([Constraint::Length(4)]).flex(Flex::Center).areas(words);
        canvas.rows(words, std::iter::once(name).chain(pitch.into_iter().map(Line::raw)));
    }

    /// One column: the seats in two, and the settings below.
    fn draw_narrow(&self, context: &Context, canvas: &mut Canvas<'_>, page: Rect) {
        let (_, lines) = self.beside(context, canvas, usize::from(page.width), false);
        let rows = lines.len().div_ceil(2);
        let height = Constraint::Length(u16::try_from(rows).unwrap_or(0));
        let [seats, list] = Layout::vertical([height, Constraint::Min(0)]).spacing(1).areas(page);
        match self.game.most_seats {
            1 => canvas.rows(seats, lines),
            _ => {
                let columns = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2).areas::<2>(seats);
                for (column, lines) in columns.into_iter().zip(lines.chunks(rows.max(1))) {
                    canvas.rows(column, lines.iter().cloned());
                }
            }
        }
        self.draw_items(context, canvas, list);
    }

    /// Rows of the settings and the start; with `is_airy`, every other row is blank.
    fn rows(&self, is_airy: bool) -> u16 {
        let settings = self.items().len().saturating_sub(1);
        let rows = if is_airy { (settings * 2).saturating_sub(1) } else { settings };
        u16::try_from(rows + 2).unwrap_or(u16::MAX)
    }

    /// The settings, as many as fit around the one in focus, and the start.
    fn draw_items(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let items = self.items();
        let last = items.len().saturating_sub(1);
        let is_airy = self.rows(true) <= area.height;
        let rows = Constraint::Max(self.rows(is_airy).saturating_sub(2));
        let [list, start] = Layout::vertical([rows, Constraint::Length(1)]).spacing(1).areas(area);
        let focus = self.focus.and_then(|focus| items.iter().position(|item| *item == focus));
        let first = if is_airy { 0 } else { first_shown(focus.unwrap_or(0), usize::from(list.height), last) };
        let shown = items.iter().enumerate().take(last).skip(first);
        let step = if is_airy { 2 } else { 1 };
        for ((number, item), y) in shown.zip((list.y..list.bottom()).step_by(step)) {
            let (at, target) = (Rect { y, height: 1, ..list }, Target::Row(number));
            if *item == Item::More {
                let (sign, ascii) = if self.is_unfolded { ("▾", "v") } else { ("▸", ">") };
                let words = format!("more options {}", theme.glyph(sign, ascii));
                row(canvas, at, target, (&words, theme.ink()), "");
                continue;
            }
            let (name, value, _) = self.told(*item, &context.settings);
            setting(canvas, at, target, &name, &value);
        }
        row(canvas, start, Target::Row(last), ("", theme.ink()), "");
        let words = Line::from(vec![
            Span::styled(context.keymap.key(Intent::Choose), theme.key()),
            Span::styled(format!("  {}", self.start_in_words()), theme.title()),
        ]);
        canvas.put(start.inner(Margin::new(3, 0)), words);
    }

    fn start_in_words(&self) -> &'static str {
        if self.is_networked() { "open the table" } else { "play" }
    }

    /// The seats with their players: two lines and a blank one for each, or one line.
    fn seat_lines(&self, context: &Context, canvas: &Canvas<'_>, is_tall: bool) -> Vec<Line<'static>> {
        let theme = canvas.theme();
        let bots: Vec<&str> = bots_beside(context.name()).map(bot_name).take(usize::from(self.bots)).collect();
        let lines = (0..self.seats).flat_map(|seat| {
            let taken = theme.suit(seat);
            let bot = seat.checked_sub(1).map(|number| bots.get(usize::from(number)));
            let (name, state, style) = match bot {
                None => (context.name(), "you".to_owned(), taken),
                Some(Some(bot)) => {
                    let dot = theme.glyph("·", "-");
                    (*bot, format!("bot {dot} {}", self.level.name()), taken)
                }
                Some(None) => ("open", "somebody joins".to_owned(), theme.faint()),
            };
            let letter = name.chars().next().unwrap_or('?');
            let name = Span::styled(name.to_owned(), theme.title());
            let led = |sign: &Line<'static>, words: Vec<Span<'static>>| {
                let sign = sign.iter().map(|span| span.clone().patch_style(style));
                Line::from_iter(sign.chain([Span::raw("  ")]).chain(words))
            };
            let signs = pyramid(if is_tall { 2 } else { 1 }, style, letter, theme);
            match signs.as_slice() {
                [upper, lower] => vec![led(upper, vec![name]), led(lower, vec![Span::raw(state)]), Line::default()],
                [sign, ..] => {
                    let dot = Span::raw(theme.glyph(" · ", " - "));
                    vec![led(sign, vec![name, dot, Span::raw(state)])]
                }
                [] => Vec::new(),
            }
        });
        lines.collect()
    }

    /// Beside the settings: who sits at the table, or how a solitaire has gone so far.
    fn beside(
        &self,
        context: &Context,
        canvas: &Canvas<'_>,
        width: usize,
        is_tall: bool,
    ) -> (&'static str, Vec<Line<'static>>) {
        if self.game.most_seats > 1 {
            return ("At the table", self.seat_lines(context, canvas, is_tall));
        }
        let mut words = Solitaire::of(&context.library.past, self.game.id, &context.today).in_words();
        if words.is_empty() {
            words.push("You have not finished a game yet.".to_owned());
        }
        let rows = words.iter().flat_map(|words| wrapped(words, width, 0));
        ("So far", rows.map(Line::raw).collect())
    }
}
