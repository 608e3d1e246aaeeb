//! Waiting until objects are ready, finished or gone.
//!
//! Owns: one watch per object that is not there yet, a deadline, early failure, cancellation. Does not own: what ready
//! means (`kube_object::status`). Follows Flux's poller and Helm's watcher in what they wait for. The surprising thing:
//! objects whose last known state is already ready cost no request at all, so most of a release is never asked about.

use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use http::Request;
use kube::core::WatchEvent;
use kube_object::status::{Status, Verdict};
use kube_object::{Object, ObjectId};
use tokio::time::{Instant, sleep, timeout_at};

use crate::client::Cluster;
use crate::discovery::Resource;
use crate::error::{ApiError, Class, Error};

/// The pause before a watch that broke is begun again.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Judges an object's state; nothing when the object is not there.
pub type Judge<'a> = dyn Fn(Option<&Object>) -> Verdict + Send + Sync + 'a;

impl Cluster {
    /// Wait until all objects are current, one watch each. Ends early with the first object that has failed.
    ///
    /// # Errors
    /// The deadline passed, objects failed, or something may not be watched.
    pub async fn wait_ready(
        &self,
        objects: Vec<Object>,
        judge: &Judge<'_>,
        limit: Duration,
    ) -> Result<Vec<Object>, Error> {
        let deadline = Instant::now() + limit;
        let mut running = FuturesUnordered::new();
        let mut ready = Vec::new();
        let mut statuses: Vec<(ObjectId, String)> = Vec::new();
        for object in objects {
            let verdict = judge(Some(&object));
            if verdict.status == Status::Current {
                ready.push(object);
            } else {
                statuses.push((object.id(), verdict.status.as_str().into()));
                running.push(self.follow(object, judge, deadline));
            }
        }
        let mut late = Vec::new();
        while let Some(outcome) = running.next().await {
            match outcome? {
                Followed::Ready(object) => ready.push(object),
                Followed::Failed(id, verdict) => {
                    // Whatever else is missing, this release will not become ready.
                    return Err(Error::Stalled { failed: vec![(id, verdict.status.as_str().to_string())] });
                }
                Followed::Late(id, status) => late.push((id, status)),
            }
        }
        if late.is_empty() {
            return Ok(ready);
        }
        late.sort_by_key(|(id, _)| statuses.iter().position(|(other, _)| other == id));
        Err(Error::Timeout { after: limit, pending: late })
    }

    async fn follow(&self, object: Object, judge: &Judge<'_>, deadline: Instant) -> Result<Followed, Error> {
        let id = object.id();
        let resource = self.resource_of(&object).await?;
        let mut last = judge(Some(&object)).status;
        let mut version = object.resource_version().to_string();
        let mut current = Some(object);
        loop {
            if let Some(object) = &current {
                let verdict = judge(Some(object));
                last = verdict.status;
                match verdict.status {
                    Status::Current => return Ok(Followed::Ready(object.clone())),
                    Status::Failed => return Ok(Followed::Failed(id, verdict)),
                    _ => {}
                }
            }
            let next = self.next_state(&resource, &id, &version, |state| {
                let verdict = judge(state);
                matches!(verdict.status, Status::Current | Status::Failed)
            });
            match timeout_at(deadline, next).await {
                Err(_) => return Ok(Followed::Late(id, last.as_str().into())),
                Ok(state) => {
                    let state = state?;
                    if let Some(object) = &state {
                        version = object.resource_version().into();
                    } else {
                        let verdict = judge(None);
                        if verdict.status == Status::Current {
                            // Finished and cleaned away, such as a Job with a time to live.
                            return Ok(Followed::Ready(current.take().unwrap_or_else(|| tombstone(&resource, &id))));
                        }
                        last = verdict.status;
                        version.clear();
                    }
                    current = state;
                }
            }
        }
    }

    /// The first state that `wanted` accepts, or the last one seen when a watch ends. Nothing stands for an object
    /// that is not there.
    async fn next_state(
        &self,
        resource: &Resource,
        id: &ObjectId,
        version: &str,
        wanted: impl Fn(Option<&Object>) -> bool,
    ) -> Result<Option<Object>, Error> {
        if version.is_empty() {
            sleep(RESTART_PAUSE).await;
            return self.get(resource, &id.namespace, &id.name).await;
        }
        let path = format!(
            "{}?watch=true&fieldSelector=metadata.name%3D{}&resourceVersion={version}&timeoutSeconds=290",
            resource.collection_path(Some(&id.namespace)),
            id.name
        );
        let fault = |source: ApiError| Error::Read { id: id.clone(), source };
        let request = Request::builder()
            .uri(path)
            .body(Vec::new())
            .map_err(|e| fault(ApiError { class: Class::Other, code: 0, message: e.to_string() }))?;
        let stream = match self.client().request_events::<Object>(request).await {
            Ok(stream) => stream,
            Err(e) => {
                let e = ApiError::from(e);
                if e.class == Class::Forbidden {
                    return Err(fault(e));
                }
                sleep(RESTART_PAUSE).await;
                return self.get(resource, &id.namespace, &id.name).await;
            }
        };
        let mut stream = std::pin::pin!(stream);
        while let Some(event) = stream.next().await {
            match event {
                Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                    if wanted(Some(&object)) {
                        return Ok(Some(object));
                    }
                }
                Ok(WatchEvent::Deleted(_)) => return Ok(None),
                Ok(WatchEvent::Bookmark(_)) => {}
                // The version is too old, or the stream broke: look again.
                Ok(WatchEvent::Error(_)) | Err(_) => break,
            }
        }
        sleep(RESTART_PAUSE).await;
        self.get(resource, &id.namespace, &id.name).await
    }

    /// Wait until none of the objects is there any more.
    ///
    /// # Errors
    /// The deadline passed, or something may not be read.
    pub async fn wait_gone(&self, objects: &[Object], limit: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + limit;
        let mut running = FuturesUnordered::new();
        for object in objects {
            running.push(self.follow_to_end(object, deadline));
        }
        let mut late = Vec::new();
        while let Some(outcome) = running.next().await {
            if let Some(id) = outcome? {
                late.push((id, Status::Terminating.as_str().to_string()));
            }
        }
        if late.is_empty() { Ok(()) } else { Err(Error::Timeout { after: limit, pending: late }) }
    }

    async fn follow_to_end(&self, object: &Object, deadline: Instant) -> Result<Option<ObjectId>, Error> {
        let id = object.id();
        let resource = match self.resource_of(object).await {
            Ok(resource) => resource,
            // The kind is gone, and its objects with it.
            Err(Error::UnknownKind { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let uid = object.uid().to_string();
        loop {
            let live = match timeout_at(deadline, self.get(&resource, &id.namespace, &id.name)).await {
                Err(_) => return Ok(Some(id)),
                Ok(live) => live?,
            };
            // Another object under the same name is not the one that was deleted.
            let Some(live) = live.filter(|l| uid.is_empty() || l.uid() == uid) else { return Ok(None) };
            let gone = self.next_state(&resource, &id, live.resource_version(), |state| state.is_none());
            match timeout_at(deadline, gone).await {
                Err(_) => return Ok(Some(id)),
                Ok(Ok(None)) => return Ok(None),
                Ok(Ok(Some(_))) => {}
                Ok(Err(e)) => return Err(e),
            }
        }
    }
}

enum Followed {
    Ready(Object),
    Failed(ObjectId, Verdict),
    Late(ObjectId, String),
}

/// What stands for an object that was never seen.
fn tombstone(resource: &Resource, id: &ObjectId) -> Object {
    let json = serde_json::json!({"apiVersion": resource.gvk.api_version(), "kind": resource.gvk.kind,
        "metadata": {"name": id.name, "namespace": id.namespace}});
    Object::from_json(json).unwrap_or_else(|| Object(serde_json::Map::new()))
}
