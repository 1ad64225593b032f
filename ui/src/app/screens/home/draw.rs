//! The body of the home screen at its three sizes.

use fairdeal_games::{Difficulty, GameInfo, counted, listed};
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Flex, Layout, Margin, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;
use unicode_width::UnicodeWidthStr as _;

use super::presence::{online, presences};
use super::{Entry, Home, LISTED, PLATE, games, is_big, picture, shown, target};
use crate::app::screen::Context;
use crate::app::screens::lesson::has_guided_hand;
use crate::app::screens::{puzzle, row};
use crate::canvas::{Canvas, Target, wrapped};
use crate::keys::Intent;
use crate::tables::scale::Scale;
use fairdeal_session::past::What;
use fairdeal_session::past::summary::{Ending, Summary};
use fairdeal_session::people::MarkKind;

/// The widest page.
const WIDEST: u16 = 150;
/// Columns of a picture, and of a small one.
const ART: (u16, u16) = (18, 7);
/// The columns of the program's name.
const BANNER: u16 = 52;

/// One of the panels beside the games.
struct Panel<'a> {
    title: String,
    rows: Vec<PanelRow<'a>>,
}

/// A row that can be chosen: its entry, its key, its name in the longest form and shorter ones, and its state at the
/// right, likewise; or a remark, or a result.
enum PanelRow<'a> {
    Choice(Entry, String, Vec<String>, Vec<String>),
    Remark(&'a str),
    Said(String),
}

impl Home {
    pub(super) fn draw_body(&self, context: &Context, canvas: &mut Canvas<'_>, body: Rect) {
        let [page] = Layout::horizontal([Constraint::Max(WIDEST)]).flex(Flex::Center).areas(body);
        let panels = self.panels(context, is_big(canvas.area()));
        if Scale::of(canvas.area()) == Scale::Tall {
            return draw_tall(context, canvas, page, &panels);
        }
        if page.width < 72 || page.height < 15 {
            return draw_mini(context, canvas, page, &panels);
        }
        let plates = 5 * PLATE + 4;
        let scale: u16 = if page.height >= 48 && page.width >= 2 * BANNER + 4 { 2 } else { 1 };
        let banner = if scale == 2 { 5 } else { 3 };
        let has_plates = is_big(canvas.area());
        let lists = match (has_plates, scale) {
            (true, 2) => plates + 10,
            (true, _) => plates,
            (false, _) => 16,
        };
        let has_banner = page.height > lists + banner && page.width >= BANNER + 2;
        let [banner, lists] = Layout::vertical([
            Constraint::Length(if has_banner { banner } else { 0 }),
            Constraint::Length(lists.min(page.height)),
        ])
        .spacing(if has_banner { scale } else { 0 })
        .flex(if scale == 2 { Flex::Center } else { Flex::Start })
        .areas(page);
        let widths = if has_plates {
            [Constraint::Fill(5), Constraint::Fill(4)]
        } else {
            [Constraint::Fill(20), Constraint::Fill(19)]
        };
        let [left, right] = Layout::horizontal(widths).spacing(2).areas(lists);
        if has_banner {
            let columns = match scale {
                1 if left.width >= BANNER => Layout::horizontal(widths).spacing(2).areas(banner),
                _ => Layout::horizontal([Constraint::Length(BANNER * scale), Constraint::Min(0)])
                    .spacing(2 * scale)
                    .areas(banner),
            };
            draw_banner(canvas, columns, usize::from(scale));
        }
        if has_plates {
            let each = Layout::vertical([Constraint::Fill(1); 5]).spacing(1).areas::<5>(left);
            for ((number, info), area) in games().zip(each) {
                draw_plate(context, canvas, area, number, info);
            }
        } else {
            draw_list(canvas, left);
        }
        let pitch = has_plates.then_some(self.info().pitch);
        draw_panels(context, canvas, right, &panels, pitch);
    }

    /// How to learn the game in focus, the saved games, and the tables on the LAN.
    fn panels(&self, context: &Context, is_big: bool) -> Vec<Panel<'static>> {
        let info = self.info();
        let key = |intent: Intent| context.keymap.key(intent);
        let choice = |entry, key: &str, words: &str, more: &str| {
            PanelRow::Choice(entry, key.to_owned(), vec![words.to_owned()], vec![more.to_owned()])
        };
        let mut learn = Vec::new();
        let has_lesson = has_guided_hand(info);
        if has_lesson {
            let words = ["play the guided hand", "guided hand"].map(str::to_owned).to_vec();
            learn.push(PanelRow::Choice(Entry::Guided, "T".to_owned(), words, Vec::new()));
        }
        let solved = puzzle::in_words(info, &context.settings, &context.theme);
        let words = ["solve a puzzle", "puzzles"].map(str::to_owned).to_vec();
        learn.push(PanelRow::Choice(Entry::Puzzles, "p".to_owned(), words, vec![solved]));
        learn.push(choice(Entry::Rules, &key(Intent::Rules), "read the rules", ""));
        learn.extend(last_time(context, info).map(PanelRow::Said));
        let title = if has_lesson && is_big {
            format!("Learn {} in two minutes", info.name)
        } else {
            format!("Learn {}", info.name)
        };
        let mut panels = vec![Panel { title, rows: learn }];

        let saved: Vec<PanelRow<'_>> = context
            .library
            .waiting
            .iter()
            .enumerate()
            .take(LISTED)
            .map(|(number, (table, words))| {
                let past = context.library.past.iter().find(|past| past.table == *table);
                let (words, day) = match past.map(|past| (past.date(), &past.what)) {
                    Some((date, What::Waits(summary))) => (saved_in_words(summary), date),
                    _ => (vec![words.clone()], String::new()),
                };
                if let Some(kept) = context.library.kept.get(table) {
                    let whole = format!("{} {}", kept.state, kept.since).trim_end().to_owned();
                    let more = vec![whole, kept.state.clone(), String::new()];
                    return PanelRow::Choice(Entry::Waiting(number), String::new(), words, more);
                }
                if let Some(mailed) = context.library.mailed.get(table) {
                    let whole = format!("{} {}", mailed.state, mailed.since).trim_end().to_owned();
                    let more = vec![whole, mailed.state.clone(), String::new()];
                    return PanelRow::Choice(Entry::Waiting(number), String::new(), words, more);
                }
                let day = day.split(' ').next().unwrap_or_default();
                let day = if day == context.today { "today" } else { day };
                let more = presences(context, table).and_then(online).unwrap_or_else(|| day.to_owned());
                PanelRow::Choice(Entry::Waiting(number), String::new(), words, vec![more, String::new()])
            })
            .collect();
        if !saved.is_empty() {
            let is_plain = context.library.kept.is_empty() && context.library.mailed.is_empty();
            let title = if is_plain { "Resume" } else { "Your tables" }.to_owned();
            panels.push(Panel { title, rows: saved });
        }

        if context.is_page {
            let rows = vec![
                choice(Entry::Check, "v", "verify a game file", ""),
                PanelRow::Remark("Or drop one here. It stays with you."),
            ];
            let title = "Was it fair?".to_owned();
            panels.push(Panel { title, rows });
            if context.joins {
                let rows = vec![
                    choice(Entry::Join, "j", "join with a ticket", ""),
                    choice(Entry::Watch, "w", "watch a table", ""),
                ];
                panels.push(Panel { title: "Tables of friends".to_owned(), rows });
            }
            return panels;
        }

        let view = context.lan.as_ref();
        let tables = view.map(|view| view.tables.as_slice()).unwrap_or_default();
        let shown = shown(tables.len());
        let hidden = tables.len() - shown;
        let lan = tables.iter().enumerate().take(shown).map(|(number, table)| {
            // What a host announces stays in the words at the left; the mark at the right is ours.
            let (game, host) = (table.game(), table.host());
            let mut words = vec![format!("{game} with {host}"), game.to_owned()];
            let own = table.mark.known.as_ref().filter(|known| known.is_own_name);
            if let Some(name) = own.map(|known| &known.name).filter(|name| **name != host) {
                let known = [format!("{game} with {name} ({host})"), format!("{game} with {name}")];
                words.splice(..1, known);
            }
            let announced = table.table.announcement();
            let free = if announced.locked { "locked".to_owned() } else { format!("{} free", announced.free) };
            let (sign, ascii) = table.mark.sign();
            let free = match table.mark.kind() {
                MarkKind::New if announced.locked => vec![free],
                MarkKind::New => vec![free, String::new()],
                _ => {
                    let sign = context.theme.sign(sign, ascii);
                    vec![format!("{sign} {free}"), sign.to_owned()]
                }
            };
            PanelRow::Choice(Entry::Lan(number), (number + 1).to_string(), words, free)
        });
        let mut lan: Vec<PanelRow<'_>> = lan.collect();
        if hidden > 0 {
            let palette = key(Intent::Palette);
            lan.push(PanelRow::Said(format!("{hidden} more: press {palette} and type join")));
        }
        if lan.is_empty() {
            lan.push(PanelRow::Remark(match view {
                Some(view) if view.has_points && view.silent_points > 0 => "A meeting point does not answer.",
                Some(view) if view.blind && !view.has_points => "No multicast here: use tickets.",
                _ => "None yet. They appear here.",
            }));
        }
        lan.push(choice(Entry::Join, "j", "join with a ticket", ""));
        if info.most_seats > 1 {
            lan.push(choice(Entry::Options, "o", "open a table", ""));
        }
        lan.push(choice(Entry::Watch, "w", "watch a table", ""));
        if !context.people.people().is_empty() {
            lan.push(choice(Entry::People, "P", "people", ""));
        }
        let title = match view {
            Some(view) if view.has_points && view.silent_points > 0 && shown > 0 => "Open tables (a point is silent)",
            Some(view) if view.has_points => "Open tables",
            _ => "Open tables near you",
        }
        .to_owned();
        panels.push(Panel { title, rows: lan });
        panels
    }
}

/// A saved game and its other players; shorter, how many they are; shorter, the game.
fn saved_in_words(summary: &Summary) -> Vec<String> {
    let game = summary.game_name();
    let others = summary.others();
    let mut words = vec![game.to_owned()];
    if !others.is_empty() {
        words.insert(0, format!("{game} with {}", counted(others.len(), "other")));
        words.insert(0, format!("{game} with {}", listed(&others)));
    }
    words
}

/// How the player's last finished game ended, with the winner's score first.
fn last_time(context: &Context, info: &GameInfo) -> Option<String> {
    let (summary, me) = context.library.past.iter().find_map(|past| match &past.what {
        What::Over(summary) if summary.game == info.id && summary.ending == Ending::Finished => {
            Some((summary, summary.me?))
        }
        _ => None,
    })?;
    let mut scores = summary.scores.clone();
    if info.most_seats == 1 {
        let won = if summary.winners.is_empty() { "" } else { ", the tower stands" };
        return Some(format!("Last time: {} points{won}", scores.first()?));
    }
    let name = |seat: &Seat| if *seat == me { "you".to_owned() } else { summary.name(*seat) };
    let winners: Vec<String> = summary.winners.iter().map(name).collect();
    let won = if winners.is_empty() { "nobody won".to_owned() } else { format!("{} won", listed(&winners)) };
    scores.sort_unstable_by(|a, b| b.cmp(a));
    // Some games only tell winners from losers.
    let scores = Some(scores).filter(|scores| scores.iter().any(|score| *score > 1)).unwrap_or_default();
    let scores: Vec<String> = scores.iter().map(i64::to_string).collect();
    Some(format!("Last time: {won} {}", scores.join(" : ")).trim_end().to_owned())
}

/// Seats, minutes and difficulty.
fn facts(info: &GameInfo, canvas: &Canvas<'_>, is_short: bool) -> Vec<Span<'static>> {
    let theme = canvas.theme();
    let dash = theme.glyph("–", "-");
    let players = match (info.least_seats == info.most_seats, is_short) {
        (true, _) => "alone".to_owned(),
        (false, true) => format!("{}{dash}{}", info.least_seats, info.most_seats),
        (false, false) => format!("{}{dash}{} players", info.least_seats, info.most_seats),
    };
    let style = match info.difficulty {
        Difficulty::Easy => theme.good(),
        Difficulty::Medium => theme.back(),
        Difficulty::Deep => theme.suit(5),
    };
    let width = if is_short { 5 } else { 11 };
    vec![
        Span::raw(format!("{players:<width$}  {:>2} min  ", info.minutes)),
        Span::styled(format!("{:<6}", info.difficulty.name()), style),
    ]
}

fn draw_banner(canvas: &mut Canvas<'_>, [left, right]: [Rect; 2], scale: usize) {
    canvas.rows(left, picture("banner", scale, canvas.theme()));
    let words = ["Five card and pyramid games.", "Nobody deals; everybody can check the shuffle."];
    let rows: Vec<String> = words.iter().flat_map(|words| wrapped(words, usize::from(right.width), 0)).collect();
    if rows.len() > usize::from(right.height) {
        return;
    }
    let [right] =
        Layout::vertical([Constraint::Length(u16::try_from(rows.len()).unwrap_or(0))]).flex(Flex::End).areas(right);
    canvas.rows(right, rows.into_iter().map(Line::raw));
}

/// Fills an area that can be chosen and returns its inside: with focus, flat with a bar at its left; in mono framed.
fn draw_choosable(canvas: &mut Canvas<'_>, area: Rect, target: Target) -> (Rect, bool) {
    let theme = canvas.theme();
    let is_focused = canvas.target(area, target).focused;
    canvas.panel(area, "");
    let frame = u16::from(theme.panel().is_none());
    if is_focused {
        match theme.panel() {
            Some(_) => canvas.tint(area, theme.focused()),
            None => canvas.render(Block::bordered().border_set(theme.focus_border()), area),
        }
        let bar = Line::styled(theme.glyph("▌", ">"), theme.accent());
        let rows = std::iter::repeat_n(bar, usize::from(area.height));
        canvas.rows(Rect { width: 1, ..area }.inner(Margin::new(0, frame)), rows);
    }
    (area.inner(Margin::new(2, frame)), is_focused)
}

/// A game with its picture.
fn draw_plate(context: &Context, canvas: &mut Canvas<'_>, area: Rect, number: usize, info: &'static GameInfo) {
    let theme = canvas.theme();
    let (inner, is_focused) = draw_choosable(canvas, area, Target::Row(number));
    let (art, width) = if inner.height >= PLATE {
        (picture(info.id, 1, theme), ART.0)
    } else {
        (picture(&format!("{}-small", info.id), 1, theme), ART.1)
    };
    let rows = u16::try_from(art.len()).unwrap_or(0);
    let [left, text] = Layout::horizontal([Constraint::Length(width), Constraint::Min(0)]).spacing(3).areas(inner);
    let [left] = Layout::vertical([Constraint::Length(rows)]).flex(Flex::Center).areas(left);
    canvas.rows(left, art);
    let [text] = Layout::vertical([Constraint::Length(3)]).flex(Flex::Center).areas(text);
    let lines =
        [Line::styled(info.name, theme.title()), Line::raw(info.tagline), Line::from(facts(info, canvas, false))];
    canvas.rows(text, lines);
    if is_focused {
        let play = Line::from(vec![Span::styled(context.keymap.key(Intent::Choose), theme.key()), Span::raw(" play")]);
        canvas.put(text, play.right_aligned());
    }
}

/// All games in one panel, two rows each.
fn draw_list(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let inner = list_panel(canvas, area, "");
    let each = Layout::vertical([Constraint::Length(2); 5]).spacing(1).areas::<5>(inner);
    for ((number, info), area) in games().zip(each) {
        let is_focused = canvas.target(area, Target::Row(number)).focused;
        if is_focused {
            canvas.tint(area, theme.focused());
            let bar = Line::styled(theme.glyph("▌", ">"), theme.accent());
            canvas.rows(Rect { width: 1, ..area }, [bar.clone(), bar]);
        }
        let [art, text] = Layout::horizontal([Constraint::Length(ART.1), Constraint::Min(0)])
            .spacing(2)
            .areas(area.inner(Margin::new(2, 0)));
        canvas.rows(art, picture(&format!("{}-small", info.id), 1, theme));
        let lines = [Line::styled(info.name, theme.title()), Line::from(facts(info, canvas, true))];
        canvas.rows(text, lines);
    }
}

/// Draws rows, each so many rows high.
fn draw_rows(context: &Context, canvas: &mut Canvas<'_>, area: Rect, rows: &[PanelRow<'_>], step: u16) {
    let theme = canvas.theme();
    for (y, line) in (area.y..area.bottom()).step_by(usize::from(step)).zip(rows) {
        let at = Rect { y, height: step, ..area };
        match line {
            PanelRow::Choice(entry, key, words, more) => {
                let lead = if key.is_empty() { String::new() } else { format!("{key}  ") };
                let used = 4 + lead.width();
                let room = |more: &str| usize::from(at.width).saturating_sub(used + more.width() + 1);
                // A name is worth more than a day or a number.
                let name = words.iter().rev().nth(1).map_or(0, |words| words.width());
                let fits = more.iter().find(|more| name <= room(more));
                let more = fits.or(more.last()).map_or("", String::as_str);
                let fitting = words.iter().find(|words| words.width() <= room(more));
                let words = lead + fitting.or(words.last()).map_or("", String::as_str);
                // All of its rows can be hit.
                canvas.target(at, target(context, *entry));
                row(canvas, at, target(context, *entry), (&words, Style::new()), more);
                let [_, at] = Layout::horizontal([Constraint::Length(3), Constraint::Length(1)]).areas(at);
                canvas.put(at, Line::styled(key.clone(), theme.key()));
            }
            PanelRow::Remark(words) => canvas.put(at, Line::styled(format!("   {words}"), theme.faint())),
            PanelRow::Said(words) => canvas.put(at, Line::raw(format!("   {words}"))),
        }
    }
}

/// The panels below each other. The first begins with the pitch of its game, if there is room.
fn draw_panels(context: &Context, canvas: &mut Canvas<'_>, area: Rect, panels: &[Panel<'_>], pitch: Option<&str>) {
    let width = usize::from(area.width).saturating_sub(8);
    let pitch = pitch.map_or_else(Vec::new, |pitch| wrapped(pitch, width, 0));
    let is_big = !pitch.is_empty();
    let above = |number: usize| match (is_big, number) {
        (false, _) => 0,
        (true, 0) => pitch.len() + 2,
        (true, _) => 1,
    };
    let rows = |rows: usize| Constraint::Length(u16::try_from(rows).unwrap_or(u16::MAX));
    let heights = panels.iter().enumerate().map(|(number, panel)| rows(panel.rows.len() + 2 + above(number)));
    let areas = Layout::vertical(heights.collect::<Vec<_>>()).spacing(1).split(area);
    for (number, (panel, area)) in panels.iter().zip(areas.iter()).enumerate() {
        let inner = list_panel(canvas, *area, &panel.title);
        let [text, list] = Layout::vertical([rows(above(number)), Constraint::Min(0)]).areas(inner);
        if number == 0 && is_big {
            let lines = pitch.iter().map(|row| Line::raw(row.clone()));
            let [_, text] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(text);
            canvas.rows(text.inner(Margin::new(3, 0)), lines);
        }
        draw_rows(context, canvas, list, &panel.rows, 1);
    }
}

/// The plates below each other, for a finger, and the panels in two columns of rows below.
fn draw_tall(context: &Context, canvas: &mut Canvas<'_>, page: Rect, panels: &[Panel<'_>]) {
    let gap = u16::from(page.height >= 5 * PLATE + 4 + 12);
    let [plates, below] =
        Layout::vertical([Constraint::Length(5 * PLATE + 4 * gap), Constraint::Min(0)]).spacing(1).areas(page);
    let each = Layout::vertical([Constraint::Fill(1); 5]).spacing(gap).areas::<5>(plates);
    for ((number, info), area) in games().zip(each) {
        draw_plate(context, canvas, area, number, info);
    }
    draw_columns(context, canvas, below, panels);
}

/// One row for each game, and the panels in two columns of rows below.
fn draw_mini(context: &Context, canvas: &mut Canvas<'_>, page: Rect, panels: &[Panel<'_>]) {
    let theme = canvas.theme();
    let [list, below] = Layout::vertical([Constraint::Length(5), Constraint::Min(0)]).spacing(1).areas(page);
    for ((number, info), y) in games().zip(list.y..list.bottom()) {
        let at = Rect { y, height: 1, ..list };
        row(canvas, at, Target::Row(number), (info.name, theme.title()), "");
        let facts = Line::from(facts(info, canvas, true));
        canvas.put(at.inner(Margin::new(1, 0)), facts.right_aligned());
    }
    draw_columns(context, canvas, below, panels);
}

/// The panels in two columns of rows, the last one at the right. Rows are two high if all of them have room.
fn draw_columns(context: &Context, canvas: &mut Canvas<'_>, area: Rect, panels: &[Panel<'_>]) {
    let [left, right] = Layout::horizontal([Constraint::Min(0), Constraint::Length(30)]).spacing(2).areas(area);
    let Some((tables, rest)) = panels.split_last() else {
        return;
    };
    let rows = |panel: &Panel<'_>| u16::try_from(panel.rows.len()).unwrap_or(u16::MAX);
    let most = rest.iter().map(|panel| 2 * rows(panel) + 2).sum::<u16>().max(2 * rows(tables) + 2);
    let step = if most <= area.height { 2 } else { 1 };
    let inner = canvas.section(right, &tables.title);
    draw_rows(context, canvas, inner, &tables.rows, step);
    let mut at = left;
    for panel in rest {
        let inner = canvas.section(at, &panel.title);
        draw_rows(context, canvas, inner, &panel.rows, step);
        let used = step * rows(panel) + 2;
        at.y = at.y.saturating_add(used).min(left.bottom());
        at.height = left.bottom() - at.y;
    }
}

/// A panel for rows: they begin at its edge, where the bar of the focus stands, and its title stands over their text.
pub(in crate::app::screens) fn list_panel(canvas: &mut Canvas<'_>, area: Rect, title: &str) -> Rect {
    let theme = canvas.theme();
    let is_framed = theme.panel().is_none();
    canvas.panel(area, if is_framed { title } else { "" });
    if is_framed {
        return area.inner(Margin::new(1, 1));
    }
    canvas.put(area.inner(Margin::new(3, 0)), Line::styled(title, theme.title()));
    area.inner(Margin::new(0, 1))
}

#[cfg(test)]
mod tests {
    use fairdeal_games::loot;

    use super::*;
    use crate::app::testing::context;
    use fairdeal_session::past::Past;
    use fairdeal_session::testing::summary;

    #[test]
    fn last_game_is_told_from_the_players_side() {
        let mut context = context(false);
        assert_eq!(last_time(&context, &loot::INFO), None);
        let mut told = |winner: usize, scores: &[i64]| {
            let summary = Summary {
                players: ["Anna", "Ben"].map(str::to_owned).to_vec(),
                me: Seat::new(0),
                scores: scores.to_vec(),
                winners: Seat::new(winner).into_iter().collect(),
                ending: Ending::Finished,
                ..summary()
            };
            context.library.past = vec![Past {
                table: String::new(),
                path: None,
                when: std::time::SystemTime::UNIX_EPOCH,
                bytes: 0,
                what: What::Over(summary),
            }];
            last_time(&context, &loot::INFO).unwrap()
        };
        assert_eq!(told(0, &[112, 58]), "Last time: you won 112 : 58");
        assert_eq!(told(1, &[58, 112]), "Last time: Ben won 112 : 58");
        assert_eq!(told(1, &[0, 1]), "Last time: Ben won");
    }
}
