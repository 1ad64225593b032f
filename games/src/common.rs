//! Rules and log texts that several games share.

use fairdeal_protocol::game::{Chance, Flip, Pause};
use fairdeal_protocol::seat::{Seat, SeatSet};

/// Rolls a die with one side per seat; 1 is seat 0.
pub(crate) fn rolled_seat(seats: usize, chance: &mut dyn Chance) -> Result<Seat, Pause> {
    let sides = u32::try_from(seats).unwrap_or(1);
    let rolled = chance.flip(&Flip::Die(sides))?;
    let seat = rolled.first().and_then(|roll| {
        let number = usize::try_from(roll.checked_sub(1)?).ok()?;
        Seat::new(number).filter(|_| number < seats)
    });
    // A chance that rolls an impossible number breaks its contract.
    seat.ok_or(Pause)
}

/// The seats of `playing` with the highest score, including ties: the winners of a game of points.
pub(crate) fn best_of(playing: SeatSet, scores: &[i64]) -> SeatSet {
    let score = |seat: Seat| scores.get(seat.index()).copied();
    let best = playing.iter().filter_map(score).max();
    playing.iter().filter(|seat| score(*seat) == best).collect()
}

/// The log text for the end of a game of points.
pub(crate) fn over_text(winners: SeatSet, names: &[String]) -> String {
    let names: Vec<_> = winners.iter().map(|seat| name_of(seat, names)).collect();
    format!("The game is over: {}", win_text(&names))
}

/// The winners in a sentence.
pub fn win_text(names: &[impl AsRef<str>]) -> String {
    let verb = if names.len() == 1 { "wins" } else { "share the win" };
    format!("{} {verb}.", listed(names))
}

/// A text with a capital initial.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A seat's name for a log, or its number if it has no name.
pub fn name_of(seat: Seat, names: &[String]) -> String {
    names.get(seat.index()).filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| seat.to_string())
}

/// Several names joined as in a sentence: "Ann", "Ann and Bob", "Ann, Bob and Cay"; "nobody" for none.
pub fn listed(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() {
        return "nobody".to_owned();
    }
    joined(names, "and")
}

/// The same with another word before the last: "fire, water or air"; nothing for none.
pub fn joined(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

/// A number with its noun, in the plural unless it is one: "1 city", "2 cities", "0 games".
pub fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_read_as_in_a_sentence() {
        assert_eq!(listed(&[] as &[&str]), "nobody");
        assert_eq!(listed(&["Ann"]), "Ann");
        assert_eq!(listed(&["Ann", "Bob", "Cay"]), "Ann, Bob and Cay");
        assert_eq!(joined(&["fire", "air"], "or"), "fire or air");
        let counts = [0, 1, 2].map(|count| counted(count, "city"));
        assert_eq!(counts, ["0 cities", "1 city", "2 cities"]);
    }
}
