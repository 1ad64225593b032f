//! The reports of one program's sessions, merged for their player.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_session::events::SessionEvent;

/// Reports of one program's sessions, each known by its number, merged for their player.
#[derive(Debug)]
pub(super) struct Told<Id> {
    /// The names of the bots at the table.
    names: BTreeMap<Id, String>,
    /// Sessions whose disk is full.
    full: BTreeSet<Id>,
    /// Whether the player has been told of a full disk.
    is_told: bool,
    /// The latest message about the disk.
    words: String,
    /// Other lines for the log.
    lines: Vec<String>,
    /// Whether the player's own session has ended: nothing more is told.
    is_closed: bool,
}

impl<Id> Default for Told<Id> {
    fn default() -> Self {
        Self {
            names: BTreeMap::new(),
            full: BTreeSet::new(),
            is_told: false,
            words: String::new(),
            lines: Vec::new(),
            is_closed: false,
        }
    }
}

impl<Id: Copy + Ord> Told<Id> {
    /// Hears an event of a bot's session. The player hears of a full disk, of calls, and of failures at the table.
    pub(super) fn hear(&mut self, bot: Id, event: SessionEvent) {
        match event {
            SessionEvent::Started { names, me, .. } => {
                if let Some(name) = me.and_then(|me| names.get(me.index())) {
                    self.names.insert(bot, name.clone());
                }
            }
            SessionEvent::Disk { full, text } => self.disk(bot, full, &text),
            SessionEvent::Calls(kind) => {
                if let Some(name) = self.names.get(&bot) {
                    self.lines.push(format!("{name} is about to {kind}…"));
                }
            }
            SessionEvent::Error(why) => {
                tracing::warn!(%why, "a local bot");
                if let Some(name) = self.names.get(&bot) {
                    self.lines.push(format!("{name} stopped: {why}"));
                }
            }
            _ => {}
        }
    }

    /// How many bots have had a seat at the table.
    pub(super) fn seated_bots(&self) -> usize {
        self.names.len()
    }

    /// Records that a session's disk is full, or has space again. Most sessions share one disk.
    pub(super) fn disk(&mut self, session: Id, full: bool, words: &str) {
        let new = if full { self.full.insert(session) } else { self.full.remove(&session) };
        if new {
            words.clone_into(&mut self.words);
        }
    }

    /// A session has ended: it no longer waits for space.
    pub(super) fn end(&mut self, session: Id) {
        self.disk(session, false, ROOM_AGAIN);
    }

    /// The player's own session has ended.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Takes the reports for the player: the first disk is full, no disk is full any more, and other lines.
    pub(super) fn take(&mut self) -> Vec<SessionEvent> {
        if self.is_closed {
            return Vec::new();
        }
        let mut news: Vec<SessionEvent> = std::mem::take(&mut self.lines).into_iter().map(SessionEvent::Line).collect();
        let full = !self.full.is_empty();
        if full != self.is_told {
            self.is_told = full;
            let text = std::mem::take(&mut self.words);
            news.push(SessionEvent::Disk { full, text });
        }
        news
    }
}

/// The message when a session ends that has waited for disk space.
const ROOM_AGAIN: &str = "There is room on the disk again for every bot.";

#[cfg(test)]
mod tests {
    use super::*;

    /// However many sessions a full disk stops, the player hears of it once, and once when all go on.
    #[test]
    fn a_full_disk_is_told_once() {
        let mut told = Told::default();
        let (own, bots) = (0, [1, 2]);
        let said = |full, text: &str| {
            let text = text.to_owned();
            vec![SessionEvent::Disk { full, text }]
        };
        told.disk(bots[0], true, "full");
        assert_eq!(told.take(), said(true, "full"));
        told.disk(own, true, "full");
        told.disk(bots[1], true, "full");
        told.disk(bots[0], false, "room");
        told.disk(bots[0], false, "again");
        told.disk(own, false, "room");
        assert_eq!(told.take(), []);
        told.disk(bots[1], false, "all have room");
        assert_eq!(told.take(), said(false, "all have room"));
        // The disk fills up and is free again before anybody has listened.
        told.disk(own, true, "full");
        told.disk(own, false, "room");
        assert_eq!(told.take(), []);
        told.lines.push("a line".to_owned());
        assert_eq!(told.take(), [SessionEvent::Line("a line".to_owned())]);
        // The player goes while the disk is full: no room is announced when its bots go too.
        told.disk(bots[0], true, "full");
        assert_eq!(told.take(), said(true, "full"));
        told.close();
        told.end(bots[0]);
        told.lines.push("a line".to_owned());
        assert_eq!(told.take(), []);
    }
}
