//! Names of the bots that a program seats beside its player.

/// Names of bots, in the order in which they join.
const NAMES: [&str; 5] = ["Ada", "Blaise", "Claude", "Dorothy", "Emmy"];

/// The name of a local bot, by its number from 0.
pub fn bot_name(number: usize) -> &'static str {
    NAMES.get(number).copied().unwrap_or("Bot")
}

/// The number of the next bot in a lobby with these players: the first whose name is free.
pub fn next_bot<'a>(seated: impl Iterator<Item = &'a str>) -> usize {
    let taken: Vec<&str> = seated.collect();
    let free = NAMES.iter().position(|name| !taken.contains(name));
    free.unwrap_or(NAMES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_have_names_of_their_own() {
        assert_eq!(next_bot(["Anna"].into_iter()), 0);
        assert_eq!(next_bot(["Anna", "Ada"].into_iter()), 1);
        // Ada was dismissed.
        assert_eq!(next_bot(["Anna", "Blaise"].into_iter()), 0);
        assert_eq!(next_bot(NAMES.into_iter()), NAMES.len());
    }
}
