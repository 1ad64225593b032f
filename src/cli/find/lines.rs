//! The lines of a list of open tables.

use fairdeal_games::game_info;
use fairdeal_session::people::MarkKind;
use fairdeal_session::terms::Terms;
use fairdeal_session::text::clean;
use fairdeal_session::view::ListedTable;

use crate::drive::finder::View;
use crate::events::{Acquaintance, TableLine, Version};

/// A line of a list.
pub(super) fn numbered(number: usize, table: &ListedTable, ascii: bool) -> String {
    format!("  {number}  {}{}", marked(table, ascii), in_words(table))
}

/// The address book's word on a host, before anything that the host announces: nothing of a stranger.
fn marked(table: &ListedTable, ascii: bool) -> String {
    if table.mark.kind() == MarkKind::New {
        return String::new();
    }
    let (sign, plain) = table.mark.sign();
    let sign = if ascii { plain } else { sign };
    format!("{sign} {}: ", table.mark.words())
}

fn in_words(table: &ListedTable) -> String {
    let announced = table.table.announcement();
    let terms = Terms { game: clean(announced.game.as_str()), options: table.options() };
    let game = game_info(&terms.game).map_or_else(|_| table.game().to_owned(), |_| terms.in_short());
    format!(
        "{game}, {}'s table: {} of {} seats free{}",
        table.host(),
        announced.free,
        announced.seats,
        if announced.locked { ", with a password" } else { "" }
    )
}

/// The same as JSON.
pub(super) fn json_line(number: usize, listed: &ListedTable) -> serde_json::Result<String> {
    let (announcement, ticket) = (listed.table.announcement(), listed.table.ticket());
    serde_json::to_string(&TableLine {
        v: Version,
        number,
        ticket: ticket.to_string(),
        host: listed.host(),
        game: clean(announcement.game.as_str()),
        options: listed.options().into_iter().collect(),
        seats: announcement.seats,
        free: announcement.free,
        password: announcement.locked,
        person: Acquaintance::of(&ticket.host(), &listed.mark),
    })
}

/// The points that give no list.
pub(super) fn failures(view: &View) -> impl Iterator<Item = String> {
    view.failed.iter().map(|(point, why)| format!("The meeting point {point} gives no list: {why}."))
}
