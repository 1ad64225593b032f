//! The network between the seats: it loses, repeats, delays, reorders and cuts, until it heals.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::Seat;

use super::plan::{Cut, Dice, Plan, Weather};
use super::tally::Tally;

/// How long a message takes at most in fair weather, in milliseconds.
const FAIR: u32 = 20;
/// How long a link is closed after a message that was refused, in milliseconds.
const DROPPED: u64 = 2_000;

/// A message on its way.
pub(crate) struct Letter {
    pub(crate) from: Seat,
    pub(crate) to: Seat,
    pub(crate) bytes: Vec<u8>,
}

/// All that is on its way.
pub(crate) struct Network {
    dice: Dice,
    weather: Weather,
    cuts: Vec<Cut>,
    /// Who has no direct link all game long.
    apart: BTreeSet<(Seat, Seat)>,
    /// The seats of one program have no weather between them.
    parties: Vec<Party>,
    heal: u64,
    counter: u64,
    queue: BTreeMap<(u64, u64), Letter>,
    /// Links closed because of a refused message, until when.
    dropped: BTreeMap<(Seat, Seat), u64>,
}

impl Network {
    /// The network of a plan.
    pub(crate) fn new(dice: Dice, plan: &Plan) -> Self {
        Self {
            dice,
            weather: plan.weather,
            cuts: plan.cuts.clone(),
            apart: plan.apart.clone(),
            parties: plan.parties.clone(),
            heal: plan.heal,
            counter: 0,
            queue: BTreeMap::new(),
            dropped: BTreeMap::new(),
        }
    }

    /// When the next message arrives.
    pub(crate) fn next(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next message.
    pub(crate) fn take(&mut self) -> Option<Letter> {
        self.queue.pop_first().map(|(_, letter)| letter)
    }

    /// Both directions between two seats are closed for a moment: one refused what the other sent.
    pub(crate) fn drop_link(&mut self, one: Seat, other: Seat, now: u64) {
        self.dropped.insert((one, other), now + DROPPED);
        self.dropped.insert((other, one), now + DROPPED);
    }

    /// Sends a message.
    pub(crate) fn post(&mut self, now: u64, letter: &Letter, tally: &mut Tally) {
        tally.add("messages", 1);
        let link = (letter.from, letter.to);
        let inside = self.parties[letter.from.index()] == self.parties[letter.to.index()];
        if !inside && self.apart.contains(&link) {
            tally.add("fault: no direct link", 1);
            return;
        }
        if self.dropped.get(&link).is_some_and(|until| *until > now) {
            tally.add("fault: on a dropped connection", 1);
            return;
        }
        let storm = now < self.heal;
        let cut = self
            .cuts
            .iter()
            .find(|cut| (cut.from..cut.until).contains(&now) && cut.links.contains(&link));
        if let Some(cut) = cut.filter(|_| !inside) {
            let what = if cut.one_way {
                "fault: lost on a one-way link"
            } else {
                "fault: lost to a partition"
            };
            tally.add(what, 1);
            return;
        }
        let weather = if storm && !inside {
            self.weather
        } else {
            Weather::default()
        };
        let mut copies = 1;
        if self.dice.chance(weather.repeated) {
            copies = 2;
            tally.add("fault: repeated", 1);
        }
        for _ in 0..copies {
            if self.dice.chance(weather.lost) {
                tally.add("fault: lost", 1);
                continue;
            }
            let mut late = FAIR;
            if self.dice.chance(weather.delayed) {
                late += weather.late;
                tally.add("fault: delayed", 1);
            }
            let arrival = now + 1 + u64::from(self.dice.below(late));
            if self.queue.range((arrival, 0)..).next().is_some() {
                tally.add("fault: reordered", 1);
            }
            self.counter += 1;
            let copy = Letter {
                bytes: letter.bytes.clone(),
                ..*letter
            };
            self.queue.insert((arrival, self.counter), copy);
        }
    }
}
