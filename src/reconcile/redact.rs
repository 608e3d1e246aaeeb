//! Values that came from Secrets, kept out of what people see.
//!
//! Owns: what counts as such a value, and its replacement in a text. Pure. The surprising things: an API server, a
//! template's `fail` and a parser all quote what they were given, so messages are cleaned, not their sources; the values
//! a Secret held before are known from the record of the release; what a message has to say by itself, such as the
//! release's own name, is never masked, whatever a Secret holds.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use flux_api::HelmRelease;
use go_value::{Map, Value};
use kube_object::mask::MASK;
use serde_json::Value as Json;

use super::values::{Document, keys};

/// Shorter values are not hidden: they stand in texts by chance.
const SHORTEST: usize = 6;

/// The words that Flux's messages are made of. A Secret that holds one of them must not make a message unreadable.
const FRAME: &str = "Helm install upgrade rollback uninstall test remediation succeeded failed for to previous release \
with chart is not ready no test hooks completed successfully Running action with timeout of Fulfilling prerequisites \
Cluster state of release has drifted from the desired state has been corrected No drift detected against the cluster \
additions changes removals removed changed missing Last Helm logs: HelmRelease HelmChart HelmRepository OCIRepository \
ConfigMap Secret could not resolve chart values reference";

/// The values of some Secrets, and what is not to be hidden.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Each value with the forms in which it may stand in a text.
    values: BTreeMap<String, BTreeSet<String>>,
    /// Names that messages need: of the release, its chart, its references.
    names: BTreeSet<String>,
    /// Where values of the release come from elsewhere.
    open: BTreeSet<Vec<String>>,
    /// Does the release refer to Secrets at all?
    used: bool,
}

/// Only how many there are.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// What a release takes from Secrets, given the documents that its references led to.
    pub fn of(release: &HelmRelease, documents: &[Document]) -> Self {
        let used = release.spec.values_from.iter().any(|r| r.kind == "Secret");
        let (mut this, mut hidden) = (Self { used, ..Self::default() }, BTreeSet::new());
        if let Some(inline) = &release.spec.values {
            leaves(inline, &mut Vec::new(), &mut |path, _| this.open.extend([path.to_vec()]));
        }
        for document in documents {
            let data = document.data.as_deref().unwrap_or_default();
            let target = document.reference.target_path.as_deref().filter(|p| !p.is_empty());
            let places: Vec<Vec<String>> = match target {
                Some(path) => vec![keys(path).0],
                None => paths(data),
            };
            if document.reference.kind == "Secret" {
                this.add(data);
                // Inline values win over whole documents.
                hidden.extend(places.into_iter().filter(|p| target.is_some() || !this.open.contains(p)));
            } else {
                this.open.extend(places);
            }
        }
        this.open.retain(|path| !hidden.contains(path));
        this.names(release);
        this
    }

    fn names(&mut self, release: &HelmRelease) {
        let spec = &release.spec;
        let own = format!("{}/{}", release.namespace(), release.name());
        let full = format!("{}/{}", release.release_namespace(), release.full_release_name());
        self.keep(&[
            &own,
            &full,
            release.storage_namespace(),
            spec.service_account_name.as_deref().unwrap_or_default(),
        ]);
        for reference in &spec.values_from {
            self.keep(&[&reference.name, reference.key()]);
        }
        if let Some(chart) = &spec.chart {
            self.keep(&[&chart.spec.chart, &chart.spec.source_ref.name]);
        }
        if let Some(reference) = &spec.chart_ref {
            self.keep(&[&reference.name, reference.namespace.as_deref().unwrap_or_default()]);
        }
    }

    /// Never hide these names, nor parts of them.
    pub fn keep(&mut self, names: &[&str]) {
        self.names.extend(names.iter().map(ToString::to_string));
    }

    /// Take in the content of a key: the text itself where it is one value, else every scalar of it as YAML.
    fn add(&mut self, data: &[u8]) {
        let Ok(text) = std::str::from_utf8(data) else { return };
        let parsed = go_yaml::decode_json(data, go_yaml::Duplicates::LastWins);
        if let Ok(json @ (Json::Object(_) | Json::Array(_))) = parsed {
            self.scalars(&json);
        } else {
            self.insert(text.trim());
            // What `--set` makes of an unquoted value, part by part.
            text.split([',', '=', '\n']).for_each(|part| self.insert(part.trim()));
        }
    }

    /// Take in the values of a stored revision that came from a Secret then: those at places where nothing else gives
    /// any. What a Secret held before is as secret as what it holds now.
    pub fn learn(&mut self, config: &Map) {
        if !self.used {
            return;
        }
        let config = helm::values::to_json(&Value::Map(config.clone()));
        let mut found = Vec::new();
        leaves(&config, &mut Vec::new(), &mut |path, value| {
            if !self.open.contains(path) {
                found.push(value.clone());
            }
        });
        for value in &found {
            self.scalars(value);
        }
    }

    /// Hide what `others` hide, too.
    pub fn join(&mut self, others: Self) {
        let Self { values, names, open, used } = others;
        self.values.extend(values);
        self.names.extend(names);
        self.open.extend(open);
        self.used |= used;
    }

    fn scalars(&mut self, value: &Json) {
        match value {
            Json::Object(entries) => entries.values().for_each(|v| self.scalars(v)),
            Json::Array(items) => items.iter().for_each(|v| self.scalars(v)),
            Json::String(text) => {
                self.insert(text);
                text.lines().for_each(|line| self.insert(line.trim()));
            }
            Json::Number(number) => self.insert(&number.to_string()),
            Json::Bool(_) | Json::Null => {}
        }
    }

    fn insert(&mut self, text: &str) {
        if text.len() >= SHORTEST && !self.values.contains_key(text) {
            self.values.insert(text.to_owned(), forms(text));
        }
    }

    /// The text with every one of the values masked, the longest first.
    pub fn redact(&self, text: &str) -> String {
        self.replace(text, &|_, _| MASK.into())
    }

    /// As [`Secrets::redact`], with masks that tell one value from another, and how it is written. Not for people: it is
    /// for finding out where two texts differ.
    pub fn tag(&self, text: &str) -> String {
        self.replace(text, &|value, form| format!("{MASK}{value}-{form}"))
    }

    fn replace(&self, text: &str, mask: &dyn Fn(usize, usize) -> String) -> String {
        let named = |value: &str| FRAME.contains(value) || self.names.iter().any(|name| name.contains(value));
        let mut found: Vec<(usize, usize, &String)> = Vec::new();
        for (i, (value, forms)) in self.values.iter().enumerate() {
            if forms.iter().any(|form| text.contains(form.as_str())) && !named(value) {
                found.extend(forms.iter().enumerate().map(|(k, form)| (i, k, form)));
            }
        }
        found.sort_by_key(|(.., form)| std::cmp::Reverse(form.len()));
        found.into_iter().fold(text.to_owned(), |text, (i, k, form)| text.replace(form.as_str(), &mask(i, k)))
    }
}

/// How a value may stand in a text: as it is, quoted, in base64, in an address.
fn forms(value: &str) -> BTreeSet<String> {
    let quoted = serde_json::to_string(value).unwrap_or_default();
    let quoted = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let encoded = base64::engine::general_purpose::STANDARD.encode(value);
    let address: String = value
        .bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
            b' ' => "+".into(),
            _ => format!("%{b:02X}"),
        })
        .collect();
    [value.to_owned(), quoted, encoded, address].into_iter().filter(|form| !form.is_empty()).collect()
}

/// The places of values, and what is there. A list is one place, whatever it holds.
fn leaves(value: &Json, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &Json)) {
    match value {
        Json::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                path.push(key.clone());
                leaves(value, path, visit);
                path.pop();
            }
        }
        _ => visit(path, value),
    }
}

fn paths(data: &[u8]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    if let Ok(json) = go_yaml::decode_json(data, go_yaml::Duplicates::LastWins) {
        leaves(&json, &mut Vec::new(), &mut |path, _| found.push(path.to_vec()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn release(values_from: &Json, values: &Json) -> HelmRelease {
        serde_json::from_value(json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "production"},
            "spec": {"interval": "1m", "values": values, "valuesFrom": values_from,
                "chart": {"spec": {"chart": "podinfo", "sourceRef": {"kind": "HelmRepository", "name": "mirror"}}}}}))
        .unwrap()
    }

    fn secrets(release: &HelmRelease, data: &[&str]) -> Secrets {
        let documents: Vec<Document> = release
            .spec
            .values_from
            .iter()
            .zip(data)
            .map(|(r, d)| Document { reference: r.clone(), data: Some(d.as_bytes().to_vec()) })
            .collect();
        Secrets::of(release, &documents)
    }

    #[test]
    fn values_of_secrets_are_masked() {
        let from = json!([{"kind": "Secret", "name": "a"}, {"kind": "Secret", "name": "b", "targetPath": "x"}]);
        let yaml = "db:\n  password: hunter22\n  pin: 88997766\n  on: true\n  port: 5432\n";
        let secrets = secrets(&release(&from, &Json::Null), &[yaml, "S3CRETx,S3CRETy"]);
        let text = "expected string, got 88997766; key \"S3CRETy\" has no value; hunter22 at 5432, true";
        let shown = secrets.redact(text);
        assert_eq!(shown, format!("expected string, got {MASK}; key \"{MASK}\" has no value; {MASK} at 5432, true"));
        assert_eq!(secrets.redact("aHVudGVyMjI="), MASK);
        assert_eq!(format!("{secrets:?}"), "Secrets(5)");
    }

    #[test]
    fn other_forms_of_a_value_are_masked() {
        let from = json!([{"kind": "Secret", "name": "a", "targetPath": "x"}]);
        let secrets = secrets(&release(&from, &Json::Null), &["p\"ss w/rd"]);
        let text = r#"p"ss w/rd, "p\"ss w/rd", p%22ss+w%2Frd"#;
        assert_eq!(secrets.redact(text), format!("{MASK}, \"{MASK}\", {MASK}"));
    }

    #[test]
    fn names_and_the_words_of_messages_stay() {
        let from = json!([{"kind": "Secret", "name": "credentials"}]);
        let yaml = "a: production\nb: podinfo\nc: release\nd: credentials\ne: succeeded\nf: mirror\ng: production-db\n";
        let mut secrets = secrets(&release(&from, &Json::Null), &[yaml]);
        secrets.keep(&["podinfo@6.5.3"]);
        let text = "Helm install succeeded for release production/web.v1 with chart podinfo@6.5.3";
        assert_eq!(secrets.redact(text), text);
        assert_eq!(secrets.redact("production-db in production"), format!("{MASK} in production"));
    }

    #[test]
    fn values_that_a_secret_held_before_are_masked() {
        let from = json!([{"kind": "Secret", "name": "a"}, {"kind": "ConfigMap", "name": "b"},
            {"kind": "Secret", "name": "c", "targetPath": "db.user"}]);
        let inline = json!({"greeting": "good morning", "db": {"host": "db.example.com"}});
        let data = ["db: {password: new-password, host: hidden}", "colour: yellow-green", "new-user"];
        let mut secrets = secrets(&release(&from, &inline), &data);
        let stored = json!({"greeting": "good evening", "colour": "dark-blue", "dropped": "old-token",
            "db": {"password": "old-password", "user": "old-user", "host": "db.old.example.com"}});
        let Value::Map(config) = helm::values::from_json(&stored) else { panic!() };
        secrets.learn(&config);
        let text = "good evening, dark-blue, old-token, old-password, old-user, db.old.example.com, new-password";
        let shown = format!("good evening, dark-blue, {MASK}, {MASK}, {MASK}, db.old.example.com, {MASK}");
        assert_eq!(secrets.redact(text), shown);
        let mut none = Secrets::of(&release(&json!([]), &inline), &[]);
        none.learn(&config);
        assert_eq!(none.redact(text), text);
    }
}
