//! The rulebooks at every width, and the ways through them.

use std::collections::BTreeSet;

use fairdeal_games::{GAMES, GameInfo, game_info};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::lay_out;
use super::{Rules, anchors};
use crate::app::screen::Screen as _;
use crate::app::testing::{TestApp, context};
use crate::canvas::{Canvas, Layer, Marks, Target};
use crate::input::KeyCode;
use crate::theme::Theme;

fn game(id: &str) -> &'static GameInfo {
    game_info(id).unwrap()
}

/// Draws a rulebook without the shell around it.
fn drawn(rules: &mut Rules, width: u16, height: u16) -> Vec<String> {
    let context = context(false);
    let area = Rect::new(0, 0, width, height);
    let (marks, mut layer) = (Marks::default(), Layer::default());
    let mut buffer = Buffer::empty(area);
    let mut canvas = Canvas::new(&mut buffer, &context.theme, &marks, None, &mut layer);
    rules.draw(&context, &mut canvas, area);
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
}

fn plain(markdown: &str, width: usize) -> String {
    let page = lay_out(markdown, width, &Theme::default());
    let rows = page.rows.iter().map(|row| row.line.to_string().trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

fn opened(size: (u16, u16)) -> TestApp {
    let mut stage = TestApp::at_home(false);
    stage.size = size;
    stage.click_on("Loot  ");
    stage.keys("R");
    stage
}

#[test]
fn no_rulebook_is_wider_than_its_column() {
    let ascii = context(true).theme;
    for (info, width) in GAMES.iter().flat_map(|info| (50..=84).map(move |width| (info, width))) {
        for theme in [Theme::default(), ascii] {
            let page = lay_out(info.rulebook, width, &theme);
            for row in &page.rows {
                let text = row.line.to_string();
                assert!(row.line.width() <= width, "{}: {text}", info.name);
                assert!(!text.contains("```") && !text.contains("**"), "{text}");
                assert!(!theme.is_ascii() || text.is_ascii(), "{text}");
            }
            let sources: Vec<usize> = page.rows.iter().map(|row| row.source).collect();
            assert!(sources.is_sorted(), "{}: {sources:?}", info.name);
        }
    }
}

/// Every pyramid and every card of a drawing is understood.
#[test]
fn every_drawing_is_drawn_in_full() {
    for info in GAMES {
        let blocks = info.rulebook.split("```").skip(1).step_by(2);
        let mut kinds = 0;
        for block in blocks {
            let (kind, text) = block.split_once('\n').unwrap();
            assert!(["cards", "stacks", "house", "board"].contains(&kind), "{kind}");
            let shown = plain(&format!("```{block}```"), 84);
            let pyramids = ["small ", "medium ", "large "].map(|size| text.matches(size).count());
            assert!(kind != "stacks" || shown.matches('▟').count() == pyramids.iter().sum::<usize>(), "{shown}");
            assert!(kind != "house" || !shown.contains("medium"), "{shown}");
            kinds += 1;
        }
        assert!(kinds > 0, "{}", info.name);
    }
}

#[test]
fn a_table_has_columns_or_becomes_a_list() {
    let table = "| card | what it does |\n| --- | --- |\n| Ace | begins a tower |\n| Crown | ends it |\n";
    assert_eq!(plain(table, 40), "card   what it does\n━━━━━━━━━━━━━━━━━━━━━\nAce    begins a tower\nCrown  ends it");
    assert_eq!(
        plain(table, 16),
        "card   what it\n       does\n━━━━━━━━━━━━━━━━\nAce    begins a\n       tower\nCrown  ends it"
    );
    assert_eq!(
        plain(table, 12),
        "Ace\n  what it\n    does:\n    begins a\n    tower\nCrown\n  what it\n    does:\n    ends it"
    );
}

#[test]
fn lists_and_quotes_hang() {
    assert_eq!(plain("- one **two** `three`\n- four", 11), "• one two\n  three\n• four");
    assert_eq!(plain("1. one two\n\n   > three\n2. four", 8), "1. one\n   two\n\n▎    three\n\n2. four");
}

#[test]
fn anchors_are_unique() {
    for info in GAMES {
        let all = anchors(info);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }
    assert!(anchors(game("loot")).contains(&"what-a-hand-scores".to_owned()));
}

/// The heading asked for is marked, at the top if the text below it fills the screen.
#[test]
fn a_rulebook_opens_at_an_anchor() {
    for info in GAMES {
        for anchor in anchors(info) {
            let rows = drawn(&mut Rules::at(info, &anchor), 80, 23);
            let marked = rows.iter().find_map(|row| row.trim_start().strip_prefix("▌ "));
            let slug = marked.map(|row| row.split("  ").next().unwrap().to_lowercase().replace(' ', "-"));
            assert_eq!(slug.map(|slug| slug.replace('\'', "")), Some(anchor));
        }
    }
    let rows = drawn(&mut Rules::at(game("loot"), "no-such-heading"), 80, 23);
    assert!(rows[1].starts_with("    Loot"), "{rows:?}");
    let rows = drawn(&mut Rules::at(game("plutonian-poker"), "a-turn"), 80, 23);
    assert!(rows[1].starts_with("  ▌ A turn"), "{rows:?}");
}

#[test]
fn the_reading_position_survives_a_resize() {
    let mut rules = Rules::new(game("houses-of-thoth"));
    drawn(&mut rules, 80, 23);
    rules.scroll(60);
    let before = drawn(&mut rules, 80, 23);
    drawn(&mut rules, 200, 59);
    drawn(&mut rules, 60, 19);
    assert_eq!(drawn(&mut rules, 80, 23), before);
}

#[test]
fn the_contents_lead_to_a_section() {
    let mut stage = opened((120, 40));
    stage.click_on("What a hand scores");
    assert!(stage.draw().contains("▌ What a hand scores"));
    for open in [KeyCode::Tab, KeyCode::Char('c')] {
        let mut stage = opened((80, 24));
        stage.key(open);
        assert!(stage.draw().contains("▌ The deck"));
        stage.key(KeyCode::Down);
        stage.key(KeyCode::Enter);
        let shown = stage.draw();
        assert!(shown.contains("▌ A hand") && !shown.contains("Contents"), "{shown}");
        stage.key(open);
        stage.key(KeyCode::Esc);
        assert!(stage.draw().contains("▌ A hand"));
    }
}

#[test]
fn the_search_counts_its_matches() {
    let mut stage = opened((80, 24));
    stage.keys("/DRAW PILE");
    assert!(stage.draw().contains("1 of 3"));
    stage.key(KeyCode::Enter);
    stage.keys("n");
    assert!(stage.draw().contains("2 of 3"));
    stage.keys("NN");
    assert!(stage.draw().contains("3 of 3"));
    stage.keys("/trombone");
    assert!(stage.draw().contains("not found"));
    stage.key(KeyCode::Enter);
    assert!(stage.draw().contains("'trombone' is not in this rulebook"));
    // Nothing to lead to: the keys do nothing.
    stage.keys("nN");
    assert!(!stage.shell.layer().targets.iter().any(|(_, target)| matches!(target, Target::Row(_))));
}
