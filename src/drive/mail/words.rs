//! A visit in words, for its player.

use serde::{Deserialize, Serialize};

use super::{Visit, VisitedTable};
use crate::drive::letters::{WhoseTurn, news};
use crate::drive::saved::short;

/// The outcome of a visit in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Which points did not do what they were asked, and why.
    pub complaints: Vec<String>,
    /// The news of each table.
    pub lines: Vec<String>,
    /// Whether any point was reached.
    pub has_reached: bool,
}

impl Visit {
    /// In words.
    pub fn in_words(&self) -> Words {
        let complaints = self.points.iter().filter_map(|(point, why)| Some(format!("{point}: {}", why.as_ref()?)));
        let mut lines = Vec::new();
        for table in &self.tables {
            let of = lines_of(table);
            if !of.is_empty() {
                lines.push(format!("{}:", table.words));
            }
            lines.extend(of.into_iter().map(|line| format!("  {line}")));
        }
        Words { complaints: complaints.collect(), lines, has_reached: self.has_reached }
    }
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
            let then = if table.is_live { "" } else { ", then `fairdeal mail`" };
            lines.push(format!("It is your turn: `fairdeal resume {}`{then}.", short(&table.id)));
        }
        Some(other) => lines.push(other.in_words()),
        None => {}
    }
    lines.extend(table.mail.in_words_for_all());
    lines
}
