//! The summary of a past game: who played, how it ended, and the results that count for ratings.
//!
//! A transcript does not hold the scores: they follow from its log. Replaying the log takes as long as an audit, half a
//! second or more. A summary is saved beside each transcript, and read in its place.

use std::ops::ControlFlow;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use fairdeal_games::{AnyGame, TableGame as _, game_info, listed};
use fairdeal_protocol::audit::auditor::{Audit, Finding, Report};
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::game::{Game as _, RuleSetError};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::replica::{Replica, ResultProof};
use fairdeal_protocol::transcript::{End, Transcript};
use serde::{Deserialize, Serialize};

use crate::terms::Terms;
use crate::text::{clean, clean_reason, player_names};

/// The version of the summary's encoding.
pub(crate) const VERSION: u8 = 5;

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Ending {
    /// The game ended by its rules.
    Finished,
    /// The log ends before the game does.
    Unfinished,
    /// The seats present closed the table because the others stayed away.
    Claimed {
        /// The seats that claimed; two opposing claims cancel.
        by: Vec<Seat>,
    },
    /// A seat signed a state that does not follow from the rules, when nobody else could decide: it forfeits the game.
    Forfeited {
        /// The seat that forfeits.
        by: Seat,
    },
    /// A proven fault ended the game, or the log fails its audit.
    Unfair {
        /// The finding.
        why: String,
    },
}

impl Ending {
    /// The ending in a few words; `name` gives a seat's name.
    fn in_words(&self, name: impl Fn(Seat) -> String) -> String {
        let words = match self {
            Self::Finished => "finished",
            Self::Unfinished => "unfinished",
            Self::Claimed { .. } => "closed, unfinished",
            Self::Forfeited { by } => return format!("forfeited by {}", name(*by)),
            Self::Unfair { .. } => "NOT FAIR",
        };
        words.to_owned()
    }
}

/// Why a game does not count for ratings (docs/decisions/0015-signed-results.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Unrated {
    /// A game for one.
    Alone,
    /// The rules have not ended the game, or not all players have signed its end yet.
    Unfinished,
    /// Claims closed the table before the rules ended the game.
    Claimed,
    /// Some seats that were in the game to its end have not signed it.
    Unsigned,
    /// These seats were removed before the end, and only the others' statements say that they were absent.
    ByWord { seats: Vec<Seat> },
    /// A fault stopped the table, or the log fails its audit.
    NotFair,
}

impl Unrated {
    /// The reason in a few words; `name` gives a seat's name.
    fn in_words(&self, name: impl Fn(Seat) -> String) -> String {
        let words = match self {
            Self::Alone => "a game for one",
            Self::Unfinished => "the game is not finished",
            Self::Claimed => "the game was closed by claim, unfinished",
            Self::NotFair => "not fair",
            Self::Unsigned => "not all its players have signed its end",
            Self::ByWord { seats } => {
                let names: Vec<String> = seats.iter().map(|seat| name(*seat)).collect();
                let were = if names.len() == 1 { "was" } else { "were" };
                return format!("only the others' word says that {} {were} absent", listed(&names));
            }
        };
        words.to_owned()
    }
}

/// A player, as ratings tell players apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Player {
    /// The key of a program, as 64 hexadecimal digits.
    Key(String),
    /// All local bots of a level: their keys last for one table.
    LocalBots(String),
}

/// A seat's result in a game that counts for ratings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatResult {
    pub player: Player,
    /// The name in the charter, cleaned for display.
    pub name: String,
    /// The level, if its program declares a bot.
    pub bot: Option<String>,
    /// The place from 1; equal results share a place. Winners come first, then the others by their scores. Seats that
    /// left, or were removed for a proven fault, are last.
    pub place: u8,
}

/// A game's entry in the list of past games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub version: u8,
    /// Size of the transcript in bytes.
    pub bytes: u64,
    pub game: String,
    /// The options of the game and of the table, cleaned for display.
    pub options: Vec<(String, String)>,
    /// The players' names, cleaned for display, in seat order.
    pub players: Vec<String>,
    /// This player's seat; `None` for a spectator.
    pub me: Option<Seat>,
    /// The day of a daily deal, as `2026-01-31`; `None` for other deals.
    pub day: Option<String>,
    pub ending: Ending,
    /// One score per seat at the end of the log; empty if the log could not be replayed.
    pub scores: Vec<i64>,
    /// The winners; empty unless the game was finished.
    pub winners: Vec<Seat>,
    /// One result a seat if the game counts for ratings, else empty.
    pub results: Vec<SeatResult>,
    /// Why the game does not count for ratings; `None` if it does.
    pub unrated: Option<Unrated>,
    /// The final log hash.
    pub log: String,
}

impl Summary {
    /// Without scores and results.
    pub fn new(charter: &Charter, me: Option<Seat>, ending: Ending, log: Hash32) -> Self {
        let terms = Terms::of(charter);
        Self {
            version: VERSION,
            bytes: 0,
            players: player_names(charter),
            me,
            day: terms.day().map(str::to_owned),
            game: terms.game,
            options: terms.options,
            ending,
            scores: Vec::new(),
            winners: Vec::new(),
            results: Vec::new(),
            unrated: Some(Unrated::Unfinished),
            log: log.to_string(),
        }
    }

    /// Audits a transcript into its summary; `None` if `tell` cancels the audit. `me` is the player's seat.
    ///
    /// # Errors
    /// [`RuleSetError`] if this program cannot play the charter's rules.
    pub fn audit(
        transcript: &Arc<Transcript>,
        me: Option<Seat>,
        tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
    ) -> Result<Option<Self>, RuleSetError> {
        let mut departed = SeatSet::EMPTY;
        let audit = Audit::<AnyGame>::new(Arc::clone(transcript))?;
        let report = audit.run(&mut |audit| {
            departed = departed_from(audit.replica().game());
            tell(audit.so_far())
        });
        let summary = |report| Self::audited(transcript, &report, departed, me);
        Ok(report.ok().map(summary))
    }

    /// Of a table that was played or watched here. `replica` is its final state, and `forfeited` the seat whose wrong
    /// digest stopped the table.
    pub fn of_table(
        transcript: &Transcript,
        replica: &Replica<AnyGame>,
        me: Option<Seat>,
        forfeited: Option<Seat>,
    ) -> Self {
        let (charter, game) = (transcript.charter().charter(), replica.game());
        let ending = forfeited.map_or_else(|| ending(transcript), |by| Ending::Forfeited { by });
        let summary = Self {
            scores: game.scores(),
            winners: game.winners().iter().collect(),
            ..Self::new(charter, me, ending, transcript.log_hash())
        };
        summary.with_results(charter, departed_from(game), replica.result())
    }

    fn audited(transcript: &Transcript, report: &Report, departed: SeatSet, me: Option<Seat>) -> Self {
        let ending = match &report.finding {
            None => ending(transcript),
            // Only a stopped table ends with such an entry; otherwise the table removes the seat and goes on.
            Some(Finding::Fault(fault)) if fault.what == FaultKind::Digest => Ending::Forfeited { by: fault.seat },
            Some(finding) => Ending::Unfair { why: clean_reason(&finding.to_string()) },
        };
        Self {
            scores: report.scores.clone(),
            winners: report.winners.clone(),
            ..Self::new(transcript.charter().charter(), me, ending, report.log)
        }
        .with_results(transcript.charter().charter(), departed, report.result)
    }

    /// Fills in the results, if the game counts for ratings, and otherwise the reason. `departed` are the seats that the
    /// rules count out of the game.
    fn with_results(mut self, charter: &Charter, departed: SeatSet, proof: ResultProof) -> Self {
        self.unrated = self.why_unrated(charter.seats().minus(departed), proof);
        if self.unrated.is_some() {
            return self;
        }
        let last: SeatSet = departed.iter().chain(proof.guilty.iter()).collect();
        let parties = charter.parties();
        let standing = |seat: Seat| {
            let score = self.scores.get(seat.index()).copied().unwrap_or(i64::MIN);
            match (last.contains(seat), self.winners.contains(&seat)) {
                // Among the last nobody is ahead.
                (true, _) => (false, false, 0),
                (false, won) => (true, won, score),
            }
        };
        let results = charter.seats().iter().zip(charter.players.iter()).map(|(seat, player)| {
            let better = charter.seats().iter().filter(|other| standing(*other) > standing(seat));
            let bot = match &player.played_by {
                PlayedBy::Person => None,
                PlayedBy::Bot(level) => Some(level.as_str().to_owned()),
            };
            let is_local = parties.party_of(seat).is_some_and(|party| party.lowest() != seat);
            SeatResult {
                player: match &bot {
                    Some(level) if is_local => Player::LocalBots(level.clone()),
                    _ => Player::Key(HEXLOWER.encode(&player.key.to_bytes())),
                },
                name: clean(player.name.as_str()),
                bot,
                place: u8::try_from(better.count() + 1).unwrap_or(u8::MAX),
            }
        });
        self.results = results.collect();
        self
    }

    /// `stayed` are the seats that were in the game to its end.
    fn why_unrated(&self, stayed: SeatSet, proof: ResultProof) -> Option<Unrated> {
        let is_signed = !proof.signed_by.is_empty() && stayed.minus(proof.signed_by).is_empty();
        match &self.ending {
            Ending::Forfeited { .. } | Ending::Unfair { .. } => Some(Unrated::NotFair),
            _ if self.players.len() < 2 => Some(Unrated::Alone),
            Ending::Claimed { .. } => Some(Unrated::Claimed),
            // A file may also end after the signatures, before all seeds are open.
            Ending::Unfinished if !is_signed => Some(Unrated::Unfinished),
            _ if !proof.by_word.is_empty() => Some(Unrated::ByWord { seats: proof.by_word.iter().collect() }),
            _ if !is_signed => Some(Unrated::Unsigned),
            _ => None,
        }
    }

    /// Decodes the summary of a transcript of `length` bytes. Cleans the names again, because the file may have been
    /// edited.
    pub fn from_bytes(bytes: &[u8], length: u64) -> Option<Self> {
        let mut read: Self = serde_json::from_slice(bytes).ok()?;
        if read.version != VERSION || read.bytes != length {
            return None;
        }
        for text in read
            .players
            .iter_mut()
            .chain([&mut read.game, &mut read.log])
            .chain(&mut read.day)
            .chain(read.options.iter_mut().flat_map(|(key, value)| [key, value]))
        {
            *text = clean(text);
        }
        for result in &mut read.results {
            result.name = clean(&result.name);
            result.bot = result.bot.as_deref().map(clean);
            let (Player::Key(text) | Player::LocalBots(text)) = &mut result.player;
            *text = clean(text);
        }
        if let Ending::Unfair { why } = &mut read.ending {
            *why = clean_reason(why);
        }
        Some(read)
    }

    /// The game with its options.
    pub fn terms(&self) -> Terms {
        Terms { game: self.game.clone(), options: self.options.clone() }
    }

    /// The game's display name.
    pub fn game_name(&self) -> &str {
        game_info(&self.game).map_or(self.game.as_str(), |info| info.name)
    }

    /// The ending in a few words, such as "forfeited by Anna".
    pub fn ended(&self) -> String {
        self.ending.in_words(|seat| self.name(seat))
    }

    /// Why the game does not count for ratings, in words; `None` if it does.
    pub fn why_unrated_in_words(&self) -> Option<String> {
        let unrated = self.unrated.as_ref()?;
        Some(unrated.in_words(|seat| self.name(seat)))
    }

    /// The same for a finished game of several players, which one would expect to be rated.
    pub fn why_finished_is_unrated(&self) -> Option<String> {
        let expected = self.ending == Ending::Finished && self.players.len() > 1;
        self.why_unrated_in_words().filter(|_| expected)
    }

    /// The names of the other players; of all, for a spectator.
    pub fn others(&self) -> Vec<String> {
        let me = self.me.map(Seat::index);
        let others = self.players.iter().enumerate().filter(|(seat, _)| Some(*seat) != me);
        others.map(|(_, name)| name.clone()).collect()
    }

    /// A player's name; the seat number if there is none.
    pub fn name(&self, seat: Seat) -> String {
        self.players.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string())
    }
}

/// The seats that left the game or were removed from it, before it was over.
pub fn departed_from(game: &AnyGame) -> SeatSet {
    Seat::first(game.seats()).filter(|seat| game.has_left(*seat)).collect()
}

/// The ending of a transcript without known faults.
fn ending(transcript: &Transcript) -> Ending {
    let by: Vec<Seat> = transcript.claims().iter().map(|signed| signed.claim().seat).collect();
    match transcript.end() {
        End::Finished => Ending::Finished,
        End::Unfinished if !by.is_empty() => Ending::Claimed { by },
        End::Unfinished => Ending::Unfinished,
        End::Stopped => Ending::Unfair { why: "the table stopped with evidence".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::summary;

    #[test]
    fn a_summary_comes_back_clean_and_for_its_file_alone() {
        let bytes = serde_json::to_vec(&summary()).unwrap();
        let read = Summary::from_bytes(&bytes, 7).unwrap();
        assert_eq!(read.players, ["Anna[31m", "Béla"]);
        assert_eq!(read.ended(), "NOT FAIR");
        let by = Seat::new(1).unwrap();
        let ending = Ending::Forfeited { by };
        assert_eq!(Summary { ending, ..read.clone() }.ended(), "forfeited by Béla");
        assert!(matches!(&read.ending, Ending::Unfair { why } if why == "seat 0 cheats"));
        assert_eq!((read.me, &read.scores), (Seat::new(1), &vec![1, -2]));
        assert_eq!(read.game_name(), "Loot");
        assert_eq!(read.terms().in_short(), "Loot (first to 20)");
        assert_eq!(read.name(Seat::new(5).unwrap()), "seat 5");
        assert_eq!(Summary::from_bytes(&bytes, 8), None);
        let later = Summary { version: VERSION + 1, ..summary() };
        let bytes = serde_json::to_vec(&later).unwrap();
        assert_eq!(Summary::from_bytes(&bytes, 7), None);
        assert_eq!(Summary::from_bytes(b"[]", 7), None);
    }
}
