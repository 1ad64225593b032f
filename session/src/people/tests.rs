//! The address book: who stays in it, whom it knows, and whose name it warns of.

use proptest::prelude::*;

use super::*;

fn key(seed: u8) -> PeerId {
    fairdeal_peers::testing::peer(seed)
}

fn numbered(number: usize) -> PeerId {
    fairdeal_peers::testing::numbered(u64::try_from(number).unwrap())
}

/// A book with two games with Ada, whose key is 1.
fn book() -> Book {
    let mut book = Book::default();
    book.met(key(1), "Ada", false, "2026-01-30", true);
    book.met(key(1), "Ada", false, "2026-01-31", true);
    book
}

fn words(book: &Book, seed: u8, name: &str) -> String {
    book.mark(&key(seed), name).words()
}

#[test]
fn same_key_is_known_and_another_is_not() {
    let book = book();
    assert_eq!(words(&book, 1, "Ada"), "known: \"Ada\", 2 games");
    assert_eq!(words(&book, 1, "Countess"), "known: \"Ada\", 2 games");
    assert_eq!(words(&book, 2, "Ben"), "new to you");
    // Cyrillic а, capitals, blanks, a digit one for a small l.
    for name in ["Ada", "ADA", " a d a ", "Ad\u{430}", "A\u{200b}da"] {
        let told = words(&book, 2, name);
        assert_eq!(told, "another key than the Ada you know", "{name}");
    }
    assert_eq!(words(&book, 2, "Adda"), "new to you", "another spelling is not caught");
    assert_eq!(words(&book, 2, ""), "new to you");
}

#[test]
fn own_name_is_warned_of_like_an_announced_one() {
    let mut book = book();
    book.change(key(1), None, &Change::Name("Lovelace".to_owned())).unwrap();
    assert_eq!(words(&book, 1, "Ada"), "known: Lovelace, 2 games");
    for name in ["lovelace", "Ada"] {
        assert_eq!(words(&book, 3, name), "another key than the Lovelace you know", "{name}");
    }
}

/// A stranger who has announced a name before the player gave it to somebody is no less a stranger.
#[test]
fn early_use_of_an_own_name_does_not_pass() {
    let mut book = book();
    book.met(key(2), "Lady A", false, "2026-02-01", true);
    assert_eq!(words(&book, 2, "Lady A"), "known: \"Lady A\", 1 game");
    book.change(key(1), None, &Change::Name("Lady A".to_owned())).unwrap();
    assert_eq!(words(&book, 2, "lady a"), "another key than the Lady A you know");
    book.change(key(2), None, &Change::Name("Eve".to_owned())).unwrap();
    assert_eq!(words(&book, 2, "Lady A"), "known: Eve, 1 game");
}

#[test]
fn known_key_under_another_ones_name_is_warned_of_once() {
    let mut book = book();
    book.met(key(2), "Ben", false, "2026-02-01", true);
    assert_eq!(book.mark(&key(2), "Ada").kind(), MarkKind::OtherKey);
    // Two friends may have one name: once played with under that name, both are known.
    book.met(key(2), "Ada", false, "2026-02-02", true);
    assert_eq!(words(&book, 2, "Ada"), "known: \"Ada\", 2 games");
    assert_eq!(words(&book, 1, "Ada"), "known: \"Ada\", 2 games");
    assert_eq!(book.mark(&key(3), "Ada").kind(), MarkKind::OtherKey);
}

#[test]
fn resumed_game_counts_once() {
    let mut book = book();
    book.met(key(1), "Ada", true, "2026-02-03", false);
    let ada = book.get(&key(1)).unwrap();
    let days = [ada.first.as_deref(), ada.last.as_deref()];
    assert_eq!(days, [Some("2026-01-30"), Some("2026-02-03")]);
    assert!(ada.games == 2 && ada.bot);
}

#[test]
fn oldest_plain_entries_make_room() {
    let mut book = book();
    book.change(key(1), None, &Change::Favourite(true)).unwrap();
    for number in 1..=MAX_PEOPLE + 5 {
        book.met(numbered(number), "Eve", false, "2026-02-01", true);
        assert!(book.people().len() <= MAX_PEOPLE);
    }
    assert!(book.get(&key(1)).is_some(), "a favourite stays");
    assert!(book.get(&numbered(6)).is_none() && book.get(&numbered(7)).is_some());

    let keys: Vec<PeerId> = book.people().iter().map(|person| person.key).collect();
    for key in keys {
        book.change(key, None, &Change::Blocked(true)).unwrap();
    }
    let full = book.clone();
    book.met(key(9), "Eve", false, "2026-02-02", true);
    assert_eq!(book.change(key(9), None, &Change::Blocked(true)), Err(ChangeError::Full));
    assert_eq!(book, full);
}

#[test]
fn marks_come_and_go() {
    let mut book = Book::default();
    let say = |book: &mut Book, change: Change| book.change(key(5), Some("Eve"), &change);
    assert_eq!(say(&mut book, Change::Forget), Err(ChangeError::Unknown));
    say(&mut book, Change::Favourite(true)).unwrap();
    assert_eq!(words(&book, 5, "Eve"), "favourite: \"Eve\"");
    say(&mut book, Change::Blocked(true)).unwrap();
    assert_eq!(words(&book, 5, "Eve"), "blocked: \"Eve\"");
    assert_eq!(say(&mut book, Change::Favourite(true)), Err(ChangeError::Blocked));
    say(&mut book, Change::Blocked(false)).unwrap();
    assert_eq!(book.people(), [], "nothing is left to say of a stranger");
    let long = "x".repeat(MAX_OWN_NAME + 1);
    assert_eq!(say(&mut book, Change::Name(long)), Err(ChangeError::Long));
}

#[test]
fn own_names_are_told_apart() {
    let mut book = book();
    book.met(key(2), "Ben", false, "2026-02-01", true);
    let mut name = |seed, name: &str| book.change(key(seed), None, &Change::Name(name.to_owned()));
    name(1, "Lady A").unwrap();
    name(1, "lady a").unwrap();
    assert_eq!(name(2, "LADY \u{410}"), Err(ChangeError::Taken("LADY \u{410}".to_owned())));
    name(1, "").unwrap();
    name(2, "Lady A").unwrap();
}

#[test]
fn person_is_found_by_key_or_own_name() {
    let mut book = book();
    book.met(key(2), "Ben", false, "2026-02-01", true);
    book.change(key(2), None, &Change::Name("Uncle".to_owned())).unwrap();
    let id = key(1).to_string();
    for text in [&id, &id[..30], &key(1).short(), &id[46..]] {
        assert_eq!(book.find(text), Ok(key(1)), "{text}");
    }
    assert_eq!(book.find(" uncle "), Ok(key(2)));
    assert_eq!(book.find(&key(7).to_string()), Ok(key(7)), "a whole key need not be in the book");
    let several = book.find("12D3Koo").unwrap_err();
    assert!(several.to_string().contains("(Uncle)"), "{several}");
    for text in ["Ada", "", id.get(50..).unwrap()] {
        assert!(matches!(book.find(text), Err(FindError::Nobody(_))), "{text}");
    }
}

#[test]
fn edited_book_is_brought_into_order() {
    let mut book = book();
    let mut twice = book.people()[0].clone();
    twice.name = Some("\u{1b}[31m".to_owned());
    book.people.insert(0, twice);
    let book = book.from_file();
    assert_eq!(book.people().len(), 1);
    assert_eq!(book.people()[0].shown(), "[31m");
}

proptest! {
    /// Whatever happens, keys are unique, the book is bounded, and it survives its file.
    #[test]
    fn book_stays_in_order(steps in prop::collection::vec((0_u8..6, 0_u8..4, "[A-Za ]{0,5}", any::<bool>()), 0..40)) {
        let mut book = Book::default();
        for (what, seed, name, yes) in steps {
            let change = match what {
                0 | 1 => {
                    book.met(key(seed), &name, yes, "2026-01-01", yes);
                    continue;
                }
                2 => Change::Name(name),
                3 => Change::Favourite(yes),
                4 => Change::Blocked(yes),
                _ => Change::Forget,
            };
            let _ = book.change(key(seed), None, &change);
        }
        // A file holds the newest entries last.
        let mut filed = book.clone();
        filed.people.reverse();
        let text = toml::to_string_pretty(&filed).unwrap();
        let read: Book = toml::from_str(&text).unwrap();
        prop_assert_eq!(&read.from_file(), &book);
        for person in book.people() {
            prop_assert!(!(person.favourite && person.blocked));
            prop_assert_eq!(book.find(&person.key.to_string()), Ok(person.key));
        }
    }
}

/// A peer id with a letter mistyped, whose 32 bytes are no point of the curve.
const MISTYPED: &str = "12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5Sy";

#[test]
fn mistyped_key_costs_no_other_entry() {
    let key = key(1);
    let text = format!("version = 1\n[[person]]\nkey = \"{MISTYPED}\"\n[[person]]\nkey = \"{key}\"\nblocked = true\n");
    let book: Book = toml::from_str(&text).unwrap();
    assert_eq!(book.people().len(), 1);
    assert!(book.is_blocked(&key));
    assert_eq!(book.find(MISTYPED), Err(FindError::Key(PeerIdError::NotAKey)));
}
