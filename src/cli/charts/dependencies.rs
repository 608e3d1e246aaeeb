//! Dependencies that a chart lists and does not have in `charts/`: `--dependency-update`.
//!
//! Owns: fetching what Chart.yaml lists, by repository, registry or path. Follows `Update` in Helm's
//! `pkg/downloader/manager.go` and `internal/resolver`. The surprising thing: Helm writes archives and a Chart.lock into
//! the chart and tells about it on standard output; here the chart is completed in memory and the folder left alone.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use chart_source::Url;
use go_semver::{Constraints, Version};
use helm::Chart;
use helm::chart::Dependency;

use super::super::Printer;
use super::repositories::{choose, known, open};
use super::transport::{Certificates, in_gos_words};
use super::{ChartFlags, Located, oci};

/// Put all dependencies into a chart that lacks some of them, those that are there being fetched again, as Helm does it.
///
/// # Errors
/// Helm's text for the first one that is not to be had.
pub(in crate::cli) async fn complete(
    chart: &mut Chart,
    located: &Located,
    flags: &ChartFlags,
    printer: &Printer,
) -> Result<()> {
    let Located::Path(folder) = located else { bail!("only unpacked charts can be updated") };
    if !folder.is_dir() {
        bail!("only unpacked charts can be updated");
    }
    let mut found: Vec<Chart> = Vec::new();
    for dependency in &chart.metadata.dependencies {
        Constraints::parse(&dependency.version)
            .map_err(|e| anyhow!("dependency {:?} has an invalid version/constraint format: {e}", dependency.name))?;
        if dependency.repository.is_empty() {
            let path = folder.join("charts").join(&dependency.name);
            if !path.exists() {
                bail!("directory {} not found", path.display());
            }
            continue;
        }
        let one = if let Some(path) = dependency.repository.strip_prefix("file://") {
            local(&folder.join(path), dependency)?
        } else {
            helm::chart::load_archive(&fetch(dependency, flags, printer).await?)?
        };
        let same = |c: &Chart| c.name() == one.name() && c.metadata.version == one.metadata.version;
        if !found.iter().any(same) {
            found.push(one);
        }
    }
    chart.dependencies.retain(|old| !found.iter().any(|new| new.name() == old.name()));
    chart.dependencies.extend(found);
    Ok(())
}

fn unsatisfied(dependency: &Dependency) -> anyhow::Error {
    let Dependency { name, repository, version, .. } = dependency;
    anyhow!(
        "can't get a valid version for 1 subchart(s): {name:?} (repository {repository:?}, version {version:?}). Make sure \
         a matching chart version exists in the repo, or change the version constraint in Chart.yaml"
    )
}

fn local(path: &Path, dependency: &Dependency) -> Result<Chart> {
    // As Go joins paths: without `..` in them.
    let mut tidy = std::path::PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    if !tidy.exists() {
        bail!("directory {} not found", tidy.display());
    }
    let chart = helm::chart::load_directory(&tidy)?;
    let fits = Constraints::parse(&dependency.version)?.check(&Version::parse(&chart.metadata.version)?);
    if fits { Ok(chart) } else { Err(unsatisfied(dependency)) }
}

async fn fetch(dependency: &Dependency, flags: &ChartFlags, printer: &Printer) -> Result<Vec<u8>> {
    let Dependency { name, repository, version, .. } = dependency;
    let wanted =
        |flags: &ChartFlags| ChartFlags { repo: None, version: Some(version.clone()), devel: false, ..flags.clone() };
    if let Some(rest) = repository.strip_prefix("oci://") {
        if rest.ends_with('/') {
            let path = rest.split_once('/').map_or(rest, |(_, path)| path);
            // A version is asked for as it is, a range among the tags.
            let step = if Version::parse(version).is_ok() {
                format!("could not download {repository}/{name}")
            } else {
                format!("could not retrieve list of tags for repository {repository}")
            };
            bail!("{step}: invalid reference: invalid repository \"{path}/{name}\"");
        }
        let reference = format!("{repository}/{name}");
        let fetched = oci::fetch(&reference, &wanted(flags), printer).await;
        return fetched.map_err(|e| anyhow!("could not download {reference}: {e}"));
    }
    let all = known(flags)?;
    let alias = repository.strip_prefix('@').or_else(|| repository.strip_prefix("alias:"));
    let owner = match alias {
        Some(alias) => Some(all.iter().find(|r| r.name == alias).ok_or_else(|| {
            anyhow!("no repository definition for {repository}. Please add them via 'helm repo add'")
        })?),
        None => all.iter().find(|r| r.url.trim_end_matches('/') == repository.trim_end_matches('/')),
    };
    let nobody = ChartFlags {
        username: None,
        password: None,
        pass_credentials: false,
        certificates: Certificates::default(),
        ..flags.clone()
    };
    let flags = wanted(&owner.map_or(nobody, |owner| owner.flags(flags)));
    let url = owner.map_or(repository.as_str(), |owner| owner.url.as_str());
    let (client, index) = open(url, &flags).await?;
    if !index.charts().any(|c| c == name) {
        bail!("{name} chart not found in repo {url}");
    }
    let entry = choose(&index, name, version, printer).map_err(|_| unsatisfied(dependency))?;
    let address: Url = client.chart_url(name, entry)?;
    if address.scheme() == "oci" {
        return oci::fetch(address.as_str(), &flags, printer).await;
    }
    client.fetch_chart(name, entry).await.map_err(|e| in_gos_words("Get", e))
}
