//! The arguments of `fairdeal relay`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use fairdeal_net::RelayLimits;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::parse_address;

const DEFAULT: RelayLimits = RelayLimits::DEFAULT;
/// Seconds of an hour.
const HOUR: NonZeroU32 = NonZeroU32::MIN.saturating_add(3599);
/// Bytes of a MiB.
const MIB: NonZeroU64 = NonZeroU64::MIN.saturating_add((1 << 20) - 1);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Relay {
    /// Address to listen on [default: port 4001 on every interface]; repeatable
    #[arg(long, value_name = "MULTIADDR", value_parser = parse_address)]
    pub(super) listen: Vec<Multiaddr>,
    /// Serve the page for browsers here, as in 0.0.0.0:443 and [::]:443, and carry their connections to tables behind this
    /// relay; repeatable
    #[arg(long, value_name = "IP:PORT")]
    pub(super) web: Vec<SocketAddr>,
    /// Certificate of --web in PEM, for https; read again when it changes
    #[arg(long, value_name = "FILE", requires_all = ["web", "key"])]
    pub(super) cert: Option<PathBuf>,
    /// Key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(super) key: Option<PathBuf>,
    /// Serve http://IP:PORT/metrics (Prometheus text) and /health, for example at 127.0.0.1:9464; use a loopback or
    /// private address, for whoever reaches it can read it
    #[arg(long, value_name = "IP:PORT", overrides_with = "metrics")]
    pub(super) metrics: Option<SocketAddr>,
    /// Ask the relay that runs with this --metrics address whether it is healthy, and exit with 0 if it is, else with 1
    #[arg(long, value_name = "IP:PORT", conflicts_with_all = ["listen", "web", "metrics", "Limits"])]
    pub(super) health: Option<SocketAddr>,
    #[command(flatten)]
    limits: Limits,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
struct Limits {
    /// Connections in all; each takes an open file
    #[arg(long, value_name = "N", default_value = "512", value_parser = from_one(10_000))]
    max_connections: NonZeroU32,
    /// Connections of strangers: players without a reservation or circuit, such as those who view the list
    #[arg(long, value_name = "N", default_value_t = DEFAULT.strangers, value_parser = from_one(1000))]
    max_strangers: NonZeroU32,
    /// Circuits (relayed connections) in all; 0 for a meeting point only
    #[arg(long, value_name = "N", default_value_t = DEFAULT.circuits, value_parser = from_zero(5000))]
    max_circuits: u32,
    /// Circuits of one player
    #[arg(long, value_name = "N", default_value_t = DEFAULT.circuits_per_peer, value_parser = from_one(256))]
    max_circuits_per_peer: NonZeroU32,
    /// MiB that a circuit carries, both ways together, before it is closed
    #[arg(long, value_name = "MIB", default_value = "1024", value_parser = from_one(1024 * 1024))]
    max_circuit_mib: NonZeroU32,
    /// Hours after which a circuit is closed
    #[arg(long, value_name = "HOURS", default_value = "24", value_parser = from_one(168))]
    max_circuit_hours: NonZeroU32,
    /// Reservations in all: a player who can be reached through the relay has one
    #[arg(long, value_name = "N", default_value_t = DEFAULT.reservations, value_parser = from_zero(10_000))]
    max_reservations: u32,
    /// Players of one network (an IPv4 address, the /56 of an IPv6 address) who get a reservation within an hour
    #[arg(long, value_name = "N", default_value_t = DEFAULT.reservations_per_network, value_parser = from_one(10_000))]
    max_reservations_per_network: NonZeroU32,
    /// Tables listed in all; 0 for a relay only
    #[arg(long, value_name = "N", default_value_t = DEFAULT.registrations, value_parser = from_zero(4096))]
    max_registrations: u32,
    /// Listed tables whose hosts are of one network
    #[arg(long, value_name = "N", default_value_t = DEFAULT.registrations_per_network, value_parser = from_one(256))]
    max_registrations_per_network: NonZeroU32,
    /// Players whose letters are kept while they are away; 0 keeps no mail
    #[arg(long, value_name = "N", default_value_t = DEFAULT.boxes, value_parser = from_zero(4096))]
    max_boxes: u32,
    /// Players of one network whose letters are kept
    #[arg(long, value_name = "N", default_value_t = DEFAULT.boxes_per_network, value_parser = from_one(1024))]
    max_boxes_per_network: NonZeroU32,
    /// MiB of letters in all; they are kept in memory
    #[arg(long, value_name = "MIB", default_value = "64", value_parser = from_one(16_384))]
    max_mail_mib: NonZeroU32,
}

/// A number from 0 to `most`.
fn from_zero(most: u32) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| format!("write a whole number from 0 to {most}"))
    }
}

/// A number from 1 to `most`.
fn from_one(most: u32) -> impl Fn(&str) -> Result<NonZeroU32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number: &NonZeroU32| number.get() <= most);
        number.ok_or_else(|| format!("write a whole number from 1 to {most}"))
    }
}

impl Relay {
    pub(super) fn max_connections(&self) -> u32 {
        self.limits.max_connections.get()
    }

    pub(super) fn limits(&self) -> RelayLimits {
        let limits = &self.limits;
        RelayLimits {
            strangers: limits.max_strangers,
            circuits: limits.max_circuits,
            circuits_per_peer: limits.max_circuits_per_peer,
            circuit_bytes: NonZeroU64::from(limits.max_circuit_mib).saturating_mul(MIB),
            circuit_seconds: limits.max_circuit_hours.saturating_mul(HOUR),
            reservations: limits.max_reservations,
            reservations_per_network: limits.max_reservations_per_network,
            registrations: limits.max_registrations,
            registrations_per_network: limits.max_registrations_per_network,
            boxes: limits.max_boxes,
            boxes_per_network: limits.max_boxes_per_network,
            mail_bytes: NonZeroU64::from(limits.max_mail_mib).saturating_mul(MIB),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        relay: Relay,
    }

    fn parsed(words: &str) -> Result<Relay, String> {
        let line = Line::try_parse_from(["relay"].into_iter().chain(words.split_whitespace()));
        line.map(|line| line.relay).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_those_of_the_network() {
        let relay = parsed("").unwrap();
        assert_eq!((relay.max_connections(), relay.limits()), (512, DEFAULT));
    }

    #[test]
    fn limits_have_units_and_bounds() {
        let limits = parsed("--max-circuit-mib 1048576 --max-circuit-hours 168 --max-circuits 0").unwrap().limits();
        assert_eq!(limits.circuit_bytes.get(), 1 << 40);
        assert_eq!(limits.circuit_seconds.get(), 604_800);
        assert_eq!(limits.circuits, 0);
        for (words, why) in [
            ("--max-connections 0", "from 1 to 10000"),
            ("--max-circuits -1", "unexpected argument"),
            ("--max-circuits 5001", "from 0 to 5000"),
            ("--max-circuit-hours 24h", "from 1 to 168"),
            ("--metrics nowhere", "socket address"),
            ("--health 127.0.0.1:1 --listen /ip4/127.0.0.1/tcp/0", "cannot be used with"),
            ("--health 127.0.0.1:1 --max-circuits 1", "cannot be used with"),
        ] {
            let error = parsed(words).unwrap_err();
            assert!(error.contains(why), "{words}: {error}");
        }
        let relay = parsed("--metrics 127.0.0.1:1 --metrics 127.0.0.1:2").unwrap();
        assert_eq!(relay.metrics.unwrap().port(), 2, "the last counts");
    }
}
