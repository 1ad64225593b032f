//! Replay of a past game, step by step, from any point of view.

use std::sync::Arc;

use fairdeal_games::GameInfo;
use fairdeal_protocol::seat::Seat;
use fairdeal_ui::canvas::{Canvas, Layer, Target};
use fairdeal_ui::keys::Intent;
use fairdeal_ui::replay::{Eyes, Replay};
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::table::TableScreen;
use crate::tui::event::UiEvent;
use crate::tui::screen::{Context, Effect, Request, Requests, Screen};

/// Lines kept in the log.
const LINES: usize = 100;
const BACK: Target = Target::Button(100);
const ON: Target = Target::Button(101);
const DEAL: Target = Target::Button(102);
const EYES: Target = Target::Button(103);

#[derive(Debug)]
pub(in crate::tui) struct ReplayScreen {
    replay: Option<Arc<Replay>>,
    number: usize,
    eyes: Eyes,
    table: TableScreen,
    done: usize,
    total: usize,
    failed: Option<String>,
}

impl ReplayScreen {
    pub(in crate::tui) fn new() -> Self {
        Self {
            replay: None,
            number: 0,
            eyes: Eyes::Everybody,
            table: TableScreen::new("replay", true),
            done: 0,
            total: 0,
            failed: None,
        }
    }

    /// Shows the chosen step.
    fn show(&mut self, context: &Context) {
        let Some(replay) = &self.replay else { return };
        let from = (0..=self.number).rev().scan(0, |lines, number| {
            let enough = *lines >= LINES;
            *lines += replay.step(number).lines.len();
            (!enough).then_some(number)
        });
        let first = from.last().unwrap_or(0);
        let lines = (first..=self.number).flat_map(|number| replay.step(number).lines.to_vec());
        let eyes = match self.eyes {
            Eyes::Everybody => "public cards only".to_owned(),
            Eyes::All => "every hand".to_owned(),
            Eyes::Seat(seat) => {
                let name = replay.names().get(seat.index());
                format!("{}'s point of view", name.map_or("?", String::as_str))
            }
        };
        let step = replay.step(self.number);
        let sealed = if step.opened {
            ""
        } else {
            " (this deal was never opened: hands stay sealed)"
        };
        let status = format!(
            "Step {} of {}, deal {}: {eyes}{sealed}.",
            self.number + 1,
            replay.len(),
            step.deal + 1
        );
        let snapshot = replay.snapshot(self.number, self.eyes);
        self.table.show(context, snapshot, lines.collect(), status);
    }

    fn go(&mut self, context: &Context, to: usize) {
        let last = self.replay.as_ref().map_or(0, |replay| replay.last());
        self.number = to.min(last);
        self.show(context);
    }

    /// The first step of the next deal; wraps to the start of the replay.
    fn next_deal(&self) -> usize {
        let Some(replay) = &self.replay else { return 0 };
        let deal = replay.step(self.number).deal;
        replay.deal_start(deal + 1).unwrap_or(0)
    }

    fn next_eyes(&self) -> Eyes {
        let seats = self.replay.as_ref().map_or(0, |replay| replay.names().len());
        match self.eyes {
            Eyes::Everybody => Seat::new(0).map_or(Eyes::All, Eyes::Seat),
            Eyes::Seat(seat) => match Seat::new(seat.index() + 1).filter(|next| next.index() < seats) {
                Some(next) => Eyes::Seat(next),
                None => Eyes::All,
            },
            Eyes::All => Eyes::Everybody,
        }
    }
}

impl Screen for ReplayScreen {
    fn name(&self) -> String {
        "replay".to_owned()
    }

    fn heading(&self) -> String {
        self.table.heading()
    }

    fn game(&self) -> Option<&'static GameInfo> {
        self.table.game()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        if self.replay.is_none() {
            let line = match &self.failed {
                Some(why) => Line::styled(format!(" {why}"), theme.bad()),
                None => Line::styled(
                    format!(
                        " Every step is checked before it is shown: {} of {} entries.",
                        self.done, self.total
                    ),
                    theme.title(),
                ),
            };
            return canvas.put(
                Rect {
                    y: area.y + 1,
                    height: 1,
                    ..area
                },
                line,
            );
        }
        self.table.draw(context, canvas, area);
        let keys = &context.keymap;
        let y = canvas.area().bottom().saturating_sub(1);
        let row = Rect {
            y,
            height: 1,
            ..canvas.area()
        };
        canvas.clear(row);
        let x = canvas.button((row.x + 1, y), &keys.key(Intent::Left), "back", BACK);
        let x = canvas.button((x, y), &keys.key(Intent::Right), "on", ON);
        let x = canvas.button((x, y), "d", "next deal", DEAL);
        canvas.button((x, y), "e", "other eyes", EYES);
    }

    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests) {
        match target {
            BACK => self.go(context, self.number.saturating_sub(1)),
            ON => self.go(context, self.number + 1),
            DEAL => self.go(context, self.next_deal()),
            EYES => {
                self.eyes = self.next_eyes();
                self.show(context);
            }
            target => self.table.choose(context, target, requests),
        }
    }

    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        match intent {
            Intent::PageUp => self.go(context, self.number.saturating_sub(10)),
            Intent::PageDown => self.go(context, self.number + 10),
            Intent::First => self.go(context, 0),
            Intent::Last => self.go(context, usize::MAX),
            Intent::Left => self.go(context, self.number.saturating_sub(1)),
            Intent::Right => self.go(context, self.number + 1),
            Intent::Quit => self.back(context, requests),
            _ => {}
        }
    }

    /// Left and right change the step instead of moving the focus over the board.
    fn steers(&self, intent: Intent) -> bool {
        matches!(intent, Intent::Left | Intent::Right | Intent::First | Intent::Last)
    }

    fn letter(&mut self, context: &Context, letter: char, requests: &mut Requests) -> bool {
        let target = match letter {
            'd' => DEAL,
            'e' => EYES,
            _ => return false,
        };
        self.choose(context, target, requests);
        true
    }

    fn back(&mut self, _context: &Context, requests: &mut Requests) {
        requests.push(Request::Effect(Effect::StopReading));
        requests.push(Request::Leave);
    }

    fn on_event(&mut self, context: &Context, event: &UiEvent, _wishes: &mut Requests) {
        match event {
            UiEvent::Checking(progress) => {
                (self.done, self.total) = (progress.done, progress.total);
            }
            UiEvent::Replay(replay) => {
                self.replay = Some(Arc::clone(replay));
                self.show(context);
            }
            UiEvent::Failed(why) if self.replay.is_none() => self.failed = Some(why.clone()),
            _ => {}
        }
    }

    fn focused(&mut self, target: Option<Target>) {
        self.table.focused(target);
    }

    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        layer.area(ON).map(|_| ON)
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        vec![
            (keys.keys(Intent::Left), "previous step".to_owned()),
            (keys.keys(Intent::Right), "next step".to_owned()),
            (keys.keys(Intent::PageUp), "back ten steps".to_owned()),
            (keys.keys(Intent::PageDown), "forward ten steps".to_owned()),
            (keys.keys(Intent::First), "the beginning".to_owned()),
            (keys.keys(Intent::Last), "the end".to_owned()),
            ("d".to_owned(), "next deal".to_owned()),
            ("e".to_owned(), "next point of view".to_owned()),
        ]
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        vec![
            ("next step".to_owned(), ON),
            ("previous step".to_owned(), BACK),
            ("next deal".to_owned(), DEAL),
            ("next point of view".to_owned(), EYES),
        ]
    }
}
