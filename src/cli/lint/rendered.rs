//! What templates make, looked at for what Helm does not complain about.
//!
//! Owns: equal keys, equal names of environment variables, integers printed as floats, and failures with their place.
//! The surprising thing: a place is given in the template where the line stands there as it is rendered, as often as it
//! is rendered; otherwise it is told which line of the output is meant.

use std::collections::{BTreeMap, HashMap};

use go_yaml::located::{Located, Node, locate};
use helm::HelmProfile;
use helm::manifest::{hooks, split};

use super::finding::Finding;
use super::sources::Sources;
use super::written::{Again, Integer, equal_keys, key_text, under};

/// The lists of a Pod's specification that hold containers.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// What is looked at.
pub(super) struct View<'a> {
    pub(super) sources: &'a Sources,
    /// The chart's name, with which rendered paths begin.
    pub(super) chart: &'a str,
    pub(super) profile: HelmProfile,
}

/// Check all rendered files.
pub(super) fn check(
    view: &View<'_>,
    files: &BTreeMap<String, String>,
    integers: &[Integer],
    findings: &mut Vec<Finding>,
) {
    for (path, text) in files {
        if text.trim().is_empty() {
            continue;
        }
        if let Err(e) = hooks(path, text, view.profile) {
            findings.push(failure(view.sources, view.chart, &e));
            continue;
        }
        let mut file = File::new(view, path, text, findings);
        for document in split(text, view.profile) {
            // A document is a part of the text: the lines before it are counted by where it begins.
            let start = document.as_ptr() as usize - text.as_ptr() as usize;
            file.before = text[..start].matches('\n').count();
            for located in locate(document.as_bytes()).unwrap_or_default() {
                file.node(&located, "", "");
            }
        }
        file.integers(integers);
    }
}

struct File<'a> {
    shown: String,
    rendered: Vec<&'a str>,
    template: Option<String>,
    before: usize,
    findings: &'a mut Vec<Finding>,
}

impl<'a> File<'a> {
    fn new(view: &View<'_>, path: &str, text: &'a str, findings: &'a mut Vec<Finding>) -> Self {
        let below = path.strip_prefix(view.chart).and_then(|p| p.strip_prefix('/')).unwrap_or(path);
        let template = view.sources.text(below).map(|t| String::from_utf8_lossy(t).into_owned());
        Self { shown: view.sources.shown(below), rendered: text.lines().collect(), template, before: 0, findings }
    }

    /// The template's line for a rendered one, both from 1.
    fn template_line(&self, line: usize) -> Option<usize> {
        let wanted = self.rendered.get(line - 1)?.trim();
        let same = |l: &&str| l.trim() == wanted;
        let nth = self.rendered[..line - 1].iter().filter(|l| same(l)).count();
        let places: Vec<usize> = self
            .template
            .as_ref()?
            .lines()
            .enumerate()
            .filter(|(_, l)| l.trim() == wanted)
            .map(|(i, _)| i + 1)
            .collect();
        (places.len() == self.rendered.iter().filter(|l| same(l)).count()).then(|| places.get(nth).copied()).flatten()
    }

    fn warn(&mut self, line: usize, text: &str) {
        let at = self.template_line(line);
        let suffix = if at.is_some() { String::new() } else { format!(" (line {line} of what it renders)") };
        self.findings.push(Finding::warning(&self.shown, at, format!("{text}{suffix}")));
    }

    fn node(&mut self, located: &Located, path: &str, parent: &str) {
        match &located.node {
            Node::Sequence(items) => {
                for (i, item) in items.iter().enumerate() {
                    if CONTAINERS.contains(&parent) {
                        self.env(item);
                    }
                    self.node(item, &format!("{path}[{i}]"), "");
                }
            }
            Node::Mapping(pairs) => {
                for Again { key, winner, .. } in equal_keys(pairs) {
                    let at = under(path, &key_text(key));
                    self.warn(key.line + self.before, &format!("`{at}` is there twice; {winner}"));
                }
                for (key, value) in pairs {
                    let name = key_text(key);
                    self.node(value, &under(path, &name), &name);
                }
            }
            Node::Scalar { .. } | Node::Alias(_) => {}
        }
    }

    /// Names that a container's environment has twice.
    fn env(&mut self, container: &Located) {
        let of = entry(container, "name").and_then(text).unwrap_or("?").to_owned();
        let Some(Located { node: Node::Sequence(variables), .. }) = entry(container, "env") else { return };
        let mut seen = HashMap::new();
        for variable in variables {
            let Some(name) = entry(variable, "name").and_then(text) else { continue };
            if seen.insert(name.to_owned(), variable.line).is_some() {
                let text =
                    format!("the container `{of}` gets the environment variable `{name}` twice; the last one wins");
                self.warn(variable.line + self.before, &text);
            }
        }
    }

    /// Integers of values that stand here as floats.
    fn integers(&mut self, integers: &[Integer]) {
        for integer in integers {
            let found = self.rendered.iter().position(|line| has_word(line, &integer.printed));
            let Some(line) = found.map(|i| i + 1) else { continue };
            self.findings.push(Finding::warning(
                &integer.file,
                Some(integer.line),
                format!(
                    "{} is printed as {} by {} (line {line} of what it renders); use `int64` there, or quote it here",
                    integer.text, integer.printed, self.shown
                ),
            ));
        }
    }
}

fn entry<'n>(map: &'n Located, key: &str) -> Option<&'n Located> {
    let Node::Mapping(pairs) = &map.node else { return None };
    pairs.iter().rev().find(|(k, _)| key_text(k) == key).map(|(_, v)| v)
}

fn text(node: &Located) -> Option<&str> {
    match &node.node {
        Node::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// Does a line have this number, and not as a part of another word?
fn has_word(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let behind = line[at + word.len()..].chars().next();
        !before.is_some_and(inside) && !behind.is_some_and(inside)
    })
}

/// A render that failed, at the place that its text names.
pub(super) fn failure(sources: &Sources, chart: &str, error: &helm::Error) -> Finding {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    // `(chart/templates/x.yaml:3:5)`, `template: chart/templates/x.yaml:3: …`, `YAML parse error on chart/…: …`.
    let place = first.split([' ', '(', ')']).find_map(|word| {
        let word = word.trim_end_matches(':');
        let mut parts = word.split(':');
        let path = parts.next()?.strip_prefix(chart)?.strip_prefix('/')?;
        Some((path.to_owned(), parts.next().and_then(|n| n.parse().ok())))
    });
    match place {
        Some((path, line)) => Finding::error(&sources.shown(&path), line, &text),
        None => Finding::error(&sources.shown("templates"), None, &text),
    }
}
