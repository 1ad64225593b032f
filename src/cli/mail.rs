//! `fairdeal mail`: fetches the letters that wait at meeting points, and leaves others there.

use std::sync::Arc;

use super::args::{Common, Mail};
use super::exit::{Exit, usage};
use super::find::check_named;
use super::history::SHORT;
use super::letter::{data_of, news};
use super::output::{complain, say};
use super::table::runtime;
use crate::drive::letters::WhoseTurn;
use crate::drive::mail::{MailError, Remembered, Visit, VisitedTable, visit};
use crate::herald::Herald;
use crate::store::DataView;

pub(super) fn run(common: &Common, mail: Mail) -> anyhow::Result<Exit> {
    if mail.list {
        return list(&DataView::of(common.data_dir.as_deref())?);
    }
    check_named("--meet", &mail.meet)?;
    let data = Arc::new(data_of(common)?);
    let settings = data.settings().0;
    let points = if mail.meet.is_empty() { settings.points().0 } else { mail.meet };
    let visited = runtime()?.block_on(visit(&data, &points)).map_err(|why| match why {
        MailError::NoPoint | MailError::System => usage(why),
        why => why.into(),
    })?;
    let herald = Herald::start(settings.notify, complain);
    tell(&visited, &herald)
}

/// Where letters wait, as the last visit has left it.
fn list(data: &DataView) -> anyhow::Result<Exit> {
    let mut is_empty = true;
    for (id, table) in Remembered::of(data).tables {
        for line in table.in_words() {
            say(format!("{}: {line}", short(&id)))?;
            is_empty = false;
        }
    }
    if is_empty {
        say("No letters wait.")?;
    }
    Ok(Exit::Done)
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Shows what the visit has brought, and gives the player's signs. It has failed if no point did what it was asked.
fn tell(visit: &Visit, herald: &Herald) -> anyhow::Result<Exit> {
    for (point, why) in &visit.points {
        if let Some(why) = why {
            complain(format!("{point}: {why}"));
        }
    }
    if !visit.has_reached {
        complain("no meeting point was reached; the letters stay where they are");
        return Ok(Exit::Failed);
    }
    let mut is_empty = true;
    for table in &visit.tables {
        let lines = lines_of(table);
        if !lines.is_empty() {
            is_empty = false;
            say(format!("{}:", table.words))?;
        }
        for line in lines {
            say(format!("  {line}"))?;
        }
        table.signs().iter().for_each(|sign| herald.tell(sign));
    }
    if is_empty {
        say("No letters have come, and none wait for others.")?;
    }
    Ok(Exit::Done)
}

fn lines_of(table: &VisitedTable) -> Vec<String> {
    let mut lines = Vec::new();
    for (author, told) in &table.came {
        lines.push(format!("A letter from {}:", table.names.get(author.index()).map_or("", String::as_str)));
        lines.extend(news(&table.names, told).into_iter().map(|line| format!("  {line}")));
    }
    lines.extend(table.refused.iter().map(|why| format!("A letter was not taken, or only a part of it: {why}")));
    lines.extend(table.failed.iter().map(|why| format!("Its letters stay at the points: {why}")));
    match &table.mail.turn {
        Some(WhoseTurn::Yours) => {
            lines.push(format!("It is your turn: `fairdeal resume {}`, then `fairdeal mail`.", short(&table.id)));
        }
        Some(other) => lines.push(other.in_words()),
        None => {}
    }
    lines.extend(table.mail.in_words_for_all());
    lines
}
