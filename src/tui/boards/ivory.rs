//! The board of Ivory Tower: the tower, the resource piles, the deck and the draw pile's top card.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Text};

use crate::games::ivory::cards::{self, Suit};
use crate::games::ivory::{Ivory, IvoryAction, Source, Target, named};
use crate::tui::board::{Board, Choice, Look};
use crate::tui::rows::{Paragraph, fitting, rows};
use crate::tui::style::Theme;

/// A card in short: its rank and the first letters of its suits.
fn short(card: Face) -> String {
    let suits = cards::suits(card);
    let suits: Vec<&str> = suits
        .iter()
        .filter_map(|suit| suit.name().get(..2))
        .collect();
    let rank = match cards::rank(card) {
        1 => "A".to_owned(),
        cards::CROWN => "C".to_owned(),
        rank => rank.to_string(),
    };
    format!("{rank}{}", suits.join("+"))
}

/// How much room the board takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// With rows left free.
    Roomy,
    /// Without them.
    Close,
    /// Also without what the letters mean.
    Bare,
}

/// A labelled row, and how far it goes on below its label.
fn labelled(label: &str, theme: &Theme) -> Paragraph {
    let label = Line::styled(format!(" {label:<7}"), theme.title());
    Paragraph::new(9).words([label])
}

/// The board from the top.
fn paragraphs(game: &Ivory, theme: &Theme, form: Form) -> Vec<Paragraph> {
    let shorts = |cards: &[Face]| cards.iter().map(|card| short(*card)).collect::<Vec<_>>();
    let waiting = |what: &str| vec![format!("waits for {what}")];
    let free = || (form == Form::Roomy).then(|| Paragraph::new(0).words([""]));
    let tower = if game.tower().is_empty() {
        waiting("an Ace")
    } else {
        shorts(game.tower())
    };
    let tower = tower
        .into_iter()
        .map(|card| Line::styled(card, theme.good()));
    let mut all = vec![labelled("tower", theme).words(tower)];
    all.extend(free());
    for number in 0..3 {
        let pile = game.piles().get(number);
        let cards = pile.map_or_else(|| waiting("a Crown"), |pile| shorts(pile));
        all.push(labelled(&format!("pile {number}"), theme).words(cards));
    }
    all.extend(free());
    let top = game
        .top()
        .map_or_else(|| "nothing; turn cards".to_owned(), named);
    all.push(labelled("drawn", theme).words([Line::styled(top, theme.key())]));
    let (draw, deck) = (game.draw_pile().len(), game.deck().len());
    let counts = format!("{draw} in the draw pile, {deck} in the deck");
    all.push(labelled("", theme).words([counts]));
    if form != Form::Bare {
        all.extend(free());
        let suits = Suit::ALL.map(|suit| {
            let name = suit.name();
            let (letters, rest) = name.split_at_checked(2).unwrap_or((name, ""));
            Line::styled(format!("{letters}({rest})"), theme.faint())
        });
        all.push(Paragraph::new(0).words(suits));
    }
    all
}

impl Board for Ivory {
    fn heading(&self) -> String {
        let deal = self
            .daily()
            .map_or_else(|| "own deal".to_owned(), |day| format!("deal of {day}"));
        format!("{deal}, turned over {}x", self.recycles())
    }

    fn seat_note(&self, _seat: Seat) -> String {
        if self.is_won() {
            "complete".to_owned()
        } else {
            format!("of {}", cards::CROWN)
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        if self.plays().is_empty() {
            "turn three cards.".to_owned()
        } else {
            "play a card, or turn.".to_owned()
        }
    }

    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect) {
        let width = usize::from(area.width);
        let forms = [Form::Roomy, Form::Close, Form::Bare];
        let forms = forms.map(|form| rows(paragraphs(self, look.theme, form), width));
        let rows = fitting(forms, usize::from(area.height), look.theme);
        frame.render_widget(Text::from(rows), area);
    }

    fn choice(&self, action: &IvoryAction, _known: &Faces) -> Choice {
        match *action {
            IvoryAction::Turn => Choice::new("turn", "turn up to three cards"),
            IvoryAction::Resign => Choice::new("resign", "end the game here"),
            IvoryAction::Play { from, to } => {
                let card = self.available(from).map_or_else(String::new, short);
                let from = match from {
                    Source::Draw => card,
                    Source::Pile(pile) => format!("{card} of pile {pile}"),
                };
                let to = match to {
                    Target::Tower => "onto the tower".to_owned(),
                    Target::New => "begin a new pile".to_owned(),
                    Target::Pile(pile) => {
                        let last = self.available(Source::Pile(pile));
                        let last = last.map_or_else(String::new, short);
                        format!("onto {last} of pile {pile}")
                    }
                };
                Choice::new(from, to)
            }
        }
    }
}
