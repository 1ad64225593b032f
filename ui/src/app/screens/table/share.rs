//! A game to share: the result as two or three lines for a chat, and the whole game as a page.

use fairdeal_games::AnyGame;
use fairdeal_games::calendar::day_in_words;
use fairdeal_games::counted;
use fairdeal_games::ivory::cards::CROWN;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::past::solitaire::Solitaire;
use fairdeal_session::spoken::spoken;
use fairdeal_session::view::Snapshot;

use super::{Outcome, TableScreen, Voice};
use crate::app::screen::{Context, Cx, Effect};

/// The scores in the order of the ranking; bots are marked, since a person's victory over them is another one.
fn scores(snapshot: &Snapshot, outcome: &Outcome) -> String {
    let mut ranking: Vec<(Seat, i64)> = Seat::first(snapshot.names.len()).zip(outcome.scores.iter().copied()).collect();
    ranking.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    let one = |(seat, score): (Seat, i64)| {
        let name = snapshot.names.get(seat.index()).map_or("", String::as_str);
        let bot = if snapshot.seating.parties.is_person(seat) { "" } else { " (bot)" };
        format!("{name}{bot} {score}")
    };
    ranking.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The tower as a bar, and the days in a row.
fn tower(game: &fairdeal_games::ivory::Ivory, context: &Context, snapshot: &Snapshot) -> String {
    let (height, top) = (usize::from(game.score()), usize::from(CROWN));
    let theme = &context.theme;
    let bar = theme.glyph("■", "#").repeat(height) + &theme.glyph("·", ".").repeat(top.saturating_sub(height));
    let turned = match game.recycles() {
        0 => String::new(),
        1 => ", the pile turned over once".to_owned(),
        count => format!(", the pile turned over {count} times"),
    };
    let streak = Solitaire::of(&context.library.past, snapshot.game.info().id, &context.today).streak;
    let days = match game.daily() {
        Some(_) if streak > 1 => format!(", {} in a row", counted(streak, "day")),
        _ => String::new(),
    };
    format!("{bar} {height} of {top}{turned}{days}")
}

/// The result for a chat: the game and its scores, what decided it, and words that prove that all have the same log.
fn text(table_screen: &TableScreen, context: &Context, snapshot: &Snapshot, outcome: &Outcome) -> String {
    let name = snapshot.game.info().name;
    if let AnyGame::Ivory(game) = &snapshot.game {
        let day = game.daily().and_then(day_in_words).map_or_else(String::new, |day| format!(", {day}"));
        return format!("fairdeal, {name}{day}\n{}", tower(game, context, snapshot));
    }
    let mut lines = vec![format!("fairdeal, {name}: {}", scores(snapshot, outcome))];
    let largest = table_screen.ending.gains.largest();
    if let Some((name, points)) = largest.and_then(|(seat, points)| Some((snapshot.names.get(seat)?, points))) {
        lines.push(format!("The largest gain at once: {name}, +{points}"));
    }
    lines.push(format!("The log in eight words: {}", spoken(&outcome.log.0)));
    lines.join("\n")
}

impl TableScreen {
    /// Saves the page for browsers with the game inside.
    pub(super) fn save_page(&self, cx: &mut Cx<'_>) {
        if let Some(transcript) = self.ending.outcome.as_ref().and_then(|outcome| outcome.transcript.clone()) {
            cx.effect(Effect::SavePage(transcript));
        }
    }

    /// Copies the result for a chat, and shows it in the log, whatever becomes of the copy.
    pub(super) fn share(&mut self, cx: &mut Cx<'_>) {
        let (Some(snapshot), Some(outcome)) = (&self.snapshot, &self.ending.outcome) else {
            return;
        };
        let text = text(self, cx.context, snapshot, outcome);
        for line in text.lines() {
            self.log.say(Voice::Table, line.to_owned());
        }
        cx.effect(Effect::Copy(text));
    }
}
