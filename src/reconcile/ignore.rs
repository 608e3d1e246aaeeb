//! `driftDetection.ignore`: which fields of which objects do not count.
//!
//! Owns: matching objects against selectors. The surprising thing: names are regular expressions anchored at both ends,
//! and of several rules all count, also those without a target.

use flux_api::helmrelease::{IgnoreRule, Selector};
use kube_object::Object;
use regex::Regex;

/// Rules ready to be asked.
pub struct IgnoreRules(Vec<(Option<Matcher>, Vec<String>)>);

struct Matcher {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    namespace: Option<Regex>,
    name: Option<Regex>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// One part of a label selector.
enum Requirement {
    Equals(String, String),
    Differs(String, String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl IgnoreRules {
    /// Compile the rules.
    ///
    /// # Errors
    /// A pattern or selector that does not parse.
    pub fn new(rules: &[IgnoreRule]) -> Result<Self, String> {
        rules
            .iter()
            .map(|rule| Ok((rule.target.as_ref().map(matcher).transpose()?, rule.paths.clone())))
            .collect::<Result<_, String>>()
            .map(Self)
    }

    /// The pointers to fields of this object that do not count.
    pub fn paths(&self, object: &Object) -> Vec<String> {
        let matching = self.0.iter().filter(|(m, _)| m.as_ref().is_none_or(|m| m.matches(object)));
        matching.flat_map(|(_, paths)| paths.iter().cloned()).collect()
    }
}

fn matcher(selector: &Selector) -> Result<Matcher, String> {
    let pattern = |text: &Option<String>| {
        text.as_deref()
            .filter(|t| !t.is_empty())
            .map(|t| {
                Regex::new(&format!("^(?:{t})$")).map_err(|e| format!("failed to create ignore rule selector: {e}"))
            })
            .transpose()
    };
    Ok(Matcher {
        group: pattern(&selector.group)?,
        version: pattern(&selector.version)?,
        kind: pattern(&selector.kind)?,
        namespace: pattern(&selector.namespace)?,
        name: pattern(&selector.name)?,
        labels: requirements(selector.label_selector.as_deref().unwrap_or_default())?,
        annotations: requirements(selector.annotation_selector.as_deref().unwrap_or_default())?,
    })
}

/// Parse a label selector: `a=b,c!=d,e in (f,g),!h,i`.
fn requirements(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    let set = |rest: &str| -> Result<Vec<String>, String> {
        let inner = rest.trim().strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let inner = inner.ok_or_else(|| format!("the selector {text:?} does not parse"))?;
        Ok(inner.split(',').map(|v| v.trim().to_string()).collect())
    };
    parts
        .iter()
        .map(|p| p.trim())
        .filter(|p| !p.is_empty())
        .map(|part| {
            let own = |s: &str| s.trim().to_string();
            if let Some((key, rest)) = part.split_once(" notin ") {
                return Ok(Requirement::NotIn(own(key), set(rest)?));
            }
            if let Some((key, rest)) = part.split_once(" in ") {
                return Ok(Requirement::In(own(key), set(rest)?));
            }
            if let Some((key, value)) = part.split_once("!=") {
                return Ok(Requirement::Differs(own(key), own(value)));
            }
            if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
                return Ok(Requirement::Equals(own(key), own(value)));
            }
            Ok(match part.strip_prefix('!') {
                Some(key) => Requirement::Absent(own(key)),
                None => Requirement::Exists(own(part)),
            })
        })
        .collect()
}

impl Matcher {
    fn matches(&self, object: &Object) -> bool {
        let gvk = object.gvk();
        let fits = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|p| p.is_match(text));
        let holds = |required: &[Requirement], have: &dyn Fn(&str) -> Option<String>| {
            required.iter().all(|r| match r {
                Requirement::Equals(k, v) => have(k).as_ref() == Some(v),
                Requirement::Differs(k, v) => have(k).as_ref() != Some(v),
                Requirement::In(k, set) => have(k).is_some_and(|v| set.contains(&v)),
                Requirement::NotIn(k, set) => have(k).is_none_or(|v| !set.contains(&v)),
                Requirement::Exists(k) => have(k).is_some(),
                Requirement::Absent(k) => have(k).is_none(),
            })
        };
        fits(&self.group, &gvk.group)
            && fits(&self.version, &gvk.version)
            && fits(&self.kind, &gvk.kind)
            && fits(&self.namespace, object.namespace())
            && fits(&self.name, object.name())
            && holds(&self.labels, &|k| object.label(k).map(Into::into))
            && holds(&self.annotations, &|k| object.annotation(k).map(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_rules_count() {
        let object = Object::from_json(json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "n", "labels": {"a": "b"}}}))
        .unwrap();
        let rule = |paths: &[&str], target: Option<Selector>| IgnoreRule {
            paths: paths.iter().map(ToString::to_string).collect(),
            target,
        };
        let kind = |kind: &str| Selector { kind: Some(kind.into()), ..Selector::default() };
        let rules = IgnoreRules::new(&[
            rule(&["/a"], None),
            rule(&["/b"], None),
            rule(&["/c"], Some(kind("Deploy"))),
            rule(&["/d"], Some(kind("Deploy.*"))),
            rule(&["/e"], Some(Selector { label_selector: Some("a in (b, c),!z".into()), ..Selector::default() })),
            rule(&["/f"], Some(Selector { label_selector: Some("a!=b".into()), ..Selector::default() })),
        ])
        .unwrap();
        assert_eq!(rules.paths(&object), ["/a", "/b", "/d", "/e"]);
        assert!(IgnoreRules::new(&[rule(&[], Some(kind("(")))]).is_err());
    }
}
