//! Why a bot of ours makes the decision of a program.

/// Late answers in a row after which a program is stopped.
pub(super) const MOST_LATE: u32 = 3;

/// Why a bot of ours makes a program's decision.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Nobody wants an answer any more.
    #[error("the question is closed")]
    Stopped,
    #[error("it did not answer within {0} ms")]
    Late(u128),
    #[error("it was late {MOST_LATE} times in a row, so fairdeal stopped it")]
    GivenUp,
    #[error("it did not say \"ready\" within {0} ms, so fairdeal stopped it")]
    NotReady(u128),
    #[error("it stopped reading its input, so fairdeal stopped it")]
    Unread,
    #[error("its program has ended")]
    Ended,
    #[error("its action is not legal: {0}")]
    Illegal(String),
    #[error("it did not answer, although it is its turn")]
    Silent,
    #[error("the table has refused its action")]
    Refused,
}
