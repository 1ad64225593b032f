//! A list of lines on a screen: the chosen one, the keys that move to others, and the part that is shown.

use super::first_shown;
use crate::app::screen::{Cx, FocusPolicy, Handled, ScreenInput};
use crate::canvas::{Layer, Target};
use crate::keys::Intent;

/// Lines that a page key moves by.
const PAGE: usize = 10;

/// The chosen line of a list. Each line is the [`Target::Row`] of its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListState {
    chosen: usize,
}

impl ListState {
    /// The intents that move in a list, where the focus reaches only the visible lines.
    pub(super) const STEERS: &[Intent] = &[Intent::Up, Intent::Down, Intent::First, Intent::Last];

    /// With this line chosen.
    pub(super) fn at(chosen: usize) -> Self {
        Self { chosen }
    }

    /// The number of the chosen line.
    pub(super) fn chosen(self) -> usize {
        self.chosen
    }

    /// Chooses the last of `all` lines if the chosen one is not among them.
    pub(super) fn keep_within(&mut self, all: usize) {
        self.chosen = self.chosen.min(all.saturating_sub(1));
    }

    /// Moves to the line that an intent leads to, of `all` lines. Returns whether it is an intent that moves.
    pub(super) fn steer(&mut self, intent: Intent, all: usize) -> bool {
        self.chosen = match intent {
            Intent::Up => self.chosen.saturating_sub(1),
            Intent::Down => self.chosen.saturating_add(1),
            Intent::PageUp => self.chosen.saturating_sub(PAGE),
            Intent::PageDown => self.chosen.saturating_add(PAGE),
            Intent::First => 0,
            Intent::Last => usize::MAX,
            _ => return false,
        };
        self.keep_within(all);
        true
    }

    /// Handles an input of a list of `all` lines: the keys that move, and the focus.
    pub(super) fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>, all: usize) -> Handled {
        match input {
            ScreenInput::Intent(intent) if self.steer(intent, all) => cx.focus(Target::Row(self.chosen)),
            ScreenInput::Focused(Some(Target::Row(line))) => self.chosen = line,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// Begins at the chosen line, and moves in the list by its keys.
    pub(super) fn focus(self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { first: Some(Target::Row(self.chosen)), steers: Self::STEERS, ..FocusPolicy::of(layer) }
    }

    /// The first of `all` lines to show in so many rows, to make the chosen one visible.
    pub(super) fn first_shown(self, rows: usize, all: usize) -> usize {
        first_shown(self.chosen, rows, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_inside_the_list() {
        let mut list = ListState::at(3);
        let mut go = |intent, all| {
            let moves = list.steer(intent, all);
            moves.then_some(list.chosen())
        };
        assert_eq!(go(Intent::Down, 5), Some(4));
        assert_eq!(go(Intent::Down, 5), Some(4));
        assert_eq!(go(Intent::PageUp, 5), Some(0));
        assert_eq!(go(Intent::Last, 5), Some(4));
        assert_eq!(go(Intent::Up, 2), Some(1));
        assert_eq!(go(Intent::Last, 0), Some(0));
        assert_eq!(go(Intent::Left, 5), None);
    }

    #[test]
    fn chosen_line_is_always_shown() {
        for all in 0..12 {
            for rows in 1..8 {
                for chosen in 0..all {
                    let first = ListState::at(chosen).first_shown(rows, all);
                    assert!((first..first + rows).contains(&chosen), "{chosen} of {all} in {rows} rows: {first}");
                    assert!(first == 0 || first + rows <= all, "{chosen} of {all} in {rows} rows: {first}");
                }
            }
        }
    }
}
