//! The checks at the end of an evening; [`super`] lists the invariants.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::{Report, audit};
use fairdeal_protocol::hash::Hash32;

use super::{AGAIN, Evening, FIRST, LIMIT, Part, Someone, short};
use crate::events::SessionEvent;
use crate::view::{PeerState, Standing};

impl Evening {
    pub(super) fn check(&mut self) {
        let seed = self.seed;
        for why in std::mem::take(&mut self.house.faults) {
            self.fails(&why);
        }
        for number in 0..self.people.len() {
            let role = &self.people[number];
            if role.is_bot() {
                continue;
            }
            let (name, last) =
                (role.part.word(), self.house.programs[number].told.last().map(|(_, event)| short(event)));
            if (role.blocked || !role.knows) && (role.got_in || role.end.is_some()) {
                self.fails(&format!("{name} {number} got in"));
            } else if role.seated && role.end.is_none() && !role.left && !self.is_too_late(number) {
                self.fails(&format!("{name} {number} was promised a seat: {last:?}"));
            } else if !role.seated && role.end.is_none() && role.error.is_none() {
                self.fails(&format!("{name} {number} hears no word: {last:?}"));
            }
        }
        self.check_logs(FIRST);
        self.check_logs(AGAIN);
        self.check_chat();
        self.check_order();
        if self.house.up() >= LIMIT {
            self.fails(&format!("evening {seed} does not end"));
        }
        self.most.insert("minutes", self.house.up() / 60_000);
        self.most.insert("KB sent", self.house.traffic / 1000);
    }

    /// Whether a program has come back when all others were done with the table, was told so, and has its game.
    fn is_too_late(&self, number: usize) -> bool {
        let table = self.people[number].table;
        let is_other = |(other, role): &(usize, &Someone)| {
            *other != number && role.part != Part::Bot(number) && role.seated && role.table == table
        };
        let others = self.people.iter().enumerate().filter(is_other);
        // A local bot is done with its player.
        let mut players = others.map(|(_, role)| match role.part {
            Part::Bot(owner) => &self.people[owner],
            _ => role,
        });
        let all_done = players.all(|role| role.end.is_some() || role.left);
        all_done && self.people[number].error.is_some() && self.house.saved(number).is_some()
    }

    /// Whether others play on without a seat. If that is in the last step, its log is another one than theirs.
    fn is_removed(&self, number: usize) -> bool {
        let is_it = |event: &SessionEvent| {
            let gone = match event {
                SessionEvent::Peer { seat, state: PeerState::Absent } => Some(*seat),
                _ => None,
            };
            gone.is_some() && gone == self.people[number].me
        };
        let table = self.people[number].table;
        let mut programs = self.people.iter().zip(&self.house.programs).filter(|(role, _)| role.table == table);
        programs.any(|(_, program)| program.told.iter().any(|(_, event)| is_it(event)))
    }

    /// The players at a table, with local bots.
    fn at(&self, table: usize) -> Vec<usize> {
        (0..self.people.len()).filter(|number| self.people[*number].table == table).collect()
    }

    /// All logs of the seats are the same, those of spectators too, and they are fair.
    fn check_logs(&mut self, table: usize) {
        let all = self.at(table);
        // Whoever comes back in the last steps, and finds nobody there, closes the finished game without what the others
        // have signed since.
        let saved = |number: usize| self.house.programs[number].disk.transcripts.values();
        // Mostly all have saved the same file.
        let mut reports: BTreeMap<Vec<u8>, Report> = BTreeMap::new();
        let mut audited: Vec<(usize, Report)> = Vec::new();
        for number in all.iter().copied() {
            for (transcript, _) in saved(number) {
                let report =
                    reports.entry(transcript.to_bytes().unwrap()).or_insert_with(|| audit::<AnyGame>(transcript));
                audited.push((number, report.clone()));
            }
        }
        let steps = audited.iter().map(|(_, report)| report.steps).max();
        let is_claimed = |report: &Report| !report.claims.is_empty() || Some(report.steps) < steps;
        let alone = audited.iter().filter(|(_, report)| is_claimed(report)).map(|(number, _)| *number);
        let alone: BTreeSet<usize> = alone.collect();
        // A local bot has no transcript of its own, and closes with its player.
        let closes = |number: usize| match self.people[number].part {
            Part::Bot(owner) => owner,
            _ => number,
        };
        let is_present = |number: &usize| !self.is_removed(*number) && !alone.contains(&closes(*number));
        let present = all.iter().copied().filter(is_present);
        let logs: BTreeSet<Hash32> = present.filter_map(|number| self.people[number].log).collect();
        if logs.len() > 1 {
            let all: Vec<_> = self.people.iter().map(|role| (role.part.word(), role.end, role.log)).collect();
            self.fails(&format!("{} logs: {all:?}", logs.len()));
        }
        let mut longest: Vec<Vec<u8>> = Vec::new();
        let mut wrong = Vec::new();
        for (number, report) in &audited {
            if let Some(finding) = &report.finding {
                wrong.push(format!("the transcript of {number} is not fair: {finding:?}"));
            }
        }
        for number in all.iter().copied() {
            let program = &self.house.programs[number];
            for (transcript, _) in program.disk.transcripts.values() {
                longest.push(transcript.entries().iter().flat_map(|entry| entry.hash().0).collect());
            }
            if !program.disk.evidence.is_empty() {
                wrong.push(format!("{number} has written evidence"));
            }
            let open = program.disk.journals.values().filter(|kept| !kept.ended).count();
            if open > 0 && self.people[number].end == Some("over") {
                wrong.push(format!("{number} keeps a journal of a table that is over"));
            }
        }
        longest.sort_by_key(Vec::len);
        for pair in longest.windows(2) {
            if alone.is_empty() && all.iter().all(|number| !self.is_removed(*number)) && !pair[1].starts_with(&pair[0])
            {
                wrong.push("one log is no prefix of the other".to_owned());
            }
        }
        for why in wrong {
            self.fails(&why);
        }
    }

    fn check_order(&mut self) {
        let mut late = Vec::new();
        for (number, program) in self.house.programs.iter().enumerate() {
            let mut shown = 0;
            for (at, event) in &program.told {
                match event {
                    SessionEvent::Started { .. } => shown = 0,
                    SessionEvent::Snapshot(view) => {
                        if let Standing::Sealed(progress) = &view.standing {
                            shown = progress.step;
                        }
                    }
                    SessionEvent::Action { step, .. } if *step < shown => {
                        late.push(format!("{number} hears of step {step} at {at}, after a view of step {shown}"));
                    }
                    _ => {}
                }
            }
        }
        for why in late {
            self.fails(&why);
        }
    }

    fn check_chat(&mut self) {
        let mut twice = Vec::new();
        for (number, program) in self.house.programs.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for (_, event) in &program.told {
                if let SessionEvent::Chat { text, .. } = event
                    && !seen.insert(text.clone())
                {
                    twice.push(format!("{number} reads twice: {text}"));
                }
            }
        }
        let heard: usize = self.house.programs.iter().map(|p| chats(&p.told)).sum();
        self.counts("chat lines read", heard as u64);
        for why in twice {
            self.fails(&why);
        }
    }
}

fn chats(told: &[(u64, SessionEvent)]) -> usize {
    told.iter().filter(|(_, event)| matches!(event, SessionEvent::Chat { .. })).count()
}
