//! The lines that a bot's program writes: bounded reading and parsing, without effects.

use std::io::{self, BufRead};

use serde_json::Value;

/// The version of the lines.
pub(super) const VERSION: u32 = 1;
/// The longest line that is read, in bytes without its end.
pub const LONGEST: usize = 64 * 1024;

/// A line of the program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// It has read `hello`.
    Ready { name: String },
    /// Its answer to the question with this number.
    Choice { id: u64, choice: Choice },
    /// An event that this version does not know.
    Unknown,
}

/// A decision of the program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// The legal action at this place, from 0.
    Index(usize),
    /// An action as JSON.
    Action(Value),
    Silent,
}

/// Why a line is unreadable.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("its line is longer than {LONGEST} bytes")]
    TooLong,
    #[error("its line is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("its line is not an object with the key \"event\"")]
    NoEvent,
    #[error("its choice has no number \"id\"")]
    NoId,
    #[error("its choice must have one of \"index\" and \"action\": a number, an object or null")]
    NoChoice,
}

/// Parses a line.
///
/// # Errors
/// [`LineError`].
pub(super) fn parse(line: &[u8]) -> Result<Said, LineError> {
    let value: Value = serde_json::from_slice(line)?;
    let event = value.get("event").and_then(Value::as_str).ok_or(LineError::NoEvent)?;
    match event {
        "ready" => {
            let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
            Ok(Said::Ready { name: name.to_owned() })
        }
        "choice" => {
            let id = value.get("id").and_then(Value::as_u64).ok_or(LineError::NoId)?;
            let choice = match (value.get("index"), value.get("action")) {
                (Some(Value::Null), None) | (None, Some(Value::Null)) => Choice::Silent,
                (Some(index), None) => {
                    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                    Choice::Index(index.ok_or(LineError::NoChoice)?)
                }
                (None, Some(action @ Value::Object(_))) => Choice::Action(action.clone()),
                _ => return Err(LineError::NoChoice),
            };
            Ok(Said::Choice { id, choice })
        }
        _ => Ok(Said::Unknown),
    }
}

/// Reads a line into `line`, without its end. Of a longer line than [`LONGEST`], the rest is read and dropped. Returns
/// whether there was a line, and whether it was whole.
///
/// # Errors
/// The system's.
pub(super) fn read(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let mut whole = true;
    let mut any = false;
    loop {
        let waiting = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            waiting => waiting?,
        };
        if waiting.is_empty() {
            return Ok(any.then_some(whole));
        }
        any = true;
        let end = waiting.iter().position(|byte| *byte == b'\n');
        let (part, used) = match end {
            Some(end) => (waiting.get(..end), end.saturating_add(1)),
            None => (Some(waiting), waiting.len()),
        };
        let part = part.unwrap_or_default();
        let room = LONGEST.saturating_sub(line.len());
        whole &= part.len() <= room;
        line.extend(part.iter().take(room));
        from.consume(used);
        if end.is_some() {
            return Ok(Some(whole));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn choice(text: &str) -> Choice {
        match parse(text.as_bytes()).unwrap() {
            Said::Choice { id: 7, choice } => choice,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn choices_are_an_index_an_action_or_null() {
        assert_eq!(choice(r#"{"event":"choice","id":7,"index":2}"#), Choice::Index(2));
        assert_eq!(choice(r#"{"event":"choice","id":7,"index":null}"#), Choice::Silent);
        assert_eq!(choice(r#"{"event":"choice","id":7,"action":null,"x":1}"#), Choice::Silent);
        let action = choice(r#"{"event":"choice","id":7,"action":{"type":"fire"}}"#);
        assert_eq!(action, Choice::Action(json!({"type": "fire"})));
    }

    #[test]
    fn unreadable_lines_are_told_apart() {
        let error = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert!(matches!(error("hello"), LineError::NotJson(_)));
        assert!(matches!(error("[]"), LineError::NoEvent));
        assert!(matches!(error(r#"{"event":1}"#), LineError::NoEvent));
        assert!(matches!(error(r#"{"event":"choice","index":0}"#), LineError::NoId));
        for wrong in ["", r#","index":-1"#, r#","index":0,"action":{}"#, r#","action":"fire""#] {
            let line = format!(r#"{{"event":"choice","id":7{wrong}}}"#);
            assert!(matches!(error(&line), LineError::NoChoice), "{line}");
        }
        assert_eq!(parse(br#"{"event":"thinks"}"#).unwrap(), Said::Unknown);
    }

    #[test]
    fn long_line_is_dropped_and_the_next_is_read() {
        let long = [vec![b'x'; LONGEST + 1], b"\nnext".to_vec()].concat();
        let (mut from, mut line) = (long.as_slice(), Vec::new());
        assert_eq!(read(&mut from, &mut line).unwrap(), Some(false));
        assert!(line.capacity() <= 2 * LONGEST);
        assert_eq!(read(&mut from, &mut line).unwrap(), Some(true));
        assert_eq!(line, b"next");
        assert_eq!(read(&mut from, &mut line).unwrap(), None);
    }

    /// The example in docs/bots.md has lines of both sides.
    #[test]
    fn documented_lines_parse() {
        let page = include_str!("../../docs/bots.md");
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("{\"event\"")).collect();
        let said = lines.iter().map(|line| parse(line.as_bytes()).unwrap());
        assert_eq!(said.filter(|said| *said != Said::Unknown).count(), 4);
        assert_eq!(lines.len(), 15);
    }

    proptest! {
        #[test]
        fn any_bytes_parse_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
