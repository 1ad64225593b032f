//! Hosts and guests exchange frames; some frames are lost, late or false.

use std::collections::{BTreeMap, VecDeque};

use fairdeal_games::rule_set;
use fairdeal_protocol::charter::Player;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::table::live::{Output, To};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::*;
use crate::frame::{Frame, Outgoing, Proposal, Roster, Watch};
use crate::password_gate::{GuestGate, HostGate};

const LOBBY: [u8; 8] = [5; 8];

fn key(n: u8) -> SigningKey {
    SigningKey::from_bytes(&[n; 32])
}

fn peer(n: u8) -> PeerId {
    PeerId::of(&key(n))
}

fn wish(n: u8) -> Join {
    Join {
        lobby: Some(LOBBY),
        name: Text::try_from(format!("player {n}")).unwrap(),
        nonce: [n; 32],
        record: AddressRecord::sign(&key(n), &[], 7),
        proof: None,
        program: [n; 16].into(),
        played_by: PlayedBy::Person,
    }
}

fn host(seats: u8) -> HostLobby {
    let rules = rule_set("loot", seats, &BTreeMap::new()).unwrap();
    HostLobby::new(LOBBY, rules, key(0), wish(0), true)
}

fn guest(n: u8) -> GuestLobby {
    GuestLobby::new(peer(0), key(n), wish(n), false, true)
}

/// Sends the host a guest's join request, and its readiness once it has a seat.
fn join(host: &mut HostLobby, n: u8, join: Join) -> Outgoing {
    let mut outbox = host.receive(peer(n), Frame::Join(join)).unwrap().0;
    if roster(&outbox, n).is_some() {
        outbox.extend(host.receive(peer(n), Frame::Ready(true)).unwrap().0);
    }
    outbox
}

/// A guest that the host dismisses gets a refusal and no seat from then on; another guest can take the seat.
#[test]
fn dismissed_guest_stays_out() {
    let mut host = host(2);
    host.set_ready(false).unwrap();
    join(&mut host, 1, wish(1));
    let seat = host.seat_of(peer(1)).unwrap();
    let outbox = host.dismiss(seat).unwrap();
    assert_eq!(outbox, [(peer(1), Frame::refusal(DISMISSED))]);
    assert!(guest(1).receive(peer(0), outbox[0].1.clone()).is_err());
    let again = join(&mut host, 1, wish(1));
    assert_eq!(again, [(peer(1), Frame::refusal(DISMISSED))]);
    assert!(!host.has_seated(peer(1)));
    join(&mut host, 2, wish(2));
    assert_eq!(host.seat_of(peer(2)), Some(seat));
    // The host's own seat holds no guest to dismiss.
    assert_eq!(host.dismiss(Seat::new(0).unwrap()).unwrap(), []);
}

/// The last roster sent to a guest.
fn roster(outbox: &Outgoing, n: u8) -> Option<&Roster> {
    outbox.iter().rev().find_map(|(to, frame)| match frame {
        Frame::Roster(roster) if *to == peer(n) => Some(roster),
        _ => None,
    })
}

/// Carries frames between the host and its guests (the first guest is number 1) until no frames are left. Frames for
/// which `held_back` is true are not delivered. Returns what was agreed, and the frames held back.
fn carry(
    host: &mut HostLobby,
    guests: &mut [GuestLobby],
    first: Vec<(u8, Outgoing)>,
    held_back: impl Fn(&Frame) -> bool,
) -> (Vec<Agreed>, Vec<(u8, Frame)>) {
    let mut frames: VecDeque<(u8, PeerId, Frame)> =
        first.into_iter().flat_map(|(n, outbox)| outbox.into_iter().map(move |(to, frame)| (n, to, frame))).collect();
    let (mut agreed, mut held) = (Vec::new(), Vec::new());
    while let Some((from, to, frame)) = frames.pop_front() {
        if held_back(&frame) {
            held.push((from, frame));
            continue;
        }
        let to = (0..=6).find(|n| to == peer(*n)).unwrap();
        let answer = match to {
            0 => match frame {
                Frame::Login { lobby, login } => {
                    let mut rng = ChaCha20Rng::from_seed([9; 32]);
                    let answer = host.spectators().login(peer(from), lobby, login, &mut rng);
                    let outbox = answer.map(|frame| (peer(from), frame));
                    Ok((outbox.into_iter().collect(), None))
                }
                frame => host.receive(peer(from), frame),
            },
            n => guests[usize::from(n) - 1].receive(peer(from), frame),
        };
        let (outbox, done) = answer.unwrap();
        frames.extend(outbox.into_iter().map(|(next, frame)| (to, next, frame)));
        agreed.extend(done);
    }
    (agreed, held)
}

fn nothing(_: &Frame) -> bool {
    false
}

/// The guests' frames of one tick.
fn ticks(guests: &[GuestLobby]) -> Vec<(u8, Outgoing)> {
    (1..).zip(guests.iter().map(GuestLobby::tick)).collect()
}

fn refused(outbox: &Outgoing, n: u8) -> bool {
    matches!(&outbox[..], [(to, Frame::Refused(_))] if *to == peer(n))
}

fn proposal(outbox: &Outgoing) -> Option<&Proposal> {
    outbox.iter().find_map(|(_, frame)| match frame {
        Frame::Propose(proposal) => Some(&**proposal),
        _ => None,
    })
}

/// A guest that listens nowhere sits in a browser, as the host sees it.
#[test]
fn seats_in_browsers_are_marked() {
    let mut host = host(3);
    let somewhere = ["/ip4/192.168.1.7/tcp/4001".parse().unwrap()];
    join(&mut host, 1, Join { record: AddressRecord::sign(&key(1), &somewhere, 1), ..wish(1) });
    join(&mut host, 2, Join { record: AddressRecord::sign(&key(2), &[], 1), ..wish(2) });
    let marks: Vec<bool> = host.view().seats.iter().flatten().map(|taken| taken.in_browser).collect();
    assert_eq!(marks, [false, false, true]);
}

#[test]
fn a_solitaire_needs_nobody_else() {
    let rules = rule_set("ivory-tower", 1, &BTreeMap::new()).unwrap();
    let mut host = HostLobby::new(LOBBY, rules, key(0), wish(0), false);
    let (outbox, agreed) = host.sit_alone().unwrap();
    assert!(outbox.is_empty());
    assert_eq!(agreed.unwrap().charter.charter().players.len(), 1);
}

#[test]
fn three_agree() {
    let mut host = host(3);
    let mut guests = [guest(1), guest(2)];
    let first = ticks(&guests);
    let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
    assert_eq!(agreed.len(), 3);
    assert!(agreed.iter().all(|a| a.charter.table() == agreed[0].charter.table()));
    // The first entries are those with which their tables begin, whatever is drawn there.
    for (n, a) in (0..).zip(&agreed) {
        let mut rng = ChaCha20Rng::from_seed([n; 32]);
        let mut table =
            Table::<AnyGame>::new(a.charter.clone(), a.me, key(u8::try_from(a.me.index()).unwrap())).unwrap();
        table.begin(&mut rng);
        let said = std::iter::from_fn(|| table.poll()).find_map(|output| match output {
            Output::Send(To::All, Message::Entries(entries)) => entries.first().cloned(),
            _ => None,
        });
        assert_eq!(said.as_ref(), a.first.get(a.me.index()));
    }
}

/// A guest that has signed loses its seat with its connection, and requests it again.
#[test]
fn a_guest_that_was_lost_sits_down_again() {
    let (mut host, mut guests) = (host(2), [guest(1)]);
    let mut all_sign = |host: &mut HostLobby, lost: bool| {
        if lost {
            host.gone(peer(1)).unwrap();
            guests[0].lost(&mut ChaCha20Rng::from_seed([0; 32]));
        }
        let first = ticks(&guests);
        let signs = |frame: &Frame| matches!(frame, Frame::Sign { .. });
        let (_, mut held) = carry(host, &mut guests, first, signs);
        held.pop().unwrap().1
    };
    let late = all_sign(&mut host, false);
    let sign = all_sign(&mut host, true);
    assert_eq!(late, sign);
    assert!(host.receive(peer(1), sign).unwrap().1.is_some());
}

/// Three cases: the host's program was restarted, or it has noticed the lost connection, or it has not.
#[test]
fn seated_guest_knocks_anew_after_a_loss() {
    let password = || Password::new("open sesame".to_owned()).unwrap();
    let locked = |id: [u8; 8]| {
        let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        let own = Join { lobby: None, ..wish(0) };
        let mut host = HostLobby::new(id, rules, key(0), own, true);
        let gate = HostGate::new(password(), peer(0), id);
        host.spectators().lock(gate);
        host
    };
    let restarted = |_: HostLobby| locked([6; 8]);
    let noticed = |mut host: HostLobby| {
        host.gone(peer(1)).unwrap();
        host
    };
    let cases: [&dyn Fn(HostLobby) -> HostLobby; 3] = [&restarted, &noticed, &|host| host];
    for after in cases {
        // The guest has a bare address, not a ticket.
        let own = Join { lobby: None, ..wish(1) };
        let mut guests = [GuestLobby::new(peer(0), key(1), own, false, true)];
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        guests[0].login_at(GuestGate::new(&password(), None, peer(1), peer(0), &mut rng));
        let sits = |host: &mut HostLobby, guests: &mut [GuestLobby; 1]| {
            let first = ticks(guests);
            assert!(matches!(first[0].1[0].1, Frame::Login { .. }));
            let signs = |frame: &Frame| matches!(frame, Frame::Sign { .. });
            let (_, mut held) = carry(host, guests, first, signs);
            assert!(host.has_seated(peer(1)) && guests[0].seat().is_some());
            held.pop().unwrap().1
        };
        let mut host = locked(LOBBY);
        sits(&mut host, &mut guests);
        guests[0].lost(&mut rng);
        let mut host = after(host);
        let sign = sits(&mut host, &mut guests);
        assert!(host.receive(peer(1), sign).unwrap().1.is_some());
    }
}

/// A charter needs a different nonce from each seat. A guest that copies one gets no seat, and the lobby goes on for
/// the others.
#[test]
fn a_copied_nonce_is_refused_and_the_lobby_goes_on() {
    let mut host = host(3);
    join(&mut host, 1, wish(1));
    for copied in [0, 1] {
        let copy = Join { nonce: [copied; 32], ..wish(2) };
        let outbox = join(&mut host, 2, copy);
        assert!(refused(&outbox, 2), "{outbox:?}");
    }
    let outbox = join(&mut host, 2, wish(2));
    assert!(proposal(&outbox).is_some());
    // A seated guest cannot switch to a copied nonce by a second join either.
    let copy = Join { nonce: [1; 32], ..wish(2) };
    assert!(refused(&join(&mut host, 2, copy), 2));
    assert!(!host.tick().is_empty(), "the proposal still stands");
}

#[test]
fn other_tables_and_full_ones_refuse() {
    let mut host = host(2);
    let elsewhere = Join { lobby: Some([9; 8]), ..wish(1) };
    assert!(refused(&join(&mut host, 1, elsewhere), 1));
    assert!(proposal(&join(&mut host, 1, wish(1))).is_some());
    assert!(refused(&join(&mut host, 2, wish(2)), 2));
    // A seat is free again once its guest has left.
    host.gone(peer(1)).unwrap();
    assert!(proposal(&join(&mut host, 2, wish(2))).is_some());
}

/// The table begins when the last seat is ready, and not before.
#[test]
fn nobody_begins_before_all_are_ready() {
    let mut host = host(3);
    host.set_ready(false).unwrap();
    let mut guests = [guest(1), guest(2)];
    guests[1].set_ready(false).unwrap();
    let first = ticks(&guests);
    let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
    assert!(agreed.is_empty());
    assert_eq!(host.view().ready, [false, true, false]);
    assert!(host.tick().is_empty(), "a guest that is not ready is not asked to sign");
    let first = vec![(0, host.set_ready(true).unwrap().0)];
    assert!(carry(&mut host, &mut guests, first, nothing).0.is_empty());
    for lobby in [host.view(), guests[0].view(), guests[1].view()] {
        assert_eq!(lobby.ready, [true, true, false]);
    }
    let first = vec![(2, guests[1].set_ready(true).unwrap())];
    let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
    assert_eq!(agreed.len(), 3);
}

/// The charter is proposed once all seats are taken. Who is ready signs it, and a change of readiness costs nobody else the
/// signature.
#[test]
fn a_full_table_is_signed_by_one_after_another() {
    let (mut host, mut guests) = (host(3), [guest(1), guest(2)]);
    guests[0].set_ready(false).unwrap();
    let first = ticks(&guests);
    assert!(carry(&mut host, &mut guests, first, nothing).0.is_empty());
    assert!(guests[0].proposed().is_some() && guests[0].signed().is_none());
    let table = guests[1].signed().unwrap().0;
    // The guest is ready, is not, and is again; the other's signature stands all the while.
    for (ready, begins) in [(true, false), (false, false), (true, true)] {
        let signs = |frame: &Frame| !begins && matches!(frame, Frame::Sign { .. });
        let first = vec![(1, guests[0].set_ready(ready).unwrap())];
        let (agreed, held) = carry(&mut host, &mut guests, first, signs);
        assert!(held.iter().all(|(from, _)| *from == 1), "{held:?}");
        assert_eq!(agreed.len(), if begins { 3 } else { 0 });
        assert!(agreed.iter().all(|agreed| agreed.charter.table() == table && agreed.first.len() == 3));
    }
}

/// A signature without a first entry, or with one that is no commitment of the signer, is none.
#[test]
fn signature_comes_with_the_first_entry_of_its_seat() {
    let (mut host, mut guests) = (host(3), [guest(1), guest(2)]);
    let signs = |frame: &Frame| matches!(frame, Frame::Sign { .. });
    let first = ticks(&guests);
    let (_, held) = carry(&mut host, &mut guests, first, signs);
    let [(1, one), (2, two)] = &held[..] else { panic!("{held:?}") };
    let (Frame::Sign { table, signature, .. }, Frame::Sign { first: others, .. }) = (one.clone(), two.clone()) else {
        panic!("{held:?}")
    };
    let mixed = Frame::Sign { table, signature, first: others };
    assert!(host.receive(peer(1), mixed).unwrap().1.is_none());
    assert!(host.receive(peer(2), two.clone()).unwrap().1.is_none());
    assert!(host.receive(peer(1), one.clone()).unwrap().1.is_some());
}

/// If a `Ready` frame is lost, the roster shows it and the guest sends the frame again.
#[test]
fn lost_words_on_being_ready_are_said_again() {
    let (mut host, mut guests) = (host(2), [guest(1)]);
    let lost = |frame: &Frame| matches!(frame, Frame::Ready(_));
    let first = ticks(&guests);
    let (agreed, held) = carry(&mut host, &mut guests, first, lost);
    assert_eq!((agreed.len(), held.len()), (0, 1));
    let first = ticks(&guests);
    let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
    assert_eq!(agreed.len(), 2);
}

/// A seat that withdraws its readiness or leaves while the others sign prevents the start.
#[test]
fn a_charter_is_withdrawn_while_it_is_signed() {
    let (mut host, mut guests) = (host(3), [guest(1), guest(2)]);
    let signs = |frame: &Frame| matches!(frame, Frame::Sign { .. });
    let first = ticks(&guests);
    let (_, late) = carry(&mut host, &mut guests, first, signs);
    assert_eq!(late.len(), 2);
    let first = vec![(1, guests[0].set_ready(false).unwrap())];
    let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
    let asked: Vec<PeerId> = host.tick().into_iter().map(|(peer, _)| peer).collect();
    assert_eq!((agreed.len(), asked), (0, vec![peer(2)]), "a guest that is not ready is not asked to sign");
    assert_eq!(guests[1].view().ready, [true, false, true]);
    // Neither its earlier signature nor a late proposal starts the table.
    for (from, sign) in late {
        assert!(host.receive(peer(from), sign).unwrap().1.is_none());
    }
    let says = guests[0].tick();
    assert!(matches!(&says[..], [(_, Frame::Ready(false))]), "{says:?}");
    // The other guest, which has signed, still gets the current roster.
    let roster_again = host.receive(peer(2), Frame::Ready(true)).unwrap().0;
    assert!(roster(&roster_again, 2).is_some());
    // The first is ready again, and the other leaves: its seat is free for another guest.
    let first = vec![(1, guests[0].set_ready(true).unwrap())];
    let (_, late) = carry(&mut host, &mut guests, first, signs);
    assert_eq!(late.len(), 1);
    host.gone(peer(2)).unwrap();
    assert_eq!(host.view().seats[2], None);
    assert_eq!(host.view().ready, [true, true, false]);
    for (from, sign) in late {
        assert!(host.receive(peer(from), sign).unwrap().1.is_none());
    }
    assert!(proposal(&join(&mut host, 3, wish(3))).is_some());
}

/// A guest that is no longer ready does not sign a late proposal.
#[test]
fn unready_guest_signs_nothing() {
    let (mut host, mut guests) = (host(2), [guest(1)]);
    let proposed = |frame: &Frame| matches!(frame, Frame::Propose(_));
    let first = ticks(&guests);
    let (_, late) = carry(&mut host, &mut guests, first, proposed);
    guests[0].set_ready(false).unwrap();
    for (_, proposal) in late {
        let answer = guests[0].receive(peer(0), proposal).unwrap();
        assert!(answer.0.is_empty() && guests[0].signed().is_none());
    }
}

/// A guest that keeps changing its readiness or its request hits the rate limit; the others do not hear of each change.
#[test]
fn wavering_guest_is_rate_limited() {
    let mut host = host(3);
    join(&mut host, 1, wish(1));
    join(&mut host, 2, wish(2));
    let mut told = 0;
    for n in 0..1000_u32 {
        let frame = if n % 2 == 0 {
            Frame::Ready(n % 4 == 0)
        } else {
            Frame::Join(Join { name: Text::try_from(n.to_string()).unwrap(), ..wish(1) })
        };
        let outbox = host.receive(peer(1), frame).unwrap().0;
        told += usize::from(roster(&outbox, 2).is_some());
    }
    assert!((1..=8).contains(&told), "{told}");
    // The limit does not affect the other guest, and it lets this one through again after a while.
    let outbox = host.receive(peer(2), Frame::Ready(false)).unwrap().0;
    assert!(roster(&outbox, 1).is_some());
    host.tick();
    host.tick();
    let last = Frame::Join(wish(1));
    let outbox = host.receive(peer(1), last).unwrap().0;
    assert!(roster(&outbox, 2).is_some());
}

/// A `Ready` frame from a spectator or from a guest without a seat has no effect.
#[test]
fn only_seats_are_ready() {
    let mut host = host(2);
    let watch = Watch { lobby: Some(LOBBY), proof: None };
    host.receive(peer(5), Frame::Watch(watch)).unwrap();
    for n in [5, 6] {
        let outbox = host.receive(peer(n), Frame::Ready(true)).unwrap().0;
        assert!(outbox.is_empty());
    }
    assert_eq!(host.view().ready, [true, false]);
}

#[test]
fn guest_signs_only_the_shown_charter() {
    let mut host = host(2);
    let outbox = join(&mut host, 1, wish(1));
    let shown = outbox
        .iter()
        .find_map(|(_, frame)| match frame {
            Frame::Roster(roster) => Some(roster.clone()),
            _ => None,
        })
        .unwrap();
    let proposal = proposal(&outbox).unwrap();
    let answer = |roster: Option<Roster>, proposal: &Proposal| {
        let mut guest = guest(1);
        if let Some(roster) = roster {
            guest.receive(peer(0), Frame::Roster(roster)).unwrap();
        }
        let frame = Frame::Propose(Box::new(proposal.clone()));
        guest.receive(peer(0), frame).map(|(outbox, _)| outbox.len())
    };
    assert_eq!(answer(None, proposal), Ok(0));
    assert_eq!(answer(Some(shown.clone()), proposal), Ok(1));
    let bad = |roster| matches!(answer(Some(roster), proposal), Err(LobbyError::BadProposal(_)));
    assert!(bad(Roster { lobby: [9; 8], ..shown.clone() }));
    assert!(bad(Roster { seats: vec![None; 3].try_into().unwrap(), ..shown.clone() }));
    assert!(bad(Roster { game: Text::try_from("thoth".to_owned()).unwrap(), ..shown.clone() }));
    // The keys have to be those that the lobby showed.
    let mut guest = self::guest(1);
    let mut seats: Vec<_> = shown.seats.iter().cloned().collect();
    seats[0].as_mut().unwrap().key = (&key(9)).into();
    let roster = Roster { seats: seats.try_into().unwrap(), ..shown.clone() };
    guest.receive(peer(0), Frame::Roster(roster)).unwrap();
    let propose = Frame::Propose(Box::new(proposal.clone()));
    let (outbox, _) = guest.receive(peer(0), propose).unwrap();
    assert!(matches!(outbox.as_slice(), [(_, Frame::Ready(true))]), "{outbox:?}");
    // A charter with another nonce at our seat was made before this program was started again: it is not signed.
    let mut other = proposal.clone();
    other.charter.players =
        vec![other.charter.players[0].clone(), Player { nonce: [7; 32], ..other.charter.players[1].clone() }]
            .try_into()
            .unwrap();
    assert_eq!(answer(Some(shown.clone()), &other), Ok(0));
    // One without our seat is refused.
    other.charter.players = vec![other.charter.players[0].clone()].try_into().unwrap();
    assert!(matches!(answer(Some(shown), &other), Err(LobbyError::BadProposal(_))));
}

/// A host with a bot of its own program, and a guest.
fn with_a_bot() -> (HostLobby, [GuestLobby; 2]) {
    let bot = Join { program: [0; 16].into(), played_by: PlayedBy::bot("normal").unwrap(), ..wish(1) };
    let bot = GuestLobby::new(peer(0), key(1), bot, true, true);
    (host(3), [bot, guest(2)])
}

/// The charter names the seats that share a program and what plays each seat; the lobby shows both before anybody
/// signs.
#[test]
fn a_host_and_its_bots_are_one_party() {
    let (mut host, mut guests) = with_a_bot();
    let first = ticks(&guests);
    let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
    assert_eq!(agreed.len(), 3);
    let charter = agreed[0].charter.charter();
    let [host_seat, bot, other] = [0, 1, 2].map(|number| Seat::new(number).unwrap());
    let parties = charter.parties();
    assert_eq!(parties.party_of(bot), Some(Party::of(host_seat)));
    assert_eq!(parties.party_of(other), Some(Party::of(other)));
    assert!(!parties.is_person(bot) && parties.is_person(other));
    for view in [host.view(), guests[1].view()] {
        assert_eq!(view.note(host_seat), None);
        let words = view.note(bot).unwrap();
        assert_eq!(words, "bot (normal), in player 0's program");
    }
}

/// A host that puts a guest into its own party would speak for it. The guest signs neither that, nor a charter that
/// calls a person a bot, nor one that differs from the lobby shown.
#[test]
fn a_guest_signs_only_its_own_party() {
    let (mut host, mut guests) = with_a_bot();
    let proposed = |frame: &Frame| matches!(frame, Frame::Propose(_));
    let first = ticks(&guests);
    let (_, held) = carry(&mut host, &mut guests, first, proposed);
    let Some((_, Frame::Propose(good))) = held.last() else {
        panic!("nothing is proposed");
    };
    let change = |number: usize, by: fn(&mut Player)| {
        let mut changed = (**good).clone();
        let mut players = changed.charter.players.to_vec();
        by(&mut players[number]);
        changed.charter.players = players.try_into().unwrap();
        Frame::Propose(Box::new(changed))
    };
    let host_party = |player: &mut Player| player.party = Party::of(Seat::new(0).unwrap());
    let as_bot = |player: &mut Player| player.played_by = PlayedBy::bot("gentle").unwrap();
    let refused =
        |guest: &mut GuestLobby, frame: Frame| matches!(guest.receive(peer(0), frame), Err(LobbyError::BadProposal(_)));
    let [bot, guest] = &mut guests;
    assert!(refused(guest, change(2, host_party)));
    assert!(refused(guest, change(2, as_bot)));
    // A local bot insists on the party of its program.
    let alone = |player: &mut Player| player.party = Party::of(Seat::new(1).unwrap());
    assert!(refused(bot, change(1, alone)));
    // Other seats differ from the lobby shown: the guest asks for the roster again and signs nothing.
    let answer = guest.receive(peer(0), change(1, as_bot)).unwrap().0;
    assert_eq!(answer, [(peer(0), Frame::Ready(true))]);
    assert!(guest.signed().is_none());
    let answer = guest.receive(peer(0), Frame::Propose(good.clone())).unwrap().0;
    assert!(matches!(&answer[..], [(_, Frame::Sign { .. })]));
}

/// A host that does not know yet where it listens proposes nothing: its guests would refuse a record without a signature.
#[test]
fn nothing_is_proposed_before_the_host_is_located() {
    let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
    let own = Join { record: AddressRecord::default(), ..wish(0) };
    let mut host = HostLobby::new(LOBBY, rules, key(0), own, true);
    let mut one = guest(1);
    let mut outbox = join(&mut host, 1, one.own.clone());
    assert!(proposal(&outbox).is_none());
    let told: Multiaddr = "/ip4/10.0.0.1/tcp/4001".parse().unwrap();
    outbox.extend(host.set_addresses(std::slice::from_ref(&told), 7).unwrap());
    assert!(host.set_addresses(&[told], 7).unwrap().is_empty());
    let signed = outbox.into_iter().find_map(|(_, frame)| {
        let (answer, _) = one.receive(peer(0), frame).unwrap();
        answer.into_iter().find_map(|(_, frame)| matches!(frame, Frame::Sign { .. }).then_some(frame))
    });
    let (_, agreed) = host.receive(peer(1), signed.unwrap()).unwrap();
    assert!(agreed.is_some());
}

/// A guest signs what the lobby shows when it signs, not what it showed when the charter was proposed.
#[test]
fn guest_signs_the_terms_that_it_sees_last() {
    let mut host = host(2);
    let outbox = join(&mut host, 1, wish(1));
    let shown = roster(&outbox, 1).unwrap().clone();
    let few = Bounded::first(shown.seats.iter().take(1).cloned());
    let other = Text::try_from("houses-of-thoth".to_owned()).unwrap();
    for changed in [
        Roster { game: other, ..shown.clone() },
        Roster { options: Bounded::default(), ..shown.clone() },
        Roster { seats: few, ..shown.clone() },
        Roster { lobby: [9; 8], ..shown.clone() },
    ] {
        let mut guest = GuestLobby::new(peer(0), key(1), wish(1), false, false);
        guest.receive(peer(0), Frame::Roster(shown.clone())).unwrap();
        let propose = Frame::Propose(Box::new(proposal(&outbox).unwrap().clone()));
        guest.receive(peer(0), propose).unwrap();
        guest.receive(peer(0), Frame::Roster(changed)).unwrap();
        guest.set_ready(true).unwrap();
        assert!(guest.signed().is_none());
        guest.receive(peer(0), Frame::Roster(shown.clone())).unwrap();
        guest.set_ready(true).unwrap();
        assert!(guest.signed().is_some());
    }
}

/// If the host changes, swaps or drops an address record, every guest notices and signs nothing.
#[test]
fn changed_addresses_are_found() {
    let mut host = host(3);
    let told: Multiaddr = "/ip4/10.0.0.1/tcp/4001".parse().unwrap();
    let mut one = guest(1);
    one.set_addresses(std::slice::from_ref(&told), 7);
    let before = one.own.record.clone();
    // The same addresses give the same record, so the join request does not change.
    one.set_addresses(std::slice::from_ref(&told), 7);
    assert_eq!(one.own.record, before);
    join(&mut host, 1, one.own.clone());
    let mut outbox = join(&mut host, 2, wish(2));
    // Nobody is found who has not agreed to play with those who sit there.
    let known =
        |outbox: &Outgoing| -> Vec<bool> { proposal(outbox).unwrap().records.iter().map(Option::is_some).collect() };
    assert_eq!(known(&outbox), [true, true, false], "the third is not ready yet");
    outbox.reverse();
    assert_eq!(known(&outbox), [true, true, true]);
    let good = proposal(&outbox).unwrap().clone();
    let listed = good.records[1].as_ref().unwrap().of(peer(1)).unwrap();
    assert_eq!(listed, std::slice::from_ref(&told));
    let elsewhere = AddressRecord::sign(&key(0), &[told], 7);
    let seat = Seat::new(1).unwrap();
    let why = |why| LobbyError::Record { seat, why };
    let cases = [
        (elsewhere, why(RecordError::OtherPeer)),
        (AddressRecord::default(), why(RecordError::NotSigned)),
        (good.records[2].clone().unwrap(), why(RecordError::OtherPeer)),
    ];
    for (record, expected) in cases {
        let mut changed = good.clone();
        let mut records = changed.records.to_vec();
        records[1] = Some(record);
        changed.records = records.try_into().unwrap();
        for n in [1, 2] {
            let mut guest = guest(n);
            let shown = roster(&outbox, n).unwrap().clone();
            guest.receive(peer(0), Frame::Roster(shown)).unwrap();
            let answer = guest.receive(peer(0), Frame::Propose(Box::new(changed.clone())));
            assert_eq!(answer.unwrap_err(), expected);
            assert_eq!(guest.signed(), None);
        }
    }
    let mut few = good;
    few.records = few.records[..2].to_vec().try_into().unwrap();
    let error = check_known(&few.charter, few.records.iter().map(Option::as_ref)).unwrap_err();
    assert!(matches!(error, LobbyError::BadProposal(_)));
}

/// A join request with an address record signed by somebody else gets no seat.
#[test]
fn foreign_address_record_gets_no_seat() {
    let mut host = host(3);
    let record = AddressRecord::sign(&key(2), &[], 7);
    let outbox = join(&mut host, 1, Join { record, ..wish(1) });
    let [(_, Frame::Refused(why))] = outbox.as_slice() else {
        panic!("{outbox:?}");
    };
    assert!(why.as_str().contains("another peer"), "{}", why.as_str());
    assert!(!host.has_seated(peer(1)));
}
