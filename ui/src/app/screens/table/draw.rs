//! The table: stage and hand, and the parts that are the same in every game.

use fairdeal_games::match_game;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::replica::StepKind;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::choosing::{AHEAD, sentence};
use super::extended::{holiday_in_words, reserve_of};
use super::inspector::draw_upwards;
use super::{Over, TableScreen, button, inspector, outcome, rail, seal, view_of};
use crate::app::screen::Context;
use crate::app::screens::{offer, put_keys};
use crate::canvas::{Canvas, Target, wrapped};
use crate::keys::Intent;
use crate::tables::layout::{self, Areas};
use crate::tables::{Board as _, SeatState, Spot, ViewContext};
use fairdeal_session::view::{Snapshot, Standing, Waiting, time_in_words};

/// Note on a seat with no direct connection, while other seats have one.
const FAR: &str = "no direct link";

pub(super) fn draw(table_screen: &mut TableScreen, context: &Context, canvas: &mut Canvas<'_>) {
    // The sheet is drawn last, and the rest of the screen does not depend on it.
    let mut over = std::mem::take(&mut table_screen.over);
    draw_table(table_screen, context, &mut over, canvas);
    table_screen.over = over;
}

fn draw_table(table_screen: &TableScreen, context: &Context, over: &mut Over, canvas: &mut Canvas<'_>) {
    let Some(snapshot) = &table_screen.snapshot else {
        return;
    };
    let mut areas = layout::areas(&snapshot.game, canvas.area());
    let prompt = prompt_rows(table_screen, context, snapshot, canvas, areas.prompt);
    make_room(&mut areas, prompt.len());
    let acts = table_screen.status.is_none() && !table_screen.rest.is_resting() && !table_screen.is_held();
    let is_closed = table_screen.is_closed();
    let picked = &table_screen.choice.picked;
    let seats = seat_states(snapshot, table_screen);
    let theme = canvas.theme();
    view_of(snapshot, &seats, picked, acts, theme, |view| {
        let view = &ViewContext { is_closed, ..*view };
        match_game!(&snapshot.game, game => {
            game.draw(view, canvas, areas.stage);
            game.draw_hand(view, canvas, areas.hand);
        });
        rail::draw(table_screen, &snapshot.game, view, canvas, &areas);
        // Under a sheet nothing is chosen.
        if matches!(over, Over::Nothing) {
            inspector::draw(table_screen, context, &snapshot.game, view, canvas, areas.inspector);
        }
    });
    // A prompt of several rows takes the place of the rule.
    if prompt.len() <= 1 {
        draw_rule(canvas, areas.rule);
    }
    draw_upwards(canvas, areas.prompt, prompt);
    match over {
        Over::Nothing | Over::Outcome => draw_keys(table_screen, context, snapshot, canvas, &areas),
        _ => draw_sheet_keys(context, over, canvas, areas.keys),
    }
    if matches!(over, Over::Nothing) {
        inspector::draw_hint(table_screen, canvas, &areas);
    }
    table_screen.stage.draw(canvas);
    if !matches!(over, Over::Nothing) {
        canvas.cover();
    }
    match over {
        Over::Nothing => {}
        Over::Seal => seal::draw(table_screen, snapshot, canvas),
        Over::SealDetails => seal::draw_details(table_screen, snapshot, canvas),
        Over::Telling(telling) => telling.draw(canvas, button::CLOSE, &table_screen.rest.in_words()),
        Over::Uses => inspector::draw_uses(table_screen, canvas),
        Over::Outcome => outcome::draw(table_screen, context, snapshot, canvas),
    }
}

/// Each seat besides its game: who plays it, its connection and clock, and what it did last.
pub(super) fn seat_states(snapshot: &Snapshot, table_screen: &TableScreen) -> Vec<SeatState> {
    let over = snapshot.game.is_over() || table_screen.is_closed();
    let state = |seat: Seat| {
        let waiting = snapshot.waits.seats.iter().find(|waiting| waiting.seat == seat);
        let is_far = snapshot.indirect.contains(seat);
        let note = match waiting {
            // After the end nobody is missed.
            _ if over => None,
            Some(Waiting { holiday: Some(last), .. }) => Some((holiday_in_words(*last), false)),
            _ if table_screen.paused.contains(seat) && !is_far && !snapshot.connected.contains(seat) => {
                Some(("has paused".to_owned(), false))
            }
            Some(Waiting { silent: Some(silent), .. }) => {
                Some((format!("silent for {}", time_in_words(*silent)), true))
            }
            _ if !snapshot.connected.contains(seat) && !is_far => Some(("offline".to_owned(), true)),
            Some(Waiting { turn_left: Some(0), .. }) => Some(match reserve_of(snapshot, seat) {
                0 => ("time is up".to_owned(), true),
                left => (format!("time bank: {}", time_in_words(left)), true),
            }),
            Some(Waiting { turn_left: Some(left), .. }) => Some((format!("{} left", time_in_words(*left)), false)),
            // This seat's moves arrive through other seats.
            _ if is_far => Some((FAR.to_owned(), false)),
            _ => None,
        };
        SeatState { is_bot: !snapshot.seating.parties.is_person(seat), note, last: table_screen.log.last_of(seat) }
    };
    Seat::first(snapshot.names.len()).map(state).collect()
}

fn draw_rule(canvas: &mut Canvas<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let theme = canvas.theme();
    let rule = theme.glyph("━", "=").repeat(usize::from(area.width));
    canvas.put(area, Line::styled(rule, theme.faint()));
}

/// The time left for the player's turn, as a sentence after others.
fn clock(snapshot: &Snapshot) -> Option<String> {
    let left = snapshot.waits.own_turn_left?;
    let bank = snapshot.me.map_or(0, |me| reserve_of(snapshot, me));
    Some(match (left, bank) {
        (_, 0) => format!(" {} left.", time_in_words(left)),
        (0, bank) => format!(" Your time bank is running: {} left.", time_in_words(bank)),
        (left, bank) => format!(" {} left, then {} from your time bank.", time_in_words(left), time_in_words(bank)),
    })
}

/// Whether the seats commit to seeds and shuffle, and this player would be to act.
fn is_set_up(snapshot: &Snapshot) -> bool {
    let Standing::Sealed(progress) = &snapshot.standing else { return false };
    let sets_up = matches!(
        progress.kind,
        Some(StepKind::Commit | StepKind::Key | StepKind::Escrow | StepKind::Accept | StepKind::Shuffle { .. })
    );
    sets_up && snapshot.me.is_some_and(|me| snapshot.game.to_act().contains(me))
}

/// The prompt: the seat to act, and what may be done. Its first words are apart if they call the player.
pub(super) fn prompt(table_screen: &TableScreen, context: &Context, snapshot: &Snapshot) -> (&'static str, String) {
    let game = &snapshot.game;
    let to_act = game.to_act();
    let keys = &context.keymap;
    let mut lead = "";
    let text = if let Some(status) = &table_screen.status {
        status.clone()
    } else if let Some(seal) = seal::in_words(snapshot).filter(|_| table_screen.choice.focus == Some(button::SEAL)) {
        seal
    } else if let Some(why) = &table_screen.ending.failed {
        format!("You cannot play on here: {why}")
    } else if let Some(closed) = table_screen.closed_in_words() {
        let quit = keys.key(Intent::Quit);
        let close = snapshot.waits.may_claim.map_or("", |_| " There c closes it for you too, with a transcript.");
        format!("{closed} Press {quit} to leave.{close}")
    } else if table_screen.rest.is_resting() {
        "This hand is over.".to_owned()
    } else if game.is_over() {
        "The game is over.".to_owned()
    } else if let Some(reaching) = &table_screen.reaching {
        format!("Lost the connection to the host. {}", reaching.left())
    } else if let Some(pending) = table_screen.pending_in_words() {
        let quit = keys.key(Intent::Quit);
        let unanswering = table_screen.unanswering_in_words(&quit);
        let way = table_screen.way_out(keys, unanswering.is_none());
        std::iter::once(pending).chain(unanswering).collect::<Vec<_>>().join(" ") + &way
    } else if table_screen.choice.ahead.is_some() && table_screen.choice.picked.is_empty() {
        lead = "NEXT TURN  ";
        let back = keys.key(Intent::Back);
        format!("Choose the move to play when your turn comes. {back} goes back.")
    } else if !table_screen.choice.picked.is_empty() {
        format!("Now choose where. {} takes it back.", keys.key(Intent::Back))
    } else if is_set_up(snapshot) && !table_screen.is_my_turn() {
        "The deal is being set up.".to_owned()
    } else if let Some(me) = snapshot.me.filter(|me| to_act.contains(*me)) {
        lead = "YOUR TURN  ";
        let clock = clock(snapshot).unwrap_or_default();
        let unanswering = table_screen.unanswering_in_words(&keys.key(Intent::Quit));
        let unanswering = unanswering.map_or_else(String::new, |text| format!(" {text}"));
        // One that is kept until the others have answered.
        let ready = table_screen.ready_in_words().map_or_else(String::new, |text| format!(" {text}"));
        sentence(&match_game!(game, game => game.prompt(me, &snapshot.known))) + &clock + &ready + &unanswering
    } else {
        let unanswering = table_screen.unanswering_in_words(&keys.key(Intent::Quit));
        // The sentence on those who do not answer names them.
        let thinking = to_act.iter().filter(|seat| !snapshot.waits.unanswering.contains(*seat));
        let waited: Vec<String> = thinking.map(|seat| table_screen.name_of(seat)).collect();
        let role = if table_screen.is_spectator() { " You are watching." } else { "" };
        let way = table_screen.way_out(keys, unanswering.is_none());
        let waiting = (!waited.is_empty()).then(|| format!("Waiting for {}.", waited.join(", ")));
        let ready = table_screen.ready_in_words();
        let sentences = waiting.into_iter().chain(unanswering).chain(ready).collect::<Vec<_>>().join(" ");
        format!("{sentences}{role}{way}")
    };
    (lead, sentence(&text))
}

/// The rows of the prompt. A clock that would make a second one is left out: the player's plate has it too.
fn prompt_rows(
    table_screen: &TableScreen,
    context: &Context,
    snapshot: &Snapshot,
    canvas: &Canvas<'_>,
    area: Rect,
) -> Vec<Line<'static>> {
    let theme = canvas.theme();
    let (lead, text) = prompt(table_screen, context, snapshot);
    let columns = usize::from(area.width).saturating_sub(lead.width());
    let clock = clock(snapshot).filter(|_| text.width() > columns);
    let text = clock.map_or(text.clone(), |clock| text.replacen(&clock, "", 1));
    let style = if table_screen.ending.failed.is_some() { theme.bad() } else { theme.title() };
    let lead = Span::styled(lead, theme.accent());
    let rows = wrapped(&text, columns, 0);
    let lines = rows.into_iter().enumerate().map(|(number, row)| {
        let lead = if number == 0 { lead.clone() } else { Span::raw("") };
        Line::from(vec![lead, Span::styled(row, style)])
    });
    lines.collect()
}

/// Moves the inspector up where the rows of a long prompt would cover its text: what Enter does stays in sight, and the
/// hand behind it loses a row instead.
fn make_room(areas: &mut Areas, prompt_rows: usize) {
    let is_above = areas.inspector.right() > areas.prompt.x && areas.inspector.bottom() <= areas.prompt.y;
    let under = areas.prompt.y.saturating_sub(areas.inspector.bottom());
    // A panel ends with a blank row.
    let spare = under + u16::from(areas.inspector.height > 1);
    let more = u16::try_from(prompt_rows.saturating_sub(1)).unwrap_or(0).saturating_sub(spare);
    if is_above && areas.inspector.width >= areas.prompt.width {
        areas.inspector.y = areas.inspector.y.saturating_sub(more);
    }
}

/// The row of keys under a sheet.
fn draw_sheet_keys(context: &Context, over: &Over, canvas: &mut Canvas<'_>, area: Rect) {
    let arrows = canvas.theme().glyph("↑↓", "Up Down").to_owned();
    let close = |words: &'static str| ("Enter".to_owned(), words, Some(button::CLOSE));
    let back = (context.keymap.key(Intent::Back), "back", Some(button::CLOSE));
    let keys = match over {
        Over::Nothing | Over::Outcome => Vec::new(),
        Over::Telling(telling) => vec![close(telling.close_words()), (arrows, "scroll", None)],
        Over::Uses => vec![(arrows, "choose", None), ("Enter".to_owned(), "do it", None), back],
        Over::Seal => vec![close("close"), ("d".to_owned(), "details", Some(button::SEAL_DETAILS))],
        Over::SealDetails => vec![close("close"), ("d".to_owned(), "picture", Some(button::SEAL_DETAILS))],
    };
    offer(canvas, keys.iter().map(|(_, words, target)| (*words, *target)));
    put_keys(canvas, area, 3, keys);
}

/// The label of the digits.
const CHOOSE: &str = "choose";

/// A key and its effect in a word or two; those without a target only tell about keys.
type KeyHelp = (String, String, Option<Target>);

/// The row of keys: the game's buttons and the hint first, then as many as fit.
fn draw_keys(
    table_screen: &TableScreen,
    context: &Context,
    snapshot: &Snapshot,
    canvas: &mut Canvas<'_>,
    areas: &Areas,
) {
    let keys = &context.keymap;
    let of = |intent: Intent, label: &str| (keys.key(intent), label.to_owned(), Some(Target::Key(intent)));
    let mut all: Vec<KeyHelp> = Vec::new();
    let replays = table_screen.status.is_some();
    let undo =
        matches!(snapshot.standing, Standing::Practice { undo, .. } if undo > 0).then(|| of(Intent::Undo, "undo"));
    let ended = table_screen.is_over() || table_screen.is_closed();
    if ended && !replays {
        let choices = outcome::ways_on(table_screen).chain(outcome::keepsakes(table_screen, context));
        all.extend(choices.map(|(key, label, target)| (key, label, Some(target))));
        all.extend(undo);
    } else if !replays {
        let offers = table_screen.listed();
        for spot in table_screen.choice.lit() {
            if let Spot::Button(number) = spot {
                let button = match_game!(&snapshot.game, game => game.button(number));
                let key = button.key.map(String::from).unwrap_or_default();
                all.push((key, button.label.to_owned(), Some(Target::Spot(spot))));
            }
        }
        if !table_screen.choice.offers.is_empty() && !table_screen.is_deal_of_the_day() {
            all.push(of(Intent::Hint, "hint"));
        }
        all.extend(undo);
        if let Some(label) = table_screen.ahead_label() {
            all.push((AHEAD.to_string(), label.to_owned(), Some(button::AHEAD)));
        }
        let verb = offers
            .first()
            .filter(|offer| offer.refused.is_none())
            .and_then(|offer| offer.words.split_whitespace().next());
        if let Some(verb) = verb {
            // A button of the game that has the focus is there by its own name.
            if !matches!(table_screen.choice.focus, Some(Target::Spot(Spot::Button(_)))) {
                canvas.offer(verb, Target::Key(Intent::Choose));
            }
            all.push(("Enter".to_owned(), verb.to_owned(), None));
        }
        let row = table_screen.row();
        if row.len() > 1 && !table_screen.is_held() {
            let last = if row.len() > 9 { "1-9 0".to_owned() } else { format!("1-{}", row.len()) };
            all.push((last, CHOOSE.to_owned(), None));
        }
        let uses = offers.iter().filter(|offer| offer.refused.is_none());
        if uses.count() > 1 {
            all.push((keys.key(Intent::Uses), "other uses".to_owned(), Some(Target::Key(Intent::Uses))));
        }
    }
    if matches!(snapshot.standing, Standing::Sealed(_)) && !replays {
        all.push(of(Intent::Seal, "seal"));
    }
    if table_screen.may_chat() && !replays {
        all.push(of(Intent::Chat, "chat"));
    }
    all.push(of(Intent::Inspect, "rule"));
    all.push(of(Intent::Scores, "scores"));
    all.push(of(Intent::Log, "log"));
    // These two stay, however narrow the screen is.
    let fixed = [of(Intent::Help, "keys"), of(Intent::Quit, "leave")];
    offer(canvas, all.iter().chain(&fixed).map(|(_, label, target)| (label.as_str(), *target)));
    if !ended && !replays {
        table_screen.offer_times(canvas);
    }
    let width = |(key, label, _): &KeyHelp| key.width() + label.width() + 4;
    let mut room = usize::from(areas.keys.width).saturating_sub(fixed.iter().map(width).sum());
    let upto = |label: &str| all.iter().position(|(_, other, _)| other == label);
    let needed = upto(CHOOSE).map_or(0, |at| all.iter().take(at + 1).map(width).sum());
    if needed > room {
        // The line above the keys says what Enter does; nothing else says what digits do.
        all.retain(|(key, ..)| key != "Enter");
    }
    let shown = all.into_iter().take_while(|help| {
        let fits = width(help) <= room;
        room = room.saturating_sub(width(help));
        fits
    });
    let keys: Vec<KeyHelp> = shown.chain(fixed).collect();
    let keys = keys.iter().map(|(key, label, target)| (key.clone(), label.as_str(), *target));
    put_keys(canvas, areas.keys, 3, keys.collect());
}
