//! The seal: what protects this step, in one sentence, as a picture that follows the table, and in detail.

use fairdeal_games::match_game;
use fairdeal_protocol::card::{Handle, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::{SealedAhead, StepKind};
use ratatui::layout::{Constraint, Layout, Margin};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::{TableScreen, button, view_of};
use crate::app::screens::locks::{Below, Lock, Shown, of_chance, picture};
use crate::app::shell::window;
use crate::canvas::{Canvas, wrapped};
use crate::tables::{Board as _, Spot};
use crate::theme::Theme;
use fairdeal_session::spoken::spoken;
use fairdeal_session::view::{Snapshot, Standing};

fn names(snapshot: &Snapshot, seats: SeatSet) -> String {
    let list: Vec<&str> =
        seats.iter().filter_map(|seat| snapshot.names.get(seat.index()).map(String::as_str)).collect();
    list.join(", ")
}

/// One sentence on what protects this step; `None` where nothing is sealed.
pub(super) fn in_words(snapshot: &Snapshot) -> Option<String> {
    match &snapshot.standing {
        Standing::Sealed(progress) => Some(text(snapshot, progress)),
        Standing::Practice { .. } | Standing::Puzzle => None,
    }
}

fn text(snapshot: &Snapshot, progress: &Progress) -> String {
    let Progress { kind, done, awaited, .. } = *progress;
    let (count, all) = (done.len(), snapshot.names.len());
    let missing = names(snapshot, awaited);
    match kind {
        None => "All checks passed. The log is closed: every seat has signed the end.".to_owned(),
        Some(StepKind::Commit) => {
            format!("{count} of {all} have committed to their seeds; no card is drawn before that.")
        }
        Some(StepKind::Key) => format!("{count} of {all} have proved the key of this deal."),
        Some(StepKind::Escrow) => {
            format!("{count} of {all} have shared their key among the others.")
        }
        Some(StepKind::Accept) => {
            format!("{count} of {all} have checked their key parts: the game can lose a seat.")
        }
        Some(StepKind::Rebuild { .. }) => {
            format!("{count} of {all} have rebuilt the absent seat's shares.")
        }
        Some(StepKind::Shuffle { .. }) => {
            format!("{count} of {all} have shuffled, with proof; {missing} shuffles now.")
        }
        Some(StepKind::Action { .. }) if count == 0 => {
            format!("All checks passed. It is the turn of {missing}; every seat signs what it sees.")
        }
        Some(StepKind::Action { .. }) => {
            format!("{count} of {all} have signed this action and sent their shares.")
        }
        Some(StepKind::Effects) => {
            format!("Opening cards: shares of {count} of {all} are in, each with proof.")
        }
        Some(StepKind::Tip) => format!("{count} of {all} have published their next coins."),
        Some(StepKind::Confirm) => {
            format!("{count} of {all} have confirmed that they hold the same log.")
        }
        Some(StepKind::Opening) => {
            format!("{count} of {all} have revealed their seeds; every shuffle is recomputed.")
        }
        Some(StepKind::Closing) => format!("{count} of {all} have closed this deal."),
    }
}

/// The locks that are closed before their deal begins: those of this deck were, those of the next one are already.
fn sealed_ahead(snapshot: &Snapshot, progress: &Progress) -> Option<String> {
    let SealedAhead { next, this } = progress.sealed_ahead;
    let (closed, all) = (next.len(), progress.live.len());
    let before = this
        .map(|step| format!("All locks of this deck were closed in step {step}, while the deal before was played."));
    let after = (closed > 0).then(|| {
        let who = if closed < all { format!("{closed} of {all}") } else { "All".to_owned() };
        let whose = if closed < all { format!(" ({})", names(snapshot, next)) } else { String::new() };
        format!("{who} have locked the next deck already{whose}. No card of it is drawn before this deal is over.")
    });
    let sentences: Vec<String> = before.into_iter().chain(after).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// A card's name as the table has it.
fn title_of(snapshot: &Snapshot, slot: Slot) -> String {
    let theme = Theme::default();
    view_of(
        snapshot,
        &[],
        &[],
        true,
        &theme,
        |view| match_game!(&snapshot.game, game => game.title(Spot::Card(slot), view)),
    )
}

/// A card's name alone, to stand behind "your" or "the".
fn name_of(snapshot: &Snapshot, slot: Slot) -> String {
    let title = title_of(snapshot, slot);
    let name = title.split([':', '(']).next().unwrap_or_default().trim();
    name.strip_prefix("the ").unwrap_or(name).to_owned()
}

/// The origin of this player's cards, as a sentence; `None` if not sealed. With `named`, lists the seats whose
/// reveal tokens (shares) it took.
fn opened_by(snapshot: &Snapshot, cards: &[Handle], named: bool) -> Option<String> {
    let (last, others) = cards.split_last()?;
    let what = if others.is_empty() {
        snapshot.known.get(*last)?;
        format!("Your {} is", name_of(snapshot, Slot::Sealed(*last)))
    } else {
        format!("Your {} cards are", cards.len())
    };
    let mut shares = *snapshot.shares.get(last)?;
    if let Some(me) = snapshot.me {
        // Nobody else has seen the player's own share.
        shares.remove(me);
    }
    let whose = if named { format!(" ({})", names(snapshot, shares)) } else { String::new() };
    Some(match shares.len() {
        0 => format!("{what} opened by your key alone."),
        1 => format!("{what} opened by 1 share{whose}, proved, and your own key."),
        count => format!("{what} opened by {count} shares{whose}, each proved, and your own key."),
    })
}

/// The origin of the card that the player looks at, or else the latest one.
fn opened(table_screen: &TableScreen, snapshot: &Snapshot) -> Option<String> {
    match table_screen.choice.aimed.last() {
        Some(Spot::Card(Slot::Sealed(card))) if snapshot.shares.contains_key(card) => {
            opened_by(snapshot, &[*card], true)
        }
        Some(Spot::Card(Slot::Open(face))) if snapshot.game.seals_cards() => {
            let name = name_of(snapshot, Slot::Open(*face));
            Some(format!("The {name} is open: the log holds all its shares, each proved."))
        }
        _ => opened_by(snapshot, &table_screen.stage.came, true),
    }
}

/// The sign in the header: the game is sealed, and who is connected.
pub(super) fn sign(snapshot: &Snapshot, theme: &Theme) -> Line<'static> {
    if matches!(snapshot.standing, Standing::Practice { .. } | Standing::Puzzle) {
        return Line::from(theme.glyph("◇ practice", "- practice"));
    }
    let mut spans = vec![Span::styled(theme.glyph("◈ sealed", "# sealed"), theme.good())];
    if snapshot.seating.parties.count(SeatSet::all(snapshot.names.len())) > 1 {
        for seat in Seat::first(snapshot.names.len()) {
            let (dot, style) = match (snapshot.connected.contains(seat), snapshot.indirect.contains(seat)) {
                (true, _) => (theme.sign(" ●", " *"), theme.good()),
                (false, true) => (theme.sign(" ◐", " o"), theme.accent()),
                (false, false) => (theme.sign(" ○", " -"), theme.bad()),
            };
            spans.push(Span::styled(dot, style));
        }
    }
    Line::from(spans)
}

/// The text for a practice game.
const PRACTICE: &str = "Practice: nothing is sealed or saved, and you can undo your actions until the game is over.";

const ESCROW: &str = "escrow";
/// The index of the shuffle in [`STEPS`].
const SHUFFLE: usize = 3;

/// Steps of a deal, in order: name and meaning.
const STEPS: [(&str, &str); 6] = [
    ("commit", "each seat commits to its secret seed before it sees anything"),
    ("keys", "each seat proves its key; opening a card takes all of them"),
    (ESCROW, "each key is shared among the others: the game can lose a seat"),
    ("shuffle", "each seat shuffles and re-encrypts the deck, with proof"),
    ("play", "shares of all seats open a card, each with proof"),
    ("opening", "seeds are revealed, and every shuffle is recomputed"),
];

fn stage(kind: Option<StepKind>) -> usize {
    match kind {
        Some(StepKind::Commit) => 0,
        Some(StepKind::Key) => 1,
        Some(StepKind::Escrow | StepKind::Accept) => 2,
        Some(StepKind::Shuffle { .. }) => 3,
        Some(StepKind::Opening | StepKind::Closing) => 5,
        None => STEPS.len(),
        Some(_) => 4,
    }
}

/// The steps of a deal at this table, each with its index in [`STEPS`].
fn parts(snapshot: &Snapshot) -> Vec<(usize, (&'static str, &'static str))> {
    let escrow = snapshot.seating.has_escrow();
    STEPS.into_iter().enumerate().filter(|(_, (name, _))| escrow || *name != ESCROW).collect()
}

/// The seats that are still at the table, with their names, in order.
fn here<'a>(snapshot: &'a Snapshot, progress: &Progress) -> impl Iterator<Item = (Seat, &'a String)> {
    let live = progress.live;
    Seat::first(snapshot.names.len()).zip(&snapshot.names).filter(move |(seat, _)| live.contains(*seat))
}

/// How far each seat is with its lock on the deck of this deal.
fn locks<'a>(snapshot: &'a Snapshot, progress: &Progress) -> Vec<(&'a str, Lock)> {
    let Progress { kind, done, awaited, .. } = *progress;
    let lock = |seat: Seat| match kind {
        Some(StepKind::Shuffle { .. }) if done.contains(seat) => Lock::Closed,
        Some(StepKind::Shuffle { .. }) if awaited.contains(seat) => Lock::Shuffles,
        Some(StepKind::Shuffle { .. }) => Lock::Waits,
        Some(StepKind::Opening) if done.contains(seat) => Lock::Checked,
        Some(StepKind::Closing) | None => Lock::Checked,
        _ if stage(kind) < SHUFFLE => Lock::Waits,
        _ => Lock::Closed,
    };
    here(snapshot, progress).map(|(seat, name)| (name.as_str(), lock(seat))).collect()
}

/// The card that the player looks at, or else the newest one, with its locks.
fn shown(table_screen: &TableScreen, snapshot: &Snapshot, progress: &Progress) -> Shown {
    let card = |is_open: bool, words: String, open: SeatSet| {
        let locks = here(snapshot, progress).map(|(seat, name)| (name.clone(), open.contains(seat)));
        Shown { is_open, words, below: Below::Locks(locks.collect()) }
    };
    let closed = |words: &str, open: SeatSet| card(false, words.to_owned(), open);
    match progress.kind {
        Some(StepKind::Effects) => return closed("A card is being opened.", progress.done),
        Some(StepKind::Opening) => {
            return closed("Once all seeds are shown, every card can be computed.", progress.done);
        }
        Some(StepKind::Closing) | None => {
            return closed("All seeds are shown: every card can be computed.", progress.live);
        }
        Some(_) => {}
    }
    let cards = match table_screen.choice.aimed.last() {
        Some(Spot::Card(Slot::Open(face))) => {
            return card(
                true,
                format!("The {} is open to everybody.", name_of(snapshot, Slot::Open(*face))),
                progress.live,
            );
        }
        Some(Spot::Card(Slot::Sealed(card))) if snapshot.shares.contains_key(card) => vec![*card],
        _ => table_screen.stage.came.clone(),
    };
    let newest = cards.last().filter(|card| snapshot.known.get(**card).is_some());
    match newest.and_then(|card| Some((*card, *snapshot.shares.get(card)?))) {
        Some((newest, mut shares)) => {
            shares.extend(snapshot.me);
            let whose = match cards.len() {
                1 => format!("Your {}", name_of(snapshot, Slot::Sealed(newest))),
                count => format!("Your {count} cards"),
            };
            card(true, format!("{whose}: only you have all the shares."), shares)
        }
        None if snapshot.names.len() == 1 => Shown::alone(),
        None => closed("Nobody knows a card that is face down.", SeatSet::EMPTY),
    }
}

/// The seal as a picture: the locks on the deck, a card, and the words to compare. It follows the table.
pub(super) fn draw(table_screen: &TableScreen, snapshot: &Snapshot, canvas: &mut Canvas<'_>) {
    let theme = canvas.theme();
    let width = usize::from(canvas.area().width.min(78)).saturating_sub(4);
    let Standing::Sealed(progress) = &snapshot.standing else {
        return draw_sheet(canvas, vec![Line::styled(PRACTICE, theme.title())], width, None);
    };
    let mut lines = vec![Line::styled(text(snapshot, progress), theme.title()), Line::default()];
    if snapshot.game.seals_cards() {
        lines.extend(picture(&locks(snapshot, progress), &shown(table_screen, snapshot, progress), theme));
    } else {
        lines.extend(of_chance(&snapshot.names, theme));
    }
    if let Some(words) = sealed_ahead(snapshot, progress) {
        lines.extend([Line::default(), Line::styled(words, theme.faint())]);
    }
    // Nobody else is there to read them to, where all seats are in one program.
    if snapshot.seating.parties.count(progress.live) > 1 {
        lines.push(Line::default());
        lines.push(Line::raw("To be sure that all see the same game, read these words aloud to another player:"));
        lines.push(Line::styled(spoken(&progress.log.0), theme.accent()));
    }
    draw_sheet(canvas, lines, width, Some("details"));
}

/// The seal in detail: the steps of a deal, the current one, who has done it, and the hash to compare.
pub(super) fn draw_details(table_screen: &TableScreen, snapshot: &Snapshot, canvas: &mut Canvas<'_>) {
    let theme = canvas.theme();
    let seats = snapshot.names.len();
    let width = usize::from(canvas.area().width.min(78)).saturating_sub(4);
    let Standing::Sealed(progress) = &snapshot.standing else {
        return draw(table_screen, snapshot, canvas);
    };
    let Progress { kind, done, awaited, .. } = *progress;
    let here = stage(kind);
    let mut lines = vec![Line::styled(text(snapshot, progress), theme.title()), Line::default()];
    for (number, (name, meaning)) in parts(snapshot) {
        let (sign, style) = match number.cmp(&here) {
            std::cmp::Ordering::Less => (theme.glyph("✓", "+"), theme.good()),
            std::cmp::Ordering::Equal => (theme.glyph("▶", ">"), theme.accent()),
            std::cmp::Ordering::Greater => (theme.glyph("·", "."), theme.faint()),
        };
        lines.push(Line::from(vec![
            Span::styled(format!("{sign} {name:<8}"), style),
            Span::styled(meaning, theme.ink()),
        ]));
    }
    lines.push(Line::default());
    for (seat, name) in Seat::first(seats).zip(&snapshot.names) {
        let (state, style) = if done.contains(seat) {
            (theme.glyph("✓ has signed this step", "+ has signed this step"), theme.good())
        } else if awaited.contains(seat) {
            (theme.glyph("… has to sign this step", "~ has to sign this step"), theme.accent())
        } else {
            ("  is ready", theme.faint())
        };
        lines.push(Line::from(vec![Span::raw(format!("{name:<18.18} ")), Span::styled(state, style)]));
    }
    lines.extend(snapshot.seating.in_words(&snapshot.names).map(|words| Line::styled(words, theme.faint())));
    lines.push(Line::default());
    if let Some(words) = opened(table_screen, snapshot) {
        lines.extend([Line::raw(words), Line::default()]);
    }
    if let Some(words) = sealed_ahead(snapshot, progress) {
        lines.extend([Line::raw(words), Line::default()]);
    }
    let hash = progress.log.to_string();
    let deal = progress.deal + 1;
    let words = format!(
        "Deal {deal}, step {}. The log so far has this hash; compare its first digits with a friend at \
         the table: if they differ, somebody is being cheated.",
        progress.step
    );
    lines.extend([Line::raw(words), Line::styled(hash, theme.accent())]);
    draw_sheet(canvas, lines, width, Some("picture"));
}

/// Draws the sheet with its lines wrapped; where the screen is too low, without its blank rows. `other` names the page
/// behind `d`.
fn draw_sheet(canvas: &mut Canvas<'_>, mut lines: Vec<Line<'_>>, width: usize, other: Option<&str>) {
    // An indented line wraps earlier than its words alone.
    let rows_of = |line: &Line<'_>| wrapped(&line.to_string(), width, 0).len().max(line.width().div_ceil(width.max(1)));
    let rows = |lines: &[Line<'_>]| -> usize { lines.iter().map(rows_of).sum() };
    if rows(&lines) + 5 > usize::from(canvas.area().height) {
        lines.retain(|line| line.width() > 0);
    }
    let height = u16::try_from(rows(&lines)).unwrap_or(u16::MAX).saturating_add(3);
    let inner = window(canvas, "The seal", u16::try_from(width).unwrap_or(74) + 4, height);
    let [text, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inner);
    canvas.render(Paragraph::new(lines).wrap(Wrap { trim: false }), text.inner(Margin::new(1, 0)));
    let x = canvas.button((foot.x + 1, foot.y), "Enter", "close", button::CLOSE);
    if let Some(page) = other {
        canvas.button((x, foot.y), "d", page, button::SEAL_DETAILS);
    }
}
