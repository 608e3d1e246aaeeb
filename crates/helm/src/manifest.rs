//! Manifests: rendered text into documents, documents into objects.
//!
//! Owns: splitting at separators, the head of a document, hooks, Helm's order, and the only crossing from text to
//! [`Object`]s. Follows `pkg/release/v1/util`. The surprising things: one unknown word in `helm.sh/hook` drops the
//! object from hooks and manifests alike; a document of comments stays, without a kind, and is sorted last.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::Range;

use go_yaml::Duplicates;
use kube_object::Object;
use kube_object::order::KindOrder;
use memchr::memmem;

use crate::chart::decode::Fields;
use crate::error::Error;
use crate::profile::HelmProfile;
use crate::release::{Hook, HookEvent};

const HOOK: &str = "helm.sh/hook";
const HOOK_WEIGHT: &str = "helm.sh/hook-weight";
const HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
const HOOK_OUTPUT_LOG_POLICY: &str = "helm.sh/hook-output-log-policy";

/// One document of a template that is not a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The template's path.
    pub name: String,
    /// The document.
    pub content: String,
    /// Its kind; empty when it has none.
    pub kind: String,
    /// Its apiVersion; empty when it has none.
    pub api_version: String,
}

/// Rendered files by path.
pub type Files = BTreeMap<String, String>;

/// What Helm reads of a document to sort it.
#[derive(Debug, Default)]
struct Head {
    api_version: String,
    kind: String,
    name: String,
    annotations: BTreeMap<String, String>,
}

fn head(document: &str) -> Result<Head, String> {
    // Go finds a field whatever the case of its letters.
    let wanted = |key: &str| {
        !key.is_ascii() || ["apiVersion", "kind", "metadata"].iter().any(|field| field.eq_ignore_ascii_case(key))
    };
    let json = go_yaml::decode_json_entries(document.as_bytes(), wanted).map_err(|e| e.to_string())?;
    let Some(f) = Fields::root(&json, "SimpleHead", "util.SimpleHead")? else { return Ok(Head::default()) };
    let mut head = Head { api_version: f.string("apiVersion")?, kind: f.string("kind")?, ..Head::default() };
    if let Some(metadata) = f.strukt(
        "metadata",
        "",
        "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }",
    )? {
        head.name = metadata.string("name")?;
        head.annotations = metadata.string_map("annotations")?;
    }
    Ok(head)
}

/// The documents of a text, as the profile's Helm splits it. Blank ones are dropped.
pub fn split(text: &str, profile: HelmProfile) -> Vec<&str> {
    if profile.keeps_document_tails() { split_at_lines(text) } else { split_with_space(text) }
}

/// At each `---` that begins a line, with the blanks behind it; what follows keeps its end.
fn split_at_lines(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let mut documents = Vec::new();
    let mut start = 0;
    let next = |from: usize| memmem::find(&text.as_bytes()[from..], b"\n---").map(|i| from + i + 1);
    let mut separator = if text.starts_with("---") { Some(0) } else { next(0) };
    while let Some(at) = separator {
        documents.push(&text[start..at]);
        start = text.len() - text[at + 3..].trim_start_matches([' ', '\t']).len();
        separator = next(start);
    }
    documents.push(&text[start..]);
    documents.into_iter().filter(|d| !d.trim().is_empty()).map(str::trim_start).collect()
}

/// At each `---` that begins a line, together with all white space around it.
fn split_with_space(text: &str) -> Vec<&str> {
    let text = text.trim();
    let mut documents = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(i) = text[at..].find("---") {
        let found = at + i;
        let before = &text[start..found];
        let begins_line = found == 0 || before.ends_with('\n') || (found == start && start == 0);
        if begins_line {
            documents.push(before.trim_end());
            let behind = &text[found + 3..];
            start = text.len() - behind.trim_start().len();
            at = start;
        } else {
            at = found + 3;
            // A run of dashes holds no separator in its middle.
            at += text[at..].len() - text[at..].trim_start_matches('-').len();
        }
    }
    documents.push(&text[start..]);
    documents.into_iter().map(str::trim).filter(|d| !d.is_empty()).collect()
}

/// The hooks in one rendered file, in the order of the text.
///
/// # Errors
/// `YAML parse error on <path>: …`
pub fn hooks(path: &str, text: &str, profile: HelmProfile) -> Result<Vec<Hook>, Error> {
    let mut sorted = Sorted::default();
    for (place, head) in heads(path, text, profile)? {
        sorted.put(path, text[place].to_owned(), head);
    }
    Ok(sorted.hooks)
}

/// Where the documents of a file are, and their heads. Partials and blank files have none.
fn heads(path: &str, text: &str, profile: HelmProfile) -> Result<Vec<(Range<usize>, Head)>, Error> {
    if path.rsplit('/').next().unwrap_or(path).starts_with('_') || text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read = |document: &str| {
        let head = head(document).map_err(|e| Error::Manifest(format!("YAML parse error on {path}: {e}")))?;
        // A document is a part of the text.
        let start = document.as_ptr() as usize - text.as_ptr() as usize;
        Ok((start..start + document.len(), head))
    };
    split(text, profile).into_iter().map(read).collect()
}

/// The complaint about a file that is not UTF-8: that of the YAML reader about the first document where it is not.
pub(crate) fn no_text(path: &str, text: &[u8], profile: HelmProfile) -> Error {
    let valid = text.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    let start = valid.rfind("\n---").map_or(0, |i| i + 1);
    if let Err(e) = heads(path, &valid[..start], profile) {
        return e;
    }
    let document = &text[start..];
    let end = memchr::memmem::find(document, b"\n---").unwrap_or(document.len());
    let fault = match go_yaml::decode_json_entries(&document[..end], |_| true) {
        Err(e) => e.to_string(),
        Ok(_) => "error converting YAML to JSON: yaml: invalid leading UTF-8 octet".to_owned(),
    };
    Error::Manifest(format!("YAML parse error on {path}: {fault}"))
}

/// Documents by what they are.
#[derive(Default)]
struct Sorted {
    hooks: Vec<Hook>,
    manifests: Vec<Manifest>,
}

impl Sorted {
    fn put(&mut self, path: &str, document: String, head: Head) {
        let Some(events) = head.annotations.get(HOOK) else {
            self.manifests.push(Manifest {
                name: path.to_owned(),
                content: document,
                kind: head.kind,
                api_version: head.api_version,
            });
            return;
        };
        let words = |key: &str| {
            let words = head.annotations.get(key).map(|w| w.split(',').map(|w| w.trim().to_lowercase()).collect());
            words.unwrap_or_default()
        };
        let events: Option<Vec<HookEvent>> =
            events.split(',').map(|e| HookEvent::parse(&e.trim().to_lowercase())).collect();
        let Some(events) = events else { return };
        let weight = head.annotations.get(HOOK_WEIGHT);
        self.hooks.push(Hook {
            path: path.to_owned(),
            manifest: document,
            events,
            weight: weight.and_then(|w| go_value::float::parse_int(w.as_bytes(), 10, 64).ok()).unwrap_or(0),
            delete_policies: words(HOOK_DELETE_POLICY),
            output_log_policies: words(HOOK_OUTPUT_LOG_POLICY),
            name: head.name,
            kind: head.kind,
            ..Hook::default()
        });
    }
}

/// Hooks and manifests of rendered files, in the order Helm stores and installs them.
///
/// # Errors
/// `YAML parse error on <path>: …`, and the files as they were.
pub fn sort(files: Files, profile: HelmProfile) -> Result<(Vec<Hook>, Vec<Manifest>), (Error, Files)> {
    let heads: Result<Vec<_>, _> = files.iter().map(|(path, text)| heads(path, text, profile)).collect();
    let heads = match heads {
        Ok(heads) => heads,
        Err(e) => return Err((e, files)),
    };
    let mut sorted = Sorted::default();
    for ((path, mut text), mut heads) in files.into_iter().zip(heads) {
        // Most files are one document: its text is not written a second time.
        let whole = if heads.len() == 1 { heads.pop() } else { None };
        for (place, head) in heads {
            sorted.put(&path, text[place].to_owned(), head);
        }
        if let Some((place, head)) = whole {
            text.truncate(place.end);
            text.drain(..place.start);
            sorted.put(&path, text, head);
        }
    }
    KindOrder::Install.sort_by_kind(&mut sorted.hooks, |h| &h.kind);
    KindOrder::Install.sort_by_kind(&mut sorted.manifests, |m| &m.kind);
    Ok((sorted.hooks, sorted.manifests))
}

/// The manifest of a release: every document under the path of its template.
pub fn join(manifests: &[Manifest]) -> String {
    let mut text = String::with_capacity(manifests.iter().map(|m| m.content.len() + m.name.len() + 16).sum());
    for m in manifests {
        let _ = write!(text, "{}", Sourced { path: &m.name, content: &m.content });
    }
    text
}

/// A document as it is printed and stored: with its separator and the line that names its template.
#[derive(Clone, Copy, Debug)]
pub struct Sourced<'a> {
    /// The template's path.
    pub path: &'a str,
    /// The document.
    pub content: &'a str,
}

impl fmt::Display for Sourced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, content } = self;
        writeln!(f, "---\n# Source: {path}\n{content}")
    }
}

/// An object of a manifest with the document it came from.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The template's path, from its `# Source:` line; empty if there is none.
    pub source: String,
    /// The object.
    pub object: Object,
}

/// The objects of a manifest in its order: lists are unfolded, blank and comment-only documents left out.
///
/// # Errors
/// A document that is not YAML, or not an object with apiVersion, kind and name; it is named by its source.
pub fn parse_objects(manifest: &str, profile: HelmProfile) -> Result<Vec<Parsed>, Error> {
    let mut objects = Vec::new();
    for document in split(manifest, profile) {
        let source = document.lines().find_map(|l| l.strip_prefix("# Source: ")).unwrap_or_default();
        let json = go_yaml::decode_json(document.as_bytes(), Duplicates::LastWins)
            .map_err(|e| Error::Manifest(format!("YAML parse error on {source}: {e}")))?;
        if json.is_null() {
            continue;
        }
        let Some(object) = Object::from_json(json) else {
            return Err(Error::Manifest(format!("the document in {source} is not a Kubernetes object")));
        };
        unfold(object, source, &mut objects)?;
    }
    Ok(objects)
}

fn unfold(mut object: Object, source: &str, objects: &mut Vec<Parsed>) -> Result<(), Error> {
    if object.kind().ends_with("List") && object.at(&["items"]).is_some_and(serde_json::Value::is_array) {
        let items = match object.0.remove("items") {
            Some(serde_json::Value::Array(items)) => items,
            _ => Vec::new(),
        };
        for item in items {
            let item = Object::from_json(item)
                .ok_or_else(|| Error::Manifest(format!("an item of the list in {source} is not an object")))?;
            unfold(item, source, objects)?;
        }
        return Ok(());
    }
    if object.api_version().is_empty() {
        return Err(Error::Manifest(format!("the object in {source} has no apiVersion: apiVersion not set")));
    }
    if object.kind().is_empty() {
        return Err(Error::Manifest(format!("the object in {source} has no kind: Object 'Kind' is missing")));
    }
    objects.push(Parsed { source: source.into(), object });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_by_profile() {
        let text = "\n---\na: 1\n\n--- # c\nb: 2\n---c: 3\n---\n---\n d: |\n  x---\n";
        assert_eq!(split(text, HelmProfile::V4_3), ["a: 1\n\n", "# c\nb: 2\n", "c: 3\n", "d: |\n  x---\n"]);
        // The old pattern eats the line break that the next separator would need.
        assert_eq!(split(text, HelmProfile::V4_1), ["a: 1", "# c\nb: 2", "c: 3", "---\n d: |\n  x---"]);
        assert!(split("---\n---  \n", HelmProfile::V4_3).is_empty());
        assert!(split("", HelmProfile::V4_1).is_empty());
    }

    #[test]
    fn hooks_and_order() {
        let files: Files = [
            ("c/templates/b.yaml", "kind: Deployment\nmetadata: {name: d}\n---\nkind: Service\nmetadata: {name: s}\n"),
            ("c/templates/h.yaml", "kind: Job\nmetadata:\n  name: j\n  annotations:\n    helm.sh/hook: pre-install, Post-Upgrade\n    helm.sh/hook-weight: \"-5\"\n    helm.sh/hook-delete-policy: hook-succeeded\n"),
            ("c/templates/u.yaml", "kind: Job\nmetadata:\n  name: u\n  annotations:\n    helm.sh/hook: crd-install\n"),
            ("c/templates/_p.yaml", "kind: X\n"),
            ("c/templates/e.yaml", " \n"),
        ]
        .into_iter()
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .collect();
        let (hooks, manifests) = sort(files, HelmProfile::V4_3).unwrap();
        let kinds: Vec<&str> = manifests.iter().map(|m| m.kind.as_str()).collect();
        assert_eq!(kinds, ["Service", "Deployment"]);
        assert_eq!(hooks.len(), 1);
        assert_eq!(
            (hooks[0].weight, hooks[0].events.as_slice()),
            (-5, &[HookEvent::PreInstall, HookEvent::PostUpgrade][..])
        );
        assert_eq!(hooks[0].delete_policies, ["hook-succeeded"]);
    }

    #[test]
    fn lists_unfold() {
        let manifest = "---\n# Source: a\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: x}}\n- {apiVersion: v1, kind: B, metadata: {name: z}}\n---\n# only a comment\n";
        let objects = parse_objects(manifest, HelmProfile::V4_3).unwrap();
        let names: Vec<&str> = objects.iter().map(|o| o.object.name()).collect();
        assert_eq!(names, ["x", "z"]);
        assert_eq!(objects[1].source, "a");
        assert!(parse_objects("kind: A\n", HelmProfile::V4_3).is_err());
    }
}
