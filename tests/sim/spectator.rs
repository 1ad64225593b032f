//! A spectator follows the table through one of its seats.

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::follow::{FollowError, Follower};
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::log::fork_report::{ForkReport, resolve};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::live::pages::Next;

/// A spectator and the seat that shows it the log.
pub(crate) struct Onlooker {
    pub(crate) seat: Seat,
    charter: SignedCharter,
    follower: Follower<AnyGame>,
    /// The error that stopped it.
    end: Option<FollowError>,
    /// How often it had to start again.
    pub(crate) anew: u64,
}

impl Onlooker {
    pub(crate) fn new(seat: Seat, charter: SignedCharter) -> Self {
        Self { seat, follower: Follower::new(charter.clone()).unwrap(), charter, end: None, anew: 0 }
    }

    /// Reads everything that its seat holds.
    pub(crate) fn look(&mut self, table: &Table<AnyGame>) {
        while self.end.is_none() && !self.follower.is_over() {
            match table.page(self.follower.mark(), table.mark()) {
                Next::Nothing => return,
                Next::Page(page) => self.end = self.follower.take(*page).err(),
                Next::Reset => {
                    self.anew += 1;
                    self.follower = Follower::new(self.charter.clone()).unwrap();
                }
            }
        }
    }

    /// A fault in what it has read, once the table rests.
    pub(crate) fn wrong(&mut self, table: &Table<AnyGame>) -> Option<String> {
        self.look(table);
        let seat = self.seat;
        let whole = table.transcript();
        if let Some(end) = &self.end {
            // The table may have stopped with a proof.
            let stopped = table.stopped().is_some();
            return (!stopped).then(|| format!("who follows {seat} is told: {end}"));
        }
        // A fork report is passed on with the step that continues from it.
        let halted = whole.halted().last().and_then(|halted| {
            let fork_reports: Vec<ForkReport> = halted.fork_reports.iter().map(|h| h.fork_report().clone()).collect();
            resolve(&fork_reports)
        });
        if halted.is_some_and(|place| place.next == table.replica().step()) {
            return None;
        }
        if self.follower.replica().step() != table.replica().step() || *self.follower.transcript() != whole {
            let step = self.follower.replica().step();
            return Some(format!("who follows {seat} has another log, at step {step}"));
        }
        None
    }
}
