//! The result of an audit as a web page in one file, to keep, send or print.
//!
//! It loads nothing: no script, no picture, no style sheet, and its content security policy forbids all loading. All
//! text in it is escaped, and names are cleaned first.

use std::fmt::Write as _;

use data_encoding::{BASE64, HEXLOWER};
use fairdeal_protocol::audit::auditor::{Departure, Reason, Report};
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::replay::deals::PlayedDeal;
use fairdeal_session::replay::meaning::{Check, checks, extensions_in_words, refusal};
use fairdeal_session::spoken::spoken;
use fairdeal_session::terms::Terms;
use fairdeal_ui::markup::Escaped;

const STYLE: &str = "
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 52rem; padding: 1.5rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
.result { border: 3px solid; border-radius: .4rem; padding: .6rem 1rem }
.result strong { font-size: 1.4rem }
.fair { border-color: #2a7d3c } .unfair { border-color: #b3261e; border-style: double }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #8886; padding: .25rem .5rem; text-align: left; vertical-align: top }
.number { text-align: right; font-variant-numeric: tabular-nums }
.none { font-size: .85em; opacity: .7 }
code { font-size: .85em; overflow-wrap: anywhere }
@media print { body { font-size: 11pt; max-width: none; padding: 0 } h2, tr { break-inside: avoid } h2 { break-after: avoid } }
";

/// The contents of the page.
pub(super) struct Audited<'a> {
    pub(super) charter: &'a Charter,
    /// Cleaned for display, in seat order.
    pub(super) names: &'a [String],
    pub(super) report: &'a Report,
    pub(super) deals: &'a [PlayedDeal],
    pub(super) terms: &'a Terms,
    /// The verdict of an audit without findings.
    pub(super) verdict: &'a str,
    /// The proof in plain words, for an audit without findings.
    pub(super) meaning: [String; 3],
    /// The transcript file, to be saved from the page.
    pub(super) game: Option<&'a [u8]>,
}

impl Audited<'_> {
    fn name(&self, seat: Seat) -> &str {
        self.names.get(seat.index()).map_or("?", String::as_str)
    }

    /// The whole page.
    pub(super) fn page(&self) -> String {
        let game = self.terms.game_name();
        let table = self.report.table.short();
        let body = [self.result(), self.players(), self.checks(), self.deals(), self.log(), self.game_file()];
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{game}, table {table}: {word}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1>{game}, table {table}</h1>\n{body}</body>\n</html>\n",
            game = Escaped(game),
            table = Escaped(&table),
            word = if self.report.is_fair() { "every check held" } else { "not fair" },
            body = body.concat(),
        )
    }

    fn result(&self) -> String {
        let Some(finding) = &self.report.finding else {
            let (verdict, meaning) = (Escaped(self.verdict), self.meaning.join(" "));
            let times = extensions_in_words(self.report, self.names).join(" ");
            let told = [meaning, times].into_iter().filter(|text| !text.is_empty());
            let told: String = told.map(|text| format!("\n<p>{}</p>", Escaped(text))).collect();
            return format!("<div class=\"result fair\"><p><strong>✓ {verdict}</strong></p>{told}</div>\n");
        };
        let rows = refusal(finding, self.names)
            .map(|(what, words)| format!("<tr><th>{what}</th><td>{}</td></tr>\n", Escaped(words)));
        format!("<p class=\"result unfair\"><strong>✗ NOT FAIR</strong></p>\n<table>\n{}</table>\n", rows.concat())
    }

    /// A link that saves the transcript. A page that verified itself would prove nothing: whoever changes the game can
    /// change the page.
    fn game_file(&self) -> String {
        let Some(game) = self.game else {
            return String::new();
        };
        format!(
            "<h2>The game itself</h2>\n<p><a download=\"{}.fairdeal\" href=\"data:application/octet-stream;base64,{}\">Save \
             the transcript</a> ({} bytes) and check it with a program or page that you got yourself: <code>fairdeal verify \
             FILE</code>. This page only repeats what one program has found.</p>\n",
            Escaped(&self.report.table.short()),
            BASE64.encode(game),
            game.len(),
        )
    }

    fn players(&self) -> String {
        let report = self.report;
        let mut text = String::from(
            "<h2>Players</h2>\n<table>\n<tr><th>seat</th><th>name</th><th class=\"number\">score</th>\
             <th></th><th>key</th></tr>\n",
        );
        for (seat, player) in self.charter.seated() {
            let score = report.scores.get(seat.index());
            let mut notes = Vec::new();
            if report.winners.contains(&seat) {
                notes.push("has won".to_owned());
            }
            if report.claims.iter().any(|claim| claim.by.contains(seat)) {
                notes.push("claims that the others stayed away".to_owned());
            }
            if report.unopened.contains(seat) {
                notes.push("did not reveal its seed".to_owned());
            }
            let gone = report.left.iter().filter(|gone| gone.seat == seat);
            notes.extend(gone.map(departure));
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td><td><code>{}</code><br>{}</td></tr>",
                seat.index(),
                Escaped(self.name(seat)),
                score.map_or_else(String::new, i64::to_string),
                Escaped(notes.join("; ")),
                HEXLOWER.encode(&player.key.to_bytes()),
                spoken(&player.key.to_bytes()),
            );
        }
        text.push_str("</table>\n");
        text
    }

    fn checks(&self) -> String {
        let mut text = String::from("<h2>Checks passed</h2>\n<table>\n");
        for Check { name, count, proves, .. } in checks(&self.report.tally) {
            let (sign, class) = if count > 0 { ("✓", "made") } else { ("–", "none") };
            let _ = writeln!(
                text,
                "<tr class=\"{class}\"><td>{sign}</td><td class=\"number\">{count}</td><td>{}</td><td>{}</td></tr>",
                Escaped(name),
                // Before a fault they prove only as much as was checked.
                Escaped(if self.report.is_fair() { proves } else { "" })
            );
        }
        text.push_str("</table>\n");
        text
    }

    fn deals(&self) -> String {
        let mut text = String::from(
            "<h2>Deals</h2>\n<table>\n<tr><th class=\"number\">deal</th><th class=\"number\">from step</th>\
             <th class=\"number\">actions</th><th class=\"number\">decks</th><th class=\"number\">cards</th>\
             <th>seeds</th><th>scores then</th></tr>\n",
        );
        for deal in self.deals {
            let scores: Vec<String> = deal.scores.iter().map(i64::to_string).collect();
            text.push_str("<tr>");
            let numbers = [
                u64::from(deal.number) + 1,
                deal.first_step,
                number(deal.actions),
                number(deal.decks),
                number(deal.cards),
            ];
            for number in numbers {
                let _ = write!(text, "<td class=\"number\">{number}</td>");
            }
            let _ = writeln!(text, "<td>{}</td><td>{}</td></tr>", Escaped(deal.end.in_words()), scores.join(", "));
        }
        text.push_str("</table>\n");
        text
    }

    fn log(&self) -> String {
        let report = self.report;
        let options = self.terms.options.iter().map(|(key, value)| format!("{key}={value}"));
        let rules = format!("{}, version {}", self.terms.game, self.charter.version);
        let deal = self.terms.deal_in_words();
        let rows = [
            ("rules", std::iter::once(rules).chain(options).collect::<Vec<_>>().join(", ")),
            ("deal", deal.unwrap_or_else(|| "random".to_owned())),
            ("table", report.table.to_string()),
            ("log hash", report.log.to_string()),
            ("spoken", spoken(&report.log.0)),
            ("steps", report.steps.to_string()),
            ("deals", format!("{}, {} of them opened and recomputed", report.deals, report.deals_opened)),
        ];
        let mut text = String::from("<h2>The log</h2>\n<table>\n");
        for (what, value) in rows {
            let value = Escaped(value);
            let _ = writeln!(text, "<tr><th>{what}</th><td><code>{value}</code></td></tr>");
        }
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(
            text,
            "</table>\n<p>Audited by fairdeal {version}. To check it yourself: \
             <code>fairdeal verify FILE</code> with the transcript whose log hash is the one above.</p>"
        );
        text
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn departure(gone: &Departure) -> String {
    let deal = u64::from(gone.deal) + 1;
    match &gone.why {
        Reason::Left => format!("left in deal {deal}"),
        Reason::Absent => {
            format!("was removed in deal {deal} as absent by the others")
        }
        Reason::Fault(fault) => {
            format!("was removed in deal {deal} for a proven fault (step {}: {})", fault.step, fault.what)
        }
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::audit::auditor::{Finding, Tally};
    use fairdeal_protocol::charter::{Player, SeatKey};
    use fairdeal_protocol::hash::Hash32;
    use fairdeal_protocol::log::extensions::{Extension, Extensions};
    use fairdeal_protocol::party::{Party, PlayedBy};
    use fairdeal_protocol::seat::SeatSet;
    use fairdeal_protocol::table::fault::{Fault, FaultKind};
    use fairdeal_protocol::table::replica::ResultProof;
    use fairdeal_protocol::transcript::End;

    use super::*;
    use fairdeal_games::rule_set;
    use fairdeal_session::replay::deals::DealEnd;
    use fairdeal_session::text::clean;

    fn charter(names: [&str; 2]) -> Charter {
        let players = names.into_iter().zip(1..).zip(Seat::first(2)).map(|((name, n), seat)| Player {
            name: name.to_owned().try_into().unwrap(),
            key: SeatKey::from(&ed25519_dalek::SigningKey::from_bytes(&[n; 32])),
            nonce: [n; 32],
            party: Party::of(seat),
            played_by: PlayedBy::Person,
        });
        let rules = rule_set("loot", 2, &std::collections::BTreeMap::new()).unwrap();
        Charter::new([0; 8], &rules, players.collect()).unwrap()
    }

    fn report(finding: Option<Finding>) -> Report {
        Report {
            table: Hash32([0xab; 32]),
            end: End::Finished,
            log: Hash32([0xcd; 32]),
            steps: 70,
            deals: 1,
            deals_opened: 1,
            tally: Tally { shuffle_proofs: 12, ..Tally::default() },
            scores: vec![-7, 104],
            winners: vec![Seat::new(1).unwrap()],
            result: ResultProof::default(),
            left: Vec::new(),
            extensions: Vec::new(),
            claims: Vec::new(),
            unopened: SeatSet::EMPTY,
            finding,
        }
    }

    fn page(names: [&str; 2], finding: Option<Finding>) -> String {
        page_with(names, finding, None)
    }

    /// Names are strangers' texts here too.
    #[test]
    fn agreements_on_time_are_told() {
        let (charter, seat) = (charter(["<Anna>", "Béla"]), Seat::new(0).unwrap());
        let given = Extension::Give { to: Seat::new(1).unwrap(), seconds: 86_400 };
        let said = Extensions::with(None, (&charter, seat), given, 20_000).unwrap();
        let report = Report { extensions: vec![said], ..report(None) };
        let names = ["<Anna>".to_owned(), "Béla".to_owned()];
        let page = Audited {
            charter: &charter,
            names: &names,
            report: &report,
            deals: &[],
            terms: &Terms::of(&charter),
            verdict: "fair",
            meaning: ["One.", "Two.", "Three."].map(str::to_owned),
            game: None,
        }
        .page();
        let wanted =
            "<p>&lt;Anna&gt; gave Béla 24 h of extra time. Nothing proves how much time each of them used.</p>";
        assert!(page.contains(wanted), "{page}");
    }

    fn page_with(names: [&str; 2], finding: Option<Finding>, game: Option<&[u8]>) -> String {
        let charter = charter(names);
        let report = report(finding);
        let deals = [PlayedDeal {
            number: 0,
            first_step: 0,
            actions: 31,
            decks: 1,
            cards: 54,
            end: DealEnd::Opened,
            scores: vec![-7, 104],
        }];
        let names = names.map(clean);
        let audited = Audited {
            charter: &charter,
            names: &names,
            report: &report,
            deals: &deals,
            terms: &Terms::of(&charter),
            verdict: "fair",
            meaning: ["One <shuffled>.", "Two.", "Three."].map(str::to_owned),
            game,
        };
        audited.page()
    }

    #[test]
    fn a_fair_game_has_everything_on_its_page() {
        let page = page(["Anna", "Béla"], None);
        for wanted in [
            "<strong>✓ fair</strong>",
            "<p>One &lt;shuffled&gt;. Two. Three.</p>",
            "<td>Anna</td><td class=\"number\">-7</td>",
            "<td>Béla</td><td class=\"number\">104</td><td>has won</td>",
            "<td>✓</td><td class=\"number\">12</td><td>shuffle proofs</td><td>Every shuffle",
            "<td>opened and recomputed</td><td>-7, 104</td>",
            "target=100",
            &"ab".repeat(32),
            &"cd".repeat(32),
        ] {
            assert!(page.contains(wanted), "{wanted} is not in {page}");
        }
        assert!(!page.contains("NOT FAIR"));
        for (name, _) in Tally::default().checks() {
            assert!(page.contains(name), "{name}");
        }
    }

    #[test]
    fn unfair_game_names_seat_step_and_reason() {
        let fault = Fault {
            seat: Seat::new(1).unwrap(),
            step: 17,
            what: FaultKind::IllegalAction("it is not <your> turn".to_owned()),
        };
        let page = page(["Anna", "Béla"], Some(Finding::Fault(fault)));
        assert!(page.contains("✗ NOT FAIR") && !page.contains("✓ fair"));
        assert!(!page.contains("Every shuffle kept"), "{page}");
        assert!(page.contains("<th>who</th><td>Béla (seat 1)</td>"), "{page}");
        assert!(page.contains("<th>where</th><td>step 17</td>"));
        assert!(page.contains("not &lt;your&gt; turn"));
        // A finding without a culprit names nobody.
        let page = self::page(["Anna", "Béla"], Some(Finding::Trailer("the log is short")));
        assert!(page.contains("nobody in particular") && page.contains("the log is short"));
    }

    #[test]
    fn game_can_be_saved_from_its_page() {
        let page = page_with(["Anna", "Béla"], None, Some(b"not much of a game"));
        assert!(page.contains("href=\"data:application/octet-stream;base64,bm90IG11Y2ggb2YgYSBnYW1l\">"));
        assert!(page.contains("(18 bytes) and check it with a program or page that you got yourself"));
    }

    #[test]
    fn names_are_text_and_no_markup() {
        let page = page(["<script>alert('x')</script>", "\"&</td>"], None);
        assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
        assert!(page.contains("<td>&quot;&amp;&lt;/td&gt;</td>"));
        for forbidden in ["<script", "http:", "https:", "src=", "href="] {
            assert!(!page.contains(forbidden), "{forbidden:?}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn tags_are_closed() {
        let page = page(["Anna", "Béla"], None);
        for tag in ["html", "head", "body", "table", "tr", "td", "th", "h1", "h2", "code", "p", "div"] {
            let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
