use ed25519_dalek::SigningKey;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::testing::announcement;

use super::*;

fn peer(seed: u8) -> PeerId {
    PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
}

fn address(seed: u8, port: u16) -> Multiaddr {
    format!("/ip4/192.0.2.1/tcp/{port}/p2p/{}", peer(seed)).parse().unwrap()
}

fn offer(free: u8) -> Offer {
    Offer { announcement: Announcement { seats: 4, free, ..announcement(3) }, record: AddressRecord::default() }
}

/// Whether a delay is this one, give or take a quarter.
fn is_about(about: Duration, delay: Duration) -> bool {
    (about * 3 / 4..=about * 5 / 4).contains(&delay)
}

fn points() -> (Points, Instant) {
    (Points::new(peer(0), &[address(1, 1)]), Instant::now())
}

/// Makes the request that is due.
fn ask(points: &mut Points, now: Instant) -> Option<Step> {
    let (peer, _) = points.due(now)?;
    points.reached(peer, now)
}

fn register(free: u8, number: u64) -> Option<Step> {
    Some(Step::Register(Box::new(offer(free)), number))
}

#[test]
fn point_with_two_addresses_is_one_point() {
    let nameless: Multiaddr = "/ip4/192.0.2.1/tcp/1".parse().unwrap();
    let mut points = Points::new(peer(0), &[address(1, 1), address(1, 2), nameless, address(1, 1)]);
    let now = Instant::now();
    assert_eq!(points.due(now), None, "there is no table yet");
    points.set(Some(offer(1)), now);
    assert_eq!(points.due(now), Some((peer(1), vec![address(1, 1), address(1, 2)])));
    assert_eq!(points.due(now), None);
    assert!(points.expects(peer(1)) && !points.expects(peer(2)));
}

#[test]
fn table_is_renewed_before_it_expires() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    assert_eq!(ask(&mut points, now), register(1, 1));
    assert_eq!(points.answered(peer(1), now), Some((address(1, 1), Ok(()))));
    let then = points.next().unwrap();
    assert!(is_about(RENEWAL, then - now));
    assert_eq!(ask(&mut points, now), None);
    assert_eq!(ask(&mut points, then), register(1, 2));
    assert_eq!(points.answered(peer(1), then), None, "the host knows");
    assert!(RENEWAL * 5 / 4 * 2 < LIFETIME, "one renewal may get lost");
}

#[test]
fn changes_are_sent_after_a_pause_and_once() {
    let (mut points, now) = points();
    points.set(Some(offer(3)), now);
    assert_eq!(ask(&mut points, now), register(3, 1));
    points.set(Some(offer(2)), now);
    points.answered(peer(1), now);
    points.set(Some(offer(1)), now);
    assert_eq!(points.next(), Some(now + PAUSE));
    assert_eq!(ask(&mut points, now + PAUSE), register(1, 2));
    points.answered(peer(1), now + PAUSE);
    points.set(Some(offer(1)), now + PAUSE);
    let renewal = points.next().unwrap() - now - PAUSE;
    assert!(is_about(RENEWAL, renewal), "nothing has changed");
}

#[test]
fn failures_are_retried_ever_later_and_told_once() {
    let (mut points, mut now) = points();
    points.set(Some(offer(1)), now);
    let mut delays = Vec::new();
    for n in 0..8 {
        assert!(ask(&mut points, now).is_some());
        let news = points.failed(peer(1), "down".to_owned(), now);
        assert_eq!(news.is_some(), n == 0);
        // A change does not shorten the delay.
        points.set(Some(offer(2 + n % 2)), now);
        let next = points.next().unwrap();
        delays.push(next - now);
        now = next;
    }
    for (delay, about) in delays.iter().zip([2, 4, 8, 16, 32, 60, 60, 60]) {
        assert!(is_about(Duration::from_secs(about), *delay), "{delays:?}");
    }
    assert_ne!(delays[6], delays[7]);
    assert!(ask(&mut points, now).is_some());
    assert_eq!(points.answered(peer(1), now), Some((address(1, 1), Ok(()))));
    assert!(is_about(RENEWAL, points.next().unwrap() - now));
}

#[test]
fn full_table_is_withdrawn_and_registered_again() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.set(None, now);
    points.answered(peer(1), now);
    assert_eq!(ask(&mut points, now + PAUSE), Some(Step::Withdraw([3; 8])));
    points.answered(peer(1), now + PAUSE);
    assert!(points.is_idle());
    points.set(Some(offer(1)), now + PAUSE);
    assert_eq!(ask(&mut points, now + PAUSE * 2), register(1, 2));
    assert!(points.answered(peer(1), now + PAUSE * 2).is_some());
}

#[test]
fn withdrawal_is_given_up_when_the_table_has_expired() {
    let (mut points, mut now) = points();
    let start = now;
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.answered(peer(1), now);
    points.set(None, now);
    while let Some(next) = points.next() {
        now = next;
        if ask(&mut points, now).is_some() {
            assert_eq!(points.failed(peer(1), "down".to_owned(), now), None);
        }
    }
    assert!(points.is_idle() && now >= start + LIFETIME);
    // A seat is free again, and the point is back.
    points.set(Some(offer(1)), now);
    assert_eq!(ask(&mut points, now), register(1, 2));
    assert!(points.answered(peer(1), now).is_some());
}

#[test]
fn point_that_failed_while_the_table_filled_up_is_asked_again() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    points.due(now);
    let down = || "down".to_owned();
    assert!(points.failed(peer(1), down(), now).is_some());
    points.set(None, now);
    let then = points.next().unwrap();
    assert_eq!(ask(&mut points, then), None);
    assert!(points.is_idle());
    points.set(Some(offer(1)), then);
    points.due(then);
    assert!(points.failed(peer(1), down(), then).is_some(), "told again");
}

#[test]
fn failed_withdrawal_does_not_hide_a_failed_registration() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.answered(peer(1), now);
    points.set(None, now);
    ask(&mut points, now + PAUSE);
    let down = || "down".to_owned();
    assert_eq!(points.failed(peer(1), down(), now + PAUSE), None);
    points.set(Some(offer(1)), now + PAUSE);
    let then = points.next().unwrap();
    ask(&mut points, then);
    assert!(points.failed(peer(1), down(), then).is_some());
}

#[test]
fn ending_node_withdraws_at_once_and_waits_for_nobody() {
    let (mut points, now) = points();
    points.close(now);
    assert!(points.due(now).is_none() && points.is_idle(), "nothing is listed");

    let (mut points, _) = self::points();
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.answered(peer(1), now);
    points.close(now);
    assert_eq!(ask(&mut points, now), Some(Step::Withdraw([3; 8])));
    points.failed(peer(1), "gone".to_owned(), now);
    assert!(points.is_idle());

    let (mut points, _) = self::points();
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.failed(peer(1), "down".to_owned(), now);
    points.close(now);
    assert!(points.is_idle(), "it was down already");
}

#[test]
fn lost_point_is_asked_again_at_once() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.lost(peer(1), now);
    points.answered(peer(1), now);
    let renewal = points.next().unwrap() - now;
    assert!(is_about(RENEWAL, renewal), "its answer shows that it is there");
    points.lost(peer(1), now);
    assert_eq!(points.next(), Some(now + PAUSE));
    let then = now + PAUSE * 2;
    assert_eq!(ask(&mut points, then), register(1, 2));
    points.failed(peer(1), "down".to_owned(), then);
    points.lost(peer(1), then);
    let retry = points.next().unwrap() - then;
    assert!(is_about(PAUSE * 2, retry), "not more often than with any failure");
}

#[test]
fn request_is_put_off_for_a_moment() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    points.due(now);
    points.postpone(peer(1), now);
    assert!(!points.expects(peer(1)));
    assert_eq!(ask(&mut points, now + PAUSE), register(1, 1));
}

#[test]
fn connection_is_closed_by_whoever_opened_it() {
    let (mut points, now) = points();
    points.set(Some(offer(1)), now);
    ask(&mut points, now);
    points.answered(peer(1), now);
    assert!(!points.has_dialled(peer(1)));
    let then = points.next().unwrap();
    points.due(then);
    points.dialled(peer(1));
    points.reached(peer(1), then);
    points.answered(peer(1), then);
    assert!(points.has_dialled(peer(1)) && !points.has_dialled(peer(1)));
}
