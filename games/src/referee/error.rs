//! The referee's refusals, with their codes.

use serde_json::{Value, json};

/// The reason why a request is refused. A refused request changes nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Error {
    #[error("the line is no JSON: {0}")]
    BadJson(String),
    #[error("{0}")]
    BadRequest(String),
    #[error("there is no game; begin one with {{\"op\":\"new\"}}")]
    NoGame,
    #[error("{0}")]
    BadOptions(String),
    #[error("{0}")]
    BadChance(String),
    #[error("no chance is left for what is asked for next: supply it with {{\"op\":\"chance\"}}")]
    ChanceExhausted {
        /// The chance that the request needs next.
        needs: Value,
    },
    #[error("the game is over")]
    Over,
    #[error("{0}")]
    NotYourTurn(String),
    #[error("{0}")]
    Illegal(String),
}

impl Error {
    fn code(&self) -> &'static str {
        match self {
            Self::BadJson(_) => "bad_json",
            Self::BadRequest(_) => "bad_request",
            Self::NoGame => "no_game",
            Self::BadOptions(_) => "bad_options",
            Self::BadChance(_) => "bad_chance",
            Self::ChanceExhausted { .. } => "chance_exhausted",
            Self::Over => "over",
            Self::NotYourTurn(_) => "not_your_turn",
            Self::Illegal(_) => "illegal",
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code(), "message": self.to_string()});
        if let (Self::ChanceExhausted { needs }, Some(fields)) = (self, error.as_object_mut()) {
            fields.insert("needs".to_owned(), needs.clone());
        }
        error
    }
}
