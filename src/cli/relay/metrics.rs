//! A relay's metrics in Prometheus' text format, version 0.0.4. Pure.
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;

use fairdeal_net::{ByReason, RelayMetrics};

/// The metrics of a relay that started at this Unix time, in seconds.
pub(super) fn text(metrics: &RelayMetrics, started: u64) -> String {
    let mut page = Text::default();
    page.header("build_info", "gauge", "The program, always 1.");
    let version = env!("CARGO_PKG_VERSION");
    page.line(&format!("build_info{{version=\"{version}\"}}"), 1);
    page.one("start_time_seconds", "gauge", "Unix time of the start.", started);

    let limits = &metrics.limits;
    page.now("connections", "Open connections.", metrics.connections, metrics.max_connections);
    page.total(
        "connections_accepted",
        "Inbound connections that completed their handshake within the limits.",
        metrics.connections_accepted,
    );
    page.reasons("connections_refused", "Inbound connections refused or crowded out.", &metrics.connections_refused);

    page.now("reservations", "Players with a reservation.", metrics.reservations, limits.reservations.into());
    page.total("reservations_granted", "Reservations granted, without renewals.", metrics.reservations_granted);
    page.reasons("reservations_refused", "Requests for a reservation refused.", &metrics.reservations_refused);

    page.now("circuits", "Open circuits.", metrics.circuits, limits.circuits.into());
    page.total("circuits_opened", "Circuits opened.", metrics.circuits_opened);
    page.reasons("circuits_refused", "Requests for a circuit refused.", &metrics.circuits_refused);
    page.reasons("circuits_closed", "Circuits closed.", &metrics.circuits_closed);

    page.now("tables", "Tables listed.", metrics.tables, limits.registrations.into());
    page.total(
        "registrations_accepted",
        "Registrations of tables accepted, with renewals.",
        metrics.registrations_accepted,
    );
    page.reasons("registrations_refused", "Requests to the meeting point refused.", &metrics.registrations_refused);
    page.total("pages_sent", "Pages of the list of tables sent.", metrics.pages_sent);

    page.now("boxes", "Players whose letters are kept.", metrics.boxes, limits.boxes.into());
    page.one("letters", "gauge", "Letters that wait.", metrics.letters);
    page.now("mail_bytes", "Bytes of boxes and letters.", metrics.mail_bytes, limits.mail_bytes.get());
    page.total("letters_accepted", "Letters accepted.", metrics.letters_accepted);
    page.total("letter_pages_sent", "Pages of letters sent.", metrics.letter_pages_sent);
    page.reasons("mail_refused", "Requests about mail refused.", &metrics.mail_refused);

    page.total("received_bytes", "Bytes of all streams received.", metrics.bytes_received);
    page.total("sent_bytes", "Bytes of all streams sent.", metrics.bytes_sent);
    page.0
}

/// The page so far. Names get a prefix.
#[derive(Default)]
struct Text(String);

impl Text {
    fn header(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP fairdeal_relay_{name} {help}");
        let _ = writeln!(self.0, "# TYPE fairdeal_relay_{name} {kind}");
    }

    fn line(&mut self, name: &str, value: u64) {
        let _ = writeln!(self.0, "fairdeal_relay_{name} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.header(name, kind, help);
        self.line(name, value);
    }

    /// A number that goes up and down, and its limit.
    fn now(&mut self, name: &str, help: &str, value: u64, most: u64) {
        self.one(name, "gauge", help, value);
        self.one(&format!("{name}_max"), "gauge", &format!("Limit on {name}."), most);
    }

    /// A number that only grows.
    fn total(&mut self, name: &str, help: &str, value: u64) {
        self.one(&format!("{name}_total"), "counter", help, value);
    }

    fn reasons(&mut self, name: &str, help: &str, by: &ByReason) {
        let name = format!("{name}_total");
        self.header(&name, "counter", help);
        for (reason, value) in by.iter() {
            self.line(&format!("{name}{{reason=\"{reason}\"}}"), value);
        }
    }
}
