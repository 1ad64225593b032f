//! Every script is played to its end, and what it says is proved.

pub(super) mod claims;
mod facts;

use fairdeal_protocol::game::Game as _;

use super::{Lesson, SCRIPTS};

#[test]
fn every_lesson_can_be_followed_to_its_end() {
    for (id, text) in SCRIPTS {
        let (mut lesson, _) = Lesson::begin(id, text, "Anna").unwrap_or_else(|why| panic!("{id}: {why}"));
        while lesson.says().is_some() {
            let (step, all) = lesson.progress();
            assert!(step <= all);
            let say = lesson.says().unwrap_or_default();
            assert!(say.ends_with(['.', '!']) && say.len() <= 110, "{id}: {} in {say}", say.len());
            let told = match lesson.expects() {
                Some(action) => lesson.act(&action),
                None => lesson.read_on(),
            };
            told.unwrap_or_else(|why| panic!("{id}: {why}"));
            let (now, _) = lesson.progress();
            assert_eq!(now, step + 1, "{id}: step {step} cannot be done");
        }
    }
}

#[test]
fn an_action_other_than_the_expected_one_changes_nothing() {
    let text = "names = ['Ada']\nseed = 1\n[[step]]\nsay = 'Look.'\n";
    let (mut lesson, _) = Lesson::begin("plutonian-poker", text, "Anna").unwrap();
    let any = lesson.game.legal(Lesson::ME, lesson.chance.dealt_to(Lesson::ME)).remove(0);
    assert_eq!(lesson.act(&any), Ok(Vec::new()));
    assert_eq!(lesson.says(), Some("Look."));
    lesson.read_on().unwrap();
    assert_eq!(lesson.says(), None);
}
