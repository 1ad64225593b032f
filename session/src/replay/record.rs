//! Records a replay during its audit.

use std::collections::BTreeMap;
use std::sync::Arc;

use fairdeal_games::{AnyGame, TableGame as _, name_of};
use fairdeal_protocol::audit::auditor::{Audit, Finding, Report};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::transcript::End;

use super::deals::Ledger;
use super::{Act, Cards, Kept, MAX_STEPS, Replay, recomputed_deal, verdict};
use crate::narrate::{LogLine, Narrated, narrate, progress, removal};
use crate::terms::Terms;
use crate::text::player_names;
use crate::view::Seating;

/// A replay being recorded.
pub(super) struct Recorder {
    table: Hash32,
    names: Vec<String>,
    seating: Seating,
    terms: Terms,
    first: Kept,
    rest: Vec<Kept>,
    cards: BTreeMap<u32, Cards>,
    ledger: Ledger,
    cut: bool,
}

impl Recorder {
    pub(super) fn new(audit: &Audit<AnyGame>) -> Self {
        let replica = audit.replica();
        let names = player_names(replica.charter());
        let terms = Terms::of(replica.charter());
        let opened =
            format!("Table {} is open: {} between {}.", replica.table().short(), terms.game_name(), names.join(", "));
        let options = terms.options_in_words();
        let deal = terms.deal_in_words().map(|deal| format!("The charter names {deal}."));
        let first = Kept {
            log_step: None,
            acts: Vec::new(),
            lines: [opened, options].into_iter().chain(deal).map(LogLine::from).collect(),
            ..after(audit, Arc::new(replica.game().clone()), None)
        };
        Self {
            table: replica.table(),
            names,
            seating: Seating::of(replica.charter()),
            terms,
            first,
            rest: Vec::new(),
            cards: BTreeMap::new(),
            ledger: Ledger::new(replica),
            cut: false,
        }
    }

    /// Records the news of the last audited step.
    pub(super) fn note(&mut self, audit: &mut Audit<AnyGame>) {
        let news = audit.take_news();
        self.ledger.note(&news, audit.replica());
        if self.cut {
            return;
        }
        let last = self.rest.last().unwrap_or(&self.first);
        let mut deal = last.deal;
        let (mut acts, mut lines) = (Vec::new(), Vec::new());
        for item in news {
            match &item {
                News::Dealt { card, to } => {
                    self.cards.entry(deal).or_default().dealt.push((*card, *to));
                }
                News::Sealed { deck, .. } => {
                    let faces = audit.replica().faces_of(*deck);
                    self.cards.entry(deal).or_default().sealed.push((*deck, faces));
                }
                News::Action { seat, action, .. } => acts.push(Act { seat: *seat, action: action.clone() }),
                News::Opened(number) => {
                    let faces = Some(audit.opened_faces());
                    self.cards.entry(*number).or_default().faces = faces;
                }
                News::Voided(_) => deal = audit.replica().deal(),
                News::Deal(number) => deal = *number,
                _ => {}
            }
            lines.extend(self.lines(item, audit));
        }
        if lines.is_empty() {
            lines = self.plain_acts(&acts, audit.replica().game());
        }
        if lines.is_empty() {
            self.extend_last(audit);
        } else {
            self.push(audit, acts, lines);
        }
    }

    fn lines(&self, item: News<AnyGame>, audit: &Audit<AnyGame>) -> Vec<LogLine> {
        if let News::Removed(seat) = item {
            let state = removal(seat, audit.departures());
            return vec![state.in_words(&name_of(seat, &self.names)).into()];
        }
        let mut event = None;
        let mut lines = Vec::new();
        for told in narrate(item, &self.names) {
            match told {
                Narrated::Game(told) => event = Some(told),
                Narrated::Line(text) => lines.push(LogLine { text, event: event.take() }),
                Narrated::Deal(deal) => lines.push(format!("Deal {} begins.", u64::from(deal) + 1).into()),
                Narrated::Peer { seat, state } => lines.push(state.in_words(&name_of(seat, &self.names)).into()),
                Narrated::Action { .. } | Narrated::Seal { .. } => {}
            }
        }
        lines
    }

    /// Words for actions that a table's log omits because they show on the table.
    fn plain_acts(&self, acts: &[Act], game: &AnyGame) -> Vec<LogLine> {
        let each = acts.iter().map(|Act { seat, action }| {
            let action = game.action_to_json(*seat, action, &Faces::new());
            let what = action.get("type").and_then(serde_json::Value::as_str);
            format!("{}: {}.", name_of(*seat, &self.names), what.unwrap_or("acts")).into()
        });
        each.collect()
    }

    /// Adds a new step.
    fn push(&mut self, audit: &Audit<AnyGame>, acts: Vec<Act>, lines: Vec<LogLine>) {
        if self.rest.len() + 1 >= MAX_STEPS {
            self.cut = true;
            return;
        }
        let kept = Kept { acts, lines, ..self.now(audit) };
        self.rest.push(kept);
    }

    /// Merges a step of answers into the step before. A step that prepares the next deal belongs to none.
    fn extend_last(&mut self, audit: &Audit<AnyGame>) {
        let now = self.now(audit);
        let last = self.rest.last_mut().unwrap_or(&mut self.first);
        if last.deal == now.deal {
            *last = Kept {
                log_step: last.log_step,
                acts: std::mem::take(&mut last.acts),
                lines: std::mem::take(&mut last.lines),
                ..now
            };
        }
    }

    fn now(&self, audit: &Audit<AnyGame>) -> Kept {
        let replica = audit.replica();
        let last = self.rest.last().unwrap_or(&self.first);
        // Many steps do not change the game.
        let game =
            if *last.game == *replica.game() { Arc::clone(&last.game) } else { Arc::new(replica.game().clone()) };
        let cards = self.cards.get(&replica.deal());
        after(audit, game, cards)
    }

    /// The finished replay. If the log ends before the game does, a last step says how.
    pub(super) fn finish(mut self, report: Report) -> Replay {
        if let Some(line) = last_words(&report, &self.names, &self.terms) {
            let last = self.rest.last().unwrap_or(&self.first);
            let kept = Kept {
                log_step: report.finding.as_ref().and_then(Finding::step),
                acts: Vec::new(),
                lines: vec![line.into()],
                game: Arc::clone(&last.game),
                progress: last.progress.clone(),
                tally: report.tally,
                ..*last
            };
            self.rest.push(kept);
        }
        Replay {
            table: self.table,
            names: self.names,
            seating: self.seating,
            terms: self.terms,
            first: self.first,
            rest: self.rest,
            cards: self.cards,
            deals: self.ledger.into_deals(),
            report,
            cut: self.cut,
        }
    }
}

/// The state after the last audited step.
fn after(audit: &Audit<AnyGame>, game: Arc<AnyGame>, cards: Option<&Cards>) -> Kept {
    let replica = audit.replica();
    Kept {
        log_step: replica.step().checked_sub(1),
        deal: replica.deal(),
        acts: Vec::new(),
        lines: Vec::new(),
        game,
        progress: progress(replica),
        here: replica.participants(),
        dealt: cards.map_or(0, |cards| cards.dealt.len()),
        sealed: cards.map_or(0, |cards| cards.sealed.len()),
        tally: *audit.tally(),
    }
}

/// The closing line for a log that ends before its game.
fn last_words(report: &Report, names: &[String], terms: &Terms) -> Option<String> {
    let name = |seat: &Seat| names.get(seat.index()).cloned();
    if let Some(finding) = &report.finding {
        let who = finding.seat().and_then(|seat| name(&seat)).map_or_else(String::new, |name| format!(" [{name}]"));
        return Some(format!("NOT FAIR: {finding}{who}."));
    }
    if report.end == End::Finished {
        return recomputed_deal(report, terms).map(|_| format!("The audit: {}.", verdict(report, names.len(), terms)));
    }
    let claims: Vec<String> =
        report.claims.iter().flat_map(|claim| claim.by.iter()).filter_map(|seat| name(&seat)).collect();
    Some(if claims.is_empty() {
        "The log ends here, before the game is over.".to_owned()
    } else {
        format!(
            "The log ends here: {} closed the table, because the others stayed away.",
            fairdeal_games::listed(&claims)
        )
    })
}
