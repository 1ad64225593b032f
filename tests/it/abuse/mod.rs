//! Games under attack: real programs play over loopback while strangers do their worst.
//!
//! For each kind of attack two programs play without it and with it. The attack begins in the lobby, before the guest
//! joins. A plain run plays about one game of each kind. `FAIRDEAL_ABUSE=SECONDS` sets the duration, with longer games
//! and attackers that never pause. The test asserts mechanisms, never times: the guest is seated, the game ends with
//! one log, the audit finds it fair, no program panics or exceeds its memory limit. Times are only printed.

mod game;
mod mischief;
pub(crate) mod rude;

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

use game::{Figures, Setting, play};
use mischief::{Attack, Kind, Strength};

/// Some kinds of attack and their target.
struct Trial {
    name: &'static str,
    setting: Setting,
    kinds: &'static [Kind],
}

const EVERYTHING: &[Kind] = &[
    Kind::SilentSockets,
    Kind::OneByte,
    Kind::SlowLoris,
    Kind::ManyStreams,
    Kind::OtherProtocols,
    Kind::Oversized,
    Kind::CutShort,
    Kind::Garbage,
    Kind::StreamPerMessage,
    Kind::ProgramNames,
    Kind::Announcements,
    Kind::NeverReads,
    Kind::ValidFrames,
    Kind::ChurnOfMany,
    Kind::ChurnOfOne,
    Kind::LoginsOfOne,
    Kind::LoginsOfMany,
];

/// Every kind alone, then all together, then those that can reach a relay.
fn trials() -> Vec<Trial> {
    let alone = EVERYTHING.iter().map(|kind| Trial {
        name: kind.name(),
        setting: match kind {
            Kind::LoginsOfOne | Kind::LoginsOfMany => Setting::Locked,
            _ => Setting::Open,
        },
        kinds: std::slice::from_ref(kind),
    });
    let relay = |name, kinds| Trial { name, setting: Setting::Relayed, kinds };
    let together = Trial { name: "all together", setting: Setting::Locked, kinds: EVERYTHING };
    let relays = [
        relay("relay: half-open", &[Kind::SilentSockets, Kind::OneByte, Kind::SlowLoris]),
        relay("relay: churn", &[Kind::ChurnOfMany, Kind::ChurnOfOne]),
        relay("relay: streams", &[Kind::ManyStreams, Kind::OtherProtocols, Kind::NeverReads]),
        relay("relay: meeting point", &[Kind::Meetings]),
    ];
    alone.chain([together]).chain(relays).collect()
}

/// Size of the run.
struct Scale {
    /// Playing time for the games of each trial, quiet and attacked ones alike; at least one of each is played.
    share: Duration,
    /// Score that ends a game.
    target: &'static str,
    /// Whether each trial plays its own quiet games just before the attack; otherwise each setting has one quiet game.
    quiet_each: bool,
    strength: Strength,
}

impl Scale {
    fn new(trials: usize) -> Self {
        let seconds: Option<u64> =
            std::env::var("FAIRDEAL_ABUSE").ok().map(|text| text.parse().expect("a number of seconds"));
        match seconds {
            None => Self {
                share: Duration::ZERO,
                target: "60",
                quiet_each: false,
                strength: Strength { clients: 2, sockets: 40, pause: Duration::from_millis(2) },
            },
            Some(seconds) => Self {
                share: Duration::from_secs(seconds) / u32::try_from(trials).unwrap(),
                target: "200",
                quiet_each: true,
                strength: Strength { clients: 8, sockets: 200, pause: Duration::ZERO },
            },
        }
    }
}

#[test]
fn games_end_fairly_under_abuse() {
    // One thread: two programs need the rest of a small machine.
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let trials = trials();
    let scale = Scale::new(trials.len());
    let mut endings = Vec::new();
    let mut quiet: Option<(Setting, Figures)> = None;
    println!("milliseconds a move, before and during; 2 seats of loot, median");
    for trial in &trials {
        let fresh = matches!(&quiet, Some((setting, _)) if *setting == trial.setting);
        if scale.quiet_each || !fresh {
            let figures = play_for(scale.share / 3, &mut endings, || play(trial.setting, scale.target, None));
            quiet = Some((trial.setting, figures));
        }
        let abused = play_for(scale.share * 2 / 3, &mut endings, || {
            let attack = Attack::new(runtime.handle(), scale.strength);
            play(trial.setting, scale.target, Some((attack, trial.kinds)))
        });
        let (_, before) = quiet.as_ref().unwrap();
        println!(
            "{:24} {:6.1} {:6.1} ms; joined in {:5.0} and {:5.0} ms; {:3} games, {:6} moves, {:8} strikes; at most {:3} MiB",
            trial.name,
            milliseconds(&before.moves),
            milliseconds(&abused.moves),
            milliseconds(&before.joins),
            milliseconds(&abused.joins),
            abused.games,
            abused.moves.len(),
            abused.strikes,
            abused.memory / 1024,
        );
    }
    for ending in endings {
        ending.join().expect("a game ends as it should");
    }
}

/// Plays games one after another for `time`, but at least one.
fn play_for(
    time: Duration,
    endings: &mut Vec<JoinHandle<()>>,
    mut play: impl FnMut() -> (Figures, JoinHandle<()>),
) -> Figures {
    let begin = Instant::now();
    let mut all = Figures::default();
    while all.games == 0 || begin.elapsed() < time {
        let (figures, ending) = play();
        all.add(figures);
        endings.push(ending);
    }
    all
}

/// The median, in milliseconds.
fn milliseconds(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1000.0
}
