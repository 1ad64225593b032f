//! One game between programs with bad luck: every program is restarted, and the game must reach its end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::disk::Disk;
use super::flips;
use super::link::{self, Link};
use super::plan::{Dice, Plan};
use super::player::Player;
use super::tally::Tally;
use crate::process::{Program, fairdeal};

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];
const NAMES: [&str; 4] = ["host", "second", "third", "fourth"];
/// Polling interval.
const LOOK: Duration = Duration::from_millis(10);
/// A game is lost after this long without an event. Longer than the lobby's search for its host, and than the idle
/// timeout of a connection.
const STANDSTILL: Duration = Duration::from_secs(100);
/// How long programs may look for each other before finished ones are called back.
const CALL: Duration = Duration::from_secs(6);
/// Longer than any absence: no seat is removed.
const ABSENCE: &str = "absence=3600";
/// Actions that others may report after the last one that a program reported before its disk was full. These are the
/// step that it had already consented to, and steps whose events it could not report before it was killed.
const AHEAD: usize = 6;

/// Maximum size of a journal in MiB: one reservation and its content.
const JOURNAL: usize = 22;

/// A game in progress.
pub(super) struct Game<'a> {
    plan: &'a Plan,
    root: &'a Path,
    dice: &'a mut Dice,
    players: Vec<Player>,
    tally: Tally,
    /// The host's ticket and address, for guests.
    ticket: Option<(String, String)>,
    strokes: usize,
    next: Instant,
    shown: bool,
}

/// Plays the game to its end and checks the result.
///
/// # Errors
/// The rule that was broken.
pub(super) fn play(plan: &Plan, root: &Path, dice: &mut Dice, small_disks: bool) -> Result<Tally, String> {
    let players = NAMES[..plan.programs].iter().enumerate().map(|(number, name)| {
        let seats = match number {
            0 => 1 + plan.seats - plan.programs,
            _ => 1,
        };
        let mib = u32::try_from(seats * JOURNAL + 8).unwrap();
        let disk = (small_disks && number == plan.small_disk)
            .then(|| Disk::new(&root.join(format!("{name}.disk")), mib))
            .transpose()?;
        let link = (number > 0).then(Link::new);
        if let Some(link) = &link {
            link.slow_down(plan.distance);
        }
        Ok(Player::new(root, name, seats, disk, link))
    });
    let players = players.collect::<Result<_, String>>()?;
    let mut game = Game {
        plan,
        root,
        next: Instant::now(),
        dice,
        players,
        tally: Tally::default(),
        ticket: None,
        strokes: plan.strokes,
        shown: std::env::var_os("FAIRDEAL_SHOW").is_some(),
    };
    game.run()?;
    game.check()?;
    Ok(game.tally)
}

impl Game<'_> {
    fn show(&self, what: impl FnOnce() -> String) {
        if self.shown {
            println!("  {}: {}", self.plan.number, what());
        }
    }

    fn is_local(&self) -> bool {
        self.plan.programs == 1
    }

    fn is_done(&self, number: usize) -> bool {
        let player = &self.players[number];
        player.full_until.is_none() && player.transcript().is_some()
    }

    fn run(&mut self) -> Result<(), String> {
        let everybody = 0..self.players.len();
        loop {
            std::thread::sleep(LOOK);
            let now = Instant::now();
            for number in everybody.clone() {
                self.look_after(number, now)?;
            }
            if everybody.clone().all(|number| self.is_done(number)) {
                return Ok(());
            }
            self.call_back(now);
            let heard = self.players.iter().map(|player| player.heard).max();
            if heard.is_some_and(|heard| now.duration_since(heard) > STANDSTILL) {
                return Err(self.standstill());
            }
            let begun = self.players.iter().any(|player| !player.journals().is_empty());
            if self.strokes > 0 && now >= self.next && (begun || self.dice.percent(2)) {
                self.stroke(now)?;
                self.next = now + self.dice.millis(20, self.plan.pause);
            }
        }
    }

    fn standstill(&self) -> String {
        let each: Vec<String> = self
            .players
            .iter()
            .map(|player| {
                let step = player.actions.last();
                format!(
                    "{}: runs {}, last action at step {step:?}, transcript {}, waits for room {}, error {:?}",
                    player.name,
                    player.program.is_some(),
                    player.transcript().is_some(),
                    player.waits_for_room,
                    player.error
                )
            })
            .collect();
        format!("nobody said anything for {STANDSTILL:?}: {}", each.join("; "))
    }

    /// Carries out what is due for a player, and reads its program's events.
    fn look_after(&mut self, number: usize, now: Instant) -> Result<(), String> {
        let player = &mut self.players[number];
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_due(player.stopped_until) {
            player.stopped_until = None;
            player.signal("CONT");
        }
        player.listen()?;
        if player.full_until.is_some() {
            self.look_at_full_disk(number, is_due(self.players[number].full_until))?;
        }
        let player = &mut self.players[number];
        let exit = player.program.as_mut().and_then(|program| program.exit());
        if let Some(exit) = exit {
            player.has_ended()?;
            let name = player.name.clone();
            self.show(|| format!("{name} ends with {exit}"));
            self.has_ended(number, exit.code(), now)?;
        }
        if number == 0 && self.players[0].ticket.is_some() && self.ticket != self.players[0].ticket {
            self.has_ticket();
        }
        if is_due(self.players[number].back_at) {
            self.bring_back(number);
        }
        Ok(())
    }

    /// The host has a new lobby: guests are directed there.
    fn has_ticket(&mut self) {
        self.ticket.clone_from(&self.players[0].ticket);
        let Some((_, address)) = &self.ticket else {
            return;
        };
        let port = address.split('/').nth(4).and_then(|port| port.parse().ok());
        for player in &mut self.players {
            if let (Some(link), Some(port)) = (&player.link, port) {
                link.lead_to(port);
            }
        }
    }

    fn look_at_full_disk(&mut self, number: usize, ends: bool) -> Result<(), String> {
        let player = &mut self.players[number];
        let Some(disk) = &player.disk else {
            return Ok(());
        };
        if !ends {
            // Reopening a journal frees space.
            disk.fill();
            return Ok(());
        }
        if player.waits_for_room {
            self.tally.one("tables that waited for room");
            let last = player.actions.last().copied().unwrap_or(0);
            for other in &self.players {
                let beyond = other.actions.iter().filter(|step| **step > last).count();
                if beyond > AHEAD {
                    let name = &self.players[number].name;
                    return Err(format!(
                        "{name} waits for room after step {last}, and {} tells {beyond} actions since",
                        other.name
                    ));
                }
            }
        }
        let player = &mut self.players[number];
        player.full_until = None;
        if let Some(disk) = &player.disk {
            disk.free();
        }
        // Its output may be lost with a program that the full disk ended.
        if player.program.is_none() && player.back_at.is_none() {
            player.back_at = Some(Instant::now());
        }
        Ok(())
    }

    /// Handles a program that has ended by itself.
    fn has_ended(&mut self, number: usize, code: Option<i32>, now: Instant) -> Result<(), String> {
        let in_lobby = self.players[0].journals().is_empty();
        let done = self.players[number].transcript().is_some();
        let player = &mut self.players[number];
        let why = player.error.clone().unwrap_or_default();
        match code {
            Some(0 | 1) if done => return Ok(()),
            // Without an exit code it ended before it installed its signal handlers.
            Some(130) | None if player.asked => {}
            // The transcript is not saved, and the program reported it.
            Some(0) if player.over.is_some() && !why.is_empty() => {
                self.tally.one("transcripts saved later");
            }
            Some(1) if player.met_full_disk => {
                let said = player.said();
                let last = said.lines().last().unwrap_or_default().to_owned();
                if ![&why, &last].iter().any(|text| text.contains("pace left on device")) {
                    return Err(format!("{} ends on a full disk and says {last}", player.name));
                }
                self.tally.one("programs that a full disk has ended");
                if player.back_at.is_none() {
                    player.back_at = player.full_until.or(Some(now));
                }
                return Ok(());
            }
            // A lobby without its host.
            Some(1) if number > 0 && in_lobby => {}
            _ => {
                let name = &player.name;
                return Err(format!("{name} ends with {code:?}: {why}; {}", player.said()));
            }
        }
        let player = &mut self.players[number];
        if player.back_at.is_none() {
            player.back_at = Some(now + Duration::from_millis(50));
        }
        Ok(())
    }

    /// Restarts a player's program as its player would.
    fn bring_back(&mut self, number: usize) {
        const RESUME: [&str; 3] = ["resume", "--headless", "--json"];
        let pace = self.plan.pace.to_string();
        let player = &mut self.players[number];
        // Also with a full disk: a program that was killed between its last two steps has nothing to open.
        let done = player.transcript().is_some();
        if player.program.is_some() {
            player.back_at = None;
            return;
        }
        let begun = !player.journals().is_empty();
        let by_ticket = number > 0 && self.ticket.is_some() && self.dice.percent(40);
        if begun && (done || !by_ticket) {
            let table = player.table.clone().unwrap_or_default();
            let mut args = vec!["resume"];
            if done {
                args.push(&table);
            }
            args.extend(&RESUME[1..]);
            self.tally.one("resumed");
            player.start(&args);
        } else if done {
            player.back_at = None;
        } else if number > 0 {
            let Some((ticket, address)) = &self.ticket else {
                return;
            };
            let mut parts: Vec<String> = address.split('/').map(str::to_owned).collect();
            if let (Some(link), Some(port)) = (&player.link, parts.get_mut(4)) {
                *port = link.port.to_string();
            }
            // The ticket contains the host's own address; some guests use it and bypass the link.
            let target = if self.dice.percent(70) { parts.join("/") } else { ticket.clone() };
            let args = ["bot", "join", &target, "--json", "--bot-delay", &pace];
            self.tally.one(if begun { "back by ticket" } else { "joined" });
            player.start(&[&args[..], &LISTEN].concat());
        } else {
            self.open();
        }
    }

    /// Opens the table, or a new one if the last never began.
    fn open(&mut self) {
        let pace = self.plan.pace.to_string();
        let seats = self.plan.seats.to_string();
        let bots = (self.plan.seats - self.plan.programs).to_string();
        let mut args = if self.is_local() {
            vec!["play", self.plan.game, "--headless", "--bots", &bots]
        } else {
            vec!["bot", "host", self.plan.game, "--seats", &seats, "--bots", &bots, "--no-lan"]
        };
        args.extend(["--json", "--bot-delay", &pace]);
        if !self.is_local() {
            args.extend(LISTEN);
        }
        let options = self.plan.options.iter().copied().chain([ABSENCE]).chain(self.plan.turn_time);
        args.extend(options.flat_map(|option| ["--option", option]));
        self.ticket = None;
        self.players[0].ticket = None;
        self.players[0].start(&args);
        let again = self.players[1..].iter().any(|guest| guest.program.is_some());
        if again {
            self.tally.one("lobbies opened again");
        }
        for guest in &mut self.players[1..] {
            // The guests wait in a lobby that no longer exists.
            let _ = guest.kill();
            guest.back_at = Some(Instant::now());
        }
    }

    /// Restarts finished programs that a waiting player still needs.
    fn call_back(&mut self, now: Instant) {
        let waits = |player: &Player| {
            player.transcript().is_none()
                && player.program.is_some()
                && player.stopped_until.is_none()
                && now.duration_since(player.heard) > CALL
        };
        if !self.players.iter().any(waits) {
            return;
        }
        for number in 0..self.players.len() {
            let player = &self.players[number];
            let away = player.program.is_none() && player.back_at.is_none();
            if away && self.is_done(number) && !player.journals().is_empty() {
                self.tally.one("called back");
                self.bring_back(number);
            }
        }
    }

    /// Applies one stroke of bad luck.
    fn stroke(&mut self, now: Instant) -> Result<(), String> {
        let number = self.dice.below(self.players.len());
        let kind = self.dice.below(100);
        let time = self.dice.millis(10, self.plan.longest);
        let player = &mut self.players[number];
        if player.program.is_none() || player.stopped_until.is_some() {
            return Ok(());
        }
        let name = player.name.clone();
        match kind {
            0..35 => {
                let stopped = self.dice.percent(20);
                if stopped {
                    self.players[number].signal("STOP");
                }
                self.players[number].kill()?;
                self.tally.one("kills");
                self.show(|| format!("{name} is killed"));
                self.away(number, time)?;
            }
            35..47 => {
                player.asked = true;
                player.signal("TERM");
                self.tally.one("terms");
                player.back_at = Some(now + time);
                self.show(|| format!("{name} is asked to go"));
            }
            47..54 if player.clock.is_some() => {
                // From an hour to some years, in both directions.
                let ahead = i64::try_from(self.dice.below(100_000)).unwrap() * 3_600;
                let ahead = if self.dice.percent(50) { ahead } else { -ahead };
                if let Some(clock) = &self.players[number].clock {
                    clock.set(ahead);
                }
                self.tally.one("clocks set");
                self.show(|| format!("{name} has its clock set by {ahead} s"));
            }
            47..62 => {
                // Sometimes longer than the idle timeout of a connection.
                let long = self.plan.longest > 1000 && self.dice.percent(15);
                let time = if long { Duration::from_secs(12) } else { time };
                self.players[number].signal("STOP");
                self.players[number].stopped_until = Some(now + time);
                self.tally.one("stops");
                self.show(|| format!("{name} is stopped for {time:?}"));
            }
            62..80 if self.players.len() > 1 => self.cut(number, time),
            _ => {
                let player = &mut self.players[number];
                // A lobby has nothing to lose yet.
                let Some(disk) = player.disk.as_ref().filter(|_| !player.journals().is_empty()) else {
                    return Ok(());
                };
                if player.full_until.is_some() {
                    return Ok(());
                }
                disk.fill();
                player.full_until = Some(now + time + Duration::from_millis(600));
                player.met_full_disk = true;
                self.tally.one("full disks");
                let killed = self.dice.percent(70);
                self.show(|| format!("{name} has a full disk (killed: {killed})"));
                if killed {
                    let player = &mut self.players[number];
                    player.kill()?;
                    player.back_at = Some(now);
                    self.tally.one("kills");
                }
            }
        }
        self.strokes -= 1;
        Ok(())
    }

    /// A killed program stays away for a while. Meanwhile a copy of its files may be damaged and tested.
    fn away(&mut self, number: usize, time: Duration) -> Result<(), String> {
        let player = &mut self.players[number];
        player.back_at = Some(Instant::now() + time);
        let looked_at = !player.journals().is_empty() && player.full_until.is_none();
        if looked_at && self.dice.percent(50) {
            let data = player.data();
            let local = self.plan.programs == 1;
            flips::try_copy(&data, self.root, local, self.dice, &mut self.tally)?;
        }
        Ok(())
    }

    /// Breaks, stalls or slows a link.
    fn cut(&mut self, number: usize, time: Duration) {
        let number = number.max(1);
        let player = &self.players[number];
        let (Some(link), Some(program)) = (&player.link, &player.program) else {
            return;
        };
        let name = player.name.clone();
        let what = match self.dice.below(4) {
            0 => {
                link.stand_still(time);
                "links that stood still"
            }
            1 => {
                link.slow_down(time / 20);
                "slow links"
            }
            _ => {
                link.slow_down(self.plan.distance);
                link.cut();
                let reset = link::reset(program.id());
                self.tally.add("connections reset", reset);
                "cuts"
            }
        };
        self.show(|| format!("{name}: {what}"));
        self.tally.one(what);
    }

    /// Waits for a player's program to end: others may still need it.
    fn let_end(&mut self, number: usize) -> Result<(), String> {
        let deadline = Instant::now() + STANDSTILL;
        let player = &mut self.players[number];
        if player.stopped_until.take().is_some() {
            player.signal("CONT");
        }
        while player.program.as_mut().is_some_and(Program::is_running) {
            player.listen()?;
            if Instant::now() > deadline {
                return Err(format!("{} does not end after its game", player.name));
            }
            std::thread::sleep(LOOK);
        }
        player.has_ended()
    }

    /// The game's row in a player's history.
    fn row(&self, number: usize) -> Result<Value, String> {
        let player = &self.players[number];
        let scratch = tempfile::tempdir_in(self.root).unwrap();
        let listed = flips::command(&player.data(), scratch.path(), &["history", "--json"])?;
        let rows = listed.stdout.lines().map(serde_json::from_str::<Value>);
        let rows: Vec<Value> = rows.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        match rows.as_slice() {
            [row] => Ok(row.clone()),
            _ => Err(format!("{} lists {rows:?} {}", player.name, listed.stderr)),
        }
    }

    /// Checks the files that the game left behind.
    fn check(&mut self) -> Result<(), String> {
        for number in 0..self.players.len() {
            self.let_end(number)?;
            // Killed after its transcript was saved but before its journal ended: the history offers to resume it.
            if self.row(number)?["ended"] == "waits" {
                self.players[number].start(&["resume", "--headless", "--json"]);
                self.tally.one("ended by resuming");
                self.let_end(number)?;
            }
        }
        let mut audits: Vec<(String, Value, Vec<u8>)> = Vec::new();
        for (number, player) in self.players.iter().enumerate() {
            let name = player.name.clone();
            let said = player.said();
            if said.contains("panicked") {
                return Err(format!("{name} has panicked: {said}"));
            }
            let transcript = player.transcript().ok_or_else(|| format!("{name} has no transcript"))?;
            let report = fairdeal().arg("verify").arg(&transcript).arg("--json").output().unwrap();
            let report: Value = serde_json::from_slice(&report.stdout)
                .map_err(|error| format!("{name}: verify: {error}: {report:?}"))?;
            if report["result"] != "fair" || report["finished"] != true {
                return Err(format!("the transcript of {name}: {report}"));
            }
            if let Some(over) = &player.over
                && ["scores", "winners", "log"].iter().any(|key| over[*key] != report[*key])
            {
                return Err(format!("{name} was told {over}, the audit finds {report}"));
            }
            let row = self.row(number)?;
            if row["ended"] != "finished" || row["scores"] != report["scores"] {
                return Err(format!("{name} lists {row}, the audit finds {report}"));
            }
            audits.push((name, report, fs::read(&transcript).unwrap()));
        }
        let (_, first, bytes) = &audits[0];
        for (name, report, other) in &audits {
            if report["log"] != first["log"] || report["scores"] != first["scores"] {
                return Err(format!("{name} has another log: {report} and {first}"));
            }
            self.tally.one("fair transcripts");
            if other != bytes {
                self.tally.one("transcripts of other bytes");
            }
        }
        let transcript = self.players[self.dice.below(self.players.len())].transcript();
        flips::try_transcript(&transcript.unwrap_or_default(), self.root, self.plan.flips, self.dice, &mut self.tally)
    }
}
