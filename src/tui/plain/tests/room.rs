//! Every board says everything that must be seen, also late in the game and in the smallest terminal.
//!
//! The frames are read back: what is found on the board must be what is in the game.

use fairdeal_protocol::card::{Face, Slot};
use ratatui::layout::Size as Area;

use super::*;
use crate::games::ivory::{self, Ivory, IvoryAction};
use crate::games::loot::LootAction;
use crate::games::plutonian::Plutonian;
use crate::games::plutonian::pieces::{Colour, Pyramid, score};
use crate::games::pyramid::Size;
use crate::games::sphinx::board::{Pylon, Square};
use crate::games::sphinx::{self, Sphinx};
use crate::games::thoth::{self, Thoth, house::Level as Story};
use crate::tui::style::Theme;

/// What a board has in a terminal of 80 by 24.
const SMALLEST: Area = Area::new(48, 11);

/// How somebody plays who wants the board full.
type Choose = fn(&mut ChaCha20Rng, &AnyGame, Seat, &Faces) -> AnyAction;

/// The rows of a board in an area.
fn board(scene: &Scene, me: Seat, area: Area, ascii: bool) -> Vec<String> {
    let snapshot = scene.snapshot();
    let theme = Theme::new(TuiOptions { ascii, mono: true });
    let look = Look {
        me: Some(me),
        names: &snapshot.names,
        known: scene.chance.dealt_to(me),
        theme: &theme,
    };
    let mut terminal = Terminal::new(TestBackend::new(area.width, area.height)).unwrap();
    terminal
        .draw(|frame| {
            on_board!(&scene.game, game => game.draw(&look, frame, frame.area()));
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
    (0..area.height).map(row).collect()
}

/// Plays until the game is over, or for so many actions, and looks at each position.
fn watch(scene: &mut Scene, most: usize, choose: Choose, mut look: impl FnMut(&Scene)) {
    for _ in 0..most {
        look(scene);
        let Some(seat) = scene.game.to_act().iter().next() else {
            return;
        };
        let known = scene.chance.dealt_to(seat);
        let action = choose(&mut scene.rng, &scene.game, seat, known);
        scene.apply(seat, &action);
    }
}

/// Any action that does not help to end the game.
fn any(rng: &mut ChaCha20Rng, game: &AnyGame, seat: Seat, known: &Faces) -> AnyAction {
    let mut legal = game.legal(seat, known);
    let resign = AnyAction::Ivory(IvoryAction::Resign);
    legal.retain(|action| !game.out_of_turn(action) && *action != resign);
    let chosen = rng.next_u32() as usize % legal.len();
    legal.swap_remove(chosen)
}

/// What the bot does, while it does not end the game.
fn sensible(rng: &mut ChaCha20Rng, game: &AnyGame, seat: Seat, known: &Faces) -> AnyAction {
    let action = bot(Level::Normal).choose(game, seat, known, rng);
    let action = action.filter(|action| !game.out_of_turn(action));
    action.unwrap_or_else(|| any(rng, game, seat, known))
}

/// Stacks of Plutonian Poker as low as can be.
fn scattered(rng: &mut ChaCha20Rng, game: &AnyGame, seat: Seat, known: &Faces) -> AnyAction {
    loop {
        let action = any(rng, game, seat, known);
        if action_json(game, seat, &action)["stack"].is_null() {
            return action;
        }
    }
}

fn action_json(game: &AnyGame, seat: Seat, action: &AnyAction) -> serde_json::Value {
    crate::games::TableGame::action_to_json(game, seat, action, &Faces::new())
}

fn size(letter: char) -> Size {
    Size::ALL
        .into_iter()
        .find(|size| size.name().starts_with(letter))
        .unwrap_or_else(|| panic!("no size {letter}"))
}

fn colour(letter: char) -> Option<Colour> {
    let known = Colour::ALL.into_iter().find(|c| c.letter() == letter);
    assert!(known.is_some() || letter == '*', "no colour {letter}");
    known
}

/// A stack as the board writes it.
fn read_stack(text: &str) -> Vec<Pyramid> {
    let letters: Vec<char> = text.chars().collect();
    if letters[0].is_ascii_lowercase() {
        let size = size(letters[0]);
        let colours = letters[1..].iter().map(|letter| colour(*letter));
        return colours.map(|colour| Pyramid { colour, size }).collect();
    }
    let mut of = None;
    let mut stack = Vec::new();
    for letter in letters {
        if letter.is_ascii_lowercase() {
            stack.push(Pyramid {
                colour: of.unwrap(),
                size: size(letter),
            });
        } else {
            of = Some(colour(letter));
        }
    }
    stack
}

/// A tree as the board writes it, with its number; whether it may be touched.
fn read_tree(text: &str) -> (usize, Vec<Pyramid>, bool) {
    let bare = text.trim_matches(['(', ')']);
    let (digits, letters) = bare.split_at(bare.find(|c: char| !c.is_ascii_digit()).unwrap());
    let mut letters = letters.chars().peekable();
    let mut sizes = [Size::Large, Size::Medium, Size::Small].into_iter();
    let mut tree = Vec::new();
    while let Some(letter) = letters.next() {
        let own = letters.next_if(char::is_ascii_lowercase);
        let size = own.map_or_else(|| sizes.next().unwrap(), size);
        tree.push(Pyramid {
            colour: colour(letter),
            size,
        });
    }
    (digits.parse().unwrap(), tree, bare == text)
}

/// Reads a board of Plutonian Poker back; everything on it must be so. Says how many stacks it left out.
fn read_plutonian(game: &Plutonian, me: Seat, names: &[String], rows: &[String]) -> usize {
    let words: Vec<&str> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
    let text = rows.join("\n");
    let mut left = 0;
    let trees = game.trees().iter().enumerate();
    let trees: Vec<_> = trees.filter(|(_, tree)| !tree.is_empty()).collect();
    for ((index, tree), word) in trees.iter().zip(&words) {
        let (number, read, free) = read_tree(word);
        assert_eq!((number, &read), (*index, *tree), "{word} in\n{text}");
        assert_eq!(free, game.may_be_touched(number), "{word} in\n{text}");
    }
    for (seat, name) in Seat::first(names.len()).zip(names) {
        let at = words.iter().position(|word| *word == format!("{name}:"));
        let Some(at) = at else {
            panic!("no {name} in\n{text}")
        };
        let mut missing: Vec<(usize, Vec<Pyramid>)> =
            game.stacks(seat).iter().cloned().enumerate().collect();
        let mut more = 0;
        let mut after = words[at + 1..].iter();
        while let Some(word) = after.next().filter(|word| !word.ends_with(':')) {
            if *word == "…" {
                more = after.next().unwrap().parse().unwrap();
                break;
            }
            let (number, rest) = word.split_once(':').unwrap_or(("", word));
            let (stack, worth) = rest.split_once('=').unwrap_or((rest, ""));
            let read = read_stack(stack);
            let place = missing.iter().position(|(_, stack)| *stack == read);
            let Some(place) = place else {
                panic!("{name} has no {word} in\n{text}")
            };
            let place = if number.is_empty() {
                assert!(seat != me, "{word} has no number in\n{text}");
                place
            } else {
                let number: usize = number.parse().unwrap();
                missing.iter().position(|(n, _)| *n == number).unwrap()
            };
            assert_eq!(missing.remove(place).1, read, "{word} in\n{text}");
            if seat == me || !worth.is_empty() {
                let worth = if worth.is_empty() { "0" } else { worth };
                assert_eq!(worth.parse(), Ok(score(&read)), "{word} in\n{text}");
            }
        }
        assert_eq!(missing.len(), more, "{name} in\n{text}");
        assert!(seat != me || more == 0, "own stacks are missing in\n{text}");
        left += more;
    }
    left
}

fn plutonian(scene: &Scene, me: Seat, area: Area) -> usize {
    let rows = board(scene, me, area, false);
    let AnyGame::Plutonian(game) = &scene.game else {
        panic!("another game");
    };
    read_plutonian(game, me, &scene.snapshot().names, &rows)
}

/// The seat that is to act; the first one once nobody is.
fn to_act(scene: &Scene) -> Seat {
    let seat = scene.game.to_act().iter().next();
    seat.unwrap_or_else(|| Seat::new(0).unwrap())
}

/// Late in a game of six, too, every stack has its place, and what the own ones are worth.
#[test]
fn plutonian_poker_shows_every_stack_of_six_seats() {
    for wilds in ["none", "bottoms", "center"] {
        for (number, choose) in [(0, any as Choose), (1, any), (2, sensible), (3, scattered)] {
            let mut scene = Scene::new("plutonian-poker", 6, &[("wilds", wilds)], number);
            watch(&mut scene, 200, choose, |scene| {
                let left = plutonian(scene, to_act(scene), SMALLEST);
                assert_eq!(left, 0);
            });
            assert!(scene.game.is_over());
        }
    }
}

/// With less room than there ever is, it says how many stacks are not on the board.
#[test]
fn plutonian_poker_counts_the_stacks_that_it_leaves_out() {
    let mut scene = Scene::new("plutonian-poker", 6, &[], 4);
    let mut most = 0;
    watch(&mut scene, 200, scattered, |scene| {
        let left = plutonian(scene, to_act(scene), Area::new(48, 8));
        most = most.max(left);
    });
    assert!(most > 10, "{most}");
}

/// The words of a board between two others.
fn between<'a>(words: &[&'a str], from: &str, to: &str) -> Vec<&'a str> {
    let text = words.join(" ");
    let end_of = |from: &str| {
        let from: Vec<&str> = from.split(' ').collect();
        let at = words.windows(from.len()).position(|few| few == from);
        at.unwrap_or_else(|| panic!("no {from:?} in {text}"))
    };
    let start = end_of(from) + from.split(' ').count();
    words[start..end_of(to)].to_vec()
}

/// A card of the Decktet as a board has it: its rank and the first letters of its suits.
fn decktet(card: Face) -> String {
    let rank = match ivory::cards::rank(card) {
        1 => "A".to_owned(),
        10 => "C".to_owned(),
        rank => rank.to_string(),
    };
    let suits = ivory::cards::suits(card);
    let suits: Vec<String> = suits.iter().map(|s| s.name()[..2].to_owned()).collect();
    rank + &suits.join("+")
}

fn check_ivory(game: &Ivory, rows: &[String]) {
    let words: Vec<&str> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
    let check = |from: &str, to: &str, cards: &[Face], else_: &str| {
        let cards: Vec<String> = cards.iter().map(|card| decktet(*card)).collect();
        let cards = cards.join(" ");
        let expected = if cards.is_empty() { else_ } else { &cards };
        assert_eq!(between(&words, from, to).join(" "), expected, "{rows:#?}");
    };
    check("tower", "pile 0", game.tower(), "waits for an Ace");
    let labels = ["pile 0", "pile 1", "pile 2", "drawn"];
    for (number, labels) in labels.windows(2).enumerate() {
        let pile = game.piles().get(number).map_or(&[][..], Vec::as_slice);
        check(labels[0], labels[1], pile, "waits for a Crown");
    }
    let text = words.join(" ");
    let counts = (game.draw_pile().len(), game.deck().len());
    let counts = format!("{} in the draw pile, {} in the deck", counts.0, counts.1);
    assert!(text.contains(&counts), "{rows:#?}");
    assert!(text.contains("wy(rms)"), "the legend is missing: {rows:#?}");
    if let Some(top) = game.top() {
        assert!(text.contains(&ivory::cards::name(top)), "{rows:#?}");
    }
}

#[test]
fn ivory_tower_shows_every_card_and_its_legend() {
    // Among the first 256 deals the bot lays out most cards in some of these.
    let deals = [232, 213, 158, 182].map(|number| (number, sensible as Choose));
    let mut most = 0;
    for (number, choose) in deals.into_iter().chain([(0, any as Choose), (1, any)]) {
        let mut scene = Scene::new("ivory-tower", 1, &[], number);
        watch(&mut scene, 200, choose, |scene| {
            let AnyGame::Ivory(game) = &scene.game else {
                panic!("another game");
            };
            let rows = board(scene, to_act(scene), SMALLEST, false);
            check_ivory(game, &rows);
            let played: usize = game.piles().iter().map(Vec::len).sum();
            most = most.max(played + game.tower().len());
        });
    }
    assert!(most > 17, "{most} cards at most lay on the table");
}

/// The card of the Tarot deck that a board means; there must be one alone.
fn tarot(text: &str) -> Face {
    let means = |card: &Face| {
        let name = thoth::cards::name(*card);
        if let Some((rank, suit)) = name.split_once('-').filter(|_| card.0 > 21) {
            let rank = match rank {
                "ace" => "A",
                "princess" => "Ps",
                "prince" => "Pr",
                "queen" => "Q",
                "king" => "K",
                number => number,
            };
            return text == format!("{rank}{}", &suit[..1]);
        }
        let brief = match name.as_str() {
            "empress" => "emss",
            "emperor" => "emor",
            name if name.len() > 5 => &name[..4],
            name => name,
        };
        text == name || text == brief
    };
    let cards: Vec<Face> = thoth::cards::all().filter(means).collect();
    assert_eq!(cards.len(), 1, "{text:?} means {cards:?}");
    cards[0]
}

fn check_thoth(game: &Thoth, scene: &Scene, me: Seat, rows: &[String]) {
    let words: Vec<&str> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
    let names = scene.snapshot().names;
    let rest = |from: &str| {
        let at = words.iter().position(|word| *word == from);
        &words[at.unwrap_or_else(|| panic!("no {from} in {rows:#?}")) + 1..]
    };
    let ends = |word: &&str| names.iter().any(|name| name == word) || *word == "bank";
    for (seat, name) in Seat::first(names.len()).zip(&names) {
        let house = game.house(seat).unwrap();
        let words = rest(name);
        let end = words.iter().position(ends).unwrap();
        assert_eq!(words[0], format!("({})", house.score()));
        let words: Vec<&str> = words[1..end]
            .iter()
            .copied()
            .filter(|w| *w != "/")
            .collect();
        let (mut levels, mut roof, mut trouble) = (Vec::new(), None, None);
        for word in words {
            if word == "TROUBLE" {
                trouble = Some(Vec::new());
            } else if let Some(trouble) = &mut trouble {
                trouble.push(tarot(word));
            } else if let Some(card) = word.strip_prefix('^') {
                roof = Some(tarot(card));
            } else if house.stands() {
                levels.push(word);
            } else {
                assert!(["no", "Foundation"].contains(&word), "{rows:#?}");
            }
        }
        assert_eq!(roof, house.roof, "{rows:#?}");
        assert_eq!(trouble.unwrap_or_default(), house.trouble, "{rows:#?}");
        assert_eq!(levels.len(), house.levels.len(), "{rows:#?}");
        for (word, Story { card, pyramids }) in levels.iter().zip(&house.levels) {
            let (name, corners) = word.split_once('[').unwrap_or((word, ""));
            assert_eq!(tarot(name), *card, "{rows:#?}");
            let size = pyramids.first().map(|p| p.size.pips().to_string());
            let letters = pyramids.iter().map(|p| p.element.name()[..1].to_owned());
            let expected: String = size.into_iter().chain(letters).collect();
            assert_eq!(corners.trim_end_matches(']'), expected, "{rows:#?}");
        }
    }
    let text = words.join(" ");
    for element in thoth::cards::Element::ALL {
        let [a, b, c] = Size::ALL.map(|size| game.bank().count(element, size));
        let (long, short) = (element.name(), &element.name()[..1]);
        let long = format!("{long} {a}/{b}/{c}");
        let short = format!(" {short}{a}/{b}/{c}");
        assert!(text.contains(&long) || text.contains(&short), "{rows:#?}");
    }
    let piles = format!(
        "deck {} discards {}, ",
        game.deck().len(),
        game.discard_pile().len()
    );
    assert!(text.contains(&piles), "{rows:#?}");
    let known = scene.chance.dealt_to(me);
    let hand: Vec<Face> = game
        .hand_of(me)
        .iter()
        .filter_map(|slot| slot.face(known))
        .collect();
    let shown = rest("hand")
        .iter()
        .take_while(|word| !word.starts_with('('));
    assert_eq!(
        shown.map(|word| tarot(word)).collect::<Vec<_>>(),
        hand,
        "{rows:#?}"
    );
    if !game.pool().is_empty() {
        let shown = rest("pool").iter().take_while(|word| **word != "hand");
        let shown: Vec<Face> = shown.map(|word| tarot(word)).collect();
        assert_eq!(shown, game.pool(), "{rows:#?}");
    }
}

fn watch_thoth(number: u8, options: &[(&str, &str)], choose: Choose, most: usize) {
    let mut scene = Scene::new("houses-of-thoth", 5, options, number);
    watch(&mut scene, most, choose, |scene| {
        let AnyGame::Thoth(game) = &scene.game else {
            panic!("another game");
        };
        let me = to_act(scene);
        check_thoth(game, scene, me, &board(scene, me, SMALLEST, false));
    });
}

/// With tall houses, Trouble, a long pool or all of it.
#[test]
fn houses_of_thoth_shows_all_five_houses_the_bank_and_the_hand() {
    let auction = [("opening", "auction"), ("happenstance", "true")];
    for number in 0..3 {
        watch_thoth(number, &[], sensible, 300);
        watch_thoth(number, &auction, sensible, 120);
        watch_thoth(number, &auction, any, 60);
    }
}

fn check_sphinx(game: &Sphinx, seats: usize, rows: &[String]) {
    let text = rows.join("\n");
    let part = |row: usize, from: usize, count: usize| -> String {
        rows[row].chars().skip(from).take(count).collect()
    };
    let below: String = (9..rows.len()).map(|row| part(row, 0, 35)).collect();
    for (place, square) in Square::all().enumerate() {
        let cell = part(7 - place / 8, 3 + 4 * (place % 8), 4);
        let here = Seat::first(seats).filter(|seat| game.magician(*seat) == Some(square));
        let here: String = here.map(|seat| seat.index().to_string()).collect();
        let counts = Size::ALL.into_iter().zip(game.monsters_on(square));
        let pips: String = counts
            .map(|(size, count)| size.pips().to_string().repeat(usize::from(count)))
            .collect();
        let all = match cell.trim() {
            crowd if crowd.ends_with('+') => {
                let mut words = below.split_whitespace();
                let listed =
                    words.find_map(|word| word.strip_prefix(&format!("{}:", square.name())));
                listed.unwrap_or_default().to_owned()
            }
            cell => cell.trim_matches(['·', '◦', '▯']).to_owned(),
        };
        let expected = if here.is_empty() {
            pips
        } else {
            format!("M{here}")
        };
        assert_eq!(all, expected, "{} in\n{text}", square.name());
    }
    for (number, pylon) in Pylon::ALL.into_iter().enumerate() {
        let pack = part(2 * number, 35, 13);
        let cards = game.pack(pylon).iter().rev().map(|slot| match slot {
            Slot::Open(king) => sphinx::cards::name(*king),
            Slot::Sealed(_) => "?".to_owned(),
        });
        let mut expected: Vec<String> = cards.collect();
        if expected.is_empty() {
            expected.push("-".to_owned());
        }
        expected.insert(0, pylon.name()[..1].to_uppercase());
        assert_eq!(
            pack.split_whitespace().collect::<Vec<_>>(),
            expected,
            "{text}"
        );
        let turned = part(2 * number + 1, 35, 13);
        let expected: Vec<String> = game
            .turned(pylon)
            .iter()
            .map(|c| sphinx::cards::name(*c))
            .collect();
        assert_eq!(
            turned.split_whitespace().collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }
    assert!(text.contains("? hidden card"), "{text}");
}

/// Crowds of Monsters, Magicians side by side, packs full of Kings.
#[test]
fn sphinxs_paw_shows_every_monster_and_all_packs() {
    for number in 0..6 {
        let choose = if number % 2 == 0 { any } else { sensible };
        let mut scene = Scene::new("sphinxs-paw", 4, &[], number);
        watch(&mut scene, 400, choose, |scene| {
            let AnyGame::Sphinx(game) = &scene.game else {
                panic!("another game");
            };
            check_sphinx(game, 4, &board(scene, to_act(scene), SMALLEST, false));
        });
    }
}
/// The cards that everybody saw a seat take, and the gods, all of them or how many more there are.
#[test]
fn loot_shows_or_counts_what_was_seen_of_four_seats() {
    let (mut seen_at_most, mut gods_at_most) = (0, 0);
    for number in 0..3 {
        let mut scene = Scene::new("loot", 4, &[], number);
        watch(&mut scene, 150, any, |scene| {
            let AnyGame::Loot(game) = &scene.game else {
                panic!("another game");
            };
            let mut app = scene.app(false);
            let text = frame(&mut app, 80, 24);
            for (seat, name) in Seat::first(4).zip(scene.snapshot().names).skip(1) {
                let slots = game.hand_of(seat).iter();
                let open = slots.filter(|slot| matches!(slot, Slot::Open(_)));
                let seen: Vec<String> = open
                    .filter_map(|slot| slot.face(&Faces::new()))
                    .map(crate::tui::cards::short)
                    .collect();
                seen_at_most = seen_at_most.max(seen.len());
                let row = text.lines().find(|row| row.contains(&format!(" {name} ")));
                let row = row.unwrap_or_else(|| panic!("no {name} in {text}"));
                let panel = row.split('│').nth(1).unwrap();
                let mut words = panel.split_whitespace().filter(|word| *word != "▶");
                assert_eq!(words.next(), Some(name.as_str()));
                let mut words: Vec<&str> = words.skip(3).collect();
                let more = words.last().and_then(|word| word.strip_prefix('+'));
                let more = more.map_or(0, |more| more.parse().unwrap());
                words.truncate(words.len() - usize::from(more > 0));
                assert_eq!(words, seen[..seen.len() - more], "{text}");
            }
            let gods: Vec<_> = app.gods().iter().collect();
            gods_at_most = gods_at_most.max(gods.len());
            let missing = gods.iter().find(|god| {
                let names = [god.effect(), god.name(), crate::tui::cards::god(**god)];
                !names.iter().any(|name| text.contains(name))
            });
            assert_eq!(missing, None, "{text}");
        });
    }
    assert!(
        seen_at_most > 4 && gods_at_most > 5,
        "{seen_at_most} {gods_at_most}"
    );
}

/// When the village of four burns there is more to say than a screen has lines: one can look back.
#[test]
fn a_burnt_village_of_four_can_be_looked_through() {
    let mut scene = Scene::new("loot", 4, &[], 1);
    watch(&mut scene, 32, sensible, |_| {});
    let seat = scene.game.to_act().iter().next().unwrap();
    let fire = AnyAction::Loot(LootAction::Fire);
    let mut events = Vec::new();
    scene
        .game
        .apply(seat, &fire, &mut scene.chance, &mut events)
        .unwrap();
    let mut app = scene.app(false);
    for event in events {
        app.update(Input::Session(SessionEvent::Game(event)));
    }
    press(&mut app, &[KeyCode::Char('x')]);
    let last = frame(&mut app, 80, 24);
    assert!(last.contains("more lines; any other key"), "{last}");
    press(&mut app, &[KeyCode::Up; 30]);
    let first = frame(&mut app, 80, 24);
    assert!(first.contains("has fired the village."), "{first}");
    press(&mut app, &[KeyCode::Down; 30]);
    assert_eq!(frame(&mut app, 80, 24), last);
    press(&mut app, &[KeyCode::Enter]);
    assert!(!frame(&mut app, 80, 24).contains("burns"));
}

/// What stands beside the names and in the title of a table has room there.
#[test]
fn headings_and_notes_are_not_cut() {
    for info in GAMES.iter().filter(|info| info.id != "loot") {
        for (number, choose) in [(0, any as Choose), (1, sensible)] {
            let mut scene = Scene::new(info.id, info.most_seats, &[], number);
            watch(&mut scene, 300, choose, |scene| {
                let heading = on_board!(&scene.game, game => game.heading()).unwrap();
                let title = format!(" fairdeal > {} - {heading}", info.name);
                assert!(title.width() < 80 - 18, "{title}");
                for seat in Seat::first(usize::from(info.most_seats)) {
                    let note = on_board!(&scene.game, game => game.seat_note(seat)).unwrap();
                    assert!(note.width() <= 13, "{note}");
                }
            });
        }
    }
}

/// Late positions, in which the boards are fullest.
#[test]
fn late_tables() {
    let scene = |id: &str, seats, options: &[(&str, &str)], number, actions, choose| {
        let mut scene = Scene::new(id, seats, options, number);
        watch(&mut scene, actions, choose, |_| {});
        scene.play(0);
        scene
    };
    let low = [("target", "1")];
    for (name, scene) in [
        (
            "plutonian-poker",
            scene("plutonian-poker", 6, &[], 4, 88, sensible as Choose),
        ),
        (
            "bottoms",
            scene(
                "plutonian-poker",
                6,
                &[("wilds", "bottoms")],
                6,
                20,
                sensible,
            ),
        ),
        (
            "scattered",
            scene(
                "plutonian-poker",
                6,
                &[("wilds", "center")],
                7,
                100,
                scattered,
            ),
        ),
        (
            "houses-of-thoth",
            scene("houses-of-thoth", 5, &[], 8, 541, sensible),
        ),
        ("roof", scene("houses-of-thoth", 5, &low, 56, 400, sensible)),
        (
            "ivory-tower",
            scene("ivory-tower", 1, &[], 232, 87, sensible),
        ),
        ("sphinxs-paw", scene("sphinxs-paw", 4, &[], 2, 300, any)),
        ("loot", scene("loot", 4, &[], 2, 90, any)),
    ] {
        let mut app = scene.app(false);
        insta::assert_snapshot!(format!("{name}-80x24"), frame(&mut app, 80, 24));
        insta::assert_snapshot!(format!("{name}-140x45"), frame(&mut app, 140, 45));
    }
}
