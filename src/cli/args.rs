//! Command-line arguments. Doc comments here become `--help` and the manual page.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use fairdeal_games::GAMES;
use fairdeal_games::bots::Level;
use fairdeal_games::duel::Contestant;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::parse_address;
use fairdeal_peers::ticket::{JoinError, JoinTarget};

use super::relay::Relay;
use crate::store::DataView;
use crate::tui::environment::{few_glyphs, variable};

/// Card games at a terminal table, between peers, with no server and no dealer to trust.
#[derive(Debug, Parser)]
#[command(name = "fairdeal", version, propagate_version = true)]
pub struct Args {
    /// Command to run [default: open the interface]
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Arguments that every command takes.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// Directory for your identity, saved games and transcripts [default: the platform's data directory]
    #[arg(long, global = true, env = "FAIRDEAL_DATA_DIR", value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Your name at the table
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Write a log to this file
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Log more (-vv logs everything)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Draw with ASCII characters only [default: on the Linux console]
    #[arg(long, global = true)]
    pub(super) ascii: bool,
}

impl Common {
    /// Whether lists are printed with ASCII characters only: if asked to, or else as the settings have it, or else as the
    /// terminal needs it.
    pub(super) fn draws_ascii(&self, data: &DataView) -> bool {
        // The interface reports invalid settings.
        let settings = data.settings().0;
        self.ascii || settings.draws_ascii(few_glyphs(variable).is_some())
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Play against bots on this machine; cards are sealed and the game is audited as with friends
    Play(Play),
    /// Open a table and print a ticket for your friends
    Host(Host),
    /// Join a table by its ticket or address
    Join(Join),
    /// Watch a table as a spectator, verifying every step
    Watch(Watch),
    /// Resume a saved game
    Resume(Resume),
    /// Hold your seats while you are away: your tables go on, and `fairdeal` shows them whenever you like
    ///
    /// A keeper answers for you what programs answer by themselves: it accepts the moves of others, gives shares and opens
    /// seeds. It plays only moves that you have prepared. `notify` in the settings tells you when a table waits (docs/slow-play.md).
    Keep(Keep),
    /// Play by letter with friends who are never online when you are
    ///
    /// Make your move in `fairdeal resume`, close it, and write a letter. Your friend reads it, moves, and writes back
    /// (docs/slow-play.md). Only that friend's program can read it.
    Letter {
        #[command(subcommand)]
        command: LetterCommand,
    },
    /// Fetch the letters that wait for you at meeting points, and leave yours there
    ///
    /// At each of your tables your program answers what has come, and writes to all who lack something. A keeper that runs does
    /// it for you. A point
    /// keeps a letter for 21 days, and cannot read it (docs/slow-play.md).
    Mail(Mail),
    /// Let a bot play a seat, without a screen
    Bot {
        #[command(subcommand)]
        command: BotCommand,
    },
    /// Relay connections between friends behind routers, and list open tables as a meeting point
    ///
    /// A relay sees only ciphertext. `fairdeal host GAME --meet ADDRESS` lists a table there, and `fairdeal join --meet
    /// ADDRESS` finds it. Anybody can run one.
    Relay(Relay),
    /// Check this machine's network, terminal and data directory, and suggest fixes
    Doctor,
    /// List the keys you have played with, name them, mark favourites, and block some
    ///
    /// KEY is a peer id, at least four characters of its start or end, or your own name for it. A name that somebody
    /// announces does not count: anybody can announce any name.
    #[command(args_conflicts_with_subcommands = true)]
    People(People),
    /// List past games and tables you can resume
    History {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Step through a past game
    Replay {
        /// Transcript file
        file: PathBuf,
        /// Print every step as text instead of opening a screen
        #[arg(long)]
        plain: bool,
        #[command(flatten)]
        picture: PictureArgs,
    },
    /// Audit a transcript: exits with 0 if fair, 1 if unfair, 2 if unreadable
    Verify(Verify),
    /// Audit transcripts and print a table of ratings for each game
    ///
    /// Rates the fair games whose end is signed by every seat that played to it. A seat with a proven fault is last. Games
    /// in which a seat was removed by the others' word are not rated; standard error tells why games are left out. A table
    /// counts once, however many copies there are. Exits with 1 if a game is unfair, else with 2 if a file is unreadable.
    Ratings(Ratings),
    /// Print a game's rulebook, or list the games
    Rules {
        /// Game id [default: list the games]
        #[arg(value_parser = game_ids())]
        game: Option<String>,
    },
    /// Solve a puzzle: a position in which exactly one action is the best
    Puzzle(Puzzle),
    /// Estimate how many deals can be won, or show how to win the daily deal
    Solve(Solve),
    /// Run the referee: any game as JSON lines on standard input and output
    ///
    /// Reads one JSON request per line and answers each with one line. Requests: new, chance, legal, act, forfeit, view,
    /// status; for a search also save, load, determinize (deals again what a seat does not know), guess (the same for a
    /// table's game) and bot (what a level would do). docs/referee.md describes them.
    Engine,
    /// Write a past game's transcript to a file
    Export {
        /// Table id, or enough of its first digits to be unique
        table: String,
        /// File to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
    },
    /// Print completions for a shell
    Completions {
        /// Shell to complete for
        shell: Shell,
    },
    /// Print the manual page
    Man {
        /// Write the pages of all commands into this directory
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
}

/// The shells that completions are made for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

#[derive(Debug, Subcommand)]
pub(super) enum BotCommand {
    /// Open a table with a bot in the first seat
    Host(BotHost),
    /// Let a bot join a table
    Join(BotJoin),
    /// Measure two kinds of bots against each other, without a network
    Duel(Duel),
}

#[derive(Debug, Subcommand)]
pub(super) enum LetterCommand {
    /// Invite friends to a table that begins by letter: send the file to all of them
    ///
    /// They read it with `fairdeal letter in` and write back. Once all seats are taken and all have signed, your next letter
    /// begins the game. Without other options a turn may take seven days.
    Invite {
        /// Game id
        #[arg(value_parser = game_ids())]
        game: String,
        /// Number of seats [default: you and one guest]
        #[arg(long, value_name = "N")]
        seats: Option<u8>,
        #[command(flatten)]
        options: Options,
        /// File to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
    },
    /// List the tables that wait for letters before they begin
    List,
    /// Take a seat back from somebody whom you do not want at your table, before it begins
    Dismiss {
        /// Number of the table in `fairdeal letter list`, or enough of its first digits to be unique
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        table: String,
        /// The guest: the name or number of a seat
        #[arg(long, value_name = "SEAT")]
        seat: Option<String>,
    },
    /// Give up a table that has not begun
    Withdraw {
        /// Number of the table in `fairdeal letter list`, or enough of its first digits to be unique
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        table: String,
    },
    /// Write a letter with everything its reader may be missing of a saved game
    Out {
        /// Table id, or enough of its first digits to be unique; needed if you have several saved games
        table: Option<String>,
        /// The reader: the name or number of a seat; needed if several others play
        #[arg(long, value_name = "SEAT")]
        to: Option<String>,
        /// File to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
    },
    /// Read a letter and show what is new
    In {
        /// Letter file, or - for standard input
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Mail {
    /// Meeting point that keeps letters, besides the relays of your tables; repeatable [default: those of the settings]
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) meet: Vec<Multiaddr>,
    /// Only show where your letters waited at the last visit
    #[arg(long, conflicts_with = "meet")]
    pub(super) list: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Keep {
    /// List the tables of the keeper that runs, and who is awaited there
    #[arg(long, conflicts_with = "stop")]
    pub(super) list: bool,
    /// End the keeper that runs; its tables can be resumed
    #[arg(long)]
    pub(super) stop: bool,
}

/// The holder of a person's seat.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct KeepArgs {
    /// Leave your seat with a keeper, which is started if none runs: your table goes on when you close this window
    #[arg(long, conflicts_with_all = ["headless", "json"])]
    pub(super) keep: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct BotHost {
    #[command(flatten)]
    pub(super) host: Host,
    #[command(flatten)]
    pub(super) exec: ExecArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct BotJoin {
    #[command(flatten)]
    pub(super) join: Join,
    #[command(flatten)]
    pub(super) exec: ExecArgs,
}

/// A program that plays the seat.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ExecArgs {
    /// Let a program of your own play: a command line for the shell; docs/bots.md describes its lines
    #[arg(long, value_name = "CMD", value_parser = command)]
    pub(super) exec: Option<String>,
    /// Time limit per action, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5000, requires = "exec", value_parser = move_ms())]
    pub(super) move_ms: u64,
    /// Level of the bot that takes over if the program fails: gentle, normal or sharp
    #[arg(long, value_name = "LEVEL", default_value = "normal", requires = "exec", value_parser = level)]
    pub(super) fallback: Level,
}

/// From a millisecond to an hour.
fn move_ms() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=3_600_000)
}

/// A contestant of a duel.
#[derive(Clone, Debug)]
pub(super) enum Side {
    Ours(Contestant),
    /// A program, by its command line.
    Exec(String),
}

impl Side {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Ours(contestant) => contestant.name().to_owned(),
            Self::Exec(command) => format!("exec:{command}"),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Duel {
    /// Game id
    #[arg(value_parser = game_ids())]
    pub(super) game: String,
    /// Bot to measure; takes one seat per game. One of gentle, normal, sharp, baseline, random, or exec:CMD
    ///
    /// Sharp bots are measured against baseline, which never changes. exec:CMD is a program of your own; docs/bots.md
    /// describes its lines.
    #[arg(value_parser = side)]
    pub(super) a: Side,
    /// Bot to measure it against; takes all other seats
    #[arg(value_parser = side)]
    pub(super) b: Side,
    /// Number of seats [default: the fewest]
    #[arg(long, value_name = "N")]
    pub(super) seats: Option<u8>,
    /// Number of games. Each deal is played once per seat
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) games: u32,
    /// Time per move, in milliseconds [default: 50 for a sharp bot, 5000 for a program]
    #[arg(long, value_name = "MS", value_parser = move_ms())]
    pub(super) move_ms: Option<u64>,
    /// Give sharp bots N play-outs per move instead of time, so that a seed repeats exactly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iterations: Option<u32>,
    /// Seed of the deals
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    pub(super) seed: u64,
    /// Print one JSON object per line, the last one with the results
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) options: Options,
}

/// A command line for the shell.
fn command(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("name the program to run".to_owned()),
        text => Ok(text.to_owned()),
    }
}

fn side(text: &str) -> Result<Side, String> {
    if let Some(text) = text.strip_prefix("exec:") {
        return command(text).map(Side::Exec);
    }
    let known = Contestant::by_name(text).map(Side::Ours);
    let mut names = Contestant::names();
    names.push("exec:CMD");
    known.ok_or_else(|| format!("choose one of {}", fairdeal_games::listed(&names)))
}

#[derive(Debug, clap::Args)]
pub(super) struct Play {
    /// Game id
    #[arg(value_parser = game_ids())]
    pub(super) game: String,
    /// Number of bots [default: 2, or as many as the game allows]
    #[arg(long, value_name = "N")]
    pub(super) bots: Option<u8>,
    /// Ivory Tower: play the deal of the day, or of a given date (YYYY-MM-DD)
    #[arg(long, value_name = "DATE", num_args = 0..=1)]
    pub(super) daily: Option<Option<String>>,
    /// Practise a solitaire game: you can undo every action; nothing is sealed or saved
    #[arg(long, conflicts_with_all = ["daily", "headless", "json"])]
    pub(super) practice: bool,
    #[command(flatten)]
    pub(super) keeper: KeepArgs,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Debug, clap::Args)]
pub(super) struct Host {
    /// Game id
    #[arg(value_parser = game_ids())]
    pub(super) game: String,
    /// Number of seats [default: you, your bots and one guest]
    #[arg(long, value_name = "N")]
    pub(super) seats: Option<u8>,
    /// Number of seats that bots take
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) bots: u8,
    /// Address to listen on [default: every interface]; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) listen: Vec<Multiaddr>,
    /// Address at which friends elsewhere reach you, such as of a port that your router forwards; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) external: Vec<Multiaddr>,
    /// Where browsers find the page and the table, as in 0.0.0.0:8080 [default: any port, beside each address to listen
    /// on]
    #[arg(long, value_name = "IP:PORT", conflicts_with = "no_web")]
    pub(super) web: Option<SocketAddr>,
    /// Open no port for browsers
    #[arg(long)]
    pub(super) no_web: bool,
    /// Friends come with phones, which stop a page that nobody sees: wait 10 minutes for whoever is absent, unless the
    /// options say otherwise
    #[arg(long, conflicts_with = "no_web")]
    pub(super) phones: bool,
    /// Relay that friends can also reach you through; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) relay: Vec<Multiaddr>,
    /// List the table at this meeting point while a seat is free; repeatable
    ///
    /// It is an address that `fairdeal relay` prints, and it shows the table to anybody. Add --relay with the same address
    /// if your router opens no port.
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) meet: Vec<Multiaddr>,
    /// Do not announce the table on the LAN or look there for players who have moved, and open no port for browsers
    #[arg(long)]
    pub(super) no_lan: bool,
    /// Require a password (prompts for it, or reads FAIRDEAL_PASSWORD)
    #[arg(long)]
    pub(super) password: bool,
    #[command(flatten)]
    pub(super) keeper: KeepArgs,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Debug, clap::Args)]
pub(super) struct Join {
    /// Ticket or address; with --meet, a number of its list [default: choose from a list]
    ///
    /// An address ends in /p2p/PEER. The list is that of the LAN, or with --meet that of the meeting point. Without a
    /// terminal the only table there is joined.
    #[arg(value_name = "TICKET|MULTIADDR|NUMBER", num_args = 0..)]
    target: Vec<String>,
    /// Find a table at this meeting point: an address that `fairdeal relay` prints; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) meet: Vec<Multiaddr>,
    /// List the tables of this game only
    #[arg(long, value_name = "GAME", requires = "meet", value_parser = game_ids())]
    pub(super) game: Option<String>,
    /// List the tables at the meeting point and exit; with --json, one JSON object per table
    #[arg(long, requires = "meet", conflicts_with = "target")]
    pub(super) list: bool,
    /// Address to listen on [default: every interface]; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) listen: Vec<Multiaddr>,
    /// Address at which other guests reach you, such as of a port that your router forwards; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) external: Vec<Multiaddr>,
    /// Where browsers at the table find you, as in 0.0.0.0:8080 [default: any port, beside each address to listen on]
    #[arg(long, value_name = "IP:PORT", conflicts_with = "no_web")]
    pub(super) web: Option<SocketAddr>,
    /// Open no port for browsers
    #[arg(long)]
    pub(super) no_web: bool,
    /// Relay that other guests can also reach you through; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) relay: Vec<Multiaddr>,
    /// Do not look on the LAN for players who have moved, and open no port for browsers
    #[arg(long)]
    pub(super) no_lan: bool,
    /// Without a screen: if the host can't be reached, print a reply to send them, and wait ten minutes for their call
    #[arg(long)]
    pub(super) call_back: bool,
    /// Enter the table's password (prompts for it, or reads FAIRDEAL_PASSWORD)
    #[arg(long)]
    pub(super) password: bool,
    #[command(flatten)]
    pub(super) keeper: KeepArgs,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
}

impl Join {
    pub(super) fn target(&self) -> Result<Option<JoinTarget>, JoinError> {
        let given = !self.target.is_empty();
        given.then(|| target(&self.target)).transpose()
    }

    /// The number of a table in the list of `--meet`.
    pub(super) fn number(&self) -> Result<Option<usize>, &'static str> {
        match self.target.as_slice() {
            [] => Ok(None),
            [number] if number.parse::<usize>().is_ok() => Ok(number.parse().ok()),
            _ => Err(
                "--meet takes the number of a table in its list; a ticket or address leads to its table without --meet",
            ),
        }
    }
}

/// Parses a ticket or an address. Chat programs break long lines, so it may arrive as several words.
fn target(words: &[String]) -> Result<JoinTarget, JoinError> {
    words.join(" ").parse()
}

#[derive(Debug, clap::Args)]
pub(super) struct Watch {
    /// Ticket, or an address that ends in /p2p/PEER
    #[arg(value_name = "TICKET", num_args = 1.., required = true)]
    target: Vec<String>,
    /// Enter the table's password (prompts for it, or reads FAIRDEAL_PASSWORD)
    #[arg(long)]
    pub(super) password: bool,
    /// Print events as text instead of opening a screen
    #[arg(long)]
    pub(super) headless: bool,
    /// Print one JSON event per line instead of opening a screen
    #[arg(long)]
    pub(super) json: bool,
}

impl Watch {
    pub(super) fn target(&self) -> Result<JoinTarget, JoinError> {
        target(&self.target)
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Resume {
    /// Table id, or enough of its first digits to be unique; needed if you have several saved games. Then, if you have all
    /// moved, the ticket that another player's `resume` prints, or an address that ends in /p2p/PEER
    #[arg(value_name = "TABLE|TICKET|MULTIADDR", num_args = 0..)]
    words: Vec<String>,
    /// Take over a seat from a browser: the file that its page saved. A seat plays in one place only
    #[arg(long = "seat", value_name = "FILE")]
    pub(super) seat_file: Option<PathBuf>,
    /// Address at which the others reach you, such as of a port that your router forwards; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) external: Vec<Multiaddr>,
    /// Relay where the players find each other, if each of them names it; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) relay: Vec<Multiaddr>,
    /// Meeting point to use in the same way: only the players find each other there, and the table is not listed;
    /// repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) meet: Vec<Multiaddr>,
    /// Do not look on the LAN for players who have moved
    #[arg(long)]
    pub(super) no_lan: bool,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
    #[command(flatten)]
    pub(super) exec: ExecArgs,
}

impl Resume {
    /// The start of a table id, and another player's ticket or address.
    pub(super) fn target(&self) -> Result<(Option<&str>, Option<JoinTarget>), JoinError> {
        let is_id = |word: &String| word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match self.words.as_slice() {
            [] => Ok((None, None)),
            [word] if is_id(word) && word.parse::<JoinTarget>().is_err() => Ok((Some(word), None)),
            [first, rest @ ..] if first.bytes().all(|byte| byte.is_ascii_hexdigit()) && first.len() <= 64 => {
                Ok((Some(first), Some(target(rest)?)))
            }
            all => Ok((None, Some(target(all)?))),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct People {
    /// Print one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: Option<PeopleCommand>,
}

#[derive(Debug, Subcommand)]
pub(super) enum PeopleCommand {
    /// Give a key a name of your own, which nobody else sees
    Name {
        /// Peer id, its start or end, or your name for it
        key: String,
        /// The name; without one, the name is removed
        name: Option<String>,
    },
    /// Mark a key as a favourite: its tables come first in lists
    Favourite {
        /// Peer id, its start or end, or your name for it
        key: String,
        /// Remove the mark
        #[arg(long)]
        remove: bool,
    },
    /// Block a key: it is not admitted to your tables, not listed, and its chat is not shown
    Block {
        /// Peer id, its start or end, or your name for it
        key: String,
    },
    /// Unblock a key
    Unblock {
        /// Peer id, its start or end, or your name for it
        key: String,
    },
    /// Remove a key from the list, with its name and marks
    Forget {
        /// Peer id, its start or end, or your name for it
        key: String,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Puzzle {
    /// Game id [default: the first game with a puzzle that you have not solved]
    #[arg(value_parser = game_ids())]
    pub(super) game: Option<String>,
    /// Number of the puzzle [default: the first that you have not solved]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) number: Option<u16>,
    /// List the puzzles instead of opening a screen
    #[arg(long)]
    pub(super) list: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Solve {
    /// Game id
    #[arg(value_parser = ["ivory-tower"])]
    game: String,
    /// Number of random deals to solve
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) deals: u32,
    /// Seed of the random deals
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(super) seed: u64,
    /// Show a winning line for the daily deal, or for that of a given date (YYYY-MM-DD)
    #[arg(long, value_name = "DATE", num_args = 0..=1, conflicts_with_all = ["deals", "seed", "json"])]
    pub(super) daily: Option<Option<String>>,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// How this program plays its seat and reports events.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct SeatArgs {
    /// Let a bot play your seat, without a screen
    #[arg(long)]
    pub(super) headless: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub(super) json: bool,
    /// Strength of the bots: gentle, normal or sharp
    #[arg(long, default_value = "normal", value_name = "LEVEL", value_parser = level)]
    pub(super) level: Level,
    /// Pause before each action of a bot, in milliseconds [default: 700; 1 without a screen]
    #[arg(long, value_name = "MS")]
    pub(super) bot_delay: Option<u64>,
}

/// Accepts the ids of all games, and lists them in help and errors.
fn game_ids() -> PossibleValuesParser {
    PossibleValuesParser::new(GAMES.iter().map(|info| info.id))
}

fn level(text: &str) -> Result<Level, String> {
    Level::by_name(text).ok_or_else(|| {
        let names: Vec<&str> = Level::ALL.iter().map(|(_, name)| *name).collect();
        format!("choose one of {}", fairdeal_games::listed(&names))
    })
}

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Game option, as listed by `fairdeal rules GAME`; repeatable
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub(super) options: Vec<String>,
}

/// The files that `replay` writes.
#[derive(Debug, clap::Args)]
pub(super) struct PictureArgs {
    /// Draw one step into an SVG file instead of opening a screen
    #[arg(long, value_name = "OUT", conflicts_with = "plain", groups = ["drawn", "written"])]
    pub(super) svg: Option<PathBuf>,
    /// Record all steps into a file for asciinema instead of opening a screen
    #[arg(long, value_name = "OUT", conflicts_with = "plain", groups = ["drawn", "written"])]
    pub(super) cast: Option<PathBuf>,
    /// Write the page for browsers with the game inside, which checks and replays it, instead of opening a screen
    #[arg(long, value_name = "OUT", conflicts_with = "plain", group = "written")]
    pub(super) page: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "written")]
    pub(super) force: bool,
    /// Step to draw [default: the last]
    #[arg(long, value_name = "N", requires = "svg")]
    pub(super) step: Option<usize>,
    /// Draw from the point of view of this seat, by its number or its player's name [default: public cards only]
    #[arg(long, value_name = "SEAT", requires = "drawn")]
    pub(super) seat: Option<String>,
    /// Size of the picture or recording in columns and rows
    #[arg(long, value_name = "WxH", requires = "drawn", default_value = "110x34", value_parser = size)]
    pub(super) size: (u16, u16),
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let (width, height) = text.split_once('x').ok_or("write columns, an x, and rows, as in 110x34")?;
    let number = |text: &str| {
        let number = text.parse();
        number.map_err(|_| format!("'{text}' is not a number of columns or rows"))
    };
    Ok((number(width)?, number(height)?))
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// Transcript file, or - for standard input
    pub(super) file: PathBuf,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Also write the result as a web page
    #[arg(long, value_name = "OUT")]
    pub(super) html: Option<PathBuf>,
    /// Embed the transcript, so that others can save and verify it
    #[arg(long, requires = "html")]
    pub(super) with_game: bool,
    /// Overwrite the page if it exists
    #[arg(long, requires = "html")]
    pub(super) force: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Ratings {
    /// Transcript or folder of transcripts (not its subfolders); repeatable [default: your own games]
    #[arg(value_name = "DIR|FILE")]
    pub(super) paths: Vec<PathBuf>,
    /// Print one JSON object per game
    #[arg(long)]
    pub(super) json: bool,
}
