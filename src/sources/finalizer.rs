//! The finalizer of sources, as source-controller sets it, and what happens when an object goes.
//!
//! Owns: setting it before anything is stored, and the end: files gone, then the finalizer. The surprising thing: for a
//! source of which this process wrote a status the finalizer is taken to be there, although no watch has shown it yet.

use flux_api::meta::FINALIZER;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_ops::{ApiError, Class};
use serde_json::json;

use super::{Sources, resource};

impl Sources {
    /// Make sure the finalizer is set.
    ///
    /// # Errors
    /// The API server's answer, a conflict among them.
    pub(super) async fn hold(&self, plural: &str, meta: &ObjectMeta) -> Result<(), ApiError> {
        let mut finalizers = meta.finalizers.clone().unwrap_or_default();
        if finalizers.iter().any(|f| f == FINALIZER) {
            return Ok(());
        }
        finalizers.push(FINALIZER.into());
        self.set_finalizers(plural, meta, &finalizers).await
    }

    /// If the object is being deleted: remove its artifacts, then the finalizer. Gives whether it is.
    ///
    /// # Errors
    /// The API server's answer; that the object is gone already is none.
    pub(super) async fn let_go(&self, kind: &str, plural: &str, meta: &ObjectMeta) -> Result<bool, ApiError> {
        if meta.deletion_timestamp.is_none() {
            return Ok(false);
        }
        let (namespace, name) = names(meta);
        let mut finalizers = meta.finalizers.clone().unwrap_or_default();
        if finalizers.iter().any(|f| f == FINALIZER) {
            if let Err(error) = self.storage.remove(kind, namespace, name).await {
                tracing::warn!(%error, kind, namespace, name, "artifacts of a deleted source could not be removed");
            }
            finalizers.retain(|f| f != FINALIZER);
            match self.set_finalizers(plural, meta, &finalizers).await {
                Err(e) if e.class == Class::NotFound => {}
                other => other?,
            }
        }
        Ok(true)
    }

    async fn set_finalizers(&self, plural: &str, meta: &ObjectMeta, finalizers: &[String]) -> Result<(), ApiError> {
        let (namespace, name) = names(meta);
        let resource = resource(plural);
        // Of the version that was seen: another finalizer that came meanwhile must not go.
        let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": meta.resource_version}});
        self.own.patch_metadata::<serde::de::IgnoredAny>(&resource, namespace, name, &patch).await.map(drop)
    }
}

fn names(meta: &ObjectMeta) -> (&str, &str) {
    (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
}
