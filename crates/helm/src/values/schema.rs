//! `values.schema.json`.
//!
//! Owns: which chart's schema sees which values, and Helm's words for what is wrong (those of the Go library
//! `santhosh-tekuri/jsonschema` v6, whose author also wrote the one used here). Does not own: fetching remote schemas;
//! a function for that is handed in. The surprising things: whole numbers in complaints are printed with thousands
//! separators, and Helm's order of sibling complaints is random; ours is that of the schema.

mod accept;
mod tree;

use std::borrow::Cow;
use std::fmt::Write as _;

use boon::{Compiler, Draft, ErrorKind, Schemas, UrlLoader, ValidationError};
use go_value::{Map, Value};
use serde_json::Value as Json;

use self::tree::{Complaint, What};
use super::to_json;
use crate::chart::Chart;
use crate::error::Error;

const URL: &str = "file:///values.schema.json";

/// Loads a schema from an http(s) address, or says why not.
pub type RemoteSchemas = dyn Fn(&str) -> Result<Json, String> + Send + Sync;

/// Check coalesced values against the schemas of a chart and of its subcharts.
///
/// # Errors
/// All complaints, as Helm prints them.
pub fn validate(chart: &Chart, values: &Map, remote: Option<&'static RemoteSchemas>) -> Result<(), Error> {
    let complaints = complaints(chart, values, remote);
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Error::Schema(format!(
        "values don't meet the specifications of the schema(s) in the following chart(s):\n{complaints}"
    )))
}

fn complaints(chart: &Chart, values: &Map, remote: Option<&'static RemoteSchemas>) -> String {
    let mut text = String::new();
    if let Some(schema) = &chart.schema
        && let Err(e) = validate_one(schema, values, remote)
    {
        let _ = write!(text, "{}:\n{e}", chart.name());
    }
    for sub in &chart.dependencies {
        match values.get(sub.name()) {
            None | Some(Value::Nil) => {}
            Some(Value::Map(values)) => text.push_str(&self::complaints(sub, &values, remote)),
            Some(other) => {
                let _ = writeln!(
                    text,
                    "{}:\ninvalid type for values: expected object (map), got {}",
                    sub.name(),
                    other.type_name()
                );
            }
        }
    }
    text
}

struct Loader(Option<&'static RemoteSchemas>);

impl UrlLoader for Loader {
    fn load(&self, url: &str) -> Result<Json, Box<dyn std::error::Error>> {
        if url.starts_with("urn:") {
            // Helm lets what it cannot resolve pass.
            return Ok(Json::Bool(true));
        }
        match self.0 {
            Some(load) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(tree::mark(Cow::Owned(load(url)?)))
            }
            _ => Err("remote schemas are not loaded; allow them with --remote-schemas".into()),
        }
    }
}

fn validate_one(schema: &[u8], values: &Map, remote: Option<&'static RemoteSchemas>) -> Result<(), String> {
    let schema: Json = serde_json::from_slice(schema).map_err(|e| e.to_string())?;
    let values = to_json(&Value::Map(values.clone()));
    // Compiling a large schema takes longer than all the rest of a render.
    match accept::accepts(&schema, &values) {
        accept::Verdict::Yes => Ok(()),
        accept::Verdict::Unknown => compiled(schema, &values, remote),
        // The full validator would not end either.
        accept::Verdict::TooMuch => Err(format!(
            "exceeded maximum number of schemas that values are compared with ({}); it is fixed\n",
            accept::MAX_STEPS
        )),
    }
}

/// The full validator's verdict, with all its complaints.
fn compiled(schema: Json, values: &Json, remote: Option<&'static RemoteSchemas>) -> Result<(), String> {
    if let Some(pattern) = large_pattern(&schema) {
        return Err(format!("exceeded maximum size of the regular expression {}; it is fixed\n", quote(pattern)));
    }
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    compiler.use_loader(Box::new(Loader(remote)));
    compiler.add_resource(URL, tree::mark(Cow::Owned(schema))).map_err(|e| e.to_string())?;
    let index = compiler.compile(URL, &mut schemas).map_err(|e| compile_error(&e))?;
    schemas.validate(values, index).map_err(|e| {
        let text = render(&e);
        let text = text.strip_prefix(&format!("jsonschema validation failed with '{URL}#'\n")).unwrap_or(&text);
        format!("{text}\n")
    })
}

/// A pattern that takes too much memory. The validator would die of it.
fn large_pattern(schema: &Json) -> Option<&str> {
    let large = |pattern: &&str| sprig::go_regexp_is_too_large(pattern);
    match schema {
        Json::Object(entries) => {
            let own = entries.get("pattern").and_then(Json::as_str).into_iter();
            let of_names = entries.get("patternProperties").and_then(Json::as_object).into_iter();
            let of_names = of_names.flat_map(|patterns| patterns.keys().map(String::as_str));
            own.chain(of_names).find(large).or_else(|| entries.values().find_map(large_pattern))
        }
        Json::Array(items) => items.iter().find_map(large_pattern),
        _ => None,
    }
}

fn compile_error(e: &boon::CompileError) -> String {
    match e {
        boon::CompileError::ValidationError { url, src } => {
            let url = if url.contains('#') { url.clone() } else { format!("{url}#") };
            format!("{url:?} is not valid against metaschema: {}", render(src))
        }
        boon::CompileError::LoadUrlError { url, src } => format!("failing loading {url:?}: {src}"),
        other => other.to_string(),
    }
}

fn render(e: &ValidationError<'_, '_>) -> String {
    let mut out = String::new();
    display(&tree::tree(e), 0, &mut out);
    out
}

fn display(complaint: &Complaint<'_, '_, '_>, mut indent: usize, out: &mut String) {
    let is_reference = matches!(complaint.what, What::Kind(ErrorKind::Reference { .. }));
    if !(is_reference && complaint.causes.len() == 1) {
        if indent > 0 {
            let _ = write!(out, "\n{}- ", "  ".repeat(indent - 1));
        }
        indent += 1;
        let place = || quote(&tree::pointer(complaint.place));
        let _ = match complaint.what {
            What::Kind(ErrorKind::Schema { url }) => {
                let hash = if url.contains('#') { "" } else { "#" };
                write!(out, "jsonschema validation failed with {}", quote(&format!("{url}{hash}")))
            }
            What::Kind(kind) => write!(out, "at {}: {}", place(), reason(kind)),
            What::AllOf => write!(out, "at {}: {}", place(), reason(&ErrorKind::AllOf)),
            What::Group => write!(out, "at {}: {}", place(), reason(&ErrorKind::Group)),
        };
    }
    for cause in &complaint.causes {
        display(cause, indent, out);
    }
}

/// Single quotes as the Go library sets them.
fn quote(text: &str) -> String {
    let quoted = go_value::quote::quote(text.as_bytes()).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &quoted[1..quoted.len() - 1])
}

fn quoted<S: AsRef<str>>(items: &[S]) -> String {
    items.iter().map(|s| quote(s.as_ref())).collect::<Vec<_>>().join(", ")
}

/// A number with thousands separators, as `golang.org/x/text` prints English.
fn grouped(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |r| ("-", r));
    let (whole, fraction) = rest.find(['.', 'e']).map_or((rest, ""), |i| rest.split_at(i));
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    format!("{sign}{out}{fraction}")
}

fn count(n: usize) -> String {
    grouped(&n.to_string())
}

fn number(n: &serde_json::Number) -> String {
    let n = n.as_f64().unwrap_or_default();
    let text = go_value::float::format_float(n, b'g', None, 64);
    if text.contains('e') { text } else { grouped(&text) }
}

fn primitive(value: &Json) -> String {
    match value {
        Json::String(s) => quote(s),
        Json::Array(_) | Json::Object(_) => "value".into(),
        Json::Null => "<nil>".into(),
        other => other.to_string(),
    }
}

fn indexes(got: &[usize]) -> String {
    got.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn reason(kind: &ErrorKind<'_, '_>) -> String {
    match kind {
        ErrorKind::Group | ErrorKind::Reference { .. } => "validation failed".into(),
        ErrorKind::Not => "'not' failed".into(),
        ErrorKind::AllOf => "'allOf' failed".into(),
        ErrorKind::AnyOf => "'anyOf' failed".into(),
        ErrorKind::OneOf(None) => "'oneOf' failed, none matched".into(),
        ErrorKind::OneOf(Some((i, j))) => format!("'oneOf' failed, subschemas {i}, {j} matched"),
        ErrorKind::FalseSchema => "false schema".into(),
        ErrorKind::Type { got, want } => {
            let want: Vec<String> = want.iter().map(|t| t.to_string()).collect();
            format!("got {got}, want {}", want.join(" or "))
        }
        ErrorKind::Enum { want } => {
            if want.iter().any(|w| w.is_array() || w.is_object()) {
                return "'enum' failed".into();
            }
            match want.as_slice() {
                [one] => format!("value must be {}", primitive(one)),
                many => {
                    let all: Vec<String> = many.iter().map(primitive).collect();
                    format!("value must be one of {}", all.join(", "))
                }
            }
        }
        ErrorKind::Const { want } if want.is_array() || want.is_object() => "'const' failed".into(),
        ErrorKind::Const { want } => format!("value must be {}", primitive(want)),
        ErrorKind::Format { got, want, err } => format!("{} is not valid {want}: {err}", primitive(got)),
        ErrorKind::MinProperties { got, want } => format!("minProperties: got {}, want {}", count(*got), count(*want)),
        ErrorKind::MaxProperties { got, want } => format!("maxProperties: got {}, want {}", count(*got), count(*want)),
        ErrorKind::MinItems { got, want } => format!("minItems: got {}, want {}", count(*got), count(*want)),
        ErrorKind::MaxItems { got, want } => format!("maxItems: got {}, want {}", count(*got), count(*want)),
        ErrorKind::MinLength { got, want } => format!("minLength: got {}, want {}", count(*got), count(*want)),
        ErrorKind::MaxLength { got, want } => format!("maxLength: got {}, want {}", count(*got), count(*want)),
        ErrorKind::AdditionalItems { got } => format!("last {} additionalItem(s) not allowed", count(*got)),
        ErrorKind::AdditionalProperties { got } => format!("additional properties {} not allowed", quoted(got)),
        ErrorKind::Required { want } => match want.as_slice() {
            [one] => format!("missing property {}", quote(one)),
            many => format!("missing properties {}", quoted(many)),
        },
        ErrorKind::Dependency { prop, missing } | ErrorKind::DependentRequired { prop, missing } => {
            format!("properties {} required, if {} exists", quoted(missing), quote(prop))
        }
        ErrorKind::PropertyName { prop } => format!("invalid propertyName {}", quote(prop)),
        ErrorKind::UniqueItems { got: [i, j] } => format!("items at {} and {} are equal", count(*i), count(*j)),
        ErrorKind::Contains => "no items match contains schema".into(),
        ErrorKind::MinContains { got, want } if got.is_empty() => {
            format!("min {} items required to match contains schema, but none matched", count(*want))
        }
        ErrorKind::MinContains { got, want } => format!(
            "min {} items required to match contains schema, but matched {} items at {}",
            count(*want),
            count(got.len()),
            indexes(got)
        ),
        ErrorKind::MaxContains { got, want } => format!(
            "max {} items required to match contains schema, but matched {} items at {}",
            count(*want),
            count(got.len()),
            indexes(got)
        ),
        ErrorKind::Pattern { got, want } => format!("{} does not match pattern {}", quote(got), quote(want)),
        ErrorKind::ContentEncoding { want, err } => format!("value is not {} encoded: {err}", quote(want)),
        ErrorKind::ContentMediaType { want, err, .. } => format!("value is not of mediatype {}: {err}", quote(want)),
        ErrorKind::ContentSchema => "'contentSchema' failed".into(),
        ErrorKind::Minimum { got, want } => format!("minimum: got {}, want {}", number(got), number(want)),
        ErrorKind::Maximum { got, want } => format!("maximum: got {}, want {}", number(got), number(want)),
        ErrorKind::ExclusiveMinimum { got, want } => {
            format!("exclusiveMinimum: got {}, want {}", number(got), number(want))
        }
        ErrorKind::ExclusiveMaximum { got, want } => {
            format!("exclusiveMaximum: got {}, want {}", number(got), number(want))
        }
        ErrorKind::MultipleOf { got, want } => format!("multipleOf: got {}, want {}", number(got), number(want)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::load_values;

    fn check(schema: &str, values: &str) -> String {
        let values = load_values(values.as_bytes()).unwrap();
        validate_one(schema.as_bytes(), &values, None).unwrap_err()
    }

    #[test]
    fn helm_words() {
        let schema = r#"{"type":"object","required":["name"],"properties":{
            "num":{"type":"integer","maximum":65535},"s":{"minLength":2},"e":{"enum":["a","b"]},"p":{"pattern":"^x"}}}"#;
        assert_eq!(check(schema, "{}"), "- at '': missing property 'name'\n");
        assert_eq!(check(schema, "name: x\nnum: 70000"), "- at '/num': maximum: got 70,000, want 65,535\n");
        assert_eq!(check(schema, "name: x\nnum: a"), "- at '/num': got string, want integer\n");
        assert_eq!(check(schema, "name: x\ns: a"), "- at '/s': minLength: got 1, want 2\n");
        assert_eq!(check(schema, "name: x\ne: c"), "- at '/e': value must be one of 'a', 'b'\n");
        assert_eq!(check(schema, "name: x\np: it's"), "- at '/p': 'it\\'s' does not match pattern '^x'\n");
        assert_eq!(
            check(r#"{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"#, "a: 1"),
            "- at '/a': 'anyOf' failed\n  - at '/a': got number, want string\n  - at '/a': got number, want null\n"
        );
    }

    #[test]
    fn levels_of_one_member() {
        let check = |schema: &str, values: &str| check(schema, values).replace("at ", "");
        let one = r#"{"allOf":[{"properties":{"a":{"type":"string"}}},{}]}"#;
        assert_eq!(check(one, "a: 1"), "- '': 'allOf' failed\n  - '/a': got number, want string\n");
        for keyword in ["anyOf", "oneOf"] {
            let one = format!(r#"{{"properties":{{"a":{{"{keyword}":[{{"type":"string"}}]}}}}}}"#);
            let none = if keyword == "oneOf" { ", none matched" } else { "" };
            let want = format!("- '/a': '{keyword}' failed{none}\n  - '/a': got number, want string\n");
            assert_eq!(check(&one, "a: 1"), want);
        }
        // A group below the level is not dissolved.
        let group = r#"{"allOf":[{"required":["a","b"],"properties":{"c":{"allOf":[{"type":"null"}]}}}]}"#;
        assert_eq!(
            check(group, "c: 1"),
            "- '': 'allOf' failed\n  - '': validation failed\n    - '': missing properties 'a', 'b'\n    \
             - '/c': 'allOf' failed\n      - '/c': got number, want null\n"
        );
        let reference =
            r##"{"$defs":{"d":{"items":{"allOf":[{"type":"null"}]}}},"properties":{"a":{"$ref":"#/$defs/d"}}}"##;
        assert_eq!(check(reference, "a: [1]"), "- '/a/0': 'allOf' failed\n  - '/a/0': got number, want null\n");
    }
}
