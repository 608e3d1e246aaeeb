//! Passes: each in its slot, as its object's turn comes.
//!
//! Owns: starting a pass for every object that a queue gives, and calling off one that only waits when its object is
//! deleted or changed, or when the process stops. The surprising thing: a pass that waits for a chart holds no slot, so
//! repositories that hang hold up nobody else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::metrics::Metrics;
use super::queue::{Key, Queue};
use super::stores::Name;
use super::watch::{SourceKey, Watched};
use crate::reconcile::context::Context;
use crate::reconcile::publish::Recorder;
use crate::reconcile::{Next, reconcile};
use crate::slot::{Slot, Slots};
use crate::sources::Sources;

/// What makes a pass over an object pointless when it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    uid: Option<String>,
    generation: Option<i64>,
    deleted: bool,
}

impl Mark {
    fn of(meta: &ObjectMeta) -> Self {
        Self { uid: meta.uid.clone(), generation: meta.generation, deleted: meta.deletion_timestamp.is_some() }
    }
}

/// Objects of a kind, and what a pass over one is.
pub trait Work: Send + Sync + 'static {
    /// What the queue holds.
    type Key: Key + Sync + std::fmt::Display;

    /// The object's kind and name, for metrics and logs.
    fn name<'a>(&self, key: &'a Self::Key) -> (&'static str, &'a Name);

    /// What a pass over the object depends on, as it is known now; nothing once it is gone.
    fn mark(&self, key: &Self::Key) -> Option<Mark>;

    /// One pass; gives when the next is due.
    fn pass(self: Arc<Self>, key: Self::Key) -> BoxFuture<'static, Next>;
}

/// Work on what the queue gives until it is closed and the last pass has ended.
pub async fn run<W: Work>(work: Arc<W>, queue: Arc<Queue<W::Key>>, slots: Slots, metrics: Arc<Metrics>) {
    let mut passes = JoinSet::new();
    loop {
        let slot = slots.free().await;
        let Some(key) = queue.next().await else { break };
        let (work, queue, metrics) = (Arc::clone(&work), Arc::clone(&queue), Arc::clone(&metrics));
        passes.spawn(async move {
            let started = Instant::now();
            let next = supervised(&work, &queue, &key, slot).await;
            let (kind, name) = work.name(&key);
            let result = if next == Next::Backoff { "error" } else { "success" };
            metrics.observe(kind, &name.namespace, &name.name, started.elapsed(), result);
            if work.mark(&key).is_none() {
                metrics.forget(kind, &name.namespace, &name.name);
            }
            queue.done(&key, next);
        });
        while passes.try_join_next().is_some() {}
    }
    while passes.join_next().await.is_some() {}
}

/// One pass, called off where it has become pointless. It runs as a task of its own: whatever goes wrong in it, the
/// others live on.
async fn supervised<W: Work>(work: &Arc<W>, queue: &Queue<W::Key>, key: &W::Key, slot: Arc<Slot>) -> Next {
    let begun = work.mark(key);
    let mut pass = tokio::spawn(slot.run(Arc::clone(work).pass(key.clone())));
    loop {
        let news = queue.news();
        let pointless = queue.is_closed() || begun != work.mark(key);
        if pointless && slot.call_off() {
            pass.abort();
            // Until it is really gone it may hold locks that the next pass needs.
            let _ = pass.await;
            return Next::AwaitChange;
        }
        tokio::select! {
            ended = &mut pass => {
                return ended.unwrap_or_else(|e| {
                    tracing::error!(error = %e, object = %key, "a pass broke off");
                    Next::Backoff
                });
            }
            () = news => {}
            () = slot.left() => {}
        }
    }
}

/// HelmReleases.
pub struct Releases {
    /// The objects.
    pub watched: Watched,
    /// What passes are given.
    pub context: Arc<Context>,
    /// Sends events.
    pub recorder: Arc<Recorder>,
}

impl Work for Releases {
    type Key = Name;

    fn name<'a>(&self, key: &'a Name) -> (&'static str, &'a Name) {
        ("HelmRelease", key)
    }

    fn mark(&self, key: &Name) -> Option<Mark> {
        self.watched.releases.get(key).map(|release| Mark::of(&release.metadata))
    }

    fn pass(self: Arc<Self>, key: Name) -> BoxFuture<'static, Next> {
        Box::pin(async move {
            let Some(release) = self.watched.releases.get(&key) else { return Next::AwaitChange };
            let span = tracing::info_span!("release", name = %key, generation = release.generation());
            let (next, written) = reconcile(&release, &self.context, &self.recorder).instrument(span).await;
            if let Some(written) = written {
                self.watched.releases.wrote(written);
            }
            next
        })
    }
}

/// The kinds that charts come from.
pub struct SourceKinds {
    /// The objects.
    pub watched: Watched,
    /// What reconciles them.
    pub sources: Arc<Sources>,
}

impl Work for SourceKinds {
    type Key = SourceKey;

    fn name<'a>(&self, key: &'a SourceKey) -> (&'static str, &'a Name) {
        key.parts()
    }

    fn mark(&self, key: &SourceKey) -> Option<Mark> {
        match key {
            SourceKey::Repository(name) => self.watched.repositories.get(name).map(|o| Mark::of(&o.metadata)),
            SourceKey::Chart(name) => self.watched.charts.get(name).map(|o| Mark::of(&o.metadata)),
            SourceKey::Oci(name) => self.watched.oci.get(name).map(|o| Mark::of(&o.metadata)),
        }
    }

    fn pass(self: Arc<Self>, key: SourceKey) -> BoxFuture<'static, Next> {
        Box::pin(async move {
            match self.reconcile(&key).await {
                Ok(Some(after)) if !after.is_zero() => Next::After(after.max(Duration::from_secs(1))),
                Ok(_) => Next::AwaitChange,
                Err(e) => {
                    tracing::warn!(error = %e, source = %key, "a source's status could not be written");
                    Next::Backoff
                }
            }
        })
    }
}

impl SourceKinds {
    async fn reconcile(&self, key: &SourceKey) -> Result<Option<Duration>, kube_ops::ApiError> {
        match key {
            SourceKey::Repository(name) => match self.watched.repositories.get(name) {
                Some(repository) => self.sources.reconcile_repository(&repository).await,
                None => Ok(None),
            },
            SourceKey::Chart(name) => match self.watched.charts.get(name) {
                Some(chart) => {
                    let source = Name::new(&name.namespace, &chart.spec.source_ref.name);
                    let repository = self.watched.repositories.get(&source);
                    Ok(self.sources.reconcile_chart(&chart, repository.as_deref()).await?.1)
                }
                None => Ok(None),
            },
            SourceKey::Oci(name) => match self.watched.oci.get(name) {
                Some(repository) => Ok(self.sources.reconcile_oci_repository(&repository).await?.1),
                None => Ok(None),
            },
        }
    }
}
