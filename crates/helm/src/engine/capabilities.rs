//! `.Capabilities`: what the cluster can do.
//!
//! Owns: the versions of Kubernetes and its APIs as templates see them. Follows `pkg/chart/common/capabilities.go`.
//! The surprising thing: `.Capabilities.KubeVersion` printed alone is the version without suffixes, while its field
//! `Version` keeps them.

use std::sync::Arc;

use go_value::object::{Method, Param};
use go_value::{Kind, List, ListType, Object, Value};

use crate::profile::HelmProfile;

/// The API versions Helm knows without a cluster, for both profiles; see [`default_api_versions`].
const COMMON_VERSIONS: &str = "v1 admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1alpha1 \
admissionregistration.k8s.io/v1beta1 internal.apiserver.k8s.io/v1alpha1 apps/v1 apps/v1beta1 apps/v1beta2 \
authentication.k8s.io/v1 authentication.k8s.io/v1alpha1 authentication.k8s.io/v1beta1 authorization.k8s.io/v1 \
authorization.k8s.io/v1beta1 autoscaling/v1 autoscaling/v2 ~autoscaling/v2beta1 ~autoscaling/v2beta2 batch/v1 \
batch/v1beta1 certificates.k8s.io/v1 certificates.k8s.io/v1beta1 certificates.k8s.io/v1alpha1 \
coordination.k8s.io/v1alpha2 coordination.k8s.io/v1beta1 coordination.k8s.io/v1 discovery.k8s.io/v1 \
discovery.k8s.io/v1beta1 events.k8s.io/v1 events.k8s.io/v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1 \
flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3 \
+lifecycle.k8s.io/v1alpha1 networking.k8s.io/v1 networking.k8s.io/v1beta1 node.k8s.io/v1 node.k8s.io/v1alpha1 \
node.k8s.io/v1beta1 policy/v1 policy/v1beta1 rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1beta1 \
rbac.authorization.k8s.io/v1alpha1 resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1 \
resource.k8s.io/v1alpha3 ~scheduling.k8s.io/v1alpha1 +scheduling.k8s.io/v1alpha3 scheduling.k8s.io/v1beta1 \
scheduling.k8s.io/v1 storage.k8s.io/v1beta1 storage.k8s.io/v1 storage.k8s.io/v1alpha1 +storagemigration.k8s.io/v1 \
storagemigration.k8s.io/v1beta1 apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1";

/// The API versions of the client library a Helm is built with: those marked `+` above are only in the newest, those
/// marked `~` only in 4.1.
pub fn default_api_versions(profile: HelmProfile) -> Vec<String> {
    let (own, other) = match profile {
        HelmProfile::V4_1 => ('~', '+'),
        HelmProfile::V4_3 => ('+', '~'),
    };
    COMMON_VERSIONS
        .split_whitespace()
        .filter(|v| !v.starts_with(other))
        .map(|v| v.trim_start_matches(own).to_string())
        .collect()
}

/// A Kubernetes version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// As given, with a `v`: `v1.33.4-gke.1245000`.
    pub version: String,
    /// Without suffixes, for ranges: `v1.33.4`. The server's own version is not normalised by Helm.
    pub normalized: String,
    /// `1`
    pub major: String,
    /// `33`
    pub minor: String,
}

impl KubeVersion {
    /// Parse what `--kube-version` takes: at least a major and a minor number, a `v` before and a suffix behind.
    ///
    /// # Errors
    /// Kubernetes' text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = || format!("could not parse {} as version", go_value::quote::quote(text.as_bytes()));
        let trimmed = text.trim();
        let digits = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
        let core = digits[..end].trim_end_matches('.');
        let numbers: Vec<u64> = core
            .split('.')
            .map(|n| {
                if n.is_empty() || (n.len() > 1 && n.starts_with('0')) {
                    return Err(fault());
                }
                n.parse().map_err(|_| fault())
            })
            .collect::<Result<_, _>>()?;
        let (Some(major), Some(minor)) = (numbers.first(), numbers.get(1)) else { return Err(fault()) };
        let version = if text.starts_with('v') { text.to_string() } else { format!("v{text}") };
        let normalized: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        Ok(Self {
            version,
            normalized: format!("v{}", normalized.join(".")),
            major: major.to_string(),
            minor: minor.to_string(),
        })
    }

    /// The version as a copy by reflection has it, which skips what is not exported.
    fn exported(&self) -> Self {
        Self { normalized: String::new(), ..self.clone() }
    }

    /// What it prints as.
    fn shown(&self) -> &str {
        if self.normalized.is_empty() { &self.version } else { &self.normalized }
    }

    /// A server's own version, which Helm takes as it is: a suffix such as `-gke.1` counts in ranges.
    pub fn of_server(git_version: &str, major: &str, minor: &str) -> Self {
        Self { version: git_version.into(), normalized: git_version.into(), major: major.into(), minor: minor.into() }
    }
}

impl Object for KubeVersion {
    fn type_name(&self) -> &'static str {
        "common.KubeVersion"
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Version" => Some(self.version.as_str().into()),
            "Major" => Some(self.major.as_str().into()),
            "Minor" => Some(self.minor.as_str().into()),
            _ => None,
        }
    }

    fn method(&self, name: &str) -> Option<Method> {
        matches!(name, "String" | "GitVersion").then_some(Method { params: &[], variadic: false })
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Value, String> {
        Ok(if name == "String" { self.shown() } else { self.version.as_str() }.into())
    }

    fn display(&self) -> Vec<u8> {
        format!("{{{} {} {} {}}}", self.version, self.normalized, self.major, self.minor).into_bytes()
    }

    fn printed(&self) -> Vec<u8> {
        self.shown().into()
    }

    fn without_address(&self) -> Option<Value> {
        Some(Value::Object(Arc::new(CopiedVersion(self.clone()))))
    }

    fn deep_copy(&self) -> Option<Value> {
        Some(Value::Object(Arc::new(CopiedVersion(self.exported()))))
    }

    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let text = |s: &String| Value::from(s.as_str());
        Some(vec![
            ("Version", text(&self.version)),
            ("normalizedVersion", text(&self.normalized)),
            ("Major", text(&self.major)),
            ("Minor", text(&self.minor)),
        ])
    }

    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        let fields = [("Version", &self.version), ("Major", &self.major), ("Minor", &self.minor)];
        Some(fields.into_iter().map(|(k, v)| (k, v.as_str().into())).collect())
    }
}

/// A version that went through an argument of type `interface {}`: its methods, which belong to a pointer, are gone.
#[derive(Debug)]
struct CopiedVersion(KubeVersion);

impl Object for CopiedVersion {
    fn type_name(&self) -> &str {
        self.0.type_name()
    }

    fn kind(&self) -> Kind {
        self.0.kind()
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.0.field(name)
    }

    fn display(&self) -> Vec<u8> {
        self.0.display()
    }

    fn deep_copy(&self) -> Option<Value> {
        self.0.deep_copy()
    }

    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        self.0.struct_fields()
    }

    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        self.0.members()
    }
}

/// What a cluster, or Helm without one, offers to templates.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// The version of Kubernetes.
    pub kube_version: KubeVersion,
    /// Group/versions, and with a cluster also group/version/kinds.
    pub api_versions: Arc<[String]>,
    /// The Helm whose rules hold.
    pub profile: HelmProfile,
}

impl Capabilities {
    /// What Helm assumes without a cluster.
    pub fn offline(profile: HelmProfile, kube_version: Option<KubeVersion>, extra: &[String]) -> Self {
        let (_, minor) = profile.versions();
        let version = format!("v1.{minor}.0");
        let default = KubeVersion { normalized: version.clone(), version, major: "1".into(), minor: minor.to_string() };
        let versions: Vec<String> = default_api_versions(profile).into_iter().chain(extra.iter().cloned()).collect();
        Self { kube_version: kube_version.unwrap_or(default), api_versions: versions.into(), profile }
    }
}

impl Object for Capabilities {
    fn type_name(&self) -> &'static str {
        "*common.Capabilities"
    }

    fn kind(&self) -> Kind {
        Kind::Pointer
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "KubeVersion" => Some(Value::Object(Arc::new(self.kube_version.clone()))),
            "APIVersions" => Some(Value::Object(Arc::new(VersionSet(Arc::clone(&self.api_versions))))),
            "HelmVersion" => Some(Value::Object(Arc::new(HelmVersion(self.profile)))),
            _ => None,
        }
    }

    fn method(&self, name: &str) -> Option<Method> {
        (name == "Copy").then_some(Method { params: &[], variadic: false })
    }

    fn call(&self, _: &str, _: &[Value]) -> Result<Value, String> {
        Ok(Value::Object(Arc::new(self.clone())))
    }

    fn display(&self) -> Vec<u8> {
        let kube = String::from_utf8_lossy(&self.kube_version.display()).into_owned();
        let versions = String::from_utf8_lossy(&VersionSet(Arc::clone(&self.api_versions)).display()).into_owned();
        let helm = String::from_utf8_lossy(&HelmVersion(self.profile).display()).into_owned();
        format!("{{{kube} {versions} {helm}}}").into_bytes()
    }

    fn deep_copy(&self) -> Option<Value> {
        Some(Value::Object(Arc::new(Self { kube_version: self.kube_version.exported(), ..self.clone() })))
    }

    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        self.members()
    }

    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        let fields = ["KubeVersion", "APIVersions", "HelmVersion"];
        Some(fields.into_iter().filter_map(|f| Some((f, self.field(f)?))).collect())
    }
}

/// `.Capabilities.APIVersions`
#[derive(Debug)]
struct VersionSet(Arc<[String]>);

impl Object for VersionSet {
    fn type_name(&self) -> &'static str {
        "common.VersionSet"
    }

    fn kind(&self) -> Kind {
        Kind::Slice
    }

    fn method(&self, name: &str) -> Option<Method> {
        (name == "Has").then_some(Method { params: &[Param::STRING], variadic: false })
    }

    fn call(&self, _: &str, args: &[Value]) -> Result<Value, String> {
        let wanted = args.first().and_then(Value::as_str);
        Ok(Value::Bool(wanted.is_some_and(|w| self.0.iter().any(|v| *w == **v))))
    }

    fn display(&self) -> Vec<u8> {
        format!("[{}]", self.0.join(" ")).into_bytes()
    }

    fn data(&self) -> Option<Value> {
        let items = self.0.iter().map(|v| Value::string(v.as_str())).collect();
        Some(Value::List(List::new(ListType::STRINGS, items)))
    }

    fn slice(&self, from: usize, to: usize) -> Option<Value> {
        Some(Value::Object(Arc::new(Self(self.0.get(from..to)?.into()))))
    }

    fn truth(&self) -> bool {
        !self.0.is_empty()
    }
}

/// `.Capabilities.HelmVersion`
#[derive(Debug)]
struct HelmVersion(HelmProfile);

impl HelmVersion {
    /// Name in Go, name in JSON, value.
    fn fields(&self) -> [(&'static str, &'static str, String); 5] {
        let (version, kube_minor) = self.0.versions();
        let (commit, tree, go) = match self.0 {
            HelmProfile::V4_1 => ("05fa37973dc9e42b76e1d2883494c87174b6074f", "clean", "go1.25.9"),
            HelmProfile::V4_3 => ("", "", "go1.26.8"),
        };
        [
            ("Version", "version", version.into()),
            ("GitCommit", "git_commit", commit.into()),
            ("GitTreeState", "git_tree_state", tree.into()),
            ("GoVersion", "go_version", go.into()),
            ("KubeClientVersion", "kube_client_version", format!("v1.{kube_minor}")),
        ]
    }
}

impl Object for HelmVersion {
    fn type_name(&self) -> &'static str {
        "version.BuildInfo"
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.fields().into_iter().find(|(n, ..)| *n == name).map(|(.., value)| value.into())
    }

    fn display(&self) -> Vec<u8> {
        let values: Vec<String> = self.fields().into_iter().map(|(.., v)| v).collect();
        format!("{{{}}}", values.join(" ")).into_bytes()
    }

    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.fields().into_iter().map(|(name, _, value)| (name, value.into())).collect())
    }

    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        let set = self.fields().into_iter().filter(|(.., v)| !v.is_empty());
        Some(set.map(|(_, json, value)| (json, value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kube_versions() {
        let v = KubeVersion::parse("1.33.4-gke.1245000").unwrap();
        assert_eq!((v.version.as_str(), v.normalized.as_str()), ("v1.33.4-gke.1245000", "v1.33.4"));
        assert_eq!((v.major.as_str(), v.minor.as_str()), ("1", "33"));
        assert_eq!(KubeVersion::parse("v1.2").unwrap().normalized, "v1.2");
        for bad in ["", "v", "1", "x", "1.02"] {
            assert!(KubeVersion::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn defaults_by_profile() {
        let new = default_api_versions(HelmProfile::V4_3);
        assert!(new.contains(&"lifecycle.k8s.io/v1alpha1".into()) && !new.contains(&"autoscaling/v2beta1".into()));
        let old = default_api_versions(HelmProfile::V4_1);
        assert!(old.contains(&"autoscaling/v2beta1".into()) && !old.contains(&"storagemigration.k8s.io/v1".into()));
        assert!(new.iter().chain(&old).all(|v| v.starts_with(|c: char| c.is_ascii_alphabetic())));
    }
}
