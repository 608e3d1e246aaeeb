//! Saying yes to values that a plain schema allows, without compiling the schema.
//!
//! Owns: the keywords that most charts' schemas are made of. Does not own: complaints, and schemas that use anything else
//! or are not well formed: there nothing is said, and the full validator is asked. The surprising thing: a no is never
//! final either, so that only its words are Helm's.

use std::cell::Cell;

use serde_json::{Map, Value as Json};

/// Schemas in schemas, and references to references; more are left to the full validator.
const MAX_DEPTH: usize = 64;
/// Questions of whether a schema allows a value; a short schema can ask without end.
pub(super) const MAX_STEPS: u32 = 3_000_000;

/// What is known of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They are allowed for sure.
    Yes,
    /// Ask the full validator.
    Unknown,
    /// That asks too many questions.
    TooMuch,
}

/// Are the values allowed for sure?
pub(super) fn accepts(schema: &Json, values: &Json) -> Verdict {
    let Some(is_draft_7) = draft_7(schema.get("$schema")) else { return Verdict::Unknown };
    let plain = Plain { root: schema, is_draft_7, left: Cell::new(MAX_STEPS) };
    if !plain.is_plain(schema, true, 0) {
        return Verdict::Unknown;
    }
    match plain.allows(schema, values, 0) {
        Some(true) => Verdict::Yes,
        _ if plain.left.get() == 0 => Verdict::TooMuch,
        _ => Verdict::Unknown,
    }
}

struct Plain<'s> {
    root: &'s Json,
    /// There a reference stands alone, and formats are checked.
    is_draft_7: bool,
    /// Steps that are left.
    left: Cell<u32>,
}

/// Keywords that say nothing about values, by what they must be.
fn is_remark(key: &str, value: &Json) -> Option<bool> {
    Some(match key {
        "title" | "description" | "$comment" => value.is_string(),
        "default" => true,
        "examples" => value.is_array(),
        "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        _ => return None,
    })
}

/// Keywords that have a meaning which is not known here.
fn is_other(key: &str) -> bool {
    key.starts_with('$')
        || matches!(
            key,
            "id" | "additionalItems"
                | "prefixItems"
                | "contains"
                | "minContains"
                | "maxContains"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "dependencies"
                | "dependentRequired"
                | "dependentSchemas"
                | "contentEncoding"
                | "contentMediaType"
                | "contentSchema"
        )
}

/// Keywords that the validator ignores beside a reference of draft 7: those of draft 4. It reads later ones all the same.
fn is_ignored(key: &str) -> bool {
    matches!(
        key,
        "$ref"
            | "$schema"
            | "$comment"
            | "$defs"
            | "definitions"
            | "title"
            | "description"
            | "default"
            | "examples"
            | "readOnly"
            | "type"
            | "enum"
            | "properties"
            | "additionalProperties"
            | "required"
            | "items"
    )
}

/// Is the root's `$schema` draft 7, or one of the newer ones, in which the keywords here mean the same? Without one it is
/// the newest. Nothing where it is another.
fn draft_7(schema: Option<&Json>) -> Option<bool> {
    let Some(schema) = schema else { return Some(false) };
    let url = schema.as_str()?;
    let url = url.strip_suffix('#').unwrap_or(url);
    match url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))? {
        "json-schema.org/schema" | "json-schema.org/draft/2020-12/schema" | "json-schema.org/draft/2019-09/schema" => {
            Some(false)
        }
        "json-schema.org/draft-07/schema" => Some(true),
        _ => None,
    }
}

/// An address with nothing in it that needs a second look.
fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_');
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && rest.bytes().all(fits))
}

fn is_type(name: &Json) -> bool {
    let known = ["null", "boolean", "object", "array", "number", "string", "integer"];
    name.as_str().is_some_and(|name| known.contains(&name))
}

fn are_unique(items: &[Json]) -> bool {
    items.iter().enumerate().all(|(i, item)| !items[..i].iter().any(|other| are_equal(other, item)))
}

impl<'s> Plain<'s> {
    /// Is the schema well formed, and does it use nothing that is not known here?
    fn is_plain(&self, schema: &Json, is_root: bool, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let fields = match schema {
            Json::Bool(_) => return true,
            Json::Object(fields) => fields,
            _ => return false,
        };
        let inner = |schema: &Json| self.is_plain(schema, false, depth + 1);
        let each = |schemas: &Json| schemas.as_object().is_some_and(|all| all.values().all(inner));
        let some = |schemas: &Json| schemas.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(inner));
        fields.iter().all(|(key, value)| match key.as_str() {
            // In an inner one it would begin a schema of its own, if that had a name; the same draft changes nothing.
            "$schema" => is_root || Some(value) == self.root.get("$schema"),
            // The root's name: references within the schema lead to the same places with it.
            "$id" => is_root && value.as_str().is_some_and(is_address),
            "$ref" => self.target(value).is_some() && (!self.is_draft_7 || fields.keys().all(|key| is_ignored(key))),
            "type" => {
                is_type(value)
                    || value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_type) && are_unique(all))
            }
            "enum" => value.as_array().is_some_and(|all| are_unique(all)),
            "const" => true,
            "properties" | "definitions" | "$defs" => each(value),
            "patternProperties" => {
                each(value) && value.as_object().is_some_and(|all| all.keys().all(|p| matches(p, "").is_some()))
            }
            "pattern" => value.as_str().is_some_and(|p| matches(p, "").is_some()),
            "format" => value.is_string(),
            "multipleOf" => value.as_u64().is_some_and(|n| n > 0),
            "items" | "additionalProperties" | "propertyNames" | "not" | "if" | "then" | "else" => inner(value),
            "allOf" | "anyOf" | "oneOf" => some(value),
            "required" => value.as_array().is_some_and(|all| all.iter().all(Json::is_string) && are_unique(all)),
            "minProperties" | "maxProperties" | "minItems" | "maxItems" | "minLength" | "maxLength" => value.is_u64(),
            "uniqueItems" => value.is_boolean(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            key => is_remark(key, value).unwrap_or_else(|| !is_other(key)),
        })
    }

    /// What a reference within the schema leads to, if that is a place where schemas are.
    fn target(&self, reference: &Json) -> Option<&'s Json> {
        let path = reference.as_str()?.strip_prefix('#')?;
        let mut target = self.root;
        let mut steps = path.split('/').skip(1);
        if path.contains(['~', '%']) || !path.is_empty() && !path.starts_with('/') {
            return None;
        }
        while let Some(place) = steps.next() {
            if !matches!(place, "definitions" | "$defs" | "properties") {
                return None;
            }
            target = target.get(place)?.get(steps.next()?)?;
        }
        Some(target)
    }

    /// Does the schema allow the value? Nothing where that is not for here to say.
    fn allows(&self, schema: &Json, value: &Json, depth: usize) -> Option<bool> {
        self.left.set(self.left.get().checked_sub(1)?);
        if depth > MAX_DEPTH {
            return None;
        }
        let fields = match schema {
            Json::Bool(allowed) => return Some(*allowed),
            Json::Object(fields) => fields,
            _ => return None,
        };
        if self.is_draft_7
            && let Some(target) = fields.get("$ref")
        {
            return self.allows(self.target(target)?, value, depth + 1);
        }
        for (key, said) in fields {
            if !self.keyword(fields, key, said, value, depth + 1)? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn keyword(&self, fields: &Map<String, Json>, key: &str, said: &Json, value: &Json, depth: usize) -> Option<bool> {
        let all = || said.as_array().map(Vec::as_slice).unwrap_or_default();
        let limit = |of: usize, fits: fn(u64, u64) -> bool| said.as_u64().is_some_and(|limit| fits(of as u64, limit));
        let bound = |fits: fn(f64, f64) -> bool| {
            let (number, bound) = (value.as_f64(), said.as_f64());
            number.is_none() || number.zip(bound).is_some_and(|(number, bound)| fits(number, bound))
        };
        Some(match (key, value) {
            ("$ref", _) => self.allows(self.target(said)?, value, depth)?,
            ("type", _) => has_type(said, value) || all().iter().any(|name| has_type(name, value)),
            ("enum", _) => all().iter().any(|allowed| are_equal(allowed, value)),
            ("const", _) => are_equal(said, value),
            ("allOf", _) => self.count(all(), value, depth)? == all().len(),
            ("anyOf", _) => self.count(all(), value, depth)? > 0,
            ("oneOf", _) => self.count(all(), value, depth)? == 1,
            ("not", _) => !self.allows(said, value, depth)?,
            ("if", _) => {
                let branch = if self.allows(said, value, depth)? { "then" } else { "else" };
                fields.get(branch).map_or(Some(true), |branch| self.allows(branch, value, depth))?
            }
            ("properties", Json::Object(entries)) => {
                for (name, schema) in said.as_object()? {
                    if let Some(entry) = entries.get(name)
                        && !self.allows(schema, entry, depth)?
                    {
                        return Some(false);
                    }
                }
                true
            }
            ("additionalProperties", Json::Object(entries)) => {
                let named = fields.get("properties").and_then(Json::as_object);
                let patterns = fields.get("patternProperties").and_then(Json::as_object);
                for (name, entry) in entries {
                    let mut is_known = named.is_some_and(|named| named.contains_key(name));
                    for pattern in patterns.into_iter().flat_map(Map::keys) {
                        is_known = is_known || matches(pattern, name)?;
                    }
                    if !is_known && !self.allows(said, entry, depth)? {
                        return Some(false);
                    }
                }
                true
            }
            ("patternProperties", Json::Object(entries)) => {
                for (pattern, schema) in said.as_object()? {
                    for (name, entry) in entries {
                        if matches(pattern, name)? && !self.allows(schema, entry, depth)? {
                            return Some(false);
                        }
                    }
                }
                true
            }
            ("propertyNames", Json::Object(entries)) => {
                for name in entries.keys() {
                    if !self.allows(said, &Json::String(name.clone()), depth)? {
                        return Some(false);
                    }
                }
                true
            }
            ("pattern", Json::String(text)) => matches(said.as_str()?, text)?,
            // The newer drafts take it for a remark.
            ("format", Json::String(_)) if self.is_draft_7 => return None,
            ("multipleOf", Json::Number(number)) => number.as_i64()?.unsigned_abs() % said.as_u64()? == 0,
            ("required", Json::Object(entries)) => {
                all().iter().filter_map(Json::as_str).all(|n| entries.contains_key(n))
            }
            ("minProperties", Json::Object(entries)) => limit(entries.len(), |n, min| n >= min),
            ("maxProperties", Json::Object(entries)) => limit(entries.len(), |n, max| n <= max),
            ("items", Json::Array(items)) => self.each(said, items, depth)?,
            ("minItems", Json::Array(items)) => limit(items.len(), |n, min| n >= min),
            ("maxItems", Json::Array(items)) => limit(items.len(), |n, max| n <= max),
            ("uniqueItems", Json::Array(items)) if said == true && items.len() > 1 => return None,
            ("minLength", Json::String(text)) => limit(text.chars().count(), |n, min| n >= min),
            ("maxLength", Json::String(text)) => limit(text.chars().count(), |n, max| n <= max),
            ("minimum", _) => bound(|n, min| n >= min),
            ("maximum", _) => bound(|n, max| n <= max),
            ("exclusiveMinimum", _) => bound(|n, min| n > min),
            ("exclusiveMaximum", _) => bound(|n, max| n < max),
            _ => true,
        })
    }

    /// How many of the schemas allow the value.
    fn count(&self, schemas: &[Json], value: &Json, depth: usize) -> Option<usize> {
        let mut count = 0;
        for schema in schemas {
            count += usize::from(self.allows(schema, value, depth)?);
        }
        Some(count)
    }

    fn each(&self, schema: &Json, items: &[Json], depth: usize) -> Option<bool> {
        for item in items {
            if !self.allows(schema, item, depth)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// As Helm matches: by Go's rules.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    sprig::go_regexp_matches(pattern, text)
}

fn has_type(name: &Json, value: &Json) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        _ => false,
    }
}

/// Equal as JSON Schema has it: 1 and 1.0 are the same.
fn are_equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| are_equal(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiled;
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_schemas_are_answered() {
        let schema = json!({"$schema": "http://json-schema.org/schema#", "title": "x", "type": "object", "form": true,
            "properties": {"a": {"type": ["string", "null"], "minLength": 1}, "b": {"$ref": "#/$defs/b"}},
            "$id": "https://a.example/values.json", "additionalProperties": false, "$defs": {"b": {"type": "integer", "minimum": 1}}});
        for (values, want) in [
            (json!({}), true),
            (json!({"a": "x", "b": 1.0}), true),
            (json!({"a": null}), true),
            (json!({"a": ""}), false),
            (json!({"b": 0}), false),
            (json!({"c": 1}), false),
        ] {
            assert_eq!(accepts(&schema, &values) == Verdict::Yes, want, "{values}");
            assert_eq!(compiled(schema.clone(), &values, None).is_ok(), want, "{values}");
        }
    }

    #[test]
    fn what_is_odd_is_not() {
        for schema in [
            json!({"type": "text"}),
            json!({"required": "a"}),
            json!({"properties": {"a": {"pattern": "^(x"}}}),
            json!({"patternProperties": {"(?=x)": {}}}),
            json!({"multipleOf": 0.1}),
            json!({"$ref": "#/$defs"}),
            json!({"properties": {"a": {"form": {"b": true}}}, "$ref": "#/properties/a/form/b"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$id": "x"}),
            json!({"$id": "http://a.example/b#c"}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
            json!({"$ref": "#"}),
            json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
            json!({"allOf": []}),
        ] {
            assert!(accepts(&schema, &json!({})) != Verdict::Yes, "{schema}");
        }
    }

    /// Random values and schemas.
    struct Grower(splitmix::Random);

    impl Grower {
        fn below(&mut self, n: usize) -> usize {
            self.0.below(n)
        }

        fn value(&mut self, depth: u32) -> Json {
            match self.below(if depth > 2 { 6 } else { 9 }) {
                0 => Json::Null,
                1 => json!(self.below(2) == 0),
                2 => json!(self.below(4)),
                3 => json!(1.0),
                4 => json!(1.5),
                5 => json!(["", "a", "bc"][self.below(3)]),
                6 => Json::Array((0..self.below(3)).map(|_| self.value(depth + 1)).collect()),
                _ => (0..self.below(4)).map(|_| (self.name(), self.value(depth + 1))).collect(),
            }
        }

        fn name(&mut self) -> String {
            ["a", "b", "c"][self.below(3)].into()
        }

        fn schema(&mut self, depth: u32) -> Json {
            if depth > 3 || self.below(12) == 0 {
                return json!(self.below(4) > 0);
            }
            let mut fields = Map::new();
            for _ in 0..=self.below(3) {
                let types = ["null", "boolean", "object", "array", "number", "string", "integer", "odd"];
                let some = |random: &mut Self| (0..=random.below(2)).map(|_| random.schema(depth + 1)).collect();
                let (key, value): (&str, Json) = match self.below(28) {
                    0..=2 => ("type", json!(types[self.below(8)])),
                    3 => ("type", json!([types[self.below(7)], "object"])),
                    4..=6 => {
                        ("properties", (0..=self.below(2)).map(|_| (self.name(), self.schema(depth + 1))).collect())
                    }
                    7 => ("additionalProperties", self.schema(depth + 1)),
                    8 => ("required", json!([self.name()])),
                    9 => ("enum", Json::Array((0..3).map(|_| self.value(2)).collect())),
                    10 => ("const", self.value(1)),
                    11 => ("items", self.schema(depth + 1)),
                    12 => ("allOf", Json::Array(some(self))),
                    13 => ("anyOf", Json::Array(some(self))),
                    14 => ("oneOf", Json::Array(some(self))),
                    15 => ("not", self.schema(depth + 1)),
                    16 => {
                        fields.insert("then".into(), self.schema(depth + 1));
                        ("if", self.schema(depth + 1))
                    }
                    17 => (["minLength", "maxItems", "minProperties"][self.below(3)], json!(self.below(3))),
                    18 => (["minimum", "exclusiveMaximum"][self.below(2)], json!(self.below(3))),
                    19 => {
                        ("$ref", json!(["#/$defs/a", "#", "#/properties/a", "#/$defs/a/properties/b"][self.below(4)]))
                    }
                    20 => ("uniqueItems", json!(true)),
                    21 => ("pattern", json!(["^a", "b|c$", "[a-c]{2}", r"\d"][self.below(4)])),
                    22 => {
                        let pattern = ["^a", "b|c$", "."][self.below(3)];
                        ("patternProperties", json!({pattern: self.schema(depth + 1)}))
                    }
                    23 => ("propertyNames", self.schema(depth + 1)),
                    24 => ("multipleOf", json!(1 + self.below(3))),
                    25 => ("format", json!(["ipv4", "uri"][self.below(2)])),
                    _ => ("title", json!("x")),
                };
                fields.insert(key.into(), value);
            }
            if depth == 0 {
                fields.insert("$defs".into(), json!({"a": self.schema(2)}));
                if self.below(2) == 0 {
                    fields.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
                }
            }
            Json::Object(fields)
        }
    }

    #[test]
    fn a_yes_is_the_full_validators_too() {
        let mut random = Grower(splitmix::Random(1));
        let mut accepted = 0;
        for _ in 0..4_000 {
            let schema = random.schema(0);
            for _ in 0..3 {
                let values = random.value(0);
                if accepts(&schema, &values) == Verdict::Yes {
                    accepted += 1;
                    let full = compiled(schema.clone(), &values, None);
                    assert_eq!(full, Ok(()), "{values} by {schema}");
                }
            }
        }
        assert!(accepted > 500, "only {accepted} were accepted");
    }
}
