//! The arguments of every command.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Parser, Subcommand};
use clap_complete::Shell;
use fairdeal_games::GAMES;
use fairdeal_games::bots::Level;
use fairdeal_net::{JoinError, JoinTarget, Multiaddr};

/// Card games at a terminal table, between peers, with no server and no dealer to trust.
#[derive(Debug, Parser)]
#[command(name = "fairdeal", version, propagate_version = true)]
pub struct Args {
    /// What to do; without it, the interface opens at its first screen.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// What every command takes.
    #[command(flatten)]
    pub(super) common: Common,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// Where identity and transcripts live (default: the platform's data directory)
    #[arg(long, global = true, env = "FAIRDEAL_DATA_DIR", value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Your name at the table
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Write a log to this file
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Log more; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Draw with ASCII characters alone
    #[arg(long, global = true)]
    pub(super) ascii: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Play on this machine against bots, really sealed and really audited
    Play(Play),
    /// Open a table and print a ticket for your friends
    Host(Host),
    /// Sit down at a table
    Join(Join),
    /// Look on at a table: what everybody may see, checked as it comes
    Watch(Watch),
    /// Go on with a table that was interrupted
    Resume(Resume),
    /// A headless seat played by a bot
    Bot {
        #[command(subcommand)]
        command: BotCommand,
    },
    /// Relay the connections of friends behind routers; sees nothing but ciphertext
    Relay(Relay),
    /// Check what this machine's network and terminal can do, and say what to do about it
    Doctor,
    /// Past games, and tables that wait to be gone on with
    History {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Step through a past game
    Replay {
        /// The transcript
        file: PathBuf,
        /// No screen: print what happened, moment by moment
        #[arg(long)]
        plain: bool,
        #[command(flatten)]
        picture: PictureArgs,
    },
    /// Audit a transcript: exit 0 fair, 1 not fair, 2 unreadable
    Verify(Verify),
    /// The rulebook of a game; without one, the games there are
    Rules {
        /// The game, by its id
        #[arg(value_parser = game_ids())]
        game: Option<String>,
    },
    /// The referee: drives any game by JSON lines on standard input and output
    Engine,
    /// Write the transcript of a past table to a file
    Export {
        /// The table id, or enough of its first digits
        table: String,
        /// The file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
    },
    /// The completions of a shell, to be read by it at its start
    Completions {
        /// The shell
        shell: Shell,
    },
    /// The manual page
    Man {
        /// Write the pages of all commands into this directory instead
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum BotCommand {
    /// Open a table, with a bot at the first seat
    Host(Host),
    /// Sit a bot down at a table
    Join(Join),
}

#[derive(Debug, clap::Args)]
pub(super) struct Play {
    /// The game, by its id
    #[arg(value_parser = game_ids())]
    pub(super) game: String,
    /// How many bots play against you (default: 2, or what the game takes)
    #[arg(long, value_name = "N")]
    pub(super) bots: Option<u8>,
    /// Ivory Tower: the deal of the day, or of another date (YYYY-MM-DD)
    #[arg(long, value_name = "DATE", num_args = 0..=1)]
    pub(super) daily: Option<Option<String>>,
    /// Practice, for one alone: nothing is sealed or kept, and every action can be taken back
    #[arg(long, conflicts_with_all = ["daily", "headless", "json"])]
    pub(super) practice: bool,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Debug, clap::Args)]
pub(super) struct Host {
    /// The game, by its id
    #[arg(value_parser = game_ids())]
    pub(super) game: String,
    /// How many seats the table has (default: what the bots leave one friend short of)
    #[arg(long, value_name = "N")]
    pub(super) seats: Option<u8>,
    /// How many of the seats bots take
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) bots: u8,
    /// Listen here instead of on every interface; may be given more than once
    #[arg(long, value_name = "MULTIADDR")]
    pub(super) listen: Vec<Multiaddr>,
    /// Let friends come through this relay too; may be given more than once
    #[arg(long, value_name = "MULTIADDR")]
    pub(super) relay: Vec<Multiaddr>,
    /// Do not show the table on the LAN
    #[arg(long)]
    pub(super) no_lan: bool,
    /// Let only those in who know a password (asked for, or taken from FAIRDEAL_PASSWORD)
    #[arg(long)]
    pub(super) password: bool,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Debug, clap::Args)]
pub(super) struct Relay {
    /// Listen here instead of on port 4001 of every interface; may be given more than once
    #[arg(long, value_name = "MULTIADDR")]
    pub(super) listen: Vec<Multiaddr>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Join {
    /// A ticket, or an address that ends in /p2p/PEER (without one: the tables of the LAN to choose from)
    #[arg(value_name = "TICKET|MULTIADDR", num_args = 0..)]
    target: Vec<String>,
    /// Listen here instead of on every interface; may be given more than once
    #[arg(long, value_name = "MULTIADDR")]
    pub(super) listen: Vec<Multiaddr>,
    /// Let the other guests come through this relay too; may be given more than once
    #[arg(long, value_name = "MULTIADDR")]
    pub(super) relay: Vec<Multiaddr>,
    /// The table has a password (asked for, or taken from FAIRDEAL_PASSWORD)
    #[arg(long)]
    pub(super) password: bool,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
}

impl Join {
    /// The target, if one is given.
    pub(super) fn target(&self) -> Result<Option<JoinTarget>, JoinError> {
        let given = !self.target.is_empty();
        given.then(|| target(&self.target)).transpose()
    }
}

/// A ticket or an address, which a chat may have broken into words.
fn target(words: &[String]) -> Result<JoinTarget, JoinError> {
    words.join(" ").parse()
}

#[derive(Debug, clap::Args)]
pub(super) struct Watch {
    /// The table's ticket, or an address that ends in /p2p/ and the host's peer id
    #[arg(value_name = "TICKET", num_args = 1.., required = true)]
    target: Vec<String>,
    /// The table has a password (asked for, or taken from FAIRDEAL_PASSWORD)
    #[arg(long)]
    pub(super) password: bool,
    /// No screen: print what happens
    #[arg(long)]
    pub(super) headless: bool,
    /// One JSON event a line on standard output, without a screen
    #[arg(long)]
    pub(super) json: bool,
}

impl Watch {
    /// The table.
    pub(super) fn target(&self) -> Result<JoinTarget, JoinError> {
        target(&self.target)
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Resume {
    /// The table id, or enough of its first digits; needed if several tables wait
    pub(super) table: Option<String>,
    #[command(flatten)]
    pub(super) seat: SeatArgs,
}

/// How the own seat is played and told about.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct SeatArgs {
    /// No screen: a bot plays the seat
    #[arg(long)]
    pub(super) headless: bool,
    /// One JSON event a line on standard output
    #[arg(long)]
    pub(super) json: bool,
    /// How well bots play: easy or normal
    #[arg(long, default_value = "normal", value_name = "LEVEL", value_parser = level)]
    pub(super) level: Level,
    /// How long bots think before each action, in milliseconds
    #[arg(long, value_name = "MS")]
    pub(super) pace: Option<u64>,
    /// Leave after one game (the default)
    #[arg(long)]
    pub(super) once: bool,
}

/// The ids of all games, for help and errors.
fn game_ids() -> PossibleValuesParser {
    PossibleValuesParser::new(GAMES.iter().map(|info| info.id))
}

fn level(text: &str) -> Result<Level, String> {
    Level::by_name(text).ok_or_else(|| {
        let names: Vec<&str> = Level::ALL.iter().map(|(_, name)| *name).collect();
        format!("the levels are {}", names.join(" and "))
    })
}

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// An option of the game; may be given more than once
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub(super) options: Vec<String>,
}

/// A picture of a moment of a past game.
#[derive(Debug, clap::Args)]
pub(super) struct PictureArgs {
    /// Write a picture of a moment to a file, and show nothing
    #[arg(long, value_name = "OUT", conflicts_with = "plain")]
    pub(super) svg: Option<PathBuf>,
    /// Overwrite that picture if it exists
    #[arg(long, requires = "svg")]
    pub(super) force: bool,
    /// The picture's moment, from 1; the last unless given
    #[arg(long, value_name = "N", requires = "svg")]
    pub(super) moment: Option<usize>,
    /// The seat whose eyes it is seen with, from 1; what everybody saw unless given
    #[arg(long, value_name = "SEAT", requires = "svg", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(super) seat: Option<u8>,
    /// The picture's columns and rows
    #[arg(long, value_name = "WxH", requires = "svg", default_value = "110x34", value_parser = size)]
    pub(super) size: (u16, u16),
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let (width, height) = text
        .split_once('x')
        .ok_or("write columns, an x, and rows, as in 110x34")?;
    let number = |text: &str| {
        let number = text.parse();
        number.map_err(|_| format!("'{text}' is no number of columns or rows"))
    };
    Ok((number(width)?, number(height)?))
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// The transcript; - for one on standard input
    pub(super) file: PathBuf,
    /// The result as one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Write the result as a web page too, to keep or to print
    #[arg(long, value_name = "OUT")]
    pub(super) html: Option<PathBuf>,
    /// Overwrite that page if it exists
    #[arg(long, requires = "html")]
    pub(super) force: bool,
}
