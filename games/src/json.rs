//! Strict reading of an action's JSON object, by the shapes of its game: an extra field is refused just like a missing
//! one.

use serde_json::{Map, Value};

use crate::common::joined;
use crate::interface::ActionError;

/// One type of action: its word in the field `type`, its other fields, and the action that they make.
pub(crate) type Shape<'a, A> = (&'a str, &'a [&'a str], &'a dyn Fn(Fields<'_>) -> Result<A, ActionError>);

/// Reads an action that has one of these shapes.
///
/// # Errors
/// [`ActionError`] of the first departure from its shape.
pub(crate) fn read<A>(value: &Value, shapes: &[Shape<'_, A>]) -> Result<A, ActionError> {
    let fields = Fields::new(value)?;
    let words: Vec<_> = shapes.iter().map(|shape| (shape.0, shape)).collect();
    let (_, others, make) = fields.word("type", &words)?;
    match fields.0.keys().find(|key| *key != "type" && !others.contains(&key.as_str())) {
        Some(key) => Err(ActionError::Extra(key.clone())),
        None => make(fields),
    }
}

/// The fields of an action.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Reads the value as an object.
    fn new(value: &'a Value) -> Result<Self, ActionError> {
        value.as_object().map(Self).ok_or(ActionError::NotAnObject)
    }

    /// A field of any type.
    fn value(self, field: &'static str) -> Result<&'a Value, ActionError> {
        self.0.get(field).ok_or(ActionError::Missing(field))
    }

    pub(crate) fn text(self, field: &'static str) -> Result<&'a str, ActionError> {
        let value = self.value(field)?;
        value.as_str().ok_or_else(|| wrong(field, "text", &value.to_string()))
    }

    /// A field with the name of something; `must` says in words which names there are.
    pub(crate) fn named<T>(
        self,
        field: &'static str,
        must: &str,
        by_name: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ActionError> {
        let name = self.text(field)?;
        by_name(name).ok_or_else(|| wrong(field, must, name))
    }

    /// A field with a number; `must` says in words which numbers there are.
    pub(crate) fn number<T>(
        self,
        field: &'static str,
        must: &str,
        by_number: impl Fn(u64) -> Option<T>,
    ) -> Result<T, ActionError> {
        let value = self.value(field)?;
        value.as_u64().and_then(by_number).ok_or_else(|| wrong(field, must, &value.to_string()))
    }

    /// A field that may be `null`.
    pub(crate) fn optional<T>(
        self,
        field: &'static str,
        read: impl Fn(Self) -> Result<T, ActionError>,
    ) -> Result<Option<T>, ActionError> {
        match self.value(field)? {
            Value::Null => Ok(None),
            _ => read(self).map(Some),
        }
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

fn wrong(field: &'static str, must: &str, got: &str) -> ActionError {
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
        assert_eq!(read(&value, &[("take", &[], &|_| Ok(()))]), Err(ActionError::Extra("from".to_owned())));
        assert_eq!(read(&value, &[("take", &["from"], &|_| Ok(()))]), Ok(()));
        assert_eq!(fields.optional("from", |fields| fields.number("from", "0", Some)), Ok(Some(3)));
        assert_eq!(Fields::new(&json!([])).err(), Some(ActionError::NotAnObject));
    }
}
