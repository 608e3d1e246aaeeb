//! Which tag of an OCI repository is wanted.
//!
//! Owns: the choices of OCIRepository (`semver`, `semverFilter`) and of HelmChart over OCI, `_` for `+`. Does not own:
//! listing tags ([`crate::oci`]).
//! Upstream: `getTagBySemver` in source-controller's ocirepository controller; Helm's `pkg/registry/{tag,client}.go`.
//! The surprising thing: where versions differ in build metadata only, upstream's choice is a matter of luck; here the
//! longer tag wins, then the later one in the alphabet.

use go_semver::{Constraints, Version};

use crate::Error;

/// The media type of a chart's layer.
pub const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
/// The media type that old charts' layers have.
pub const LEGACY_CHART_LAYER: &str = "application/tar+gzip";

/// A tag for a version: `+` is not allowed in tags.
pub fn tag_of(version: &str) -> String {
    version.replace('+', "_")
}

/// The version a tag stands for.
pub fn version_of(tag: &str) -> String {
    tag.replace('_', "+")
}

/// Flux's parser: two dots at least, then Masterminds' loose rules.
pub(crate) fn parse_version(text: &str) -> Option<Version> {
    if text.matches('.').count() < 2 {
        return None;
    }
    Version::parse(text).ok()
}

/// Is this a version and not a constraint, by Flux's parser?
pub fn is_version(text: &str) -> bool {
    parse_version(text).is_some()
}

/// OCIRepository's `ref.semver`: the tag of the highest version that satisfies. `filter` (`ref.semverFilter`, searched
/// for anywhere in the raw tag) comes first. `charts` maps `_` to `+`, which is done only where the layer selector asks
/// for a chart.
///
/// # Errors
/// [`Error::Constraint`], [`Error::NoSuchTag`], with Flux's texts.
pub fn select<'t>(tags: &'t [String], semver: &str, filter: Option<&str>, charts: bool) -> Result<&'t str, Error> {
    let constraints =
        Constraints::parse(semver).map_err(|e| Error::Constraint(format!("semver '{semver}' parse error: {e}")))?;
    let filter = filter.filter(|f| !f.is_empty()).map(regex::Regex::new).transpose();
    let filter = filter.map_err(|e| Error::Constraint(format!("semverFilter parse error: {e}")))?;
    let candidates = tags.iter().filter(|tag| filter.as_ref().is_none_or(|f| f.is_match(tag)));
    best(candidates, &constraints, |tag| if charts { parse_version(&version_of(tag)) } else { parse_version(tag) })
        .ok_or_else(|| Error::NoSuchTag(format!("no match found for semver: {semver}")))
}

/// HelmChart's version over a list of tags: the version of the tag that says the same, else the highest that satisfies.
/// A version (see [`is_version`]) needs no list and is not looked up here.
///
/// # Errors
/// [`Error::Constraint`], [`Error::NoSuchTag`], with Helm's texts.
pub fn select_chart(tags: &[String], version: &str) -> Result<String, Error> {
    let wanted = if version.is_empty() { "*" } else { version };
    let versions: Vec<String> =
        tags.iter().map(|t| version_of(t)).filter(|v| Version::parse_strict(v).is_ok()).collect();
    if let Some(same) = versions.iter().find(|v| *v == version) {
        return Ok(same.clone());
    }
    let constraints = Constraints::parse(wanted).map_err(|e| Error::Constraint(e.to_string()))?;
    best(versions.iter(), &constraints, |v| Version::parse_strict(v).ok()).map(str::to_owned).ok_or_else(|| {
        Error::NoSuchTag(format!("could not locate a version matching provided version string {version}"))
    })
}

/// The version a release of an OCIRepository's chart gets: the chart's own, with the first 12 characters of the
/// revision's digest in place of its build metadata; without `digest` the chart's own as it is.
///
/// # Errors
/// [`Error::NoSuchTag`] with Flux's text, if the tag is a version and says another one than the chart, build metadata
/// aside; [`Error::Constraint`] if the chart's version is none.
pub fn release_version(tag: &str, chart: &str, digest: Option<&str>) -> Result<String, Error> {
    let own = Version::parse(chart).map_err(|e| Error::Constraint(e.to_string()))?;
    if Version::parse(&version_of(tag)).is_ok_and(|tagged| tagged != own) {
        let text = format!("artifact revision {tag} does not match chart version {chart}");
        return Err(Error::NoSuchTag(text));
    }
    let Some(digest) = digest else { return Ok(chart.to_owned()) };
    let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
    let short = hex.get(..12).unwrap_or(hex);
    own.with_metadata(short).map(|v| v.to_string()).map_err(|e| Error::Constraint(e.to_string()))
}

fn best<'t>(
    candidates: impl Iterator<Item = &'t String>,
    constraints: &Constraints,
    parse: impl Fn(&str) -> Option<Version>,
) -> Option<&'t str> {
    candidates
        .filter_map(|tag| Some((parse(tag)?, tag)))
        .filter(|(version, _)| constraints.check(version))
        .max_by(|(a, x), (b, y)| a.cmp(b).then(x.len().cmp(&y.len())).then(x.cmp(y)))
        .map(|(_, tag)| tag.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(list: &[&str]) -> Vec<String> {
        list.iter().map(|t| (*t).to_owned()).collect()
    }

    #[test]
    fn charts_are_chosen_as_helm_does() {
        let tags = tags(&["1.0.0", "1.1.0_a", "v2.0.0", "1.2.0-rc.1", "latest"]);
        assert_eq!(select_chart(&tags, "").unwrap(), "1.1.0+a");
        assert_eq!(select_chart(&tags, "1.2.0-rc.1").unwrap(), "1.2.0-rc.1");
        assert_eq!(select_chart(&tags, ">=1.0.0-0").unwrap(), "1.2.0-rc.1");
        let error = select_chart(&tags, "^3").unwrap_err().to_string();
        assert_eq!(error, "could not locate a version matching provided version string ^3");
    }

    #[test]
    fn a_filter_is_searched_for_in_the_raw_tag() {
        let tags = tags(&["1.0.0-alpine", "1.1.0-debian"]);
        assert_eq!(select(&tags, ">=0.0.0-0", Some("alpine"), false).unwrap(), "1.0.0-alpine");
        assert_eq!(select(&tags, "*", None, false).unwrap_err().to_string(), "no match found for semver: *");
        assert!(select(&tags, "no", None, false).unwrap_err().to_string().starts_with("semver 'no' parse error: "));
        assert!(select(&tags, "*", Some("("), false).is_err());
    }
}
