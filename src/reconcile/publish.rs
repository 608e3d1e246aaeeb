//! Writing status and events.
//!
//! Owns: the one patch of a status that changed, the finalizer, events with counts. The surprising thing: what did not
//! change is not written, so a quiet pass costs nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use flux_api::HelmRelease;
use flux_api::helmrelease::{FIELD_MANAGER, HelmReleaseStatus};
use flux_api::meta::condition::rfc3339;
use jiff::Timestamp;
use kube_object::Gvk;
use kube_object::patch::merge_patch;
use kube_ops::{ApiError, Cluster, Resource};
use serde_json::{Value as Json, json};

use super::notice::{Notice, Severity};

/// Where HelmReleases are.
pub fn resource() -> Resource {
    Resource {
        gvk: Gvk::new("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        plural: "helmreleases".into(),
        namespaced: true,
    }
}

/// Write the status if it differs from what is stored; gives the object as it is then.
///
/// # Errors
/// The server's answer.
pub async fn status(
    cluster: &Cluster,
    release: &HelmRelease,
    stored: &HelmReleaseStatus,
    status: &HelmReleaseStatus,
) -> Result<Option<HelmRelease>, ApiError> {
    let json = |s: &HelmReleaseStatus| serde_json::to_value(s).unwrap_or(Json::Null);
    let Some(change) = merge_patch(&json(stored), &json(status)) else { return Ok(None) };
    let patch = json!({"status": change});
    let written: HelmRelease = cluster.patch_status(&resource(), release.namespace(), release.name(), &patch).await?;
    Ok(Some(written))
}

/// Add or remove the finalizer; gives the object as it is then.
///
/// # Errors
/// The server's answer.
pub async fn finalizer(cluster: &Cluster, release: &HelmRelease, wanted: bool) -> Result<HelmRelease, ApiError> {
    let mut finalizers = release.metadata.finalizers.clone().unwrap_or_default();
    finalizers.retain(|f| f != flux_api::meta::FINALIZER);
    if wanted {
        finalizers.push(flux_api::meta::FINALIZER.into());
    }
    let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": release.metadata.resource_version}});
    cluster.patch_metadata(&resource(), release.namespace(), release.name(), &patch).await
}

type EventKey = (String, &'static str, String);

/// Sends events; an event that was sent before is counted up instead.
#[derive(Default)]
pub struct Recorder {
    sent: Mutex<HashMap<EventKey, (String, u64, String)>>,
}

/// How many events are remembered.
const MAX_REMEMBERED: usize = 4096;

impl Recorder {
    /// Send a notice about a release. A failure is only logged: events are for people, not for the flow.
    pub async fn send(&self, cluster: &Cluster, release: &HelmRelease, notice: &Notice) {
        let uid = release.metadata.uid.clone().unwrap_or_default();
        let key = (uid, notice.reason, notice.message.clone());
        let known = self.sent.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let now = Timestamp::now();
        let events = Resource { gvk: Gvk::new("v1", "Event"), plural: "events".into(), namespaced: true };
        let namespace = release.namespace();
        if let Some((name, count, first)) = known {
            let patch = json!({"count": count + 1, "lastTimestamp": rfc3339(now)});
            let patched: Result<Json, ApiError> = cluster.patch_metadata(&events, namespace, &name, &patch).await;
            if patched.is_ok() {
                self.remember(key, (name, count + 1, first));
                return;
            }
        }
        let mut annotations = notice.annotations.clone();
        for (k, v) in release.metadata.annotations.iter().flatten() {
            if k.starts_with("event.toolkit.fluxcd.io/") {
                annotations.insert(k.clone(), v.clone());
            }
        }
        let name = format!("{}.{:x}", release.name(), now.as_nanosecond());
        let event = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
            "involvedObject": {
                "apiVersion": "helm.toolkit.fluxcd.io/v2",
                "kind": "HelmRelease",
                "name": release.name(),
                "namespace": namespace,
                "uid": release.metadata.uid,
                "resourceVersion": release.metadata.resource_version,
            },
            "type": if notice.severity == Severity::Error { "Warning" } else { "Normal" },
            "reason": notice.reason,
            "message": notice.message,
            "count": 1,
            "firstTimestamp": rfc3339(now),
            "lastTimestamp": rfc3339(now),
            "source": {"component": FIELD_MANAGER},
            "reportingComponent": FIELD_MANAGER,
        });
        let Some(event) = kube_object::Object::from_json(event) else { return };
        match cluster.create_at(&events, &event).await {
            Ok(_) => self.remember(key, (name, 1, rfc3339(now))),
            Err(e) => {
                tracing::warn!(error = %e, release = %format!("{namespace}/{}", release.name()), "failed to send an event");
            }
        }
    }

    fn remember(&self, key: EventKey, value: (String, u64, String)) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() >= MAX_REMEMBERED {
            sent.clear();
        }
        sent.insert(key, value);
    }
}
