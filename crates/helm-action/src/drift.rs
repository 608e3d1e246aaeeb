//! Comparing a release with the cluster, and repairing it.
//!
//! Owns: the wanted objects of a stored revision, the comparison of each with its live state, repair by applying again.
//! Does not own: what is done about it. Follows Flux's `internal/action/diff.go` in what counts. The surprising things:
//! hooks and `crds/` are not compared; what was found clean is not asked about by dry run again while its
//! resourceVersion stays.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::{StreamExt, iter};
use helm::release::{ApplyMethod, Release};
use kube_object::diff::{Change, Operation, counts};
use kube_object::{Object, ObjectId, mask};
use kube_ops::drift::{CompareOptions, Comparison, recent_managers};
use serde_json::Value as Json;

use crate::build::{Built, build_stored};
use crate::context::Context;
use crate::error::Error;
use crate::update::{self, SendOptions};

const AT_ONCE: usize = 4;

/// Objects that were found clean, by the resourceVersion at that time. One per release revision.
#[derive(Debug, Default)]
pub struct CleanCache(Mutex<HashMap<ObjectId, String>>);

impl CleanCache {
    fn get(&self, id: &ObjectId) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Objects that are known to be as they should be at these versions.
    pub fn seed(&self, applied: Vec<(ObjectId, String)>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(applied);
    }

    fn put(&self, id: ObjectId, version: Option<String>) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match version {
            Some(version) => map.insert(id, version),
            None => map.remove(&id),
        };
    }
}

/// What decides about drift besides the cluster.
pub struct DriftOptions<'a> {
    /// The pointers to fields of an object that do not count.
    pub ignored: &'a (dyn Fn(&Object) -> Vec<String> + Send + Sync),
    /// A label or annotation that excludes objects, and its value.
    pub exclusion: Option<(&'a str, &'a str)>,
    /// What was found clean before.
    pub clean: &'a Arc<CleanCache>,
}

/// An object that is not as it should be.
#[derive(Clone, Debug)]
pub struct Drifted {
    /// What it should be, ready to be sent.
    pub built: Built,
    /// How it differs.
    pub kind: DriftKind,
}

/// How an object differs.
#[derive(Clone, Debug)]
pub enum DriftKind {
    /// It is gone.
    Missing,
    /// Fields differ.
    Changed {
        /// What differs.
        operations: Vec<Operation>,
        /// Who wrote to the object lately, and when.
        managers: Vec<(String, String)>,
    },
}

impl Drifted {
    /// The line of Flux's event.
    pub fn line(&self) -> String {
        let id = self.built.object.id();
        match &self.kind {
            DriftKind::Missing => format!("{id} removed"),
            DriftKind::Changed { operations, .. } => {
                let (a, c, r) = counts(operations);
                format!("{id} changed ({a} additions, {c} changes, {r} removals)")
            }
        }
    }

    /// The fields with both values, a line each; of Secrets only the names of fields. What people may not see of other
    /// objects `told` takes out, before a long value is cut and can no longer be recognised.
    pub fn details(&self, told: &dyn Fn(String) -> String) -> Vec<String> {
        let DriftKind::Changed { operations, managers } = &self.kind else { return Vec::new() };
        let object = &self.built.object;
        let secret = mask::is_secret(object);
        let shown = |value: &Json| if secret { mask::MASK.into() } else { short(told(value.to_string())) };
        let mut lines: Vec<String> = operations
            .iter()
            .map(|op| match &op.change {
                Change::Add(v) => format!("  {} is missing, should be {}", op.path, shown(v)),
                Change::Replace(old, new) => {
                    format!("  {} is {}, should be {}", op.path, shown(old), shown(new))
                }
                Change::Remove(v) => format!("  {} is {}, should not be there", op.path, shown(v)),
            })
            .collect();
        if let Some((manager, time)) = managers.first() {
            let at = if time.is_empty() { String::new() } else { format!(" at {time}") };
            lines.push(format!("  last written by {manager}{at}"));
        }
        lines
    }
}

/// A value short enough for a message.
fn short(text: String) -> String {
    if text.chars().count() <= 120 {
        return text;
    }
    let cut: String = text.chars().take(117).collect();
    format!("{cut}...")
}

/// How a release compares with the cluster.
#[derive(Debug, Default)]
pub struct Report {
    /// Objects that differ, in the order of the manifest.
    pub drifted: Vec<Drifted>,
    /// Objects that could not be compared.
    pub errors: Vec<Error>,
}

/// Compare all objects of a stored revision.
///
/// # Errors
/// The manifest cannot be built; what concerns single objects is in the report.
pub async fn detect(context: &Context, release: &Release, options: &DriftOptions<'_>) -> Result<Report, Error> {
    let built = build_stored(context, &release.manifest).await?;
    let compared: Vec<(Built, Vec<String>, Result<Comparison, kube_ops::Error>)> = iter(built)
        .map(|b| async move {
            let ignored = (options.ignored)(&b.object);
            let known = options.clean.get(&b.object.id());
            let compare =
                CompareOptions { ignored: &ignored, exclusion: options.exclusion, known_same: known.as_deref() };
            let answer = context.cluster.compare(&b.object, compare).await;
            (b, ignored, answer)
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut report = Report::default();
    for (mut built, ignored, answer) in compared {
        let id = built.object.id();
        match answer {
            Ok(Comparison::Same { resource_version }) => options.clean.put(id, Some(resource_version)),
            Ok(Comparison::Excluded) => {}
            Ok(Comparison::Missing) => {
                options.clean.put(id, None);
                report.drifted.push(Drifted { built, kind: DriftKind::Missing });
            }
            Ok(Comparison::Different { live, operations, .. }) => {
                options.clean.put(id, None);
                let managers = recent_managers(&live, context.cluster.field_manager());
                for path in &ignored {
                    leave(&mut built.object, &live, path);
                }
                report.drifted.push(Drifted { built, kind: DriftKind::Changed { operations, managers } });
            }
            Err(e) => report.errors.push(e.into()),
        }
    }
    Ok(report)
}

/// Give a field that does not count its live value, so that a repair leaves it alone.
fn leave(object: &mut Object, live: &Object, pointer: &str) {
    let (mut own, theirs) = (Json::Object(std::mem::take(&mut object.0)), Json::Object(live.0.clone()));
    if let Some((parent, leaf)) = pointer.rsplit_once('/') {
        let leaf = leaf.replace("~1", "/").replace("~0", "~");
        let value = theirs.pointer(pointer).cloned();
        match own.pointer_mut(parent) {
            Some(Json::Object(map)) => match value {
                Some(value) => {
                    map.insert(leaf, value);
                }
                None => {
                    map.remove(&leaf);
                }
            },
            Some(Json::Array(items)) => {
                if let (Some(value), Some(item)) = (value, leaf.parse().ok().and_then(|i: usize| items.get_mut(i))) {
                    *item = value;
                }
            }
            _ => {}
        }
    }
    if let Json::Object(map) = own {
        object.0 = map;
    }
}

/// What became of the repair of one object: Flux's line, or the error.
pub type Repair = Result<String, (ObjectId, Error)>;

/// Send the drifted objects again. What the server answers is known to be clean.
pub async fn correct(context: &Context, release: &Release, drifted: &[Drifted], clean: &CleanCache) -> Vec<Repair> {
    let send = SendOptions {
        server_side: release.apply_method == ApplyMethod::ServerSide,
        take_ownership: true,
        migrate: false,
    };
    let mut repairs = Vec::new();
    // What is missing comes back first, as in Flux.
    let missing = drifted.iter().filter(|d| matches!(d.kind, DriftKind::Missing));
    let changed = drifted.iter().filter(|d| !matches!(d.kind, DriftKind::Missing));
    for d in missing.chain(changed) {
        let id = d.built.object.id();
        let verb = if matches!(d.kind, DriftKind::Missing) { "created" } else { "configured" };
        let one = std::slice::from_ref(&d.built);
        repairs.push(match update::send(context, one, one, send).await {
            Ok(live) => {
                if let Some(live) = live.first() {
                    clean.put(id.clone(), Some(live.resource_version().into()));
                }
                Ok(format!("{id} {verb}"))
            }
            Err(e) => Err((id, e)),
        });
    }
    repairs
}
