//! The files under `crds/`.
//!
//! Owns: applying them before a release, by Flux's policies, and waiting until the API server serves the new kinds. The
//! surprising thing: what is no CustomResourceDefinition there is left alone, with a line in the log; nothing under
//! `crds/` is ever deleted.

use std::time::Duration;

use helm::Chart;
use helm::postrender::SetMetadata;
use kube_object::status::{Verdict, compute};
use kube_object::{Object, status::Status};
use kube_ops::apply::ApplyOptions;

use crate::context::Context;
use crate::error::Error;
use crate::outcome::Run;
use crate::revision::Definitions;

/// What is done with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrdsPolicy {
    /// Nothing.
    Skip,
    /// New ones are created, existing ones stay as they are.
    Create,
    /// Existing ones are brought up to date.
    CreateReplace,
}

const TIMEOUT: Duration = Duration::from_mins(1);

/// The definitions of a processed chart, and a line about each file that holds something else.
///
/// # Errors
/// A file that is not YAML.
pub fn definitions(chart: &Chart, context: &Context) -> Result<(Vec<Object>, Vec<String>), Error> {
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for crd in chart.crds() {
        let text = String::from_utf8_lossy(&crd.file.data);
        let parsed = helm::manifest::parse_objects(&text, context.profile)
            .map_err(|e| Error::Chart(helm::Error::Manifest(format!("{}: {e}", crd.path))))?;
        for object in parsed.into_iter().map(|p| p.object) {
            if object.kind() == "CustomResourceDefinition" {
                found.push(object);
            } else {
                skipped.push(format!("{} is not applied: {} is no CustomResourceDefinition", object.id(), crd.path));
            }
        }
    }
    Ok((found, skipped))
}

/// Is there a definition of this name under `crds/`?
pub(crate) fn ships(chart: &Chart, context: &Context, name: &str) -> bool {
    definitions(chart, context).is_ok_and(|(found, _)| found.iter().any(|crd| crd.name() == name))
}

/// The definitions to apply by a policy. What else is there is logged.
///
/// # Errors
/// A file that is not YAML.
pub(crate) fn find(context: &Context, run: &mut Run, chart: &Chart, policy: CrdsPolicy) -> Result<Vec<Object>, Error> {
    if policy == CrdsPolicy::Skip {
        return Ok(Vec::new());
    }
    let (found, skipped) = definitions(chart, context)?;
    for line in skipped {
        run.log(line);
    }
    Ok(found)
}

/// Apply definitions.
///
/// # Errors
/// `failed to apply CustomResourceDefinitions: …`
pub(crate) async fn apply(
    context: &Context,
    crds: Vec<Object>,
    how: Definitions,
    metadata: &SetMetadata,
) -> Result<(), Error> {
    apply_all(context, crds, how, metadata).await.map_err(|e| Error::Crds(Box::new(e)))
}

async fn apply_all(
    context: &Context,
    crds: Vec<Object>,
    how: Definitions,
    metadata: &SetMetadata,
) -> Result<(), Error> {
    let mut applied = Vec::new();
    for mut crd in crds {
        metadata.apply(&mut crd);
        let resource = context.cluster.resource_of(&crd).await?;
        if how.policy == CrdsPolicy::Create && context.cluster.get(&resource, "", crd.name()).await?.is_some() {
            continue;
        }
        let options = ApplyOptions { force: true, ignore_unknown_fields: true, ..ApplyOptions::default() };
        applied.push(context.cluster.apply_to(&resource, &crd, options).await?);
    }
    if applied.is_empty() {
        return Ok(());
    }
    if how.wait {
        let judge = |object: Option<&Object>| match object {
            Some(object) => compute(object, 0),
            None => Verdict { status: Status::NotFound, message: String::new() },
        };
        context.cluster.wait_ready(applied, &judge, TIMEOUT).await?;
    }
    // The new kinds are only known to those who ask again.
    context.cluster.discovery().invalidate().await;
    Ok(())
}
