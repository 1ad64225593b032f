//! The next deal, set up while one is played: where it begins, what drops it, and that nothing of it is early.

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::game::{Game as _, Protocol, RuleSet};
use fairdeal_protocol::log::body::{Body, Part};
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Event, Table};
use fairdeal_protocol::table::replica::{Ahead, AheadStage, News, Replica, StepKind};
use fairdeal_protocol::transcript::Transcript;

use fairdeal_testkit::Room;
use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::entries;
use fairdeal_testkit::random::stream;
use fairdeal_testkit::seats::seat;

use super::sim::{ANY_SEED, LONG, Plan, Sim, charter};

/// A table whose first deal waits for an action.
fn begun(rules: &RuleSet) -> Room<Drill> {
    let mut room = Room::new(charter(rules), |seat| stream(ANY_SEED, u64::from(seat.number())));
    room.begin();
    room.exchange();
    room
}

fn leader(room: &Room<Drill>) -> Seat {
    room.seats().find(|seat| room[*seat].table.is_my_turn()).expect("somebody is to act")
}

/// The seat whose turn it is takes an action; then messages are delivered until nobody has more. Returns the kinds of the
/// steps that were open after each round, without repetitions.
fn act(room: &mut Room<Drill>, action: &Action) -> Vec<StepKind> {
    let leader = leader(room);
    room[leader].act(action.clone()).unwrap();
    let mut kinds = Vec::new();
    while room.round() {
        // Those who lack a message are a step behind for the time of a round.
        let first = room.tables().max_by_key(|table| table.replica().step()).unwrap();
        kinds.extend(first.replica().kind().filter(|kind| kinds.last() != Some(kind)));
    }
    kinds
}

/// As [`act`], with an action that takes one step, or a little more once there are no cards to turn.
fn pass(room: &mut Room<Drill>) {
    let cards = room[0].table.game().check(leader(room), &Action::Turn).is_ok();
    act(room, if cards { &Action::Turn } else { &Action::Roll });
}

fn ahead(room: &Room<Drill>) -> Option<(u32, AheadStage)> {
    let all: Vec<_> =
        room.tables().map(|table| table.replica().ahead().map(|ahead| (ahead.number(), ahead.stage()))).collect();
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0]
}

fn deal(room: &Room<Drill>) -> u32 {
    room[0].table.replica().deal()
}

/// The kinds of the steps between the last action of a deal and the first of the next, if `turns` were taken before it.
fn between(rules: &RuleSet, turns: usize) -> Vec<StepKind> {
    let mut room = begun(rules);
    for _ in 0..turns {
        pass(&mut room);
    }
    let mut kinds = act(&mut room, &Action::NextDeal);
    assert_eq!(deal(&room), 1);
    // The kind of the first and the last one is that of an action.
    kinds.retain(|kind| !matches!(kind, StepKind::Action { .. }));
    kinds
}

/// A shuffle that is to be sent ahead leaves with none of the entries before that is done, and then as it was sent.
//= T5.55
#[test]
fn a_shuffle_waits_for_its_draft() {
    let mut room = begun(&rules(3, 100));
    let all: Vec<Seat> = room.seats().collect();
    for seat in &all {
        room[*seat].table.send_drafts();
    }
    let mut drafts = Vec::new();
    for _ in 0..12 {
        let before = ahead(&room);
        pass(&mut room);
        let Some(seat) = all.iter().copied().find(|seat| room[*seat].table.draft_due().is_some()) else { continue };
        let table = &mut room[seat].table;
        assert_eq!((table.draft_due(), table.draft().is_some()), (Some(1), true));
        if ahead(&room) != before {
            // The step after the one in which it has become due: the others' parts come, this one does not.
            continue;
        }
        let draft = room[seat].table.draft().unwrap();
        assert_eq!(room[seat].table.draft().as_ref(), Some(&draft), "it is the same every time");
        room[seat].table.has_sent_draft(1);
        pass(&mut room);
        assert_ne!(ahead(&room), before, "the stage is complete");
        drafts.push(draft);
    }
    assert_eq!((drafts.len(), ahead(&room)), (3, Some((1, AheadStage::Ready))));
    let log = room[0].table.transcript();
    let mut found = Vec::new();
    steps(&log, |_, entries| {
        found.extend(entries.iter().filter_map(|entry| Some(entry.body().part()?.shuffled()?.draft())));
    });
    assert_eq!(found, drafts);
}

/// The deal begins where its setup stands: one stage further for each action that was taken before.
//= T5.53, T5.54, T5.56
#[test]
fn a_deal_begins_where_its_setup_stands() {
    use StepKind::{Accept, Confirm, Effects, Escrow, Key, Opening, Shuffle};

    let deck = fairdeal_protocol::card::DeckId(0);
    let stages = [Key, Escrow, Accept, Shuffle { deck }];
    for done in 0..6 {
        let kinds = between(&rules(3, 100), done);
        let rest = stages.get(done..).unwrap_or_default();
        // Once all is there, the shares come with the seeds.
        let shares = [Effects];
        let last = if rest.is_empty() { &[][..] } else { &shares };
        assert_eq!(kinds, [&[Confirm, Opening], rest, last].concat(), "after {done} turns");
    }
    // Two parties make no escrow.
    assert_eq!(between(&rules(2, 100), 1), [Confirm, Opening, Shuffle { deck }, Effects]);
    assert_eq!(between(&rules(2, 100), 3), [Confirm, Opening]);
}

/// The next hand is there two rounds after the Confirm step begins, at any number of seats. (Of two, one is always ahead
/// of the other.)
#[test]
fn a_deal_set_up_is_there_with_the_openings() {
    for seats in 3..=6 {
        let mut room = begun(&rules(seats, 100));
        for _ in 0..10 {
            pass(&mut room);
        }
        assert_eq!(ahead(&room), Some((1, AheadStage::Ready)), "{seats} seats");
        let leader = leader(&room);
        room[leader].act(Action::NextDeal).unwrap();
        // The action, its acks, the Confirm.
        let opens = |table: &Table<Drill>| table.replica().kind() == Some(StepKind::Opening);
        let rounds = (1..9).find(|_| room.round() && room.tables().all(opens));
        assert_eq!(rounds, Some(3));
        for table in room.tables() {
            assert_eq!((table.replica().deal(), table.known().iter().count()), (1, 0));
        }
        // The seeds, with the shares.
        room.round();
        room.take_sent();
        for seat in room.seats() {
            let hand = room[seat].table.game().hand(seat);
            let known = hand.iter().filter_map(|slot| room[seat].table.known().get(slot.handle()?));
            assert_eq!((hand.len(), known.count()), (1, 1), "{seats} seats");
        }
        let told = room[0].events.iter().rev().filter_map(|event| match event {
            Event::News(News::Opened(deal)) => Some(("opened", *deal)),
            Event::News(News::Deal(deal)) => Some(("begun", *deal)),
            _ => None,
        });
        assert_eq!(told.take(2).collect::<Vec<_>>(), [("begun", 1), ("opened", 0)]);
    }
}

/// By protocol 1 no deal is set up ahead, and a game that does not know its next deck has no setup either.
#[test]
fn not_every_table_sets_up_deals() {
    let mut room = begun(&RuleSet { protocol: Protocol::One, ..rules(3, 100) });
    act(&mut room, &Action::Turn);
    assert_eq!(ahead(&room), None);
    let mut none = rules(3, 100);
    none.options.insert("no-cards".to_owned(), String::new());
    let mut room = begun(&none);
    act(&mut room, &Action::Roll);
    assert_eq!(ahead(&room), None);
}

/// A departure drops the setup with its number, and one for the seats that stay begins.
//= T5.51
#[test]
fn a_departure_drops_the_setup() {
    for turns in 0..6 {
        let mut room = begun(&rules(4, 100));
        for _ in 0..turns {
            pass(&mut room);
        }
        let leaver = room.seats().find(|seat| !room[*seat].table.is_my_turn()).unwrap();
        room[leaver].leave().unwrap();
        room.exchange();
        let left = room[leaver].table.me();
        let stays: Vec<Seat> = room.seats().filter(|seat| *seat != left).collect();
        let replica = room[stays[0]].table.replica();
        assert!(!replica.participants().contains(left), "after {turns} turns");
        let next = replica.ahead().map(|ahead| (ahead.number(), ahead.seats()));
        assert_eq!(next, Some((2, stays.iter().copied().collect::<SeatSet>())), "after {turns} turns");
        for _ in 0..6 {
            pass(&mut room);
        }
        act(&mut room, &Action::NextDeal);
        assert_eq!(room[stays[0]].table.replica().deal(), 2);
        fair(&room[stays[0]].table);
    }
}

/// A game that wants another deck drops the setup of the first one.
//= T5.51
#[test]
fn another_deck_drops_the_setup() {
    let mut wanes = rules(3, 100);
    wanes.options.insert("wanes".to_owned(), String::new());
    for turns in 0..6 {
        let mut room = begun(&wanes);
        for _ in 0..turns {
            pass(&mut room);
        }
        act(&mut room, &Action::Reveal);
        assert_eq!(ahead(&room), Some((2, AheadStage::Commit)), "after {turns} turns");
        act(&mut room, &Action::NextDeal);
        assert_eq!(deal(&room), 2);
        fair(&room[0].table);
    }
}

fn fair(table: &Table<Drill>) {
    assert_eq!(audit::<Drill>(&table.transcript()).finding, None);
}

/// The steps of a transcript up to the first one that removes a seat, with the state before each.
fn steps(transcript: &Transcript, mut each: impl FnMut(&Replica<Drill>, &[Entry])) {
    let mut replica = Replica::<Drill>::new(transcript.charter().clone()).unwrap();
    let all = replica.participants();
    let mut open: Vec<Entry> = Vec::new();
    for signed in transcript.entries() {
        let entry = entries::verified(transcript.charter(), signed);
        if entry.step() != replica.step() {
            return;
        }
        open.push(entry);
        if open.len() == replica.live().len() {
            each(&replica, &open);
            replica.finish(&open.drain(..).map(|entry| (entry.seat(), entry)).collect()).unwrap();
            if replica.participants() != all {
                return;
            }
        }
    }
}

/// Before the Confirm at the end of a deal, the log holds nothing of the next one but its commitments, keys, escrow and
/// shuffles: no share of its cards, and no coin.
#[test]
fn nothing_of_the_next_deal_is_dealt_early() {
    let mut begun_with_openings = 0;
    for seed in 0..4 {
        let mut sim = Sim::new(&rules(3, 30), seed, Plan::interjecting());
        sim.run(LONG);
        let transcript = sim.room[0].table.transcript();
        let mut confirmed = false;
        steps(&transcript, |replica, entries| {
            if replica.turned().is_some() {
                assert!(confirmed, "step {}", replica.step());
                assert!(entries.iter().all(|entry| matches!(entry.body(), Body::Turn { .. })));
                begun_with_openings += 1;
            }
            if let Some(number) = replica.ahead().map(Ahead::number) {
                assert!(number > replica.deal());
            }
            confirmed = replica.kind() == Some(StepKind::Confirm);
        });
        assert_eq!(audit::<Drill>(&transcript).finding, None);
    }
    assert!(begun_with_openings > 2, "{begun_with_openings}");
}

/// A seat whose part of an escrow does not open sends no acceptance, and the others do. So the deal begins with the step in
/// which it complains.
//= T5.55
#[test]
fn a_bad_escrow_part_is_not_accepted() {
    let mut room = begun(&rules(3, 100));
    while ahead(&room) != Some((1, AheadStage::Escrow)) {
        pass(&mut room);
    }
    let leader = leader(&room);
    let next = room[leader].table.replica().live().after(leader).unwrap();
    let cheat = room[leader].table.replica().live().after(next).unwrap();
    room[leader].act(Action::Draw).unwrap();
    room.round();
    let mut victim = None;
    for mut sent in room.take_sent() {
        if sent.from == cheat {
            let charter = room.charter.clone();
            sent.message = entries::rewrite(&charter, sent.message, |entry| {
                let mut content = entry.content().clone();
                let part = content.body.answers_mut().and_then(|answers| answers.part.as_deref_mut());
                let Some(Part::Escrow { parts, .. }) = part else { panic!("an ack without an escrow") };
                let mut list = parts.to_vec();
                list[0].masked = list[1].masked;
                victim = Some(list[0].to);
                *parts = list.try_into().unwrap();
                Some(entries::sign(content))
            });
        }
        room.deliver(&sent);
    }
    assert_eq!(room[next].table.replica().ahead().map(Ahead::stage), Some(AheadStage::Accept));
    room[next].act(Action::Draw).unwrap();
    let mut accepting = Vec::new();
    for _ in 0..2 {
        for sent in room.take_sent().into_iter().filter(|sent| sent.from != cheat) {
            for entry in entries::carried(&room.charter, &sent.message) {
                let accepts = matches!(entry.body().part(), Some(Part::Accept { .. }));
                accepting.push((entry.seat(), accepts));
            }
            room.deliver(&sent);
        }
    }
    accepting.sort_unstable();
    let mut expected = [leader, next].map(|seat| (seat, Some(seat) != victim));
    expected.sort_unstable();
    assert_eq!(accepting, expected);
}

/// A false seed, in the step in which the next deal has begun, voids that deal: the result of the deal before stands, its
/// seeds are open, and the others play a new one.
//= T5.23
#[test]
fn a_false_opening_voids_the_deal_that_has_begun() {
    let cheat = seat(1);
    let mut seen = 0;
    for seed in 0..8 {
        let mut lied = None;
        let mut sim = Sim::new(&rules(4, 40), seed, Plan::cheating(cheat));
        sim.run_rewriting(LONG, |from, _, entry| {
            let mut content = entry.content().clone();
            match &mut content.body {
                Body::Turn { seed, .. } if from == cheat && entry.seat() == cheat => {
                    seed.0[0] ^= 1;
                    lied = Some(entry.step());
                    Some(entries::sign(content))
                }
                _ => Some(entry),
            }
        });
        let Some(step) = lied else { continue };
        let honest = &sim.room[0];
        assert!(honest.table.is_finished(), "{:?}", honest.table.stopped());
        let fault = sim.fault(0).expect("the liar is named");
        assert_eq!((fault.seat, fault.step), (cheat, step));
        let news: Vec<_> = honest
            .events
            .iter()
            .filter_map(|event| match event {
                Event::News(News::Opened(deal)) => Some(("opened", *deal)),
                Event::News(News::Deal(deal)) => Some(("begun", *deal)),
                Event::News(News::Voided(deal)) => Some(("void", *deal)),
                _ => None,
            })
            .collect();
        let void = news.iter().position(|(what, _)| *what == "void").expect("the deal is void");
        let number = news[void].1;
        assert_eq!(news[void - 1], ("begun", number));
        assert_eq!(news[void - 2].0, "opened");
        assert!(!news[void..].contains(&("opened", number)));
        fair(&honest.table);
        seen += 1;
    }
    assert!(seen > 1, "{seen}");
}

/// A cheat opens its true seed to some and a false one to another. That one removes it, goes on to a deal of another number,
/// and then all go back to the opening: everybody still has its seed for that.
#[test]
fn two_faced_openings_are_opened_again() {
    for turns in [0, 1, 10] {
        let mut room = begun(&rules(4, 100));
        act(&mut room, &Action::NextDeal);
        for _ in 0..turns {
            pass(&mut room);
        }
        let leader = leader(&room);
        room[leader].act(Action::NextDeal).unwrap();
        let opens = |table: &Table<Drill>| table.replica().kind() == Some(StepKind::Opening);
        assert!((1..12).any(|_| room.round() && room.tables().all(opens)), "after {turns} turns");
        let (cheat, victim) = (seat(1), seat(2));
        let charter = room.charter.clone();
        let honest: Vec<Seat> = room.seats().filter(|seat| *seat != cheat).collect();
        let mut lied = false;
        for now in 1..60 {
            for mut sent in std::iter::from_fn(|| Some(room.take_sent())).take(20).flatten().collect::<Vec<_>>() {
                if sent.from == cheat && lied {
                    continue;
                }
                lied |= sent.from == cheat;
                let true_message = sent.message.clone();
                for to in honest.iter().filter(|to| sent.is_for(**to)).copied().collect::<Vec<_>>() {
                    sent.message = true_message.clone();
                    if sent.from == cheat && to == victim {
                        sent.message = entries::rewrite(&charter, sent.message, |entry| {
                            let mut content = entry.content().clone();
                            if let Body::Turn { seed, .. } | Body::Open { seed } = &mut content.body {
                                seed.0[0] ^= 1;
                            }
                            Some(entries::sign(content))
                        });
                    }
                    // Evidence may come late; nobody minds.
                    let _ = room[to].receive(sent.from, &sent.message.to_bytes());
                }
            }
            for seat in &honest {
                room[*seat].tick(now * 1000);
            }
        }
        for table in honest.iter().map(|seat| &room[*seat].table) {
            let kind = table.replica().kind();
            assert!(matches!(kind, Some(StepKind::Action { .. })), "after {turns} turns: {kind:?}");
            assert!(!table.replica().participants().contains(cheat));
            fair(table);
        }
    }
}
