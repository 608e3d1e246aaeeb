//! From a chart and values to the content of a new revision.
//!
//! Owns: rendering on a blocking thread against the cluster's capabilities, and the metadata set on what was rendered.
//! Used by install and upgrade, and unchanged by previews.

use std::sync::{Arc, LazyLock};

use go_value::Map;
use helm::Chart;
use helm::engine::{Environment, ReleaseOptions, TemplateCache};
use helm::manifest;
use helm::postrender::SetMetadata;
use helm::render::{RenderOptions, Rendered, Settled, render_settled};

use crate::capabilities;
use crate::context::Context;
use crate::error::Error;
use crate::lookup::ClusterLookup;

/// What is rendered.
#[derive(Clone, Debug)]
pub struct Request {
    /// The chart.
    pub chart: Arc<Chart>,
    /// The user's values.
    pub values: Map,
    /// The revision it will be.
    pub revision: i64,
    /// Is there a release already?
    pub is_upgrade: bool,
    /// Leave the check against the charts' schemas out.
    pub skip_schema_validation: bool,
    /// Set on every object.
    pub metadata: SetMetadata,
    /// Set it on hooks too?
    pub hooks_too: bool,
}

/// The content of a new revision.
#[derive(Debug)]
pub struct Prepared {
    /// What was rendered, with its metadata set.
    pub rendered: Rendered,
    /// The manifest to store.
    pub manifest: String,
}

/// Settle the chart's dependencies: the first step.
///
/// # Errors
/// The values do not suit the chart.
pub(crate) fn settle(context: &Context, request: &Request) -> Result<Settled, Error> {
    Ok(helm::render::settle(&request.chart, &request.values, context.profile)?)
}

/// For all releases of the process: most renders are of charts that were rendered before.
static TEMPLATES: LazyLock<Arc<TemplateCache>> = LazyLock::new(Arc::default);

/// Render for the cluster.
///
/// # Errors
/// The cluster cannot be asked, or the chart does not render.
pub async fn prepare(context: &Context, request: &Request) -> Result<Prepared, Error> {
    prepare_settled(context, request, settle(context, request)?).await
}

/// As [`prepare`], from where [`settle`] left off.
pub(crate) async fn prepare_settled(context: &Context, request: &Request, settled: Settled) -> Result<Prepared, Error> {
    let options = RenderOptions {
        release: ReleaseOptions {
            name: context.release.to_string(),
            namespace: context.namespace.to_string(),
            revision: request.revision,
            is_upgrade: request.is_upgrade,
        },
        capabilities: capabilities::of_cluster(&context.cluster, context.profile).await?,
        profile: context.profile,
        environment: Environment {
            lookup: Some(Arc::new(ClusterLookup::new(context.cluster.clone()))),
            enable_dns: context.enable_dns,
            limits: context.limits,
            templates: Some(Arc::clone(&TEMPLATES)),
            ..Environment::offline(Arc::clone(&context.host.0))
        },
        skip_schema_validation: request.skip_schema_validation,
        remote_schemas: None,
        sub_notes: false,
    };
    let values = request.values.clone();
    let rendered = tokio::task::spawn_blocking(move || render_settled(settled, &values, &options))
        .await
        .map_err(|e| Error::Internal { what: "render the chart", why: e.to_string() })??;
    finish(rendered, request)
}

/// Set the metadata and write the manifest.
///
/// # Errors
/// A document that is not YAML.
pub fn finish(mut rendered: Rendered, request: &Request) -> Result<Prepared, Error> {
    if !request.metadata.is_empty() {
        for m in &mut rendered.manifests {
            m.content = request.metadata.apply_to_text(&m.content)?;
        }
        for hook in rendered.hooks.iter_mut().filter(|_| request.hooks_too) {
            hook.manifest = request.metadata.apply_to_text(&hook.manifest)?;
        }
    }
    let manifest = manifest::join(&rendered.manifests);
    Ok(Prepared { rendered, manifest })
}
