//! What a release should be.
//!
//! Owns: everything about the wanted revision that does not change during a pass. Pure: made of the spec and of what was
//! gathered.

use std::sync::Arc;

use flux_api::HelmRelease;
use go_value::Map;
use helm::Chart;
use helm::postrender::SetMetadata;
use helm::release::digest::{Algorithm, go_escape};

use super::redact::Secrets;

/// What a release should be.
#[derive(Clone, Debug)]
pub struct Desired {
    /// The release's name, shortened if need be.
    pub release_name: String,
    /// The namespace of its objects.
    pub release_namespace: String,
    /// The namespace of its records.
    pub storage_namespace: String,
    /// The chart.
    pub chart: Arc<Chart>,
    /// The chart's name.
    pub chart_name: String,
    /// The chart's version, with the suffix of its artifact.
    pub chart_version: String,
    /// The digest of the OCI artifact.
    pub oci_digest: Option<String>,
    /// The values.
    pub values: Map,
    /// Their digest.
    pub config_digest: String,
    /// The digest of spec.postRenderers.
    pub post_renderers_digest: Option<String>,
    /// The digest of spec.commonMetadata.
    pub common_metadata_digest: Option<String>,
    /// What is set on all objects.
    pub metadata: SetMetadata,
    /// The algorithm of digests.
    pub algorithm: Algorithm,
    /// What of the values came from Secrets.
    pub secrets: Secrets,
}

impl Desired {
    /// Put it together.
    pub fn new(
        release: &HelmRelease,
        chart: Arc<Chart>,
        oci_digest: Option<String>,
        values: Map,
        algorithm: Algorithm,
    ) -> Self {
        let spec = &release.spec;
        let digest = |json: Option<serde_json::Result<String>>| {
            json.and_then(Result::ok).map(|text| algorithm.digest(format!("{}\n", go_escape(&text)).as_bytes()))
        };
        let post_renderers = (!spec.post_renderers.is_empty()).then(|| serde_json::to_string(&spec.post_renderers));
        let common = spec.common_metadata.as_ref().map(serde_json::to_string);
        Self {
            release_name: helm::release::name::shorten(&release.full_release_name()),
            release_namespace: release.release_namespace().into(),
            storage_namespace: release.storage_namespace().into(),
            chart_name: chart.metadata.name.clone(),
            chart_version: chart.metadata.version.clone(),
            chart,
            oci_digest,
            config_digest: helm::values::digest::config_digest(&values, algorithm),
            values,
            post_renderers_digest: digest(post_renderers),
            common_metadata_digest: digest(common),
            metadata: metadata(release),
            algorithm,
            secrets: Secrets::default(),
        }
    }

    /// Are these values the ones that a digest in a status was made of? The digest's own algorithm counts.
    pub fn same_config(&self, digest: &str) -> bool {
        match Algorithm::of(digest) {
            Some(own) if own == self.algorithm => digest == self.config_digest,
            Some(own) => digest == helm::values::digest::config_digest(&self.values, own),
            None => false,
        }
    }

    /// With what of the values came from Secrets. The chart's name and version are no secret, whatever those hold.
    pub fn with_secrets(mut self, mut secrets: Secrets) -> Self {
        secrets.keep(&[&self.full_name(), &self.chart_text()]);
        self.secrets = secrets;
        self
    }

    /// `<namespace>/<name>`, as messages of failures name a release.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.release_namespace, self.release_name)
    }

    /// `<chart>@<version>`
    pub fn chart_text(&self) -> String {
        format!("{}@{}", self.chart_name, self.chart_version)
    }
}

/// The common metadata, and over it the labels that say where an object comes from.
pub fn metadata(release: &HelmRelease) -> SetMetadata {
    let common = release.spec.common_metadata.clone().unwrap_or_default();
    let mut set = SetMetadata { labels: common.labels, annotations: common.annotations };
    set.labels.insert(flux_api::meta::ORIGIN_NAME.into(), release.name().into());
    set.labels.insert(flux_api::meta::ORIGIN_NAMESPACE.into(), release.namespace().into());
    set
}

/// Where the metadata of a chart comes from an OCI artifact: the chart with 12 digits of the artifact's digest in place of
/// its build metadata, and the digest to record.
///
/// # Errors
/// Flux's text when tag and chart disagree.
pub fn suffixed(chart: &Arc<Chart>, revision: &str) -> Result<(Arc<Chart>, String), String> {
    let (tag, digest) = match revision.split_once('@') {
        Some((tag, digest)) => (Some(tag), digest),
        None => (None, revision),
    };
    let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
    let version = go_semver::Version::parse(&chart.metadata.version)
        .map_err(|_| format!("invalid chart version {}", chart.metadata.version))?;
    let mut recorded = digest.to_string();
    if let Some(tag) = tag {
        match go_semver::Version::parse(&tag.replace('_', "+")) {
            Ok(parsed) => {
                // Build metadata does not count.
                if parsed.cmp(&version) != std::cmp::Ordering::Equal || !is_whole(tag) {
                    return Err(format!(
                        "artifact revision {tag} does not match chart version {}",
                        chart.metadata.version
                    ));
                }
            }
            Err(_) => recorded = revision.to_string(),
        }
    }
    let short: String = hex.chars().take(12).collect();
    let version =
        version.with_metadata(&short).map_err(|e| format!("invalid artifact revision {revision}: {e}"))?.to_string();
    let mut suffixed = Chart::clone(chart);
    suffixed.metadata.version = version.trim_start_matches('v').to_string();
    Ok((Arc::new(suffixed), recorded))
}

/// Has the tag all three numbers?
fn is_whole(tag: &str) -> bool {
    tag.split(['-', '+', '_']).next().is_some_and(|core| core.matches('.').count() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(version: &str) -> Arc<Chart> {
        let mut chart = Chart::default();
        chart.metadata.version = version.into();
        Arc::new(chart)
    }

    #[test]
    fn suffixes() {
        let digest = "sha256:0123456789abcdef";
        for (revision, version, want, recorded) in [
            (format!("6.5.3@{digest}"), "6.5.3", "6.5.3+0123456789ab", digest.to_string()),
            (format!("v6.5.3@{digest}"), "6.5.3", "6.5.3+0123456789ab", digest.to_string()),
            (format!("6.5.3_b1@{digest}"), "6.5.3+b2", "6.5.3+0123456789ab", digest.to_string()),
            (format!("latest@{digest}"), "6.5.3", "6.5.3+0123456789ab", format!("latest@{digest}")),
            (digest.to_string(), "6.5.3", "6.5.3+0123456789ab", digest.to_string()),
        ] {
            let (chart, got) = suffixed(&chart(version), &revision).unwrap();
            assert_eq!((chart.metadata.version.as_str(), got.as_str()), (want, recorded.as_str()), "{revision}");
        }
        assert_eq!(
            suffixed(&chart("6.5.3"), &format!("6.5@{digest}")).unwrap_err(),
            "artifact revision 6.5 does not match chart version 6.5.3"
        );
    }
}
