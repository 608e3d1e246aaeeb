//! Reading documents: `fromYaml`, `fromYamlArray`, manifests, streams of several documents.
//!
//! Owns: the entry points and their wanted types.
//! Does not own: how Helm splits a rendered file into manifests (the `helm` crate does, on text).
//! Upstream: `Unmarshal`, `UnmarshalStrict` in sigs.k8s.io/yaml; Helm's `fromYaml`.
//! The surprising thing: only the first document of a text counts; later ones are not even parsed.

use go_value::{List, ListType, Map, MapType, Value, json};

use crate::decode::build;
use crate::error::Error;
use crate::limits::{MAX_INPUT, MAX_NODES};
use crate::parse::Parser;
use crate::quick;
use crate::target::{ForManifests, ForTemplates, Target};
use crate::tree::{Tree, compose};

/// How to treat what YAML forbids and Helm mostly lets pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The last of several equal keys wins.
    #[default]
    LastWins,
    /// Equal keys are an error, as in `UnmarshalStrict`.
    Refuse,
}

/// Up to `limit` documents of the stream.
pub(crate) fn documents(text: &[u8], limit: usize) -> Result<Vec<Tree>, Error> {
    if text.len() > MAX_INPUT {
        return Err(Error::ToJson(format!("yaml: text is longer than {MAX_INPUT} bytes")));
    }
    let mut parser = Parser::new(text);
    let mut trees = Vec::new();
    while trees.len() < limit
        && let Some(tree) = compose(&mut parser).map_err(Error::ToJson)?
    {
        trees.push(tree);
    }
    Ok(trees)
}

/// Can the text not have too many nodes? The quick reader does not count them, and what is this long is rare.
fn few_nodes(text: &[u8]) -> bool {
    const SHORT: usize = MAX_NODES;
    text.len() <= SHORT
        || text.len() <= MAX_INPUT && {
            let separators = memchr::memchr3_iter(b'\n', b',', b':', text).count();
            separators + memchr::memchr2_iter(b'[', b'{', text).count() < MAX_NODES
        }
}

fn first<T: Target>(text: &[u8], duplicates: Duplicates) -> Result<T::Out, Error> {
    if few_nodes(text)
        && let Some(out) = quick::read::<T>(text, duplicates == Duplicates::Refuse)
    {
        return Ok(out);
    }
    by_grammar::<T>(text, duplicates)
}

pub(crate) fn by_grammar<T: Target>(text: &[u8], duplicates: Duplicates) -> Result<T::Out, Error> {
    match documents(text, 1)?.first_mut() {
        None => Ok(T::null()),
        Some(tree) => build::<T>(tree, duplicates == Duplicates::Refuse).map_err(Error::ToJson),
    }
}

/// The first document as a template sees it: every number is a `float64`. An empty text is nil.
///
/// # Errors
/// The text is not YAML or has no JSON form.
pub fn decode(text: &[u8]) -> Result<Value, Error> {
    first::<ForTemplates>(text, Duplicates::LastWins)
}

/// As [`decode`], with a choice about equal keys.
///
/// # Errors
/// The text is not YAML, has no JSON form, or has equal keys that are refused.
pub fn decode_with(text: &[u8], duplicates: Duplicates) -> Result<Value, Error> {
    first::<ForTemplates>(text, duplicates)
}

/// The first document as a `map[string]interface{}`, which is what Helm's `fromYaml` and values files want. An empty
/// text and `null` are the empty map.
///
/// # Errors
/// As [`decode`], or the document is not a map.
pub fn decode_map(text: &[u8]) -> Result<Map, Error> {
    match decode(text)? {
        Value::Map(map) => Ok(map),
        Value::Nil => Ok(Map::new()),
        other => Err(Error::FromJson(json::mismatch(&other, MapType::ANY.name))),
    }
}

/// The first document as a `[]interface{}`, which is what Helm's `fromYamlArray` wants. An empty text and `null` are
/// the empty list.
///
/// # Errors
/// As [`decode`], or the document is not a list.
pub fn decode_list(text: &[u8]) -> Result<List, Error> {
    match decode(text)? {
        Value::List(list) => Ok(list),
        Value::Nil => Ok(List::any(Vec::new())),
        other => Err(Error::FromJson(json::mismatch(&other, ListType::ANY.name))),
    }
}

/// The first document as JSON with integers kept, as sigs.k8s.io/yaml's `YAMLToJSON` gives it. An empty text is null.
///
/// # Errors
/// The text is not YAML, has no JSON form, or has equal keys that are refused.
pub fn decode_json(text: &[u8], duplicates: Duplicates) -> Result<serde_json::Value, Error> {
    first::<ForManifests>(text, duplicates)
}

/// As [`decode_json`] with the last of equal keys, but of a document that is a map only entries with a wanted key are
/// kept. What is wrong with the others is an error all the same.
///
/// # Errors
/// As [`decode_json`].
pub fn decode_json_entries(text: &[u8], wanted: impl Fn(&str) -> bool) -> Result<serde_json::Value, Error> {
    if few_nodes(text)
        && let Some(entries) = quick::read_entries::<ForManifests>(text, &wanted)
    {
        return Ok(serde_json::Value::Object(entries));
    }
    if quick::is_empty(text) {
        return Ok(serde_json::Value::Null);
    }
    let mut json = by_grammar::<ForManifests>(text, Duplicates::LastWins)?;
    if let Some(entries) = json.as_object_mut() {
        entries.retain(|key, _| wanted(key));
    }
    Ok(json)
}

/// All documents of a stream as JSON, in order. Empty documents are null.
///
/// # Errors
/// As [`decode_json`], for the first document that fails.
pub fn decode_json_stream(text: &[u8], duplicates: Duplicates) -> Result<Vec<serde_json::Value>, Error> {
    documents(text, usize::MAX)?
        .iter_mut()
        .map(|tree| build::<ForManifests>(tree, duplicates == Duplicates::Refuse).map_err(Error::ToJson))
        .collect()
}

/// The documents of a text as Kubernetes' `YAMLReader` cuts them: at lines that begin with `---`, without parsing.
/// Unlike the parser this works on text that is not YAML as a whole.
pub fn split(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_separator = line.strip_prefix("---").is_some_and(|rest| rest.trim_end().is_empty());
        if is_separator {
            if !text[start..at].trim().is_empty() {
                documents.push(&text[start..at]);
            }
            start = at + line.len();
        }
        at += line.len();
    }
    if !text[start..].trim().is_empty() {
        documents.push(&text[start..]);
    }
    documents
}

/// What sigs.k8s.io/yaml makes of a number or boolean where the wanted type is a string: `appVersion: 1.16` is `1.16`.
/// `None` for everything else.
pub fn scalar_as_string(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::Bool(b) => Some(b.to_string()),
        serde_json::Value::Number(n) if n.is_f64() => Some(go_value::float::format_float(n.as_f64()?, b'g', None, 32)),
        serde_json::Value::Number(n) => Some(n.to_string()),
        serde_json::Value::String(s) => Some(s.clone()),
        _ => None,
    }
}
