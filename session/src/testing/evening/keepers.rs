//! Keepers in an evening: persons who look away while their programs answer, and letters beside the connections. Letters come
//! late, twice, or to somebody else; their writers and readers may crash over them, or have a full disk.

use super::{Evening, Keepers, below};
use crate::events::Command;
use crate::letter::{LetterNews, Written};
use crate::setup::Hands;

/// How long a letter waits for a reader who is not there, in milliseconds.
const WAITS: u64 = 120_000;

impl Evening {
    /// Whether a program's person looks away.
    pub(super) fn is_away(&self, number: usize) -> bool {
        self.keepers.as_ref().is_some_and(|keepers| keepers.away.iter().any(|(_, who)| *who == number))
    }

    /// A person at a table in play.
    fn person(&self, number: usize) -> bool {
        let role = &self.people[number];
        let plays = role.seated && role.end.is_none() && !role.left && matches!(role.hands, Hands::Person { .. });
        plays && !role.is_bot() && self.house.is_running(number)
    }

    /// Persons look away and come back; letters are written and read.
    pub(super) fn keep(&mut self, now: u64) {
        let number = self.people.len() as u64;
        let Some(Keepers { dice, away, post }) = &mut self.keepers else { return };
        let back: Vec<usize> = away.iter().filter(|(until, _)| *until <= now).map(|(_, who)| *who).collect();
        away.retain(|(until, _)| *until > now);
        let come: Vec<(usize, Vec<u8>)> =
            post.iter().filter(|(at, ..)| *at <= now).map(|(_, to, sealed)| (*to, sealed.clone())).collect();
        let here = |to: usize| self.house.is_running(to);
        post.retain(|(at, to, _)| *at > now || !here(*to) && *at + WAITS > now);
        let goes = (below(dice, 400) == 0).then(|| (below(dice, number) as usize, now + 1_000 + below(dice, 40_000)));
        let writes = (below(dice, 100) == 0).then(|| (below(dice, number) as usize, below(dice, number) as usize));
        for who in back {
            self.house.command(who, Command::Attend(true));
        }
        for (to, sealed) in come {
            if self.house.is_running(to) {
                self.house.command(to, Command::ReadLetter(sealed));
            }
        }
        if let Some((who, until)) = goes.filter(|(who, _)| self.person(*who) && !self.is_away(*who)) {
            self.counts("persons who look away", 1);
            self.house.command(who, Command::Attend(false));
            self.keepers.iter_mut().for_each(|keepers| keepers.away.push((until, who)));
        }
        if let Some((who, to)) = writes.filter(|(who, to)| self.person(*who) && who != to)
            && let Some(seat) = self.people[to].me.filter(|_| self.people[to].table == self.people[who].table)
        {
            self.house.command(who, Command::WriteLetter(seat));
        }
    }

    /// A program has written or read a letter.
    pub(super) fn has_letter(&mut self, number: usize, news: LetterNews) {
        match news {
            LetterNews::Written(Written { to, sealed, .. }) => {
                let table = self.people[number].table;
                let is_it = |role: &super::Someone| role.table == table && role.me == Some(to) && role.seated;
                let Some(reader) = self.people.iter().position(is_it) else { return };
                let (now, number) = (self.house.up(), self.people.len() as u64);
                let Some(Keepers { dice, post, .. }) = &mut self.keepers else { return };
                let comes = now + below(dice, 60_000);
                if below(dice, 6) == 0 {
                    post.push((comes + below(dice, 20_000), reader, sealed.clone()));
                }
                let reader = if below(dice, 8) == 0 { below(dice, number) as usize } else { reader };
                post.push((comes, reader, sealed));
                self.counts("letters written", 1);
            }
            LetterNews::Read { refused, .. } if refused.is_empty() => self.counts("letters read", 1),
            LetterNews::Read { refused, .. } => self.fails(&format!("{number} does not take a letter: {refused:?}")),
            LetterNews::Refused(_) => self.counts("letters refused", 1),
        }
    }
}
