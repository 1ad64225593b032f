//! Five-card draw for two to five players over plain TCP: sealed hands, one exchange, a showdown, and an audit.
//!
//! Each player runs a program. In three terminals:
//!
//! ```text
//! cargo run --release -p fairdeal-protocol --example draw_poker -- host 3 Ada
//! cargo run --release -p fairdeal-protocol --example draw_poker -- join 127.0.0.1:PORT Ben
//! cargo run --release -p fairdeal-protocol --example draw_poker -- join 127.0.0.1:PORT Cleo
//! ```
//!
//! The host prints its port. `--auto` plays by itself, `--save FILE` keeps the transcript, `audit FILE` audits one. The
//! host may add `--listen ADDRESS` and `--absence SECONDS`.
//!
//! | file | contents | for another program |
//! | --- | --- | --- |
//! | `rules.rs` | the game | replace it by your game |
//! | `tcp.rs` | frames between two seats | replace it by your transport |
//! | `lobby.rs` | who plays: the charter that all sign | keep the signatures, change how players meet |
//! | `main.rs` | one seat at the table, and the audit | keep the loop of `play` |

use std::collections::VecDeque;
use std::error::Error;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io, thread};

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::card::{Face, Handle};
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::live::{Event as TableEvent, Output, Table};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::transcript::{End, Transcript};

mod lobby;
pub(crate) mod rules;
mod tcp;

use lobby::{Seated, clean};
use rules::{DrawPoker, Event, Exchange, card_name, value};
use tcp::{Heard, Links};

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(500);
/// How long a seat that has finished stays for others that have not.
const LINGER: Duration = Duration::from_secs(10);

const USAGE: &str = "usage: draw_poker host SEATS NAME [--listen ADDRESS] [--absence SECONDS] [--auto] [--save FILE]
       draw_poker join ADDRESS NAME [--auto] [--save FILE]
       draw_poker audit FILE";

#[cfg_attr(test, allow(dead_code, reason = "the tests call `run`"))]
fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Removes an option and its value from the arguments.
fn take(args: &mut Vec<String>, option: &str) -> Option<String> {
    let place = args.iter().position(|arg| arg == option)?;
    args.remove(place);
    (place < args.len()).then(|| args.remove(place))
}

pub(crate) fn run(mut args: Vec<String>) -> Result<(), Box<dyn Error>> {
    let listen = take(&mut args, "--listen").unwrap_or("127.0.0.1:0".to_owned());
    let absence = take(&mut args, "--absence").unwrap_or("60".to_owned());
    let save = take(&mut args, "--save");
    let auto = args.iter().position(|arg| arg == "--auto").map(|place| args.remove(place));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let seated = match args.as_slice() {
        ["host", seats, name] => {
            let listener = TcpListener::bind(listen)?;
            println!("Waiting at {}.", listener.local_addr()?);
            lobby::host(&listener, name, seats.parse()?, absence.parse()?)?
        }
        ["join", address, name] => lobby::join(address, name)?,
        ["audit", file] => return report(&Transcript::from_bytes(&fs::read(file)?)?),
        _ => return Err(USAGE.into()),
    };
    let transcript = play(seated, auto.is_some())?;
    if let Some(file) = save {
        fs::write(file, transcript.to_bytes()?)?;
    }
    report(&transcript)
}

/// Plays one seat to the end. This loop is all that a table needs from its program.
fn play(seated: Seated, mut auto: bool) -> Result<Transcript, Box<dyn Error>> {
    let charter = seated.charter.charter().clone();
    println!("You are {} of table {}.", name(&charter, seated.seat), charter.table().short());
    let (sender, inbox) = sync_channel(256);
    let mut links = Links::start(seated.links, &sender)?;
    if !auto {
        thread::spawn(move || {
            let mut lines = io::stdin().lines().map_while(Result::ok);
            lines.try_for_each(|line| sender.send(Heard::Typed(line)))?;
            sender.send(Heard::InputEnded)
        });
    }

    // The table gets its randomness from its caller. Seeds decide the cards: take the system's generator.
    let mut rng = rand::rng();
    let mut table: Table<DrawPoker> = Table::new(seated.charter, seated.seat, seated.key)?;
    table.begin(&mut rng);
    let start = Instant::now();
    let mut next_tick = start;
    let mut typed: VecDeque<String> = VecDeque::new();
    let mut asked = false;
    let mut finished = None;
    loop {
        // 1. Whatever was done to the table, fetch its outputs, in order.
        while let Some(output) = table.poll() {
            match output {
                // Records to restart from after a crash (`Table::restore`). A program that has them on disk before it
                // sends what follows can be killed at any moment, and never signs two things for one place. This one
                // keeps nothing: if it crashes, its seat is absent.
                Output::Keep(_) => {}
                Output::Send(to, message) => {
                    for seat in links.send(to, &message.to_bytes()) {
                        println!("The connection to {} is lost.", name(&charter, seat));
                    }
                }
                // An entry to relay. Here every seat has a connection to every other; in a star, where guests reach
                // only the host, the host sends it to the others.
                Output::Pass(..) => {}
                Output::Event(event) => tell(&charter, &event),
            }
        }
        if table.stopped().is_some() {
            break;
        }

        // 2. Act if the table waits for this seat.
        if table.is_my_turn() {
            let hand = hand(&table);
            if !std::mem::replace(&mut asked, true) {
                let cards = hand.iter().zip(1..).map(|((_, face), place)| format!("{place}: {}", card_name(*face)));
                println!("Your hand: {}", cards.collect::<Vec<_>>().join("  "));
                println!("Which cards do you exchange? Type their numbers, or Enter to keep all.");
            }
            let discards = match typed.pop_front() {
                Some(line) => choice(&line, &hand),
                None => auto.then(|| advice(&hand)),
            };
            if let Some(discards) = discards {
                table.act(Exchange { discards }, &mut rng)?;
                asked = false;
                continue;
            }
        }

        // 3. Stay until the others have reached the end too: they may lack something that this seat signed. One more
        // tick tells them that this seat is there.
        if table.is_finished() {
            let since = finished.get_or_insert_with(Instant::now);
            if table.all_finished() || links.is_empty() || since.elapsed() > LINGER {
                table.tick(now(start)?, &mut rng);
                while let Some(output) = table.poll() {
                    if let Output::Send(to, message) = output {
                        links.send(to, &message.to_bytes());
                    }
                }
                break;
            }
        }

        // 4. Wait for a message, a line, or the next tick.
        match inbox.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
            Ok(Heard::Message(from, bytes)) => {
                // An error means that the sender does not follow the protocol. It loses its connection, no more: its
                // seat is blamed only for what it has signed.
                if let Err(error) = table.receive(from, &bytes, &mut rng) {
                    println!("{} is disconnected: it sent {error}.", name(&charter, from));
                    links.close(from);
                }
            }
            Ok(Heard::Lost(seat)) => {
                links.close(seat);
                if !table.is_finished() {
                    println!("The connection to {} is lost.", name(&charter, seat));
                }
            }
            Ok(Heard::Typed(line)) => typed.push_back(line),
            // Nobody is there to decide. The program plays on alone, or the others would wait for ever.
            Ok(Heard::InputEnded) => auto = true,
            Err(RecvTimeoutError::Disconnected) => thread::sleep(TICK),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() >= next_tick {
            next_tick = Instant::now() + TICK;
            // Repairs lost messages, and notices seats that stay silent. Three parties or more remove an absent one by
            // themselves and play on.
            table.tick(now(start)?, &mut rng);
            // Of two, nobody can say which one is absent. The one that is here may close the table, on its own word. A
            // program for people asks its player first.
            if table.may_claim() {
                table.claim()?;
            }
        }
    }
    links.finish(&inbox);
    // A transcript may be taken at any time. It is complete once the table has finished.
    Ok(table.transcript())
}

/// Both clocks in milliseconds. Waits are measured by the monotonic one, which nobody can set.
fn now(start: Instant) -> Result<Now, Box<dyn Error>> {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Now { up: u64::try_from(start.elapsed().as_millis())?, wall: u64::try_from(wall.as_millis())? })
}

/// A player's name and seat.
fn name(charter: &Charter, seat: Seat) -> String {
    let name = charter.player(seat).map(|player| clean(player.name.as_str()));
    format!("{} ({seat})", name.unwrap_or_default())
}

/// This seat's hand: handles from the public state, and faces that only this seat knows.
fn hand(table: &Table<DrawPoker>) -> Vec<(Handle, Face)> {
    let cards = table.game().hand(table.me()).into_iter().filter_map(|slot| slot.handle());
    cards.filter_map(|card| Some((card, table.known().get(card)?))).collect()
}

/// The cards that a line names by their numbers, in the order of the hand. Says so if it names something else.
fn choice(line: &str, hand: &[(Handle, Face)]) -> Option<Vec<Handle>> {
    let words = line.split([' ', ',']).filter(|word| !word.is_empty());
    let places: Option<Vec<usize>> = words.map(|word| word.parse().ok()).collect();
    let known = |places: &Vec<usize>| places.iter().all(|place| (1..=hand.len()).contains(place));
    let Some(places) = places.filter(known) else {
        println!("Type numbers of cards, such as: 1 4");
        return None;
    };
    let chosen = hand.iter().zip(1..).filter(|(_, place)| places.contains(place));
    Some(chosen.map(|((card, _), _)| *card).collect())
}

/// A simple player: it exchanges what is neither part of a pair nor a ten or higher, and keeps complete hands.
fn advice(hand: &[(Handle, Face)]) -> Vec<Handle> {
    let faces: Vec<Face> = hand.iter().map(|(_, face)| *face).collect();
    if value(&faces).is_complete() {
        return Vec::new();
    }
    let rank = |face: &Face| face.0 / 4;
    let alone = |face: &Face| faces.iter().filter(|other| rank(other) == rank(face)).count() == 1;
    let spare = hand.iter().filter(|(_, face)| alone(face) && rank(face) < 8);
    spare.map(|(card, _)| *card).collect()
}

/// Tells the player what happened.
fn tell(charter: &Charter, event: &TableEvent<DrawPoker>) {
    let name = |seat: Seat| name(charter, seat);
    match event {
        TableEvent::News(news) => match news {
            News::Sealed { cards, .. } => println!("All have shuffled the {cards} cards, and proved it."),
            News::Game(Event::Begins(seat)) => println!("{} begins.", name(*seat)),
            News::Game(Event::Exchanges(seat, count)) => println!("{} exchanges {count} cards.", name(*seat)),
            News::Game(Event::Shows(seat, hand)) => {
                let cards: Vec<String> = hand.iter().map(|face| card_name(*face)).collect();
                println!("{} shows {}: {}.", name(*seat), cards.join(" "), value(hand).name());
            }
            News::Removed(seat) => println!("{} is removed, and the others play on.", name(*seat)),
            News::Left(seat) => println!("{} has left, and the others play on.", name(*seat)),
            News::Voided(_) => println!("The deal lost a player that it needs. Another deal begins."),
            News::Opened(_) => println!("The seeds are revealed, and everything was recomputed from them."),
            News::Deal(_) | News::Action { .. } | News::Void(_) | News::Dealt { .. } | News::Finished => {}
        },
        TableEvent::Fault(fault, _) => println!("A cheat is proven: {fault}."),
        TableEvent::Stopped(why) => println!("The table has stopped: {why}."),
        TableEvent::Dropped(why) => println!("Your action is void: {why}."),
        _ => {}
    }
}

/// Audits a transcript, as any stranger can who has the file and the rules.
fn report(transcript: &Transcript) -> Result<(), Box<dyn Error>> {
    let report = audit::<DrawPoker>(transcript);
    let charter = transcript.charter().charter();
    let names = |seats: &[Seat]| {
        let names = seats.iter().map(|seat| name(charter, *seat));
        names.collect::<Vec<_>>().join(" and ")
    };
    for (check, times) in report.tally.checks().into_iter().filter(|(_, times)| *times > 0) {
        println!("{times:6} {check}");
    }
    for departure in &report.left {
        println!("{} did not stay to the end.", name(charter, departure.seat));
    }
    for claim in &report.claims {
        println!("Closed on the word of {}: {} stayed away.", claim.by, claim.absent);
    }
    match report.end {
        End::Finished => println!("Result: won by {}.", names(&report.winners)),
        End::Unfinished | End::Stopped => println!("Result: none, the game did not end."),
    }
    println!("Log: {}", report.log);
    match report.finding {
        None => println!("Audit: fair."),
        Some(finding) => return Err(format!("Audit: not fair. {finding}").into()),
    }
    Ok(())
}
