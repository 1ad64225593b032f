//! Names of the bots that a program seats beside its player.

/// Names of bots, in the order in which they join.
const NAMES: [&str; 5] = ["Ada", "Blaise", "Claude", "Dorothy", "Emmy"];

/// The name of a local bot, by its number from 0.
pub fn bot_name(number: usize) -> &'static str {
    NAMES.get(number).copied().unwrap_or("Bot")
}

/// The numbers of the bots beside a player of this name, in the order in which they join: none has the player's name.
pub fn bots_beside(player: &str) -> impl Iterator<Item = usize> {
    (0..).filter(move |number| !bot_name(*number).eq_ignore_ascii_case(player))
}

/// The number of the next bot in a lobby with these players: the first whose name is free.
pub fn next_bot<'a>(seated: impl Iterator<Item = &'a str>) -> usize {
    let taken: Vec<&str> = seated.collect();
    let free = NAMES.iter().position(|name| !taken.iter().any(|taken| taken.eq_ignore_ascii_case(name)));
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
        assert_eq!(next_bot(["ada"].into_iter()), 1);
        for (player, names) in
            [("Anna", ["Ada", "Blaise"]), ("ada", ["Blaise", "Claude"]), ("Blaise", ["Ada", "Claude"])]
        {
            assert_eq!(bots_beside(player).map(bot_name).take(2).collect::<Vec<_>>(), names);
        }
    }
}
