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
use kube_object::fields::{Writer, counterpart, deepest_first};
use kube_object::{Object, ObjectId, mask, pointer};
use kube_ops::drift::{CompareOptions, Comparison};
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
        /// What differs, and who wrote each such field, if that is known.
        operations: Vec<(Operation, Option<Writer>)>,
        /// Who wrote to the object last.
        newest: Option<Writer>,
    },
}

impl Drifted {
    /// The line of Flux's event.
    pub fn line(&self) -> String {
        let id = self.built.object.id();
        match &self.kind {
            DriftKind::Missing => format!("{id} removed"),
            DriftKind::Changed { operations, .. } => {
                let (a, c, r) = counts(operations.iter().map(|(op, _)| op));
                format!("{id} changed ({a} additions, {c} changes, {r} removals)")
            }
        }
    }

    /// The fields with both values, a line each; of Secrets only the names of fields. What people may not see of other
    /// objects `told` takes out, before a long value is cut and can no longer be recognised.
    pub fn details(&self, told: &dyn Fn(String) -> String) -> Vec<String> {
        let DriftKind::Changed { operations, newest } = &self.kind else { return Vec::new() };
        let object = &self.built.object;
        let secret = mask::is_secret(object);
        let shown = |value: &Json| if secret { mask::MASK.into() } else { short(told(value.to_string())) };
        let at = |w: &Writer| if w.time.is_empty() { String::new() } else { format!(" at {}", w.time) };
        let line = |(op, writer): &(Operation, Option<Writer>)| {
            let wrote =
                writer.as_ref().map(|w| format!("; last written by {}{}", w.manager, at(w))).unwrap_or_default();
            match &op.change {
                Change::Add(v) => format!("  {} is missing, should be {}{wrote}", op.path, shown(v)),
                Change::Replace(old, new) => {
                    format!("  {} is {}, should be {}{wrote}", op.path, shown(old), shown(new))
                }
                Change::Remove(v) => format!("  {} is {}, should not be there{wrote}", op.path, shown(v)),
            }
        };
        let mut lines: Vec<String> = operations.iter().map(line).collect();
        // Nobody owns a field that was removed: who wrote last may know.
        if operations.iter().all(|(_, writer)| writer.is_none())
            && let Some(newest) = newest
        {
            lines.push(format!("  object last written by {}{}", newest.manager, at(newest)));
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
            Ok(Comparison::Different { live, operations, newest }) => {
                options.clean.put(id, None);
                leave(&mut built.object, &live, ignored);
                report.drifted.push(Drifted { built, kind: DriftKind::Changed { operations, newest } });
            }
            Err(e) => report.errors.push(e.into()),
        }
    }
    Ok(report)
}

/// Give the fields that do not count their live values, so that a repair leaves them alone. An index means an element of
/// the rendered object; where the live object has no such element or field, what was rendered is not sent, as only what
/// is sent can change. Where it cannot be told which element is meant, what was rendered stays.
fn leave(object: &mut Object, live: &Object, mut pointers: Vec<String>) {
    let rendered = Json::Object(std::mem::take(&mut object.0));
    let live = Json::Object(live.0.clone());
    let mut sent = rendered.clone();
    deepest_first(&mut pointers);
    for path in pointers {
        // What is not rendered is not sent either.
        if rendered.pointer(&path).is_none() {
            continue;
        }
        match counterpart(&path, &rendered, &live) {
            None => pointer::remove(&mut sent, &path),
            Some(found) if found.certain => {
                if let (Some(slot), Some(value)) = (sent.pointer_mut(&path), live.pointer(&found.pointer)) {
                    *slot = value.clone();
                }
            }
            Some(_) => {}
        }
    }
    if let Json::Object(map) = sent {
        object.0 = map;
    }
}

/// What became of the repair of one object: Flux's line, or the error.
pub type Repair = Result<String, (ObjectId, Error)>;

/// Send the drifted objects again. Whether that made them what they should be, another comparison tells.
pub async fn correct(context: &Context, release: &Release, drifted: &[Drifted]) -> Vec<Repair> {
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
            Ok(_) => Ok(format!("{id} {verb}")),
            Err(e) => Err((id, e)),
        });
    }
    repairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(containers: &Json) -> Object {
        Object::from_json(json!({"metadata": {"name": "busy"}, "spec": {"replicas": 2, "containers": containers}}))
            .unwrap()
    }

    #[test]
    fn ignored_fields_keep_the_live_value_of_the_same_element() {
        let live = object(&json!([{"name": "proxy", "image": "proxy:9", "args": ["p"]},
            {"name": "main", "image": "main:2", "args": ["x", "a"]}, {"name": "aux", "image": "aux:1"}]));
        let rendered = json!([{"name": "main", "image": "main:1", "args": ["a"]},
            {"name": "aux", "image": "aux:1", "resources": {"cpu": 1}}, {"name": "late", "image": "late:1"}]);
        let cases = [
            (vec!["/spec/containers/0/image"], json!({"/0/image": "main:2"})),
            // Nothing there on the live side: not sent.
            (vec!["/spec/containers/1/resources"], json!({"/1/resources": null})),
            (vec!["/spec/containers/2"], json!({"/2": null})),
            // Nothing rendered: not sent either.
            (vec!["/spec/containers/0/nothing", "/spec/containers/5"], json!({})),
            // Lists without keys and of different lengths: nobody knows which element is meant.
            (vec!["/spec/containers/0/args/0"], json!({})),
            // The element goes last, whatever the order of the pointers.
            (
                vec!["/spec/containers/2", "/spec/containers/0/image", "/spec/containers/2/image"],
                json!({"/0/image": "main:2", "/2": null}),
            ),
        ];
        for (paths, changes) in cases {
            let mut sent = object(&rendered);
            leave(&mut sent, &live, paths.iter().map(ToString::to_string).collect());
            let mut wanted = rendered.clone();
            for (path, value) in changes.as_object().unwrap() {
                match value {
                    Json::Null => pointer::remove(&mut wanted, path),
                    value => *wanted.pointer_mut(path).unwrap() = value.clone(),
                }
            }
            assert_eq!(sent, object(&wanted), "{paths:?}");
        }
        let mut sent = object(&rendered);
        leave(&mut sent, &live, vec!["/spec/containers/0/image".into(), "/spec/containers".into()]);
        assert_eq!(sent, live);
    }
}
