//! Chart.yaml and Chart.lock.
//!
//! Owns: the metadata as data, its decoding, validation and sanitising, and its form as `.Chart` in templates and as
//! JSON in release records. Follows Helm's `pkg/chart/v2`. The surprising thing: in Helm 4 `.Chart` is a map keyed by
//! Go's field names, so an unknown key is empty instead of an error.

use std::collections::BTreeMap;

use go_value::{List, Map, MapType, Str, Value};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::decode::Fields;

/// A maintainer of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maintainer {
    /// A person or organisation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// An address to write to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// A page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
}

/// What `import-values` may hold: a name under `exports`, or a pair of paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ImportValue {
    /// `exports.<name>` of the child into the parent's root.
    Export(String),
    /// A table of the child into a table of the parent.
    Pair {
        /// Path in the child's values.
        child: String,
        /// Path in the parent's values.
        parent: String,
    },
    /// Anything else, which Helm carries along and ignores.
    Other(Json),
}

/// A chart that another chart depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The chart's name; after processing its alias, if it has one.
    #[serde(default)]
    pub name: String,
    /// A version or range.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Where it comes from.
    #[serde(default)]
    pub repository: String,
    /// Comma-separated paths of booleans in the parent's values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// Names under `tags` in the root's values.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub tags: Vec<String>,
    /// Set by processing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub enabled: bool,
    /// What the parent takes over from its values.
    #[serde(
        default,
        rename = "import-values",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub import_values: Vec<ImportValue>,
    /// Another name for this use of the chart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub alias: String,
}

/// Go's nil slices are `null` in JSON: read them as empty.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Chart.yaml. The order of the fields is that of Helm's struct, which release digests are made over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The chart's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Project page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub home: String,
    /// Addresses of source code.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub sources: Vec<String>,
    /// The chart's version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// One sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Search words.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub keywords: Vec<String>,
    /// Who keeps the chart.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub maintainers: Vec<Maintainer>,
    /// Address of an icon.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub icon: String,
    /// `v1` or `v2`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Not used by Helm.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// Not used by Helm.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tags: String,
    /// The version of what is deployed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app_version: String,
    /// Is the chart no longer kept?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Free annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_default")]
    pub annotations: BTreeMap<String, String>,
    /// The range of Kubernetes versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// The charts it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub dependencies: Vec<Dependency>,
    /// Is there a list of dependencies at all, be it empty? Without one Helm takes what is in `charts/` as it is and
    /// looks no deeper.
    #[serde(skip)]
    pub declares_dependencies: bool,
    /// `application` or `library`.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    pub chart_type: String,
}

/// Chart.lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// When it was made, as written.
    #[serde(default)]
    pub generated: String,
    /// Digest of the requested and locked dependencies.
    #[serde(default)]
    pub digest: String,
    /// The locked versions.
    #[serde(default, deserialize_with = "null_default")]
    pub dependencies: Vec<Dependency>,
}

fn document(text: &[u8]) -> Result<Json, String> {
    go_yaml::decode_json(text, go_yaml::Duplicates::LastWins).map_err(|e| e.to_string())
}

fn import_value(value: &Json) -> ImportValue {
    match value {
        Json::String(s) => ImportValue::Export(s.clone()),
        // Helm prints both paths with %v, so a number or a missing key becomes text too.
        Json::Object(o) => {
            let text = |key: &str| match o.get(key) {
                None | Some(Json::Null) => "<nil>".to_string(),
                Some(Json::String(s)) => s.clone(),
                Some(other) => other.to_string(),
            };
            ImportValue::Pair { child: text("child"), parent: text("parent") }
        }
        other => ImportValue::Other(other.clone()),
    }
}

fn dependency(fields: &Fields<'_>) -> Result<Dependency, String> {
    Ok(Dependency {
        name: fields.string("name")?,
        version: fields.string("version")?,
        repository: fields.string("repository")?,
        condition: fields.string("condition")?,
        tags: fields.strings("tags")?,
        enabled: fields.bool("enabled")?,
        import_values: fields.list("import-values")?.iter().map(import_value).collect(),
        alias: fields.string("alias")?,
    })
}

impl Metadata {
    /// Decode Chart.yaml (or requirements.yaml, for a v1 chart) over what is already there, as Helm does: fields that
    /// the document lacks keep their value.
    ///
    /// # Errors
    /// The text of the YAML or JSON error.
    pub fn decode_over(&mut self, text: &[u8]) -> Result<(), String> {
        let document = document(text)?;
        let Some(f) = Fields::root(&document, "Metadata", "v2.Metadata")? else { return Ok(()) };
        macro_rules! take {
            ($($field:ident = $key:literal $read:ident;)*) => {
                $(if f.get($key).is_some() { self.$field = f.$read($key)?; })*
            };
        }
        take! {
            name = "name" string; home = "home" string; sources = "sources" strings; version = "version" string;
            description = "description" string; keywords = "keywords" strings; icon = "icon" string;
            api_version = "apiVersion" string; condition = "condition" string; tags = "tags" string;
            app_version = "appVersion" string; deprecated = "deprecated" bool;
            annotations = "annotations" string_map; kube_version = "kubeVersion" string;
            chart_type = "type" string;
        }
        if f.get("maintainers").is_some() {
            let items = f.structs("maintainers", "Maintainer", "v2.Maintainer")?;
            self.maintainers = items
                .iter()
                .map(|item| {
                    let m = item.as_ref().ok_or("validation: maintainers must not contain empty or null nodes")?;
                    Ok(Maintainer { name: m.string("name")?, email: m.string("email")?, url: m.string("url")? })
                })
                .collect::<Result<_, String>>()?;
        }
        if f.get("dependencies").is_some() {
            self.declares_dependencies = true;
            let items = f.structs("dependencies", "Dependency", "v2.Dependency")?;
            self.dependencies = items
                .iter()
                .map(|item| {
                    let d = item.as_ref().ok_or("validation: dependencies must not contain empty or null nodes")?;
                    dependency(d)
                })
                .collect::<Result<_, String>>()?;
        }
        Ok(())
    }

    /// Check the metadata and sanitise its strings.
    ///
    /// # Errors
    /// Helm's text, beginning with `validation: `.
    pub fn validate(&mut self) -> Result<(), String> {
        for field in [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ] {
            sanitize(field);
        }
        self.sources.iter_mut().chain(&mut self.keywords).for_each(sanitize);
        if self.api_version.is_empty() {
            return Err("validation: chart.metadata.apiVersion is required".into());
        }
        if self.name.is_empty() {
            return Err("validation: chart.metadata.name is required".into());
        }
        if self.name == "." || self.name == ".." {
            return Err(format!("validation: chart.metadata.name {:?} is not allowed", self.name));
        }
        if self.name.contains('/') {
            return Err(format!("validation: chart.metadata.name {:?} is invalid", self.name));
        }
        if self.version.is_empty() {
            return Err("validation: chart.metadata.version is required".into());
        }
        if go_semver::Version::parse(&self.version).is_err() {
            return Err(format!("validation: chart.metadata.version {:?} is invalid", self.version));
        }
        if !matches!(self.chart_type.as_str(), "" | "application" | "library") {
            return Err("validation: chart.metadata.type must be application or library".into());
        }
        for m in &mut self.maintainers {
            sanitize(&mut m.name);
            sanitize(&mut m.email);
            sanitize(&mut m.url);
        }
        let mut seen = std::collections::BTreeSet::new();
        for d in &mut self.dependencies {
            for field in [&mut d.name, &mut d.version, &mut d.repository, &mut d.condition] {
                sanitize(field);
            }
            d.tags.iter_mut().for_each(sanitize);
            if !d.alias.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
                return Err(format!("validation: dependency {:?} has disallowed characters in the alias", d.name));
            }
            let key = if d.alias.is_empty() { &d.name } else { &d.alias };
            if !seen.insert(key.clone()) {
                return Err(format!("validation: more than one dependency with name or alias {key:?}"));
            }
        }
        Ok(())
    }

    /// Is this a library chart, which only offers named templates?
    pub fn is_library(&self) -> bool {
        self.chart_type.eq_ignore_ascii_case("library")
    }

    /// `.Chart` as templates see it, without `IsRoot`.
    pub fn to_value(&self) -> Map {
        let text = |s: &str| Value::string(s);
        let texts =
            |items: &[String]| Value::List(List::any(items.iter().map(|s| Value::string(s.as_str())).collect()));
        let maintainers = self
            .maintainers
            .iter()
            .map(|m| {
                let map: Map =
                    [("Name", text(&m.name)), ("Email", text(&m.email)), ("URL", text(&m.url))].into_iter().collect();
                Value::Map(map)
            })
            .collect();
        let annotations: go_value::Entries =
            self.annotations.iter().map(|(k, v)| (Str::from(k), Value::string(v.as_str()))).collect();
        // Without any, the field in Helm's struct is never set.
        let annotations =
            if annotations.is_empty() { Map::nil(MapType::STRINGS) } else { Map::of(MapType::STRINGS, annotations) };
        let dependencies = self.dependencies.iter().map(|d| Value::Map(d.to_value())).collect();
        [
            ("Name", text(&self.name)),
            ("Home", text(&self.home)),
            ("Sources", texts(&self.sources)),
            ("Version", text(&self.version)),
            ("Description", text(&self.description)),
            ("Keywords", texts(&self.keywords)),
            ("Maintainers", Value::List(List::any(maintainers))),
            ("Icon", text(&self.icon)),
            ("APIVersion", text(&self.api_version)),
            ("Condition", text(&self.condition)),
            ("Tags", text(&self.tags)),
            ("AppVersion", text(&self.app_version)),
            ("Deprecated", Value::Bool(self.deprecated)),
            ("Annotations", Value::Map(annotations)),
            ("KubeVersion", text(&self.kube_version)),
            ("Dependencies", Value::List(List::any(dependencies))),
            ("Type", text(&self.chart_type)),
        ]
        .into_iter()
        .collect()
    }
}

impl Dependency {
    fn to_value(&self) -> Map {
        let text = |s: &str| Value::string(s);
        let imports = self
            .import_values
            .iter()
            .map(|iv| match iv {
                ImportValue::Export(s) => text(s),
                ImportValue::Pair { child, parent } => {
                    let pair = [("child", text(child)), ("parent", text(parent))];
                    let entries = pair.into_iter().map(|(k, v)| (Str::from(k), v)).collect();
                    Value::Map(Map::of(MapType::STRINGS, entries))
                }
                ImportValue::Other(json) => crate::values::from_json(json),
            })
            .collect();
        [
            ("Name", text(&self.name)),
            ("Version", text(&self.version)),
            ("Repository", text(&self.repository)),
            ("Condition", text(&self.condition)),
            ("Tags", Value::List(List::any(self.tags.iter().map(|t| text(t)).collect()))),
            ("Enabled", Value::Bool(self.enabled)),
            ("ImportValues", Value::List(List::any(imports))),
            ("Alias", text(&self.alias)),
        ]
        .into_iter()
        .collect()
    }
}

impl Lock {
    /// Decode Chart.lock or requirements.lock.
    ///
    /// # Errors
    /// The text of the YAML or JSON error.
    pub fn decode(text: &[u8]) -> Result<Option<Self>, String> {
        let document = document(text)?;
        let Some(f) = Fields::root(&document, "Lock", "v2.Lock")? else { return Ok(None) };
        let items = f.structs("dependencies", "Dependency", "v2.Dependency")?;
        Ok(Some(Self {
            generated: f.string("generated")?,
            digest: f.string("digest")?,
            dependencies: items.iter().flatten().map(dependency).collect::<Result<_, _>>()?,
        }))
    }
}

/// White space becomes a blank, what cannot be printed goes.
fn sanitize(text: &mut String) {
    if text.bytes().all(|b| (b' '..0x7f).contains(&b)) {
        return;
    }
    *text = text
        .chars()
        .filter_map(|c| match c {
            c if c.is_whitespace() => Some(' '),
            c if c.is_control() || is_unprintable(c) => None,
            c => Some(c),
        })
        .collect();
}

/// Format, private-use, surrogate and unassigned runes, which Go's `unicode.IsPrint` refuses. The ranges are those
/// that occur in practice: format controls, private use and non-characters.
fn is_unprintable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_strings_as_helm_prints_them() {
        let mut m = Metadata::default();
        m.decode_over(b"name: x\nversion: 1.10\nappVersion: 0123\ndeprecated: true\nannotations: {a: 1.5, b: yes}")
            .unwrap();
        assert_eq!((m.version.as_str(), m.app_version.as_str()), ("1.1", "83"));
        assert_eq!(m.annotations["a"], "1.5");
        assert_eq!(m.annotations["b"], "true");
        assert!(m.deprecated);
    }

    #[test]
    fn faults_have_helm_words() {
        let bad = |text: &str| {
            let mut m = Metadata::default();
            m.decode_over(text.as_bytes()).and_then(|()| m.validate()).unwrap_err()
        };
        assert_eq!(
            bad("name: [x]"),
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go struct field Metadata.name of type string"
        );
        assert_eq!(bad("apiVersion: v2\nname: x"), "validation: chart.metadata.version is required");
        assert_eq!(
            bad("apiVersion: v2\nname: x\nversion: nope"),
            "validation: chart.metadata.version \"nope\" is invalid"
        );
        assert_eq!(
            bad("apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies: [{name: a}, {name: a}]"),
            "validation: more than one dependency with name or alias \"a\""
        );
        assert_eq!(
            bad("apiVersion: v2\nname: a/b\nversion: 1.0.0"),
            "validation: chart.metadata.name \"a/b\" is invalid"
        );
    }
}
