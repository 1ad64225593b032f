//! `fairdeal mail`: fetches the letters that wait at meeting points, and leaves others there.

use super::args::{Common, Mail};
use super::exit::{Exit, usage};
use super::find::check_named;
use super::letter::tables_of;
use super::output::{complain, say};
use super::table::runtime;
use crate::drive::mail::{MailError, Remembered, VisitedTable, Words, visit};
use crate::drive::saved::short;
use crate::herald::Herald;
use crate::letter_files::Tables;
use crate::store::DataView;

pub(super) fn run(common: &Common, mail: Mail) -> anyhow::Result<Exit> {
    if mail.list {
        return list(&DataView::of(common.data_dir.as_deref())?);
    }
    check_named("--meet", &mail.meet)?;
    let words = match tables_of(common)? {
        Tables::Own(data, _) => {
            let settings = data.settings().0;
            let points = if mail.meet.is_empty() { settings.points().0 } else { mail.meet };
            let visited = runtime()?.block_on(visit(&data, &points, &[])).map_err(|why| match why {
                MailError::NoPoint | MailError::System => usage(why),
                why => why.into(),
            })?;
            let herald = Herald::start(settings.notify, complain);
            let signs = visited.tables.iter().filter(|_| visited.has_reached).flat_map(VisitedTable::signs);
            signs.for_each(|sign| herald.tell(&sign));
            visited.in_words()
        }
        // It gives the signs itself.
        Tables::Kept(_, keeper) => runtime()?.block_on(keeper.mail(&mail.meet))?,
    };
    tell(words)
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

/// Shows what the visit has brought. It has failed if no point did what it was asked.
fn tell(words: Words) -> anyhow::Result<Exit> {
    words.complaints.iter().for_each(complain);
    if !words.has_reached {
        complain("no meeting point was reached; the letters stay where they are");
        return Ok(Exit::Failed);
    }
    if words.lines.is_empty() {
        say("No letters have come, and none wait for others.")?;
    }
    words.lines.into_iter().try_for_each(say)?;
    Ok(Exit::Done)
}
