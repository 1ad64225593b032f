//! Rematches: one player opens another table and invites the others, who follow.

use super::{AGAIN, Evening, PATIENCE, Part, Someone, below, deed};
use crate::events::Command;
use crate::setup::Hands;

impl Evening {
    /// Opens another table for those of the last one; its local bots keep their seats.
    pub(super) fn opens_again(&mut self, number: usize, now: u64) {
        self.counts("rematches opened", 1);
        let host = self.sits_again(number, Part::Host, Hands::Person { ready: true }, now);
        for (place, _) in self.house.bots_of(number).into_iter().enumerate() {
            self.house.add_bot(host, &format!("Bot {place}"));
            self.people.push(Someone::new(Part::Bot(host), AGAIN, Hands::Person { ready: true }, None));
        }
    }

    /// Another program of a player, for the rematch.
    fn sits_again(&mut self, number: usize, part: Part, hands: Hands, starts: u64) -> usize {
        let again = match part {
            // A spectator is somebody new each time.
            Part::Watcher => self.house.add(&format!("Player {number} again")),
            _ => self.house.add_again(number).unwrap(),
        };
        let someone = Someone::new(part, AGAIN, hands, Some(starts));
        self.people.push(Someone { before: Some(number), gives_up: Some(starts + PATIENCE), ..someone });
        self.people[number].next = Some(again);
        again
    }

    /// A player whose game is over follows an invitation. One that has opened a rematch too goes to that of a lower seat,
    /// while nobody has come to its own.
    pub(super) fn follows(&mut self, number: usize, now: u64) {
        let role = &self.people[number];
        let invitation = role.invitation.clone().filter(|_| self.plays_again && role.end == Some("over"));
        let Some((seat, ticket)) = invitation else { return };
        let Ok(target) = ticket.parse() else {
            return self.fails(&format!("{number} is invited by a bad ticket"));
        };
        let (part, hands) = match role.part {
            Part::Watcher => (Part::Watcher, Hands::Person { ready: true }),
            _ => (Part::Guest, Hands::Person { ready: false }),
        };
        if let Some(next) = role.next {
            let own = &self.people[next];
            if own.part != Part::Host || own.company > 1 || own.end.is_some() || role.me < Some(seat) {
                return;
            }
            let own = &mut self.people[next];
            (own.end, own.starts, own.gives_up) = (Some("joined another"), None, None);
            self.house.command(next, Command::Quit);
        }
        self.people[number].asks = None;
        self.people[number].quits = Some(now + 300);
        let starts = now + 200 + below(&mut self.dice, 2_000);
        let again = self.sits_again(number, part, hands, starts);
        self.people[again].target = Some(target);
    }

    /// Draws the deeds of a rematch.
    pub(super) fn draw_again(&mut self, now: u64) {
        self.counts("rematches", 1);
        let all = self.people.iter().enumerate().filter(|(_, role)| role.table == AGAIN && !role.is_bot());
        let all: Vec<usize> = all.map(|(number, _)| number).collect();
        let more = below(&mut self.dice, 8);
        let deeds: Vec<_> = (0..more).filter_map(|_| deed(&mut self.dice, &all, now)).collect();
        self.drawn.extend(deeds.iter().cloned());
        self.deeds.extend(deeds);
        self.deeds.sort_by_key(|(at, who, _)| (*at, *who));
    }
}
