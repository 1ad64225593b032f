//! A past game, looked at again moment by moment, with the eyes of whomever one likes.

use std::sync::Arc;

use fairdeal_games::GameInfo;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::sitting::Sitting;
use crate::tui::news::News;
use crate::tui::screen::{Effect, Screen, Wish, Wishes, World};
use fairdeal_ui::canvas::{Canvas, Layer, Target};
use fairdeal_ui::keys::Intent;
use fairdeal_ui::replay::{Eyes, Replay};

/// How many of the last lines are in the log.
const LINES: usize = 100;
const BACK: Target = Target::Button(100);
const ON: Target = Target::Button(101);
const DEAL: Target = Target::Button(102);
const EYES: Target = Target::Button(103);

/// See the module's head.
#[derive(Debug)]
pub(in crate::tui) struct ReplayScreen {
    replay: Option<Arc<Replay>>,
    number: usize,
    eyes: Eyes,
    table: Sitting,
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
            table: Sitting::new("replay", true),
            done: 0,
            total: 0,
            failed: None,
        }
    }

    /// Shows the moment that is chosen.
    fn show(&mut self, world: &World) {
        let Some(replay) = &self.replay else { return };
        let from = (0..=self.number).rev().scan(0, |lines, number| {
            let enough = *lines >= LINES;
            *lines += replay.moment(number).lines.len();
            (!enough).then_some(number)
        });
        let first = from.last().unwrap_or(0);
        let lines = (first..=self.number).flat_map(|number| replay.moment(number).lines.to_vec());
        let eyes = match self.eyes {
            Eyes::Everybody => "public cards only".to_owned(),
            Eyes::All => "every hand".to_owned(),
            Eyes::Seat(seat) => {
                let name = replay.names().get(seat.index());
                format!("{}'s point of view", name.map_or("?", String::as_str))
            }
        };
        let moment = replay.moment(self.number);
        let sealed = if moment.opened {
            ""
        } else {
            " (this deal was never opened: hands stay sealed)"
        };
        let status = format!(
            "Step {} of {}, deal {}: {eyes}{sealed}.",
            self.number + 1,
            replay.len(),
            moment.deal + 1
        );
        let snapshot = replay.snapshot(self.number, self.eyes);
        self.table.show(world, snapshot, lines.collect(), status);
    }

    fn go(&mut self, world: &World, to: usize) {
        let last = self.replay.as_ref().map_or(0, |replay| replay.last());
        self.number = to.min(last);
        self.show(world);
    }

    /// The beginning of the next deal, or of the first after the last.
    fn next_deal(&self) -> usize {
        let Some(replay) = &self.replay else { return 0 };
        let deal = replay.moment(self.number).deal;
        replay.deal_start(deal + 1).unwrap_or(0)
    }

    fn next_eyes(&self) -> Eyes {
        let seats = self
            .replay
            .as_ref()
            .map_or(0, |replay| replay.names().len());
        match self.eyes {
            Eyes::Everybody => Seat::new(0).map_or(Eyes::All, Eyes::Seat),
            Eyes::Seat(seat) => {
                match Seat::new(seat.index() + 1).filter(|next| next.index() < seats) {
                    Some(next) => Eyes::Seat(next),
                    None => Eyes::All,
                }
            }
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

    fn draw(&mut self, world: &World, canvas: &mut Canvas<'_>, area: Rect) {
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
        self.table.draw(world, canvas, area);
        let keys = &world.keymap;
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

    fn choose(&mut self, world: &World, target: Target, wishes: &mut Wishes) {
        match target {
            BACK => self.go(world, self.number.saturating_sub(1)),
            ON => self.go(world, self.number + 1),
            DEAL => self.go(world, self.next_deal()),
            EYES => {
                self.eyes = self.next_eyes();
                self.show(world);
            }
            target => self.table.choose(world, target, wishes),
        }
    }

    fn intent(&mut self, world: &World, intent: Intent, wishes: &mut Wishes) {
        match intent {
            Intent::PageUp => self.go(world, self.number.saturating_sub(10)),
            Intent::PageDown => self.go(world, self.number + 10),
            Intent::First => self.go(world, 0),
            Intent::Last => self.go(world, usize::MAX),
            Intent::Left => self.go(world, self.number.saturating_sub(1)),
            Intent::Right => self.go(world, self.number + 1),
            Intent::Quit => self.back(world, wishes),
            _ => {}
        }
    }

    /// Left and right go through the moments, not over the board.
    fn steers(&self, intent: Intent) -> bool {
        matches!(
            intent,
            Intent::Left | Intent::Right | Intent::First | Intent::Last
        )
    }

    fn letter(&mut self, world: &World, letter: char, wishes: &mut Wishes) -> bool {
        let target = match letter {
            'd' => DEAL,
            'e' => EYES,
            _ => return false,
        };
        self.choose(world, target, wishes);
        true
    }

    fn back(&mut self, _world: &World, wishes: &mut Wishes) {
        wishes.push(Wish::Effect(Effect::StopReading));
        wishes.push(Wish::Leave);
    }

    fn hear(&mut self, world: &World, news: &News, _wishes: &mut Wishes) {
        match news {
            News::Checking(progress) => (self.done, self.total) = (progress.done, progress.total),
            News::Replay(replay) => {
                self.replay = Some(Arc::clone(replay));
                self.show(world);
            }
            News::Failed(why) if self.replay.is_none() => self.failed = Some(why.clone()),
            _ => {}
        }
    }

    fn focused(&mut self, target: Option<Target>) {
        self.table.focused(target);
    }

    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        layer.area(ON).map(|_| ON)
    }

    fn keys(&self, world: &World) -> Vec<(String, String)> {
        let keys = &world.keymap;
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

    fn commands(&self, _world: &World) -> Vec<(String, Target)> {
        vec![
            ("next step".to_owned(), ON),
            ("previous step".to_owned(), BACK),
            ("next deal".to_owned(), DEAL),
            ("next point of view".to_owned(), EYES),
        ]
    }
}
