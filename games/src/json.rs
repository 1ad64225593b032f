//! Strict reading of an action's JSON object: an extra field is refused just like a missing one.

use serde_json::{Map, Value};

use crate::common::joined;
use crate::interface::ActionError;

/// The fields of an action.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Reads the value as an object.
    pub(crate) fn new(value: &'a Value) -> Result<Self, ActionError> {
        value.as_object().map(Self).ok_or(ActionError::NotAnObject)
    }

    /// Checks that there are no other fields.
    pub(crate) fn only(self, fields: &[&str]) -> Result<(), ActionError> {
        match self.0.keys().find(|key| !fields.contains(&key.as_str())) {
            Some(key) => Err(ActionError::Extra(key.clone())),
            None => Ok(()),
        }
    }

    /// A field of any type.
    pub(crate) fn value(self, field: &'static str) -> Result<&'a Value, ActionError> {
        self.0.get(field).ok_or(ActionError::Missing(field))
    }

    pub(crate) fn text(self, field: &'static str) -> Result<&'a str, ActionError> {
        let value = self.value(field)?;
        value.as_str().ok_or_else(|| wrong(field, "text", &value.to_string()))
    }

    /// A boolean field.
    pub(crate) fn flag(self, field: &'static str) -> Result<bool, ActionError> {
        let value = self.value(field)?;
        value.as_bool().ok_or_else(|| wrong(field, "true or false", &value.to_string()))
    }

    /// A field with a fixed set of words. Returns the value paired with the word.
    pub(crate) fn word<T: Copy>(self, field: &'static str, words: &[(&str, T)]) -> Result<T, ActionError> {
        let given = self.text(field)?;
        words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning).ok_or_else(|| {
            let must: Vec<_> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
            wrong(field, &joined(&must, "or"), &format!("'{given}'"))
        })
    }
}

/// The error for a field with a wrong value.
pub(crate) fn wrong(field: &'static str, must: &str, got: &str) -> ActionError {
    ActionError::Field { field, must: must.to_owned(), got: got.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_departure_from_the_shape_is_named() {
        let value = json!({"type": "take", "from": 3});
        let fields = Fields::new(&value).unwrap();
        assert_eq!(fields.text("type"), Ok("take"));
        assert_eq!(fields.text("card"), Err(ActionError::Missing("card")));
        assert_eq!(fields.text("from").unwrap_err().to_string(), "'from' must be text, not 3");
        assert_eq!(
            fields.word("type", &[("fire", 1), ("discard", 2)]).unwrap_err().to_string(),
            "'type' must be 'fire' or 'discard', not 'take'"
        );
        assert_eq!(fields.only(&["type"]), Err(ActionError::Extra("from".to_owned())));
        assert_eq!(Fields::new(&json!([])).err(), Some(ActionError::NotAnObject));
    }
}
