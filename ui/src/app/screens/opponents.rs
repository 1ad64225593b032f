//! The player's results by game, number of seats and opponent, with ratings.

use fairdeal_games::counted;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

use super::list::ListState;
use super::{arrows, column, keys_below, paragraph};
use crate::app::screen::{Context, Cx, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, cut, wrapped};
use fairdeal_session::past::opponents::{Results, results, unrated};

/// Width of an opponent's name.
const NAME: usize = 38;

#[derive(Debug, Default)]
pub(super) struct Opponents {
    /// The first line shown.
    top: ListState,
    /// How many lines can come first, as drawn.
    tops: usize,
}

fn in_lines(results: &Results, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    let theme = canvas.theme();
    let rating = results.rating.as_ref().map_or_else(String::new, |rating| format!(": your rating {rating}"));
    let mut lines = vec![Line::styled(format!("{}{}", results.game, shown(&rating, canvas)), theme.title())];
    let row = |name: &str, played: &str, won: &str, rating: &str| {
        let name = cut(name, NAME, theme);
        let pad = " ".repeat(NAME.saturating_sub(name.width()));
        shown(&format!("  {name}{pad}{played:>7}{won:>7}{rating:>14}"), canvas)
    };
    lines.push(Line::styled(row("", "played", "won", "").trim_end().to_owned(), theme.faint()));
    for (seats, tables) in &results.tables {
        let name = counted(*seats, "seat");
        let text = row(&name, &tables.played.to_string(), &tables.won.to_string(), "");
        lines.push(Line::raw(text.trim_end().to_owned()));
    }
    lines.push(Line::styled(row("", "met", "ahead", "rating"), theme.faint()));
    for one in &results.opponents {
        let text = row(&one.name, &one.met.to_string(), &one.ahead.to_string(), &one.rating);
        lines.push(Line::raw(text));
    }
    lines
}

/// A text with ratings as the theme can draw it.
fn shown(text: &str, canvas: &Canvas<'_>) -> String {
    text.replace('±', canvas.theme().glyph("±", "~"))
}

impl Screen for Opponents {
    fn name(&self) -> String {
        "opponents".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let page = column(area.inner(Margin::new(2, 1)), 80);
        keys_below(canvas, area, context, vec![arrows(canvas.theme(), "scroll")]);
        let all = results(&context.library.past);
        if all.is_empty() {
            let words = "Your opponents will appear here after your first finished game with others or with bots.";
            return paragraph(canvas, page, words);
        }
        let mut lines = Vec::new();
        for results in &all {
            lines.extend(in_lines(results, canvas));
            lines.push(Line::default());
        }
        let mut about =
            "A rating begins at 1500, and is provisional (?) before five games. \"Ahead\" counts the tables at which you \
             had the better place."
                .to_owned();
        match unrated(&context.library.past) {
            0 => {}
            games => {
                let games = counted(games, "finished game");
                about += &format!(" Not rated, with the reason in the history: {games}.");
            }
        }
        lines.extend(wrapped(&about, usize::from(page.width), 0).into_iter().map(Line::raw));
        let rows = usize::from(page.height.saturating_sub(1));
        self.tops = lines.len().saturating_sub(rows) + 1;
        self.top.keep_within(self.tops);
        let text = Rect { height: page.height.saturating_sub(1), ..page };
        canvas.rows(text, lines.into_iter().skip(self.top.chosen()));
        let hidden = self.tops - 1 - self.top.chosen();
        if hidden > 0 {
            let below = Rect { y: text.bottom(), height: 1, ..page };
            let words = format!("{} below", counted(hidden, "more line"));
            canvas.put(below, Line::styled(words, canvas.theme().accent()));
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { steers: ListState::STEERS, ..FocusPolicy::of(layer) }
    }

    fn input(&mut self, _cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Intent(intent) if self.top.steer(intent, self.tops) => Handled::Yes,
            _ => Handled::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::app::event::Input;
    use crate::app::screen::Library;
    use crate::app::testing::TestApp;
    use crate::input::KeyCode;
    use fairdeal_session::testing::past;

    fn stage(ascii: bool, opponents: usize) -> TestApp {
        let mut stage = TestApp::at_home(ascii);
        let mut games =
            vec![past(&[("me", 1), ("normal", 2), ("sharp", 3)], 1), past(&[("me", 2), ("1a2b3c4d5e6f", 1)], 2)];
        games.extend((0..opponents).map(|number| past(&[("me", 1), (&format!("{number:08}"), 2)], 3)));
        stage.input(Input::Library(Library { waiting: Vec::new(), past: games, ..Library::default() }));
        stage.click_on("history");
        stage
    }

    #[test]
    fn opponents_are_listed_with_ratings() {
        let mut stage = self::stage(false, 0);
        stage.size = (140, 45);
        let shown = stage.draw();
        assert!(shown.contains("rating") && shown.contains("±"), "{shown}");
        stage.click_on("opponents");
        stage.size = (80, 24);
        insta::assert_snapshot!("opponents-80x24", stage.draw());
        for size in [(1, 1), (20, 5), (60, 20), (140, 45)] {
            stage.size = size;
            stage.draw();
        }
        let mut plain = self::stage(true, 0);
        plain.keys("o");
        let text = plain.draw();
        assert!(text.is_ascii() && text.contains("normal bots"), "{text}");
    }

    #[test]
    fn a_long_list_scrolls_to_its_end() {
        let mut stage = stage(false, 40);
        stage.keys("o");
        assert!(stage.draw().contains("more lines below"), "{}", stage.draw());
        stage.key(KeyCode::End);
        let shown = stage.draw();
        assert!(shown.contains("A rating begins at 1500") && !shown.contains("below"), "{shown}");
        stage.key(KeyCode::Up);
        assert!(stage.draw().contains("1 more line below"));
        stage.key(KeyCode::Esc);
        assert_eq!(stage.shell.trail().last().unwrap(), "history");
    }
}
