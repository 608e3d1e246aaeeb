//! Everything that a release refers to.
//!
//! Owns: reading dependencies, values and the chart, in Flux's order, and the words when something is missing. Read-only.

use flux_api::HelmRelease;
use flux_api::helmrelease::ValuesReference;
use flux_api::meta::condition;
use flux_api::meta::reason;
use serde_json::Value as Json;

use super::context::{Context, Halt, RefKind};
use super::desired::{Desired, suffixed};
use super::expression;
use super::notice::Severity;
use super::redact::Secrets;
use super::remedy;
use super::values::{self, Document};

/// Are all dependencies ready?
///
/// # Errors
/// The first that is not. Where the release depends on itself in the end, the error names the whole way round.
pub async fn dependencies(release: &HelmRelease, context: &Context) -> Result<(), Halt> {
    let mut halt = match each_dependency(release, context).await {
        Err(halt) if halt.reason == reason::DEPENDENCY_NOT_READY => halt,
        settled => return settled,
    };
    if let Some(circle) = circle(release, context).await {
        let remedy = format!(
            "These releases wait for each other: {}. Remove one of them from the other's spec.dependsOn.",
            circle.join(" -> ")
        );
        halt.message = remedy::with(halt.message, Some(&remedy));
    }
    Err(halt)
}

/// How many releases are looked at in search of a circle.
const MOST_DEPENDENCIES: usize = 1000;

/// The way from a release over its dependencies back to itself, if there is one.
async fn circle(release: &HelmRelease, context: &Context) -> Option<Vec<String>> {
    let own = (release.namespace().to_owned(), release.name().to_owned());
    let text = |(namespace, name): &(String, String)| format!("{namespace}/{name}");
    // Each release with the one that led to it.
    let mut found = vec![(own.clone(), 0)];
    let mut next = 0;
    while next < found.len() && found.len() < MOST_DEPENDENCIES {
        let ((namespace, name), _) = found[next].clone();
        let depends_on = if next == 0 {
            release.spec.depends_on.clone()
        } else {
            let object = context.references.get(RefKind::HelmRelease, &namespace, &name).await.ok().flatten();
            let parsed = object.and_then(|object| serde_json::from_value::<HelmRelease>(object).ok());
            parsed.map(|r| r.spec.depends_on).unwrap_or_default()
        };
        for dependency in depends_on {
            let to = (dependency.namespace.unwrap_or_else(|| namespace.clone()), dependency.name);
            if to == own {
                let mut way = vec![text(&own)];
                let mut at = next;
                while at != 0 {
                    way.push(text(&found[at].0));
                    at = found[at].1;
                }
                way.push(text(&own));
                way.reverse();
                return Some(way);
            }
            if !found.iter().any(|(known, _)| *known == to) {
                found.push((to, next));
            }
        }
        next += 1;
    }
    None
}

async fn each_dependency(release: &HelmRelease, context: &Context) -> Result<(), Halt> {
    for dependency in &release.spec.depends_on {
        let namespace = dependency.namespace.as_deref().unwrap_or_else(|| release.namespace());
        let name = format!("{namespace}/{}", dependency.name);
        let not_ready = |message: String| Halt {
            reason: reason::DEPENDENCY_NOT_READY,
            message,
            event: Some(Severity::Info),
            stalled: false,
            requeue: Some(context.settings.requeue_dependency),
        };
        let found = context
            .references
            .get(RefKind::HelmRelease, namespace, &dependency.name)
            .await
            .map_err(|e| not_ready(format!("unable to get '{name}' dependency: {e}")))?
            .ok_or_else(|| {
                not_ready(format!(
                    "unable to get '{name}' dependency: helmreleases.helm.toolkit.fluxcd.io {:?} not found",
                    dependency.name
                ))
            })?;
        if let Some(text) = dependency.ready_expr.as_deref().filter(|t| !t.is_empty()) {
            let own = serde_json::to_value(release).unwrap_or(Json::Null);
            match expression::is_true(text, &[("self", &own), ("dep", &found)]) {
                Ok(true) => {}
                Ok(false) => {
                    return Err(not_ready(format!("dependency '{name}' is not ready according to readyExpr eval")));
                }
                Err(expression::Fault::Invalid(why)) => {
                    return Err(Halt {
                        reason: reason::INVALID_CEL_EXPRESSION,
                        message: format!(
                            "Reconciliation failed terminally due to configuration error: terminal error: failed to evaluate dependency {}: {why}",
                            dependency.name
                        ),
                        event: Some(Severity::Error),
                        stalled: true,
                        requeue: None,
                    });
                }
                Err(expression::Fault::Evaluation(_)) => {
                    return Err(not_ready(format!("dependency '{name}' is not ready according to readyExpr eval")));
                }
            }
            continue;
        }
        let dep: HelmRelease =
            serde_json::from_value(found).map_err(|e| not_ready(format!("unable to get '{name}' dependency: {e}")))?;
        let status = dep.status.clone().unwrap_or_default();
        let ready = condition::get(&status.conditions, condition::READY).is_some_and(flux_api::Condition::is_true);
        if !ready || status.observed_generation != Some(dep.generation()) {
            return Err(not_ready(format!("dependency '{name}' is not ready")));
        }
    }
    Ok(())
}

/// The documents that valuesFrom leads to. Each object is read once.
async fn documents(namespace: &str, references: &[ValuesReference], context: &Context) -> Result<Vec<Document>, Halt> {
    let fault = |message: String| Halt {
        reason: reason::VALUES_ERROR,
        message,
        event: Some(Severity::Error),
        stalled: false,
        requeue: None,
    };
    let mut read: Vec<((RefKind, &str), Option<Json>)> = Vec::new();
    let mut documents = Vec::new();
    for reference in references {
        let kind = match reference.kind.as_str() {
            "ConfigMap" => RefKind::ConfigMap,
            "Secret" => RefKind::Secret,
            _ => return Err(fault(values::fault(reference, namespace, "unsupported values reference kind"))),
        };
        let key = (kind, reference.name.as_str());
        let optional = reference.optional == Some(true);
        let object = if let Some((_, known)) = read.iter().find(|(k, _)| *k == key) {
            known.clone()
        } else {
            let object = context
                .references
                .get(kind, namespace, &reference.name)
                .await
                .map_err(|e| fault(values::fault(reference, namespace, &e.to_string())))?;
            read.push((key, object.clone()));
            object
        };
        let Some(object) = object else {
            if optional {
                continue;
            }
            let resource = if kind == RefKind::Secret { "secrets" } else { "configmaps" };
            let why = format!("{resource} {:?} not found", reference.name);
            return Err(fault(values::fault(reference, namespace, &why)));
        };
        match data_of(kind, &object, reference.key()) {
            Some(data) => documents.push(Document { reference: reference.clone(), data: Some(data) }),
            None if optional => {}
            None => return Err(fault(values::fault(reference, namespace, "key not found"))),
        }
    }
    Ok(documents)
}

/// What must not be shown of a release, as far as its references can be read.
pub async fn secrets(release: &HelmRelease, context: &Context) -> Secrets {
    let mut found = Vec::new();
    for reference in release.spec.values_from.chunks(1) {
        found.extend(documents(release.namespace(), reference, context).await.unwrap_or_default());
    }
    Secrets::of(release, &found)
}

/// What is under a key of a ConfigMap or Secret.
fn data_of(kind: RefKind, object: &Json, key: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let text = |field: &str| object.get(field).and_then(|d| d.get(key)).and_then(Json::as_str);
    match kind {
        RefKind::Secret => text("stringData")
            .map(|s| s.as_bytes().to_vec())
            .or_else(|| base64::engine::general_purpose::STANDARD.decode(text("data")?).ok()),
        _ => text("data").map(|s| s.as_bytes().to_vec()),
    }
}

/// What the release should be.
///
/// # Errors
/// The chart is not there yet, or the values cannot be composed.
pub async fn desired(release: &HelmRelease, context: &Context) -> Result<Desired, Halt> {
    let resolved = context.charts.resolve(release).await?;
    let documents = documents(release.namespace(), &release.spec.values_from, context).await?;
    let secrets = Secrets::of(release, &documents);
    let values = values::compose(release.spec.values.as_ref(), &documents, release.namespace()).map_err(|message| {
        let message = secrets.redact(&message);
        Halt { reason: reason::VALUES_ERROR, message, event: Some(Severity::Error), stalled: false, requeue: None }
    })?;
    let (chart, oci_digest) = match &resolved.oci_revision {
        None => (resolved.chart, None),
        Some(revision) => {
            let (chart, digest) = suffixed(&resolved.chart, revision).map_err(|message| Halt {
                reason: reason::CHART_MUTATE_ERROR,
                message,
                event: None,
                stalled: false,
                requeue: None,
            })?;
            (chart, Some(digest))
        }
    };
    Ok(Desired::new(release, chart, oci_digest, values, context.settings.digest).with_secrets(secrets))
}
