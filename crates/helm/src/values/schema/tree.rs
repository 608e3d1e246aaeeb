//! The tree of complaints as Helm's library builds it.
//!
//! Owns: turning the errors of `boon` into the tree that `santhosh-tekuri/jsonschema` v6 gives. Does not own: the words.
//! The two validate alike and differ in three ways. Where one member of an `allOf`, `anyOf` or `oneOf` fails alone,
//! `boon` leaves the level `'allOf' failed` out: for `anyOf` and `oneOf` that takes a list of one member, to which
//! [`mark`] adds one that always fails and is dropped here; for `allOf` the level is put back by following the path of
//! keywords from the schema that was being checked to the one that complains. And a wrong format ends the Go library's
//! check of that value.

use std::borrow::Cow;

use boon::{ErrorKind, InstanceToken, ValidationError};
use serde_json::Value as Json;

/// One complaint and what is below it.
#[derive(Debug)]
pub(super) struct Complaint<'a, 's, 'v> {
    pub(super) place: &'a [InstanceToken<'v>],
    pub(super) what: What<'a, 's, 'v>,
    pub(super) causes: Vec<Self>,
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum What<'a, 's, 'v> {
    Kind(&'a ErrorKind<'s, 'v>),
    AllOf,
    Group,
}

type Error<'s, 'v> = ValidationError<'s, 'v>;

/// The tree of a failed validation.
pub(super) fn tree<'a, 's, 'v>(e: &'a Error<'s, 'v>) -> Complaint<'a, 's, 'v> {
    let place = tokens(e);
    let causes = match &e.kind {
        ErrorKind::Schema { url } | ErrorKind::Reference { url, .. } => list(&e.causes, url, place.len()),
        ErrorKind::PropertyName { .. } => list(&e.causes, e.schema_url, 0),
        ErrorKind::AllOf | ErrorKind::AnyOf | ErrorKind::OneOf(_) => {
            let real = e.causes.iter().filter(|c| !is_mark(c));
            real.map(|c| from(c, &member(e.schema_url, c.schema_url), place.len())).collect()
        }
        _ => without_after_format(&e.causes).into_iter().map(|c| from(c, e.schema_url, place.len())).collect(),
    };
    match &e.kind {
        ErrorKind::Group if causes.len() == 1 => one(causes, place),
        kind => Complaint { place, what: What::Kind(kind), causes },
    }
}

fn one<'a, 's, 'v>(mut causes: Vec<Complaint<'a, 's, 'v>>, place: &'a [InstanceToken<'v>]) -> Complaint<'a, 's, 'v> {
    match (causes.pop(), causes.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            causes.extend(last);
            Complaint { place, what: What::Group, causes }
        }
    }
}

fn tokens<'a, 'v>(e: &'a Error<'_, 'v>) -> &'a [InstanceToken<'v>] {
    &e.instance_location.tokens
}

/// A complaint that came out of the check of the schema at `base`, with the levels between put back.
fn from<'a, 's, 'v>(e: &'a Error<'s, 'v>, base: &str, depth: usize) -> Complaint<'a, 's, 'v> {
    let levels = Path::new(base, e.schema_url, depth).all_of(usize::MAX);
    wrap(tree(e), &levels, tokens(e))
}

fn wrap<'a, 's, 'v>(
    inner: Complaint<'a, 's, 'v>,
    levels: &[usize],
    place: &'a [InstanceToken<'v>],
) -> Complaint<'a, 's, 'v> {
    levels.iter().rev().fold(inner, |inner, &depth| Complaint {
        place: place.get(..depth).unwrap_or(place),
        what: What::AllOf,
        causes: vec![inner],
    })
}

/// The complaints below a whole schema or a reference. Both libraries dissolve a group directly below, but for `boon`
/// one below a level that it left out is directly below too.
fn list<'a, 's, 'v>(causes: &'a [Error<'s, 'v>], base: &str, depth: usize) -> Vec<Complaint<'a, 's, 'v>> {
    let kept = without_after_format(causes);
    if let (Some(first), true) = (kept.first(), kept.len() > 1) {
        let paths: Vec<Path<'_>> = kept.iter().map(|e| Path::new(base, e.schema_url, depth)).collect();
        let shared = shared_steps(&paths, &kept);
        let levels = paths[0].all_of(shared);
        if !levels.is_empty() {
            let (group, group_depth) = paths[0].end_of(base, shared, depth);
            let causes = kept.iter().map(|e| from(e, &group, group_depth)).collect();
            let place = tokens(first).get(..group_depth).unwrap_or_default();
            return vec![wrap(Complaint { place, what: What::Group, causes }, &levels, tokens(first))];
        }
    }
    kept.into_iter().map(|e| from(e, base, depth)).collect()
}

/// How many steps all paths have in common, in the schema and in the values.
fn shared_steps(paths: &[Path<'_>], errors: &[&Error<'_, '_>]) -> usize {
    let same_place = |depth: usize| {
        let first = tokens(errors[0]).get(..depth).map(pointer);
        errors.iter().all(|e| tokens(e).get(..depth).map(pointer) == first)
    };
    let alike = |i: &usize| {
        paths[0].steps.get(*i).is_some_and(|step| {
            paths.iter().all(|p| p.steps.get(*i).is_some_and(|s| s.text == step.text)) && same_place(step.depth)
        })
    };
    (0..paths[0].steps.len()).take_while(alike).count()
}

/// Go's library stops at a wrong format: nothing else of that value is reported by the same schema.
fn without_after_format<'a, 's, 'v>(causes: &'a [Error<'s, 'v>]) -> Vec<&'a Error<'s, 'v>> {
    let formats: Vec<&Error<'_, '_>> = causes.iter().filter(|e| matches!(e.kind, ErrorKind::Format { .. })).collect();
    let hidden = |e: &Error<'_, '_>| {
        formats.iter().any(|f| {
            !std::ptr::eq(*f, e)
                && relative(f.schema_url, e.schema_url).is_some()
                && pointer(tokens(e)).starts_with(&pointer(tokens(f)))
        })
    };
    causes.iter().filter(|e| !hidden(e)).collect()
}

/// A place in the values as a JSON pointer.
pub(super) fn pointer(tokens: &[InstanceToken<'_>]) -> String {
    let mut out = String::new();
    for token in tokens {
        out.push('/');
        match token {
            InstanceToken::Prop(name) => out.push_str(&name.replace('~', "~0").replace('/', "~1")),
            InstanceToken::Item(i) => out.push_str(&i.to_string()),
        }
    }
    out
}

/// The path from one schema to another inside it, if it is inside.
fn relative<'u>(base: &str, url: &'u str) -> Option<&'u str> {
    let rest = url.strip_prefix(base.trim_end_matches('#'))?;
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// The member of a list of schemas in which a complaint arose.
fn member(list: &str, url: &str) -> String {
    let rest = relative(list, url).unwrap_or_default();
    let end = rest.match_indices('/').nth(2).map_or(rest.len(), |(i, _)| i);
    let base = list.trim_end_matches('#');
    format!("{base}{}{}", if base.contains('#') { "" } else { "#" }, &rest[..end])
}

/// One keyword on the way to a subschema.
struct Step<'u> {
    text: &'u str,
    all_of: bool,
    /// How deep in the values one is after it.
    depth: usize,
}

/// The keywords between two schemas.
struct Path<'u> {
    start: usize,
    steps: Vec<Step<'u>>,
}

impl<'u> Path<'u> {
    fn new(base: &str, url: &'u str, start: usize) -> Self {
        let mut steps = Vec::new();
        let (mut rest, mut depth) = (relative(base, url).unwrap_or_default(), start);
        while let Some((keyword, after)) = token(rest) {
            let (with_name, deeper) = match keyword {
                "allOf" | "anyOf" | "oneOf" | "dependencies" | "dependentSchemas" => (true, 0),
                "properties" | "patternProperties" | "prefixItems" => (true, 1),
                "items" => (token(after).is_some_and(|(t, _)| t.bytes().all(|b| b.is_ascii_digit())), 1),
                "additionalProperties"
                | "unevaluatedProperties"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains" => (false, 1),
                "then" | "else" | "if" | "not" => (false, 0),
                _ => break,
            };
            let after = if with_name { token(after).map_or(after, |(_, after)| after) } else { after };
            depth += deeper;
            steps.push(Step { text: &rest[..rest.len() - after.len()], all_of: keyword == "allOf", depth });
            rest = after;
        }
        Self { start, steps }
    }

    /// The depths in the values of the `allOf` levels among the first steps.
    fn all_of(&self, steps: usize) -> Vec<usize> {
        self.steps.iter().take(steps).filter(|s| s.all_of).map(|s| s.depth).collect()
    }

    /// The schema after the first steps, and how deep in the values it is.
    fn end_of(&self, base: &str, steps: usize, depth: usize) -> (String, usize) {
        let base = base.trim_end_matches('#');
        let taken = &self.steps[..steps];
        let path: String = taken.iter().map(|s| s.text).collect();
        let hash = if base.contains('#') || path.is_empty() { "" } else { "#" };
        (format!("{base}{hash}{path}"), taken.last().map_or(depth.max(self.start), |s| s.depth))
    }
}

/// The first token of a pointer, and the rest.
fn token(pointer: &str) -> Option<(&str, &str)> {
    let rest = pointer.strip_prefix('/')?;
    let end = rest.find('/').unwrap_or(rest.len());
    Some((&rest[..end], &rest[end..]))
}

/// The member that [`mark`] adds: in a list of two, the second, which no value satisfies.
fn is_mark(e: &Error<'_, '_>) -> bool {
    matches!(e.kind, ErrorKind::FalseSchema) && (e.schema_url.ends_with("Of/1"))
}

/// Give every `anyOf` and `oneOf` of one member another one that always fails.
pub(super) fn mark(schema: Cow<'_, Json>) -> Json {
    let mut schema = schema.into_owned();
    mark_schema(&mut schema);
    schema
}

fn mark_schema(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(mark_schema),
        Json::Object(keywords) => {
            for (keyword, value) in keywords.iter_mut() {
                match (keyword.as_str(), value) {
                    ("enum" | "const" | "default" | "examples", _) => {}
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                        | "dependencies",
                        Json::Object(named),
                    ) => named.iter_mut().for_each(|(_, schema)| mark_schema(schema)),
                    ("anyOf" | "oneOf", Json::Array(members)) => {
                        members.iter_mut().for_each(mark_schema);
                        if members.len() == 1 {
                            members.push(Json::Bool(false));
                        }
                    }
                    (_, value) => mark_schema(value),
                }
            }
        }
        _ => {}
    }
}
