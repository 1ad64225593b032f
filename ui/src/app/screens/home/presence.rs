//! The other players of a saved game who can be reached now, in words.

use fairdeal_games::listed;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::past::What;
use fairdeal_session::view::{Others, Presence};

use crate::app::screen::Context;
use crate::app::screens::table::choosing::sentence;

/// The other programs of a saved game, and what is known of them.
pub(super) fn presences<'a>(context: &'a Context, table: &str) -> Option<&'a [(Seat, Presence)]> {
    context.lan.as_ref()?.others.get(table).map(Vec::as_slice).filter(|others| !others.is_empty())
}

/// The saved games with players who did not answer before and do now: the game's id, and their names.
pub fn arrived(context: &Context, now: &Others) -> Vec<(String, Vec<String>)> {
    let Some(before) = context.lan.as_ref().map(|listing| &listing.others) else { return Vec::new() };
    let was_silent = |table: &str, seat: Seat| {
        let others = before.get(table).into_iter().flatten();
        others.into_iter().any(|other| *other == (seat, Presence::Silent))
    };
    let found = now.iter().filter_map(|(table, others)| {
        let past = context.library.past.iter().find(|past| past.table == *table)?;
        let What::Waits(summary) = &past.what else { return None };
        let here = others.iter().filter(|(seat, now)| *now == Presence::Here && was_silent(table, *seat));
        let names: Vec<String> = here.map(|(seat, _)| summary.name(*seat)).collect();
        (!names.is_empty()).then(|| (summary.game.clone(), names))
    });
    found.collect()
}

/// How many of them answer, once that is known of all or of one.
pub(super) fn online(others: &[(Seat, Presence)]) -> Option<String> {
    let count = |presence| others.iter().filter(|(_, other)| *other == presence).count();
    match (count(Presence::Here), others.len()) {
        (0, _) if count(Presence::Sought) > 0 => None,
        (0, _) => Some("no answer".to_owned()),
        (here, all) if here == all => Some("online".to_owned()),
        (here, all) => Some(format!("{here} of {all} online")),
    }
}

/// Sentences about resuming a saved game, the longest first: the others who are there, and the absent ones.
pub(super) fn resuming(context: &Context, number: usize) -> Vec<String> {
    let plain = "You left it, or were interrupted. Resume at the same step.";
    let words = || {
        let (table, _) = context.library.waiting.get(number)?;
        if let Some(kept) = context.library.kept.get(table) {
            let state = format!("{} {}", kept.state, kept.since);
            let held = "Your keeper holds your seat: open the table, and close it whenever you like.";
            return Some(vec![format!("{} {held}", sentence(state.trim_end())), held.to_owned()]);
        }
        if let Some(mailed) = context.library.mailed.get(table) {
            let (state, letters) = (sentence(&mailed.state), mailed.letters.join(" "));
            return Some(vec![format!("{state} {letters}").trim_end().to_owned(), letters, state]);
        }
        let others = presences(context, table)?;
        let past = context.library.past.iter().find(|past| past.table == *table)?;
        let What::Waits(summary) = &past.what else { return None };
        let names = |presence| -> Vec<String> {
            others.iter().filter(|(_, other)| *other == presence).map(|(seat, _)| summary.name(*seat)).collect()
        };
        let (here, silent) = (names(Presence::Here), names(Presence::Silent));
        let are = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
        let there = format!("{} {} online.", listed(&here), are(&here));
        let missing = format!("No answer from {}.", listed(&silent));
        Some(match (here.is_empty(), silent.is_empty()) {
            (true, true) => return None,
            (false, true) => vec![format!("{there} Resume at the same step."), there],
            (false, false) => vec![format!("{there} {missing}"), there],
            // Whoever cannot be dialled from here may still dial.
            (true, false) => vec![format!("{missing} Resume at the same step; others may come later."), missing],
        })
    };
    words().unwrap_or_else(|| vec![plain.to_owned()])
}
