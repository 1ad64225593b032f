//! The result of an audit in plain words, for a reader who knows no cryptography. The audit screen, the output of
//! `fairdeal verify` and its web page begin with them.

use fairdeal_games::{counted, listed, name_of};
use fairdeal_protocol::audit::auditor::{Finding, Report, Tally};
use fairdeal_protocol::seat::{Seat, SeatSet};

use super::recomputed_deal;
use crate::terms::Terms;
use crate::text::clean_reason;
use crate::view::{Seating, date_in_words, days_in_words, time_in_words};

/// Each check in plain words and what it proves, in the order of [`Tally::checks`].
const PROVES: &str = include_str!("checks.txt");

/// One kind of check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name in the terms of the protocol.
    pub name: &'static str,
    /// Its name in plain words.
    pub plain: &'static str,
    /// How often it was made.
    pub count: u64,
    /// Its proof in one sentence.
    pub proves: &'static str,
}

/// All checks; those that had nothing to check come last.
pub fn checks(tally: &Tally) -> Vec<Check> {
    let mut all: Vec<Check> = tally
        .checks()
        .into_iter()
        .zip(PROVES.lines())
        .map(|((name, count), words)| {
            let (plain, proves) = words.split_once(" | ").unwrap_or((name, words));
            Check { name, plain, count, proves }
        })
        .collect();
    all.sort_by_key(|check| check.count == 0);
    all
}

/// A finding as three named texts: who, where and why.
pub fn refusal(finding: &Finding, names: &[String]) -> [(&'static str, String); 3] {
    let who = finding.seat().map_or_else(
        || "nobody in particular: the author of the file may have changed it".to_owned(),
        |seat| format!("{} ({seat})", name_of(seat, names)),
    );
    let place = finding.step().map_or_else(|| "the end of the file".to_owned(), |step| format!("step {step}"));
    let why = match finding {
        Finding::Fault(fault) => fault.what.to_string(),
        other => other.to_string(),
    };
    [("who", who), ("where", place), ("why", clean_reason(&why))]
}

/// The proof of a log without findings, in three sentences: who shuffled, what follows from that, and what was computed
/// again. `me` is the reader's seat, if known.
pub fn meaning(report: &Report, names: &[String], seating: &Seating, terms: &Terms, me: Option<Seat>) -> [String; 3] {
    if let Some(deal) = recomputed_deal(report, terms) {
        let who = match (me, names.first()) {
            (None, Some(name)) => name.as_str(),
            _ => "You",
        };
        return [
            format!("{who} played {deal}, which is the same for everybody."),
            "This proves that the cards were that day's and that the rules were kept, not that nobody looked ahead."
                .to_owned(),
            "The deal was computed again from its date, and every move was played again on it.".to_owned(),
        ];
    }
    let parties = seating.parties.count(SeatSet::all(names.len()));
    let shuffles = report.tally.shuffle_proofs;
    [
        who_shuffled(report, names, seating, me, parties),
        what_follows(report, seating, me, parties, shuffles > 0),
        what_was_computed(report, names),
    ]
}

/// The players' agreements on time beyond the table's limits, in sentences; none if there are none.
pub fn extensions_in_words(report: &Report, names: &[String]) -> Vec<String> {
    let all = report.extensions.iter().flat_map(|said| {
        let by = name_of(said.seat, names);
        let given = said.given.iter().map({
            let by = by.clone();
            move |given| {
                let to = name_of(given.to, names);
                format!("{by} gave {to} {} of extra time.", time_in_words(u64::from(given.seconds)))
            }
        });
        let rests = said.holidays.iter().map(move |holiday| {
            let when = days_in_words(holiday.first, holiday.days.into());
            format!("{by} declared a holiday on {}: {when}.", date_in_words(holiday.declared))
        });
        given.chain(rests)
    });
    let mut all: Vec<String> = all.collect();
    if !all.is_empty() {
        all.push("Nothing proves how much time each of them used.".to_owned());
    }
    all
}

fn who_shuffled(report: &Report, names: &[String], seating: &Seating, me: Option<Seat>, parties: usize) -> String {
    let did = match report.tally.shuffle_proofs {
        0 => "drew the random numbers",
        _ => "shuffled",
    };
    let whose = if me.is_some() { "your" } else { "one" };
    match (parties, names) {
        (0 | 1, [name]) => {
            let who = if me.is_some() { "You" } else { name.as_str() };
            return format!("{who} played alone, and {whose} program {did}.");
        }
        (0 | 1, _) => {
            let whose = if me.is_some() { "Your" } else { "One" };
            return format!("{whose} program {did} for every seat.");
        }
        _ => {}
    }
    let mine = me.and_then(|me| seating.parties.party_of(me));
    let all = seating.parties.among(SeatSet::all(names.len()));
    let (own, others): (Vec<_>, Vec<_>) = all.partition(|party| Some(*party) == mine);
    let each = others.into_iter().chain(own).map(|party| {
        let mut seats = seating.parties.seats_of(party).iter();
        let first = seats.next().map(|seat| name_of(seat, names)).unwrap_or_default();
        let name = if Some(party) == mine { "you".to_owned() } else { first };
        let more: Vec<String> = seats.map(|seat| name_of(seat, names)).collect();
        if more.is_empty() { name } else { format!("{name} (also for {})", listed(&more)) }
    });
    let who = listed(&each.collect::<Vec<_>>());
    match report.tally.shuffle_proofs {
        0 => format!("{who} {did} together."),
        _ if report.left.is_empty() => format!("{who} each {did} every deck."),
        _ => format!("{who} each {did} every deck while at the table."),
    }
}

fn what_follows(report: &Report, seating: &Seating, me: Option<Seat>, parties: usize, has_decks: bool) -> String {
    let us = match (me.is_some(), report.left.is_empty()) {
        (true, true) => "you",
        (false, true) => "them",
        // A departed seat protects nothing that was drawn after it.
        (_, false) => "those who stayed to the end",
    };
    match (parties, has_decks) {
        (0 | 1, _) => {
            let what = if has_decks { "cards" } else { "numbers" };
            format!("This proves that the rules were kept, not that the program left the {what} to chance.")
        }
        (_, false) => format!("If any one of {us} was honest, nobody could choose or foresee a number."),
        // With keys in escrow, all others together can open the cards of a single honest party.
        (_, true) if seating.has_escrow() => format!(
            "If any one of {us} was honest, nobody could stack a deck; if two were, nobody could see a card before its \
             time."
        ),
        (_, true) => {
            format!("If any one of {us} was honest, nobody could stack a deck or see a card before its time.")
        }
    }
}

fn what_was_computed(report: &Report, names: &[String]) -> String {
    let (count, noun) = match (report.tally.shuffle_proofs, report.tally.coins) {
        (0, coins) => (coins, "secret coin"),
        (shuffles, _) => (shuffles, "shuffle"),
    };
    let what = match usize::try_from(count).unwrap_or(usize::MAX) {
        0 => "Everything that was revealed".to_owned(),
        1 => format!("The one {noun}"),
        many => format!("All {}", counted(many, noun)),
    };
    let departed = report.left.iter().map(|gone| gone.seat);
    let missing: SeatSet = departed.chain(report.unopened.iter()).collect();
    let missing: Vec<String> = missing.iter().map(|seat| name_of(seat, names)).collect();
    if missing.is_empty() && report.deals_opened == report.deals {
        let (was, fits) = if count > 1 { ("were", "fit") } else { ("was", "fits") };
        return format!("{what} {was} computed again and {fits}.");
    }
    let passed = if count > 1 { "pass their proofs" } else { "passes its proofs" };
    let again = match (report.deals_opened, report.deals) {
        (0, _) => "nothing was revealed that could be computed again".to_owned(),
        (opened, deals) if opened == deals => "everything was computed again".to_owned(),
        (opened, deals) => format!("{opened} of {deals} deals were computed again"),
    };
    let except =
        if missing.is_empty() { String::new() } else { format!(", except what came last from {}", listed(&missing)) };
    format!("{what} {passed}, and {again}{except}.")
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::audit::auditor::{Departure, Reason};
    use fairdeal_protocol::hash::Hash32;
    use fairdeal_protocol::party::{Parties, Party, PlayedBy};
    use fairdeal_protocol::table::fault::{Fault, FaultKind};
    use fairdeal_protocol::table::replica::ResultProof;
    use fairdeal_protocol::transcript::End;

    use super::*;

    fn report() -> Report {
        Report {
            table: Hash32::default(),
            end: End::Finished,
            log: Hash32::default(),
            steps: 70,
            deals: 5,
            deals_opened: 5,
            tally: Tally { shuffle_proofs: 30, coins: 4, ..Tally::default() },
            scores: vec![0; 3],
            winners: Vec::new(),
            result: ResultProof::default(),
            left: Vec::new(),
            extensions: Vec::new(),
            claims: Vec::new(),
            unopened: SeatSet::EMPTY,
            finding: None,
        }
    }

    fn names(count: usize) -> Vec<String> {
        ["Ada", "Jo", "Anna"].map(str::to_owned).into_iter().take(count).collect()
    }

    fn said(report: &Report, seating: &Seating, me: Option<usize>) -> String {
        let names = names(seating.played_by.len());
        meaning(report, &names, seating, &Terms::default(), me.and_then(Seat::new)).join(" ")
    }

    #[test]
    fn sentences_name_each_party_and_what_its_honesty_is_worth() {
        let three = Seating::of_people(3);
        assert_eq!(
            said(&report(), &three, Some(2)),
            "Ada, Jo and you each shuffled every deck. If any one of you was honest, nobody could stack a deck; if two \
             were, nobody could see a card before its time. All 30 shuffles were computed again and fit."
        );
        let two = said(&report(), &Seating::of_people(2), None);
        assert!(two.starts_with("Ada and Jo each shuffled every deck. If any one of them was honest, nobody could"));
        assert!(two.contains("stack a deck or see a card before its time."), "{two}");
        let dice = Report { tally: Tally { coins: 4, ..Tally::default() }, ..report() };
        assert_eq!(
            said(&dice, &three, Some(0)),
            "Jo, Anna and you drew the random numbers together. If any one of you was honest, nobody could choose or \
             foresee a number. All 4 secret coins were computed again and fit."
        );
    }

    #[test]
    fn one_program_vouches_for_nothing_but_the_rules() {
        let bot = PlayedBy::bot("normal").unwrap();
        let seats = [0, 0, 2].map(|first| Party::of(Seat::new(first).unwrap()));
        let played_by = vec![PlayedBy::Person, bot, PlayedBy::Person];
        let of = |parties: [Party; 3]| Seating {
            parties: Parties::new(parties.into_iter().zip(&played_by)).unwrap(),
            played_by: played_by.clone(),
            strict: false,
        };
        let two = said(&report(), &of(seats), None);
        assert!(two.starts_with("Ada (also for Jo) and Anna each shuffled"), "{two}");
        let one = said(&report(), &of([seats[0]; 3]), Some(0));
        assert!(one.starts_with("Your program shuffled for every seat. This proves that the rules were"), "{one}");
        let alone = said(&report(), &Seating::alone(), Some(0));
        assert!(alone.starts_with("You played alone, and your program shuffled."), "{alone}");
    }

    #[test]
    fn what_was_not_computed_again_is_said() {
        let (seat, why) = (Seat::new(1).unwrap(), Reason::Left);
        let gone = Report { left: vec![Departure { seat, deal: 4, why }], deals_opened: 4, ..report() };
        let words = said(&gone, &Seating::of_people(3), None);
        assert!(words.contains("every deck while at the table."), "{words}");
        assert!(
            words.ends_with(
                "All 30 shuffles pass their proofs, and 4 of 5 deals were computed again, except what came last from Jo."
            ),
            "{words}"
        );
        let early =
            Report { deals: 1, deals_opened: 0, tally: Tally { shuffle_proofs: 1, ..Tally::default() }, ..report() };
        let words = said(&early, &Seating::of_people(2), None);
        assert!(
            words
                .ends_with("The one shuffle passes its proofs, and nothing was revealed that could be computed again.")
        );
    }

    #[test]
    fn finding_is_told_by_seat_place_and_reason() {
        let fault = Finding::Fault(Fault {
            seat: Seat::new(1).unwrap(),
            step: 17,
            what: FaultKind::IllegalAction("it is not your turn".to_owned()),
        });
        let [who, place, why] = refusal(&fault, &names(2)).map(|(_, text)| text);
        assert_eq!((who.as_str(), place.as_str()), ("Jo (seat 1)", "step 17"));
        assert!(why.contains("it is not your turn"));
        let [who, place, _] = refusal(&Finding::Trailer("short"), &names(2)).map(|(_, text)| text);
        assert!(who.starts_with("nobody in particular") && place == "the end of the file");
    }

    #[test]
    fn every_check_says_what_it_proves() {
        let tally = Tally::default();
        assert_eq!(PROVES.lines().count(), tally.checks().len());
        assert!(PROVES.lines().all(|line| line.split(" | ").count() == 2));
        let made = Tally { faults: 1, ..tally };
        let all = checks(&made);
        assert_eq!(all.len(), tally.checks().len());
        assert_eq!(all.first().map(|check| check.name), Some("proven faults of seats that were removed"));
    }
}
