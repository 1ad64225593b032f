//! Letters of the table on the screen.

use std::path::PathBuf;

use fairdeal_session::letter::{LetterNews, Written};

use super::*;
use crate::app::screen::LetterRead;

fn types(stage: &mut TestApp, words: &str) {
    for letter in words.chars() {
        stage.key(KeyCode::Char(letter));
    }
    stage.key(KeyCode::Enter);
}

fn seated() -> (TestApp, Snapshot) {
    let mut stage = networked();
    let now = Snapshot { me: Some(seat(1)), my_turn: false, ..(*dealt("loot")).clone() };
    tell(&mut stage, waiting(&now, Waits::default(), 0));
    (stage, now)
}

/// The palette writes a letter; its bytes go to a file, and the player is told where it is.
#[test]
fn letter_is_written_to_a_file() {
    let (mut stage, now) = seated();
    let name = now.names[0].clone();
    stage.keys(":");
    types(&mut stage, &format!("letter to {name}"));
    let wrote = |effect: &Effect| matches!(effect, Effect::Session(Command::WriteLetter(to)) if *to == seat(0));
    assert!(stage.effects.iter().any(wrote), "{:?}", stage.effects);
    let written = Written {
        to: seat(0),
        subject: Default::default(),
        is_here: false,
        covered: false,
        asks: false,
        sealed: vec![7; 1024],
    };
    tell(&mut stage, SessionEvent::Letter(Box::new(LetterNews::Written(written))));
    let saved = stage.effects.iter().find_map(|effect| match effect {
        Effect::SaveLetter { table, reader, sealed, .. } => Some((table.clone(), reader.clone(), sealed.len())),
        _ => None,
    });
    assert_eq!(saved, Some((now.table.to_string(), name.clone(), 1024)));
    stage.input(Input::UiEvent(UiEvent::SavedLetter(name.clone(), PathBuf::from("/home/ada/for-ben.letter"))));
    let shown = stage.draw();
    assert!(shown.contains(&format!("A letter for {name}: /home/ada/for-ben.letter")), "{shown}");
    let why = format!("{name} is no longer at this table");
    tell(&mut stage, SessionEvent::Letter(Box::new(LetterNews::Refused(why.clone()))));
    assert!(stage.draw().contains(&why));
}

/// A letter is read from a file that is dropped, and its news and what to do are shown.
#[test]
fn letter_is_read_from_a_file() {
    let (mut stage, _) = seated();
    stage.keys(":");
    types(&mut stage, "read a letter");
    stage.key(KeyCode::Enter);
    assert!(stage.draw().contains("Drop the letter's file here first"));
    types(&mut stage, "'/tmp/for ada.letter'");
    let reads =
        |effect: &Effect| matches!(effect, Effect::ReadLetter(path) if path == &PathBuf::from("/tmp/for ada.letter"));
    assert!(stage.effects.iter().any(reads), "{:?}", stage.effects);
    let lines = [
        "A letter from Ben:",
        "  Ben takes the top card of the draw pile and then discards a pyramid that nobody has asked for.",
        "It is your turn. Act at the table, then write back.",
    ];
    let lines = lines.map(str::to_owned).to_vec();
    let letter = LetterRead { table: "5a1b".to_owned(), readers: vec![(seat(2), "Ben".to_owned())], lines };
    stage.input(Input::UiEvent(UiEvent::ReadLetter(Ok(letter))));
    insta::assert_snapshot!("letter-80x24", stage.draw());
    stage.size = (60, 20);
    insta::assert_snapshot!("letter-60x20", stage.draw());
    stage.size = (80, 24);
    stage.draw();
    stage.key(KeyCode::Enter);
    let back =
        |effect: &Effect| matches!(effect, Effect::WriteLetter { table, to, .. } if table == "5a1b" && *to == seat(2));
    assert!(stage.effects.iter().any(back), "{:?}", stage.effects);
    stage.input(Input::UiEvent(UiEvent::ReadLetter(Err("the letter is for somebody else".to_owned()))));
    assert!(stage.draw().contains("the letter is for somebody else"));
    stage.key(KeyCode::Esc);
    assert!(!stage.draw().contains("The letter's file"), "the table is back");
}
