//! Test networks of namespaces, cables, switches and routers; dropping the lab removes them all.
//!
//! The lab creates nothing in the tests' own namespace, not even for a moment: its network stays unchanged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;

use crate::process::{Program, fairdeal};
use crate::require::skip;

/// Number of labs in this process, for unique namespace names.
static LABS: AtomicU32 = AtomicU32::new(0);
/// The first `ip netns add` on a machine sets up the shared directory, and two at once interfere with each other.
static ADDING: Mutex<()> = Mutex::new(());

/// A machine, switch or router of a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(usize);

/// The namespaces of one test.
pub(crate) struct Lab {
    prefix: String,
    names: Vec<String>,
    /// Number of cables at each switch, for unique port names.
    ports: BTreeMap<Node, u32>,
}

impl Lab {
    /// An empty lab. Prints the reason to standard error and returns `None` if none can be made.
    pub(crate) fn new() -> Option<Self> {
        let mut lab = Self {
            prefix: format!("fairdeal-{}-{}", std::process::id(), LABS.fetch_add(1, Ordering::Relaxed)),
            names: Vec::new(),
            ports: BTreeMap::new(),
        };
        match lab.probe() {
            Ok(()) => Some(lab),
            Err(reason) => {
                skip("netns", reason);
                None
            }
        }
    }

    /// Creates one of everything that the tests use.
    fn probe(&mut self) -> Result<(), String> {
        let node = self.try_machine()?;
        let name = self.names[node.0].clone();
        let links = "link add br0 type bridge\n\
                     link add port type veth peer name eth0\n\
                     link set port master br0\n\
                     link set port type bridge_slave isolated on\n";
        run(&["ip", "-n", &name, "-batch", "-"], links)?;
        run(&["tc", "-n", &name, "qdisc", "show"], "")?;
        run(&["ip", "netns", "exec", &name, "nft", "-f", "-"], &masquerade("eth0", "br0"))
    }

    fn try_machine(&mut self) -> Result<Node, String> {
        let name = format!("{}-{}", self.prefix, self.names.len());
        {
            let _one_at_a_time = ADDING.lock().unwrap_or_else(|held| held.into_inner());
            run(&["ip", "netns", "add", &name], "")?;
        }
        self.names.push(name.clone());
        run(&["ip", "-n", &name, "link", "set", "lo", "up"], "")?;
        Ok(Node(self.names.len() - 1))
    }

    /// A machine without a cable.
    pub(crate) fn machine(&mut self) -> Node {
        self.try_machine().unwrap()
    }

    /// A switch without cables.
    pub(crate) fn switch(&mut self) -> Node {
        let node = self.machine();
        self.ip(node, "link add br0 type bridge\nlink set br0 up\n");
        node
    }

    /// Runs a cable from a switch to a new interface of a machine with an address such as `10.0.0.1/24`. Returns the
    /// switch's port.
    pub(crate) fn plug(&mut self, node: Node, interface: &str, address: &str, switch: Node) -> Port {
        let port = self.ports.entry(switch).or_default();
        *port += 1;
        let port = format!("port{port}");
        let other = &self.names[node.0];
        self.ip(
            switch,
            &format!(
                "link add {port} type veth peer name {interface} netns {other}\n\
                 link set {port} master br0\n\
                 link set {port} up\n"
            ),
        );
        self.ip(node, &format!("address add {address} dev {interface}\nlink set {interface} up\n"));
        Port { switch, port }
    }

    /// A machine on a LAN without a router: multicast needs a route.
    pub(crate) fn lan_machine(&mut self, address: &str, switch: Node) -> (Node, Port) {
        let node = self.machine();
        let port = self.plug(node, "eth0", address, switch);
        self.ip(node, "route add 224.0.0.0/4 dev eth0\n");
        (node, port)
    }

    /// A machine on a LAN with these addresses, such as `fd00::1/64`, and no others but a link-local one. It does not
    /// wait until nobody else claims them.
    pub(crate) fn machine_at(&mut self, addresses: &[&str], switch: Node) -> Node {
        let node = self.machine();
        for interfaces in ["all", "default"] {
            let at_once = format!("net.ipv6.conf.{interfaces}.accept_dad=0");
            self.exec(node, &["sysctl", "-qw", &at_once], "");
        }
        let (first, more) = addresses.split_first().unwrap();
        self.plug(node, "eth0", first, switch);
        for address in more {
            self.ip(node, &format!("address add {address} dev eth0\n"));
        }
        if addresses.iter().any(|address| address.contains('.')) {
            self.ip(node, "route add 224.0.0.0/4 dev eth0\n");
        }
        node
    }

    /// A home router with a public address on `net`, and a machine on the LAN behind it. Each home has its own private
    /// addresses. Packets to other homes' private addresses vanish, as at a provider that drops them silently.
    pub(crate) fn home(&mut self, public: &str, net: Node) -> (Node, Port) {
        let (router, lan) = (self.machine(), self.switch());
        let port = self.plug(router, "wan", public, net);
        let subnet = format!("192.168.{}", self.names.len());
        self.plug(router, "lan", &format!("{subnet}.1/24"), lan);
        self.exec(router, &["sysctl", "-qw", "net.ipv4.ip_forward=1"], "");
        self.exec(router, &["nft", "-f", "-"], &masquerade("wan", "lan"));
        let node = self.machine();
        self.plug(node, "eth0", &format!("{subnet}.2/24"), lan);
        self.ip(node, &format!("route add default via {subnet}.1\n"));
        (node, port)
    }

    /// One more machine behind the router of a home.
    pub(crate) fn beside(&mut self, home: Node) -> Node {
        let (lan, subnet) = (Node(home.0 - 1), home.0);
        let node = self.machine();
        let address = self.ports[&lan] + 1;
        self.plug(node, "eth0", &format!("192.168.{subnet}.{address}/24"), lan);
        self.ip(node, &format!("route add default via 192.168.{subnet}.1\n"));
        node
    }

    /// Drops connections that others begin with a machine, without an answer, as firewalls do.
    pub(crate) fn wall(&self, node: Node) {
        let rules = "table inet wall {
            chain in {
                type filter hook input priority 0; policy accept;
                iifname \"eth0\" ct state new tcp dport 1024-65535 drop
                iifname \"eth0\" udp dport 5353 drop
            }
        }\n";
        self.exec(node, &["nft", "-f", "-"], rules);
    }

    /// Lets the router of a home forward a port to the home's machine.
    pub(crate) fn forward(&self, home: Node, port: u16) {
        // The home's machines: its router, its switch, and the one that plays.
        let router = Node(home.0 - 2);
        let subnet = router.0 + 2;
        let rules = format!(
            "table ip forwarded {{
                chain in {{
                    type nat hook prerouting priority dstnat; policy accept;
                    iifname \"wan\" tcp dport {port} dnat to 192.168.{subnet}.2
                }}
            }}\n"
        );
        self.exec(router, &["nft", "-f", "-"], &rules);
    }

    /// Isolates the cables at these ports of one switch from each other.
    pub(crate) fn part(&self, ports: &[&Port]) {
        for Port { switch, port } in ports {
            self.ip(*switch, &format!("link set {port} type bridge_slave isolated on\n"));
        }
    }

    /// Unplugs a cable, or plugs it in again.
    pub(crate) fn cable(&self, Port { switch, port }: &Port, works: bool) {
        let state = if works { "up" } else { "down" };
        self.ip(*switch, &format!("link set {port} {state}\n"));
    }

    /// Makes a switch lose one packet in twenty, and slows its output on these ports. Packets arrive after `delay` if
    /// the system supports that, and otherwise at the speed of a bad mobile link.
    pub(crate) fn spoil(&self, switch: Node, ports: &[&Port], delay: &str) {
        let lossy = "table bridge lossy {
            chain through {
                type filter hook forward priority 0; policy accept;
                numgen inc mod 20 == 0 drop;
            }
        }\n";
        self.exec(switch, &["nft", "-f", "-"], lossy);
        for Port { port, .. } in ports {
            let slow = ["tc", "-n", &self.names[switch.0], "qdisc", "add", "dev", port, "root"];
            let late = [&slow[..], &["netem", "delay", delay]].concat();
            if let Err(reason) = run(&late, "") {
                eprintln!("a slow link in place of a late one: {reason}");
                let narrow = ["tbf", "rate", "256kbit", "burst", "2kb", "latency", "2s"];
                run(&[&slow[..], &narrow].concat(), "").unwrap();
            }
        }
    }

    /// A home as above, whose router opens ports by UPnP. Prints the reason and returns `None` if there is no miniupnpd.
    pub(crate) fn home_with_upnp(&mut self, public: &str, net: Node) -> Option<(Node, Upnp)> {
        if let Err(reason) = run(&["miniupnpd", "--version"], "") {
            skip("miniupnpd", reason);
            return None;
        }
        let (node, _) = self.home(public, net);
        // The home's machines: its router, its switch, and the one that plays.
        let router = Node(node.0 - 2);
        Some((node, Upnp::start(self, router)))
    }

    /// Starts the program on a machine, with a data directory under `root`.
    pub(crate) fn start(&self, node: Node, root: &Path, name: &str, args: &[&str]) -> Program {
        Program::start_by(self.fairdeal(node), root, name, args)
    }

    /// The same for one that reads what the test writes.
    pub(crate) fn start_reading(&self, node: Node, root: &Path, name: &str, args: &[&str]) -> Program {
        let mut command = self.fairdeal(node);
        command.stdin(Stdio::piped());
        Program::start_by(command, root, name, args)
    }

    /// The words that start a command on a machine.
    pub(crate) fn inside(&self, node: Node) -> [&str; 4] {
        ["ip", "netns", "exec", &self.names[node.0]]
    }

    /// Leads a port of the tests' own loopback to the same one of a machine's, for as long as the tests run. Returns the port.
    pub(crate) fn forwarded(&self, node: Node) -> u16 {
        // A socket belongs to the network of the thread that makes it.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let namespace = File::open(format!("/var/run/netns/{}", self.names[node.0])).unwrap();
        thread::spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            for near in listener.incoming() {
                let Ok((near, far)) = near.and_then(|near| Ok((near, TcpStream::connect(("127.0.0.1", port))?))) else {
                    return;
                };
                for (mut from, mut to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                    thread::spawn(move || {
                        let _ = io::copy(&mut from, &mut to);
                        let _ = to.shutdown(std::net::Shutdown::Write);
                    });
                }
            }
        });
        port
    }

    /// Prepares the program on a machine.
    pub(crate) fn fairdeal(&self, node: Node) -> Command {
        let [ip, words @ ..] = self.inside(node);
        let mut inside = Command::new(ip);
        inside.args(words);
        let outside = fairdeal();
        inside.arg(outside.get_program()).stdin(Stdio::null());
        for (key, value) in outside.get_envs() {
            match value {
                Some(value) => inside.env(key, value),
                None => inside.env_remove(key),
            };
        }
        inside
    }

    /// Changes a machine's address.
    pub(crate) fn move_to(&self, node: Node, old: &str, new: &str) {
        self.ip(
            node,
            &format!("address del {old} dev eth0\naddress add {new} dev eth0\nroute replace 224.0.0.0/4 dev eth0\n"),
        );
    }

    /// Runs the doctor on a machine. Returns its words by subject, and its exit code.
    pub(crate) fn doctor(&self, node: Node, root: &Path) -> (BTreeMap<String, String>, Option<i32>) {
        let mut command = self.fairdeal(node);
        let output = command.arg("--data-dir").arg(root.join("doctor")).arg("doctor").output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let lines = said.lines().map(|line| {
            let (mark, rest) = line.split_at(2);
            let (subject, words) = rest.trim_start().split_once(' ').unwrap();
            (subject.to_owned(), format!("{mark} {}", words.trim_start()))
        });
        (lines.collect(), output.status.code())
    }

    pub(crate) fn ip(&self, node: Node, batch: &str) {
        run(&["ip", "-n", &self.names[node.0], "-batch", "-"], batch).unwrap();
    }

    pub(crate) fn exec(&self, node: Node, command: &[&str], input: &str) {
        run(&[&self.inside(node), command].concat(), input).unwrap();
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Deleting a namespace removes its interfaces, and with each interface the other end of its cable.
        for name in &self.names {
            let _ = run(&["ip", "netns", "delete", name], "");
        }
    }
}

/// A router's miniupnpd; stopped when dropped.
pub(crate) struct Upnp {
    child: Child,
    inside: Vec<String>,
    _files: TempDir,
}

impl Upnp {
    fn start(lab: &Lab, router: Node) -> Self {
        let files = TempDir::new().unwrap();
        let config = files.path().join("config");
        let text = format!(
            "ext_ifname=wan\nlistening_ip=lan\nhttp_port=0\nenable_natpmp=no\nenable_upnp=yes\nsecure_mode=yes\n\
             uuid=00000000-0000-0000-0000-000000000000\nlease_file={}\nupnp_table_name=upnp\n\
             upnp_nat_table_name=upnp\nupnp_forward_chain=through\nupnp_nat_chain=opened\n\
             upnp_nat_postrouting_chain=leaving\nallow 1024-65535 0.0.0.0/0 1024-65535\n\
             deny 0-65535 0.0.0.0/0 0-65535\n",
            files.path().join("leases").display()
        );
        std::fs::write(&config, text).unwrap();
        let chains = "table inet upnp {
            chain through {
            }
            chain opened {
            }
            chain leaving {
            }
            chain arriving {
                type nat hook prerouting priority -100; policy accept;
                jump opened
            }
        }\n";
        lab.exec(router, &["nft", "-f", "-"], chains);
        let inside: Vec<String> = lab.inside(router).iter().map(|word| (*word).to_owned()).collect();
        let child = Command::new(&inside[0])
            .args(&inside[1..])
            .args(["miniupnpd", "-d", "-f"])
            .arg(&config)
            .arg("-P")
            .arg(files.path().join("pid"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let upnp = Self { child, inside, _files: files };
        // It answers once it has this socket.
        wait_until("miniupnpd listens", || upnp.tells(&["cat", "/proc/net/udp"]).contains(":076C "));
        upnp
    }

    /// The rules of the ports that are open now.
    pub(crate) fn opened(&self) -> Vec<String> {
        let chain = self.tells(&["nft", "list", "chain", "inet", "upnp", "opened"]);
        let rules = chain.lines().filter(|line| line.contains("dnat"));
        rules.map(|line| line.trim().to_owned()).collect()
    }

    fn tells(&self, command: &[&str]) -> String {
        let output = Command::new(&self.inside[0]).args(&self.inside[1..]).args(command).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }
}

impl Drop for Upnp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is true; fails after ten seconds.
pub(crate) fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < Duration::from_secs(10), "not within ten seconds: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Where a cable is plugged into a switch.
pub(crate) struct Port {
    switch: Node,
    port: String,
}

/// A home router: it masquerades the LAN behind its own address and admits only replies. It silently drops unrequested
/// packets to itself: a refusal would end the peer's hole punching.
fn masquerade(wan: &str, lan: &str) -> String {
    format!(
        "table ip home {{
            chain leaving {{
                type nat hook postrouting priority 100; policy accept;
                oifname {wan} masquerade;
            }}
            chain through {{
                type filter hook forward priority 0; policy drop;
                iifname {lan} ip daddr 192.168.0.0/16 drop;
                iifname {lan} accept;
                ct state established,related accept;
                ct status dnat accept;
            }}
            chain to_itself {{
                type filter hook input priority 0; policy accept;
                iifname {wan} ct state new drop;
            }}
        }}\n"
    )
}

/// Runs a command to its end.
fn run(command: &[&str], input: &str) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", command.join(" "));
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    // A command that does not read its input reports that itself.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    if output.status.success() { Ok(()) } else { Err(failed(&String::from_utf8_lossy(&output.stderr).trim())) }
}
