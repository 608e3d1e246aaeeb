//! Charts from repositories: those Helm knows by name, and any by address.
//!
//! Owns: `repositories.yaml`, cached indexes, which version is meant, who gets which credentials. Follows Helm's
//! `pkg/repo/v1` and `ResolveChartVersion` in `pkg/downloader`.
//! The surprising thing: an index is not refreshed for `repo/chart`, so what is found is what `helm repo update` saw
//! last; the digest in it finds the archive in Helm's cache and is not compared with what a server sends.

use anyhow::{Result, anyhow, bail};
use chart_source::http::{parse_url, same_origin};
use chart_source::{BasicAuth, Entry, Error, HelmRepository, Index, Limits};
use go_semver::{Constraints, Version};
use serde::Deserialize;

use super::super::Printer;
use super::super::values_args::go_io_error;
use super::ChartFlags;
use super::transport::{Certificates, get, http, in_gos_words};

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    repositories: Option<Vec<Repository>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Repository {
    pub(super) name: String,
    pub(super) url: String,
    username: String,
    password: String,
    #[serde(rename = "certFile")]
    cert_file: String,
    #[serde(rename = "keyFile")]
    key_file: String,
    #[serde(rename = "caFile")]
    ca_file: String,
    pass_credentials_all: bool,
    insecure_skip_tls_verify: bool,
}

impl Repository {
    /// What a chart of this repository is fetched with: nothing of the command line but Helm's files.
    pub(super) fn flags(&self, flags: &ChartFlags) -> ChartFlags {
        let mut certificates =
            if self.has_no_certificates() { Certificates::default() } else { self.certificates(flags) };
        certificates.insecure_skip_tls_verify = self.insecure_skip_tls_verify;
        ChartFlags {
            username: Some(self.username.clone()),
            password: Some(self.password.clone()),
            pass_credentials: self.pass_credentials_all,
            certificates,
            ..flags.clone()
        }
    }

    fn has_no_certificates(&self) -> bool {
        [&self.cert_file, &self.key_file, &self.ca_file].iter().all(|f| f.is_empty())
    }

    /// The certificates of the repository where it has any, else those of the command line.
    fn certificates(&self, flags: &ChartFlags) -> Certificates {
        let set = |path: &str| (!path.is_empty()).then(|| path.into());
        if self.has_no_certificates() {
            return flags.certificates.clone();
        }
        Certificates {
            ca_file: set(&self.ca_file),
            cert_file: set(&self.cert_file),
            key_file: set(&self.key_file),
            insecure_skip_tls_verify: flags.certificates.insecure_skip_tls_verify,
        }
    }

    /// The credentials of the repository where it has any, else those of the command line; and: for all hosts?
    fn auth(&self, flags: &ChartFlags) -> (Option<BasicAuth>, bool) {
        match BasicAuth::new(self.username.as_str(), self.password.as_str()) {
            Some(own) => (Some(own), self.pass_credentials_all),
            None => (flags.auth(), flags.pass_credentials),
        }
    }
}

pub(super) fn known(flags: &ChartFlags) -> Result<Vec<Repository>> {
    let path = flags.files.repository_config();
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => {
            let path = path.display();
            bail!("couldn't load repositories file ({path}): open {path}: {}", go_io_error(&e));
        }
    };
    let json = go_yaml::decode_json(&text, go_yaml::Duplicates::LastWins)?;
    let file: Option<File> = serde_json::from_value(json)
        .map_err(|e| anyhow!("error unmarshaling JSON: while decoding JSON: {e} ({})", path.display()))?;
    Ok(file.and_then(|f| f.repositories).unwrap_or_default())
}

fn cached_index(repository: &Repository, flags: &ChartFlags) -> Result<Index> {
    let path = flags.files.index(&repository.name);
    let shown = path.display();
    let missing = |e: String| anyhow!("no cached repo found. (try 'helm repo update'): {e}");
    let text = std::fs::read(&path).map_err(|e| missing(format!("open {shown}: {}", go_io_error(&e))))?;
    Index::parse(&text).map_err(|e| {
        let text = e.to_string();
        missing(format!("error loading {shown}: {}", text.strip_prefix("failed to load index: ").unwrap_or(&text)))
    })
}

/// The entry Helm takes: the one of exactly this version, else the newest that satisfies it as a constraint.
pub(super) fn choose<'i>(index: &'i Index, chart: &str, version: &str, printer: &Printer) -> Result<&'i Entry> {
    if !index.charts().any(|name| name == chart) {
        bail!("no chart name found");
    }
    let entries = index.versions(chart);
    if entries.is_empty() {
        bail!("no chart version found");
    }
    let constraint = Constraints::parse(if version.is_empty() { "*" } else { version })?;
    if let Some(exact) = entries.iter().find(|e| !version.is_empty() && e.version == version) {
        return Ok(exact);
    }
    let parsed = entries.iter().filter_map(|e| Some((Version::parse(&e.version).ok()?, e)));
    let best =
        parsed.filter(|(v, _)| constraint.check(v)).reduce(|best, next| if next.0 > best.0 { next } else { best });
    let Some((_, entry)) = best else { bail!("no chart version found for {chart}-{version}") };
    if !version.is_empty() && Version::parse(version).is_ok() {
        printer.note(&format!(
            "level=WARN msg=\"unable to find exact version requested; falling back to closest available version\" \
             chart={chart} requested={version} selected={}",
            entry.version
        ));
    }
    Ok(entry)
}

/// A repository by its address, with its index as it is now.
pub(super) async fn open(repo: &str, flags: &ChartFlags) -> Result<(HelmRepository, Index)> {
    let scheme = repo.split_once("://").map_or("", |(scheme, _)| scheme);
    if !matches!(scheme, "http" | "https") {
        bail!("could not find protocol handler for: {scheme}");
    }
    let limits = Limits::default();
    let client = HelmRepository::new(repo, http(&flags.certificates)?, flags.auth(), flags.pass_credentials, limits)?;
    let unreachable =
        |e: anyhow::Error| anyhow!("looks like {repo:?} is not a valid chart repository or cannot be reached: {e}");
    let bytes = client.fetch_index().await.map_err(|e| unreachable(in_gos_words("Get", e)))?;
    let index = Index::parse(&bytes).map_err(|e| {
        let text = e.to_string();
        unreachable(anyhow!("{}", text.strip_prefix("failed to load index: ").unwrap_or(&text)))
    })?;
    Ok((client, index))
}

/// `--repo URL CHART`: the address of the chart's archive.
pub(super) async fn find_in(repo: &str, chart: &str, flags: &ChartFlags, printer: &Printer) -> Result<String> {
    let (client, index) = open(repo, flags).await?;
    let version = flags.version();
    let what =
        if version.is_empty() { format!("chart {chart:?}") } else { format!("chart {chart:?} version {version:?}") };
    let entry =
        choose(&index, chart, version, printer).map_err(|_| anyhow!("{what} not found in {repo} repository"))?;
    match client.chart_url(chart, entry) {
        Err(Error::NoUrl(_)) => bail!("{what} has no downloadable URLs"),
        url => Ok(url?.to_string()),
    }
}

/// A chart by its address. A repository that lists it lends its certificates and credentials.
pub(super) async fn fetch_address(address: &str, flags: &ChartFlags) -> Result<Vec<u8>> {
    let url = parse_url(address).map_err(|_| anyhow!("invalid chart URL format: {address}"))?;
    let mut owner = None;
    for repository in known(flags)? {
        let index = cached_index(&repository, flags)?;
        let mut urls = index.charts().flat_map(|c| index.versions(c)).flat_map(|e| &e.urls);
        if urls.any(|u| u == address) {
            owner = Some(repository);
            break;
        }
    }
    let (auth, certificates) = match &owner {
        Some(owner) => {
            let (auth, everywhere) = owner.auth(flags);
            let same = parse_url(&owner.url).is_ok_and(|base| same_origin(&base, &url));
            (auth.filter(|_| everywhere || same), owner.certificates(flags))
        }
        None => (flags.auth(), flags.certificates.clone()),
    };
    get(&http(&certificates)?, &url, auth.as_ref(), "chart", Limits::default().chart).await
}

/// `REPOSITORY/CHART` by Helm's list of repositories and its cached indexes.
pub(super) async fn fetch_named(reference: &str, flags: &ChartFlags, printer: &Printer) -> Result<Vec<u8>> {
    let Some((name, chart)) = reference.split_once('/') else {
        bail!("non-absolute URLs should be in form of repo_name/path_to_chart, got: {reference}");
    };
    let known = known(flags)?;
    let repository = known.iter().find(|r| r.name == name).ok_or_else(|| anyhow!("repo {name} not found"))?;
    if repository.url.is_empty() {
        bail!("no URL found for repository {name}");
    }
    let index = cached_index(repository, flags)?;
    let version = flags.version();
    let entry = choose(&index, chart, version, printer).map_err(|e| {
        anyhow!("chart {chart:?} matching {version} not found in {name} index. (try 'helm repo update'): {e}")
    })?;
    if let Some(bytes) = cached_archive(entry, flags) {
        return Ok(bytes);
    }
    let (auth, everywhere) = repository.auth(flags);
    let client = http(&repository.certificates(flags))?;
    let limits = Limits::default();
    if repository.url.starts_with("oci://") {
        let url = entry.urls.first().ok_or_else(|| anyhow!("chart {reference:?} has no downloadable URLs"))?;
        return super::oci::fetch(url, flags, printer).await;
    }
    let repository = HelmRepository::new(&repository.url, client, auth, everywhere, limits)?;
    match repository.chart_url(chart, entry) {
        Err(Error::NoUrl(_)) => bail!("chart {reference:?} has no downloadable URLs"),
        Err(e) => return Err(e.into()),
        Ok(url) if url.scheme() == "oci" => return super::oci::fetch(url.as_str(), flags, printer).await,
        Ok(_) => {}
    }
    repository.fetch_chart(chart, entry).await.map_err(|e| in_gos_words("Get", e))
}

/// The archive, if Helm has fetched it before and it is whole.
fn cached_archive(entry: &Entry, flags: &ChartFlags) -> Option<Vec<u8>> {
    let digest = entry.digest.as_deref()?;
    let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
    let bytes = std::fs::read(flags.files.archive(hex)?).ok()?;
    chart_source::digest::verify(&bytes, &format!("sha256:{hex}")).ok().map(|()| bytes)
}
