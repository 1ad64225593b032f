//! Games under abuse: real programs play over loopback while strangers do their worst to them.
//!
//! For each kind of abuse two programs play without it and with it. The abuse begins in the lobby, before the guest
//! joins. A plain run plays about one game of each kind. `FAIRDEAL_ABUSE=SECONDS` plays for so long, with longer games
//! and attackers that never pause. Asserted are mechanisms, never times: the guest is seated, the game ends with one
//! log, the audit finds it fair, no program panics or grows beyond a bound. Times are printed.

mod game;
mod mischief;
mod rude;

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

use game::{Figures, Setting, play};
use mischief::{Attack, Kind, Strength};

/// Some kinds of abuse, and their target.
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

/// Every kind alone, then all together, then those that a relay is exposed to.
fn trials() -> Vec<Trial> {
    let alone = EVERYTHING.iter().map(|kind| Trial {
        name: kind.name(),
        setting: match kind {
            Kind::LoginsOfOne | Kind::LoginsOfMany => Setting::Locked,
            _ => Setting::Open,
        },
        kinds: std::slice::from_ref(kind),
    });
    let relay = |name, kinds| Trial {
        name,
        setting: Setting::Relayed,
        kinds,
    };
    let together = Trial {
        name: "all together",
        setting: Setting::Locked,
        kinds: EVERYTHING,
    };
    let relays = [
        relay(
            "relay: half-open",
            &[Kind::SilentSockets, Kind::OneByte, Kind::SlowLoris],
        ),
        relay("relay: churn", &[Kind::ChurnOfMany, Kind::ChurnOfOne]),
        relay(
            "relay: streams",
            &[Kind::ManyStreams, Kind::OtherProtocols, Kind::NeverReads],
        ),
    ];
    alone.chain([together]).chain(relays).collect()
}

/// How large the run is.
struct Scale {
    /// How long games of each trial are played, quiet and abused ones alike; one of each at least.
    share: Duration,
    /// The score that ends a game.
    target: &'static str,
    /// Whether each trial has quiet games of its own, just before the abuse; else a setting has one.
    quiet_each: bool,
    strength: Strength,
}

impl Scale {
    fn new(trials: usize) -> Self {
        let seconds = std::env::var("FAIRDEAL_ABUSE").ok();
        let seconds: Option<u64> = seconds.map(|text| text.parse().expect("a number of seconds"));
        match seconds {
            None => Self {
                share: Duration::ZERO,
                target: "60",
                quiet_each: false,
                strength: Strength {
                    clients: 2,
                    sockets: 40,
                    pause: Duration::from_millis(2),
                },
            },
            Some(seconds) => Self {
                share: Duration::from_secs(seconds) / u32::try_from(trials).unwrap(),
                target: "200",
                quiet_each: true,
                strength: Strength {
                    clients: 8,
                    sockets: 200,
                    pause: Duration::ZERO,
                },
            },
        }
    }
}

#[test]
fn games_end_fairly_under_abuse() {
    // One thread: two programs play on what is left of a small machine.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let trials = trials();
    let scale = Scale::new(trials.len());
    let mut endings = Vec::new();
    let mut quiet: Option<(Setting, Figures)> = None;
    println!("milliseconds a move, before and during; 2 seats of loot, median");
    for trial in &trials {
        let fresh = matches!(&quiet, Some((setting, _)) if *setting == trial.setting);
        if scale.quiet_each || !fresh {
            let figures = play_for(scale.share / 3, &mut endings, || {
                play(trial.setting, scale.target, None)
            });
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

/// Plays one game after the other for so long, one at least.
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

/// The median.
fn milliseconds(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1000.0
}
