//! A validator for the part of JSON Schema that `docs/events.schema.json` uses; anything else in a schema is an error.

use serde_json::{Map, Value};

/// Validates a value against a whole schema.
pub(crate) fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, value)
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(keywords) => keywords,
            other => return Err(format!("{other} is no schema")),
        };
        for (keyword, wanted) in keywords {
            self.keyword(keyword, wanted, keywords, value).map_err(|why| format!("{why} ({keyword})"))?;
        }
        Ok(())
    }

    fn keyword(&self, keyword: &str, wanted: &Value, all: &Map<String, Value>, value: &Value) -> Result<(), String> {
        let holds = match keyword {
            "$schema" | "$defs" | "title" | "description" | "format" => true,
            "$ref" => {
                let path = wanted.as_str().and_then(|path| path.strip_prefix('#'));
                let target = path.and_then(|path| self.root.pointer(path));
                return self.check(target.ok_or(format!("{wanted} leads nowhere"))?, value);
            }
            "const" => value == wanted,
            "enum" => list(wanted)?.contains(value),
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|name| is_of(name, value)),
                name => is_of(name, value),
            },
            // Bounds say nothing about values that are not numbers.
            "minimum" => value.as_i64().is_none_or(|value| Some(value) >= wanted.as_i64()),
            "maximum" => value.as_i64().is_none_or(|value| Some(value) <= wanted.as_i64()),
            "pattern" if wanted == "^[0-9a-f]{64}$" => {
                let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                value.as_str().is_some_and(|text| text.len() == 64 && text.chars().all(digit))
            }
            "required" => {
                let fields = list(wanted)?.iter().filter_map(Value::as_str);
                let missing = fields.filter(|field| value.get(field).is_none());
                match missing.collect::<Vec<_>>() {
                    missing if missing.is_empty() => true,
                    missing => return Err(format!("no field {missing:?}")),
                }
            }
            "properties" => {
                let fields = wanted.as_object().ok_or("'properties' is no object")?;
                for (name, schema) in fields {
                    if let Some(field) = value.get(name) {
                        self.check(schema, field).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = all.get("properties").and_then(Value::as_object);
                for (name, field) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        self.check(wanted, field)?;
                    }
                }
                true
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    self.check(wanted, item)?;
                }
                true
            }
            "anyOf" | "oneOf" => {
                let results = list(wanted)?.iter().map(|schema| self.check(schema, value));
                match results.filter(Result::is_ok).count() {
                    0 => return Err("none of the alternatives fits".to_owned()),
                    fitting => keyword == "anyOf" || fitting == 1,
                }
            }
            other => return Err(format!("this validator does not know '{other}'")),
        };
        if holds { Ok(()) } else { Err(format!("{value} against {wanted}")) }
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or(format!("{value} is no list"))
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        _ => false,
    }
}
