//! Volumes and load balancers: what a storage provisioner and a cloud would do.
//!
//! The surprising thing: a volume is made for its claim, with a `claimRef`; the real volume binder does the rest.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Service};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use serde_json::json;

const MADE: &str = "testkit.helmrel.dev/made";

/// Make a volume for every claim that waits for one.
pub(super) async fn bind(client: kube::Client) {
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let claims = watcher(Api::<PersistentVolumeClaim>::all(client), watcher::Config::default());
    let mut claims = claims.applied_objects().boxed();
    while let Some(claim) = claims.next().await {
        let Ok(claim) = claim else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let Some(spec) = &claim.spec else { continue };
        if spec.volume_name.is_some() || claim.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let Some(uid) = &claim.metadata.uid else { continue };
        let volume = json!({
            "metadata": {"name": format!("testkit-{uid}"), "labels": {MADE: "true"}},
            "spec": {
                "capacity": spec.resources.as_ref().and_then(|r| r.requests.clone()).unwrap_or_default(),
                "accessModes": spec.access_modes,
                "volumeMode": spec.volume_mode.as_deref().unwrap_or("Filesystem"),
                "storageClassName": spec.storage_class_name.clone().unwrap_or_default(),
                "persistentVolumeReclaimPolicy": "Retain",
                "hostPath": {"path": format!("/nonexistent/{uid}")},
                "claimRef": {
                    "apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": uid,
                    "namespace": claim.metadata.namespace, "name": claim.metadata.name,
                },
            },
        });
        if let Ok(volume) = serde_json::from_value(volume) {
            // One that exists already is as good.
            let _ = volumes.create(&PostParams::default(), &volume).await;
        }
    }
}

/// Remove volumes whose claim is gone.
pub(super) async fn sweep(client: kube::Client) {
    let volumes: Api<PersistentVolume> = Api::all(client);
    let mut seen = watcher(volumes.clone(), watcher::Config::default().labels(MADE)).applied_objects().boxed();
    while let Some(volume) = seen.next().await {
        let Ok(volume) = volume else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let released = volume.status.and_then(|s| s.phase).as_deref() == Some("Released");
        if let (true, Some(name)) = (released, volume.metadata.name) {
            let _ = volumes.delete(&name, &DeleteParams::default()).await;
        }
    }
}

/// Give every Service of type LoadBalancer an address.
pub(super) async fn balance(client: kube::Client) {
    let services = watcher(Api::<Service>::all(client.clone()), watcher::Config::default());
    let mut services = services.applied_objects().boxed();
    while let Some(service) = services.next().await {
        let Ok(service) = service else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let wants = service.spec.as_ref().and_then(|s| s.type_.as_deref()) == Some("LoadBalancer");
        let has = service.status.and_then(|s| s.load_balancer).and_then(|l| l.ingress).is_some_and(|i| !i.is_empty());
        if let (true, false, Some(namespace), Some(name)) =
            (wants, has, service.metadata.namespace, service.metadata.name)
        {
            let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.10"}]}}});
            let api: Api<Service> = Api::namespaced(client.clone(), &namespace);
            let _ = api.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await;
        }
    }
}
